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
    let args = ["capacity", "o", "-o", "json", "--node", "memory=1600Mi,cpu=1"];
    let ran = repo(POD).overlay(&args);
    assert_eq!((ran.status, ran.code().as_str()), (7, "capacity-none"), "{ran:?}");
    let count = &ran.json()["result"]["nodes"][0]["count"];
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

/// A kind of node that will do makes an answer, whatever other kinds are named.
#[test]
fn one_kind_that_will_do_is_an_answer() {
    let result =
        result(&repo(POD), &["--node", "memory=1600Mi,cpu=1", "--node", "memory=8Gi,cpu=4"]);
    assert_eq!(result["nodes"][0]["count"]["nodes"], Value::Null);
    assert!(result["nodes"][1]["count"]["nodes"].is_number());
}

/// Nodes that none of the pods may be on hold nothing of it; beside another kind that does they are no answer, and no harm.
#[test]
fn a_kind_of_node_that_no_pod_may_be_on_is_no_answer() {
    let repo = repo(&deployment("web", "      containers: [{name: c, image: i}]"));
    let run = |kinds: &[&str]| {
        let kinds: Vec<&str> = kinds.iter().flat_map(|kind| ["--node", *kind]).collect();
        repo.overlay(&[&["capacity", "o", "-o", "json"], &kinds[..]].concat())
    };
    let tainted = "memory=16GiB,cpu=4,taints=gpu:NoSchedule";
    let ran = run(&[tainted]);
    assert_eq!((ran.status, ran.code().as_str()), (7, "capacity-none"), "{ran:?}");
    assert!(ran.stdout.contains("none of the pods may be on nodes of this kind"), "{ran:?}");
    assert_eq!(run(&[tainted, "memory=16GiB,cpu=4"]).status, 0);
    assert_eq!(run(&["memory=16GiB,cpu=4,taints=gpu:PreferNoSchedule"]).status, 0);
}

/// A Deployment of three pods with these fields in their specification.
fn deployment(name: &str, fields: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: {name}}}}}
  strategy: {{type: Recreate}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
{fields}
---
"
    )
}

fn notes(result: &Value) -> String {
    result["notes"].to_string()
}

/// Three pods with one host port need three nodes, and a fourth when one is lost; of another protocol they share them.
#[test]
fn host_ports_keep_pods_apart() {
    let port = |protocol: &str| {
        format!(
            "      containers: [{{name: c, image: i, resources: {{requests: {{cpu: 10m, memory: 10Mi}}}}, ports: [{{containerPort: 80, hostPort: 80, protocol: {protocol}}}]}}]"
        )
    };
    let node = ["--node", "memory=64Gi,cpu=32", "--floor", "1"];
    for (second, alone) in [("UDP", 3), ("TCP", 6)] {
        let all = deployment("a", &port("TCP")) + &deployment("b", &port(second));
        let count = result(&repo(&all), &node)["nodes"][0]["count"].clone();
        assert_eq!(
            (&count["forPods"], &count["nodes"]),
            (&json!(alone), &json!(alone + 1)),
            "{count}"
        );
    }
    let daemon = deployment("a", &port("TCP")).replace("kind: Deployment", "kind: DaemonSet");
    let both = daemon + &deployment("b", &port("TCP"));
    assert!(notes(&result(&repo(&both), &node)).contains("host port 80 is that of DaemonSet/a"));
}

#[test]
fn what_is_not_reckoned_is_told() {
    let node = ["--node", "memory=64Gi,cpu=32"];
    let gpu = "      containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1, cpu: 1, memory: 1Gi, ephemeral-storage: 1Gi}}}]";
    let told = notes(&result(&repo(&deployment("ml", gpu)), &node));
    assert!(told.contains("Deployment/ml: its pods ask for nvidia.com/gpu, which"), "{told}");
    let zones = "      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: z}}}]}}
      containers: [{name: c, image: i, resources: {requests: {cpu: 1, memory: 1Gi}}}]";
    let zones = repo(&deployment("z", zones));
    let told = notes(&result(&zones, &node));
    assert!(told.contains("keep apart by topology.kubernetes.io/zone is not reckoned"), "{told}");
    // Nodes that are told to be in one zone hold one of them at most, and so no number of them all.
    let node = "memory=64Gi,cpu=32,labels=topology.kubernetes.io/zone:az-1";
    let ran = zones.overlay(&["capacity", "o", "-o", "json", "--node", node]);
    assert_eq!((ran.status, ran.code().as_str()), (7, "capacity-none"), "{ran:?}");
    let one = ran.json()["result"].clone();
    assert_eq!(one["nodes"][0]["elsewhere"][0]["resource"]["name"], "z", "{one}");
    assert!(!notes(&one).contains("not reckoned"), "{one}");
}

