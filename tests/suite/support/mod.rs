//! What tests of several topics need: the external judge, and the optional sibling folder `../shared`.
//!
//! A test that lacks one of them says so and passes; with `OVERLAY_TEST_STRICT=1` it fails instead.
#![allow(clippy::disallowed_methods, reason = "tests start the judge and read their environment")]

#[cfg(feature = "argocd")]
pub(crate) mod argocd_schema;
#[cfg(all(unix, feature = "git", feature = "http", feature = "templates"))]
pub(crate) mod browser;
#[cfg(feature = "http")]
pub(crate) mod certificates;
#[cfg(all(feature = "forge", feature = "http"))]
pub(crate) mod emulator;
#[cfg(feature = "git")]
pub(crate) mod git_http;
#[cfg(feature = "git")]
pub(crate) mod git_lab;
#[cfg(feature = "forge")]
pub(crate) mod gitea;
#[cfg(feature = "forge")]
pub(crate) mod github;
#[cfg(feature = "forge")]
pub(crate) mod gitlab;
#[cfg(feature = "forge")]
pub(crate) mod graphql;
#[cfg(feature = "forge")]
pub(crate) mod hub;
pub(crate) mod json_schema;
#[cfg(all(feature = "http", feature = "cluster"))]
pub(crate) mod kube_api;
#[cfg(feature = "forge")]
pub(crate) mod openapi;
pub(crate) mod random;
#[cfg(feature = "registry")]
pub(crate) mod registry;
pub(crate) mod repo;
#[cfg(feature = "http")]
pub(crate) mod scripted_http;
#[cfg(feature = "git")]
pub(crate) mod sshd;
#[cfg(feature = "registry")]
pub(crate) mod token_service;
#[cfg(feature = "forge")]
pub(crate) mod tripwire;

use std::path::{Path, PathBuf};
use std::process::Command;

/// A kustomize that is not ours.
pub(crate) struct Judge {
    program: String,
    args: Vec<&'static str>,
}

impl Judge {
    /// What it prints for the overlay at `dir`, or its error text.
    pub(crate) fn build(&self, dir: &Path) -> Result<String, String> {
        self.build_with(dir, &[])
    }

    /// The same, asked with more arguments.
    pub(crate) fn build_asked(&self, dir: &Path, more: &[&str]) -> Result<String, String> {
        self.output(Command::new(&self.program).args(&self.args).args(more).arg(dir))
    }

    /// The same, with more variables in its environment.
    pub(crate) fn build_with(&self, dir: &Path, more: &[(&str, &str)]) -> Result<String, String> {
        self.output(
            Command::new(&self.program).args(&self.args).arg(dir).envs(more.iter().copied()),
        )
    }

    fn output(&self, command: &mut Command) -> Result<String, String> {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
    }
}

/// The judge: the program that `KUSTOMIZE` names, else `kustomize`, else `kubectl kustomize`.
pub(crate) fn judge() -> Option<Judge> {
    let named = std::env::var("KUSTOMIZE").ok();
    let plain = named.clone().unwrap_or_else(|| "kustomize".to_owned());
    if runs(&plain, &["version"]) {
        return Some(Judge { program: plain, args: vec!["build"] });
    }
    if named.is_none() && runs("kubectl", &["kustomize", "--help"]) {
        return Some(Judge { program: "kubectl".to_owned(), args: vec!["kustomize"] });
    }
    skip("no kustomize (set KUSTOMIZE, or put kustomize or kubectl on PATH)");
    None
}

/// The optional folder `../shared` with corpus and schemas.
pub(crate) fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("shared");
    if path.is_dir() {
        return Some(path);
    }
    skip("no folder ../shared");
    None
}

/// Says loudly that a test does not run, or fails where `OVERLAY_TEST_STRICT=1`.
pub(crate) fn skip(reason: &str) {
    assert!(std::env::var("OVERLAY_TEST_STRICT").as_deref() != Ok("1"), "needed: {reason}");
    eprintln!("SKIPPED: {reason}");
}

/// Whether `program` starts and succeeds.
pub(crate) fn runs(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}

/// A port of 127.0.0.1 that nobody listens on now.
#[cfg(feature = "http")]
pub(crate) fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Waits until somebody listens there.
#[cfg(feature = "http")]
pub(crate) fn wait_for_port(host: &str, port: u16) {
    for _ in 0..3000 {
        if std::net::TcpStream::connect((host, port)).is_ok() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("nobody listens on {host}:{port}");
}
