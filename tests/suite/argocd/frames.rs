//! The published frames, one case after the other. What is expected is each case's own text.

use std::collections::BTreeMap;
use std::time::Duration;

use overlay::argocd::{
    ApplicationRef, DriftRule, Drive, Expectation, ExpectedEffect, HealthScope, RefreshRule,
    Relation, Wait, drive,
};
use serde_json::{Value, json};

use super::case::*;
use super::server::{FakeArgo, Script, frame};

#[test]
fn c90_healthy_but_out_of_sync_is_not_done() {
    let ended = Case::of(&["c90-1"]).timeout(5).run();
    ended.expect("commit-not-synced", 6, &["OutOfSync at", NEW, OLD]);
}

#[test]
fn c91_one_commit_ago_is_not_done_and_a_refresh_is_asked_for() {
    let ended = Case::of(&["c91-1", "c91-2"]).run();
    ended.expect_success();
    assert!(ended.refreshes >= 1);
    assert_eq!(ended.outcome.timeline[0].state, "not-noticed");
    let ended = Case::of(&["c91-1"]).timeout(60).run();
    ended.expect("commit-not-noticed", 6, &[OLD]);
}

#[test]
fn c92_a_parked_sync_is_not_applied() {
    let ended = Case::of(&["c92-1"]).timeout(5).run();
    ended.expect("sync-window", 6, &["sync window"]);
}

#[test]
fn c94_a_later_commit_is_accepted_while_it_holds_the_change() {
    let ended = Case::of(&["c94-1"]).run();
    ended.expect_success();
    let proof = ended.outcome.proof.unwrap();
    assert_eq!((&*proof.revision, proof.relation), (LATER, Relation::Descendant));
    let superseded = Relation::Superseded { by: LATER.to_owned() };
    Case::of(&["c94-1"]).later(superseded).run().expect("superseded", 5, &[LATER]);
    let ended = Case::of(&["c94-1"]).later(Relation::Unrelated).timeout(60).run();
    ended.expect("commit-not-noticed", 6, &[LATER]);
}

#[test]
fn c96_an_error_condition_fails_although_the_heart_is_green() {
    let ended = Case::of(&["c96-1"]).run();
    ended.expect("comparison-failed", 5, &["kustomize build failed: invalid Kustomization"]);
    assert!(ended.seconds <= 120, "{}", ended.seconds);
    for kind in ["InvalidSpecError", "SyncError"] {
        let ended = Case::of(&["c96-1"]).with("/status/conditions/0/type", &json!(kind)).run();
        ended.expect("comparison-failed", 5, &[kind]);
    }
    let null = Case::of(&["c96-1"]).with("/status/sync/revision", &Value::Null).run();
    null.expect("comparison-failed", 5, &[]);
    Case::of(&["c96-1", "c91-2"]).run().expect_success();
}

#[test]
fn c98_the_source_is_found_by_repository_and_path() {
    Case::of(&["c98-1"]).run().expect_success();
    let other = json!(["1.2.7", OLD, NEW]);
    let ended = Case::of(&["c98-1"]).with("/status/sync/revisions", &other).timeout(60).run();
    ended.expect("commit-not-noticed", 6, &[]);
    let short = json!(["1.2.7"]);
    let ended = Case::of(&["c98-1"]).with("/status/sync/revisions", &short).timeout(60).run();
    ended.expect("commit-not-noticed", 6, &[]);
}

#[test]
fn c100_the_next_operation_is_no_error() {
    let ended = Case { on_read: true, ..Case::of(&["c100-1", "c100-2"]) }.run();
    ended.expect_success();
    assert_eq!(ended.outcome.timeline[0].state, "syncing");
}

#[test]
fn c102_a_hook_that_fails_fails_the_wait() {
    let ended = Case { on_read: true, ..Case::of(&["c102-1", "c102-2"]) }.run();
    ended.expect("sync-failed", 5, &["one or more synchronization tasks completed unsuccessfully"]);
    assert_eq!(ended.outcome.timeline[0].state, "syncing");
}

