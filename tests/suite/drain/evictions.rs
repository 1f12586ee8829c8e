//! How pods leave: what budgets, graces and nodes without a kubelet mean for the commands of a plan.

use overlay::drain::{Databases, Plan, Rules};
use serde_json::{Value, json};

use super::random::plan;
use super::tight::{node, obstacles, pod};
use super::world::World;

fn planned(old: &[&str], items: &[Value]) -> Plan {
    let old: Vec<String> = old.iter().map(|node| (*node).to_owned()).collect();
    plan(&json!({ "items": items }), &old, &Rules::default(), Databases::ByHand).unwrap()
}

fn commands(plan: &Plan) -> Vec<&String> {
    plan.steps.iter().flat_map(|step| &step.commands).collect()
}

/// Executes a plan; what goes wrong.
fn faults(plan: &Plan, items: &[Value]) -> Vec<String> {
    let mut world = World::new(&json!({ "items": items }));
    commands(plan).into_iter().for_each(|command| world.run(command));
    world.faults
}

/// Whether one of the commands begins so.
fn has(plan: &Plan, start: &str) -> bool {
    commands(plan).iter().any(|command| command.starts_with(start))
}

fn budget(name: &str, labels: Value, rule: Value) -> Value {
    let mut spec = rule;
    spec["selector"] = json!({ "matchLabels": labels });
    json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"namespace": "shop", "name": name}, "spec": spec})
}

/// An instance of the database `db`; the first is the primary.
fn instance(number: u64, node: &str) -> Value {
    let name = format!("db-{number}");
    let role = if number == 1 { "primary" } else { "replica" };
    let mut one = pod("db", node, 100);
    one["metadata"] = json!({"namespace": "shop", "name": name,
        "labels": {"cnpg.io/cluster": "db", "cnpg.io/instanceRole": role, "role": role},
        "ownerReferences": [{"kind": "Cluster", "name": "db", "controller": true}]});
    one["spec"]["terminationGracePeriodSeconds"] = json!(1800);
    one
}

fn database(nodes: &[&str]) -> Vec<Value> {
    let mut items: Vec<Value> =
        nodes.iter().enumerate().map(|(at, node)| instance(at as u64 + 1, node)).collect();
    items.push(json!({"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster",
        "metadata": {"namespace": "shop", "name": "db"}, "spec": {"instances": nodes.len()},
        "status": {"readyInstances": nodes.len(), "currentPrimary": "db-1"}}));
    items
}

fn nodes() -> Vec<Value> {
    ["old-0", "old-1", "new-0", "new-1", "new-2"].map(|name| node(name, 4000)).to_vec()
}

/// The operator moves the primary away by itself, which its own budget waits for. Any other budget that never allows an
/// eviction holds the instances for ever, the primary when it is one no more: they are deleted, one after another.
#[test]
fn a_budget_on_all_instances_of_a_database_is_passed_by() {
    let all = || json!({"cnpg.io/cluster": "db"});
    let primary = || json!({"cnpg.io/cluster": "db", "cnpg.io/instanceRole": "primary"});
    let replicas = || json!({"cnpg.io/cluster": "db", "role": "replica"});
    let old = ["old-0", "old-1"];
    for (instances, budgets, deleted) in [
        (2, vec![budget("db-primary", primary(), json!({"minAvailable": 1}))], 0),
        (
            3,
            vec![
                budget("db-primary", primary(), json!({"minAvailable": 1})),
                budget("db", replicas(), json!({"minAvailable": 1})),
            ],
            0,
        ),
        (2, vec![budget("own", all(), json!({"minAvailable": 2}))], 2),
        (3, vec![budget("own", all(), json!({"maxUnavailable": 0}))], 2),
        (3, vec![budget("own", all(), json!({"maxUnavailable": 1}))], 0),
        // The replica is held, and so is the primary once it is one.
        (
            2,
            vec![
                budget("db-primary", primary(), json!({"minAvailable": 1})),
                budget("own", replicas(), json!({"minAvailable": 1})),
            ],
            2,
        ),
    ] {
        let on = ["old-0", "old-1", "new-0"];
        let items = [nodes(), database(&on[..instances]), budgets.clone()].concat();
        let plan = planned(&old, &items);
        assert_eq!(obstacles(&plan), <[&str; 0]>::default(), "{budgets:?}");
        let deletes = commands(&plan).into_iter().filter(|c| c.starts_with("kubectl delete pod"));
        assert_eq!(deletes.count(), deleted, "{budgets:?} {:#?}", commands(&plan));
        assert_eq!(faults(&plan, &items), <[String; 0]>::default(), "{budgets:?}");
        let waits = "kubectl wait -n shop --for=jsonpath='{.status.readyInstances}'=";
        assert!(has(&plan, &format!("{waits}{instances} ")), "{:#?}", commands(&plan));
    }
}

