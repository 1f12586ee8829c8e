//! Charts and statements that would lead out of the repository, or run something.

use std::fs;
use std::os::unix::fs::symlink;

use super::stub::{calls, stub};
use super::{overlay, repo, write_chart};
use crate::support::repo::TestRepo;

/// Builds with a helm that answers; the exit status, the code, the message, and whether helm was called.
fn build(repo: &TestRepo) -> (i32, String, String, bool) {
    let helm = stub(repo, "v3.18.4+g0", "echo 'apiVersion: v1'");
    let ran = overlay(repo, &helm, &["build", "overlays/prod", "-o", "json"]);
    let error = ran.json()["error"].clone();
    let message = error["message"].as_str().unwrap_or_default().to_owned();
    (ran.status, ran.code(), message, !calls(repo).is_empty())
}

/// A kustomization, the code it is refused with, and a part of the reason.
const HOSTILE: &[(&str, &str, &str)] = &[
    ("helmGlobals: {chartHome: /etc}\nhelmCharts: [{name: web}]\n", "build-broken", "absolute"),
    (
        "helmGlobals: {chartHome: ../../..}\nhelmCharts: [{name: web}]\n",
        "build-broken",
        "leads out",
    ),
    ("helmCharts: [{name: ../../web}]\n", "build-broken", "no name of a chart"),
    ("helmCharts: [{name: ..}]\n", "build-broken", "no name of a chart"),
    ("helmCharts: [{name: -x}]\n", "build-broken", "no name of a chart"),
    ("helmCharts: [{name: \"a\\nb\"}]\n", "build-broken", "no name of a chart"),
    ("helmCharts: [{name: web, version: --post-renderer=x}]\n", "build-broken", "no version"),
    (
        "helmCharts: [{name: web, version: ../../x, repo: 'https://h'}]\n",
        "build-broken",
        "no version",
    ),
    (
        "helmCharts: [{name: web, releaseName: --post-renderer=/x}]\n",
        "build-broken",
        "no name of a release",
    ),
    ("helmCharts: [{name: web, valuesFile: /etc/passwd}]\n", "build-broken", "absolute"),
    ("helmCharts: [{name: web, valuesFile: ../../../x}]\n", "build-broken", "leads out"),
    (
        "helmCharts: [{name: web, valuesFile: ../beside.yaml}]\n",
        "build-broken",
        "own directory only",
    ),
    ("helmCharts: [{name: web, valuesFile: out.yaml}]\n", "build-broken", "leads out"),
    ("helmCharts: [{name: web, valuesFile: beside.yaml}]\n", "build-broken", "own directory only"),
    ("helmCharts: [{name: web, additionalValuesFiles: [out.yaml]}]\n", "build-broken", "leads out"),
    (
        "helmCharts: [{name: web, valuesFile: 'https://h.example/v.yaml'}]\n",
        "not-buildable",
        "https://h.example/v.yaml",
    ),
    ("helmCharts: [{name: out}]\n", "build-broken", "leads out"),
    ("helmCharts: [{name: leaky}]\n", "build-broken", "leads out"),
    ("helmCharts: [{name: loop}]\n", "build-broken", "in each other"),
    ("helmGlobals: {configHome: home}\nhelmCharts: [{name: web}]\n", "not-buildable", "configHome"),
    (
        "helmCharts: [{name: none, repo: 'file:///srv/charts'}]\n",
        "build-broken",
        "https://, http:// and oci://",
    ),
    ("helmCharts: [{name: none, repo: '--x'}]\n", "build-broken", "https://, http:// and oci://"),
    (
        "helmCharts: [{name: none, repo: 'https://u:planted@h.example'}]\n",
        "not-buildable",
        "credentials",
    ),
    ("helmCharts: [{name: none, repo: 'oci://u@h.example/x'}]\n", "not-buildable", "credentials"),
    (
        "helmCharts: [{name: none, repo: 'https://h.example/x?token=planted'}]\n",
        "not-buildable",
        "with a query",
    ),
    (
        "helmCharts: [{name: none, repo: 'https://h.example/x#planted'}]\n",
        "not-buildable",
        "with a query",
    ),
];

