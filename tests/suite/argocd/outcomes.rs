//! Every row of the outcome table: what is seen, and what comes of it. The rows are those of the rules of waiting for
//! Argo CD (`docs/argo-cd.md`); a code that no row brings about fails the test.

use std::collections::BTreeSet;

use overlay::argocd::{DriftRule, Expectation, HealthScope, Relation, SyncRule};
use serde_json::{Value, json};

use super::case::*;
use super::server::frame;

/// One row.
struct Row {
    situation: &'static str,
    case: Case,
    /// The code of the error; empty where it succeeds.
    code: &'static str,
    exit: u8,
    /// What the message names: what is seen, what Argo CD says, which object.
    words: &'static [&'static str],
}

fn fails(
    situation: &'static str,
    case: Case,
    code: &'static str,
    exit: u8,
    words: &'static [&'static str],
) -> Row {
    Row { situation, case, code, exit, words }
}

fn succeeds(situation: &'static str, case: Case) -> Row {
    Row { situation, case, code: "", exit: 0, words: &[] }
}

const OPERATION: &str = "/status/operationState";
const HEALTH: &str = "/status/health/status";

/// A sync that runs, of that revision.
fn running(revision: &str) -> Value {
    json!({"phase": "Running", "message": "waiting for completion of hook batch/Job/migrate",
        "startedAt": "2024-05-01T10:00:30Z", "operation": {"sync": {"revision": revision}},
        "syncResult": {"revision": revision}})
}

/// OutOfSync at NEW, compared again each minute.
fn out_of_sync() -> Case {
    Case::compared_again("c91-2").with("/status/sync/status", &json!("OutOfSync"))
}

/// Healthy and synced at NEW in all but one field.
fn done_but(pointer: &str, value: &Value) -> Case {
    Case::compared_again("c91-2").with(pointer, value)
}

fn web_replicas(target: u64, live: u64) -> Case {
    let state = |replicas: u64| json!({"spec": {"replicas": replicas}}).to_string();
    let served = json!({"items": [{"group": "apps", "kind": "Deployment", "name": "web",
        "namespace": "shop", "targetState": state(target), "liveState": state(live)}]});
    Case::compared_again("c91-2")
        .changing("apps", "Deployment", "web", "replicas")
        .serving("managed-resources", served)
}

/// Whether the controller sees the commit.
fn noticing() -> Vec<Row> {
    let annotated = |key: &str| json!({format!("argocd.argoproj.io/{key}"): "normal"});
    let short = json!(["1.2.7"]);
    let not_delivered = Case { is_delivered: false, ..Case::of(&["c91-1"]) };
    vec![
        fails(
            "not refreshed yet: Synced and Healthy at the old revision",
            Case::of(&["c91-1"]).timeout(60),
            "commit-not-noticed",
            6,
            &[OLD],
        ),
        succeeds("no webhook: its own refresh makes it seconds", Case::of(&["c91-1", "c91-2"])),
        fails("someone force-pushed the commit away", not_delivered, "commit-rewritten", 5, &[]),
        fails(
            "the target revision was deleted",
            Case::of(&["c112-1"]),
            "comparison-failed",
            5,
            &["unable to resolve 'release-7' to a commit SHA"],
        ),
        fails(
            "several sources, and fewer revisions than sources",
            Case::of(&["c98-1"]).with("/status/sync/revisions", &short).timeout(60),
            "commit-not-noticed",
            6,
            &["no revision for each of its sources"],
        ),
        fails(
            "pinned to another commit",
            Case::of(&["c91-1"]).with("/spec/source/targetRevision", &json!(OLD)),
            "revision-pinned",
            5,
            &[OLD],
        ),
        fails(
            "the controller or the repository server is down: the request stays, nothing is compared",
            Case::of(&["c91-1"]).with("/metadata/annotations", &annotated("refresh")).timeout(300),
            "controller-silent",
            6,
            &["does not take it up"],
        ),
        fails(
            "told to leave it alone",
            Case::of(&["c91-1"]).with(
                "/metadata/annotations",
                &json!({"argocd.argoproj.io/skip-reconcile": "true"}),
            ),
            "reconcile-skipped",
            5,
            &["skip-reconcile"],
        ),
        succeeds(
            "a later commit that holds the change is compared",
            Case::of(&["c94-1"]).later(Relation::Descendant),
        ),
        fails(
            "a later commit took the change back",
            Case::of(&["c94-1"]).later(Relation::Superseded { by: LATER.to_owned() }),
            "superseded",
            5,
            &[LATER],
        ),
    ]
}

