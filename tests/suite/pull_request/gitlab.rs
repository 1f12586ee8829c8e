//! The same against a GitLab of the tests. It is written after GitLab's documentation, and no real one judges it.

use std::process::Stdio;
use std::time::Duration;

use crate::support::git_lab::Lab;
use crate::support::gitlab::{GitLab, TOKEN};
use crate::support::hub::{How, Rules, Verdict};

use super::*;

/// In a group of a group, as GitLab has them.
const PROJECT: &str = "ops/team/deploy";

struct Stage {
    lab: Lab,
    gitlab: GitLab,
}

impl Stage {
    fn new() -> Self {
        let lab = Lab::new();
        lab.overlays("plain", &[]);
        std::fs::create_dir_all(lab.path("hub/ops/team")).unwrap();
        lab.bare("plain", "hub/ops/team/deploy.git");
        lab.git("hub/ops/team/deploy.git", &["config", "http.receivepack", "true"]);
        let gitlab = GitLab::serve(&lab.path("hub"), PROJECT);
        lab.git("", &["clone", "-q", &gitlab.remote(PROJECT), "clone"]);
        Self { lab, gitlab }
    }

    fn command(&self, digit: char, more: &[&str]) -> Command {
        let reference = pin("registry.test:5000/shop/web", digit);
        let mut command = Command::new(env!("CARGO_BIN_EXE_overlay"));
        command.args(["pin", "overlays/prod", &reference, "--pr", "-o", "json"]).args(more);
        command.current_dir(self.lab.path("clone")).env_clear().envs(self.lab.environment());
        command.env("OVERLAY_CACHE_DIR", self.lab.path("cache")).env("GITLAB_TOKEN", TOKEN);
        command.env("GITLAB_HOST", self.gitlab.url());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn finish(&self, output: &Output) -> Ran {
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains("glpat-"), "{text}");
        let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {text}"));
        Ran { status: output.status.code().unwrap_or(-1), json, text }
    }

    fn pin(&self, digit: char, more: &[&str]) -> Ran {
        self.finish(&self.command(digit, more).output().unwrap())
    }

    fn git(&self, args: &[&str]) -> String {
        self.lab.git("hub/ops/team/deploy.git", args)
    }

    /// `main` has the commit that is named, and the digest came with it.
    fn require_landed(&self, ran: &Ran, digit: char) {
        let commit = ran.json["result"]["landed"]["commit"]
            .as_str()
            .unwrap_or_else(|| panic!("{}", ran.text));
        self.git(&["merge-base", "--is-ancestor", commit, "main"]);
        assert!(self.git(&["show", &format!("{commit}:{PROD}")]).contains(&digest(digit)));
        assert!(!self.git(&["show", &format!("{commit}^1:{PROD}")]).contains(&digest(digit)));
        self.gitlab.writes();
    }

    /// A reviewer's commit on a branch.
    fn person(&self, branch: &str, file: &str) -> String {
        self.lab.git("", &["clone", "-q", "-b", branch, "hub/ops/team/deploy.git", "person"]);
        self.lab.write(&format!("person/{file}"), "by hand");
        self.lab.git("person", &["add", "-A"]);
        let who = ["-c", "user.email=reviewer@example.test", "commit", "-qm", "by hand"];
        let mut command = Command::new("git");
        command.args(who).current_dir(self.lab.path("person")).env_clear();
        command.envs(self.lab.environment()).env("GIT_COMMITTER_EMAIL", "reviewer@example.test");
        assert!(command.status().unwrap().success());
        self.lab.git("person", &["push", "-q"]);
        let id = self.lab.git("person", &["rev-parse", "HEAD"]);
        std::fs::remove_dir_all(self.lab.path("person")).unwrap();
        id
    }
}