#[test]
fn what_leads_out_is_refused_before_helm_is_called() {
    for (text, code, said) in HOSTILE {
        let repo = repo(text);
        let outside = repo.path().parent().unwrap().join("outside");
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("values.yaml"), "a: b\n").unwrap();
        repo.write("overlays/beside.yaml", "a: b\n");
        let prod = repo.path().join("overlays/prod");
        symlink(outside.join("values.yaml"), prod.join("out.yaml")).unwrap();
        symlink("../beside.yaml", prod.join("beside.yaml")).unwrap();
        symlink(&outside, prod.join("charts/out")).unwrap();
        write_chart(&repo, "overlays/prod/charts/leaky");
        symlink(outside.join("values.yaml"), prod.join("charts/leaky/templates/x")).unwrap();
        write_chart(&repo, "overlays/prod/charts/loop");
        symlink("..", prod.join("charts/loop/templates/again")).unwrap();
        let (status, got, message, called) = build(&repo);
        let expected = if *code == "build-broken" { 3 } else { 4 };
        assert_eq!((status, got.as_str(), called), (expected, *code, false), "{text}: {message}");
        assert!(message.contains(said), "{text}: {message}");
        assert!(!message.contains("planted"), "{text}: {message}");
    }
}

#[test]
fn a_link_that_leads_out_is_refused_in_a_revision_too() {
    let repo = repo("helmCharts: [{name: web}]\n");
    let link = repo.path().join("overlays/prod/charts/web/templates/x");
    symlink("../../../../../../outside", &link).unwrap();
    repo.commit("link");
    fs::remove_file(link).unwrap();
    let helm = stub(&repo, "v3.18.4+g0", "echo 'apiVersion: v1'");
    let ran = overlay(&repo, &helm, &["build", "overlays/prod", "--at", "HEAD", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (3, "build-broken"), "{ran:?}");
    assert!(ran.stdout.contains("leads out"), "{ran:?}");
    assert!(calls(&repo).is_empty());
}

#[test]
fn a_chart_of_too_many_files_is_refused() {
    let repo = repo("helmCharts: [{name: web}]\n");
    let prod = repo.path().join("overlays/prod/charts/web");
    // A hundred directories, each of which holds the hundred below, by links alone.
    for level in 0..4 {
        fs::create_dir(prod.join(format!("l{level}"))).unwrap();
        for link in 0..100 {
            let target = format!("../l{}", level + 1);
            symlink(target, prod.join(format!("l{level}/{link}"))).unwrap();
        }
    }
    fs::create_dir(prod.join("l4")).unwrap();
    let (status, code, message, called) = build(&repo);
    assert_eq!((status, code.as_str(), called), (3, "build-broken", false), "{message}");
    assert!(message.contains("more than 10000 files"), "{message}");
}

#[test]
fn a_chart_of_too_many_bytes_is_refused() {
    let repo = repo("helmCharts: [{name: web}]\n");
    let prod = repo.path().join("overlays/prod/charts/web");
    fs::write(prod.join("large"), vec![b'x'; 30 << 20]).unwrap();
    for link in ["one", "two"] {
        symlink("large", prod.join(link)).unwrap();
    }
    let (status, code, message, called) = build(&repo);
    assert_eq!((status, code.as_str(), called), (3, "build-broken", false), "{message}");
    assert!(message.contains("larger than 64 MiB"), "{message}");
}

#[test]
fn a_schema_that_helm_would_load_from_elsewhere_is_refused() {
    let repo = repo("helmCharts: [{name: web}]\n");
    repo.write(
        "overlays/prod/charts/web/values.schema.json",
        r##"{"$ref": "#/definitions/a", "definitions": {"a": {"$ref": "file:///etc/passwd"}}}"##,
    );
    let (status, code, message, called) = build(&repo);
    assert_eq!((status, code.as_str(), called), (4, "not-buildable", false), "{message}");
    assert!(
        message.contains("values.schema.json of the chart web refers to file:///etc/passwd"),
        "{message}"
    );
}