/// Whether it is the Application that it should be, and answers.
fn reaching() -> Vec<Row> {
    let named = |name| Case { name, ..Case::of(&["c91-2"]).timeout(60) };
    vec![
        fails(
            "being deleted",
            Case::of(&["c91-2"])
                .with("/metadata/deletionTimestamp", &json!("2024-05-01T10:00:00Z")),
            "application-gone",
            5,
            &["being deleted"],
        ),
        fails(
            "deleted, and made again under the same name",
            {
                let mut case = Case::of(&["c91-1", "c91-2"]);
                case.frames[0]["metadata"]["uid"] = json!("one");
                case.frames[1]["metadata"]["uid"] = json!("two");
                case
            },
            "application-gone",
            5,
            &["another of the same name"],
        ),
        fails(
            "it deploys another overlay",
            Case::of(&["c91-2"]).with("/spec/source/path", &json!("overlays/staging")),
            "wrong-application",
            3,
            &["overlays/staging", "overlays/prod"],
        ),
        fails("there is none", named("absent"), "no-such-application", 4, &["absent"]),
        fails(
            "it may not be seen",
            named("other"),
            "no-such-application",
            4,
            &["permission denied"],
        ),
        fails("the token is not taken", named("denied"), "argocd-denied", 4, &["token is expired"]),
        fails("nobody answers", named("down"), "argocd-unreachable", 5, &["503"]),
    ]
}

/// Whether the commit is synced.
fn syncing() -> Vec<Row> {
    let drifted = |prune: bool| {
        let resource = json!([{"kind": "ConfigMap", "name": "c", "namespace": "shop",
            "status": "OutOfSync", "requiresPruning": prune}]);
        out_of_sync().with("/status/resources", &resource)
    };
    let accepted = |expected: &mut Expectation| expected.rules.drift = DriftRule::Accepted;
    let known = |case: Case| case.changing("apps", "Deployment", "web", "replicas");
    let manual = || Case::of(&["c90-1"]).with("/spec/syncPolicy", &json!({}));
    let windows = json!({"assignedWindows": [{"kind": "allow", "schedule": "0 22 * * *",
        "duration": "1h"}], "canSync": true});
    vec![
        fails(
            "Healthy and OutOfSync before the sync",
            Case::of(&["c90-1"]).timeout(5),
            "commit-not-synced",
            6,
            &["OutOfSync at", NEW],
        ),
        fails(
            "OutOfSync after a finished sync of the commit",
            drifted(false),
            "drift",
            5,
            &["ConfigMap/c"],
        ),
        succeeds(
            "the same, and drift beside the change is accepted",
            known(drifted(false)).expecting(accepted),
        ),
        fails("only pruning is left", drifted(true), "prune-needed", 5, &["ConfigMap/c"]),
        fails("automation is off", manual(), "sync-manual", 5, &["automation is off"]),
        fails(
            "a sync window is closed, and nothing runs",
            Case::of(&["c90-1"]).serving("syncwindows", windows).timeout(60),
            "sync-window",
            6,
            &["0 22 * * *"],
        ),
        fails(
            "a sync window holds a sync that runs",
            Case::of(&["c92-1"]).timeout(60),
            "sync-window",
            6,
            &["blocked by sync window"],
        ),
    ]
}

