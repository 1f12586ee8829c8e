//! Clusters by hand in which there is just room, or just none.

use overlay::drain::{Databases, Plan, Rules};
use serde_json::{Value, json};

use super::random::plan;

pub(super) fn node(name: &str, memory: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {
            "allocatable": {"cpu": "8", "memory": format!("{memory}Mi"), "pods": "30"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    })
}

pub(super) fn pod(name: &str, node: &str, memory: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "shop", "name": format!("{name}-0"), "labels": {"app": name},
            "ownerReferences": [{"kind": "StatefulSet", "name": name, "controller": true}]},
        "spec": {"nodeName": node, "containers": [{"name": "main", "image": "i",
            "resources": {"requests": {"cpu": "10m", "memory": format!("{memory}Mi")}}}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    })
}

/// The plan that empties `old-0`, with three small pods, and `old-1`, with a large one, to two nodes.
fn moved(large: u64, room: u64) -> Plan {
    let items = [
        node("old-0", 4000),
        node("old-1", 4000),
        node("new-0", room),
        node("new-1", room),
        pod("a", "old-0", 300),
        pod("b", "old-0", 300),
        pod("c", "old-0", 300),
        pod("large", "old-1", large),
    ];
    let old = ["old-0".to_owned(), "old-1".to_owned()];
    plan(&json!({ "items": items }), &old, &Rules::default(), Databases::ByHand).unwrap()
}

/// The kind of each obstacle and its pods.
pub(super) fn obstacles(plan: &Plan) -> Vec<String> {
    let shown = |id: &str, pods: &[String]| format!("{id} {}", pods.join(" "));
    plan.obstacles.iter().map(|obstacle| shown(obstacle.id, &obstacle.pods)).collect()
}

pub(super) fn in_pieces(plan: &Plan) -> Vec<&String> {
    plan.notes.iter().filter(|note| note.contains("in pieces")).collect()
}

/// 60 pods, each a quarter of a node, move to 30 empty nodes: 4 would have to lie on each of them to leave no room.
#[test]
fn pods_that_cannot_fill_all_nodes_leave_each_other_a_place() {
    let mut items: Vec<Value> = (0..15).map(|i| node(&format!("old-{i}"), 1000)).collect();
    items.extend((0..30).map(|i| node(&format!("new-{i}"), 1000)));
    items.extend((0..60).map(|i| {
        let mut pod = pod(&format!("p{i}"), &format!("old-{}", i % 15), 250);
        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("2");
        pod
    }));
    let old: Vec<String> = (0..15).map(|i| format!("old-{i}")).collect();
    let plan = plan(&json!({ "items": items }), &old, &Rules::default(), Databases::ByHand);
    assert_eq!(in_pieces(&plan.unwrap()), <[&String; 0]>::default());
}

/// 900 MiB lie on two nodes of 1000 MiB such that neither has room for 1000 MiB; on one of them they could lie.
#[test]
fn a_place_that_others_may_take_is_told_and_is_no_lack_of_room() {
    let plan = moved(1000, 1000);
    assert_eq!(obstacles(&plan), <[&str; 0]>::default());
    let told = in_pieces(&plan);
    assert_eq!(told.len(), 1, "{:?}", plan.notes);
    assert!(told[0].contains("in pieces: shop/large-0 may find no place"), "{told:?}");
}

#[test]
fn what_fits_nowhere_is_an_obstacle_and_no_perhaps() {
    let plan = moved(1001, 1000);
    assert_eq!(obstacles(&plan), ["too-large shop/large-0"]);
    assert!(in_pieces(&plan).is_empty(), "{:?}", plan.notes);
}

/// To keep 1000 MiB off a node of 1450 MiB takes more than 450 MiB: two of the three, and for two nodes four. With 1400 MiB as
/// well; with 1290 MiB one is enough for each.
#[test]
fn where_others_cannot_take_all_room_nothing_is_told() {
    for (room, is_told) in [(1450, false), (1400, false), (1290, true)] {
        let plan = moved(1000, room);
        assert_eq!(obstacles(&plan), <[&str; 0]>::default());
        assert_eq!(in_pieces(&plan).len(), usize::from(is_told), "{room}: {:?}", plan.notes);
    }
}

/// A spread counts the nodes that are cordoned too, which have none, unless it honors taints (Kubernetes: "nodeTaintsPolicy
/// … Ignore: node taints are ignored. All nodes are included", the default).
#[test]
fn a_spread_counts_closed_nodes_unless_it_says_otherwise() {
    let spread = |policy: &str| {
        let mut items = vec![node("old-0", 4000), node("new-0", 4000), node("new-1", 4000)];
        for replica in 0..3 {
            let mut one = pod("web", "old-0", 100);
            one["metadata"]["name"] = json!(format!("web-{replica}"));
            one["spec"]["topologySpreadConstraints"] = json!([{
                "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
                "nodeTaintsPolicy": policy, "labelSelector": {"matchLabels": {"app": "web"}}}]);
            items.push(one);
        }
        let old = ["old-0".to_owned()];
        let plan = plan(&json!({ "items": items }), &old, &Rules::default(), Databases::ByHand);
        plan.unwrap().obstacles.iter().map(|obstacle| obstacle.id).collect::<Vec<_>>()
    };
    assert_eq!(spread("Ignore"), ["kept-apart"]);
    assert_eq!(spread("Honor"), <[&str; 0]>::default());
}
