//! The same against a real Gitea, where there is one.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::support::git_lab::Lab;
use crate::support::gitea::Gitea;

use super::comment::run_script;
use super::{Command, Output, PROD, digest, pin};

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
        // Until Gitea has seen the push, the repository is empty and has no pull requests.
        let start = Instant::now();
        while gitea.call("GET", "/repos/ops/deploy", Json::Null)["empty"] == true {
            assert!(start.elapsed() < Duration::from_secs(60), "the repository stays empty");
            std::thread::sleep(Duration::from_millis(100));
        }
        lab.git("", &["clone", "-q", &gitea.remote("ops/deploy"), "clone"]);
        Some(Self { lab, gitea })
    }

    fn command(&self, digit: char, more: &[&str]) -> Command {
        let reference = pin("registry.test:5000/shop/web", digit);
        let mut command = Command::new(env!("CARGO_BIN_EXE_overlay"));
        command.args(["pin", "overlays/prod", &reference, "--pr", "-o", "json"]).args(more);
        command.current_dir(self.lab.path("clone")).env_clear().envs(self.lab.environment());
        command.env("GITEA_TOKEN", &self.gitea.token).env("GITEA_SERVER_URL", &self.gitea.url);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The exit status and the JSON that was printed.
    fn finish(&self, output: &Output) -> (i32, Json) {
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains(&self.gitea.token), "{text}");
        let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e} {text}"));
        (output.status.code().unwrap(), json)
    }

    /// Pins the image and proposes it; the JSON that was printed.
    fn pin(&self, digit: char, more: &[&str]) -> Json {
        let (status, json) = self.finish(&self.command(digit, more).output().unwrap());
        assert_eq!(status, 0, "{json}");
        json
    }

    /// `main` at the forge has the commit that is named, and the digest came with it.
    fn require_landed(&self, ran: &Json, digit: char) {
        assert_eq!(ran["result"]["pullRequest"]["state"], "merged", "{ran}");
        let commit = ran["result"]["landed"]["commit"].as_str().unwrap_or_else(|| panic!("{ran}"));
        self.lab.git("clone", &["fetch", "-q", "origin"]);
        self.lab.git("clone", &["merge-base", "--is-ancestor", commit, "origin/main"]);
        let at = |revision: &str| self.lab.git("clone", &["show", &format!("{revision}:{PROD}")]);
        assert!(at(commit).contains(&digest(digit)));
        assert!(
            !at(&format!("{commit}^1")).contains(&digest(digit)),
            "not the commit that brought it"
        );
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

#[test]
fn a_real_gitea_merges() {
    let Some(stage) = Stage::start() else { return };
    // It merges itself, by the method that is asked for.
    for (digit, method) in [('2', "merge"), ('3', "squash"), ('4', "rebase")] {
        let ran = stage.pin(digit, &["--merge", "--merge-method", method, "--timeout", "2m"]);
        stage.require_landed(&ran, digit);
        let again = stage.pin(digit, &["--merge", "--timeout", "2m"]);
        assert_eq!(again["changed"], false, "{again}");
        assert_eq!(again["result"]["landed"]["commit"], ran["result"]["landed"]["commit"]);
    }
    // A person merges while it waits.
    let child = stage.command('5', &["--wait-merge", "--timeout", "2m"]).spawn().unwrap();
    let start = Instant::now();
    while stage.gitea.try_call("POST", "/repos/ops/deploy/pulls/4/merge", "{\"do\": \"squash\"}").0
        != 200
    {
        assert!(start.elapsed() < Duration::from_secs(60), "nobody could merge it");
        std::thread::sleep(Duration::from_millis(200));
    }
    let (status, ran) = stage.finish(&child.wait_with_output().unwrap());
    assert_eq!(status, 0, "{ran}");
    stage.require_landed(&ran, '5');
}

#[test]
fn a_real_gitea_says_what_stands_in_the_way() {
    let Some(stage) = Stage::start() else { return };
    let rule = json!({"rule_name": "main", "enable_push": false, "enable_status_check": true, "status_check_contexts": ["ci/*"]});
    stage.gitea.call("POST", "/repos/ops/deploy/branch_protections", rule);
    // Main takes no pushes.
    let mut command = stage.command('2', &[]);
    let refused = stage.finish(&command.output().unwrap());
    assert_eq!(refused.0, 0, "{}", refused.1);
    let commit = refused.1["result"]["commit"].as_str().unwrap().to_owned();
    let report = |state: &str| {
        let body = json!({"context": "ci/unit", "state": state});
        stage.gitea.call("POST", &format!("/repos/ops/deploy/statuses/{commit}"), body);
    };
    let merge =
        || stage.finish(&stage.command('2', &["--merge", "--timeout", "8s"]).output().unwrap());
    // The check has not begun, then it fails, then it passes.
    let (status, ran) = merge();
    assert_eq!((status, &ran["error"]["code"]), (6, &json!("not-merged")), "{ran}");
    assert!(ran["error"]["message"].to_string().contains("ci/*"), "{ran}");
    report("failure");
    let (status, ran) = merge();
    assert_eq!((status, &ran["error"]["code"]), (5, &json!("checks-failed")), "{ran}");
    assert!(ran["error"]["message"].to_string().contains("ci/unit"), "{ran}");
    report("success");
    let ran = stage.pin('2', &["--merge", "--timeout", "2m"]);
    stage.require_landed(&ran, '2');
    // Closed, and not by us.
    let child = stage.command('3', &["--wait-merge", "--timeout", "2m"]).spawn().unwrap();
    let start = Instant::now();
    while stage.gitea.try_call("PATCH", "/repos/ops/deploy/pulls/2", "{\"state\": \"closed\"}").0
        != 201
    {
        assert!(start.elapsed() < Duration::from_secs(60), "nobody could close it");
        std::thread::sleep(Duration::from_millis(200));
    }
    let (status, ran) = stage.finish(&child.wait_with_output().unwrap());
    assert_eq!((status, &ran["error"]["code"]), (5, &json!("pull-request-closed")), "{ran}");
}

/// The script of the comment action as a job of Gitea's own runner has it: the same calls, at Gitea's API.
#[test]
fn a_real_gitea_takes_the_comment() {
    let Some(stage) = Stage::start() else { return };
    let branch = stage.pin('2', &[])["result"]["branch"].as_str().unwrap().to_owned();
    stage.lab.git("clone", &["fetch", "-q", "origin"]);
    let (api, to) = (format!("{}/api/v1", stage.gitea.url), format!("origin/{branch}"));
    let run = |below: &str| {
        let (status, _, text) = run_script(
            &stage.lab,
            &[
                ("GITHUB_API_URL", &api),
                ("OVERLAY_TOKEN", &stage.gitea.token),
                ("OVERLAY_BELOW", below),
                ("OVERLAY_TO", &to),
            ],
        );
        assert_eq!(status, 0, "{text}");
        assert!(!text.contains("::warning::"), "{text}");
        let comments = stage.gitea.call("GET", "/repos/ops/deploy/issues/1/comments", Json::Null);
        let texts =
            comments.as_array().unwrap().iter().map(|c| c["body"].as_str().unwrap().to_owned());
        texts.collect::<Vec<_>>()
    };
    let first = run("");
    assert!(matches!(&first[..], [one] if one.contains(&digest('2'))), "{first:?}");
    assert_eq!(run("overlays/prod"), first);
    let last = run("overlays/dev");
    assert!(
        matches!(&last[..], [one] if one.ends_with("No overlay renders differently.")),
        "{last:?}"
    );
}
