//! Tells the program which commit it is built from.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let commit = match variable("PROFILE").as_deref() {
        Ok("release") => packaged_commit().or_else(checked_out_commit),
        _ => Some("development build".to_owned()),
    };
    let shown = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
    println!("cargo:rustc-env=OVERLAY_COMMIT={shown}");
    // At a fixed address nothing is relocated at each start (docs/security.md). Other targets have start files that do not allow it.
    let is_static = named("CARGO_CFG_TARGET_FEATURE").split(',').any(|name| name == "crt-static");
    if named("CARGO_CFG_TARGET_OS") == "linux"
        && named("CARGO_CFG_TARGET_ENV") == "gnu"
        && !is_static
    {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}

/// The commit that `cargo package` recorded.
fn packaged_commit() -> Option<String> {
    println!("cargo:rerun-if-changed=.cargo_vcs_info.json");
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let after = text.split("\"sha1\"").nth(1)?;
    let sha = after.split('"').nth(1)?;
    Some(sha.chars().take(12).collect())
}

/// The commit that is checked out, where this directory is the top of a work tree.
fn checked_out_commit() -> Option<String> {
    let top = git(&["rev-parse", "--show-prefix"])?;
    if !top.is_empty() {
        return None;
    }
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        if Path::new(&path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

#[allow(clippy::disallowed_methods, reason = "a build script is no part of the program")]
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// What cargo says of the target; empty for nothing.
fn named(key: &str) -> String {
    variable(key).unwrap_or_default()
}

#[allow(clippy::disallowed_methods, reason = "cargo speaks through the environment")]
fn variable(key: &str) -> Result<String, std::env::VarError> {
    std::env::var(key)
}
