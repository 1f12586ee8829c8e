//! `overlay baseline`: what of the trouble after a change is new. Dumps are written by hand after what `kubectl get -o json`
//! gives.

mod files;
mod reach;

use serde_json::{Value, json};

use crate::support::json_schema::assert_is_result;
use crate::support::repo::{Ran, TestRepo};

fn node(name: &str, ready: &str, version: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name },
        "status": { "conditions": [{ "type": "Ready", "status": ready, "message": "kubelet says so" }],
            "nodeInfo": { "kubeletVersion": version } } })
}

/// A pod of a Deployment, ready or in a crash loop.
fn pod(workload: &str, suffix: &str, is_ready: bool) -> Value {
    let waiting =
        json!({ "waiting": { "reason": "CrashLoopBackOff", "message": "back-off 5m0s" } });
    let state = if is_ready { json!({ "running": {} }) } else { waiting };
    let ready = if is_ready { "True" } else { "False" };
    json!({ "apiVersion": "v1", "kind": "Pod",
        "metadata": { "namespace": "shop", "name": format!("{workload}-{suffix}-x"),
            "labels": { "pod-template-hash": suffix },
            "ownerReferences": [{ "kind": "ReplicaSet", "name": format!("{workload}-{suffix}"), "controller": true }] },
        "spec": { "nodeName": "n1", "containers": [{ "name": "c" }] },
        "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": ready }],
            "containerStatuses": [{ "name": "c", "ready": is_ready, "restartCount": 7, "state": state,
                "lastState": { "terminated": { "exitCode": 1, "reason": "Error" } } }] } })
}

fn application(name: &str, sync: &str, health: &str) -> Value {
    json!({ "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": { "namespace": "argocd", "name": name },
        "status": { "sync": { "status": sync }, "health": { "status": health } } })
}

fn service(name: &str, addresses: &[&str]) -> Value {
    let ingress: Vec<Value> = addresses.iter().map(|ip| json!({ "ip": ip })).collect();
    json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "namespace": "edge", "name": name },
        "spec": { "type": "LoadBalancer" }, "status": { "loadBalancer": { "ingress": ingress } } })
}

fn claim(name: &str, phase: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": { "namespace": "shop", "name": name }, "spec": { "volumeName": "pv-1" }, "status": { "phase": phase } })
}

fn database(phase: &str, ready: u64) -> Value {
    json!({ "apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster",
        "metadata": { "namespace": "shop", "name": "db" }, "spec": { "instances": 2 },
        "status": { "phase": phase, "instances": 2, "readyInstances": ready, "currentPrimary": "db-1", "targetPrimary": "db-1" } })
}

fn ready_kind(group: &str, kind: &str, name: &str, ready: &str) -> Value {
    json!({ "apiVersion": format!("{group}/v1"), "kind": kind, "metadata": { "namespace": "shop", "name": name },
        "status": { "conditions": [{ "type": "Ready", "status": ready, "reason": "R", "message": "m" }] } })
}

const HEALTHY: &str = "Cluster in healthy state";

/// One object of each kind, all well.
fn well() -> Vec<Value> {
    vec![
        node("n1", "True", "v1.30.1"),
        node("n2", "True", "v1.30.1"),
        pod("web", "aaa", true),
        application("shop", "Synced", "Healthy"),
        service("gateway", &["203.0.113.7"]),
        claim("data", "Bound"),
        database(HEALTHY, 2),
        ready_kind("cert-manager.io", "Certificate", "tls", "True"),
        ready_kind("external-secrets.io", "ExternalSecret", "db", "True"),
    ]
}

struct Lab(TestRepo);

impl Lab {
    fn with(objects: &[Value]) -> Self {
        let lab = Self(TestRepo::with_files(&[]));
        lab.is(objects);
        lab
    }

    /// From now on that is the cluster.
    fn is(&self, objects: &[Value]) {
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects });
        self.0.write("dump.json", &list.to_string());
    }

    fn run(&self, args: &[&str]) -> Ran {
        let json = ["--from", "dump.json", "-o", "json"];
        let ran = self.0.overlay(&[&["baseline"], args, &json].concat());
        assert_is_result(&ran.json());
        ran
    }

    fn record(&self) -> Ran {
        self.run(&["record", "before.json"])
    }

    fn compare(&self) -> Ran {
        self.run(&["compare", "before.json"])
    }
}

