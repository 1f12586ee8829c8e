//! From a running API server the same plan comes as from its dump, and nothing but `GET` is sent.

use std::collections::BTreeMap;

use crate::stories::moving_to_larger_nodes::{DUMP, SELECTOR, dump};
use crate::support::kube_api::KubeApi;
use crate::support::repo::TestRepo;

#[test]
fn a_cluster_and_its_dump_have_the_same_plan() {
    let server = KubeApi::with(dump()["items"].as_array().unwrap().clone());
    server.page(20);
    let text = std::fs::read_to_string(DUMP).unwrap();
    let repo = TestRepo::with_files(&[("now.json", &text)]);
    repo.write("kubeconfig", &server.kubeconfig("default"));
    let environment = BTreeMap::new();
    let args = ["drain-plan", "--selector", SELECTOR, "-o", "json"];
    let live =
        repo.overlay_with(&[&args[..], &["--kubeconfig", "kubeconfig"]].concat(), "", &environment);
    assert_eq!(live.status, 0, "{live:?}");
    let recorded = repo.overlay_with(&[&args[..], &["--from", "-"]].concat(), &text, &environment);
    assert_eq!(live.json()["result"], recorded.json()["result"]);
    let asked = server.asked();
    assert!(asked.len() > 10 && asked.iter().all(|asked| asked.method == "GET"));
}

/// Without the right to read what is not needed, the plan says so and goes on; without nodes there is none.
#[test]
fn what_may_not_be_read_is_told() {
    let server = KubeApi::with(dump()["items"].as_array().unwrap().clone());
    let repo = TestRepo::with_files(&[("a", "")]);
    repo.write("kubeconfig", &server.kubeconfig("default"));
    let run = || {
        repo.overlay(&[
            "drain-plan",
            "--selector",
            SELECTOR,
            "--kubeconfig",
            "kubeconfig",
            "-o",
            "json",
        ])
    };
    server.deny("list", "volumeattachments");
    let ran = run();
    assert_eq!(ran.status, 0, "{ran:?}");
    let notes = ran.json()["result"]["notes"].to_string();
    assert!(notes.contains("volumeattachments"), "{notes}");
    server.deny("list", "nodes");
    let ran = run();
    assert_eq!(ran.code(), "cluster-denied", "{ran:?}");
}
