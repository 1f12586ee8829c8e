//! Every service of a mesh has a budget that keeps one pod. The instance runs one replica of each, to
//! save money; nobody sees that no node can be drained any more until the next node upgrade hangs in
//! a maintenance window. Two replicas on the nodes that are paid for already, and every budget
//! allows one.

use super::{found, objects, service};
use crate::support::repo::TestRepo;

const NAMES: [&str; 3] = ["agent", "bff", "identity"];

fn mesh() -> TestRepo {
    let budget = |name: &str| {
        format!(
            "apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {name}
spec:
  minAvailable: 1
  selector:
    matchLabels: {{app: {name}}}
---
"
        )
    };
    let services: String = NAMES.iter().map(|name| service(name, "  replicas: 2\n")).collect();
    let budgets: String = NAMES.iter().map(|name| budget(name)).collect();
    TestRepo::with_files(&[
        ("base/kustomization.yaml", "resources:\n- services.yaml\n- budgets.yaml\n"),
        ("base/services.yaml", &services),
        ("base/budgets.yaml", &budgets),
        ("overlays/entry/kustomization.yaml", &overlay(2)),
    ])
}

fn overlay(replicas: u32) -> String {
    let entries = NAMES.map(|name| format!("- name: {name}\n  count: {replicas}\n")).concat();
    format!("resources:\n- ../../base\nreplicas:\n{entries}")
}

#[test]
fn at_one_replica_no_node_can_be_drained_and_at_two_every_budget_allows_one() {
    let repo = mesh();
    assert!(found(&repo, "pdb-blocks-drain", &["overlays/entry"]).is_empty());

    repo.write("overlays/entry/kustomization.yaml", &overlay(1));
    let hanging = found(&repo, "pdb-blocks-drain", &["overlays/entry"]);
    assert_eq!(hanging.len(), 3);
    for (object, finding) in &hanging {
        let name = object.strip_prefix("PodDisruptionBudget/").unwrap();
        assert_eq!(finding["severity"], "error");
        assert!(finding["message"].as_str().unwrap().contains("allows 0 of 1 pod"), "{finding}");
        assert_eq!(finding["location"]["file"], "base/budgets.yaml");
        let mend = format!("overlay set replicas overlays/entry {name}=2");
        assert_eq!(finding["fix"], mend.as_str());
    }
    let run = repo.overlay(&["check", "overlays/entry"]);
    assert_eq!(run.status, 7, "{run:?}");
}

#[test]
fn the_change_that_brings_it_is_told_and_so_is_the_one_that_takes_it_away() {
    let repo = mesh();
    let new = |revision: &str| {
        let args = ["overlays/entry", "--new-since", revision];
        objects(&repo, "pdb-blocks-drain", &args)
    };
    assert!(new("HEAD").is_empty());

    repo.write("overlays/entry/kustomization.yaml", &overlay(1));
    assert_eq!(new("HEAD").len(), 3);
    repo.commit("save money");
    assert!(new("HEAD").is_empty(), "what was there before is no news");

    repo.write("overlays/entry/kustomization.yaml", &overlay(2));
    let run = repo.overlay(&["check", "overlays/entry", "--new-since", "HEAD", "-o", "json"]);
    assert_eq!(run.status, 0, "{run:?}");
    let removed = run.json()["result"]["overlays"][0]["removed"].clone();
    let gone = removed.as_array().unwrap().iter().filter(|f| f["id"] == "pdb-blocks-drain");
    assert_eq!(gone.count(), 3);
}

#[test]
fn every_budget_is_listed_with_what_it_allows() {
    let repo = mesh();
    repo.write("overlays/entry/kustomization.yaml", &overlay(2));
    let run = repo.overlay(&["check", "overlays/entry", "--namespace", "-o", "json"]);
    let budgets = run.json()["result"]["budgets"].as_array().unwrap().clone();
    let line = |budget: &serde_json::Value| {
        (budget["name"].as_str().unwrap().to_owned(), budget["allowed"].as_i64().unwrap())
    };
    let lines: Vec<(String, i64)> = budgets.iter().map(line).collect();
    assert_eq!(lines, NAMES.map(|name| (name.to_owned(), 1)));
}