#[test]
fn c104_what_is_done_is_done_at_the_first_read() {
    let ended = Case::of(&["c104-1"]).run();
    ended.expect_success();
    assert_eq!((ended.seconds, ended.refreshes), (0, 0));
}

#[test]
fn c108_a_swallowed_refresh_is_asked_for_again_at_a_bounded_rate() {
    let ended = Case::of(&["c108-1", "c108-1", "c91-2"]).run();
    ended.expect_success();
    assert_eq!(ended.refreshes, 2);
    assert!(ended.seconds >= 2, "{}", ended.seconds);
    let ended = Case::of(&["c108-1"]).timeout(300).run();
    assert!((5..=14).contains(&ended.refreshes), "{}", ended.refreshes);
}

#[test]
fn c110_a_status_about_another_spec_is_not_done() {
    Case::of(&["c110-1"]).timeout(5).run().expect("not-settled", 6, &["another spec"]);
    let staging = json!("overlays/staging");
    let ended = Case::of(&["c110-1"]).with("/spec/source/path", &staging).run();
    ended.expect("wrong-application", 3, &["overlays/staging", "overlays/prod"]);
    let spelled = json!("./overlays/prod/");
    let compared = "/status/sync/comparedTo/source/path";
    Case::of(&["c110-1"]).with(compared, &spelled).run().expect_success();
}

#[test]
fn c112_a_branch_that_is_gone_fails_with_the_message() {
    let ended = Case::of(&["c112-1"]).run();
    ended.expect("comparison-failed", 5, &["unable to resolve 'release-7' to a commit SHA"]);
    for branch in [json!("HEAD"), Value::Null, json!("refs/heads/main"), json!("main")] {
        let case = Case::of(&["c91-2"]).with("/spec/source/targetRevision", &branch);
        case.run().expect_success();
    }
    let ended = Case::of(&["c91-1"]).with("/spec/source/targetRevision", &json!(OLD)).run();
    ended.expect("revision-pinned", 5, &[OLD]);
    assert_eq!(ended.seconds, 0);
}

#[test]
fn s56_what_needs_a_person_is_said_at_once() {
    let manual = Case::of(&["c90-1"]).with("/spec/syncPolicy", &json!({})).run();
    manual.expect("sync-manual", 5, &["automation is off"]);
    assert_eq!(manual.seconds, 0);
    let skipped = json!({"argocd.argoproj.io/skip-reconcile": "true"});
    let ended = Case::of(&["c91-1"]).with("/metadata/annotations", &skipped).run();
    ended.expect("reconcile-skipped", 5, &["skip-reconcile"]);
}

#[test]
fn an_operation_and_a_comparison_in_the_same_second_prove_nothing() {
    let finished = "/status/operationState/finishedAt";
    let same = Case::of(&["c91-2"]).with(finished, &json!("2024-05-01T10:01:30Z"));
    same.timeout(30).run().expect("not-settled", 6, &["compared since the last sync ended"]);
    let recent = Case::of(&["c91-2"]).with(finished, &json!("2024-05-01T10:01:29Z"));
    recent.timeout(30).run().expect("not-settled", 6, &["1s"]);
}

/// The status is of before somebody synced an older revision by hand, so that the cluster holds that.
#[test]
fn a_rollback_by_hand_after_the_comparison_is_seen() {
    let finished = json!("2024-05-01T10:15:00Z");
    let case = Case::of(&["c91-2"]).with("/status/operationState/finishedAt", &finished);
    let case = case.with("/status/operationState/syncResult/revision", &json!(OLD));
    case.timeout(30).run().expect("not-settled", 6, &["compared since the last sync ended"]);
}

