//! A platform on nodes of 4 GiB moves to nodes of 16 GiB. What its operators measured, from the dump of its cluster: a small
//! node keeps over a third of its memory for itself, and what a large one leaves is a fifth. The total of requests is taken
//! with their own `jq` expression, and the number of nodes by the rule of their runbook.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::repo::TestRepo;

const DUMP: &str = "fixtures/drain/node-flavour.json";

fn platform() -> TestRepo {
    TestRepo::with_files(&[("now.json", &std::fs::read_to_string(DUMP).unwrap())])
}

fn capacity(args: &[&str]) -> Value {
    let ran =
        platform().overlay(&[&["capacity", "--from", "now.json", "-o", "json"], args].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    ran.json()["result"].clone()
}

/// Measured: 3.82 GiB seen, 2.77 allocatable, 2.44 usable, 63.7 %; 15.62, 12.96, 12.62, 80.8 %.
#[test]
fn both_measured_kinds_of_node_are_what_the_dump_says() {
    let live = &capacity(&[])["live"];
    let kinds = [
        ("small", 6, [3.82, 2.77, 2.44], 63.7),
        ("a4-ram16-disk50-perf1", 3, [15.62, 12.96, 12.62], 80.8),
    ];
    for (kind, count, measured, percent) in kinds {
        let nodes = live["nodes"].as_array().unwrap().iter();
        let nodes: Vec<&Value> = nodes.filter(|node| node["instanceType"] == kind).collect();
        assert_eq!(nodes.len(), count);
        for node in nodes {
            for (what, gib) in ["seen", "allocatable", "usable"].iter().zip(measured) {
                let found = node[what]["memoryMiB"].as_f64().unwrap() / 1024.0;
                assert!((found - gib).abs() < 0.01, "{kind} {what}: {found}");
            }
            let found = node["usablePercent"].as_f64().unwrap();
            assert!((found - percent).abs() <= 0.1001, "{kind}: {found}");
        }
    }
}

/// The formula gives what was measured: by the kind alone, with the daemons that the dump has.
#[test]
fn the_formula_gives_what_was_measured() {
    let args = ["--node", "memory=3.82GiB,cpu=2", "--node", "memory=15.62GiB,cpu=4"];
    let result = capacity(&args);
    for (at, allocatable, usable, percent) in [(0, 2.77, 2.44, 63.7), (1, 12.96, 12.62, 80.8)] {
        let node = &result["nodes"][at]["perNode"];
        assert_eq!(node["daemons"]["memoryMiB"], 340.0);
        let gib = |what: &str| node[what]["memoryMiB"].as_f64().unwrap() / 1024.0;
        assert!((gib("allocatable") - allocatable).abs() < 0.01, "{node}");
        assert!((gib("usable") - usable).abs() < 0.01, "{node}");
        assert!((node["usablePercent"].as_f64().unwrap() - percent).abs() <= 0.1001, "{node}");
    }
}

/// The expression of the runbook, run by jq, and `nodes = max(⌈requests ÷ usable⌉, 3)`.
#[test]
fn requests_and_nodes_are_those_of_the_runbook() {
    let expression = r#"[.items[] | select(.kind=="Pod") |
 select(.status.phase=="Running" or .status.phase=="Pending") |
 ([.spec.containers[].resources.requests.memory // "0"] |
  map(if test("Mi$") then (.[:-2]|tonumber)
      elif test("Gi$") then (.[:-2]|tonumber*1024)
      elif test("Ki$") then (.[:-2]|tonumber/1024) else 0 end) | add)]
| add"#;
    let output =
        Command::new("jq").args([expression, DUMP]).stderr(Stdio::inherit()).output().unwrap();
    let asked: f64 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    let result = capacity(&["--node", "memory=3.82GiB,cpu=2", "--node", "memory=15.62GiB,cpu=4"]);
    let used: f64 = result["live"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["used"]["memoryMiB"].as_f64().unwrap())
        .sum();
    assert!((used - asked).abs() < 0.5, "{used} {asked}");
    // Daemons are on nine nodes; what is packed is the rest.
    let packed = result["demand"]["memoryMiB"].as_f64().unwrap();
    assert!((packed - (asked - 9.0 * 340.0)).abs() < 0.5, "{packed} {asked}");
    let count = |at: usize| &result["nodes"][at]["count"];
    let by_rule = |usable: f64| (packed / (usable * 1024.0)).ceil().max(3.0) as u64;
    assert!(count(0)["forPods"].as_u64().unwrap() >= (packed / (2.44 * 1024.0)).ceil() as u64);
    assert_eq!((count(1)["nodes"].as_u64().unwrap(), by_rule(12.62)), (3, 3));
    assert_eq!(count(1)["because"], "floor");
}

/// Nodes with nothing free cannot lose one of them: everything that would have to move finds no place. Three large ones can.
#[test]
fn full_nodes_cannot_lose_one_and_the_large_ones_can() {
    assert_eq!(capacity(&[])["live"]["survivesLossOfNode"], true);
    let mut dump: Value = serde_json::from_str(&std::fs::read_to_string(DUMP).unwrap()).unwrap();
    let is_large =
        |text: &Value| text.as_str().is_some_and(|name| name.starts_with("gentian-large"));
    let items = dump["items"].as_array_mut().unwrap();
    items.retain(|item| {
        !is_large(&item["metadata"]["name"]) && !is_large(&item["spec"]["nodeName"])
    });
    let live = capacity(&[])["live"].clone();
    let used = |name: &Value| {
        let nodes = live["nodes"].as_array().unwrap();
        let node = nodes.iter().find(|node| node["name"] == *name).unwrap();
        (node["used"]["memoryMiB"].as_f64().unwrap(), node["used"]["cpuMillicores"].clone())
    };
    let mut moving = std::collections::BTreeMap::new();
    for pod in
        items.iter().filter(|item| item["kind"] == "Pod" && item["status"]["phase"] == "Running")
    {
        if pod["metadata"]["ownerReferences"][0]["kind"] != "DaemonSet" {
            *moving.entry(pod["spec"]["nodeName"].as_str().unwrap().to_owned()).or_insert(0) += 1;
        }
    }
    for node in items.iter_mut().filter(|item| item["kind"] == "Node") {
        let (memory, cpu) = used(&node["metadata"]["name"]);
        node["status"]["allocatable"]["memory"] = format!("{memory}Mi").into();
        node["status"]["allocatable"]["cpu"] = format!("{cpu}m").into();
    }
    let repo = TestRepo::with_files(&[("now.json", &dump.to_string())]);
    let ran = repo.overlay(&["capacity", "--from", "now.json", "-o", "json"]);
    let live = &ran.json()["result"]["live"];
    assert_eq!(live["survivesLossOfNode"], false);
    for node in live["nodes"].as_array().unwrap() {
        let homeless = node["homelessIfLost"].as_array().unwrap().len();
        assert_eq!(homeless, moving[node["name"].as_str().unwrap()], "{node}");
    }
}

/// Volumes are bound to a zone: nodes elsewhere are none for the pods that mount them.
#[test]
fn nodes_in_another_zone_do_not_hold_what_has_volumes() {
    let there = "memory=15.62GiB,cpu=4,labels=topology.kubernetes.io/zone:az-1";
    let elsewhere = "memory=15.62GiB,cpu=4,labels=topology.kubernetes.io/zone:az-2";
    let result = capacity(&["--node", there, "--node", elsewhere]);
    assert_eq!(result["nodes"][0]["elsewhere"].as_array().unwrap().len(), 0);
    let mut kept: Vec<&str> = result["nodes"][1]["elsewhere"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["resource"]["name"].as_str().unwrap())
        .collect();
    kept.sort_unstable();
    // Every workload of the dump with a claim, by hand.
    let with_claims = [
        "garage",
        "kernel-postgres",
        "litellm-db",
        "odoo",
        "odoo-addons-sync",
        "openbao",
        "openbao-transit",
        "postgres",
    ];
    assert_eq!(kept, with_claims);
}
