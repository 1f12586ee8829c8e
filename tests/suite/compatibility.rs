//! `docs/compatibility.md` row by row: what this program does with files of a version that is not yet there.

use std::fs;

use overlay::report::pull_request::find_marker;
use serde_json::Value;

use crate::support::repo::{Ran, TestRepo};

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: r.example/web:1}]}
";
const DIGEST: &str = "web=sha256:91c3d5e7f9a1b3c5d7e9f1a3b5c7d9e1f3a5b7c9d1e3f5a7b9c1d3e5f7a9b1c3";

fn repo(more: &[(&str, &str)]) -> TestRepo {
    let own = [("o/kustomization.yaml", "resources: [web.yaml]\n"), ("o/web.yaml", DEPLOYMENT)];
    TestRepo::with_files(&[&own[..], more].concat())
}

/// Refused with this status and code at this line, and nothing written.
fn assert_refused(repo: &TestRepo, args: &[&str], expected: (i32, &str, Option<u64>)) {
    let ran: Ran = repo.overlay(&[args, &["-o", "json"]].concat());
    let line = ran.json()["error"]["location"]["line"].as_u64();
    assert_eq!((ran.status, ran.code().as_str(), line), expected, "{ran:?}");
    assert_eq!(repo.git(&["status", "--porcelain"]), "", "{args:?}");
}

#[test]
fn newer_files_are_refused_and_nothing_is_written() {
    let pin = ["pin", "o", DIGEST];
    let settings = repo(&[(".overlay.yaml", "timeout: 90s\nfuture: 1\n")]);
    assert_refused(&settings, &pin, (3, "config-invalid", Some(2)));

    let changes = repo(&[("new.yaml", "changes:\n- {future: {workload: web}}\n")]);
    assert_refused(&changes, &["apply", "o", "-f", "new.yaml"], (2, "usage", Some(2)));

    let hold = "version: 2\nuntil: \"2999-01-01T00:00:00Z\"\nreason: x\nby: y\n";
    let hold = repo(&[("o/overlay-hold.yaml", hold)]);
    assert_refused(&hold, &pin, (3, "hold-invalid", Some(1)));

    let lock = repo(&[("overlay.lock", "# of the future\noverlay-lock 2\n")]);
    lock.write(
        "o/kustomization.yaml",
        "resources: [web.yaml, \"https://h.example/r//b?ref=v1\"]\n",
    );
    lock.commit("a remote base");
    assert_refused(&lock, &["build", "o"], (3, "config-invalid", Some(2)));

    let images = repo(&[("images.lock", "{\"schemaVersion\": 2, \"images\": []}\n")]);
    let from_lock = ["pin", "o", "--resolve=web", "--from-lock", "images.lock", "--offline"];
    assert_refused(&images, &from_lock, (3, "image-lock-invalid", None));
}

#[test]
fn a_newer_trailer_is_shown_as_it_stands_and_a_broken_one_passed_over() {
    let repo = repo(&[]);
    let moved = |replicas: u32| DEPLOYMENT.replace("replicas: 2", &format!("replicas: {replicas}"));
    repo.write("o/web.yaml", &moved(3));
    repo.commit("More\n\nOverlay-Change: v2 {\"command\":\"set wings\",\"wings\":3}");
    repo.write("o/web.yaml", &moved(4));
    repo.commit("Still more\n\nOverlay-Change: v3 <wings/>");
    let ran = repo.overlay(&["history", "o", "-o", "json"]);
    let entries = ran.json()["result"]["overlays"][0]["entries"].clone();
    assert_eq!(entries[0]["change"], Value::Null, "{ran:?}");
    assert_eq!(entries[1]["change"]["command"], "set wings", "{ran:?}");
}

#[test]
fn a_pull_request_with_a_newer_marker_is_none_of_ours() {
    let marker = r#"{"key":"k","scope":{"command":"pin","overlays":[],"names":[]},"title":"t","commits":[]}"#;
    assert!(find_marker(&format!("<!-- overlay:v1 {marker} -->\n")).is_some());
    assert!(find_marker(&format!("<!-- overlay:v2 {marker} -->\n")).is_none());
}

/// The versions that the page names are those that the program writes.
#[test]
fn the_page_names_the_versions_that_are_written() {
    let page = fs::read_to_string("docs/compatibility.md").unwrap();
    let repo = repo(&[]);
    let result = repo.overlay(&["list", "-o", "json"]).json();
    assert!(page.contains(&format!("\"schemaVersion\": {}", result["schemaVersion"])));
    let held = ["hold", "o", "--until", "2999-01-01", "--reason", "x"];
    assert_eq!(repo.overlay(&held).status, 0);
    let hold = fs::read_to_string(repo.path().join("o/overlay-hold.yaml")).unwrap();
    let version = hold.lines().find(|line| line.starts_with("version: ")).unwrap();
    assert!(page.contains(&format!("`{version}`")), "{version}");
    let pinned = ["pin", "o", DIGEST, "--override-hold", "--branch", "b"];
    assert_eq!(repo.overlay(&pinned).status, 0);
    let message = repo.git(&["log", "-1", "--format=%B", "b"]);
    assert!(page.contains("`Overlay-Change` of commits | `v1`"));
    assert!(message.contains("\nOverlay-Change: v1 {"), "{message}");
}
