//! A temporary git repository with a sealed environment, in which the real binary runs.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A git repository that goes away with this value. Its path holds no link.
pub(crate) struct TestRepo {
    dir: tempfile::TempDir,
}

/// What a run of the binary left.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit status.
    pub(crate) status: i32,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

impl Ran {
    /// Standard output as the one JSON object that `-o json` promises.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The `error.code` of the JSON form.
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl TestRepo {
    /// A repository whose first commit holds `files`: paths and texts.
    pub(crate) fn with_files(files: &[(&str, &str)]) -> Self {
        let repo = Self::empty();
        for (path, text) in files {
            repo.write(path, text);
        }
        repo.commit("start");
        repo
    }

    /// A repository whose first commit holds a copy of `folder`, links kept.
    pub(crate) fn from_folder(folder: &Path) -> Self {
        let repo = Self::empty();
        copy_tree(folder, &repo.path());
        repo.commit("start");
        repo
    }

    pub(crate) fn empty() -> Self {
        let parent = fs::canonicalize(std::env::temp_dir()).unwrap();
        let dir = tempfile::Builder::new().prefix("case-").tempdir_in(parent).unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        fs::create_dir(dir.path().join("repo")).unwrap();
        let repo = Self { dir };
        repo.git(&["init", "-q", "-b", "main", "."]);
        repo
    }

    /// The top of the work tree.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    /// Writes a file below the work tree, with the directories it needs.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Commits all there is.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "-A", "-f"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    /// Merges a branch without a commit; what git cannot merge stays as this side has it.
    #[cfg(feature = "git")]
    pub(crate) fn merge(&self, strategy: &str, branch: &str) {
        let mut args = vec!["merge", "-q", "--no-ff", "--no-commit", "-s", strategy, branch];
        if strategy == "ort" {
            args.splice(1..1, ["-X", "ours"]);
        }
        let output = self.sealed("git").args(&args).output().unwrap();
        if !output.status.success() {
            self.git(&["read-tree", "-u", "--reset", "HEAD"]);
        }
    }

    /// A clone of the last `depth` commits.
    #[cfg(feature = "git")]
    pub(crate) fn clone_shallow(&self, depth: usize) -> Self {
        let parent = fs::canonicalize(std::env::temp_dir()).unwrap();
        let dir = tempfile::Builder::new().prefix("case-").tempdir_in(parent).unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        let (from, to) = (format!("file://{}", self.path().display()), dir.path().join("repo"));
        let depth = format!("--depth={depth}");
        self.git(&["clone", "-q", &depth, &from, to.to_str().unwrap()]);
        Self { dir }
    }

    /// Runs git and returns its output; it must succeed.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = self.sealed("git").args(args).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The exit status of a script of bash in the work tree, with the binary on its path.
    #[cfg(feature = "git")]
    pub(crate) fn script(&self, text: &str, variables: &[(&str, &str)]) -> i32 {
        let binary = Path::new(env!("CARGO_BIN_EXE_overlay")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = self.sealed("bash");
        command.env("PATH", format!("{}:{path}", binary.display()));
        command.args(["-o", "pipefail", "-c", text]).envs(variables.iter().copied());
        command.output().unwrap().status.code().unwrap_or(-1)
    }

    /// Runs the binary in the work tree.
    pub(crate) fn overlay(&self, args: &[&str]) -> Ran {
        self.overlay_with(args, "", &BTreeMap::new())
    }

    /// Runs the binary in a directory of the work tree, or in any other.
    pub(crate) fn overlay_in(&self, directory: impl AsRef<Path>, args: &[&str]) -> Ran {
        let mut command = self.sealed(env!("CARGO_BIN_EXE_overlay"));
        let output = command.current_dir(self.path().join(directory)).args(args).output().unwrap();
        Ran {
            status: output.status.code().unwrap_or(-1),
            stdout: self.redact(output.stdout),
            stderr: self.redact(output.stderr),
        }
    }

    /// Runs the binary in the work tree with this standard input and these variables.
    pub(crate) fn overlay_with(
        &self,
        args: &[&str],
        stdin: &str,
        environment: &BTreeMap<String, String>,
    ) -> Ran {
        let mut command = self.sealed(env!("CARGO_BIN_EXE_overlay"));
        command.args(args).envs(environment);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that does not read its input is free not to.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        let output = child.wait_with_output().unwrap();
        Ran {
            status: output.status.code().unwrap_or(-1),
            stdout: self.redact(output.stdout),
            stderr: self.redact(output.stderr),
        }
    }

    /// A command in the work tree that sees nothing of who runs the tests.
    fn sealed(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.dir.path().join("home"));
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_AUTHOR_NAME", "Case"),
            ("GIT_AUTHOR_EMAIL", "case@example.test"),
            ("GIT_AUTHOR_DATE", "2024-05-01T10:00:00Z"),
            ("GIT_COMMITTER_NAME", "Case"),
            ("GIT_COMMITTER_EMAIL", "case@example.test"),
            ("GIT_COMMITTER_DATE", "2024-05-01T10:00:00Z"),
            ("LC_ALL", "C"),
        ] {
            command.env(name, value);
        }
        command
    }

    fn redact(&self, bytes: Vec<u8>) -> String {
        let text = String::from_utf8(bytes).unwrap();
        text.replace(self.dir.path().to_str().unwrap(), "[TEMP]")
    }
}

/// Copies a folder, links as links.
fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        let meta = from.symlink_metadata().unwrap();
        if meta.is_dir() {
            copy_tree(&from, &to);
        } else if meta.is_symlink() {
            #[cfg(unix)]
            std::os::unix::fs::symlink(fs::read_link(&from).unwrap(), &to).unwrap();
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}

/// Every file below `folder` but git's own, with its bytes; a link with its target.
pub(crate) fn tree_contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut contents = BTreeMap::new();
    collect(folder, "", &mut contents);
    contents
}

fn collect(folder: &Path, prefix: &str, contents: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        let meta = entry.path().symlink_metadata().unwrap();
        if name == ".git" {
            continue;
        } else if meta.is_dir() {
            collect(&entry.path(), &format!("{name}/"), contents);
        } else if meta.is_symlink() {
            let target = fs::read_link(entry.path()).unwrap();
            contents.insert(name, format!("-> {}", target.display()).into_bytes());
        } else {
            contents.insert(name, fs::read(entry.path()).unwrap());
        }
    }
}
