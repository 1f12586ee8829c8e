//! The dump of the migration, changed: what stands in the way, two waves, hostile names.

use serde_json::{Value, json};

use crate::stories::moving_to_larger_nodes::dump;
use crate::support::repo::{Ran, TestRepo};

pub(super) const SETTINGS: &str = "drain:
  selector: node.kubernetes.io/instance-type=small
  order:
  - {before: kernel-seal/openbao-transit, after: kernel-secrets/openbao, reason: '<img src=x> | it *unseals*'}
";

pub(super) fn items(dump: &mut Value) -> &mut Vec<Value> {
    dump["items"].as_array_mut().unwrap()
}

pub(super) fn find<'a>(dump: &'a mut Value, kind: &str, start: &str) -> &'a mut Value {
    let is_it = |item: &&mut Value| {
        item["kind"] == kind && item["metadata"]["name"].as_str().unwrap().starts_with(start)
    };
    items(dump).iter_mut().find(is_it).unwrap_or_else(|| panic!("no {kind} {start}"))
}

pub(super) fn each(dump: &mut Value, kind: &str, change: impl Fn(&mut Value)) {
    items(dump).iter_mut().filter(|item| item["kind"] == kind).for_each(change);
}

pub(super) fn run(dump: &Value, args: &[&str]) -> Ran {
    let repo =
        TestRepo::with_files(&[(".overlay.yaml", SETTINGS), ("now.json", &dump.to_string())]);
    repo.overlay(&[&["drain-plan", "--from", "now.json", "-o", "json"], args].concat())
}

/// The ids of the obstacles with their messages.
pub(super) fn obstacles(ran: &Ran) -> Vec<(String, String)> {
    let found = ran.json()["result"]["obstacles"].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    found.iter().map(|one| (text(&one["id"]), text(&one["message"]))).collect()
}

/// The one obstacle of a changed dump: its id and its message.
fn obstacle(change: impl Fn(&mut Value)) -> (String, String) {
    let mut dump = dump();
    change(&mut dump);
    let ran = run(&dump, &[]);
    assert_eq!((ran.status, ran.code().as_str()), (7, "drain-obstacles"), "{ran:?}");
    let found = obstacles(&ran);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.into_iter().next().unwrap()
}

pub(super) fn volume_of(dump: &mut Value, claim: &str) -> String {
    let claim = find(dump, "PersistentVolumeClaim", claim);
    claim["spec"]["volumeName"].as_str().unwrap().to_owned()
}

#[test]
fn a_volume_in_another_zone_is_told() {
    let (id, message) = obstacle(|dump| {
        let volume = volume_of(dump, "data-openbao-0");
        let volume = find(dump, "PersistentVolume", &volume);
        let path = "/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/values";
        *volume.pointer_mut(path).unwrap() = json!(["az-2"]);
    });
    assert_eq!(id, "volume-elsewhere");
    assert!(message.contains("kernel-secrets/openbao-0") && message.contains("az-2"), "{message}");
}

#[test]
fn data_on_the_disk_of_a_node_is_told() {
    let (id, message) = obstacle(|dump| {
        let volume = volume_of(dump, "data-garage-0");
        let volume = find(dump, "PersistentVolume", &volume);
        volume["spec"]["local"] = json!({"path": "/data"});
        let path = "/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0";
        *volume.pointer_mut(path).unwrap() = json!({"key": "kubernetes.io/hostname", "operator": "In", "values": ["gentian-workers-r3v8b"]});
    });
    assert_eq!(id, "local-data");
    assert!(message.contains("kernel-objects/garage-0"), "{message}");
}

/// 12.96 GiB allocatable less 340 MiB of daemons are 12931 MiB, before anything lands there.
#[test]
fn a_pod_larger_than_the_largest_free_block_is_told() {
    let (id, message) = obstacle(|dump| {
        let pod = find(dump, "Pod", "argocd-application-controller-0");
        pod["spec"]["containers"][0]["resources"]["requests"]["memory"] = json!("13000Mi");
    });
    assert_eq!(id, "too-large");
    assert!(message.contains("13000 MiB") && message.contains("argocd-application-controller-0"));
}