fn deployment(name: &str, replicas: u64, on: &[(&str, bool)]) -> Vec<Value> {
    let mut items = vec![json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"namespace": "shop", "name": name}, "spec": {"replicas": replicas}})];
    for (at, (node, is_ready)) in on.iter().enumerate() {
        let mut one = pod(name, node, 100);
        let set = format!("{name}-abc12");
        one["metadata"]["name"] = json!(format!("{set}-{at}"));
        one["metadata"]["labels"]["pod-template-hash"] = json!("abc12");
        one["metadata"]["ownerReferences"][0] =
            json!({"kind": "ReplicaSet", "name": set, "controller": true});
        one["status"]["conditions"][0]["status"] = json!(if *is_ready { "True" } else { "False" });
        items.push(one);
    }
    items
}

/// `kubectl wait` compares for equality: what is asked for is the number that there is when all are ready again.
#[test]
fn all_replicas_are_waited_for_though_not_all_were_ready() {
    let web = deployment("web", 2, &[("old-0", false), ("new-0", true)]);
    let budget = budget("web", json!({"app": "web"}), json!({"minAvailable": 1}));
    let plan = planned(&["old-0"], &[nodes(), web, vec![budget]].concat());
    let wait = "kubectl wait -n shop --for=jsonpath='{.status.readyReplicas}'=";
    assert!(has(&plan, &format!("{wait}2 deployment/web")), "{:#?}", commands(&plan));
    assert!(!has(&plan, &format!("{wait}1 ")), "{:#?}", commands(&plan));
}

/// A drain waits until its pods are gone: for as long as the slowest may take, and a minute.
#[test]
fn a_drain_lasts_at_least_as_long_as_its_pods_may_take_to_end() {
    let mut slow = pod("slow", "old-0", 100);
    slow["spec"]["terminationGracePeriodSeconds"] = json!(3600);
    let items = [nodes(), vec![slow, pod("quick", "old-1", 100)]].concat();
    let plan = planned(&["old-0", "old-1"], &items);
    let drain = |node: &str, timeout: &str| {
        format!(
            "kubectl drain {node} --ignore-daemonsets --delete-emptydir-data --timeout={timeout}"
        )
    };
    assert!(has(&plan, &drain("old-0", "3660s")), "{:#?}", commands(&plan));
    assert!(has(&plan, &drain("old-1", "420s")), "{:#?}", commands(&plan));
}

/// Without a kubelet nothing ends a pod, and its volumes stay where they are.
#[test]
fn an_old_node_that_is_not_ready_is_an_obstacle_unless_it_is_empty() {
    let mut nodes = nodes();
    for node in &mut nodes[..2] {
        node["status"]["conditions"][0]["status"] = json!("Unknown");
    }
    let items = [nodes, vec![pod("a", "old-0", 100)]].concat();
    let plan = planned(&["old-0", "old-1"], &items);
    assert_eq!(obstacles(&plan), ["old-node-not-ready shop/a-0"]);
    let fix = &plan.obstacles[0].fix;
    assert!(fix.contains("kubectl delete node old-0"), "{fix}");
    assert!(fix.contains("out-of-service=nodeshutdown:NoExecute"), "{fix}");
}

/// A controller that cannot reckon a budget lets nothing go (Kubernetes `disruption.go`, `failSafe`).
#[test]
fn a_budget_that_its_controller_cannot_reckon_is_an_obstacle() {
    let told = |allowed: u64, reason: &str| {
        let mut web = budget("web", json!({"app": "web"}), json!({"minAvailable": 1}));
        web["status"] = json!({"disruptionsAllowed": allowed, "conditions": [
            {"type": "DisruptionAllowed", "status": if allowed > 0 { "True" } else { "False" },
             "reason": reason, "message": "found no controller ref"}]});
        let pods = deployment("web", 2, &[("old-0", true), ("new-0", true)]);
        let plan = planned(&["old-0"], &[nodes(), pods, vec![web]].concat());
        plan.obstacles.iter().map(|o| (o.id, o.message.clone())).collect::<Vec<_>>()
    };
    let [(id, message)] = &told(0, "SyncFailed")[..] else { panic!("one obstacle") };
    assert_eq!(*id, "budget-unhealthy");
    assert!(message.contains("SyncFailed: found no controller ref"), "{message}");
    assert_eq!(told(1, "SufficientPods"), []);
    assert_eq!(told(0, "InsufficientPods"), [], "the pods are ready by now");
}