#[test]
fn an_application_that_goes_away_ends_the_wait() {
    let mut frames = Case::of(&["c91-1", "c91-2"]).frames;
    frames[0]["metadata"]["uid"] = json!("one");
    frames[1]["metadata"]["uid"] = json!("two");
    let ended = Case { frames, ..Case::of(&[]) }.run();
    ended.expect("application-gone", 5, &["another of the same name"]);
    let deleting = json!("2024-05-01T10:00:00Z");
    let ended = Case::of(&["c91-2"]).with("/metadata/deletionTimestamp", &deleting).run();
    ended.expect("application-gone", 5, &["being deleted"]);
}

#[test]
fn s56_what_was_degraded_before_is_told_from_what_the_commit_broke() {
    let before = || Case::of(&["c91-1"]).with(DEGRADED, &json!("Degraded")).frames.remove(0);
    let degraded = || {
        let case = web(Case::compared_again("c91-2")).with(DEGRADED, &json!("Degraded"));
        case.serving("resource-tree", tree("CronJob", "report", "Degraded"))
    };
    degraded().run().expect("degraded", 5, &["CronJob/report", "it says so"]);
    degraded().after(before()).run().expect("degraded-before", 5, &["CronJob/report"]);
}

/// The tree has every object that is managed; the one that the commit changes may have gone since the comparison.
#[test]
fn of_what_the_commit_changes_only_the_health_counts_and_it_has_to_be_there() {
    let report = json!({"kind": "CronJob", "name": "report", "health": {"status": "Degraded"}});
    let web_node = json!({"group": "apps", "kind": "Deployment", "name": "web", "health": {"status": "Healthy"}});
    let touched = |expected: &mut Expectation| expected.rules.health = HealthScope::Touched;
    let with = |nodes: Value| {
        let case = web(Case::compared_again("c91-2")).with(DEGRADED, &json!("Degraded"));
        case.serving("resource-tree", json!({"nodes": nodes})).expecting(touched)
    };
    with(json!([report, web_node])).run().expect_success();
    with(json!([report])).run().expect("health-unknown", 5, &["Missing", "Deployment/web"]);
    let unknown = |expected: &mut Expectation| {
        expected.effect = ExpectedEffect::Unknown { message: "no render".to_owned() };
    };
    let ended = with(json!([report, web_node])).expecting(unknown).run();
    ended.expect("degraded", 5, &["CronJob/report"]);
}

#[test]
fn a_closed_sync_window_is_named() {
    let window = json!({"kind": "allow", "schedule": "0 22 * * *", "duration": "1h"});
    let windows = json!({"assignedWindows": [window], "canSync": true});
    let ended = Case::of(&["c90-1"]).serving("syncwindows", windows).timeout(60).run();
    ended.expect("sync-window", 6, &["0 22 * * *"]);
}

#[test]
fn what_differs_after_a_finished_sync_is_drift_or_has_to_be_pruned() {
    let differing = |prune: bool| {
        let resource = json!([{"kind": "ConfigMap", "name": "c", "namespace": "shop",
            "status": "OutOfSync", "requiresPruning": prune}]);
        let case = web(Case::compared_again("c91-2"));
        case.with("/status/sync/status", &json!("OutOfSync")).with("/status/resources", &resource)
    };
    differing(false).run().expect("drift", 5, &["ConfigMap/c"]);
    differing(true).run().expect("prune-needed", 5, &["ConfigMap/c"]);
    let accepted = |expected: &mut Expectation| expected.rules.drift = DriftRule::Accepted;
    differing(false).expecting(accepted).run().expect_success();
}

#[test]
fn what_is_paused_waits_for_a_person() {
    let case = Case::compared_again("c91-2").with(DEGRADED, &json!("Suspended"));
    let case = case.serving("resource-tree", tree("Rollout", "web", "Suspended"));
    case.run().expect("suspended", 5, &["Rollout/web"]);
}

