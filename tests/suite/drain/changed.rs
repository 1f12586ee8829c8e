//! The dump of the migration, changed: what stands in the way, two waves, how far it has come, hostile names.

use serde_json::{Value, json};

use super::kubectl::{Command, parse};
use crate::stories::moving_to_larger_nodes::{SELECTOR, dump};
use crate::support::repo::{Ran, TestRepo};

const SETTINGS: &str = "drain:
  selector: node.kubernetes.io/instance-type=a2-ram4-disk50-perf1
  order:
  - {before: kernel-seal/openbao-transit, after: kernel-secrets/openbao, reason: '<img src=x> | it *unseals*'}
";

fn items(dump: &mut Value) -> &mut Vec<Value> {
    dump["items"].as_array_mut().unwrap()
}

fn find<'a>(dump: &'a mut Value, kind: &str, start: &str) -> &'a mut Value {
    let is_it = |item: &&mut Value| {
        item["kind"] == kind && item["metadata"]["name"].as_str().unwrap().starts_with(start)
    };
    items(dump).iter_mut().find(is_it).unwrap_or_else(|| panic!("no {kind} {start}"))
}

fn each(dump: &mut Value, kind: &str, change: impl Fn(&mut Value)) {
    items(dump).iter_mut().filter(|item| item["kind"] == kind).for_each(change);
}

fn run(dump: &Value, args: &[&str]) -> Ran {
    let repo =
        TestRepo::with_files(&[(".overlay.yaml", SETTINGS), ("now.json", &dump.to_string())]);
    repo.overlay(&[&["drain-plan", "--from", "now.json", "-o", "json"], args].concat())
}