/// Whether the sync of the commit goes on, and ends well.
fn operating() -> Vec<Row> {
    let owner = json!([{"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet",
        "name": "fleet", "uid": "1"}]);
    let mut retrying = running(NEW);
    retrying["finishedAt"] = json!("2024-05-01T10:00:50Z");
    retrying["retryCount"] = json!(2);
    retrying["message"] = json!("admission webhook denied the request. Retrying attempt #2");
    vec![
        fails(
            "failed, and tried again",
            out_of_sync().with(OPERATION, &retrying).timeout(60),
            "commit-not-synced",
            6,
            &["waits for try 3", "admission webhook denied"],
        ),
        fails(
            "failed for good, a hook after the sync too",
            Case::of(&["c102-2"]),
            "sync-failed",
            5,
            &["one or more synchronization tasks completed unsuccessfully"],
        ),
        fails(
            "failed for good, and the controller says that it does not try again",
            Case::of(&["c102-2"]).with("/status/sync/status", &json!("OutOfSync")).with(
                "/status/conditions",
                &json!([{"type": "SyncError", "message": "Failed last sync attempt to [it]"}]),
            ),
            "sync-failed",
            5,
            &["one or more synchronization tasks completed unsuccessfully"],
        ),
        fails(
            "the controller does not begin a sync: all would be pruned",
            Case::of(&["c90-1"]).with(
                "/status/conditions",
                &json!([{"type": "SyncError", "message": "auto-sync will wipe out all resources"}]),
            ),
            "sync-failed",
            5,
            &["does not sync it", "wipe out all resources"],
        ),
        fails(
            "a sync of an older commit holds the place",
            out_of_sync().with(OPERATION, &running(OLD)).timeout(60),
            "operation-stuck",
            6,
            &[OLD, "Job/migrate"],
        ),
        fails(
            "an ApplicationSet syncs step by step",
            Case::of(&["c90-1"]).with("/metadata/ownerReferences", &owner).timeout(60),
            "commit-not-synced",
            6,
            &["ApplicationSet fleet", "step by step"],
        ),
    ]
}

/// Whether what was synced is the change, and is well.
fn settling() -> Vec<Row> {
    let tree = |name: &str, health: &str| {
        let health = json!({"status": health, "message": "it says so"});
        json!({"nodes": [{"kind": "CronJob", "name": name, "health": health}]})
    };
    let degraded = || {
        done_but(HEALTH, &json!("Degraded")).serving("resource-tree", tree("report", "Degraded"))
    };
    let before = || Case::of(&["c91-1"]).with(HEALTH, &json!("Degraded")).frames.remove(0);
    let touched = |expected: &mut Expectation| expected.rules.health = HealthScope::Touched;
    let suspended = done_but(HEALTH, &json!("Suspended"));
    vec![
        fails("something is broken", degraded(), "degraded", 5, &["CronJob/report", "it says so"]),
        fails(
            "the same was broken before the commit",
            degraded().after(before()),
            "degraded-before",
            5,
            &["CronJob/report"],
        ),
        succeeds(
            "the same, and only what the commit changes counts",
            degraded().after(before()).expecting(touched),
        ),
        fails(
            "it rolls",
            done_but(HEALTH, &json!("Progressing")).timeout(60),
            "not-healthy",
            6,
            &["Progressing"],
        ),
        fails(
            "it waits for a person",
            suspended.serving("resource-tree", tree("nightly", "Suspended")),
            "suspended",
            5,
            &["CronJob/nightly"],
        ),
        fails(
            "everything is missing",
            done_but(HEALTH, &json!("Missing")),
            "health-unknown",
            5,
            &[],
        ),
        fails(
            "its health is not known",
            done_but(HEALTH, &json!("Unknown")),
            "health-unknown",
            5,
            &[],
        ),
    ]
}