/// What tolerates the taint of a cordon may be put back on a node that is closed.
#[test]
fn what_a_cordon_does_not_keep_off_is_noted() {
    for (toleration, is_told) in [
        (json!({"operator": "Exists"}), true),
        (json!({"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}), true),
        (
            json!({"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoExecute"}),
            false,
        ),
        (json!({"key": "node.kubernetes.io/not-ready", "operator": "Exists"}), false),
    ] {
        let mut one = pod("one", "old-0", 100);
        one["spec"]["tolerations"] = json!([toleration]);
        let plan = planned(&["old-0"], &[nodes(), vec![one]].concat());
        let told = plan
            .notes
            .iter()
            .any(|note| note.contains("a cordon does not keep off") && note.contains("shop/one-0"));
        assert_eq!(told, is_told, "{toleration}");
    }
}

/// Once and not for each pod.
#[test]
fn that_nothing_is_known_of_new_nodes_is_told_once() {
    let mut items = vec![node("old-0", 4000)];
    items.extend(["a", "b", "c"].map(|name| pod(name, "old-0", 100)));
    let plan = planned(&["old-0"], &items);
    assert_eq!(obstacles(&plan), ["no-target shop/a-0 shop/b-0 shop/c-0"]);
}

/// Two replicas on one volume for one node go at once: the workload is away, and its budget is passed by.
#[test]
fn replicas_on_one_volume_are_away_together_and_their_budget_is_told() {
    let mut web = deployment("web", 2, &[("old-0", true), ("old-0", true)]);
    for pod in web.iter_mut().filter(|item| item["kind"] == "Pod") {
        pod["spec"]["volumes"] =
            json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
    }
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"namespace": "shop", "name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "pv"}});
    let guard = budget("web", json!({"app": "web"}), json!({"minAvailable": 1}));
    let plan = planned(&["old-0"], &[nodes(), web, vec![claim, guard]].concat());
    let away: Vec<&String> = plan.downtimes.iter().map(|downtime| &downtime.workload).collect();
    assert_eq!(away, ["Deployment/web in shop"]);
    let texts: Vec<&String> = plan.steps.iter().map(|step| &step.text).collect();
    let told = "go together. That passes the budget web (minAvailable: 1) by.";
    assert!(texts.iter().any(|text| text.ends_with(told)), "{texts:#?}");
}

/// Pods of a kind that has no count of its own are counted: those that are left are ready at once.
#[test]
fn pods_of_an_operator_are_waited_for_by_their_number() {
    let mut items = nodes();
    for (number, node) in ["old-0", "old-1", "new-0"].into_iter().enumerate() {
        let mut one = pod("kafka", node, 100);
        one["metadata"]["name"] = json!(format!("kafka-{number}"));
        one["metadata"]["ownerReferences"][0]["kind"] = json!("StrimziPodSet");
        items.push(one);
    }
    let plan = planned(&["old-0", "old-1"], &items);
    assert_eq!(faults(&plan, &items), <[String; 0]>::default());
    let wait = commands(&plan).into_iter().find(|command| command.starts_with("timeout 300s sh "));
    let wait = wait.unwrap();
    assert!(wait.ends_with(" wait shop 'app in (kafka)' 3"), "{wait}");
    // A kubectl that counts how often it is asked: two are ready, then two of three, then all.
    let dir = tempfile::tempdir().unwrap();
    let script = "#!/bin/sh\necho \"$@\" >> \"$0.asked\"\ncase $(wc -l < \"$0.asked\") in\n  1) printf 'True True';;\n  2) printf 'True False True';;\n  *) printf 'True True True';;\nesac\n";
    let kubectl = dir.path().join("kubectl");
    std::fs::write(&kubectl, script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&kubectl, executable).unwrap();
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap());
    let ran = std::process::Command::new("sh").args(["-c", wait]).env("PATH", path).output();
    assert!(ran.unwrap().status.success());
    let asked = std::fs::read_to_string(dir.path().join("kubectl.asked")).unwrap();
    let asked: Vec<&str> = asked.lines().collect();
    let query = r#"get pods -n shop -l app in (kafka) -o jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}"#;
    assert_eq!(asked, [query; 3]);
}
