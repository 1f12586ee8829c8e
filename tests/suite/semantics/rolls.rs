//! Rolls: how many pods a strategy adds and takes away, what is left, and when `kubectl rollout status` says that it is over.

use std::fs;

use overlay::checks::model::workload::{RollingUpdate, Strategy, Workload};
use overlay::kustomize::Rendered;
use overlay::rollout::{RolloutState, least_ready, rollout_state};
use serde_json::{Value, json};

use super::said;

/// What a strategy comes to: surge, unavailable, and the ready pods that it leaves, by the model of renders and by that of live
/// objects, which must be one.
fn comes_to(rolling: &Value, replicas: i64) -> (i64, i64, i64) {
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
            "template": {"spec": {"containers": []}}}});
    let rendered = Rendered::parse(&deployment.to_string()).unwrap();
    let workload = Workload::new(&rendered.resources[0]).unwrap();
    let Strategy::RollingUpdate(RollingUpdate { surge, unavailable }) = workload.strategy(replicas)
    else {
        panic!("{deployment}")
    };
    let least = least_ready(&deployment);
    assert_eq!(least, replicas - unavailable, "{deployment}");
    (surge, unavailable, least)
}

/// The rows of semantics section 2.2, for N = 1, 2, 3, 4, 5, 8, 10.
#[test]
fn a_strategy_comes_to_so_many_pods() {
    let of = |surge: Value, unavailable: Value| json!({"maxSurge": surge, "maxUnavailable": unavailable});
    let quarter = [(1, 0, 1), (1, 0, 2), (1, 0, 3), (1, 1, 3), (2, 1, 4), (2, 2, 6), (3, 2, 8)];
    let no_surge = [(0, 1, 0), (0, 1, 1), (0, 1, 2), (0, 1, 3), (0, 1, 4), (0, 2, 6), (0, 2, 8)];
    for (rolling, row) in [
        (json!({}), quarter),
        (of(json!("25%"), json!("25%")), quarter),
        (of(json!(0), json!("25%")), no_surge),
        (of(json!("0%"), json!("25%")), no_surge),
        // Either is a quarter where it is not stated.
        (json!({"maxSurge": 0}), no_surge),
        (json!({"maxUnavailable": "25%"}), quarter),
        (
            of(json!(1), json!(1)),
            [(1, 1, 0), (1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 1, 4), (1, 1, 7), (1, 1, 9)],
        ),
        (
            of(json!("50%"), json!("50%")),
            [(1, 0, 1), (1, 1, 1), (2, 1, 2), (2, 2, 2), (3, 2, 3), (4, 4, 4), (5, 5, 5)],
        ),
        (
            of(json!(1), json!("100%")),
            [(1, 1, 0), (1, 2, 0), (1, 3, 0), (1, 4, 0), (1, 5, 0), (1, 8, 0), (1, 10, 0)],
        ),
    ] {
        for (replicas, want) in [1, 2, 3, 4, 5, 8, 10].into_iter().zip(row) {
            assert_eq!(comes_to(&rolling, replicas), want, "{rolling} of {replicas}");
        }
    }
    assert_eq!(comes_to(&json!({}), 0), (0, 0, 0));
}

/// Eleven values of both for 0 to 12 replicas, as `ResolveFenceposts` of Kubernetes' own code has it; what it says may be gone is then
/// bounded by the replicas (`MaxUnavailable`).
#[test]
fn kubernetes_reckons_the_same_pods() {
    let text = fs::read_to_string("fixtures/kubernetes/fenceposts.json").unwrap();
    let rows: Vec<(String, String, i64, i64, i64)> = serde_json::from_str(&text).unwrap();
    assert_eq!(rows.len(), 11 * 11 * 13);
    let value =
        |text: &str| text.parse::<i64>().map_or_else(|_| json!(text), |number| json!(number));
    for (surge, unavailable, replicas, more, fewer) in rows {
        let rolling = json!({"maxSurge": value(&surge), "maxUnavailable": value(&unavailable)});
        let fewer = fewer.min(replicas);
        let want = (more, fewer, replicas - fewer);
        assert_eq!(comes_to(&rolling, replicas), want, "{rolling} of {replicas}");
    }
}

