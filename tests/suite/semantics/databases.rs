//! CloudNativePG: its budgets, its phases, and what a cluster that is well looks like.

use overlay::checks::budgets::budget_lines;
use overlay::database::{DatabaseState, assess_database};
use serde_json::{Value, json};

use super::{said, with_model};
use crate::support::repo::TestRepo;

/// The budgets that the operator makes: name, rule, and how many evictions each allows.
fn budgets(spec: Value) -> Vec<(String, String, i64)> {
    let cluster = json!({"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster",
        "metadata": {"name": "db"}, "spec": spec});
    with_model(&cluster.to_string(), |context| {
        let lines = budget_lines(context, None).into_iter();
        lines
            .map(|line| {
                let rule = line.rule.split(',').next().unwrap().to_owned();
                (line.name, rule, line.allowed.unwrap())
            })
            .collect()
    })
}

/// The rows of semantics section 4.2.
#[test]
fn the_operator_makes_these_budgets() {
    let primary = ("db-primary".to_owned(), "minAvailable: 1".to_owned(), 0);
    let replicas = |least: i64| ("db".to_owned(), format!("minAvailable: {least}"), 1);
    let of = |instances: i64| budgets(json!({ "instances": instances }));
    assert_eq!(of(1), std::slice::from_ref(&primary), "its node can never be drained");
    assert_eq!(of(2), std::slice::from_ref(&primary), "the replica is unprotected");
    assert_eq!(of(3), [primary.clone(), replicas(1)]);
    assert_eq!(of(5), [primary.clone(), replicas(3)]);
    assert_eq!(budgets(json!({})), std::slice::from_ref(&primary), "one instance by default");
    for instances in [1, 2, 3] {
        assert_eq!(budgets(json!({"instances": instances, "enablePDB": false})), []);
    }
    let window = |instances: i64, reuse: Value| {
        let window = match reuse {
            Value::Null => json!({"inProgress": true}),
            reuse => json!({"inProgress": true, "reusePVC": reuse}),
        };
        budgets(json!({"instances": instances, "nodeMaintenanceWindow": window}))
    };
    assert_eq!(window(1, json!(null)), [], "with its volume it comes back");
    assert_eq!(window(3, json!(null)), std::slice::from_ref(&primary), "that of replicas goes");
    assert_eq!(window(3, json!(true)), std::slice::from_ref(&primary));
    assert_eq!(window(3, json!(false)), [primary.clone(), replicas(1)]);
    assert_eq!(window(1, json!(false)), [primary]);
}

/// Every phase of `api/v1/cluster_types.go`, and whether it is settled, on its way, waiting for a person, or broken (4.6).
#[test]
fn every_phase_has_its_meaning() {
    const PHASES: [(&str, char); 25] = [
        ("Switchover in progress", 'r'),
        ("Failing over", 'r'),
        ("Setting up primary", 'r'),
        ("Creating a new replica", 'r'),
        ("Upgrading cluster", 'r'),
        ("Upgrading Postgres major version", 'r'),
        ("Cluster upgrade delayed", 'r'),
        ("Waiting for user action", 'w'),
        ("Primary instance is being restarted in-place", 'r'),
        ("Primary instance is being restarted without a switchover", 'r'),
        ("Cluster in healthy state", 's'),
        ("Cluster cannot proceed to reconciliation due to an unknown plugin being required", 'b'),
        (
            "Cluster cannot proceed to reconciliation due to an error while interacting with plugins",
            'r',
        ),
        ("Cluster has incomplete or invalid image catalog", 'b'),
        ("Cluster is unrecoverable and needs manual intervention", 'b'),
        ("Cluster cannot execute instance online upgrade due to missing architecture binary", 'r'),
        ("Waiting for the instances to become active", 'r'),
        ("Online upgrade in progress", 'r'),
        ("Applying configuration", 'r'),
        ("Promoting to primary cluster", 'r'),
        ("Unable to create required cluster objects", 'b'),
        ("Invalid cluster definition", 'b'),
        ("Not enough disk space", 'b'),
        ("A phase that nobody knows yet", 'r'),
        ("", 'r'),
    ];
    for (phase, want) in PHASES {
        let live = json!({"spec": {"instances": 3}, "status": {"phase": phase, "instances": 3,
            "readyInstances": 3, "currentPrimary": "db-1", "targetPrimary": "db-1"}});
        let letter = match assess_database(&live) {
            DatabaseState::Settled => 's',
            DatabaseState::Rolling(_) => 'r',
            DatabaseState::Waiting(_) => 'w',
            DatabaseState::Broken(_) => 'b',
        };
        assert_eq!(letter, want, "{phase}");
    }
}

/// Healthy is one of five conditions: a scale down registers no phase, and right after a change it is still healthy.
#[test]
fn a_healthy_phase_is_not_enough() {
    let live = |instances: i64, ready: i64, current: &str, target: &str| {
        json!({"spec": {"instances": 3}, "status": {"phase": "Cluster in healthy state",
            "instances": instances, "readyInstances": ready, "currentPrimary": current,
            "targetPrimary": target}})
    };
    assert_eq!(assess_database(&live(3, 3, "db-1", "db-1")), DatabaseState::Settled);
    for live in [
        live(4, 4, "db-1", "db-1"),
        live(3, 2, "db-1", "db-1"),
        live(2, 2, "db-1", "db-1"),
        live(3, 3, "db-1", "db-2"),
    ] {
        assert!(matches!(assess_database(&live), DatabaseState::Rolling(_)), "{live}");
    }
}

