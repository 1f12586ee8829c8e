//! `overlay verify` against a Kubernetes API on loopback: real git, a real render, and a cluster that the test changes.

mod applications;
mod conditions;
mod following;

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::support::json_schema::faults;
use crate::support::kube_api::KubeApi;
use crate::support::repo::{Ran, TestRepo};

const OLD: &str =
    "ghcr.io/shop/web@sha256:a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1";
const NEW: &str =
    "ghcr.io/shop/web@sha256:b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2";

fn kustomization(image: &str) -> String {
    let (name, digest) = image.split_once('@').unwrap();
    format!(
        "resources: [web.yaml]\nnamespace: shop\nimages:\n- name: web\n  newName: {name}\n  digest: {digest}\n"
    )
}

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: web
        readinessProbe:
          httpGet: {path: /ready, port: 8080}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: web
spec:
  minAvailable: 1
  selector:
    matchLabels: {app: web}
";

fn repo(image: &str) -> TestRepo {
    let kustomization = kustomization(image);
    TestRepo::with_files(&[
        ("overlays/prod/kustomization.yaml", &kustomization),
        ("overlays/prod/web.yaml", WEB),
    ])
}

fn deployment(image: &str, revision: &str, status: [i64; 4]) -> Value {
    let [all, updated, ready, available] = status;
    json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "uid": "d", "generation": 1,
            "annotations": {"deployment.kubernetes.io/revision": revision}},
        "spec": {"replicas": 2,
            "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": {"metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": image}]}}},
        "status": {"observedGeneration": 1, "replicas": all, "updatedReplicas": updated,
            "readyReplicas": ready, "availableReplicas": available}})
}

fn set(name: &str, revision: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": "shop", "uid": name,
            "annotations": {"deployment.kubernetes.io/revision": revision},
            "ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "d"}]}})
}

fn pod(set: &str, name: &str, image: &str, ready: bool) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": format!("{set}-{name}"), "namespace": "shop", "uid": name,
            "labels": {"app": "web", "pod-template-hash": set.trim_start_matches("web-")},
            "ownerReferences": [{"kind": "ReplicaSet", "name": set, "uid": set}]},
        "spec": {"containers": [{"name": "web", "image": image,
            "readinessProbe": {"httpGet": {"port": 8080}}}]},
        "status": {"phase": "Running",
            "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}],
            "containerStatuses": [{"name": "web", "ready": ready, "imageID": image,
                "state": {"running": {}}}]}})
}

fn budget(allowed: i64) -> Value {
    json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "shop", "generation": 1},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        "status": {"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": 2,
            "desiredHealthy": 1, "expectedPods": 2}})
}

/// What runs after a roll to `image`.
fn rolled_out(image: &str) -> Vec<Value> {
    vec![
        deployment(image, "1", [2, 2, 2, 2]),
        set("web-1", "1"),
        pod("web-1", "a", image, true),
        pod("web-1", "b", image, true),
        budget(1),
    ]
}

fn command(repo: &TestRepo, server: &KubeApi, args: &[&str]) -> Command {
    let mut command = plain_command(repo, server);
    command.args(["-o", "json", "--no-registry"]).args(args);
    command
}