/// Section 2.2: when a roll may leave nobody.
#[test]
fn nobody_is_left_by_a_recreate_a_single_pod_of_a_set_and_a_strategy_that_says_so() {
    let least = |kind: &str, spec: Value| least_ready(&json!({"kind": kind, "spec": spec}));
    let rolling = |surge: Value, unavailable: Value, replicas: i64| {
        json!({"replicas": replicas, "strategy": {"type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}})
    };
    let recreate = json!({"replicas": 3, "strategy": {"type": "Recreate"}});
    assert_eq!(least("Deployment", recreate), 0);
    assert_eq!(least("Deployment", rolling(json!(1), json!("100%"), 3)), 0);
    assert_eq!(least("Deployment", rolling(json!(1), json!(5), 3)), 0, "more than there are");
    assert_eq!(
        least("Deployment", rolling(json!(0), json!("1%"), 1)),
        0,
        "rounded to nothing is one"
    );
    assert_eq!(least("Deployment", json!({"replicas": 0})), 0);
    assert_eq!(least("Deployment", json!({})), 1, "one replica by default, and it stays");
    for (replicas, want) in [(1, 0), (2, 1), (3, 2), (7, 6)] {
        assert_eq!(least("StatefulSet", json!({ "replicas": replicas })), want);
    }
    assert_eq!(least("StatefulSet", json!({})), 0);
    let daemons = |away: Value| {
        least_ready(&json!({"kind": "DaemonSet", "status": {"desiredNumberScheduled": 5},
            "spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": away}}}}))
    };
    // One by default; shares are rounded up.
    let want = [4, 4, 3, 2, 0, 5];
    let of = [json!(null), json!("1%"), json!("30%"), json!("50%"), json!("100%"), json!(0)];
    assert_eq!(of.map(daemons), want);
}

/// One letter for what is said of a workload.
fn letter(kind: &str, generation: i64, spec: Value, status: Value) -> char {
    let workload = json!({"apiVersion": "apps/v1", "kind": kind,
        "metadata": {"name": "web", "generation": generation}, "spec": spec, "status": status});
    match rollout_state(&workload).unwrap() {
        RolloutState::Done => 'd',
        RolloutState::Waiting(_) => 'w',
        RolloutState::Failed(_) => 'e',
        RolloutState::NotRolled(_) => 'x',
    }
}

/// `fields` with one more, unless it is null.
fn with(mut fields: Value, key: &str, value: &Value) -> Value {
    if !value.is_null() {
        fields[key] = value.clone();
    }
    fields
}

fn deployments() -> Vec<String> {
    let mut all = Vec::new();
    for generation in [1, 2] {
        for observed in [1, 2] {
            for reason in [None, Some("ProgressDeadlineExceeded"), Some("NewReplicaSetAvailable")] {
                for wanted in [json!(null), json!(0), json!(2)] {
                    let mut line = String::new();
                    for numbers in 0..64 {
                        let (all, updated, available) =
                            (numbers / 16, numbers / 4 % 4, numbers % 4);
                        let mut status = json!({"observedGeneration": observed, "replicas": all,
                            "updatedReplicas": updated, "availableReplicas": available});
                        if let Some(reason) = reason {
                            status["conditions"] = json!([{"type": "Progressing", "status": "False", "reason": reason}]);
                        }
                        let spec = with(json!({}), "replicas", &wanted);
                        line.push(letter("Deployment", generation, spec, status));
                    }
                    all.push(line);
                }
            }
        }
    }
    all
}

fn stateful_sets() -> Vec<String> {
    let rules = [
        json!(null),
        json!({}),
        json!({"partition": 0}),
        json!({"partition": 1}),
        json!({"partition": 3}),
    ];
    let mut all = Vec::new();
    for strategy in ["RollingUpdate", "OnDelete"] {
        for generation in [1, 2] {
            for observed in [0, 1, 2] {
                for wanted in [json!(null), json!(0), json!(2)] {
                    for rule in &rules {
                        let mut line = String::new();
                        for numbers in 0..32 {
                            let (ready, updated) = (numbers / 8, numbers / 2 % 4);
                            let revision = if numbers % 2 == 0 { "a" } else { "b" };
                            let strategy = with(json!({ "type": strategy }), "rollingUpdate", rule);
                            let spec =
                                with(json!({ "updateStrategy": strategy }), "replicas", &wanted);
                            let status = json!({"observedGeneration": observed,
                                "readyReplicas": ready, "updatedReplicas": updated,
                                "currentRevision": "a", "updateRevision": revision});
                            line.push(letter("StatefulSet", generation, spec, status));
                        }
                        all.push(line);
                    }
                }
            }
        }
    }
    all
}

