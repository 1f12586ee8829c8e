//! The external renderer: the same bytes as the program itself, nothing from the network, errors with their place.

use std::collections::BTreeMap;

use serde_json::json;

use crate::support::repo::TestRepo;
use crate::support::{runs, skip};

const TREE: &[(&str, &str)] = &[
    ("base/kustomization.yaml", "resources: [web.yaml]\n"),
    (
        "base/web.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: web, image: web:1}]}}}\n",
    ),
    (
        "overlays/prod/kustomization.yaml",
        "resources: [../../base]\nimages: [{name: web, newTag: '2'}]\n",
    ),
];

/// The programs at hand that hold a kustomize, as `--kustomize` takes them, with their own arguments.
fn programs() -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    if runs("kustomize", &["version"]) {
        found.push(("kustomize", "build"));
    }
    if runs("kubectl", &["version", "--client"]) {
        found.push(("kubectl", "kustomize"));
    }
    if found.is_empty() {
        skip("neither kustomize nor kubectl");
    }
    found
}

#[test]
fn the_external_renderer_gives_the_programs_own_bytes() {
    let repo = TestRepo::with_files(TREE);
    for (program, argument) in programs() {
        let ran = repo.overlay(&["build", "overlays/prod", "--kustomize", program]);
        assert_eq!(ran.status, 0, "{ran:?}");
        let own = std::process::Command::new(program)
            .args([argument, "overlays/prod"])
            .current_dir(repo.path())
            .output()
            .unwrap();
        assert_eq!(ran.stdout, String::from_utf8(own.stdout).unwrap());
    }
}

#[cfg(unix)]
#[test]
fn links_inside_the_repository_are_in_the_copy() {
    let repo = TestRepo::with_files(TREE);
    std::os::unix::fs::symlink("../base", repo.path().join("overlays/link")).unwrap();
    repo.write("overlays/dev/kustomization.yaml", "resources: [../link]\n");
    for (program, _) in programs() {
        let ran = repo.overlay(&["build", "overlays/dev", "--kustomize", program]);
        let direct = repo.overlay(&["build", "base", "--kustomize", program]);
        assert_eq!((ran.status, &ran.stdout), (0, &direct.stdout), "{ran:?}");
    }
}

#[test]
fn a_broken_overlay_is_refused_with_its_place() {
    let repo = TestRepo::with_files(TREE);
    repo.write("base/web.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [}\n");
    repo.write("overlays/gone/kustomization.yaml", "resources: [none.yaml]\n");
    for (program, _) in programs() {
        let args = ["build", "overlays/prod", "-o", "json", "--kustomize", program];
        let ran = repo.overlay(&args);
        assert_eq!((ran.status, ran.code().as_str()), (3, "build-broken"), "{ran:?}");
        assert_eq!(ran.json()["error"]["location"]["file"], "base/web.yaml", "{ran:?}");
        assert_eq!(ran.json()["error"]["location"]["line"], 3, "{ran:?}");
        let ran = repo.overlay(&["build", "overlays/gone", "-o", "json", "--kustomize", program]);
        assert_eq!((ran.status, ran.code().as_str()), (3, "build-broken"), "{ran:?}");
        assert!(ran.stdout.contains("overlays/gone/none.yaml"), "{ran:?}");
    }
}

#[test]
fn the_external_program_reads_a_remote_base_from_the_copy_and_fetches_none() {
    let repo = TestRepo::with_files(TREE);
    repo.git(&["clone", "-q", "--bare", ".", "../hub.git"]);
    let hub = repo.path().parent().unwrap().join("hub.git");
    repo.write(
        "overlays/far/kustomization.yaml",
        &format!("resources:\n- file://{}//base\n", hub.display()),
    );
    repo.write(
        "overlays/none/kustomization.yaml",
        "resources:\n- https://example.invalid/o/r//b\n",
    );
    for (program, _) in programs() {
        let ran = repo.overlay(&["build", "overlays/far", "--kustomize", program]);
        let near = repo.overlay(&["build", "base", "--kustomize", program]);
        assert_eq!((ran.status, &ran.stdout), (0, &near.stdout), "{ran:?}");
        let args = ["build", "overlays/none", "-o", "json", "--offline", "--kustomize", program];
        let ran = repo.overlay(&args);
        assert_eq!((ran.status, ran.code().as_str()), (4, "remote-base"), "{ran:?}");
        assert_eq!(ran.json()["error"]["location"]["line"], 2, "{ran:?}");
    }
}

#[test]
fn what_is_no_kustomize_is_4() {
    let repo = TestRepo::with_files(TREE);
    for program in ["true", "/none/kustomize", "./none"] {
        let ran = repo.overlay(&["build", "overlays/prod", "-o", "json", "--kustomize", program]);
        assert_eq!((ran.status, ran.code().as_str()), (4, "renderer-missing"), "{ran:?}");
    }
}

#[test]
fn without_its_remote_base_an_overlay_shows_what_can_be_seen() {
    let repo = TestRepo::with_files(TREE);
    let far = "resources:\n- ../../base\n- https://example.test/o/r//b?ref=v1\nimages: [{name: web, newTag: '2'}]\n";
    repo.write("overlays/far/kustomization.yaml", far);
    // Nothing but the program itself is at hand.
    let bare = BTreeMap::from([("PATH".to_owned(), "/none".to_owned())]);
    let ran = repo.overlay_with(&["images", "overlays/far", "-o", "json"], "", &bare);
    assert_eq!(ran.status, 0, "{ran:?}");
    let overlay = ran.json()["result"]["overlays"][0].clone();
    let unknown = "https://example.test/o/r//b?ref=v1 (overlays/far/kustomization.yaml:3)";
    assert_eq!(overlay["unknown"], json!([unknown]));
    assert_eq!(overlay["images"][0]["reference"], "web:2");
    let decided = &overlay["images"][0]["decidedBy"];
    assert_eq!(decided["file"], "overlays/far/kustomization.yaml");
    assert_eq!(decided["line"], json!(null), "its lines are not those that were rendered");
    let ran = repo.overlay_with(&["build", "overlays/far", "-o", "json"], "", &bare);
    assert_eq!((ran.status, ran.code().as_str()), (4, "remote-base"), "{ran:?}");
    assert_eq!(ran.json()["error"]["location"]["line"], 3);
}

#[test]
fn what_the_built_in_build_does_not_know_needs_a_kustomize() {
    let repo = TestRepo::with_files(TREE);
    repo.write("overlays/helm/kustomization.yaml", "helmCharts: [{name: x, repo: none}]\n");
    let bare = BTreeMap::from([("PATH".to_owned(), "/none".to_owned())]);
    let ran = repo.overlay_with(&["build", "overlays/helm", "-o", "json"], "", &bare);
    assert_eq!((ran.status, ran.code().as_str()), (4, "not-buildable"), "{ran:?}");
    assert!(ran.json()["error"]["message"].as_str().unwrap().contains("helmCharts"), "{ran:?}");
}
