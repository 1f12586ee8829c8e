//! The same against a real Gitea, where there is one.

use serde_json::{Value as Json, json};

use crate::support::git_lab::Lab;
use crate::support::gitea::Gitea;

use super::{PROD, digest, pin};

struct Stage {
    lab: Lab,
    gitea: Gitea,
}

impl Stage {
    fn start() -> Option<Self> {
        let gitea = Gitea::start()?;
        let lab = Lab::new();
        lab.overlays("plain", &[]);
        gitea.call("POST", "/user/repos", json!({"name": "deploy", "default_branch": "main"}));
        lab.git("plain", &["push", "-q", &gitea.remote("ops/deploy"), "main"]);
        lab.git("", &["clone", "-q", &gitea.remote("ops/deploy"), "clone"]);
        Some(Self { lab, gitea })
    }

    /// Pins the image and proposes it; the JSON that was printed.
    fn pin(&self, digit: char, more: &[&str]) -> Json {
        let reference = pin("registry.test:5000/shop/web", digit);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_overlay"));
        command.args(["pin", "overlays/prod", &reference, "--pr", "-o", "json"]).args(more);
        command.current_dir(self.lab.path("clone")).env_clear().envs(self.lab.environment());
        command.env("GITEA_TOKEN", &self.gitea.token).env("GITEA_SERVER_URL", &self.gitea.url);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains(&self.gitea.token), "{text}");
        assert!(output.status.success(), "{text}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn pull(&self, number: u64) -> Json {
        self.gitea.call("GET", &format!("/repos/ops/deploy/pulls/{number}"), Json::Null)
    }
}

fn number(ran: &Json) -> u64 {
    ran["result"]["pullRequest"]["number"].as_u64().unwrap()
}

fn action(ran: &Json) -> &str {
    ran["result"]["pullRequest"]["action"].as_str().unwrap()
}

#[test]
fn a_real_gitea_has_one_pull_request_for_one_change() {
    let Some(stage) = Stage::start() else { return };
    assert!(stage.gitea.folder().exists());
    stage.gitea.call(
        "POST",
        "/repos/ops/deploy/labels",
        json!({"name": "release", "color": "#ff0000"}),
    );
    let more = [
        "--draft",
        "--label",
        "release",
        "--label",
        "none",
        "--reviewer",
        "nobody",
        "--assignee",
        "ops",
    ];
    let first = stage.pin('2', &more);
    assert_eq!((number(&first), action(&first)), (1, "opened"));
    let pull = stage.pull(1);
    assert_eq!((&pull["draft"], &pull["labels"][0]["name"]), (&json!(true), &json!("release")));
    assert_eq!(pull["assignees"][0]["login"], "ops");
    assert!(pull["body"].as_str().unwrap().contains("222222222222"));
    let notes = first["result"]["notes"].to_string();
    assert!(
        notes.contains("no label `none`") && notes.contains("has not got its reviewers"),
        "{notes}"
    );
    // Again: nothing.
    let again = stage.pin('2', &["--draft", "--label", "release"]);
    assert_eq!((&again["changed"], action(&again)), (&json!(false), "unchanged"), "{again}");
    // The next release, on top of a reviewer's commit.
    let branch = first["result"]["branch"].as_str().unwrap().to_owned();
    stage.lab.git("", &["clone", "-q", "-b", &branch, &stage.gitea.remote("ops/deploy"), "person"]);
    stage.lab.write("person/NOTES", "reviewed");
    stage.lab.git("person", &["add", "-A"]);
    stage
        .lab
        .git("person", &["-c", "user.email=reviewer@example.test", "commit", "-qm", "by hand"]);
    stage.lab.git("person", &["push", "-q"]);
    let next = stage.pin('3', &[]);
    assert_eq!((number(&next), action(&next)), (1, "updated"));
    let pull = stage.pull(1);
    assert_eq!((&pull["draft"], &pull["state"]), (&json!(true), &json!("open")));
    assert!(pull["body"].as_str().unwrap().contains("333333333333"));
    let changed = stage.gitea.call("GET", "/repos/ops/deploy/pulls/1/files", Json::Null);
    let mut files: Vec<&str> =
        changed.as_array().unwrap().iter().map(|f| f["filename"].as_str().unwrap()).collect();
    files.sort_unstable();
    assert_eq!(files, ["NOTES", PROD]);
    // Merged: a fresh one, and the base branch holds the change.
    stage.gitea.call("PATCH", "/repos/ops/deploy/pulls/1", json!({"title": "Ready"}));
    // Gitea looks for conflicts in the background and says "try again" until it has.
    let merge = || {
        stage.gitea.try_call("POST", "/repos/ops/deploy/pulls/1/merge", "{\"do\": \"squash\"}").0
    };
    let merged = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        merge() == 200
    });
    assert!(merged, "{}", stage.pull(1));
    assert_eq!(stage.pin('3', &[])["changed"], false);
    let fresh = stage.pin('4', &[]);
    assert_eq!((number(&fresh), action(&fresh)), (2, "opened"));
    assert!(stage.pull(2)["body"].as_str().unwrap().contains(&digest('4')[7..19]));
    // Back again: what is open asks for something that nobody wants any more.
    let back = stage.pin('3', &[]);
    assert_eq!((number(&back), action(&back)), (2, "closed"));
    assert_eq!(stage.pull(2)["state"], "closed");
}