fn daemon_sets() -> Vec<String> {
    let mut all = Vec::new();
    for strategy in ["RollingUpdate", "OnDelete"] {
        for generation in [1, 2] {
            for observed in [1, 2] {
                let mut line = String::new();
                for numbers in 0..64 {
                    let (desired, updated, available) =
                        (numbers / 16, numbers / 4 % 4, numbers % 4);
                    let status = json!({"observedGeneration": observed,
                        "desiredNumberScheduled": desired, "updatedNumberScheduled": updated,
                        "numberAvailable": available});
                    let spec = json!({"updateStrategy": {"type": strategy}});
                    line.push(letter("DaemonSet", generation, spec, status));
                }
                all.push(line);
            }
        }
    }
    all
}

/// Section 2.3 in full: 8576 workloads, and what kubectl's own code says of each.
#[test]
fn kubectl_says_the_same_of_every_roll() {
    let text = fs::read_to_string("fixtures/kubernetes/rollout-status.json").unwrap();
    let said: Value = serde_json::from_str(&text).unwrap();
    let mut count = 0;
    for (kind, ours) in [
        ("Deployment", deployments()),
        ("StatefulSet", stateful_sets()),
        ("DaemonSet", daemon_sets()),
    ] {
        let theirs: Vec<&str> =
            said[kind].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        assert_eq!(ours.len(), theirs.len(), "{kind}");
        for (at, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            assert_eq!(ours, theirs, "{kind}, line {at}");
            count += theirs.len();
        }
    }
    assert_eq!(count, 36 * 64 + 180 * 32 + 8 * 64);
    for letter in ['d', 'w', 'e', 'x'] {
        assert!(text.contains(letter), "{letter} never happens, so that nothing is proven");
    }
}

/// The refusals of section 2.1: numbers and shares, both zero, more than all, a deadline within the time to settle, and what a
/// Recreate must not have beside it.
#[test]
fn the_api_refuses_these_rolls() {
    let refused = |spec: Value| -> Vec<String> {
        let mut deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}}}});
        let spec = spec.as_object().unwrap().clone();
        deployment["spec"].as_object_mut().unwrap().extend(spec);
        let errors = said(&deployment.to_string(), None).into_iter();
        let errors =
            errors.filter(|(id, severity)| *severity == "error" && id != "rollout-zero-ready");
        errors.map(|(id, _)| id).collect()
    };
    let rolling = |surge: Value, unavailable: Value| {
        let strategy = json!({"type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}});
        json!({"replicas": 4, "strategy": strategy})
    };
    for (surge, unavailable, is_taken) in [
        (json!(1), json!(0), true),
        (json!("200%"), json!("100%"), true),
        (json!("0%"), json!("1%"), true),
        (json!(0), json!(0), false),
        (json!("0%"), json!(0), false),
        (json!(0), json!("0%"), false),
        (json!("0%"), json!("0%"), false),
        (json!(1), json!("101%"), false),
        (json!(-1), json!(1), false),
        (json!("10"), json!(1), false),
        (json!(1), json!("1.5%"), false),
        (json!(1), json!("all"), false),
    ] {
        let want: &[&str] = if is_taken { &[] } else { &["rollout-values-invalid"] };
        assert_eq!(
            refused(rolling(surge.clone(), unavailable.clone())),
            want,
            "{surge} {unavailable}"
        );
    }
    for (deadline, settles, is_taken) in [
        (json!(null), 599, true),
        (json!(null), 600, false),
        (json!(61), 60, true),
        (json!(60), 60, false),
    ] {
        let spec = json!({"minReadySeconds": settles, "progressDeadlineSeconds": deadline});
        let want: &[&str] = if is_taken { &[] } else { &["progress-deadline-short"] };
        assert_eq!(refused(spec), want, "{deadline} {settles}");
    }
    let recreate =
        |rolling: Value| json!({"strategy": {"type": "Recreate", "rollingUpdate": rolling}});
    assert_eq!(refused(recreate(json!({"maxSurge": 1}))), ["recreate-rolling-update"]);
    assert_eq!(refused(recreate(json!(null))), [""; 0], "a patch that switches sets it to null");
}
