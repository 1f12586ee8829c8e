//! Real git repositories of every kind in a temporary folder, with a sealed environment.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use overlay::git::{Repository, Settings};

use super::repo::Ran;

/// The forms a repository can have, as options of `git init`: SHA-256 names, and references in reftables where the git that is
/// here knows them (2.45).
pub(crate) fn repository_forms() -> Vec<Vec<&'static str>> {
    let mut forms = vec![vec![], vec!["--object-format=sha256"]];
    let lab = Lab::new();
    let mut probe = Command::new("git");
    probe.env_clear().envs(lab.environment()).args(["init", "-q", REFTABLE]).arg(lab.path("probe"));
    if probe.output().is_ok_and(|output| output.status.success()) {
        forms.push(vec![REFTABLE]);
    } else {
        eprintln!("SKIPPED: reftables: this git does not know them (2.45 does)");
    }
    forms
}

const REFTABLE: &str = "--ref-format=reftable";

/// A folder for repositories; it goes away with this value.
pub(crate) struct Lab {
    dir: tempfile::TempDir,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let parent = fs::canonicalize(std::env::temp_dir()).unwrap();
        let dir = tempfile::Builder::new().prefix("lab-").tempdir_in(parent).unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        Self { dir }
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The environment that git runs in, here and below the code that is tested.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut all: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), std::env::var_os("PATH").unwrap_or_default()),
            ("HOME".into(), self.path("home").into()),
            ("XDG_CONFIG_HOME".into(), self.path("home/config").into()),
        ];
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "Case"),
            ("GIT_AUTHOR_EMAIL", "case@example.test"),
            ("GIT_COMMITTER_NAME", "Case"),
            ("GIT_COMMITTER_EMAIL", "case@example.test"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("LC_ALL", "C"),
            // Hints of newer gits are no findings.
            ("GIT_ADVICE", "0"),
        ] {
            all.push((name.into(), value.into()));
        }
        all
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings::new(self.environment())
    }

    /// The settings with these variables as well, or in place of others of the name.
    pub(crate) fn settings_with(&self, more: &[(&str, &str)]) -> Settings {
        let mut all = self.environment();
        all.retain(|(name, _)| !more.iter().any(|(other, _)| name == other));
        all.extend(more.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
        Settings::new(all)
    }

    pub(crate) fn open(&self, name: &str) -> Repository {
        Repository::open(&Arc::new(self.settings()), &self.path(name)).unwrap()
    }

    /// Runs the binary in the folder `dir` of the lab, its cache in the folder `cache`.
    pub(crate) fn overlay(&self, dir: &str, args: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_overlay"));
        command.args(args).current_dir(self.path(dir)).env_clear().envs(self.environment());
        let output = command.env("OVERLAY_CACHE_DIR", self.path("cache")).output().unwrap();
        Ran {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs git in `dir`, whatever comes of it.
    pub(crate) fn try_git(&self, dir: &Path, args: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.args(args).current_dir(dir).env_clear().envs(self.environment()).output().unwrap()
    }

    /// Runs git in the folder `dir` of the lab; it must succeed.
    pub(crate) fn git(&self, dir: &str, args: &[&str]) -> String {
        let output = self.try_git(&self.path(dir), args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?} in {dir}: {stderr}");
        String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
    }

    /// An empty repository.
    pub(crate) fn init(&self, name: &str, args: &[&str]) {
        fs::create_dir_all(self.path(name)).unwrap();
        let mut all = vec!["init", "-q", "-b", "main"];
        all.extend(args);
        all.push(".");
        self.git(name, &all);
    }

    /// Writes a file.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap()
    }

    /// A symbolic link.
    pub(crate) fn link(&self, path: &str, target: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    pub(crate) fn commit_all(&self, name: &str, message: &str) -> String {
        self.git(name, &["add", "-A", "-f"]);
        self.git(name, &["commit", "-q", "--allow-empty", "-m", message]);
        self.git(name, &["rev-parse", "HEAD"])
    }

    /// `name` with an overlay, a base and an executable file, one commit on `main`.
    pub(crate) fn overlays(&self, name: &str, init: &[&str]) {
        self.init(name, init);
        self.write(&format!("{name}/base/kustomization.yaml"), "resources: [web.yaml]\n");
        self.write(&format!("{name}/base/web.yaml"), WEB);
        self.write(
            &format!("{name}/overlays/prod/kustomization.yaml"),
            "resources: [../../base]\n",
        );
        self.write(&format!("{name}/overlays/dev/kustomization.yaml"), "resources: [../../base]\n");
        self.write(&format!("{name}/tools/run.sh"), "#!/bin/sh\n");
        use std::os::unix::fs::PermissionsExt;
        let script = self.path(&format!("{name}/tools/run.sh"));
        fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
        self.commit_all(name, "start");
    }

    /// A bare copy of `from`.
    pub(crate) fn bare(&self, from: &str, name: &str) {
        self.git("", &["clone", "-q", "--bare", from, name]);
        self.git(name, &["config", "uploadpack.allowFilter", "true"]);
        self.git(name, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    }

    pub(crate) fn url(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    /// `git fsck` finds nothing.
    pub(crate) fn require_sound(&self, name: &str) {
        let output =
            self.try_git(&self.path(name), &["fsck", "--strict", "--no-dangling", "--no-progress"]);
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.status.success() && text.trim().is_empty(), "fsck of {name}: {text}");
    }
}

pub(crate) const WEB: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: \"registry.test:5000/shop/web:1.0\"}]}
";