/// The ids of the obstacles with their messages.
fn obstacles(ran: &Ran) -> Vec<(String, String)> {
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

fn volume_of(dump: &mut Value, claim: &str) -> String {
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

/// Six ports, five used, three nodes wanted: one new node comes at once, two old ones have to be given back for the others.
#[test]
fn scarce_ports_make_two_waves() {
    let mut changed = dump();
    let is_new = |name: &Value| name.as_str().is_some_and(|name| name.starts_with("gentian-large"));
    items(&mut changed)
        .retain(|item| !is_new(&item["metadata"]["name"]) && !is_new(&item["spec"]["nodeName"]));
    let args = ["--new", "3", "--node", "memory=15.62GiB,cpu=4", "--quota", "ports=6,used=5"];
    let ran = run(&changed, &args);
    assert_eq!(ran.status, 0, "{ran:?}");
    let result = ran.json()["result"].clone();
    assert_eq!(result["waves"], 2);
    let steps = result["steps"].as_array().unwrap();
    assert_eq!(steps[0]["kind"], "provider");
    assert!(
        steps[0]["text"].as_str().unwrap().contains("Cap the old pool at 4 nodes"),
        "{}",
        steps[0]
    );
    let commands: Vec<&str> = steps
        .iter()
        .flat_map(|step| step["commands"].as_array().unwrap())
        .map(|command| command.as_str().unwrap())
        .collect();
    let given_back: Vec<&str> = commands
        .iter()
        .filter_map(|command| command.strip_prefix("kubectl delete node "))
        .collect();
    // The two that carry no database, no transit, no primary, no single replica of a StatefulSet, the least loaded first.
    assert_eq!(given_back, ["gentian-workers-z7j4s", "gentian-workers-8x2fd"]);
    let boundary =
        commands.iter().position(|command| command.starts_with("kubectl delete node")).unwrap();
    let drained = |commands: &[&str]| -> std::collections::BTreeSet<String> {
        let all = commands.iter().filter(|command| command.starts_with("kubectl drain"));
        all.map(|command| command.split(' ').nth(2).unwrap().to_owned()).collect()
    };
    assert_eq!(
        drained(&commands[..boundary]),
        given_back.iter().map(|n| (*n).to_owned()).collect()
    );
    assert_eq!(drained(&commands[boundary..]).len(), 4);
    let cordons =
        commands.iter().filter_map(|command| match command.starts_with("kubectl cordon") {
            true => Some(parse(command)),
            false => None,
        });
    let first = cordons.into_iter().next().unwrap();
    assert_eq!(first, Command::Cordon(given_back.iter().map(|n| (*n).to_owned()).collect()));
    assert_eq!(result["new"].as_array().unwrap().len(), 3);
    // With a port for each there is one wave; with none left at all, three nodes would have to go, and two can.
    let enough = run(
        &changed,
        &["--new", "3", "--node", "memory=15.62GiB,cpu=4", "--quota", "ports=9,used=6"],
    );
    assert_eq!(enough.json()["result"]["waves"], 1);
    let none = run(
        &changed,
        &["--new", "3", "--node", "memory=15.62GiB,cpu=4", "--quota", "ports=6,used=6"],
    );
    assert_eq!(none.status, 7);
    assert!(
        obstacles(&none)
            .iter()
            .any(|(id, text)| id == "quota" && text.contains("3 nodes") && text.contains("only 2"))
    );
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

const LARGE: [&str; 3] = ["gentian-large-2b9kd", "gentian-large-6t4wq", "gentian-large-m8x5c"];

fn is_old(name: &str) -> bool {
    name.starts_with("gentian-workers")
}

/// The dump with the old nodes cordoned, and the pods that `moves` names on new nodes with their volumes.
fn under_way(moves: impl Fn(&Value) -> bool) -> Value {
    let mut now = dump();
    each(&mut now, "Node", |node| {
        if is_old(node["metadata"]["name"].as_str().unwrap()) {
            node["spec"]["unschedulable"] = json!(true);
        }
    });
    let mut claims: Vec<String> = Vec::new();
    for pod in items(&mut now).iter_mut().filter(|item| item["kind"] == "Pod") {
        let is_daemon = pod["metadata"]["ownerReferences"][0]["kind"] == "DaemonSet";
        if !is_daemon && moves(pod) {
            pod["spec"]["nodeName"] = json!(LARGE[0]);
            let volumes = pod["spec"]["volumes"].as_array().cloned().unwrap_or_default();
            let names =
                volumes.iter().filter_map(|v| v["persistentVolumeClaim"]["claimName"].as_str());
            claims.extend(names.map(str::to_owned));
        }
    }
    let volumes: Vec<String> = claims.iter().map(|claim| volume_of(&mut now, claim)).collect();
    each(&mut now, "VolumeAttachment", |attachment| {
        let volume = attachment["spec"]["source"]["persistentVolumeName"].as_str().unwrap();
        if volumes.iter().any(|known| known == volume) {
            attachment["spec"]["nodeName"] = json!(LARGE[0]);
        }
    });
    now
}

fn progress(now: &Value, args: &[&str]) -> Ran {
    let repo = TestRepo::with_files(&[
        (".overlay.yaml", SETTINGS),
        ("before.json", &dump().to_string()),
        ("now.json", &now.to_string()),
    ]);
    let fixed =
        ["drain-plan", "--progress", "--from", "now.json", "--before", "before.json", "-o", "json"];
    repo.overlay(&[&fixed, args].concat())
}

fn findings(ran: &Ran) -> Vec<String> {
    let all = ran.json()["result"]["findings"].as_array().unwrap().clone();
    let mut ids: Vec<String> =
        all.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
    ids.dedup();
    ids
}

fn on(node: &'static str) -> impl Fn(&Value) -> bool {
    move |pod| pod["spec"]["nodeName"] == node
}

#[test]
fn on_course_the_next_node_is_told() {
    let begin = progress(&dump(), &[]);
    assert_eq!(begin.status, 0, "{begin:?}");
    assert_eq!(begin.json()["result"]["phase"], "not-begun");
    let next = begin.json()["result"]["next"]["command"].as_str().unwrap().to_owned();
    assert!(next.starts_with("kubectl cordon gentian-workers-"), "{next}");

    let cordoned = progress(&under_way(|_| false), &[]);
    assert_eq!(cordoned.status, 0, "{cordoned:?}");
    assert_eq!(cordoned.json()["result"]["next"]["what"], "drain gentian-workers-z7j4s");

    let one = progress(&under_way(on("gentian-workers-z7j4s")), &[]);
    assert_eq!(one.status, 0, "{one:?}");
    let result = one.json()["result"].clone();
    assert_eq!(result["phase"], "draining");
    assert_eq!(
        result["old"][0],
        json!({"name": "gentian-workers-z7j4s", "gone": false, "cordoned": true, "left": []})
    );
    let next = result["next"]["what"].as_str().unwrap();
    assert!(next.starts_with("drain gentian-workers-") && !next.contains("z7j4s"), "{next}");

    let databases = ["kernel-postgres-1", "postgres-1", "litellm-db-1"];
    let is_database =
        move |pod: &Value| databases.contains(&pod["metadata"]["name"].as_str().unwrap());
    let late = progress(&under_way(move |pod| !is_database(pod)), &[]);
    assert_eq!(late.status, 0, "{late:?}");
    assert_eq!(late.json()["result"]["phase"], "databases");
    let command = late.json()["result"]["next"]["command"].as_str().unwrap().to_owned();
    assert!(command.starts_with("kubectl delete pod -n "), "{command}");

    let done = progress(&under_way(|_| true), &[]);
    assert_eq!(done.status, 0, "{done:?}");
    assert_eq!(done.json()["result"]["phase"], "done");
    assert_eq!(done.json()["result"]["next"], Value::Null);
}

#[test]
fn what_is_not_as_it_should_be_is_told_with_exit_7() {
    type Change = fn(&mut Value);
    let wrong: [(&str, Change); 8] = [
        ("pod-not-running", |now| {
            let pod = find(now, "Pod", "keycloak-");
            pod["status"]["phase"] = json!("Pending");
            pod["status"]["conditions"][1]["status"] = json!("False");
        }),
        ("not-cordoned", |now| find(now, "Node", "gentian-workers-4k7pz")["spec"] = json!({})),
        ("node-not-ready", |now| {
            find(now, "Node", LARGE[1])["status"]["conditions"][1]["status"] = json!("Unknown");
        }),
        ("request-pending", |now| {
            find(now, "CertificateSigningRequest", "csr-")["status"] = json!({});
        }),
        ("attached-elsewhere", |now| {
            let volume = volume_of(now, "data-garage-0");
            let all = items(now).iter_mut().filter(|item| item["kind"] == "VolumeAttachment");
            let mut own = all
                .filter(|item| item["spec"]["source"]["persistentVolumeName"] == volume.as_str());
            own.next().unwrap()["spec"]["nodeName"] = json!(LARGE[2]);
        }),
        ("attach-error", |now| {
            find(now, "VolumeAttachment", "csi-")["status"] =
                json!({"attached": false, "attachError": {"message": "Multi-Attach error"}});
        }),
        ("database-not-ready", |now| {
            find(now, "Cluster", "litellm-db")["status"]["readyInstances"] = json!(0);
        }),
        ("pair-down", |now| {
            for pod in items(now).iter_mut().filter(|item| item["kind"] == "Pod") {
                if pod["metadata"]["name"]
                    .as_str()
                    .unwrap()
                    .starts_with("envoy-kernel-edge-perimeter-")
                {
                    pod["status"]["conditions"][1]["status"] = json!("False");
                }
            }
        }),
    ];
    for (id, change) in wrong {
        let mut now = under_way(on("gentian-workers-z7j4s"));
        change(&mut now);
        let ran = progress(&now, &[]);
        assert_eq!((ran.status, ran.code().as_str()), (7, "drain-off-course"), "{id}: {ran:?}");
        assert!(findings(&ran).contains(&id.to_owned()), "{id}: {ran:?}");
    }
    let missing = progress(&under_way(|_| false), &["--new", "4"]);
    assert_eq!((missing.status, findings(&missing)), (7, vec!["nodes-missing".to_owned()]));
}

/// The primary has moved, and transit has not.
#[test]
fn a_rule_that_was_passed_by_is_told() {
    let now = under_way(|pod| pod["metadata"]["name"] == "openbao-0");
    assert_eq!(findings(&progress(&now, &[])), ["out-of-order"]);
    let now = under_way(|pod| pod["metadata"]["name"] == "openbao-transit-0");
    assert_eq!(progress(&now, &[]).status, 0);
}

/// What failed before the window is not the window's.
#[test]
fn trouble_from_before_is_told_apart() {
    let break_it = |dump: &mut Value| {
        let pod = find(dump, "Pod", "litellm-");
        pod["status"]["containerStatuses"][0]["state"] =
            json!({"waiting": {"reason": "CrashLoopBackOff"}});
        pod["status"]["conditions"][1]["status"] = json!("False");
    };
    let (mut before, mut now) = (dump(), under_way(|_| false));
    break_it(&mut now);
    let fresh = progress(&now, &[]);
    assert_eq!(findings(&fresh), ["pod-not-running"]);
    assert!(fresh.stdout.contains("CrashLoopBackOff"));
    break_it(&mut before);
    let repo = TestRepo::with_files(&[
        ("before.json", &before.to_string()),
        ("now.json", &now.to_string()),
    ]);
    let args = [
        "drain-plan",
        "--progress",
        "--selector",
        SELECTOR,
        "--from",
        "now.json",
        "--before",
        "before.json",
        "-o",
        "json",
    ];
    let old = repo.overlay(&args);
    assert_eq!(old.status, 0, "{old:?}");
    assert!(old.json()["result"]["asBefore"][0].as_str().unwrap().contains("CrashLoopBackOff"));
}
