//! How far a drain has come: the dump of the migration at some point of it, with what is next and what is not as it should be.

use serde_json::{Value, json};

use super::changed::{SETTINGS, each, find, items, volume_of};
use crate::stories::moving_to_larger_nodes::{SELECTOR, dump};
use crate::support::repo::{Ran, TestRepo};

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
    progress_since(SETTINGS, &dump(), now, args)
}

fn progress_since(settings: &str, before: &Value, now: &Value, args: &[&str]) -> Ran {
    let repo = TestRepo::with_files(&[
        (".overlay.yaml", settings),
        ("before.json", &before.to_string()),
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

    let cordoned = progress(&raised(under_way(|_| false)), &[]);
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
    let wrong: [(&str, Change); 9] = [
        ("pod-not-running", |now| {
            let pod = find(now, "Pod", "keycloak-");
            pod["status"]["phase"] = json!("Pending");
            pod["status"]["conditions"][1]["status"] = json!("False");
        }),
        ("not-cordoned", |now| find(now, "Node", "gentian-workers-4k7pz")["spec"] = json!({})),
        ("node-not-ready", |now| {
            find(now, "Node", LARGE[1])["status"]["conditions"][1]["status"] = json!("Unknown");
        }),
        ("old-node-not-ready", |now| {
            let node = find(now, "Node", "gentian-workers-4k7pz");
            node["status"]["conditions"][1]["status"] = json!("Unknown");
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
    assert_eq!(findings(&fresh), ["pod-not-running", "database-not-ready"]);
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

fn next(ran: &Ran) -> String {
    ran.json()["result"]["next"]["command"].as_str().unwrap_or_default().to_owned()
}

fn set_replicas(now: &mut Value, name: &str, wanted: u64, ready: u64) {
    let workload = find(now, "Deployment", name);
    workload["spec"]["replicas"] = json!(wanted);
    workload["status"] = json!({"replicas": wanted, "readyReplicas": ready});
}

/// The second replica of the one workload whose budget asks for it, on a new node.
fn raised(mut now: Value) -> Value {
    set_replicas(&mut now, "wiki", 2, 2);
    let mut second = find(&mut now, "Pod", "wiki-").clone();
    let name = format!("{}-more", second["metadata"]["name"].as_str().unwrap());
    second["metadata"]["name"] = json!(name);
    second["spec"]["nodeName"] = json!(LARGE[1]);
    items(&mut now).push(second);
    now
}

fn without(mut now: Value, kind: &str, start: &str) -> Value {
    items(&mut now).retain(|item| {
        let name = item["metadata"]["name"].as_str().unwrap();
        item["kind"] != kind || !name.starts_with(start)
    });
    now
}

const PERIMETER: &str = "envoy-kernel-edge-perimeter";

/// Pods that are not there are no pods in trouble, and the workload may say of itself what was so a moment ago.
#[test]
fn a_pair_without_its_pods_is_down_and_waited_for() {
    let wait = format!(
        "kubectl wait -n kernel-edge --for=jsonpath='{{.status.readyReplicas}}'=2 deployment/{PERIMETER} --timeout=300s"
    );
    let no_pods = without(under_way(|_| false), "Pod", PERIMETER);
    let mut says_so = under_way(|_| false);
    set_replicas(&mut says_so, PERIMETER, 2, 0);
    find(&mut says_so, "Deployment", PERIMETER)["status"] = json!({"replicas": 2});
    for now in [no_pods, says_so] {
        let ran = progress(&now, &[]);
        assert_eq!((ran.status, findings(&ran)), (7, vec!["pair-down".to_owned()]), "{ran:?}");
        assert_eq!(next(&ran), wait);
    }
    let mut half = under_way(|_| false);
    set_replicas(&mut half, PERIMETER, 2, 1);
    let ran = progress(&half, &["--wait-timeout", "7s"]);
    assert_eq!((ran.status, findings(&ran)), (7, vec!["workload-not-ready".to_owned()]), "{ran:?}");
    assert_eq!(next(&ran), wait.replace("300s", "7s"));
}

/// What is short already before the drain is told, and does not hold it.
#[test]
fn a_workload_that_was_short_before_holds_nothing() {
    let (mut before, mut now) = (dump(), raised(under_way(|_| false)));
    set_replicas(&mut before, "keycloak", 1, 0);
    set_replicas(&mut now, "keycloak", 1, 0);
    let ran = progress_since(SETTINGS, &before, &now, &[]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.json()["result"]["asBefore"][0].as_str().unwrap().contains("keycloak"), "{ran:?}");
}

#[test]
fn a_workload_that_is_gone_is_told() {
    let gone = without(under_way(|_| false), "Pod", "keycloak-");
    let gone = without(gone, "Deployment", "keycloak");
    let mut at_none = without(under_way(|_| false), "Pod", "keycloak-");
    set_replicas(&mut at_none, "keycloak", 0, 0);
    let database = without(under_way(|_| false), "Pod", "litellm-db-1");
    let database = without(database, "Cluster", "litellm-db");
    let told = [
        (
            gone,
            "workload-gone",
            "Deployment/keycloak in kernel-identity was there before, and is not now",
        ),
        (
            at_none,
            "workload-at-zero",
            "Deployment/keycloak in kernel-identity is scaled to 0, and was not before",
        ),
        (
            database,
            "workload-gone",
            "Cluster/litellm-db in system-llm was there before, and is not now",
        ),
    ];
    for (now, id, message) in told {
        let ran = progress(&now, &[]);
        assert_eq!((ran.status, findings(&ran)), (7, vec![id.to_owned()]), "{ran:?}");
        assert_eq!(ran.json()["result"]["findings"][0]["message"], message, "{ran:?}");
        assert_eq!(ran.json()["result"]["next"], Value::Null);
    }
}

/// The drain deletes it, and nothing brings it back: until somebody makes it again it is told.
#[test]
fn a_pod_that_nothing_makes_anew_is_not_forgotten() {
    let bare = |node: &str| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop", "name": "debug"},
            "spec": {"nodeName": node, "containers": [{"name": "main", "image": "i"}]},
            "status": {"phase": "Running", "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}]}})
    };
    let mut before = dump();
    items(&mut before).push(bare("gentian-workers-z7j4s"));
    let told = |mut now: Value, is_there: bool| {
        if is_there {
            items(&mut now).push(bare(LARGE[0]));
        }
        progress_since(SETTINGS, &before, &now, &[])
    };
    let gone = told(under_way(on("gentian-workers-z7j4s")), false);
    assert_eq!((gone.status, findings(&gone)), (7, vec!["pod-gone".to_owned()]), "{gone:?}");
    let message = gone.json()["result"]["findings"][0]["message"].clone();
    assert_eq!(message, "shop/debug was there before, and nothing makes it anew");
    let made_again = told(under_way(on("gentian-workers-z7j4s")), true);
    assert_eq!(made_again.status, 0, "{made_again:?}");
}

/// What a rule brings together has no pods where its workload is asked for none: that is told once, and not as "none of 0".
#[test]
fn a_pair_of_a_rule_that_is_scaled_to_none_is_told_once() {
    let rule = format!(
        "{SETTINGS}  pairs:\n  - name: perimeter\n    namespace: kernel-edge\n    selector: gateway.envoyproxy.io/owning-gateway-name=perimeter\n"
    );
    let progress = |now: &Value| progress_since(&rule, &dump(), now, &[]);
    let mut at_none = without(under_way(|_| false), "Pod", PERIMETER);
    set_replicas(&mut at_none, PERIMETER, 0, 0);
    let ran = progress(&at_none);
    assert_eq!((ran.status, findings(&ran)), (7, vec!["workload-at-zero".to_owned()]), "{ran:?}");
    let ran = progress(&without(under_way(|_| false), "Pod", PERIMETER));
    let messages = ran.json()["result"]["findings"].to_string();
    assert!(messages.contains("perimeter: none of its pods is there"), "{messages}");
}

/// The pods of a database are counted, whatever its status still says.
#[test]
fn a_database_without_its_pod_is_down() {
    let now = without(under_way(|_| false), "Pod", "litellm-db-1");
    let ran = progress(&now, &[]);
    assert_eq!((ran.status, findings(&ran)), (7, vec!["database-not-ready".to_owned()]), "{ran:?}");
    assert!(
        next(&ran).contains("'{.status.readyInstances}'=1 cluster.postgresql.cnpg.io/litellm-db")
    );
}

/// The change in git, its wait, the drain, the way back: each is next in its turn.
#[test]
fn what_is_raised_for_a_budget_and_taken_back_is_a_step() {
    let raise = "overlay set replicas OVERLAY Deployment/wiki=2 --pr";
    let cordoned = progress(&under_way(|_| false), &[]);
    assert_eq!((cordoned.status, next(&cordoned).as_str()), (0, raise), "{cordoned:?}");

    let mut merged = under_way(|_| false);
    set_replicas(&mut merged, "wiki", 2, 1);
    let merged = progress(&merged, &[]);
    assert_eq!(merged.status, 7);
    assert!(next(&merged).contains("'{.status.readyReplicas}'=2 deployment/wiki"), "{merged:?}");

    let ready = progress(&raised(under_way(|_| false)), &[]);
    assert_eq!(ready.status, 0, "{ready:?}");
    assert!(next(&ready).starts_with("kubectl drain gentian-workers-z7j4s "), "{ready:?}");

    let moved = progress(&raised(under_way(|_| true)), &[]);
    assert_eq!((moved.status, next(&moved).as_str()), (0, raise.replace("=2", "=1").as_str()));
    assert_eq!(moved.json()["result"]["phase"], "taking-back");

    let back = progress(&under_way(|_| true), &[]);
    assert_eq!((back.status, next(&back).as_str()), (0, ""));
    assert_eq!(back.json()["result"]["phase"], "done");
}

/// A node that was closed while pods landed together and is closed still: it is to be opened, as a step or as what was forgotten.
#[test]
fn a_new_node_that_stays_cordoned_is_told() {
    for node in LARGE {
        let mut now = under_way(|_| true);
        find(&mut now, "Node", node)["spec"]["unschedulable"] = json!(true);
        let ran = progress(&now, &[]);
        assert!(next(&ran).starts_with("kubectl uncordon "), "{ran:?}");
        assert!(next(&ran).contains(node), "{ran:?}");
        let is_step = ran.status == 0 && ran.json()["result"]["phase"] == "taking-back";
        assert!(is_step || findings(&ran) == ["still-cordoned"], "{ran:?}");
    }
}

/// A pod that came to an old node after the plan was made is moved by the drain of that node.
#[test]
fn a_pod_that_no_step_names_is_drained_too() {
    let mut now = under_way(|_| true);
    let mut late = find(&mut now, "Pod", "docs-").clone();
    late["metadata"]["name"] = json!("docs-late");
    late["spec"]["nodeName"] = json!("gentian-workers-4k7pz");
    items(&mut now).push(late);
    let ran = progress(&now, &[]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(next(&ran).starts_with("kubectl drain gentian-workers-4k7pz "), "{ran:?}");
}