/// Without `replicas` and with an autoscaler of at least 7 there are 7; at 0 an autoscaler is off; more than its most is no
/// matter of its.
#[test]
fn an_autoscaler_makes_at_least_its_least() {
    let pods = "      containers: [{name: c, image: i, resources: {requests: {cpu: 100m, memory: 100Mi}}}]";
    let scaler = "apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {minReplicas: 7, maxReplicas: 20, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
";
    let all = deployment("web", pods) + scaler;
    for (replicas, pods, tells) in
        [("", 7, true), ("  replicas: 9\n", 9, true), ("  replicas: 0\n", 0, false)]
    {
        let all = all.replace("  replicas: 3\n", replicas);
        let result = result(&repo(&all), &["--node", "memory=64Gi,cpu=32"]);
        assert_eq!(result["demand"]["pods"], pods, "{replicas}");
        let wanted = "HorizontalPodAutoscaler/web may ask for up to 20";
        assert_eq!(notes(&result).contains(wanted), tells, "{result}");
    }
}

/// A request that cannot be read is not a request of nothing.
#[test]
fn a_request_that_is_no_quantity_is_refused() {
    for (bad, field) in [("lots", "cpu"), ("-1", "memory"), ("1Gib", "memory"), ("1 Gi", "memory")]
    {
        let fields = format!(
            "      containers: [{{name: c, image: i, resources: {{requests: {{{field}: '{bad}'}}}}}}]"
        );
        let ran = repo(&deployment("web", &fields)).overlay(&[
            "capacity",
            "o",
            "--node",
            "memory=16Gi,cpu=4",
            "-o",
            "json",
        ]);
        assert_eq!((ran.status, ran.code().as_str()), (3, "quantity-invalid"), "{ran:?}");
        let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
        let wanted =
            format!("Deployment/web: resources.requests.{field} of container c is `{bad}`");
        assert!(message.starts_with(&wanted), "{message}");
    }
}

/// Sixteen bytes of memory are sixteen GiB without their unit.
#[test]
fn a_forgotten_unit_is_asked_about() {
    let repo = repo(POD);
    for (option, value, meant) in [
        ("--node", "memory=16,cpu=4", "16GiB"),
        ("--daemons", "memory=340", "340MiB"),
        ("--quota", "memory=64", "64GiB"),
    ] {
        let node = ["--node", "memory=16Gi,cpu=4"];
        let node = if option == "--node" { &[][..] } else { &node[..] };
        let ran = repo.overlay(&[&["capacity", "o", option, value], node].concat());
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.stderr.contains(&format!("did you mean {meant}?")), "{ran:?}");
    }
}

/// Of several overlays a note tells whose it is.
#[test]
fn notes_of_several_overlays_name_theirs() {
    let none = "      containers: [{name: c, image: i}]";
    let repo = repo(&deployment("a", none));
    repo.write("p/kustomization.yaml", KUSTOMIZATION);
    repo.write("p/all.yaml", &deployment("b", none));
    let told = |args: &[&str]| {
        let fixed = ["capacity", "-o", "json", "--node", "memory=16Gi,cpu=4"];
        let ran = repo.overlay(&[&fixed[..], args].concat());
        ran.json()["result"]["notes"].clone()
    };
    let lacks = "its pods ask for neither cpu nor memory";
    assert_eq!(told(&["o"]), json!([format!("Deployment/a: {lacks}")]));
    let both = json!([format!("o: Deployment/a: {lacks}"), format!("p: Deployment/b: {lacks}")]);
    assert_eq!(told(&["o", "p"]), both);
}

/// A form that a command does not have is refused with those that it has.
#[test]
fn forms_that_there_are_are_named() {
    let ran = repo(POD).overlay(&["capacity", "o", "--node", "memory=16Gi,cpu=4", "-o", "sarif"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("it has -o human, -o json, -o html"), "{ran:?}");
}

/// A dump that is no text is refused like any other broken one.
#[test]
fn a_dump_that_is_no_text_is_a_broken_one() {
    let repo = repo(POD);
    for bytes in [&b"\xff\xfe"[..], b"{", b""] {
        std::fs::write(repo.path().join("dump.json"), bytes).unwrap();
        for command in [&["capacity"][..], &["drain-plan", "--nodes", "a"]] {
            let ran = repo.overlay(&[command, &["--from", "dump.json", "-o", "json"]].concat());
            assert_eq!((ran.status, ran.code().as_str()), (3, "dump-invalid"), "{ran:?}");
        }
    }
}