fn plain_command(repo: &TestRepo, server: &KubeApi) -> Command {
    let kubeconfig = repo.path().join("../kubeconfig");
    std::fs::write(&kubeconfig, server.kubeconfig("shop")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlay"));
    command.arg("verify").current_dir(repo.path());
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", repo.path().join("../home")).env("KUBECONFIG", kubeconfig);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn ended(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    Ran {
        status: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn verify(repo: &TestRepo, server: &KubeApi, args: &[&str]) -> Ran {
    let ran = ended(command(repo, server, args).spawn().unwrap());
    let schema = std::fs::read_to_string("docs/result.schema.json").unwrap();
    assert_eq!(faults(&serde_json::from_str(&schema).unwrap(), &ran.json()), [""; 0], "{ran:?}");
    ran
}

fn ids(ran: &Ran) -> Vec<String> {
    let json = ran.json();
    let findings = json["result"]["findings"].as_array().unwrap().iter();
    findings.map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_runs_is_what_git_says() {
    let repo = repo(NEW);
    let server = KubeApi::with(rolled_out(NEW));
    let ran = verify(&repo, &server, &["overlays/prod"]);
    assert_eq!((ran.status, ids(&ran)), (0, vec![]), "{ran:?}");
    let result = &ran.json()["result"];
    assert_eq!(result["workloads"][0]["ready"], 2);
    assert_eq!(result["budgets"][0]["allowed"], 1);
    assert_eq!(result["commit"], repo.git(&["rev-parse", "HEAD"]).trim());
    assert!(server.asked().iter().all(|asked| asked.method == "GET"));
    // What is on disk and not committed says nothing.
    repo.write("overlays/prod/kustomization.yaml", &kustomization(OLD));
    assert_eq!(verify(&repo, &server, &["overlays/prod"]).status, 0);
    repo.commit("back");
    let ran = verify(&repo, &server, &["overlays/prod"]);
    assert_eq!((ran.status, ids(&ran)), (7, vec!["object-differs".to_owned()]), "{ran:?}");
    assert_eq!(verify(&repo, &server, &["overlays/prod", "--at", "HEAD~1"]).status, 0);
    assert!(!ran.stdout.contains("planted-cluster-token"));
}

#[test]
fn every_difference_is_a_finding() {
    let repo = repo(NEW);
    let server = KubeApi::with(rolled_out(NEW));
    let of = |args: &[&str]| {
        let ran = verify(&repo, &server, args);
        (ran.status, ids(&ran).join(" "))
    };
    assert_eq!(of(&["overlays/prod", "--min-allowed-disruptions", "2"]), (7, "budget-low".into()));
    // A node that says another digest, and nobody to ask.
    let path = "/status/containerStatuses/0/imageID";
    server.set("pods", "shop", "web-1-a", path, json!(OLD));
    assert_eq!(of(&["overlays/prod"]), (7, "image-unknown".into()));
    server.set("pods", "shop", "web-1-a", path, json!(NEW));
    server.set("pods", "shop", "web-1-a", "/status/conditions/0/status", json!("False"));
    assert_eq!(of(&["overlays/prod"]), (7, "pods-not-ready pods-not-ready".into()));
    server.apply(pod("web-1", "a", NEW, true));
    server.set("deployments", "shop", "web", "/spec/replicas", json!(1));
    let (status, found) = of(&["overlays/prod"]);
    assert!(status == 7 && found.starts_with("object-differs"), "{found}");
    server.delete("deployments", "shop", "web");
    assert_eq!(of(&["overlays/prod"]), (7, "object-missing".into()));
}

#[test]
fn a_namespace_is_looked_at_as_a_whole_before_a_node_upgrade() {
    let repo = repo(NEW);
    let server = KubeApi::with(rolled_out(NEW));
    assert_eq!(verify(&repo, &server, &["--namespace", "shop"]).status, 0);
    server.apply(budget(0));
    let ran = verify(&repo, &server, &["-n", "shop"]);
    assert_eq!((ran.status, ids(&ran)), (7, vec!["budget-low".to_owned()]), "{ran:?}");
    assert_eq!(verify(&repo, &server, &["-n", "shop", "--min-allowed-disruptions", "0"]).status, 0);
}

/// Pods of nothing that is judged count too; the overlay's own verdict does not rest on them.
#[test]
fn every_pod_of_a_namespace_that_is_looked_at_as_a_whole_is_judged() {
    let repo = repo(NEW);
    let owned = |kind: &str, owner: &str, name: &str, state: Value| {
        json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "shop", "uid": name,
                "ownerReferences": [{"kind": kind, "name": owner, "uid": owner, "controller": true}]},
            "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "registry.test/c:1"}]},
            "status": {"phase": "Pending", "conditions": [{"type": "Ready", "status": "False"}],
                "containerStatuses": [{"name": "c", "ready": false, "restartCount": 7,
                    "state": state, "lastState": {}}]}})
    };
    let waiting = |reason: &str| json!({"waiting": {"reason": reason, "message": "m"}});
    let mut alone = owned("", "", "alone", waiting("CrashLoopBackOff"));
    alone["metadata"].as_object_mut().unwrap().remove("ownerReferences");
    let job = owned("Job", "import", "import-x", waiting("ImagePullBackOff"));
    let mut set = owned("ReplicaSet", "lost-5", "lost-5-x", waiting("CrashLoopBackOff"));
    set["metadata"]["labels"] = json!({"pod-template-hash": "5"});
    for (pod, name, id) in [
        (alone, "alone", "crash-loop"),
        (job.clone(), "import-x", "image-unpullable"),
        (set, "lost-5-x", "crash-loop"),
    ] {
        let server = KubeApi::with(rolled_out(NEW).into_iter().chain([pod]));
        server
            .apply(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}));
        let ran = verify(&repo, &server, &["-n", "shop"]);
        assert_eq!((ran.status, ids(&ran)), (7, vec![id.to_owned()]), "{ran:?}");
        let resource = &ran.json()["result"]["findings"][0]["resource"];
        assert_eq!((&resource["kind"], &resource["name"]), (&json!("Pod"), &json!(name)));
        let following = ["-n", "shop", "--follow", "--dwell", "0s", "--timeout", "3s"];
        let ran = verify(&repo, &server, &following);
        assert!(matches!(ran.status, 6 | 7), "{ran:?}");
        assert_eq!(verify(&repo, &server, &["overlays/prod"]).status, 0);
    }
    // A pod that failed is no trouble where a later one of its Job did the work, and is where none did.
    let with_phase = |name: &str, phase: &str| {
        let mut pod = owned("Job", "import", name, json!({"terminated": {"exitCode": 1}}));
        pod["status"]["phase"] = json!(phase);
        pod
    };
    let server =
        KubeApi::with(rolled_out(NEW).into_iter().chain([with_phase("import-a", "Failed")]));
    assert_eq!(ids(&verify(&repo, &server, &["-n", "shop"])), ["crash-loop"]);
    server.apply(with_phase("import-b", "Succeeded"));
    assert_eq!(verify(&repo, &server, &["-n", "shop"]).status, 0);
}

