//! What the scheduler refuses a node for beside room, in clusters by hand: affinity, namespaces, spreads. The values follow from
//! Kubernetes' documentation ("Assigning Pods to Nodes", "Pod Topology Spread Constraints").

use overlay::drain::{Databases, Plan, Rules};
use serde_json::{Value, json};

use super::random::plan;
use super::tight::{in_pieces, node, obstacles, pod};

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";

fn in_zone(name: &str, zone: &str, memory: u64) -> Value {
    let mut node = node(name, memory);
    node["metadata"]["labels"][ZONE] = json!(zone);
    node
}

fn in_namespace(mut pod: Value, namespace: &str) -> Value {
    pod["metadata"]["namespace"] = json!(namespace);
    pod
}

fn namespace(name: &str, labels: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
}

/// The pod with a required term that selects the label `app`.
fn with_term(mut pod: Value, kind: &str, app: &str, key: &str, more: Value) -> Value {
    let mut term = json!({"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}});
    for (field, value) in more.as_object().unwrap() {
        term[field] = value.clone();
    }
    pod["spec"]["affinity"][kind] =
        json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
    pod
}

fn near(pod: Value, app: &str, key: &str) -> Value {
    with_term(pod, "podAffinity", app, key, json!({}))
}

/// A replica of `web` with a spread that must hold.
fn web(replica: u64, node: &str, key: &str, more: &Value) -> Value {
    let mut one = pod("web", node, 100);
    one["metadata"]["name"] = json!(format!("web-{replica}"));
    let mut spread = json!({"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}}});
    for (field, value) in more.as_object().unwrap() {
        spread[field] = value.clone();
    }
    one["spec"]["topologySpreadConstraints"] = json!([spread]);
    one
}

fn empty_of(old: &[&str], items: Vec<Value>) -> Plan {
    let old: Vec<String> = old.iter().map(|node| (*node).to_owned()).collect();
    plan(&json!({ "items": items }), &old, &Rules::default(), Databases::ByHand).unwrap()
}

/// The node on which a pod is at the end.
fn place_of(plan: &Plan, pod: &str) -> String {
    let holds = |node: &&overlay::drain::PlannedNode| {
        node.pods.iter().any(|held| held.name == format!("shop/{pod}"))
    };
    plan.new.iter().find(holds).map(|node| node.name.clone()).unwrap_or_default()
}

/// `sat` has to be where `hub` is: by host on its node alone, by zone in its zone.
#[test]
fn a_pod_comes_only_near_those_that_its_affinity_asks_for() {
    let emptied = |key: &str, sat: u64| {
        empty_of(
            &["old-0"],
            vec![
                in_zone("old-0", "a", 4000),
                in_zone("new-0", "a", 1000),
                in_zone("new-1", "a", 2000),
                in_zone("new-2", "b", 4000),
                pod("hub", "new-0", 500),
                near(pod("sat", "old-0", sat), "hub", key),
            ],
        )
    };
    let plan = emptied(HOST, 500);
    assert_eq!((obstacles(&plan), place_of(&plan, "sat-0")), (vec![], "new-0".to_owned()));
    let plan = emptied(HOST, 501);
    assert_eq!(obstacles(&plan), ["too-large shop/sat-0"]);
    let told = &plan.obstacles[0].message;
    assert!(
        told.contains("largest free block is 7990m cpu and 500 MiB (so it is with new-0)"),
        "{told}"
    );
    assert!(
        told.contains("near pods with app=hub by kubernetes.io/hostname (new-1, new-2)"),
        "{told}"
    );
    let plan = emptied(ZONE, 501);
    assert_eq!((obstacles(&plan), place_of(&plan, "sat-0")), (vec![], "new-1".to_owned()));
    assert_eq!(obstacles(&emptied(ZONE, 2001)), ["too-large shop/sat-0"]);
}

/// Where nothing is that it asks for, a pod may go nowhere, unless it asks for such as itself: then the first goes anywhere, and
/// the others to it. One that is still on its old node holds the others there.
#[test]
fn the_first_of_those_that_want_to_be_together_goes_anywhere() {
    let alone = |app: &str| {
        let sat = near(pod("sat", "old-0", 100), app, HOST);
        empty_of(&["old-0"], vec![node("old-0", 4000), node("new-0", 1000), sat])
    };
    assert_eq!(obstacles(&alone("gone")), ["affinity-unmet shop/sat-0"]);
    assert_eq!(
        (obstacles(&alone("sat")), place_of(&alone("sat"), "sat-0")),
        (vec![], "new-0".into())
    );
    // `a` asks for `b`, and both leave together: `b` first, and `a` to where it is.
    let both = |a: &str, b: &str, old: &[&str]| {
        let items = vec![
            node("old-0", 4000),
            node("old-1", 4000),
            node("new-0", 1000),
            node("new-1", 2000),
            near(pod("a", a, 100), "b", HOST),
            pod("b", b, 200),
        ];
        empty_of(old, items)
    };
    let plan = both("old-0", "old-0", &["old-0"]);
    assert_eq!(obstacles(&plan), <[&str; 0]>::default());
    assert_eq!(place_of(&plan, "a-0"), place_of(&plan, "b-0"));
    // `a` leaves first, with the smaller load, and `b` is on a node that is closed.
    let plan = both("old-0", "old-1", &["old-0", "old-1"]);
    assert_eq!(obstacles(&plan), ["affinity-unmet shop/a-0"]);
    assert!(plan.obstacles[0].fix.contains("`order`"), "{}", plan.obstacles[0].fix);
}

/// "The empty selector ({}) matches all namespaces"; by labels those that have them; a namespace has its name as a label.
#[test]
fn a_term_may_tell_namespaces_by_their_labels() {
    let emptied = |kind: &str, more: Value, namespaces: Vec<Value>| {
        let lone = with_term(pod("lone", "old-0", 100), kind, "other", HOST, more);
        let other = in_namespace(pod("other", "new-0", 100), "back");
        let items = vec![node("old-0", 4000), node("new-0", 4000), other, lone];
        empty_of(&["old-0"], [items, namespaces].concat())
    };
    let back = |labels: Value| vec![namespace("back", labels), namespace("shop", json!({}))];
    let by = |labels: Value| json!({"namespaceSelector": {"matchLabels": labels}});
    let tier = || by(json!({"tier": "data"}));
    let name = || by(json!({"kubernetes.io/metadata.name": "back"}));
    let apart = ["kept-apart shop/lone-0"];
    let far = ["affinity-unmet shop/lone-0"];
    for (more, namespaces, is_selected) in [
        (json!({}), vec![], false),
        (json!({"namespaces": ["back"]}), vec![], true),
        (json!({"namespaces": ["shop"]}), vec![], false),
        (json!({"namespaceSelector": {}}), vec![], true),
        (json!({"namespaceSelector": null}), vec![], false),
        (name(), vec![], true),
        (tier(), back(json!({"tier": "data"})), true),
        (tier(), back(json!({"tier": "web"})), false),
        (tier(), back(json!({})), false),
    ] {
        let plan = emptied("podAntiAffinity", more.clone(), namespaces.clone());
        let wanted = if is_selected { &apart[..] } else { &[] };
        assert_eq!(obstacles(&plan), wanted, "{more}");
        assert!(!plan.notes.iter().any(|note| note.contains("labels of namespaces")), "{more}");
        let plan = emptied("podAffinity", more.clone(), namespaces);
        let wanted = if is_selected { &[] } else { &far[..] };
        assert_eq!(obstacles(&plan), wanted, "{more}");
    }
    let notes = emptied("podAntiAffinity", tier(), vec![]).notes;
    let told = notes.iter().find(|note| note.contains("labels of namespaces were not read"));
    assert!(told.unwrap().contains("shop/lone-0"), "{notes:?}");
}

/// Anti-affinity holds in both directions, over namespaces too.
#[test]
fn a_pod_of_another_namespace_keeps_others_off() {
    let all = json!({"namespaceSelector": {}});
    let lone = in_namespace(pod("lone", "new-0", 100), "back");
    let items = vec![
        node("old-0", 4000),
        node("new-0", 4000),
        with_term(lone, "podAntiAffinity", "other", HOST, all),
        pod("other", "old-0", 100),
    ];
    assert_eq!(obstacles(&empty_of(&["old-0"], items)), ["kept-apart shop/other-0"]);
}

/// Two replicas in zone a, none in b: the one that leaves its node may only go to b, and finds room there or none.
#[test]
fn a_spread_by_zone_holds() {
    let emptied = |room: u64, more: Value| {
        let items = vec![
            in_zone("old-0", "a", 4000),
            in_zone("new-0", "a", 4000),
            in_zone("new-1", "b", room),
            web(0, "old-0", ZONE, &more),
            web(1, "new-0", ZONE, &more),
        ];
        empty_of(&["old-0"], items)
    };
    let plan = emptied(4000, json!({}));
    assert_eq!((obstacles(&plan), place_of(&plan, "web-0")), (vec![], "new-1".to_owned()));
    let plan = emptied(99, json!({}));
    assert_eq!(obstacles(&plan), ["too-large shop/web-0"]);
    assert!(plan.obstacles[0].message.contains("a topology spread keeps it off (new-0)"));
    for (more, is_held) in [
        (json!({"maxSkew": 2}), false),
        (json!({"whenUnsatisfiable": "ScheduleAnyway"}), false),
        (json!({"labelSelector": {"matchLabels": {"app": "other"}}}), false),
        // Of an unlike revision none counts; of one that pods have none of, nothing is asked.
        (json!({"matchLabelKeys": ["statefulset.kubernetes.io/pod-name"]}), true),
    ] {
        assert_eq!(obstacles(&emptied(99, more.clone())).is_empty(), !is_held, "{more}");
    }
}

/// With two zones of three that there have to be, the fewest pods count as none: nothing more goes to a zone that has one.
#[test]
fn fewer_zones_than_there_have_to_be_count_as_empty() {
    let emptied = |least: u64| {
        let more = json!({ "minDomains": least });
        let items = vec![
            in_zone("old-0", "a", 4000),
            in_zone("new-0", "a", 4000),
            in_zone("new-1", "b", 4000),
            web(0, "old-0", ZONE, &more),
            web(1, "new-0", ZONE, &more),
            web(2, "new-1", ZONE, &more),
        ];
        obstacles(&empty_of(&["old-0"], items))
    };
    assert_eq!(emptied(2), <[&str; 0]>::default());
    assert_eq!(emptied(3), ["kept-apart shop/web-0"]);
}

/// A zone all of whose nodes are closed counts by default, has none, and so holds all others; a node without the key is no place.
#[test]
fn a_zone_that_is_closed_counts_unless_taints_are_honored() {
    let emptied = |policy: &str| {
        let more = json!({ "nodeTaintsPolicy": policy });
        let items = vec![
            in_zone("old-0", "a", 4000),
            in_zone("new-0", "b", 4000),
            node("new-1", 4000),
            web(0, "old-0", ZONE, &more),
            web(1, "new-0", ZONE, &more),
        ];
        obstacles(&empty_of(&["old-0"], items))
    };
    assert_eq!(emptied("Ignore"), ["kept-apart shop/web-0"]);
    assert_eq!(emptied("Honor"), <[&str; 0]>::default());
}

/// A pool that the pod may not go to counts only where node affinity is told to be ignored.
#[test]
fn nodes_that_a_pod_may_not_be_on_count_only_where_affinity_is_ignored() {
    let emptied = |policy: &str| {
        let more = json!({ "nodeAffinityPolicy": policy });
        let chosen = |mut pod: Value| {
            pod["spec"]["nodeSelector"] = json!({"pool": "web"});
            pod
        };
        let pooled = |mut node: Value| {
            node["metadata"]["labels"]["pool"] = json!("web");
            node
        };
        let items = vec![
            pooled(in_zone("old-0", "a", 4000)),
            pooled(in_zone("new-0", "a", 4000)),
            in_zone("new-1", "b", 4000),
            chosen(web(0, "old-0", ZONE, &more)),
            chosen(web(1, "new-0", ZONE, &more)),
        ];
        obstacles(&empty_of(&["old-0"], items))
    };
    assert_eq!(emptied("Honor"), <[&str; 0]>::default());
    assert_eq!(emptied("Ignore"), ["kept-apart shop/web-0"]);
}

/// The zone with the fewest replicas always takes one more: with room in each, whatever others do, nothing is unsure. With one
/// replica on each of the nodes that count, none of which can get another one meanwhile, neither.
#[test]
fn replicas_that_are_spread_have_a_place_for_sure_where_each_zone_has_room() {
    let emptied = |room: u64| {
        let old = ["old-0", "old-1", "old-2"];
        let mut items = Vec::new();
        for (at, zone) in ["a", "b", "c"].into_iter().enumerate() {
            items.push(in_zone(old[at], zone, 4000));
            items.push(in_zone(&format!("new-{at}"), zone, room));
            items.push(web(at as u64, old[at], ZONE, &json!({})));
        }
        empty_of(&old, items)
    };
    assert_eq!((obstacles(&emptied(1000)), in_pieces(&emptied(1000)).len()), (vec![], 0));
    let honors = json!({"nodeTaintsPolicy": "Honor"});
    let items = vec![
        node("old-0", 4000),
        node("new-0", 4000),
        node("new-1", 4000),
        web(0, "old-0", HOST, &honors),
        web(1, "new-0", HOST, &honors),
        web(2, "new-1", HOST, &honors),
    ];
    let plan = empty_of(&["old-0"], items);
    assert_eq!((obstacles(&plan), in_pieces(&plan).len()), (vec![], 0), "{:?}", plan.notes);
}

/// What is told is what is in the way: of a pod whose volume is on the disk of its node that, and not the taint of another node.
#[test]
fn the_reason_that_is_told_is_the_one_that_has_to_be_mended() {
    let mut tainted = in_zone("new-0", "a", 4000);
    tainted["spec"]["taints"] = json!([{"key": "pool", "value": "gpu", "effect": "NoSchedule"}]);
    let volume = |name: &str, key: &str, value: &str| {
        let term = json!({"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]});
        [
            json!({"kind": "PersistentVolumeClaim", "apiVersion": "v1",
                "metadata": {"namespace": "shop", "name": name},
                "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": format!("pv-{name}")}}),
            json!({"kind": "PersistentVolume", "apiVersion": "v1", "metadata": {"name": format!("pv-{name}")},
                "spec": {"accessModes": ["ReadWriteOnce"],
                    "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}}}),
        ]
    };
    let mounting = |name: &str| {
        let mut pod = pod(name, "old-0", 100);
        pod["spec"]["volumes"] =
            json!([{"name": "data", "persistentVolumeClaim": {"claimName": name}}]);
        pod
    };
    let mut items = vec![in_zone("old-0", "a", 4000), tainted, in_zone("new-1", "b", 4000)];
    items.extend([mounting("disk"), mounting("zoned")]);
    items.extend(volume("zoned", ZONE, "a"));
    items.extend(volume("disk", HOST, "old-0"));
    let plan = empty_of(&["old-0"], items);
    assert_eq!(obstacles(&plan), ["local-data shop/disk-0", "no-node-fits shop/zoned-0"]);
    let zoned = &plan.obstacles[1];
    let wanted = "it does not tolerate pool=gpu, and its volumes can be on no other node";
    assert!(zoned.message.contains(wanted), "{}", zoned.message);
    assert!(zoned.fix.contains("tolerate"), "{}", zoned.fix);
    // Two nodes that take one pod each, and three pods.
    let few = |name: &str| {
        let mut node = node(name, 4000);
        node["status"]["allocatable"]["pods"] = json!("1");
        node
    };
    let mut items = vec![node("old-0", 4000), few("new-0"), few("new-1")];
    items.extend(["a", "b", "c"].map(|name| pod(name, "old-0", 10)));
    assert_eq!(obstacles(&empty_of(&["old-0"], items)), ["too-many-pods shop/c-0"]);
}
