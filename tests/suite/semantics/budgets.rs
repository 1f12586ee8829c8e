//! Disruption budgets: what the disruption controller makes of them, and when the API server evicts.

use overlay::checks::budgets::budget_lines;
use overlay::rollout::{Snapshot, budget_findings, overlapping, selects};
use serde_json::{Value, json};

use super::{said, with_model};

/// Desired and allowed of a budget with the line `rule` over a Deployment of `replicas`, all healthy.
fn desired_allowed(rule: &str, replicas: i64) -> (i64, i64) {
    let text = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec: {{containers: [{{name: web, image: web}}]}}\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: web}}\nspec:\n  {rule}\n  selector: {{matchLabels: {{app: web}}}}\n"
    );
    with_model(&text, |context| {
        let line = budget_lines(context, None).remove(0);
        assert_eq!(line.expected, replicas);
        (line.desired.unwrap(), line.allowed.unwrap())
    })
}

/// The rows of semantics section 3, for N = 1, 2, 3, 5, 7, 10: desired and allowed.
#[test]
fn a_budget_allows_so_many_evictions() {
    for (rule, row) in [
        ("minAvailable: 1", [(1, 0), (1, 1), (1, 2), (1, 4), (1, 6), (1, 9)]),
        ("minAvailable: 2", [(2, 0), (2, 0), (2, 1), (2, 3), (2, 5), (2, 8)]),
        ("minAvailable: 50%", [(1, 0), (1, 1), (2, 1), (3, 2), (4, 3), (5, 5)]),
        ("minAvailable: 100%", [(1, 0), (2, 0), (3, 0), (5, 0), (7, 0), (10, 0)]),
        ("maxUnavailable: 0", [(1, 0), (2, 0), (3, 0), (5, 0), (7, 0), (10, 0)]),
        ("maxUnavailable: 1", [(0, 1), (1, 1), (2, 1), (4, 1), (6, 1), (9, 1)]),
        ("maxUnavailable: 50%", [(0, 1), (1, 1), (1, 2), (2, 3), (3, 4), (5, 5)]),
        ("maxUnavailable: 1%", [(0, 1), (1, 1), (2, 1), (4, 1), (6, 1), (9, 1)]),
    ] {
        for (replicas, want) in [1, 2, 3, 5, 7, 10].into_iter().zip(row) {
            assert_eq!(desired_allowed(rule, replicas), want, "{rule} of {replicas}");
        }
    }
    // Where there should be no pod, none may be evicted either.
    assert_eq!(desired_allowed("maxUnavailable: 1", 0), (0, 0));
}

fn budget(selector: Value, status: Value) -> Value {
    json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "shop", "generation": 2},
        "spec": {"minAvailable": 1, "selector": selector}, "status": status})
}

fn status(allowed: i64, healthy: i64, desired: i64, expected: i64) -> Value {
    json!({"observedGeneration": 2, "disruptionsAllowed": allowed, "currentHealthy": healthy,
        "desiredHealthy": desired, "expectedPods": expected})
}

/// What the eviction API looks at: whether the status is of this specification, then the number in it.
#[test]
fn an_eviction_is_refused_for_these_reasons() {
    let of = |status: Value, least: i64| {
        let found = budget_findings(&budget(json!({"matchLabels": {"app": "web"}}), status), least);
        found.into_iter().map(|finding| finding.id).collect::<Vec<_>>()
    };
    let mut stale = status(1, 2, 1, 2);
    stale["observedGeneration"] = json!(1);
    assert_eq!(of(stale, 0), ["budget-unobserved"], "429 whatever the number is");
    assert_eq!(of(status(0, 1, 1, 1), 1), ["budget-low"], "429");
    assert_eq!(of(status(1, 2, 1, 2), 1), [""; 0]);
    // Every error of the controller comes out as 0: it fails closed.
    let mut failed = status(0, 2, 0, 0);
    failed["conditions"] = json!([{"type": "DisruptionAllowed", "status": "False",
        "reason": "SyncFailed", "message": "jobs.batch does not implement the scale subresource"}]);
    assert_eq!(of(failed, 0), ["budget-error"]);
    assert_eq!(of(status(0, 0, 0, 0), 1), [""; 0], "it selects nothing, and holds nobody");
}

/// With all pods healthy evictions are blocked for good where as many must stay as there are.
#[test]
fn a_budget_that_can_never_allow_one_is_told_from_one_that_waits() {
    let fix = |status: Value| {
        let found = budget_findings(&budget(json!({}), status), 1);
        found[0].fix.clone().unwrap()
    };
    assert!(fix(status(0, 2, 2, 2)).starts_with("it can never allow one"));
    assert!(fix(status(0, 1, 1, 2)).starts_with("wait until"));
}