#[test]
fn a_missing_right_is_said_and_the_rest_is_judged() {
    let repo = repo(NEW);
    let server = KubeApi::with(rolled_out(NEW));
    // An Application of another overlay: the cluster has such a kind.
    server.apply(json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": "other", "namespace": "argocd"}, "spec": {}}));
    for plural in ["events", "nodes", "applications", "persistentvolumeclaims"] {
        server.deny("list", plural);
    }
    // What only explains is a note for each.
    let notes = |ran: &Ran| {
        let json = ran.json();
        let findings = json["result"]["findings"].as_array().unwrap().iter();
        let unreadable = findings
            .filter(|found| found["id"] == "unreadable" && found["severity"] == "note")
            .map(|found| found["resource"]["kind"].as_str().unwrap().to_owned());
        let mut kinds: Vec<String> = unreadable.collect();
        kinds.sort();
        kinds
    };
    let ran = verify(&repo, &server, &["overlays/prod"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(notes(&ran), ["Application", "Event", "Node", "PersistentVolumeClaim"], "{ran:?}");
    let follow = ["overlays/prod", "--follow", "--dwell", "0s", "--timeout", "30s"];
    let ran = verify(&repo, &server, &follow);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(notes(&ran), ["Application", "Event", "Node", "PersistentVolumeClaim"], "{ran:?}");
    let text = ended(plain_command(&repo, &server).args(["overlays/prod"]).spawn().unwrap()).stdout;
    assert!(text.contains("the account may not list nodes in the whole cluster"), "{text}");
    server.deny("list", "poddisruptionbudgets");
    let ran = verify(&repo, &server, &["overlays/prod"]);
    assert_eq!(ran.status, 7, "{ran:?}");
    let findings = ran.json()["result"]["findings"].clone();
    let said = "the account may not list poddisruptionbudgets.policy in namespace shop";
    assert!(findings.to_string().contains(said), "{findings}");
    server.deny("list", "pods");
    let ran = verify(&repo, &server, &["overlays/prod"]);
    assert_eq!((ran.status, &*ran.code()), (4, "cluster-denied"), "{ran:?}");
    assert_eq!(ran.json()["error"]["message"], "the account may not list pods in namespace shop");
}

/// What cannot be read is not missing.
#[test]
fn what_may_not_be_listed_is_unreadable_and_nothing_else() {
    let repo = repo(NEW);
    let extra = "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: tls, namespace: shop}\nspec: {secretName: tls}\n";
    repo.write("overlays/prod/extra.yaml", extra);
    let text = kustomization(NEW).replacen("resources: [", "resources: [extra.yaml, ", 1);
    assert!(text.contains("extra.yaml"), "{text}");
    repo.write("overlays/prod/kustomization.yaml", &text);
    repo.commit("more");
    let server = KubeApi::with(rolled_out(NEW));
    server.apply(json!({"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
        "metadata": {"name": "tls", "namespace": "shop"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]}}));
    let ran = verify(&repo, &server, &["overlays/prod"]);
    assert_eq!((ran.status, ids(&ran)), (0, vec![]), "{ran:?}");
    server.deny("list", "poddisruptionbudgets");
    server.deny("list", "certificates");
    let follow = ["overlays/prod", "--follow", "--dwell", "0s", "--timeout", "30s"];
    for args in [&["overlays/prod"][..], &follow] {
        let ran = verify(&repo, &server, args);
        assert_eq!((ran.status, &*ran.code()), (7, "not-verified"), "{ran:?}");
        assert_eq!(ids(&ran), ["unreadable", "unreadable"], "{ran:?}");
    }
}

#[test]
fn nothing_seen_is_no_success() {
    let repo = repo(NEW);
    let server = KubeApi::with(rolled_out(NEW));
    let follow = &["--follow", "--dwell", "0s", "--timeout", "10s"][..];
    for more in [&[][..], follow] {
        let ran = verify(&repo, &server, &[&["-n", "shp"], more].concat());
        assert_eq!((ran.status, &*ran.code()), (4, "no-such-namespace"), "{ran:?}");
        let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(message, "there is no namespace shp in the cluster");
    }
    // One that is there and empty.
    server.apply(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "empty"}}));
    let ran = verify(&repo, &server, &["-n", "empty"]);
    assert_eq!((ran.status, ids(&ran)), (0, vec!["nothing-compared".to_owned()]), "{ran:?}");
    // Where that cannot be asked, nobody can tell.
    server.deny("get", "namespaces");
    for more in [&[][..], follow] {
        let ran = verify(&repo, &server, &[&["-n", "shp"], more].concat());
        assert_eq!((ran.status, &*ran.code()), (7, "not-verified"), "{ran:?}");
        assert_eq!(ids(&ran), ["unreadable"], "{ran:?}");
        assert_eq!(verify(&repo, &server, &[&["-n", "shop"], more].concat()).status, 0);
    }
    // An overlay of which nothing is compared.
    repo.write("overlays/none/kustomization.yaml", "resources: [map.yaml]\n");
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    repo.write("overlays/none/map.yaml", map);
    repo.commit("none");
    let ran = verify(&repo, &server, &["overlays/none"]);
    assert_eq!((ran.status, ids(&ran)), (0, vec!["nothing-compared".to_owned()]), "{ran:?}");
}