#[test]
fn a_gitlab_has_one_merge_request_for_one_change() {
    let stage = Stage::new();
    let more = [
        "--draft",
        "--label",
        "release",
        "--label",
        "a b",
        "--assignee",
        "ann",
        "--reviewer",
        "nobody",
    ];
    let first = stage.pin('2', &more).ok();
    assert_eq!((first.number(), first.action()), (Some(1), "opened"));
    let url = first.json["result"]["pullRequest"]["url"].as_str().unwrap();
    assert!(url.ends_with("/ops/team/deploy/-/merge_requests/1"), "{url}");
    assert!(first.notes().contains("there is no person `nobody`"), "{}", first.notes());
    let pull = stage.gitlab.pull(1);
    assert!(pull.is_draft && pull.body.contains("222222222222"), "{}", pull.body);
    assert_eq!(
        (pull.labels, pull.assignees),
        (vec!["release".into(), "a b".into()], vec!["ann".into()])
    );
    stage.gitlab.writes();
    let again = stage.pin('2', &[]).ok();
    assert_eq!((again.changed(), again.action()), (false, "unchanged"));
    assert_eq!(stage.gitlab.writes(), [""; 0]);
    let branch = first.branch();
    let reviewed = stage.person(&branch, "NOTES");
    let next = stage.pin('3', &[]).ok();
    assert_eq!((next.number(), next.action()), (Some(1), "updated"));
    assert_eq!(stage.git(&["rev-parse", &format!("{branch}^")]), reviewed);
    let pull = stage.gitlab.pull(1);
    assert!(pull.is_draft && pull.body.contains("333333333333"), "{}", pull.body);
    // Closed by a person: a fresh one.
    stage.gitlab.hub(|hub| {
        hub.head(1);
        hub.find(1).unwrap().is_open = false;
    });
    let fresh = stage.pin('3', &[]).ok();
    assert_eq!((fresh.number(), fresh.action()), (Some(2), "opened"));
    assert_ne!(fresh.branch(), branch, "a reviewer's commit is on the old one");
    stage.gitlab.writes();
}

#[test]
fn several_people_are_more_than_some_gitlabs_take() {
    let stage = Stage::new();
    let more =
        ["--assignee", "ann", "--assignee", "bob", "--reviewer", "ops/sre", "--label", "a,b"];
    let ran = stage.pin('2', &more).ok();
    let notes = ran.notes();
    for words in ["not all of them were taken", "a group reviews nothing", "a comma parts labels"] {
        assert!(notes.contains(words), "{notes}");
    }
    stage.gitlab.writes();
}

