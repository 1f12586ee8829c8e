//! Whose branch it is: forks, other branches, reviewers, and pull requests that were merged or closed.

use crate::support::hub::{How, Pull};

use super::*;

const BRANCH: &str = "overlay/prod-web";

/// C130: a fork with the same branch, another branch at the same commit, a fork that is gone, another base.
#[test]
fn pull_requests_of_others_are_not_ours() {
    let stage = Stage::new(1);
    stage.git(&["branch", "release", "main"]);
    stage.lab.git("hub/ops", &["clone", "-q", "--bare", "deploy.git", "../mallory/deploy.git"]);
    stage.github.hub(|hub| {
        for (number, head, branch, base) in [
            (7, Some("mallory/deploy"), BRANCH, "main"),
            (8, Some("ops/deploy"), "overlay/prod-api", "main"),
            (9, None, BRANCH, "main"),
            (10, Some("ops/deploy"), BRANCH, "release"),
        ] {
            hub.pulls.push(Pull {
                number,
                is_open: true,
                head_repository: head.map(str::to_owned),
                head_branch: branch.to_owned(),
                base_branch: base.to_owned(),
                last_head: "0".repeat(40),
                ..Pull::default()
            });
        }
    });
    let others = || {
        let mut pulls = stage.github.hub(|hub| hub.pulls.clone());
        pulls.retain(|pull| pull.number < 11);
        let told = pulls.into_iter().map(|p| (p.number, p.is_open, p.title, p.body, p.comments));
        told.collect::<Vec<_>>()
    };
    let before = others();
    let ran = stage.pin('2', &["--branch", BRANCH]).ok();
    assert_eq!((ran.number(), ran.action()), (Some(11), "opened"));
    let next = stage.pin('3', &["--branch", BRANCH]).ok();
    assert_eq!((next.number(), next.action()), (Some(11), "updated"));
    assert_eq!(others(), before);
    let writes = stage.github.writes();
    assert_eq!(writes, ["POST /pulls", "PATCH /pulls/11"], "none of the others was touched");
}

/// C132: the branch has a first run's commit and a reviewer's; no pull request is open.
#[test]
fn the_reviewers_commit_survives() {
    let stage = Stage::new(1);
    let branch = stage.pin('2', &[]).ok().branch();
    let reviewed = stage.person(&branch, PROD, "# reviewed");
    let next = stage.pin('3', &[]).ok();
    assert_eq!((next.number(), next.action(), next.branch()), (Some(1), "updated", branch.clone()));
    assert_eq!(stage.git(&["rev-parse", &format!("{branch}^")]), reviewed);
    let file = stage.git(&["show", &format!("{branch}:{PROD}")]);
    assert!(file.contains("# reviewed") && file.contains(&digest('3')), "{file}");
    // Again: it is so already.
    assert!(!stage.pin('3', &[]).ok().changed());
    // Without a pull request the commits stay all the same.
    let stage = Stage::new(1);
    stage.git(&["branch", BRANCH, "main"]);
    let by_hand = stage.person(BRANCH, PROD, "# hand edit");
    let ran = stage.pin('2', &["--branch", BRANCH]).ok();
    assert_eq!((ran.action(), ran.branch().as_str()), ("opened", BRANCH));
    assert_eq!(stage.git(&["rev-parse", &format!("{BRANCH}^")]), by_hand);
}

#[test]
fn an_amended_commit_is_the_reviewers() {
    let stage = Stage::new(1);
    let branch = stage.pin('2', &[]).ok().branch();
    stage.lab.git("", &["clone", "-q", "-b", &branch, "hub/ops/deploy.git", "person"]);
    stage.lab.write("person/NOTES", "amended");
    stage.lab.git("person", &["add", "-A"]);
    let mut command = std::process::Command::new("git");
    command.args(["commit", "-q", "--amend", "--no-edit"]).current_dir(stage.lab.path("person"));
    command.env_clear().envs(stage.lab.environment());
    command.env("GIT_COMMITTER_EMAIL", "reviewer@example.test");
    assert!(command.status().unwrap().success());
    stage.lab.git("person", &["push", "-q", "-f", "origin", &branch]);
    let amended = stage.at(&branch).unwrap();
    let next = stage.pin('3', &[]).ok();
    assert_eq!(stage.git(&["rev-parse", &format!("{}^", next.branch())]), amended);
}

/// C132, merged and closed: a fresh branch from `main`, no commit of the old one in it.
#[test]
fn a_pull_request_that_is_over_gets_a_fresh_branch() {
    for how in [None, Some(How::Merge), Some(How::Squash), Some(How::Rebase)] {
        for is_reviewed in [false, true] {
            let stage = Stage::new(1);
            let branch = stage.pin('2', &[]).ok().branch();
            let reviewed =
                is_reviewed.then(|| stage.person(&branch, "base/web.yaml", "# reviewed"));
            stage.github.hub(|hub| match how {
                Some(how) => assert!(hub.merge(1, how).is_some()),
                None => {
                    hub.head(1);
                    hub.find(1).unwrap().is_open = false;
                }
            });
            let old = stage.at(&branch).unwrap();
            let next = stage.pin('3', &[]).ok();
            let what = format!("{how:?} {is_reviewed} {}", next.text);
            assert_eq!((next.number(), next.action()), (Some(2), "opened"), "{what}");
            let fresh = next.branch();
            assert_eq!(
                stage.git(&["rev-parse", &format!("{fresh}^")]),
                stage.at("main").unwrap(),
                "{what}"
            );
            // A reviewer's commit that `main` does not have is still on its branch.
            let is_lacking =
                |id: &String| !stage.git(&["rev-list", "-1", id, "--not", "main"]).is_empty();
            if let Some(reviewed) = reviewed.filter(is_lacking) {
                assert_eq!(stage.at(&branch), Some(reviewed), "{what}");
                assert_eq!((fresh, old), (format!("{branch}-2"), stage.at(&branch).unwrap()));
            }
        }
    }
}

#[test]
fn a_fork_is_the_head() {
    let stage = Stage::new(1);
    std::fs::create_dir_all(stage.lab.path("hub/me")).unwrap();
    stage.lab.git("hub", &["clone", "-q", "--bare", "ops/deploy.git", "me/deploy.git"]);
    stage.lab.git("hub/me/deploy.git", &["config", "http.receivepack", "true"]);
    stage.lab.git("clone", &["remote", "set-url", "origin", &stage.github.remote("me/deploy")]);
    let first = stage.pin('2', &["--repo", REPOSITORY]).ok();
    let pull = stage.github.pull(first.number().unwrap());
    assert_eq!(pull.head_repository.as_deref(), Some("me/deploy"));
    assert_eq!(stage.at(&first.branch()), None);
    let next = stage.pin('3', &["--repo", REPOSITORY]).ok();
    assert_eq!((next.number(), next.action()), (first.number(), "updated"));
}

#[test]
fn two_runs_at_once_make_one_pull_request() {
    let stage = Stage::new(1);
    let reference = pin("shop/app0", '2');
    let args = ["pin", "overlays/prod", reference.as_str(), "--pr"];
    let children: Vec<_> = (0..4)
        .map(|_| {
            let mut command = stage.command(&args);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in children {
        let ran = stage.finish(child.wait_with_output().unwrap()).ok();
        assert_eq!(ran.number(), Some(1), "{}", ran.text);
    }
    assert_eq!(stage.github.open_numbers(), [1]);
}
