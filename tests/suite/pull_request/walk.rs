//! `docs/walk.md`: a newcomer's first hour, every command of it in a shell, in the order of the page, against the forge of the tests.
//!
//! `OVERLAY_BLESS=1` writes what was printed into the page, to be read before it is committed.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

const PAGE: &str = "docs/walk.md";
const FIXTURE: &str = "fixtures/overlays/lattice";
/// What the page calls the forge.
const SHOWN: &str = "https://forge.example";

/// When all commits are made, so that their names are the same each time.
const DATES: [(&str, &str); 2] =
    [("GIT_AUTHOR_DATE", "2024-05-02T10:00:00Z"), ("GIT_COMMITTER_DATE", "2024-05-02T10:00:00Z")];

/// One shell that goes through the page.
struct Walker {
    stage: Stage,
    directory: PathBuf,
}

impl Walker {
    fn new() -> Self {
        let lab = Lab::new();
        lab.init("plain", &[]);
        copy(Path::new(FIXTURE), &lab.path("plain"));
        lab.git("plain", &["add", "-A", "-f"]);
        let mut commit = Command::new("git");
        commit.args(["commit", "-q", "-m", "start"]).current_dir(lab.path("plain"));
        commit.env_clear().envs(lab.environment()).envs(DATES);
        assert!(commit.status().unwrap().success());
        let stage = Stage::of(lab);
        fs::create_dir(stage.lab.path("bin")).unwrap();
        stage.lab.link("bin/overlay", env!("CARGO_BIN_EXE_overlay"));
        fs::create_dir(stage.lab.path("walk")).unwrap();
        Self { directory: stage.lab.path("walk"), stage }
    }

    /// What the command prints, with the forge under the name that the page has for it; its exit status.
    fn run(&mut self, command: &str) -> (String, i32) {
        if let Some(directory) = command.strip_prefix("cd ") {
            self.directory.push(directory);
            assert!(self.directory.is_dir(), "{command}");
            return (String::new(), 0);
        }
        let own = format!("http://bot:{TOKEN}@127.0.0.1:{}", self.stage.github.port);
        let command = command.replace(SHOWN, &own);
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", self.stage.lab.path("bin").display());
        let mut bash = Command::new("bash");
        bash.args(["-c", &format!("{command} 2>&1")]).current_dir(&self.directory);
        bash.env_clear().envs(self.stage.lab.environment()).env("PATH", path);
        bash.envs(DATES);
        bash.env("OVERLAY_CACHE_DIR", self.stage.lab.path("cache"));
        bash.env("GITHUB_TOKEN", TOKEN).env("GITHUB_API_URL", self.stage.github.api());
        let output = bash.output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(!printed.contains("ghp_"), "{printed}");
        let local = format!("http://127.0.0.1:{}", self.stage.github.port);
        (printed.replace(&local, SHOWN), output.status.code().unwrap_or(-1))
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let from = entry.unwrap().path();
        let to = to.join(from.file_name().unwrap());
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}

/// The page with each command followed by what it prints, and the status of each command.
fn walked(page: &str, walker: &mut Walker) -> (String, Vec<(String, i32)>) {
    let (mut out, mut in_console, mut ran) = (String::new(), false, Vec::new());
    for line in page.lines() {
        if line.starts_with("```") {
            in_console = line == "```console";
        }
        match line.strip_prefix("$ ").filter(|_| in_console) {
            Some(command) => {
                let (printed, status) = walker.run(command);
                out.push_str(&format!("{line}\n{printed}"));
                ran.push((command.to_owned(), status));
            }
            None if in_console && !line.starts_with("```") => {}
            None => out.push_str(&format!("{line}\n")),
        }
    }
    (out, ran)
}

#[test]
fn a_newcomer_walks_from_a_clone_to_a_pull_request_and_back() {
    let page = fs::read_to_string(PAGE).unwrap();
    let mut walker = Walker::new();
    let (now, ran) = walked(&page, &mut walker);
    // The commit's name has every file of the fixture in it: the page keeps the one it has.
    let shown = page.lines().find_map(|line| line.strip_prefix("commit ")?.get(..40)).unwrap();
    let made = walker.stage.at("release-0.12.4").unwrap();
    let now = now.replace(&*made, shown).replace(&made[..12], &shown[..12]);
    // What the page says in words, of what is there afterwards.
    for (command, status) in &ran {
        let expected = match command {
            _ if command.starts_with("overlay check") => 7,
            _ if command.contains("gatway=") => 3,
            _ => 0,
        };
        assert_eq!(*status, expected, "{command}\n{now}");
    }
    let forge = &walker.stage.github;
    assert_eq!(forge.hub(|hub| hub.pulls.len()), 1, "one pull request for one change");
    let head = walker.stage.at("release-0.12.4");
    assert!(head.is_some() && head == walker.stage.at("main"), "it was merged");
    let file = walker.stage.git(&["show", "main:overlays/prod/kustomization.yaml"]);
    assert!(file.contains(
        "digest: sha256:4d0f0e8a8c3a4e2b7f5d9c1b6a3e8f7d2c5b4a39180706f5e4d3c2b1a0998877"
    ));
    assert!(forge.calls().len() > 2);
    if std::env::var("OVERLAY_BLESS").is_ok() {
        fs::write(PAGE, now).unwrap();
    } else {
        assert_eq!(page, now, "run this test with OVERLAY_BLESS=1");
    }
}