/// `what Kind/name` of each trouble in a list of the result.
fn troubles(ran: &Ran, list: &str) -> Vec<String> {
    let json = ran.json();
    let all = json["result"][list].as_array().unwrap().iter();
    let text = |trouble: &Value, key: &str| trouble[key].as_str().unwrap().to_owned();
    all.map(|one| format!("{} {}/{}", text(one, "what"), text(one, "kind"), text(one, "name")))
        .collect()
}

#[test]
fn nothing_changed_is_no_trouble() {
    let lab = Lab::with(&well());
    let ran = lab.record();
    assert_eq!((ran.status, &ran.json()["changed"]), (0, &json!(true)), "{ran:?}");
    assert_eq!(ran.json()["result"]["baseline"]["troubles"], json!([]));
    let ran = lab.compare();
    assert_eq!((ran.status, &ran.json()["changed"]), (0, &json!(false)), "{ran:?}");
    for list in ["new", "worse", "still", "gone"] {
        assert_eq!(troubles(&ran, list), [""; 0], "{list}");
    }
    assert_eq!(ran.json()["result"]["addresses"], json!([]));
}

#[test]
fn each_kind_of_trouble_is_new_once() {
    let mut cordoned = node("n2", "True", "v1.30.1");
    cordoned["spec"]["unschedulable"] = json!(true);
    let mut pressed = node("n2", "True", "v1.30.1");
    pressed["status"]["conditions"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "type": "DiskPressure", "status": "True" }));
    for (at, broken, expected) in [
        (1, node("n2", "Unknown", "v1.30.1"), "node-not-ready Node/n2"),
        (1, cordoned, "node-cordoned Node/n2"),
        (1, pressed, "node-pressure Node/n2"),
        (2, pod("web", "aaa", false), "pods-not-ready Deployment/web"),
        (3, application("shop", "OutOfSync", "Healthy"), "not-synced Application/shop"),
        (3, application("shop", "Synced", "Degraded"), "not-healthy Application/shop"),
        (4, service("gateway", &[]), "no-address Service/gateway"),
        (5, claim("data", "Lost"), "claim-not-bound PersistentVolumeClaim/data"),
        (6, database("Failing over", 1), "database-not-settled Cluster/db"),
        (6, database(HEALTHY, 1), "database-not-settled Cluster/db"),
        (
            7,
            ready_kind("cert-manager.io", "Certificate", "tls", "False"),
            "certificate-not-ready Certificate/tls",
        ),
        (
            8,
            ready_kind("external-secrets.io", "ExternalSecret", "db", "False"),
            "secret-not-synced ExternalSecret/db",
        ),
    ] {
        let mut objects = well();
        let lab = Lab::with(&objects);
        assert_eq!(lab.record().status, 0);
        objects[at] = broken;
        lab.is(&objects);
        let ran = lab.compare();
        assert_eq!((ran.status, ran.code().as_str()), (7, "new-trouble"), "{expected} {ran:?}");
        assert_eq!(troubles(&ran, "new"), [expected]);
        // Recorded with it, it is not new any more; and when it is well again, it is gone.
        assert_eq!(lab.record().status, 0);
        let ran = lab.compare();
        assert_eq!(
            (ran.status, troubles(&ran, "still")),
            (0, vec![expected.to_owned()]),
            "{ran:?}"
        );
        lab.is(&well());
        let ran = lab.compare();
        assert_eq!((ran.status, troubles(&ran, "gone")), (0, vec![expected.to_owned()]), "{ran:?}");
    }
}

#[test]
fn old_trouble_of_replaced_pods_is_old_and_more_of_it_is_worse() {
    let mut objects = well();
    objects.push(pod("mail", "aaa", false));
    let lab = Lab::with(&objects);
    lab.record();
    // Another ReplicaSet of the same Deployment, in the same trouble.
    objects.pop();
    objects.push(pod("mail", "bbb", false));
    lab.is(&objects);
    let ran = lab.compare();
    assert_eq!(
        (ran.status, troubles(&ran, "still")),
        (0, vec!["pods-not-ready Deployment/mail".to_owned()]),
        "{ran:?}"
    );
    // Two where there was one.
    objects.push(pod("mail", "ccc", false));
    lab.is(&objects);
    let ran = lab.compare();
    assert_eq!((ran.status, ran.code().as_str()), (7, "new-trouble"), "{ran:?}");
    let worse = &ran.json()["result"]["worse"][0];
    assert_eq!((&worse["count"], &worse["countBefore"]), (&json!(2), &json!(1)));
}