/// The rules of the operator's webhook (4.1) that a number of instances can break.
#[test]
fn what_the_webhook_refuses_is_refused_here() {
    let set = |spec: Value, instances: i64| {
        let cluster = json!({"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster",
            "metadata": {"name": "db"}, "spec": spec});
        let repo = TestRepo::with_files(&[
            ("kustomization.yaml", "resources: [db.yaml]\n"),
            ("db.yaml", &cluster.to_string()),
        ]);
        repo.overlay(&["set", "instances", ".", &format!("db={instances}"), "-o", "json"]).status
    };
    let sync = |number: i64, names: Value| {
        json!({"instances": 3, "postgresql": {"synchronous":
            {"method": "any", "number": number, "standbyNamesPre": names}}})
    };
    for (spec, instances, want) in [
        (json!({"instances": 3}), 1, 0),
        (json!({"instances": 3}), 0, 3),
        // maxSyncReplicas < instances
        (json!({"instances": 3, "minSyncReplicas": 1, "maxSyncReplicas": 1}), 2, 0),
        (json!({"instances": 3, "minSyncReplicas": 1, "maxSyncReplicas": 1}), 1, 3),
        (json!({"instances": 4, "minSyncReplicas": 1, "maxSyncReplicas": 2}), 2, 3),
        // minSyncReplicas <= maxSyncReplicas
        (json!({"instances": 4, "minSyncReplicas": 2, "maxSyncReplicas": 1}), 3, 3),
        // number < instances + named standbys
        (sync(1, json!([])), 2, 0),
        (sync(1, json!([])), 1, 3),
        (sync(1, json!(["elsewhere"])), 1, 0),
        (sync(2, json!([])), 2, 3),
        // supervised needs a second instance
        (json!({"instances": 3, "primaryUpdateStrategy": "supervised"}), 2, 0),
        (json!({"instances": 3, "primaryUpdateStrategy": "supervised"}), 1, 3),
    ] {
        assert_eq!(set(spec.clone(), instances), want, "{spec} at {instances}");
    }
}

/// Synchronous replication (4.1): a safe roll needs instances - 2 >= number, or `preferred`.
#[test]
fn a_roll_that_stalls_writes_is_told() {
    let stalls = |instances: i64, durability: &str| {
        let cluster = json!({"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster",
            "metadata": {"name": "db"}, "spec": {"instances": instances, "postgresql": {
                "synchronous": {"method": "any", "number": 1, "dataDurability": durability}}}});
        let repo = TestRepo::with_files(&[
            ("kustomization.yaml", "resources: [db.yaml]\n"),
            ("db.yaml", &cluster.to_string()),
        ]);
        repo.overlay(&["check", ".", "-o", "json"]).stdout.contains("cnpg-sync-stalls")
    };
    assert_eq!([2, 3, 4].map(|instances| stalls(instances, "required")), [true, false, false]);
    assert_eq!([2, 3].map(|instances| stalls(instances, "preferred")), [false, false]);
}

/// A Cluster with this `spec`.
fn cluster(spec: Value) -> String {
    json!({"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster", "metadata": {"name": "db"}, "spec": spec})
        .to_string()
}

/// Section 4.3: `required` needs a node for each instance, and one more to drain without loss; `preferred`, the default, lets all
/// share one.
#[test]
fn instances_need_nodes() {
    let of = |affinity: Value, nodes: i64| -> Vec<&'static str> {
        let text = cluster(json!({"instances": 3, "affinity": affinity}));
        let all = said(&text, Some(nodes)).into_iter();
        all.filter(|(id, _)| id == "cnpg-spread").map(|(_, severity)| severity).collect()
    };
    let required = || json!({"podAntiAffinityType": "required"});
    assert_eq!(of(required(), 2), ["error"], "an instance and its join job stay Pending");
    assert_eq!(of(required(), 3), ["warning"], "none is left while one is drained");
    assert_eq!(of(required(), 4), [""; 0]);
    let zones =
        json!({"podAntiAffinityType": "required", "topologyKey": "topology.kubernetes.io/zone"});
    assert_eq!(of(zones, 2), [""; 0], "nodes are not what it counts");
    assert_eq!(of(json!({}), 1), [""; 0], "preferred by default");
    assert_eq!(of(json!({"enablePodAntiAffinity": false}), 3), ["warning"]);
}

/// Section 4.2: a budget of one's own over the pods of a Cluster is a second one beside the operator's.
#[test]
fn a_budget_beside_the_operators_is_one_too_many() {
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "mine"}, "spec": {"maxUnavailable": 1,
            "selector": {"matchLabels": {"cnpg.io/cluster": "db"}}}});
    let ids = |spec: Value| -> Vec<String> {
        let all = said(&format!("{}\n---\n{budget}", cluster(spec)), None).into_iter();
        all.map(|(id, _)| id).filter(|id| id == "pdb-overlap").collect()
    };
    assert_eq!(ids(json!({"instances": 3})), ["pdb-overlap"]);
    assert_eq!(ids(json!({"instances": 3, "enablePDB": false})), [""; 0]);
}

/// Section 4.4: on the way down the volume of each instance goes first; 2 to 1 takes all redundancy.
#[test]
fn a_scale_down_says_what_is_lost() {
    let repo = TestRepo::with_files(&[
        ("kustomization.yaml", "resources: [db.yaml]\n"),
        ("db.yaml", &cluster(json!({"instances": 3, "storage": {"size": "20Gi"}}))),
    ]);
    let notes = |count: i64| {
        let ran = repo.overlay(&[
            "set",
            "instances",
            ".",
            &format!("db={count}"),
            "--dry-run",
            "-o",
            "json",
        ]);
        ran.json()["result"]["overlays"][0]["notes"].to_string()
    };
    assert!(notes(2).contains("1 of 3 instances go, and with each its volume (20Gi)"));
    let one = notes(1);
    assert!(one.contains("2 of 3 instances go") && one.contains("a node drain will hang"), "{one}");
    assert!(!notes(4).contains("volume"));
}
