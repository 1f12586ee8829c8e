//! What an earlier read showed of an operation, and a later one no longer does: the frames of a story one after the other.

use serde_json::{Value, json};

use super::case::*;
use super::server::frame;

/// Minutes after ten o'clock.
fn at(minute: u32) -> Value {
    json!(format!("2024-05-01T10:{minute:02}:00Z"))
}

/// An operation of that revision which began at that minute.
fn operation(phase: &str, revision: &str, began: u32) -> Value {
    let mut state = json!({"phase": phase, "message": format!("it is {phase}"), "startedAt": at(began),
        "operation": {"sync": {"revision": revision}}, "syncResult": {"revision": revision}});
    if phase != "Running" {
        state["finishedAt"] = at(began + 1);
    }
    state
}

/// Synced and Healthy at the commit, compared at that minute, with that operation as the last.
fn synced(compared: u32, state: Value) -> Value {
    let mut frame = frame("c91-2", &NAMES);
    frame["status"]["reconciledAt"] = at(compared);
    frame["status"]["operationState"] = state;
    frame
}

/// The same while another one is asked for.
fn asked_for(mut frame: Value, revision: &str) -> Value {
    frame["operation"] = json!({"sync": {"revision": revision}});
    frame
}

/// One frame a read.
fn run(frames: Vec<Value>) -> Ended {
    Case { frames, on_read: true, ..Case::of(&[]) }.timeout(60).run()
}

/// The sync of the commit failed and brought the change all the same; a rollback was asked for, and changed nothing.
#[test]
fn a_failure_that_was_seen_counts_when_a_rollback_has_taken_its_place() {
    let failed = operation("Failed", NEW, 1);
    for rollback in ["Succeeded", "Failed", "Error"] {
        let frames = vec![
            asked_for(synced(5, failed.clone()), OLD),
            asked_for(synced(5, operation("Running", OLD, 6)), OLD),
            synced(10, operation(rollback, OLD, 6)),
        ];
        run(frames).expect("sync-failed", 5, &[NEW, "ended in Failed", "it is Failed"]);
    }
}

#[test]
fn a_failure_that_was_seen_is_forgotten_when_a_sync_of_the_commit_succeeds() {
    let first = asked_for(synced(5, operation("Failed", NEW, 1)), OLD);
    for revision in [NEW, LATER] {
        let seen = asked_for(synced(5, operation("Succeeded", revision, 6)), OLD);
        let last = synced(20, operation("Succeeded", OLD, 10));
        run(vec![first.clone(), seen, last]).expect_success();
    }
    // The one that succeeded came and went between two reads.
    let mut last = synced(20, operation("Succeeded", OLD, 10));
    last["status"]["history"] =
        json!([{"id": 1, "revision": LATER, "deployStartedAt": at(6), "deployedAt": at(7)}]);
    run(vec![first.clone(), last.clone()]).expect_success();
    // One before it says nothing, nor does one without the commit, nor a sync of some objects, nor a dry run.
    last["status"]["history"][0]["deployStartedAt"] = at(1);
    run(vec![first.clone(), last.clone()]).expect("sync-failed", 5, &[NEW]);
    last["status"]["history"] =
        json!([{"id": 1, "revision": OLD, "deployStartedAt": at(6), "deployedAt": at(7)}]);
    run(vec![first.clone(), last]).expect("sync-failed", 5, &[NEW]);
    for part in [json!({"resources": [{"kind": "Job", "name": "x"}]}), json!({"dryRun": true})] {
        let mut partial = operation("Succeeded", NEW, 6);
        partial["operation"]["sync"] = part;
        run(vec![first.clone(), synced(20, partial)]).expect("sync-failed", 5, &[NEW]);
    }
}

/// It ran at one read, and another had its place at the next: whether it succeeded is in the history or nowhere.
#[test]
fn an_operation_whose_end_was_not_seen_is_looked_up_in_the_history() {
    let running = asked_for(synced(5, operation("Running", NEW, 4)), NEW);
    let mut last = synced(20, operation("Succeeded", OLD, 10));
    let frames = vec![running.clone(), last.clone()];
    run(frames).expect("not-settled", 6, &[NEW, "ended was not to be seen"]);
    last["status"]["history"] =
        json!([{"id": 1, "revision": NEW, "deployStartedAt": at(4), "deployedAt": at(5)}]);
    run(vec![running, last]).expect_success();
}

/// One that was given up at a restart says Succeeded, and has neither an end nor a result.
#[test]
fn an_operation_that_was_given_up_counts_when_a_rollback_has_taken_its_place() {
    let mut given_up = operation("Succeeded", NEW, 4);
    for lost in ["finishedAt", "syncResult"] {
        given_up.as_object_mut().unwrap().remove(lost);
    }
    let frames = vec![synced(5, given_up), synced(20, operation("Failed", OLD, 10))];
    run(frames).expect("not-settled", 6, &[NEW, "ended was not to be seen"]);
}

#[test]
fn an_operation_of_another_revision_that_failed_says_nothing() {
    let first = asked_for(synced(5, operation("Failed", OLD, 1)), NEW);
    run(vec![first, synced(20, operation("Succeeded", NEW, 6))]).expect_success();
}

/// A dry run takes the place of a rollback that the comparison knows nothing of.
#[test]
fn a_dry_run_does_not_hide_that_nothing_was_compared_since() {
    let mut dry = operation("Succeeded", OLD, 6);
    dry["operation"]["sync"]["dryRun"] = json!(true);
    run(vec![synced(5, dry.clone())]).expect("not-settled", 6, &["since the last sync ended"]);
    run(vec![synced(20, dry)]).expect_success();
}
