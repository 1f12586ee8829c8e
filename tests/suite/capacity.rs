//! `overlay capacity`: what pods ask for by the scheduler's rule, and how many nodes hold them. Expected numbers are
//! reckoned by hand from the rule in each test's comment.

use serde_json::{Value, json};

use crate::support::repo::TestRepo;

const KUSTOMIZATION: &str = "resources: [all.yaml]\n";

fn repo(all: &str) -> TestRepo {
    TestRepo::with_files(&[("o/kustomization.yaml", KUSTOMIZATION), ("o/all.yaml", all)])
}

fn result(repo: &TestRepo, args: &[&str]) -> Value {
    let ran = repo.overlay(&[&["capacity", "o", "-o", "json"], args].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    ran.json()["result"].clone()
}

/// containers 100m/100Mi + 200m/(limit 50Mi) and a sidecar 50m/64Mi = 350m/214Mi; the init container 500m/100Mi runs
/// beside the sidecar: 550m/164Mi; the greater of each, and 10m/10Mi overhead: 560m, 224Mi.
const POD: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: web}}
    spec:
      overhead: {cpu: 10m, memory: 10Mi}
      initContainers:
        - {name: side, image: a, restartPolicy: Always, resources: {requests: {cpu: 50m, memory: 64Mi}}}
        - {name: init, image: a, resources: {requests: {cpu: 500m, memory: 100Mi}}}
      containers:
        - {name: web, image: a, resources: {requests: {cpu: 100m, memory: 100Mi}}}
        - {name: two, image: a, resources: {requests: {cpu: 200m}, limits: {cpu: 900m, memory: 50Mi}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: agent, image: a, resources: {requests: {cpu: 100m, memory: 128Mi}}}]
---
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata: {name: db}
spec:
  instances: 2
  resources: {requests: {cpu: 500m, memory: 1Gi}}
  affinity: {podAntiAffinityType: required}
";

#[test]
fn requests_are_those_of_the_scheduler() {
    let result = result(&repo(POD), &["--node", "memory=8Gi,cpu=4"]);
    let sets = result["demand"]["workloads"].as_array().unwrap();
    let find = |name: &str| sets.iter().find(|set| set["resource"]["name"] == name).unwrap();
    let asked = |name: &str| (&find(name)["cpuMillicores"], &find(name)["memoryMiB"]);
    assert_eq!(asked("web"), (&json!(560), &json!(224.0)));
    assert_eq!(asked("db"), (&json!(500), &json!(1024.0)));
    assert_eq!((&find("web")["pods"], &find("web")["surge"]), (&json!(2), &json!(1)));
    assert_eq!(find("agent")["pods"], "every node");
    // 2 × 560m + 2 × 500m; 2 × 224 + 2 × 1024 MiB: the daemon is each node's.
    assert_eq!(result["demand"]["cpuMillicores"], 2120);
    assert_eq!(result["demand"]["memoryMiB"], 2496.0);
    let daemons = &result["nodes"][0]["perNode"]["daemons"];
    assert_eq!((&daemons["cpuMillicores"], &daemons["memoryMiB"]), (&json!(100), &json!(128.0)));
}

/// Two pods that must be apart by host need two nodes; when one of them is lost, its pod needs a third.
#[test]
fn what_must_be_apart_survives_the_loss_of_a_node() {
    let result = result(&repo(POD), &["--node", "memory=64Gi,cpu=32", "--floor", "1"]);
    let count = &result["nodes"][0]["count"];
    assert_eq!((&count["forPods"], &count["nodes"]), (&json!(2), &json!(3)), "{count}");
    assert_eq!(count["because"], "loss-of-a-node");
}

/// Two measured kinds of node: 3.82 → 2.77 → 2.44 GiB, 63.7 %; 15.62 → 12.96 → 12.62 GiB, 80.8 %.
#[test]
fn measured_nodes_are_reproduced() {
    let args = [
        "--node",
        "memory=3.82GiB,cpu=2",
        "--node",
        "memory=15.62GiB,cpu=4,purchased=16GiB,price=50",
    ];
    let result = result(
        &repo("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"),
        &[&args[..], &["--daemons", "memory=340MiB"]].concat(),
    );
    for (at, allocatable, usable, percent) in [(0, 2.77, 2.44, 63.7), (1, 12.96, 12.62, 80.8)] {
        let node = &result["nodes"][at]["perNode"];
        let gib = |what: &str| node[what]["memoryMiB"].as_f64().unwrap() / 1024.0;
        assert!((gib("allocatable") - allocatable).abs() < 0.01, "{node}");
        assert!((gib("usable") - usable).abs() < 0.01, "{node}");
        assert!((node["usablePercent"].as_f64().unwrap() - percent).abs() <= 0.1001, "{node}");
    }
    assert_eq!(result["nodes"][1]["cost"], 150.0);
    assert_eq!(result["nodes"][0]["count"]["because"], "floor");
}

/// Bought 16 GiB, of which the kubelet sees 15.62: people are told both.
#[test]
fn what_is_bought_is_told_beside_what_is_seen() {
    let all = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
    let node = "memory=15.62GiB,cpu=4,purchased=16GiB,name=large";
    let ran = repo(all).overlay(&["capacity", "o", "--node", node]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let line = "  each: bought 16.00 GiB, seen 4000m cpu and 15.62 GiB, allocatable ";
    assert!(ran.stdout.contains(line), "{ran:?}");
    let per_node = &result(&repo(all), &["--node", node])["nodes"][0]["perNode"];
    assert_eq!(per_node["purchasedMiB"], 16384.0);
}

/// Ten cores granted and six used leave one node of four cores; twelve ports leave twelve of them.
#[test]
fn quotas_tell_how_many_nodes_still_come() {
    let all = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
    let quotas = ["--quota", "cores=10,used=6", "--quota", "ports=12"];
    let args = [&["--node", "memory=8GiB,cpu=4"][..], &quotas].concat();
    let told = &result(&repo(all), &args)["nodes"][0]["quotas"];
    let expected = json!([{"name": "cores", "moreNodes": 1}, {"name": "ports", "moreNodes": 12}]);
    assert_eq!(*told, expected);
    let ran = repo(all).overlay(&[&["capacity", "o"][..], &args].concat());
    assert!(ran.stdout.contains("quota cores: 1 more of these fit"), "{ran:?}");
}

/// 1600 MiB − 400 (a quarter) − 100 − 128 of the daemon leave 972 MiB; the database asks for 1024.
#[test]
fn a_pod_that_fits_nowhere_is_named() {
    let result = result(&repo(POD), &["--node", "memory=1600Mi,cpu=1"]);
    let count = &result["nodes"][0]["count"];
    assert_eq!(count["nodes"], Value::Null);
    assert!(count["reason"].as_str().unwrap().contains("Cluster/db"), "{count}");
}

#[test]
fn malformed_kinds_of_node_are_usage_errors_and_too_many_pods_a_refusal() {
    let repo = repo(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2000000000, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}\n",
    );
    for node in ["memory=16Gi", "memory=x,cpu=4", "cpu=4,memory=1Gi,disk=4"] {
        let ran = repo.overlay(&["capacity", "o", "--node", node, "-o", "json"]);
        assert_eq!((ran.status, ran.code().as_str()), (2, "usage"), "{ran:?}");
    }
    let ran = repo.overlay(&["capacity", "o", "--node", "memory=16Gi,cpu=4", "-o", "json"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(ran.stdout.contains("more than 20000 pods"), "{ran:?}");
}
