//! A GitHub that somebody else wrote (`emulate`), where `GITHUB_EMULATOR` names a folder that `tools/emulator.sh` made.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::github::TOKEN;

/// A running emulator with a repository and the people of the tests; it ends with this value.
pub(crate) struct Emulator {
    child: Child,
    pub(crate) api: String,
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Emulator {
    /// Starts one with `repository` (`OWNER/NAME`); `folder` is one for its settings.
    pub(crate) fn start(folder: &Path, repository: &str) -> Option<Self> {
        let Some(program) = std::env::var_os("GITHUB_EMULATOR").map(PathBuf::from) else {
            eprintln!("SKIPPED: no emulator (set GITHUB_EMULATOR; tools/emulator.sh makes one)");
            return None;
        };
        let (owner, name) = repository.split_once('/').unwrap();
        let seed = format!(
            "tokens: {{{TOKEN}: {{login: {owner}, scopes: [repo]}}}}\n\
             github:\n  users: [{{login: {owner}}}, {{login: ann}}]\n\
             \x20 repos: [{{owner: {owner}, name: {name}, auto_init: true}}]\n"
        );
        std::fs::write(folder.join("seed.yaml"), seed).unwrap();
        let port = super::free_port();
        let mut command = Command::new(program.join("node"));
        command.arg(program.join("node_modules/emulate/dist/index.js"));
        command.args(["start", "--service", "github", "--seed", "seed.yaml"]);
        command.args(["--port", &port.to_string()]).current_dir(folder).env_clear();
        command.env("HOME", folder).stdin(Stdio::null());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        super::wait_for_port("127.0.0.1", port);
        Some(Self { child, api: format!("http://127.0.0.1:{port}") })
    }
}
