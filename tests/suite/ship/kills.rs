//! A run that is killed at a step, by the calls that it makes: the next one, on another machine, completes it.

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use super::*;
use crate::support::tripwire::{Trap, When};

const ARGS: [&str; 3] = ["--merge", "--auto-revert", "--timeout=60s"];

/// `overlay ship pin overlays/prod shop/web=… --merge --auto-revert`.
fn args(reference: &str) -> Vec<&str> {
    [&["pin", "overlays/prod", reference][..], &ARGS].concat()
}

/// Runs until the trap springs.
fn killed(harbor: &Harbor, trap: &Trap) {
    let reference = pin("shop/web", '2');
    let mut command = harbor.command_in("clone", &args(&reference));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    harbor.stage.github.wire().arm(trap.clone(), child.id());
    assert_eq!(child.wait().unwrap().signal(), Some(9), "{trap:?}");
    harbor.fresh_clone("elsewhere");
}

/// The same command on another machine.
fn again(harbor: &Harbor) -> Ran {
    let reference = pin("shop/web", '2');
    harbor.ship_in("elsewhere", &args(&reference))
}

/// What a run asks of git, forge and Argo CD, in order, and how many calls there were before it.
fn calls(mood: Mood) -> (Vec<String>, usize) {
    let harbor = Harbor::new();
    harbor.set(mood);
    let reference = pin("shop/web", '2');
    let before = harbor.stage.github.wire().labels().len();
    harbor.ship(&args(&reference));
    (harbor.stage.github.wire().labels(), before)
}

/// Whether something is different after it.
fn writes(label: &str) -> bool {
    label == "git git-receive-pack" || label.contains("mutation") || {
        !label.starts_with("git ") && !label.contains("GET ") && !label.contains("/graphql")
    }
}

/// Where to kill: before and after each call from `from` on that writes, and before the first of all others of each kind.
fn traps(calls: &[String], from: usize) -> Vec<Trap> {
    let mut traps: Vec<Trap> = Vec::new();
    for (at, label) in calls.iter().enumerate().skip(from) {
        let nth = calls[..=at].iter().filter(|other| *other == label).count();
        let trap = |when| Trap { label: label.clone(), when, nth };
        match writes(label) {
            true => traps.extend([trap(When::Before), trap(When::After)]),
            false if traps.iter().all(|known| known.label != *label) => {
                traps.push(trap(When::Before));
            }
            false => {}
        }
    }
    traps
}

#[test]
fn a_run_that_is_killed_anywhere_is_completed_on_another_machine() {
    let (calls, before) = calls(Mood::default());
    let traps = traps(&calls, before);
    let labels: Vec<&str> = traps.iter().map(|trap| trap.label.as_str()).collect();
    for step in ["git git-receive-pack", "POST /pulls", "PUT /pulls/1/merge"] {
        assert!(labels.contains(&step), "{labels:?}");
    }
    assert!(labels.iter().any(|label| label.starts_with("argo GET")), "{labels:?}");
    for trap in &traps {
        let harbor = Harbor::new();
        killed(&harbor, trap);
        let ran = again(&harbor);
        assert_eq!(ran.status, 0, "{trap:?} {}", ran.text);
        assert!(["shipped", "already-so"].contains(&status(&ran, 0)), "{trap:?} {}", ran.text);
        assert!(harbor.rendered("overlays/prod").contains(&"2".repeat(64)), "{trap:?}");
        let (pulls, open) = harbor
            .stage
            .github
            .hub(|hub| (hub.pulls.len(), hub.pulls.iter().filter(|pull| pull.is_open).count()));
        assert_eq!((pulls, open), (1, 0), "{trap:?}");
        assert_eq!(
            harbor.stage.git(&["rev-list", "--count", "--no-merges", "main"]),
            "3",
            "{trap:?}"
        );
    }
}

#[test]
fn a_way_back_that_is_killed_anywhere_is_completed_on_another_machine() {
    let (calls, _) = calls(fails_for('2'));
    let merged = calls.iter().position(|label| label == "PUT /pulls/1/merge").unwrap();
    let traps = traps(&calls, merged + 1);
    let labels: Vec<&str> = traps.iter().map(|trap| trap.label.as_str()).collect();
    for step in ["git git-receive-pack", "POST /pulls", "PUT /pulls/2/merge"] {
        assert!(labels.contains(&step), "{labels:?}");
    }
    for trap in &traps {
        let harbor = Harbor::new();
        let before = harbor.rendered("overlays/prod");
        harbor.set(fails_for('2'));
        killed(&harbor, trap);
        let ran = again(&harbor);
        // Taken back by this run, or by the one that was killed.
        match ran.status {
            5 => assert_eq!(status(&ran, 0), "taken-back", "{trap:?} {}", ran.text),
            status => assert_eq!((status, ran.code()), (3, "taken-back"), "{trap:?} {}", ran.text),
        }
        assert_eq!(harbor.rendered("overlays/prod"), before, "{trap:?}");
        let (pulls, open) = harbor
            .stage
            .github
            .hub(|hub| (hub.pulls.len(), hub.pulls.iter().filter(|pull| pull.is_open).count()));
        assert_eq!((pulls, open), (2, 0), "{trap:?}");
    }
}