#[test]
fn a_gitlab_merges_as_the_project_does() {
    for (project, method, parents) in [
        ("merge", None, 2),
        ("merge", Some("squash"), 1),
        ("ff", None, 1),
        ("ff", Some("rebase"), 1),
    ] {
        let stage = Stage::new();
        stage.gitlab.merges_by(project);
        let flags = method.map(|method| ["--merge-method", method]);
        let flags: Vec<&str> = ["--merge"].into_iter().chain(flags.into_iter().flatten()).collect();
        let ran = stage.pin('2', &flags).ok();
        let list = stage.git(&["rev-list", "--parents", "-1", "main"]);
        assert_eq!(list.split(' ').count() - 1, parents, "{project} {method:?}");
        stage.require_landed(&ran, '2');
        assert!(!stage.pin('2', &flags).ok().changed());
    }
    let stage = Stage::new();
    let ran = stage.pin('2', &["--merge", "--merge-method", "rebase", "--timeout", "4s"]);
    assert_ne!(ran.status, 0, "{}", ran.text);
    assert!(ran.text.contains("the project merges by merge commits"), "{}", ran.text);
    // A person merges while it waits.
    let child = stage.command('2', &["--wait-merge", "--timeout", "60s"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    stage.gitlab.hub(|hub| assert!(hub.merge(1, How::Squash).is_some()));
    let ran = stage.finish(&child.wait_with_output().unwrap()).ok();
    stage.require_landed(&ran, '2');
}

#[test]
fn a_gitlab_says_what_stands_in_the_way() {
    let stage = Stage::new();
    let rules = Rules { checks: vec!["pipeline".into()], ..Rules::default() };
    stage.gitlab.hub(|hub| hub.rules = rules);
    let merge = |more: &[&str]| stage.pin('2', &[&["--merge", "--timeout"], more].concat());
    let ran = merge(&["3s"]);
    assert_eq!((ran.status, ran.code()), (6, "not-merged"), "{}", ran.text);
    stage.gitlab.hub(|hub| hub.check(1, "pipeline", Verdict::Bad));
    let ran = merge(&["10s"]);
    assert_eq!((ran.status, ran.code()), (5, "checks-failed"), "{}", ran.text);
    assert!(ran.text.contains("pipeline"), "{}", ran.text);
    stage.gitlab.hub(|hub| hub.check(1, "pipeline", Verdict::Good));
    stage.require_landed(&merge(&["60s"]).ok(), '2');
    // Behind, where the project moves its branch alone: the edit is made again on the new base.
    let rules = Rules { is_strict: true, ..Rules::default() };
    stage.gitlab.hub(|hub| hub.rules = rules);
    stage.gitlab.merges_by("ff");
    let opened = stage.pin('3', &[]).ok();
    stage.person("main", "NOTES");
    let ran = stage.pin('3', &["--merge", "--timeout", "60s"]).ok();
    stage.require_landed(&ran, '3');
    assert_eq!(ran.number(), opened.number());
    assert_eq!(stage.git(&["log", "-1", "--format=%s", "main~1"]), "by hand");
    // Closed.
    let child = stage.command('4', &["--wait-merge", "--timeout", "60s"]).spawn().unwrap();
    for _ in 0..1_000 {
        let number = stage.gitlab.hub(|hub| hub.pulls.last().unwrap().number);
        if number == 3 {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    stage.gitlab.hub(|hub| {
        hub.head(3);
        hub.find(3).unwrap().is_open = false;
    });
    let ran = stage.finish(&child.wait_with_output().unwrap());
    assert_eq!((ran.status, ran.code()), (5, "pull-request-closed"), "{}", ran.text);
    stage.gitlab.writes();
}

#[test]
fn a_credential_of_gitlab_is_its_own() {
    let stage = Stage::new();
    let with = |name: &str, value: &str| {
        let mut command = stage.command('2', &["-v"]);
        command.env_remove("GITLAB_TOKEN").env(name, value);
        stage.finish(&command.output().unwrap())
    };
    // Another forge's token is not for GitLab.
    let ran = with("GITHUB_TOKEN", TOKEN);
    assert_eq!((ran.status, ran.code()), (4, "forge-credential"), "{}", ran.text);
    let ran = with("GITLAB_TOKEN", "glpat-wrong000000000000");
    assert_eq!((ran.status, ran.code()), (5, "forge-authentication"), "{}", ran.text);
    assert_eq!(stage.git(&["branch", "--list", "overlay/*"]), "", "nothing was pushed");
    // A job of GitLab's own names forge and project.
    let folder = stage.lab.path("hub/ops/team/deploy.git").display().to_string();
    stage.lab.git("clone", &["remote", "set-url", "origin", &folder]);
    let mut command = stage.command('2', &[]);
    command.env_remove("GITLAB_HOST").env("CI_PROJECT_PATH", PROJECT);
    command.env("CI_API_V4_URL", format!("{}/api/v4", stage.gitlab.url()));
    let ran = stage.finish(&command.output().unwrap()).ok();
    assert_eq!(ran.action(), "opened");
}

#[test]
fn a_fork_on_gitlab_is_the_head() {
    let stage = Stage::new();
    std::fs::create_dir_all(stage.lab.path("hub/me")).unwrap();
    stage.lab.git("hub", &["clone", "-q", "--bare", PROJECT_FOLDER, "me/deploy.git"]);
    stage.lab.git("hub/me/deploy.git", &["config", "http.receivepack", "true"]);
    stage.lab.git("clone", &["remote", "set-url", "origin", &stage.gitlab.remote("me/deploy")]);
    let first = stage.pin('2', &["--repo", PROJECT]).ok();
    let pull = stage.gitlab.pull(first.number().unwrap());
    assert_eq!(pull.head_repository.as_deref(), Some("me/deploy"));
    let next = stage.pin('3', &["--repo", PROJECT]).ok();
    assert_eq!((next.number(), next.action()), (first.number(), "updated"));
    stage.gitlab.writes();
}

const PROJECT_FOLDER: &str = "ops/team/deploy.git";