#[test]
fn a_database_that_rolls_is_not_degraded_and_a_broken_one_is() {
    let database = |phase: &str| {
        let state = json!({"spec": {"instances": 3}, "status": {"phase": phase, "instances": 3,
            "readyInstances": 2, "currentPrimary": "db-1", "targetPrimary": "db-2"}});
        let group = "postgresql.cnpg.io";
        let mut nodes = tree("Cluster", "db", "Degraded");
        nodes["nodes"][0]["group"] = json!(group);
        Case::compared_again("c91-2")
            .with(DEGRADED, &json!("Degraded"))
            .changing(group, "Cluster", "db", "instances")
            .serving("managed-resources", managed(group, "Cluster", "db", &state))
            .serving("resource-tree", nodes)
    };
    let rolling = database("Switchover in progress").run();
    rolling.expect("not-healthy", 6, &["Switchover in progress"]);
    database("Not enough disk space").run().expect("degraded", 5, &["Cluster/db"]);
    let waiting = database("Waiting for user action").run();
    waiting.expect("suspended", 5, &["Waiting for user action"]);
    // Green in Argo CD, and not done by what it says itself.
    let green = database("Cluster in healthy state").with(DEGRADED, &json!("Healthy")).run();
    green.expect("not-healthy", 6, &["not all ready"]);
}

#[test]
fn a_hydrated_application_is_judged_by_what_was_rendered() {
    let hydrated = "0404040404040404040404040404040404040404";
    let of = |phase: &str, dry: &str| {
        let source = json!({"drySource": {"repoURL": "https://git.test/ops/deploy", "path":
            "overlays/prod", "targetRevision": "main"},
            "syncSource": {"targetBranch": "env/prod", "path": "overlays/prod"}});
        let operation = json!({"phase": phase, "drySHA": dry, "hydratedSHA": hydrated,
            "message": "push was refused"});
        let last = json!({"drySHA": dry, "hydratedSHA": hydrated});
        Case::of(&["c91-2"])
            .with("/spec/source", &Value::Null)
            .with("/spec/sourceHydrator", &source)
            .with(
                "/status/sourceHydrator",
                &json!({"currentOperation": operation, "lastSuccessfulOperation": last}),
            )
            .with("/status/sync/revision", &json!(hydrated))
            .with("/status/operationState/syncResult/revision", &json!(hydrated))
    };
    of("Hydrated", NEW).run().expect_success();
    of("Hydrated", OLD).timeout(60).run().expect("commit-not-noticed", 6, &["not rendered"]);
    of("Failed", NEW).run().expect("hydration-failed", 5, &["push was refused"]);
}

/// Nothing was ever synced here: two comparisons far enough apart have to show it.
#[test]
fn without_an_operation_it_lasts_by_what_is_compared() {
    let never = |expected: &mut Expectation| expected.rules.refresh = RefreshRule::Never;
    let case = web(Case::compared_again("c91-2")).with("/status/operationState", &Value::Null);
    let ended = Case { on_read: true, ..case.expecting(never) }.run();
    ended.expect_success();
    assert!(ended.seconds >= 1, "not at the first read");
}

/// Reads, refreshes and other calls of a quarter of an hour that brings nothing.
#[test]
fn the_number_of_calls_is_bounded() {
    let server = FakeArgo::start(vec![("prod", Script::new(vec![frame("c91-1", &NAMES)]))]);
    let mut expected = Expectation::of_commit(NEW, REPOSITORY);
    expected.rules.timeout = Duration::from_secs(900);
    let history = History { later: Relation::Descendant, is_delivered: true };
    let app = ApplicationRef::parse("prod");
    let drives = vec![Drive { app, wait: Wait::new(expected), revisions: &history }];
    drive(drives, &server.rest(), &Virtual::default(), &|_, _| {});
    let mut calls: BTreeMap<bool, usize> = BTreeMap::new();
    for asked in server.asked() {
        *calls.entry(asked.target.contains("refresh=")).or_default() += 1;
    }
    assert!(calls[&false] <= 250 && calls[&true] <= 35, "{calls:?}");
}
