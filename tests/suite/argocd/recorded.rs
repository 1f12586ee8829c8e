//! Applications as a real Argo CD (3.5.7) wrote them, recorded by `tools/argocd_stories.py` after each of its stories: what
//! is judged of them is what the story was about.

use overlay::argocd::ExpectedEffect;
use serde_json::{Value, json};

use super::case::*;
use super::server::frame;

/// The frame, and the same compared again and again.
fn recorded(name: &str, path: &str) -> Case {
    let mut case = Case::of(&[]);
    let mut first = frame(&format!("real/{name}"), &NAMES);
    // They were read through the Kubernetes API; Argo CD's own leaves out what kind they are.
    first.as_object_mut().unwrap().retain(|key, _| key != "apiVersion" && key != "kind");
    case.frames = vec![first.clone(); 5];
    for (minute, frame) in case.frames.iter_mut().enumerate().skip(1) {
        frame["status"]["reconciledAt"] = json!(format!("2030-01-01T00:0{minute}:00Z"));
    }
    case.name = "prod";
    case.expected.path = Some(path.to_owned());
    case.expected.rules.dwell = std::time::Duration::from_secs(2);
    case.timeout(300)
}

fn side(name: &str) -> Case {
    recorded(name, "side")
}

/// As the controller left it: it is away, and compares nothing.
fn once(mut case: Case) -> Case {
    case.frames.truncate(1);
    case
}

fn replicas(case: Case) -> Case {
    case.changing("apps", "Deployment", "side", "replicas")
}

fn ends(case: Case, code: &str, exit: u8, words: &[&str]) {
    case.run().expect(code, exit, words);
}

#[test]
fn what_is_done_is_told_as_done() {
    for name in ["done", "several-sources", "hydrated"] {
        let ended = side(name).run();
        assert_eq!((&*ended.code, &*ended.message), ("", ""), "{name}");
    }
}

#[test]
fn what_was_refused_or_not_rendered_is_told_with_its_words() {
    ends(recorded("refused-manifest", "overlays/prod"), "sync-failed", 5, &["99999"]);
    ends(side("failing-hook"), "sync-failed", 5, &["migrate"]);
    ends(side("broken-build"), "comparison-failed", 5, &["absent.yaml"]);
    ends(side("deleted-branch"), "comparison-failed", 5, &["release"]);
    ends(side("hydration-failed"), "hydration-failed", 5, &["absent.yaml"]);
    ends(side("never-ready"), "degraded", 5, &["Degraded"]);
}

/// The hydrator makes its branch when it renders for the first time, and the controller looks at it before that.
#[test]
fn a_branch_that_the_hydrator_has_not_made_yet_is_no_failure() {
    let case = side("hydrating");
    let words = &["Hydrating", "app path does not exist"];
    ends(case, "commit-not-noticed", 6, words);
}

#[test]
fn what_holds_it_back_is_told() {
    ends(side("automation-off"), "sync-manual", 5, &["automation is off"]);
    ends(side("pinned"), "revision-pinned", 5, &[OLD]);
    ends(side("skipped"), "reconcile-skipped", 5, &["skip-reconcile"]);
    ends(side("stuck"), "operation-stuck", 6, &[OLD, "endless"]);
    ends(once(side("controller-away")), "controller-silent", 6, &["does not take it up"]);
    let window = json!({"kind": "deny", "schedule": "* * * * *", "duration": "1h"});
    let windows = json!({"assignedWindows": [window], "activeWindows": [window]});
    ends(side("window").serving("syncwindows", windows), "sync-window", 6, &["deny"]);
}

#[test]
fn what_differs_in_the_cluster_is_told() {
    ends(side("drift"), "drift", 5, &["Deployment/side"]);
    ends(replicas(side("shared")), "object-excluded", 5, &["argocd/side and other"]);
    let state = json!({"spec": {"replicas": 1}}).to_string();
    let managed: Value = json!({"items": [{"group": "apps", "kind": "Deployment", "name": "side",
        "namespace": "side", "targetState": state, "liveState": state}]});
    let overridden = replicas(side("overridden")).serving("managed-resources", managed);
    assert!(
        matches!(&overridden.expected.effect, ExpectedEffect::Known(changes) if changes.len() == 1)
    );
    ends(overridden, "effect-missing", 5, &["rendered is 1", "Deployment/side"]);
}