#[test]
fn a_label_that_no_new_node_has_and_a_taint_are_told() {
    let (id, message) = obstacle(|dump| {
        find(dump, "Pod", "postfix-")["spec"]["nodeSelector"] =
            json!({"gentianos.example/mail-egress": "true"});
    });
    assert_eq!(id, "no-node-fits");
    assert!(message.contains("gentianos.example/mail-egress=true"), "{message}");
    let mut dump = dump();
    each(&mut dump, "Node", |node| {
        if node["metadata"]["name"].as_str().unwrap().starts_with("gentian-large") {
            node["spec"]["taints"] =
                json!([{"key": "pool", "value": "gpu", "effect": "NoSchedule"}]);
        }
    });
    let ran = run(&dump, &[]);
    assert!(
        obstacles(&ran).iter().any(|(id, text)| id == "no-node-fits" && text.contains("pool=gpu"))
    );
}

#[test]
fn a_pod_that_nothing_makes_anew_is_deleted_and_told() {
    let mut changed = dump();
    find(&mut changed, "Pod", "wiki-")["metadata"]["ownerReferences"] = json!([]);
    let ran = run(&changed, &[]);
    assert_eq!(ran.status, 7);
    assert_eq!(obstacles(&ran)[0].0, "pod-of-nobody");
    let steps = ran.json()["result"]["steps"].as_array().unwrap().clone();
    let deletes = |step: &&Value| {
        step["kind"] == "delete"
            && step["pods"][0].as_str().is_some_and(|pod| pod.contains("wiki-"))
    };
    assert!(steps.iter().any(|step| deletes(&step)));
}

#[test]
fn a_budget_whose_pods_are_not_ready_is_told() {
    let (id, message) = obstacle(|dump| {
        let pod = find(dump, "Pod", "coredns-");
        pod["status"]["conditions"][1]["status"] = json!("False");
    });
    assert_eq!(id, "budget-unhealthy");
    assert!(message.contains("coredns") && message.contains("1 of 2 pods are ready"), "{message}");
}

/// The eviction of a pod that is not ready is refused while fewer are ready than have to be, unless the policy lets it go
/// (Kubernetes, "Unhealthy Pod Eviction Policy"). More replicas of what is ill would help nobody.
#[test]
fn a_budget_of_one_pod_that_is_not_ready_is_told_unless_its_policy_lets_the_pod_go() {
    let ill = |policy: Option<&str>| {
        let mut changed = dump();
        find(&mut changed, "Pod", "wiki-")["status"]["conditions"][1]["status"] = json!("False");
        let budget = find(&mut changed, "PodDisruptionBudget", "wiki");
        if let Some(policy) = policy {
            budget["spec"]["unhealthyPodEvictionPolicy"] = json!(policy);
        }
        run(&changed, &[])
    };
    for policy in [None, Some("IfHealthyBudget")] {
        let ran = ill(policy);
        assert_eq!((ran.status, ran.code().as_str()), (7, "drain-obstacles"), "{ran:?}");
        let told = obstacles(&ran);
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0].0, "budget-unhealthy");
        assert!(
            told[0].1.contains("wiki") && told[0].1.contains("0 of 1 pods are ready"),
            "{told:?}"
        );
    }
    let ran = ill(Some("AlwaysAllow"));
    assert_eq!(ran.status, 0, "{ran:?}");
    let steps = ran.json()["result"]["steps"].as_array().unwrap().clone();
    assert!(!steps.iter().any(|step| step["kind"] == "raise"), "{steps:#?}");
}

