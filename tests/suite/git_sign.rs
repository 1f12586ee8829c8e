//! Commits signed by the programs that git calls for it, judged by `git verify-commit`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use overlay::git::{Built, CommitText, GitError, Signing, build_commit};

use crate::git_commit::{PROD, build, change, head, text};
use crate::support::git_lab::Lab;
use crate::support::{runs, skip};

/// A repository whose format of signatures and key are these.
fn lab(format: &str, key: &str) -> Lab {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    lab.git("plain", &["config", "gpg.format", format]);
    lab.git("plain", &["config", "user.signingKey", key]);
    lab
}

fn sign(lab: &Lab, content: &str) -> Result<Built, GitError> {
    let repository = lab.open("plain");
    let text = CommitText { signing: Signing::Always, ..text("x") };
    let built = build_commit(&repository, head(&repository), &[change(PROD, content)], &text)?;
    Ok(built.unwrap())
}

/// What is signed verifies, by `--sign` and by the repository's own setting; the same without either has no signature.
fn require_signed(lab: &Lab) {
    let verify = |built: &Built| {
        lab.try_git(&lab.path("plain"), &["verify-commit", &built.id.to_string()]).status.success()
    };
    let configured =
        |content| build(&lab.open("plain"), &[change(PROD, content)]).unwrap().unwrap();
    assert!(verify(&sign(lab, "asked for\n").unwrap()));
    assert!(!verify(&configured("not asked for\n")));
    lab.git("plain", &["config", "commit.gpgSign", "true"]);
    assert!(verify(&configured("configured\n")));
}

/// The home of the gpg programs in the lab; their agent ends with this value.
struct Keys<'a> {
    lab: &'a Lab,
    home: PathBuf,
}

impl Drop for Keys<'_> {
    fn drop(&mut self) {
        let _ = self.command("gpgconf", &["--kill", "gpg-agent"]).status();
    }
}

impl<'a> Keys<'a> {
    fn new(lab: &'a Lab) -> Self {
        let home = lab.path("home/.gnupg");
        fs::create_dir(&home).unwrap();
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
        Self { lab, home }
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(self.lab.environment());
        command.current_dir(&self.home).stdin(std::process::Stdio::null());
        command
    }

    /// What a program of gpg prints, asked for no passphrase.
    fn run(&self, program: &str, args: &[&str]) -> String {
        let asked: &[&str] = match program {
            "gpg" => &["--batch", "--pinentry-mode", "loopback", "--passphrase", ""],
            _ => &["--batch", "--pinentry-mode", "loopback", "--passphrase-fd", "0"],
        };
        let output = self.command(program, &[asked, args].concat()).output().unwrap();
        assert!(output.status.success(), "{program} {args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn ssh_signs_as_git_signs() {
    let lab = lab("ssh", "/no/such/key");
    let error = sign(&lab, "x\n").unwrap_err();
    assert!(matches!(error, GitError::Signing { .. }), "{error}");
    let key = lab.path("key").display().to_string();
    if !runs("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &key]) {
        return skip("no ssh-keygen");
    }
    let public = fs::read_to_string(format!("{key}.pub")).unwrap();
    lab.write("allowed", format!("case@example.test {public}"));
    let allowed = lab.path("allowed").display().to_string();
    lab.git("plain", &["config", "user.signingKey", &key]);
    lab.git("plain", &["config", "gpg.ssh.allowedSignersFile", &allowed]);
    require_signed(&lab);
}

#[test]
fn openpgp_signs_as_git_signs() {
    if !runs("gpg", &["--version"]) {
        return skip("no gpg");
    }
    let lab = lab("openpgp", "case@example.test");
    let keys = Keys::new(&lab);
    let person = "Case <case@example.test>";
    keys.run("gpg", &["--quick-gen-key", person, "ed25519", "sign", "never"]);
    require_signed(&lab);
}

/// A certificate that signed itself, trusted by its fingerprint.
const CERTIFICATE: &str = "Key-Type: RSA\nKey-Length: 2048\nKey-Usage: sign\nSerial: 1\n\
                           Name-DN: CN=Case\nName-Email: case@example.test\nHash-Algo: SHA256\n";

#[test]
fn x509_signs_as_git_signs() {
    if !runs("gpgsm", &["--version"]) {
        return skip("no gpgsm");
    }
    let lab = lab("x509", "case@example.test");
    let keys = Keys::new(&lab);
    // Nobody publishes revocations of such a certificate.
    lab.write("home/.gnupg/gpgsm.conf", "disable-crl-checks\n");
    lab.write("home/.gnupg/parameters", CERTIFICATE);
    keys.run("gpgsm", &["--output", "certificate", "--gen-key", "parameters"]);
    keys.run("gpgsm", &["--import", "certificate"]);
    let listed = keys.run("gpgsm", &["--with-colons", "--list-keys"]);
    let fingerprint = listed.lines().find_map(|line| line.strip_prefix("fpr:")).unwrap();
    let fingerprint = fingerprint.trim_matches(':').split(':').next().unwrap();
    lab.write("home/.gnupg/trustlist.txt", format!("{fingerprint} S relax\n"));
    require_signed(&lab);
}
