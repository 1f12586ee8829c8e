//! An SSH server on loopback, with keys of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use super::git_lab::Lab;

/// A running server; it ends with this value.
pub(crate) struct Sshd {
    child: Child,
    /// What `GIT_SSH_COMMAND` has to be.
    pub(crate) command: String,
    pub(crate) port: u16,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Sshd {
    /// Serves the whole machine to its own key; `None` where there is no sshd.
    pub(crate) fn serve(lab: &Lab) -> Option<Self> {
        let program = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"]
            .iter()
            .map(PathBuf::from)
            .find(|path| path.exists())?;
        let key = |name: &str| {
            let path = lab.path(name);
            let args = ["-q", "-t", "ed25519", "-N", "", "-f", path.to_str().unwrap()];
            Command::new("ssh-keygen")
                .args(args)
                .status()
                .is_ok_and(|status| status.success())
                .then_some(path)
        };
        let (host, client) = (key("hk")?, key("ck")?);
        fs::copy(lab.path("ck.pub"), lab.path("authorized_keys")).unwrap();
        let _ = fs::create_dir_all("/run/sshd");
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        lab.write("sshd_config", format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nPidFile none\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nAcceptEnv GIT_PROTOCOL\n",
        host.display(), lab.path("authorized_keys").display()
    ));
        let child = Command::new(program)
            .args(["-D", "-e", "-f"])
            .arg(lab.path("sshd_config"))
            .stderr(std::process::Stdio::null())
            .spawn()
            .ok()?;
        let public = fs::read_to_string(lab.path("hk.pub")).unwrap();
        lab.write("known_hosts", format!("[127.0.0.1]:{port} {public}"));
        let command = format!(
            "ssh -F none -i {} -o IdentitiesOnly=yes -o UserKnownHostsFile={} -o StrictHostKeyChecking=yes -o BatchMode=yes",
            client.display(),
            lab.path("known_hosts").display()
        );
        let ready = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(ready.elapsed() < Duration::from_secs(10), "sshd does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(Self { child, command, port })
    }

    /// Who logs in.
    pub(crate) fn user() -> String {
        let named = std::env::var("USER").ok().filter(|user| !user.is_empty());
        named.unwrap_or_else(|| "root".to_owned())
    }

    /// The address of a repository on disk.
    pub(crate) fn url(&self, path: &Path) -> String {
        format!("ssh://{}@127.0.0.1:{}{}", Self::user(), self.port, path.display())
    }
}