#[test]
fn pods_that_are_done_are_no_trouble_and_those_that_failed_are() {
    let lab = Lab::with(&well());
    lab.record();
    let mut objects = well();
    let mut done = pod("job", "aaa", false);
    done["status"]["phase"] = json!("Succeeded");
    objects.push(done.clone());
    lab.is(&objects);
    assert_eq!(lab.compare().status, 0);
    done["status"]["phase"] = json!("Failed");
    done["status"]["reason"] = json!("Evicted");
    objects.push(done);
    lab.is(&objects);
    let ran = lab.compare();
    assert_eq!(troubles(&ran, "new"), ["pods-not-ready Deployment/job"], "{ran:?}");
    assert!(
        ran.json()["result"]["new"][0]["detail"].as_str().unwrap().contains("Evicted"),
        "{ran:?}"
    );
}

#[test]
fn nodes_and_addresses_that_change_are_told_and_are_no_trouble() {
    let lab = Lab::with(&well());
    lab.record();
    let mut objects = well();
    objects[1] = node("n3", "True", "v1.31.0");
    objects[0] = node("n1", "True", "v1.31.0");
    objects[4] = service("gateway", &["203.0.113.7", "203.0.113.8"]);
    objects[0]["status"]["addresses"] = json!([
        { "type": "InternalIP", "address": "10.0.0.4" },
        { "type": "ExternalIP", "address": "203.0.113.20" },
    ]);
    let mut second = database(HEALTHY, 2);
    second["metadata"]["name"] = json!("second");
    objects.push(second);
    objects.push(service("second", &["203.0.113.9"]));
    lab.is(&objects);
    let ran = lab.compare();
    let result = ran.json()["result"].clone();
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(result["nodes"]["new"][0]["name"], "n3");
    assert_eq!(result["nodes"]["gone"][0]["name"], "n2");
    assert_eq!(
        result["nodes"]["changed"],
        json!([{ "name": "n1",
            "before": { "version": "v1.30.1", "externalIps": [] },
            "after": { "version": "v1.31.0", "externalIps": ["203.0.113.20"] } }])
    );
    assert_eq!(
        result["databases"],
        json!([{ "cluster": "shop/second", "before": "", "after": HEALTHY }])
    );
    assert_eq!(
        result["addresses"],
        json!([
            { "service": "edge/gateway", "before": ["203.0.113.7"], "after": ["203.0.113.7", "203.0.113.8"] },
            { "service": "edge/second", "before": null, "after": ["203.0.113.9"] },
        ])
    );
}

#[test]
fn an_address_that_is_lost_is_trouble() {
    let mut objects = well();
    objects[4] = service("gateway", &["203.0.113.7", "203.0.113.8"]);
    let lab = Lab::with(&objects);
    lab.record();
    for (now, expected) in [
        (&["203.0.113.8", "203.0.113.9"][..], vec!["address-changed Service/gateway"]),
        (&["203.0.113.9"], vec!["address-changed Service/gateway"]),
        (&[], vec!["no-address Service/gateway"]),
        (&["203.0.113.8", "203.0.113.7"], vec![]),
    ] {
        objects[4] = service("gateway", now);
        lab.is(&objects);
        let ran = lab.compare();
        assert_eq!(troubles(&ran, "new"), expected, "{now:?}");
        assert_eq!(ran.status, if expected.is_empty() { 0 } else { 7 });
    }
    // A Service that somebody took away is told.
    objects.remove(4);
    objects.push(service("another", &["203.0.113.9"]));
    lab.is(&objects);
    let ran = lab.compare();
    let gone = &ran.json()["result"]["addresses"][1];
    assert_eq!(
        (ran.status, &gone["service"], &gone["after"]),
        (0, &json!("edge/gateway"), &Value::Null)
    );
}