#[test]
fn a_selector_selects_as_policy_v1_says() {
    let pod = |labels: Value| {
        json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web-1", "namespace": "shop", "labels": labels},
        "status": {"phase": "Running"}})
    };
    let web = pod(json!({"app": "web", "tier": "front"}));
    let selects = |selector: Value| selects(&budget(selector, json!({})), &web);
    assert!(!selects(json!(null)), "none matches nothing");
    assert!(selects(json!({})), "an empty one matches all pods of the namespace");
    assert!(selects(json!({"matchLabels": {"app": "web", "tier": "front"}})));
    assert!(!selects(json!({"matchLabels": {"app": "web", "tier": "back"}})));
    for (operator, values, want) in [
        ("In", json!(["web", "api"]), true),
        ("In", json!(["api"]), false),
        ("NotIn", json!(["api"]), true),
        ("NotIn", json!(["web"]), false),
        ("Exists", json!(null), true),
        ("DoesNotExist", json!(null), false),
    ] {
        let rule = json!({"key": "app", "operator": operator, "values": values});
        assert_eq!(selects(json!({"matchExpressions": [rule]})), want, "{operator} {values}");
    }
    let missing =
        json!({"matchExpressions": [{"key": "old", "operator": "NotIn", "values": ["x"]}]});
    assert!(selects(missing), "a label that is not there is in no list");
}

/// More than one budget on a pod is an error of the API server, always; pods that are pending, over or told to end are
/// evicted without asking a budget.
#[test]
fn two_budgets_on_one_pod_refuse_it_for_ever() {
    let (one, mut other) = (budget(json!({}), json!({})), budget(json!({}), json!({})));
    other["metadata"]["name"] = json!("all");
    let of = |phase: &str, is_going: bool| {
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "web-1", "namespace": "shop"}, "status": {"phase": phase}});
        if is_going {
            pod["metadata"]["deletionTimestamp"] = json!("2026-03-01T10:00:00Z");
        }
        overlapping(&Snapshot::of([pod]), &[&one, &other]).len()
    };
    assert_eq!(of("Running", false), 1);
    assert_eq!([of("Pending", false), of("Succeeded", false), of("Failed", false)], [0, 0, 0]);
    assert_eq!(of("Running", true), 0);
}

/// A Deployment that a budget may select by `app`.
fn web(name: &str, replicas: i64) -> String {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"name": name}}, "template": {
            "metadata": {"labels": {"name": name, "app": "web"}}, "spec": {"containers": []}}}})
    .to_string()
}

fn over_web(rule: Value) -> String {
    let mut spec = rule;
    spec["selector"] = json!({"matchLabels": {"app": "web"}});
    json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"}, "spec": spec})
    .to_string()
}

/// The pods that a budget reckons with: the scales of all controllers of what it selects, and the least of an autoscaler.
#[test]
fn a_budget_counts_what_there_should_be() {
    let expected = |objects: &[String]| {
        with_model(&objects.join("\n---\n"), |context| {
            let line = budget_lines(context, None).remove(0);
            (line.expected, line.desired.unwrap(), line.allowed.unwrap())
        })
    };
    let share = || over_web(json!({"maxUnavailable": "50%"}));
    let (a, b) = (web("a", 3), web("b", 4));
    assert_eq!(expected(&[share(), a.clone(), b]), (7, 3, 4), "two workloads are summed");
    let scaler = |least: i64| {
        json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "a"}, "spec": {"minReplicas": least, "maxReplicas": 9,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}}})
        .to_string()
    };
    let one = || over_web(json!({"minAvailable": 1}));
    assert_eq!(expected(&[one(), a.clone(), scaler(1)]), (1, 1, 0), "N is its minReplicas");
    assert_eq!(expected(&[one(), a, scaler(2)]), (2, 1, 1));
}

/// What the section says of budgets as they stand in a render.
#[test]
fn a_budget_that_never_lets_go_refuses_or_does_nothing_is_found() {
    let about = |objects: &[String]| -> Vec<String> {
        let all = said(&objects.join("\n---\n"), None).into_iter();
        all.map(|(id, _)| id).filter(|id| id.starts_with("pdb-")).collect()
    };
    let one = || over_web(json!({"minAvailable": 1}));
    let (never, none): (&[&str], &[&str]) = (&["pdb-blocks-drain"], &[]);
    // Scaling down changes the verdict: 2 to 1 goes from drainable to never drainable.
    assert_eq!(about(&[one(), web("a", 2)]), none);
    assert_eq!(about(&[one(), web("a", 1)]), never);
    for (rule, replicas, want) in [
        (json!({"minAvailable": "100%"}), 5, never),
        (json!({"maxUnavailable": 0}), 5, never),
        (json!({"maxUnavailable": "0%"}), 5, never),
        (json!({"maxUnavailable": "1%"}), 5, none),
        (json!({"minAvailable": 5}), 5, never),
        (json!({"minAvailable": 4}), 5, none),
        (json!({"minAvailable": "81%"}), 5, never),
        (json!({"minAvailable": "80%"}), 5, none),
    ] {
        assert_eq!(about(&[over_web(rule.clone()), web("a", replicas)]), want, "{rule}");
    }
    let both = over_web(json!({"minAvailable": 1, "maxUnavailable": 1}));
    assert_eq!(about(&[both, web("a", 3)]), ["pdb-invalid"], "the two exclude each other");
    let mut other: Value = serde_json::from_str(&one()).unwrap();
    other["metadata"]["name"] = json!("other");
    assert_eq!(about(&[one(), other.to_string(), web("a", 3)]), ["pdb-overlap"]);
    let mut lost: Value = serde_json::from_str(&one()).unwrap();
    lost["spec"]["selector"] = json!({"matchLabels": {"app": "wep"}});
    assert_eq!(about(&[lost.to_string(), one(), web("a", 3)]), ["pdb-selects-nothing"]);
    lost["spec"]["selector"] = json!({});
    assert_eq!(about(&[lost.to_string(), web("a", 3), web("b", 3)]), ["pdb-selects-all"]);
}