#[test]
fn a_dump_of_nothing_is_refused() {
    let repo = repo(NEW);
    let list =
        |items: Vec<Value>| json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    repo.write("empty.json", &list(Vec::new()));
    repo.write("cluster.json", &list(rolled_out(NEW)));
    for more in [&[][..], &["--follow"]] {
        let run = |args: &[&str]| repo.overlay(&[&["verify", "-o", "json"], args, more].concat());
        for file in ["empty.json", "/dev/null"] {
            for what in ["overlays/prod", "--namespace=shop"] {
                let ran = run(&[what, "--from", file]);
                assert_eq!((ran.status, &*ran.code()), (3, "dump-invalid"), "{ran:?}");
                assert!(ran.stdout.contains("nothing in it that could be looked at"), "{ran:?}");
            }
        }
        let ran = run(&["-n", "shp", "--from", "cluster.json"]);
        assert_eq!((ran.status, &*ran.code()), (4, "no-such-namespace"), "{ran:?}");
        let ran = run(&["-n", "shop", "--from", "cluster.json", "--from", "/dev/null"]);
        assert_eq!(ran.status, 0, "{ran:?}");
    }
}

#[test]
fn a_server_that_hangs_is_waited_for_as_long_as_is_allowed() {
    let repo = repo(NEW);
    let server = KubeApi::with(rolled_out(NEW));
    server.hang("pods");
    let began = std::time::Instant::now();
    let ran = verify(&repo, &server, &["overlays/prod", "--timeout", "3s"]);
    assert!(began.elapsed() < std::time::Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!((ran.status, &*ran.code()), (5, "cluster-unreachable"), "{ran:?}");
    let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!(message, "the cluster does not answer within 3s");
}

#[test]
fn an_application_has_to_be_synced_at_the_commit() {
    let repo = repo(NEW);
    repo.git(&["remote", "add", "origin", "https://git.example/shop/deploy.git"]);
    let first = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    repo.write("README.md", "later\n");
    repo.commit("later");
    let server = KubeApi::with(rolled_out(NEW));
    let of = |args: &[&str]| {
        let ran = verify(&repo, &server, args);
        (ran.status, ids(&ran).join(" "))
    };
    let asked = ["overlays/prod", "--commit", "HEAD"];
    assert_eq!(of(&asked), (7, "application-other-commit".into()));
    let application = |status: &str, revision: &str| {
        json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
            "metadata": {"name": "shop", "namespace": "argocd"},
            "spec": {"source": {"repoURL": "git@git.example:shop/deploy.git",
                "path": "overlays/prod"}},
            "status": {"sync": {"status": status, "revision": revision},
                "health": {"status": "Healthy"}}})
    };
    server.apply(application("Synced", &first));
    assert_eq!(of(&asked), (7, "application-other-commit".into()));
    assert_eq!(of(&["overlays/prod", "--commit", "HEAD~1"]), (0, String::new()));
    let later = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    server.apply(application("Synced", &later));
    assert_eq!(of(&asked), (0, String::new()));
    assert_eq!(of(&["overlays/prod", "--commit", "HEAD~1"]), (0, String::new()));
    server.apply(application("OutOfSync", &later));
    assert_eq!(of(&asked), (7, "application-not-synced".into()));
}

