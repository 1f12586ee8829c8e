//! `overlay pr`: the pull request of a branch that was pushed before.

use super::*;

const BRANCH: &str = "release-7";

impl Stage {
    fn push(&self, digit: char) {
        let reference = pin("shop/app0", digit);
        let args = ["pin", "overlays/prod", &reference, "--branch", BRANCH, "--push"];
        self.run(&args).ok();
    }
}

#[test]
fn a_branch_that_was_pushed_gets_its_pull_request() {
    let stage = Stage::new(1);
    stage.push('2');
    assert_eq!(stage.github.writes(), [""; 0]);
    let ran = stage.run(&["pr", BRANCH, "--label", "release"]).ok();
    assert_eq!((ran.number(), ran.action(), ran.changed()), (Some(1), "opened", true));
    let pull = stage.github.pull(1);
    assert_eq!(
        (pull.title.as_str(), pull.head_branch.as_str()),
        ("Pin app0 in overlays/prod", BRANCH)
    );
    assert_eq!(pull.labels, ["release"]);
    let row = "| `shop/app0` | `sha256:111111111111…` | `sha256:222222222222…` |";
    assert!(pull.body.contains(row), "{}", pull.body);
    let effect = &ran.json["result"]["overlays"][0]["effect"][0];
    assert_eq!(effect["after"], format!("shop/app0@{}", digest('2')));
    // Again: nothing. With a title: that alone.
    let again = stage.run(&["pr", BRANCH, "--label", "release"]).ok();
    assert_eq!((again.action(), again.changed()), ("unchanged", false));
    stage.github.calls();
    stage.run(&["pr", BRANCH, "--title", "Release 7"]).ok();
    assert_eq!(stage.github.writes(), ["PATCH /pulls/1"]);
    assert_eq!(stage.github.pull(1).title, "Release 7");
    // A run with `--pr` on that branch takes it for its own.
    let next = stage.pin('3', &["--branch", BRANCH]).ok();
    assert_eq!((next.number(), next.action()), (Some(1), "updated"));
    assert_eq!(stage.git(&["rev-list", "--count", &format!("main..{BRANCH}")]), "1");
}

#[test]
fn one_that_was_closed_is_opened_again() {
    let stage = Stage::new(1);
    let branch = stage.pin('2', &[]).ok().branch();
    stage.github.hub(|hub| {
        hub.head(1);
        hub.find(1).unwrap().is_open = false;
    });
    let ran = stage.run(&["pr", &branch]).ok();
    assert_eq!((ran.number(), ran.action(), ran.changed()), (Some(1), "updated", true));
    assert_eq!(stage.github.open_numbers(), [1]);
    // Its branch went on meanwhile: a new one.
    stage.github.hub(|hub| hub.find(1).unwrap().is_open = false);
    stage.person(&branch, "README", "more");
    let ran = stage.run(&["pr", &branch]).ok();
    assert_eq!((ran.number(), ran.action()), (Some(2), "opened"));
}

/// A branch made by hand, with a change of a base: what the overlays render tells what it changes.
#[test]
fn a_branch_of_a_person_is_described_by_what_it_renders() {
    let stage = Stage::new(1);
    stage.git(&["branch", "by-hand", "main"]);
    let text = stage
        .git(&["show", "main:base/web.yaml"])
        .replace("spec:\n  selector", "spec:\n  replicas: 4\n  selector");
    stage.replace("by-hand", "base/web.yaml", &text);
    stage.person("main", "README", "moved");
    let ran = stage.run(&["pr", "by-hand"]).ok();
    assert_eq!(ran.action(), "opened");
    let pull = stage.github.pull(1);
    assert_eq!(pull.title, "by hand");
    for overlay in ["overlays/dev", "overlays/prod"] {
        let row = format!("| `{overlay}` | `Deployment/web` | `spec.replicas` | `nothing` | `4` |");
        assert!(pull.body.contains(&row), "{row} in {}", pull.body);
    }
    assert!(!pull.body.contains("README"));
}

#[test]
fn what_is_not_there_is_told() {
    let stage = Stage::new(1);
    let ran = stage.run(&["pr", "none"]);
    assert_eq!((ran.status, ran.code()), (4, "no-such-reference"), "{}", ran.text);
    assert_eq!(stage.run(&["pr", "main"]).status, 2);
    stage.git(&["branch", "same", "main"]);
    let ran = stage.run(&["pr", "same"]).ok();
    assert_eq!((ran.number(), ran.changed()), (None, false));
    assert!(ran.notes().contains("no commit that main has not"), "{}", ran.notes());
    assert_eq!(stage.github.writes(), [""; 0]);
}
