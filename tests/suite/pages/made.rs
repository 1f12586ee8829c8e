//! The pages that are looked at: those of a fixture with a history, of an overlay without findings, and of many pods.

use std::path::Path;

use serde_json::{Value, json};

use crate::stories::moving_to_larger_nodes::{self as migration, dump};
use crate::support::repo::{Ran, TestRepo};

const FIXTURE: &str = "fixtures/overlays/lattice";

/// The pages by name.
pub(super) fn pages() -> Vec<(&'static str, String)> {
    let lattice = lattice();
    let many = many_pods();
    let both = ["overlays/staging", "overlays/prod"];
    let page = |ran: Ran, status: i32| {
        assert_eq!(ran.status, status, "{ran:?}");
        assert!(ran.stdout.starts_with("<!doctype html>"), "{ran:?}");
        ran.stdout
    };
    let kinds = [
        "--node",
        "memory=3.82GiB,cpu=2,name=small,price=31.5",
        "--node",
        "memory=15.62GiB,cpu=4,name=large,price=98",
        "--node",
        "memory=600MiB,cpu=1,name=tiny",
        "--daemons",
        "memory=340MiB",
        "--quota",
        "cores=10,used=6",
        "--quota",
        "ports=40",
    ];
    let migration = migration::repo(&migration::settings());
    let short = migration::repo(&migration::settings());
    short.write("now.json", &short_of_room().to_string());
    let from = ["--from", "now.json"];
    let run = |repo: &TestRepo, words: &[&[&str]]| {
        repo.overlay(&[&words.concat()[..], &["-o", "html"]].concat())
    };
    vec![
        ("check", page(run(&lattice, &[&["check"], &both]), 7)),
        ("check-clear", page(run(&many, &[&["check", "clear"]]), 0)),
        ("capacity", page(run(&lattice, &[&["capacity"], &both, &kinds]), 0)),
        (
            "capacity-many",
            page(run(&many, &[&["capacity", "many", "--node", "memory=8Gi,cpu=4"]]), 0),
        ),
        ("capacity-live", page(run(&migration, &[&["capacity"], &from]), 0)),
        ("capacity-live-short", page(run(&short, &[&["capacity"], &from, &kinds[..2]]), 0)),
        ("drain-plan", page(run(&migration, &[&["drain-plan"], &from]), 0)),
        ("drain-plan-short", page(run(&short, &[&["drain-plan"], &from, &WAVES]), 7)),
        ("history", page(run(&lattice, &[&["history"], &both]), 0)),
        ("history-one", page(run(&lattice, &[&["history", "overlays/prod", "-n", "2"]]), 0)),
    ]
}

/// New nodes of the small kind that a quota lets come only when old ones go.
pub(super) const WAVES: [&str; 6] =
    ["--new", "4", "--node", "memory=4GiB,cpu=2", "--quota", "ports=9,used=9"];

/// The cluster of the migration with one new node that is nearly full, and a tenant whose pods ask for more than a small node
/// has left.
pub(super) fn short_of_room() -> Value {
    let mut dump = dump();
    let items = dump["items"].as_array_mut().unwrap();
    let is_gone = |name: &Value| {
        let gone = ["gentian-large-6t4wq", "gentian-large-m8x5c"];
        name.as_str().is_some_and(|name| gone.contains(&name))
    };
    items.retain(|item| !is_gone(&item["metadata"]["name"]) && !is_gone(&item["spec"]["nodeName"]));
    let pods = items.iter_mut().filter(|item| item["kind"] == "Pod");
    for pod in pods.filter(|pod| pod["metadata"]["ownerReferences"][0]["kind"] != "DaemonSet") {
        if pod["metadata"]["namespace"] == "tenant-bureau" {
            let request = json!({"requests": {"cpu": "100m", "memory": "2Gi"}});
            pod["spec"]["containers"][0]["resources"] = request;
        }
    }
    dump
}

/// The days on which [`lattice`] moved: what a person would write down of it.
const MOVES: [(&str, &str, &str, &str); 5] = [
    (
        "2024-05-03T09:15:00Z",
        "Ann Ode",
        "staging",
        "gateway=registry.lattice.example/gateway:0.12.4@sha256:4d0f0e8a8c3a4e2b7f5d9c1b6a3e8f7d2c5b4a39180706f5e4d3c2b1a0998877",
    ),
    (
        "2024-05-06T14:02:00Z",
        "Ann Ode",
        "prod",
        "gateway=registry.lattice.example/gateway:0.12.4@sha256:4d0f0e8a8c3a4e2b7f5d9c1b6a3e8f7d2c5b4a39180706f5e4d3c2b1a0998877",
    ),
    (
        "2024-05-06T14:20:00Z",
        "Ben Bar",
        "prod",
        "accounts=registry.lattice.example/accounts:0.12.4@sha256:91c3d5e7f9a1b3c5d7e9f1a3b5c7d9e1f3a5b7c9d1e3f5a7b9c1d3e5f7a9b1c3",
    ),
    (
        "2024-05-21T08:00:00Z",
        "Ann Ode",
        "staging",
        "gateway=registry.lattice.example/gateway:0.13.0@sha256:2b4d6f8091a3b5c7d9ebfd1f30415263748596a7b8c9dadbecfd0e1f20314253",
    ),
    (
        "2024-06-02T11:45:00Z",
        "Ben Bar",
        "staging",
        "accounts=registry.lattice.example/accounts:0.13.0@sha256:7e8f9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f",
    ),
];

/// The fixture, started on the first of May and moved since.
pub(super) fn lattice() -> TestRepo {
    let repo = TestRepo::from_folder(Path::new(FIXTURE));
    for (number, (date, author, overlay, pin)) in MOVES.into_iter().enumerate() {
        let ran = repo.overlay(&["pin", &format!("overlays/{overlay}"), pin, "--with-tag"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        let subject = format!("Pin {overlay} (#{})", 12 + number);
        commit_as(&repo, author, date, &subject);
    }
    repo
}

/// Commits all there is by `author` at `date`.
pub(super) fn commit_as(repo: &TestRepo, author: &str, date: &str, message: &str) {
    let variables = [
        ("GIT_AUTHOR_NAME", author),
        ("GIT_AUTHOR_DATE", date),
        ("GIT_COMMITTER_DATE", date),
        ("MESSAGE", message),
    ];
    let done = repo.script("git add -A && git commit -q -m \"$MESSAGE\"", &variables);
    assert_eq!(done, 0, "{message}");
}

/// `many`: forty workloads of three sizes, five pods each; `clear`: nothing that a check speaks of.
fn many_pods() -> TestRepo {
    let mut all = String::new();
    for number in 0..40 {
        let (cpu, memory) = [("50m", "96Mi"), ("250m", "640Mi"), ("700m", "1500Mi")][number % 3];
        all.push_str(&format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: worker-{number:02}}}\nspec:\n  \
             replicas: 5\n  selector: {{matchLabels: {{app: w{number}}}}}\n  template:\n    \
             metadata: {{labels: {{app: w{number}}}}}\n    spec:\n      containers:\n      \
             - {{name: w, image: r/w, resources: {{requests: {{cpu: {cpu}, memory: {memory}}}}}}}\n"
        ));
    }
    TestRepo::with_files(&[
        ("many/kustomization.yaml", "resources: [all.yaml]\n"),
        ("many/all.yaml", &all),
        ("clear/kustomization.yaml", "resources: [settings.yaml]\n"),
        ("clear/settings.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"),
    ])
}