#[test]
fn a_dump_stands_in_for_a_cluster() {
    let repo = repo(NEW);
    let dump = json!({"apiVersion": "v1", "kind": "List", "items": rolled_out(NEW)});
    repo.write("cluster.json", &dump.to_string());
    let args = ["verify", "overlays/prod", "--from", "cluster.json", "-o", "json"];
    let ran = repo.overlay(&args);
    assert_eq!((ran.status, ids(&ran)), (0, vec![]), "{ran:?}");
    let ran =
        repo.overlay(&["verify", "overlays/prod", "--from", "cluster.json", "-o", "markdown"]);
    assert!(ran.stdout.contains("| Deployment/web | shop | 2/2 |"), "{ran:?}");
    repo.write("cluster.json", "NAME READY\n");
    let ran = repo.overlay(&args);
    assert_eq!((ran.status, &*ran.code()), (3, "dump-invalid"), "{ran:?}");
    let ran = repo.overlay(&["verify", "overlays/prod", "-o", "json"]);
    assert_eq!((ran.status, &*ran.code()), (4, "cluster-unconfigured"), "{ran:?}");
}

#[test]
fn it_is_not_looked_at_from_inside() {
    let repo = repo(NEW);
    let server = KubeApi::with(rolled_out(NEW));
    let port = server.url().rsplit(':').next().unwrap().to_owned();
    let inside = |port: &str, args: &[&str]| {
        let mut command = command(&repo, &server, args);
        // What every pod is told of the API server of its cluster.
        command.env("KUBERNETES_SERVICE_HOST", "127.0.0.1").env("KUBERNETES_SERVICE_PORT", port);
        ended(command.spawn().unwrap())
    };
    let ran = inside(&port, &["overlays/prod"]);
    assert_eq!((ran.status, &*ran.code()), (3, "inside-cluster"), "{ran:?}");
    assert!(server.asked().is_empty());
    let ran = inside(&port, &["overlays/prod", "--follow", "--dwell", "0s"]);
    assert_eq!((ran.status, &*ran.code()), (3, "inside-cluster"), "{ran:?}");
    assert_eq!(inside(&port, &["overlays/prod", "--from-inside"]).status, 0);
    // A pod of another cluster, and a dump.
    assert_eq!(inside("1", &["overlays/prod"]).status, 0);
    let dump = json!({"apiVersion": "v1", "kind": "List", "items": rolled_out(NEW)});
    repo.write("cluster.json", &dump.to_string());
    assert_eq!(inside(&port, &["overlays/prod", "--from", "cluster.json"]).status, 0);
}