#[test]
fn what_is_not_there_any_more_is_told() {
    let mut objects = well();
    objects.push(pod("web", "bbb", true));
    let mut job = pod("backup", "aaa", true);
    job["metadata"]["ownerReferences"] =
        json!([{ "kind": "Job", "name": "backup", "controller": true }]);
    objects.push(job);
    objects.push(claim("logs", "Bound"));
    objects.push(application("mail", "Synced", "Healthy"));
    let lab = Lab::with(&objects);
    lab.record();
    let mut objects = well();
    objects[5]["spec"]["volumeName"] = json!("pv-2");
    lab.is(&objects);
    let ran = lab.compare();
    let result = &ran.json()["result"];
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(
        result["claims"],
        json!([
            { "claim": "shop/data", "before": "pv-1", "after": "pv-2" },
            { "claim": "shop/logs", "before": "pv-1", "after": null },
        ])
    );
    let workload = json!({ "workload": "Deployment/web (shop)", "readyBefore": 2, "ready": 1 });
    assert_eq!(result["workloads"], json!([workload]));
    assert_eq!(result["applicationsGone"], json!(["argocd/mail"]));
    let text = lab.0.overlay(&["baseline", "compare", "before.json", "--from", "dump.json"]).stdout;
    for line in [
        "  claim shop/data: pv-1 → pv-2\n",
        "  claim shop/logs: pv-1 → no such claim\n",
        "  ready Deployment/web (shop): 2 → 1\n",
        "  application gone argocd/mail\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    // Of what cannot be looked at now nothing is said.
    lab.is(&objects[..2]);
    let result = lab.compare().json()["result"].clone();
    for list in ["claims", "workloads", "applicationsGone"] {
        assert_eq!(result[list], json!([]), "{list}");
    }
}

#[test]
fn of_kinds_that_were_not_looked_at_nothing_is_said() {
    let lab = Lab::with(&well());
    lab.record();
    // A dump of pods alone: nodes, Services and the others are unknown, not gone.
    lab.is(&[pod("web", "aaa", false)]);
    let ran = lab.compare();
    assert_eq!(troubles(&ran, "new"), ["pods-not-ready Deployment/web"], "{ran:?}");
    let result = ran.json()["result"].clone();
    assert_eq!((&result["nodes"]["gone"], &result["addresses"]), (&json!([]), &json!([])));
    assert!(result["unseen"].as_array().unwrap().contains(&json!("Node")), "{result}");
}

/// What was looked at then and cannot be now may have any new trouble.
#[test]
fn what_cannot_be_looked_at_any_more_is_no_success() {
    let lab = Lab::with(&well());
    lab.record();
    let without_pods: Vec<Value> = well().into_iter().filter(|o| o["kind"] != "Pod").collect();
    lab.is(&without_pods);
    let ran = lab.compare();
    assert_eq!((ran.status, ran.code().as_str()), (7, "not-looked-at"), "{ran:?}");
    assert_eq!(ran.json()["result"]["lost"], json!(["Pod"]));
    assert!(ran.json()["error"]["message"].as_str().unwrap().ends_with("and not now: Pod"));
    let people =
        lab.0.overlay(&["baseline", "compare", "before.json", "--from", "dump.json"]).stdout;
    assert!(people.contains("  not looked at any more: Pod\n"), "{people}");
    assert!(!people.contains("no new trouble"), "{people}");
    // What was not looked at then either is no loss; and new trouble comes first.
    assert_eq!(lab.record().status, 0);
    assert_eq!(lab.compare().status, 0);
    lab.is(&[node("n1", "False", "v1.30.1")]);
    assert_eq!(lab.compare().code(), "new-trouble");
}

#[test]
fn a_dump_without_anything_that_is_looked_at_is_refused() {
    let lab = Lab::with(&well());
    lab.record();
    let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" } });
    for objects in [vec![], vec![map]] {
        lab.is(&objects);
        for ran in [lab.compare(), lab.run(&["record", "other.json"])] {
            assert_eq!((ran.status, ran.code().as_str()), (3, "dump-invalid"), "{ran:?}");
        }
    }
    let ran =
        lab.0.overlay(&["baseline", "compare", "before.json", "--from", "/dev/null", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (3, "dump-invalid"), "{ran:?}");
}

/// Of nodes that say nothing of why, their condition is told.
#[test]
fn a_node_that_is_not_ready_says_why() {
    let mut mute = node("n2", "Unknown", "v1.30.1");
    mute["status"]["conditions"] = json!([{ "type": "Ready", "status": "Unknown" }]);
    let mut reasoned = mute.clone();
    reasoned["status"]["conditions"][0]["reason"] = json!("NodeStatusUnknown");
    let mut bare = mute.clone();
    bare["status"]["conditions"] = json!([]);
    for (broken, expected) in [
        (mute, "its condition Ready is Unknown"),
        (reasoned, "NodeStatusUnknown"),
        (bare, "it has no condition Ready"),
    ] {
        let mut objects = well();
        let lab = Lab::with(&objects);
        lab.record();
        objects[1] = broken;
        lab.is(&objects);
        let text =
            lab.0.overlay(&["baseline", "compare", "before.json", "--from", "dump.json"]).stdout;
        let line = format!("  new node-not-ready Node/n2: {expected}\n");
        assert!(text.contains(&line), "{text}");
    }
}

#[test]
fn one_namespace_alone() {
    let mut objects = well();
    objects.push(pod("mail", "aaa", false));
    let lab = Lab::with(&objects);
    let ran = lab.run(&["record", "before.json", "--namespace", "edge"]);
    assert_eq!(ran.json()["result"]["baseline"]["troubles"], json!([]), "{ran:?}");
    // The comparison is of the same namespace; another one is refused.
    assert_eq!(lab.compare().status, 0);
    let ran = lab.run(&["compare", "before.json", "--namespace", "shop"]);
    assert_eq!((ran.status, ran.code().as_str()), (3, "not-allowed"), "{ran:?}");
}

#[test]
fn people_and_markdown_read_what_is_new() {
    let lab = Lab::with(&well());
    lab.record();
    let mut objects = well();
    objects[3] = application("sh|op\u{1b}[31m", "OutOfSync", "Healthy");
    lab.is(&objects);
    let ran = lab.0.overlay(&["baseline", "compare", "before.json", "--from", "dump.json"]);
    assert!(ran.stdout.contains("new not-synced Application/sh|op"), "{ran:?}");
    assert!(
        !ran.stdout.contains('\u{1b}') && ran.stderr.contains("trouble that was not there"),
        "{ran:?}"
    );
    let ran = lab.0.overlay(&[
        "baseline",
        "compare",
        "before.json",
        "--from",
        "dump.json",
        "-o",
        "markdown",
    ]);
    assert!(ran.stdout.contains("| new | Application/sh\\|op"), "{ran:?}");
}

#[cfg(feature = "cluster")]
#[test]
fn a_cluster_is_read_over_its_api() {
    use crate::support::kube_api::KubeApi;
    let mut objects = well();
    // Without External Secrets: a kind that the cluster does not have is none to look at.
    objects.pop();
    let server = KubeApi::with(objects);
    let repo = TestRepo::with_files(&[("kubeconfig", &server.kubeconfig("shop"))]);
    let run = |action: &str| {
        repo.overlay(&[
            "baseline",
            action,
            "before.json",
            "--kubeconfig",
            "kubeconfig",
            "-o",
            "json",
        ])
    };
    let ran = run("record");
    assert_eq!(
        (ran.status, &ran.json()["result"]["baseline"]["unseen"]),
        (0, &json!([])),
        "{ran:?}"
    );
    server.apply(node("n2", "False", "v1.30.1"));
    let ran = run("compare");
    assert_eq!(troubles(&ran, "new"), ["node-not-ready Node/n2"], "{ran:?}");
    // A right that is missing now: the kind is named, and neither taken for gone nor for well.
    server.deny("list", "nodes");
    let ran = run("compare");
    assert_eq!((ran.status, ran.code().as_str()), (7, "not-looked-at"), "{ran:?}");
    assert_eq!(ran.json()["result"]["unseen"], json!(["Node"]), "{ran:?}");
    assert_eq!(ran.json()["result"]["nodes"]["gone"], json!([]), "{ran:?}");
    assert!(server.asked().iter().all(|asked| asked.method == "GET"));
}