#[test]
fn pods_that_wait_for_a_place_are_told() {
    let mut changed = dump();
    let pod = find(&mut changed, "Pod", "docs-");
    pod["spec"]["nodeName"] = Value::Null;
    pod["status"]["phase"] = json!("Pending");
    let ran = run(&changed, &[]);
    let notes = ran.json()["result"]["notes"].to_string();
    assert!(
        notes.contains("on no node now, and reckoned with on none: tenant-bureau/docs-"),
        "{ran:?}"
    );
}

/// Two budgets on one pod: the eviction API fails for good, so that the pod is deleted before its node is drained.
#[test]
fn a_pod_with_two_budgets_is_deleted() {
    let mut changed = dump();
    let mut second = find(&mut changed, "PodDisruptionBudget", "wiki").clone();
    second["metadata"]["name"] = json!("wiki-too");
    items(&mut changed).push(second);
    let ran = run(&changed, &[]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let steps = ran.json()["result"]["steps"].as_array().unwrap().clone();
    let step = steps.iter().find(|step| {
        step["kind"] == "delete" && step["text"].as_str().unwrap().contains("wiki and wiki-too")
    });
    assert!(step.is_some(), "{steps:#?}");
    assert!(!steps.iter().any(|step| step["kind"] == "raise"));
}

/// The replicas of an autoscaler are its own: its least number is raised instead.
#[test]
fn an_autoscaler_is_raised_where_it_owns_the_number() {
    let mut changed = dump();
    items(&mut changed).push(json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"namespace": "tenant-bureau", "name": "wiki-scaler"},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "wiki"}},
    }));
    let ran = run(&changed, &[]);
    let wanted =
        "overlay set field OVERLAY HorizontalPodAutoscaler/wiki-scaler spec.minReplicas=2 --pr";
    assert!(ran.stdout.contains(wanted), "{ran:?}");
}

#[test]
fn hostile_names_are_refused_and_hostile_texts_escaped() {
    for name in ["x; reboot", "-n", "a$(id)", "a`id`", "A", "a/../b", ""] {
        let mut changed = dump();
        find(&mut changed, "Pod", "wiki-")["metadata"]["name"] = json!(name);
        let ran = run(&changed, &[]);
        assert_eq!((ran.status, ran.code().as_str()), (3, "dump-invalid"), "{name}: {ran:?}");
    }
    let mut changed = dump();
    let odd = "a'b\n$(reboot)";
    find(&mut changed, "Pod", "kernel-postgres-1")["metadata"]["labels"]["cnpg.io/cluster"] =
        json!(odd);
    let ran = run(&changed, &[]);
    let commands: Vec<String> = ran.json()["result"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|step| step["commands"].as_array().unwrap().clone())
        .map(|command| command.as_str().unwrap().to_owned())
        .collect();
    for command in commands.iter().filter(|command| command.contains("reboot")) {
        assert!(command.contains("'cnpg.io/cluster!=a'\\''b\n$(reboot)'"), "{command}");
    }
}

#[test]
fn a_runbook_has_every_command_and_no_markup_of_others() {
    let repo =
        TestRepo::with_files(&[(".overlay.yaml", SETTINGS), ("now.json", &dump().to_string())]);
    let page = repo.overlay(&["drain-plan", "--from", "now.json", "-o", "markdown"]);
    assert_eq!(page.status, 0, "{page:?}");
    let json = repo.overlay(&["drain-plan", "--from", "now.json", "-o", "json"]).json();
    for step in json["result"]["steps"].as_array().unwrap() {
        for command in step["commands"].as_array().unwrap() {
            assert!(page.stdout.contains(&format!("\n{}\n", command.as_str().unwrap())));
        }
        assert!(page.stdout.contains(&format!("### {}. ", step["number"])));
    }
    assert!(!page.stdout.contains("\n<img"), "{}", page.stdout);
    assert!(page.stdout.contains(
        "`kernel-seal/openbao-transit before kernel-secrets/openbao (<img src=x> \\| it *unseals*)`"
    ));
}

