//! The base says "take one pod away, then start its replacement", which is right for its two
//! replicas: a roll never doubles the pools of the database. The entry instance runs one replica
//! and inherits the strategy; there it means "take the only pod away", and an upgrade answered 503
//! for a quarter of an hour. The entry overlay then states the strategy itself. Its first
//! version did not roll either: the surge pod had nowhere to go on two full nodes.

use super::{found, objects, service};
use crate::support::repo::TestRepo;

const STRATEGY: &str = "  replicas: 2
  strategy:
    rollingUpdate:
      maxSurge: 0
      maxUnavailable: 1
";

const ENTRY: &str = "resources:
- ../../base
replicas:
- name: bff
  count: 1
- name: identity
  count: 1
";

const FIX: &str = "patches:
- target:
    kind: Deployment
  patch: |-
    - op: replace
      path: /spec/strategy/rollingUpdate
      value:
        maxSurge: 1
        maxUnavailable: 0
";

fn instance() -> TestRepo {
    let services = service("bff", STRATEGY) + &service("identity", STRATEGY);
    TestRepo::with_files(&[
        ("base/kustomization.yaml", "resources:\n- services.yaml\n"),
        ("base/services.yaml", &services),
        ("overlays/cloud/kustomization.yaml", "resources:\n- ../../base\n"),
        ("overlays/entry/kustomization.yaml", ENTRY),
    ])
}

#[test]
fn one_strategy_is_right_for_two_replicas_and_an_outage_for_one() {
    let repo = instance();
    assert!(found(&repo, "rollout-zero-ready", &["overlays/cloud"]).is_empty());

    let outage = found(&repo, "rollout-zero-ready", &["overlays/entry"]);
    assert_eq!(outage.len(), 2);
    let (object, finding) = &outage[0];
    assert_eq!(object, "Deployment/bff");
    assert_eq!(finding["severity"], "error");
    assert!(finding["message"].as_str().unwrap().contains("zero ready pods"), "{finding}");
    assert_eq!(finding["location"]["file"], "base/services.yaml");
    assert_eq!(finding["fix"], "overlay set strategy overlays/entry bff --zero-outage");
}

#[test]
fn the_overlay_that_states_the_strategy_itself_is_right_at_one() {
    let repo = instance();
    repo.write("overlays/entry/kustomization.yaml", &format!("{ENTRY}{FIX}"));
    assert!(found(&repo, "rollout-zero-ready", &["overlays/entry"]).is_empty());
}

#[test]
fn a_surge_pod_needs_a_place() {
    let repo = instance();
    let requests = "  - target:
      kind: Deployment
    patch: |-
      - op: add
        path: /spec/template/spec/containers/0/resources
        value: {requests: {cpu: 1800m}}
"
    .replace("\n  ", "\n");
    let requests = requests.strip_prefix("  ").unwrap();
    repo.write("overlays/entry/kustomization.yaml", &format!("{ENTRY}{FIX}{requests}"));
    let nodes = |size: &str| {
        let args = ["overlays/entry", "--nodes", "2", "--node-size", size];
        objects(&repo, "surge-cannot-fit", &args)
    };
    assert_eq!(nodes("cpu=1900m"), ["Deployment/bff", "Deployment/identity"]);
    assert!(nodes("cpu=3800m").is_empty());
}
