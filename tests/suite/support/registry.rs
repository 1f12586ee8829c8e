//! A real registry (distribution's `docker-registry`) on loopback, and images pushed to it by hand.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use overlay::clock::Deadline;
use overlay::http::{Address, Client, Method, Options, Request, Response, Secret};
use serde_json::{Value as Json, json};

use super::{certificates, free_port, runs, skip, token_service, wait_for_port};

pub(crate) const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub(crate) const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
pub(crate) const DOCKER_LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
/// The one user of registries that ask for one.
pub(crate) const USER: (&str, &str) = ("alice", "s3cret-of-alice");

/// How a registry is guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    None,
    Password,
    Tls,
    Token,
}

/// A running registry; it ends with this value.
pub(crate) struct Registry {
    child: Child,
    pub(crate) port: u16,
    pub(crate) dir: tempfile::TempDir,
    guard: Guard,
    client: Client,
}

impl Drop for Registry {
    fn drop(&mut self) {
        if let Some(group) = rustix::process::Pid::from_raw(self.child.id() as i32) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

impl Registry {
    /// Starts one; `None`, said loudly, where the program is not installed.
    pub(crate) fn start(guard: Guard) -> Option<Self> {
        if !runs("docker-registry", &["--version"]) {
            skip("no docker-registry");
            return None;
        }
        let dir = match guard {
            Guard::Tls => certificates::make()?,
            _ => tempfile::tempdir().unwrap(),
        };
        let port = free_port();
        let config = config(guard, port, dir.path())?;
        fs::write(dir.path().join("registry.yml"), config).unwrap();
        let log = |name: &str| Stdio::from(fs::File::create(dir.path().join(name)).unwrap());
        let child = Command::new("docker-registry")
            .args(["serve", "registry.yml"])
            .current_dir(dir.path())
            .stdin(Stdio::null())
            .stdout(log("access"))
            .stderr(log("errors"))
            .process_group(0)
            .spawn()
            .unwrap();
        wait_for_port("127.0.0.1", port);
        let extra_roots = match guard {
            Guard::Tls => vec![dir.path().join("ca.crt")],
            _ => Vec::new(),
        };
        let client = Client::new(&Options { extra_roots, ..Options::default() });
        Some(Self { child, port, dir, guard, client })
    }

    /// `127.0.0.1:PORT`, as in the names of its images.
    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The requests so far that touch manifests or blobs, as `METHOD PATH`, from the access log.
    pub(crate) fn requests(&self) -> Vec<String> {
        let log = fs::read_to_string(self.dir.path().join("access")).unwrap();
        let requests = log.lines().filter_map(|line| {
            let request = line.split('"').nth(1)?;
            let mut words = request.split(' ');
            Some(format!("{} {}", words.next()?, words.next()?))
        });
        requests.filter(|request| request.contains(" /v2/")).collect()
    }

    /// The environment in which its login is at hand, in Docker's configuration.
    pub(crate) fn login(&self, password: &str) -> (PathBuf, String) {
        let directory = self.dir.path().join(format!("docker-{}", password.len()));
        fs::create_dir_all(&directory).unwrap();
        let auth = super::git_http::base64(&format!("{}:{password}", USER.0));
        let config = json!({"auths": {self.host(): {"auth": auth}}});
        fs::write(directory.join("config.json"), config.to_string()).unwrap();
        let text = directory.display().to_string();
        (directory, text)
    }

    fn send(&self, mut request: Request, scope: &str) -> Response {
        match self.guard {
            Guard::None | Guard::Tls => {}
            Guard::Password => request = request.basic(USER.0, &Secret::new(USER.1)),
            Guard::Token => {
                let token = token_service::token(self.dir.path(), USER.0, scope, &["pull", "push"]);
                request = request.bearer(&Secret::new(token));
            }
        }
        self.client.send(&request, Deadline::after(Duration::from_secs(30))).unwrap()
    }

    fn address(&self, path: &str) -> Address {
        let scheme = if self.guard == Guard::Tls { "https" } else { "http" };
        Address::parse(&format!("{scheme}://{}{path}", self.host())).unwrap()
    }

    /// Stores a blob.
    pub(crate) fn push_blob(&self, repository: &str, blob: &[u8]) -> Json {
        let digest = sha256(blob);
        let start = self.address(&format!("/v2/{repository}/blobs/uploads/"));
        let started = self.send(Request::new(Method::Post, start), repository);
        assert_eq!(started.status, 202, "{}", started.excerpt(300));
        let place = Address::parse(started.header("Location").unwrap()).unwrap();
        let put = Request::new(Method::Put, place.with_parameter("digest", &digest))
            .body("application/octet-stream", blob.to_vec());
        let stored = self.send(put, repository);
        assert_eq!(stored.status, 201, "{}", stored.excerpt(300));
        json!({"digest": digest, "size": blob.len()})
    }

    /// Stores a manifest under a tag or digest.
    pub(crate) fn push_manifest(
        &self,
        repository: &str,
        name: &str,
        media_type: &str,
        body: &[u8],
    ) {
        let address = self.address(&format!("/v2/{repository}/manifests/{name}"));
        let put = Request::new(Method::Put, address).body(media_type, body.to_vec());
        let stored = self.send(put, repository);
        assert_eq!(stored.status, 201, "{}", stored.excerpt(300));
    }

    /// Stores one image, of OCI's form or Docker's, for `linux/ARCHITECTURE`; its descriptor comes back.
    pub(crate) fn push_image(
        &self,
        repository: &str,
        tag: Option<&str>,
        media_type: &str,
        architecture: &str,
        content: &str,
    ) -> Json {
        let (config_type, layer_type) = match media_type {
            OCI_MANIFEST => (
                "application/vnd.oci.image.config.v1+json",
                "application/vnd.oci.image.layer.v1.tar+gzip",
            ),
            _ => (
                "application/vnd.docker.container.image.v1+json",
                "application/vnd.docker.image.rootfs.diff.tar.gzip",
            ),
        };
        let config = json!({
            "architecture": architecture, "os": "linux", "config": {"Labels": {"content": content}},
            "rootfs": {"type": "layers", "diff_ids": [sha256(content.as_bytes())]},
        });
        let mut config = self.push_blob(repository, config.to_string().as_bytes());
        config["mediaType"] = json!(config_type);
        let mut layer = self.push_blob(repository, content.as_bytes());
        layer["mediaType"] = json!(layer_type);
        let manifest = json!({
            "schemaVersion": 2, "mediaType": media_type, "config": config, "layers": [layer],
        });
        let body = serde_json::to_vec_pretty(&manifest).unwrap();
        let digest = sha256(&body);
        self.push_manifest(repository, tag.unwrap_or(&digest), media_type, &body);
        json!({
            "mediaType": media_type, "digest": digest, "size": body.len(),
            "platform": {"os": "linux", "architecture": architecture},
        })
    }

    /// Stores an index of OCI's form or a list of Docker's with these entries.
    pub(crate) fn push_index(
        &self,
        repository: &str,
        tag: &str,
        media_type: &str,
        entries: &[Json],
    ) {
        let index = json!({"schemaVersion": 2, "mediaType": media_type, "manifests": entries});
        let body = serde_json::to_vec_pretty(&index).unwrap();
        self.push_manifest(repository, tag, media_type, &body);
    }

    /// What skopeo says that `NAME:TAG` or `NAME@DIGEST` is.
    pub(crate) fn judged(&self, name: &str) -> Option<String> {
        if !runs("skopeo", &["--version"]) {
            skip("no skopeo");
            return None;
        }
        let mut command = Command::new("skopeo");
        command.args(["inspect", "--raw"]);
        match self.guard {
            Guard::Tls => command.arg("--cert-dir").arg(self.dir.path()),
            _ => command.arg("--tls-verify=false"),
        };
        if matches!(self.guard, Guard::Password | Guard::Token) {
            command.arg("--creds").arg(format!("{}:{}", USER.0, USER.1));
        }
        // A certificate directory holds keys too, whose names skopeo would not understand.
        let output = command.arg(format!("docker://{}/{name}", self.host())).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let file = self.dir.path().join(format!("raw-{}", sha256(name.as_bytes())));
        fs::write(&file, output.stdout).unwrap();
        let output = Command::new("skopeo").arg("manifest-digest").arg(&file).output().unwrap();
        Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
    }
}

fn config(guard: Guard, port: u16, dir: &std::path::Path) -> Option<String> {
    let mut text = format!(
        "version: 0.1\nlog: {{level: warn, accesslog: {{disabled: false}}}}\nstorage:\n  \
         filesystem: {{rootdirectory: data}}\n  delete: {{enabled: true}}\nhttp:\n  addr: 127.0.0.1:{port}\n"
    );
    match guard {
        Guard::None => {}
        Guard::Tls => text.push_str("  tls: {certificate: srv.crt, key: srv.key}\n"),
        Guard::Password => {
            if !runs("htpasswd", &["-nbB", "probe", "probe"]) {
                skip("no htpasswd");
                return None;
            }
            let output = Command::new("htpasswd").args(["-nbB", USER.0, USER.1]).output().unwrap();
            fs::write(dir.join("htpasswd"), output.stdout).unwrap();
            text.push_str("auth: {htpasswd: {realm: test, path: htpasswd}}\n");
        }
        Guard::Token => {
            let realm = token_service::start(dir)?;
            writeln!(
                text,
                "auth: {{token: {{realm: \"{realm}\", service: test-registry, issuer: test-issuer, rootcertbundle: token.crt}}}}"
            )
            .unwrap();
        }
    }
    Some(text)
}

/// The digest of bytes, by another implementation than the program's.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    let hex: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}
