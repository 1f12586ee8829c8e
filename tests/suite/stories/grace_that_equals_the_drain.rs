//! A control plane waits for its sessions for up to a quarter of an hour when it is told to end; the
//! grace period is exactly as long, and nothing is left for the shutdown behind the drain. Somebody
//! shortens the grace alone, and queries are cut in the next roll.

use super::found;
use crate::support::repo::TestRepo;

fn control_plane(grace: u32, drain: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: control-plane
spec:
  replicas: 1
  strategy:
    rollingUpdate:
      maxSurge: 1
      maxUnavailable: 0
  selector:
    matchLabels: {{app: control-plane}}
  template:
    metadata:
      labels: {{app: control-plane}}
    spec:
      terminationGracePeriodSeconds: {grace}
      containers:
      - name: control-plane
        image: registry.test/control-plane:1.0
        args:
        - \"--handover-drain-timeout\"
        - \"{drain}\"
        lifecycle:
          preStop:
            exec:
              command: [sh, -c, \"sleep 5\"]
"
    )
}

fn repo(grace: u32, drain: &str) -> TestRepo {
    TestRepo::with_files(&[
        ("overlay/kustomization.yaml", "resources:\n- control-plane.yaml\n"),
        ("overlay/control-plane.yaml", &control_plane(grace, drain)),
    ])
}

#[test]
fn the_hook_counts_and_equal_is_too_little() {
    let equal = repo(905, "15m");
    let findings = found(&equal, "grace-equals-drain", &["overlay"]);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].1["severity"], "warning");
    let message = findings[0].1["message"].as_str().unwrap();
    assert!(message.contains("905s") && message.contains("preStop 5s"), "{message}");
    assert_eq!(findings[0].1["location"]["line"], 17);
    assert!(found(&equal, "grace-below-drain", &["overlay"]).is_empty());
}

#[test]
fn one_half_of_a_pair_alone_is_an_error() {
    for (grace, drain) in [(600, "15m"), (900, "15m"), (930, "30m")] {
        let findings = found(&repo(grace, drain), "grace-below-drain", &["overlay"]);
        assert_eq!(findings.len(), 1, "{grace} {drain}");
        assert_eq!(findings[0].1["severity"], "error");
    }
    let both = repo(1835, "30m");
    for id in ["grace-below-drain", "grace-equals-drain"] {
        assert!(found(&both, id, &["overlay"]).is_empty(), "{id}");
    }
}

#[test]
fn a_node_drain_that_gives_up_earlier_is_told_with_both_numbers() {
    let repo = repo(935, "15m");
    let judged = |limit: &str| {
        let findings = found(&repo, "grace-above-node-drain", &["overlay", "--node-drain", limit]);
        findings
            .into_iter()
            .map(|(_, f)| (f["severity"].clone(), f["message"].clone()))
            .collect::<Vec<_>>()
    };
    let short = judged("420s");
    assert_eq!(short[0].0, "error");
    let message = short[0].1.as_str().unwrap();
    assert!(message.contains("935s") && message.contains("420s"), "{message}");
    assert_eq!(judged("935s")[0].0, "warning");
    assert!(judged("20m").is_empty());
}

#[test]
fn a_hook_that_may_wait_for_the_drain_is_told() {
    let hook = "preStop:\n            httpGet: {path: /drain, port: 8080}\n";
    let with_hook = |grace| {
        let text = control_plane(grace, "15m");
        let at = text.find("preStop:").unwrap();
        TestRepo::with_files(&[
            ("overlay/kustomization.yaml", "resources:\n- control-plane.yaml\n"),
            ("overlay/control-plane.yaml", &format!("{}{hook}", &text[..at])),
        ])
    };
    let findings = found(&with_hook(935), "grace-below-drain", &["overlay"]);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].1["severity"], "warning");
    let message = findings[0].1["message"].as_str().unwrap();
    assert!(message.contains("a preStop hook of unknown length"), "{message}");
    assert!(found(&with_hook(1800), "grace-below-drain", &["overlay"]).is_empty());
}