/// Whether the change is rendered, live, and there to stay.
fn taking_effect() -> Vec<Row> {
    let condition = |kind: &str, message: &str| json!([{"type": kind, "message": message}]);
    let shared = condition(
        "SharedResourceWarning",
        "Deployment/web is part of applications argocd/prod and other",
    );
    let ignored =
        json!([{"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}]);
    vec![
        fails(
            "rendered without the change: stale manifests",
            web_replicas(1, 1),
            "effect-missing",
            5,
            &["Deployment/web", "spec.replicas"],
        ),
        fails(
            "live without the change, which the comparison leaves out",
            web_replicas(3, 1).with("/spec/ignoreDifferences", &ignored),
            "effect-ignored",
            5,
            &["Deployment/web"],
        ),
        fails(
            "another Application owns the object too",
            web_replicas(3, 3).with("/status/conditions", &shared),
            "object-excluded",
            5,
            &["argocd/prod and other"],
        ),
        fails(
            "compared in the second in which the sync ended",
            Case::of(&["c91-2"])
                .with("/status/operationState/finishedAt", &json!("2024-05-01T10:01:30Z"))
                .timeout(30),
            "not-settled",
            6,
            &["compared since the last sync ended"],
        ),
        succeeds("all of it", web_replicas(3, 3)),
        succeeds(
            "all of it, and a hydration is asked for where there is no hydrator",
            Case::of(&["c91-2"])
                .with("/metadata/annotations", &json!({"argocd.argoproj.io/hydrate": "normal"})),
        ),
    ]
}

/// Where a hydrator renders it first.
fn hydrating() -> Vec<Row> {
    let hydrated = |phase: &str, dry: &str, compared: &str| {
        let sha = "0404040404040404040404040404040404040404";
        let spec = json!({"drySource": {"repoURL": "https://git.test/ops/deploy",
            "path": "overlays/prod", "targetRevision": "main"},
            "syncSource": {"targetBranch": "env/prod", "path": "overlays/prod"}});
        let status = json!({"currentOperation": {"phase": phase, "drySHA": dry, "hydratedSHA": sha,
            "message": "push was refused"}, "lastComparedDryRevision": compared,
            "lastSuccessfulOperation": {"drySHA": dry, "hydratedSHA": sha}});
        Case::of(&["c91-2"])
            .with("/spec/source", &Value::Null)
            .with("/spec/sourceHydrator", &spec)
            .with("/status/sourceHydrator", &status)
            .with("/status/sync/revision", &json!(sha))
            .with("/status/operationState/syncResult/revision", &json!(sha))
    };
    let replicas = |case: Case| case.changing("apps", "Deployment", "web", "replicas").timeout(60);
    let superseded = Relation::Superseded { by: LATER.to_owned() };
    vec![
        succeeds("hydrated", hydrated("Hydrated", NEW, NEW)),
        fails(
            "the hydrator fails",
            hydrated("Failed", NEW, NEW),
            "hydration-failed",
            5,
            &["push was refused"],
        ),
        fails(
            "the hydrator is at work",
            hydrated("Hydrating", "", OLD).timeout(60),
            "commit-not-noticed",
            6,
            &["Hydrating"],
        ),
        fails(
            "the hydrator has looked at a commit that changes something, and not rendered it",
            replicas(hydrated("Hydrated", OLD, NEW)),
            "commit-not-noticed",
            6,
            &["looked at the commit and not rendered it"],
        ),
        succeeds(
            "the hydrator has looked at a commit that changes nothing that is rendered",
            hydrated("Hydrated", OLD, NEW),
        ),
        fails(
            "hydrated is a later commit that took the change back",
            hydrated("Hydrated", LATER, LATER).later(superseded),
            "superseded",
            5,
            &[LATER],
        ),
    ]
}

#[test]
fn every_row_of_the_outcome_table_has_a_named_reason() {
    let rows =
        [noticing(), reaching(), syncing(), operating(), settling(), taking_effect(), hydrating()];
    let mut seen = BTreeSet::new();
    for row in rows.into_iter().flatten() {
        let ended = row.case.run();
        let said = (&*ended.code, ended.exit);
        assert_eq!(said, (row.code, row.exit), "{}: {}", row.situation, ended.message);
        for word in row.words {
            assert!(ended.message.contains(word), "{}: {word}: {}", row.situation, ended.message);
        }
        seen.insert(ended.code);
    }
    let source = std::fs::read_to_string("src/error/argocd.rs").unwrap();
    let source = source.split("/// What to do about it.").next().unwrap();
    let codes = source.split("codes::").skip(1).filter_map(|after| {
        let name = after.split(|c: char| !c.is_ascii_uppercase() && c != '_').next()?;
        (!name.is_empty()).then(|| name.to_lowercase().replace('_', "-"))
    });
    let without: Vec<String> = codes.filter(|code| !seen.contains(code)).collect();
    assert_eq!(without, [""; 0], "codes that no row brings about");
}

#[test]
fn a_filter_by_paths_asks_for_a_fresh_render() {
    let paths = json!({"argocd.argoproj.io/manifest-generate-paths": "."});
    let ended = Case::of(&["c91-1", "c91-2"]).with("/metadata/annotations", &paths).run();
    ended.expect_success();
    assert!(ended.hard_refreshes >= 1, "{}", ended.refreshes);
}

#[test]
fn a_sync_is_asked_for_where_automation_is_off() {
    let by_hand = |expected: &mut Expectation| expected.rules.sync = SyncRule::WhereManual;
    let manual = Case::of(&["c90-1"]).with("/spec/syncPolicy", &json!({}));
    let done = frame("c91-2", &NAMES);
    let mut case = manual.expecting(by_hand).serving("sync", json!({}));
    case.frames.push(done);
    let ended = Case { on_read: true, ..case }.run();
    ended.expect_success();
    assert_eq!(ended.syncs, 1);
}