#[test]
fn without_nodes_to_go_to_that_is_told() {
    let mut changed = dump();
    each(&mut changed, "Node", |node| node["spec"]["unschedulable"] = json!(true));
    let ran = run(&changed, &[]);
    assert_eq!(ran.status, 7);
    assert!(
        obstacles(&ran).iter().all(|(id, _)| id == "no-target" || id == "no-common-place"),
        "{ran:?}"
    );
}

/// Pods of a Rollout of Argo are pods of a workload: raised for a budget and waited for as such.
#[test]
fn a_rollout_is_a_workload() {
    let mut changed = dump();
    let workload = find(&mut changed, "Deployment", "wiki");
    (workload["kind"], workload["apiVersion"]) = (json!("Rollout"), json!("argoproj.io/v1alpha1"));
    let labels = &mut find(&mut changed, "Pod", "wiki-")["metadata"]["labels"];
    labels["rollouts-pod-template-hash"] = labels["pod-template-hash"].take();
    labels.as_object_mut().unwrap().remove("pod-template-hash");
    let ran = run(&changed, &[]);
    assert_eq!(ran.status, 0, "{ran:?}");
    for wanted in [
        "overlay set field OVERLAY Rollout/wiki spec.replicas=2 --pr",
        "--for=jsonpath='{.status.readyReplicas}'=2 rollout.argoproj.io/wiki --timeout",
        "overlay set field OVERLAY Rollout/wiki spec.replicas=1 --pr",
    ] {
        assert!(ran.stdout.contains(wanted), "{wanted}: {ran:?}");
    }
}

/// By their ReplicaSet, where it was read: its name need not tell.
#[test]
fn the_controller_of_a_replica_set_is_the_workload() {
    let mut changed = dump();
    let set = find(&mut changed, "Pod", "wiki-")["metadata"]["ownerReferences"][0]["name"].clone();
    let labels = &mut find(&mut changed, "Pod", "wiki-")["metadata"]["labels"];
    labels.as_object_mut().unwrap().remove("pod-template-hash");
    items(&mut changed).push(json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"namespace": "tenant-bureau", "name": set, "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "Deployment", "name": "wiki", "uid": "1", "controller": true}]},
        "spec": {"replicas": 1},
    }));
    let ran = run(&changed, &[]);
    assert!(ran.stdout.contains("overlay set replicas OVERLAY Deployment/wiki=2 --pr"), "{ran:?}");
}

/// An autoscaler whose most is too little is raised as a whole, and both numbers come back.
#[test]
fn an_autoscaler_is_raised_and_lowered_within_its_bounds() {
    let mut changed = dump();
    items(&mut changed).push(json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"namespace": "tenant-bureau", "name": "wiki"},
        "spec": {"minReplicas": 1, "maxReplicas": 1, "scaleTargetRef": {"kind": "Deployment", "name": "wiki"}},
    }));
    let ran = run(&changed, &[]);
    for number in [2, 1] {
        let wanted = format!(
            "overlay set field OVERLAY HorizontalPodAutoscaler/wiki spec.minReplicas={number} spec.maxReplicas={number} --pr"
        );
        assert!(ran.stdout.contains(&wanted), "{wanted}: {ran:?}");
    }
}

/// Two dumps of one cluster are one cluster.
#[test]
fn objects_that_are_read_twice_count_once() {
    let once = run(&dump(), &[]).json()["result"].clone();
    assert_eq!(run(&dump(), &["--from", "now.json"]).json()["result"], once);
}

/// What a dump may lack because nobody asked for it is told, with the command that asks.
#[test]
fn kinds_that_a_dump_lacks_are_told() {
    let mut changed = dump();
    let lacking = ["HorizontalPodAutoscaler", "PodDisruptionBudget"];
    items(&mut changed).retain(|item| !lacking.contains(&item["kind"].as_str().unwrap()));
    let notes = run(&changed, &[]).json()["result"]["notes"].to_string();
    assert!(notes.contains("no HorizontalPodAutoscaler"), "{notes}");
    assert!(notes.contains("no PodDisruptionBudget"), "{notes}");
    assert!(notes.contains("kubectl get nodes,pods,pdb,"), "{notes}");
    let all = run(&dump(), &[]).json()["result"]["notes"].to_string();
    assert!(!all.contains("what was read has no"), "{all}");
}

/// The commands that write a dump stand in the book, in the runbook and in hints, and are the same there.
#[test]
fn the_commands_that_write_a_dump_are_one_list() {
    let page = std::fs::read_to_string("docs/drain-plan.md").unwrap();
    let block = page.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let commands: Vec<&str> = block.lines().filter(|line| line.starts_with("kubectl")).collect();
    assert_eq!(commands.len(), 3);
    let text = dump().to_string();
    let repo = TestRepo::with_files(&[(".overlay.yaml", SETTINGS), ("now.json", &text)]);
    let runbook = repo.overlay(&["drain-plan", "--from", "now.json", "-o", "markdown"]).stdout;
    for command in &commands {
        assert!(runbook.contains(command), "{command}: {runbook}");
    }
    let repo = TestRepo::with_files(&[("empty.json", "")]);
    let ran = repo.overlay(&["drain-plan", "--from", "empty.json", "--nodes", "a"]);
    let first = commands[0].split(" >").next().unwrap();
    assert!(ran.stderr.contains(first), "{ran:?}");
}

/// A host port that both new nodes' pods have, a resource that no new node has, a number that is none.
#[test]
fn what_nodes_have_one_of_or_none_is_told() {
    let (id, message) = obstacle(|dump| {
        let pod = find(dump, "Pod", "keycloak-");
        pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = json!("1");
    });
    assert_eq!(id, "no-node-fits");
    assert!(message.contains("has nvidia.com/gpu left"), "{message}");
    let port = json!([{"containerPort": 8443, "hostPort": 8443}]);
    let (id, message) = obstacle(|dump| {
        find(dump, "Pod", "keycloak-")["spec"]["containers"][0]["ports"] = port.clone();
        for pod in items(dump).iter_mut().filter(|item| item["kind"] == "Pod") {
            let is_new = pod["spec"]["nodeName"].as_str().unwrap().starts_with("gentian-large");
            if is_new && pod["metadata"]["name"].as_str().unwrap().starts_with("cilium-") {
                pod["spec"]["containers"][0]["ports"] = port.clone();
            }
        }
    });
    assert_eq!(id, "no-node-fits");
    assert!(message.contains("its host port 8443 is taken"), "{message}");
    let mut changed = dump();
    find(&mut changed, "Pod", "keycloak-")["spec"]["containers"][0]["resources"]["requests"]["cpu"] =
        json!("lots");
    let ran = run(&changed, &[]);
    assert_eq!((ran.status, ran.code().as_str()), (3, "dump-invalid"), "{ran:?}");
    assert!(
        ran.stdout.contains("resources.requests.cpu of container") && ran.stdout.contains("`lots`"),
        "{ran:?}"
    );
}

/// A new node that has what is asked for takes it, as often as it has it.
#[test]
fn what_nodes_have_a_number_of_is_counted() {
    let ask = |dump: &mut Value, count: &str| {
        find(dump, "Node", "gentian-large-2b9kd")["status"]["allocatable"]["nvidia.com/gpu"] =
            json!("2");
        for pod in ["keycloak-", "openfga-"] {
            let pod = find(dump, "Pod", pod);
            pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = json!(count);
        }
    };
    let mut changed = dump();
    ask(&mut changed, "1");
    let ran = run(&changed, &[]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(obstacle(|dump| ask(dump, "2")).0, "no-node-fits");
}

/// An empty selector would be every node.
#[test]
fn an_empty_selector_is_refused() {
    for selector in ["", " "] {
        let ran = run(&dump(), &["--selector", selector]);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.stdout.contains("would choose every node"), "{ran:?}");
    }
}
