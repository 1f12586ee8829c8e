//! The command line as scripts meet it: usage errors, exit statuses, the JSON form on failure, escapes.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::support::repo::TestRepo;

const BASE: &[(&str, &str)] = &[
    ("overlays/prod/kustomization.yaml", "resources: [web.yaml]\n"),
    ("overlays/prod/web.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"),
    ("overlays/notes/readme.md", "none\n"),
    ("-dash/kustomization.yaml", "resources: []\n"),
];

#[test]
fn advice_names_the_option_that_is_meant() {
    let repo = TestRepo::with_files(BASE);
    for (args, advice) in [
        (
            &["set", "resources", ".", "web", "--memory", "200Mi"][..],
            "write --requests memory=200Mi",
        ),
        (&["set", "resources", ".", "web", "--cpu=50m"], "or --limits cpu=50m"),
        (&["pin", "overlays/prod", "--digest", "{}"], "'--digests'"),
    ] {
        let ran = repo.overlay(args);
        assert!(ran.status == 2 && ran.stderr.contains(advice), "{ran:?}");
        assert!(!ran.stderr.contains("--merge"), "{ran:?}");
    }
}

#[test]
fn help_offers_the_forms_that_the_command_has() {
    let repo = TestRepo::with_files(&[]);
    let forms = |args: &[&str]| {
        let help = repo.overlay(&[args, &["-h"]].concat()).stdout;
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, behind) = help.split_once("--output <FORMAT>").unwrap();
        behind.split_once("[possible values: ").unwrap().1.split_once(']').unwrap().0.to_owned()
    };
    assert_eq!(forms(&["set", "replicas"]), "human, json");
    assert_eq!(forms(&["diff"]), "human, json, markdown");
    assert_eq!(forms(&["baseline", "compare"]), "human, json, markdown");
    assert_eq!(forms(&["baseline", "record"]), "human, json");
    assert!(forms(&["check"]).contains("sarif, github, junit, markdown"));
}

#[test]
fn wrong_usage_is_2_and_json_when_json_is_asked_for() {
    let repo = TestRepo::with_files(BASE);
    for args in [
        &["-o", "json"][..],
        &["nope", "-o", "json"],
        &["pin", "-o", "json"],
        &["pin", "overlays/prod", "--nope", "-o", "json"],
        &["pin", "overlays/prod", "--timeout", "5 minutes", "-ojson"],
        &["--output=json", "pin", "overlays/prod", "--color", "pink"],
        &["pin", "overlays/prod", "-q", "-v", "-o=json"],
    ] {
        let ran = repo.overlay(args);
        assert_eq!(ran.status, 2, "{args:?} {ran:?}");
        assert_eq!(ran.code(), "usage", "{args:?}");
        assert_eq!(ran.json()["ok"], false);
        assert_eq!(ran.json()["error"]["exit"], 2);
        assert_eq!(ran.json()["result"], json!({"overlays": []}));
        assert_eq!(ran.stderr, "", "{args:?}");
        assert_eq!(ran.stdout.lines().count(), 1, "{args:?}");
    }
}

#[test]
fn wrong_usage_is_one_line_and_hints_for_people() {
    let repo = TestRepo::with_files(BASE);
    let ran = repo.overlay(&["pin", "overlays/prod", "--digest", "{}"]);
    assert_eq!(ran.status, 2);
    assert_eq!(ran.stdout, "");
    assert!(
        ran.stderr.starts_with("error: unexpected argument '--digest' found\nhint: "),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("--digests"), "{ran:?}");
}

#[test]
fn a_command_of_commands_that_is_alone_says_which_there_are() {
    let repo = TestRepo::with_files(BASE);
    for (command, one) in [("set", "replicas"), ("baseline", "compare")] {
        let ran = repo.overlay(&[command]);
        assert_eq!(ran.status, 2, "{ran:?}");
        let says = format!("error: `overlay {command}` needs one of: ");
        assert!(ran.stderr.starts_with(&says) && ran.stderr.contains(one), "{ran:?}");
    }
}

#[test]
fn what_is_empty_is_named_and_what_begins_with_a_dash_is_advised() {
    let repo = TestRepo::with_files(BASE);
    for (args, status, says) in [
        (&["build", ""][..], 4, "error: an empty path: "),
        (&["pin", "overlays/prod", "--digests", "@"], 4, "error: the name of a file is empty"),
        (&["apply", "overlays/prod", "-f", ""], 4, "error: the name of a file is empty"),
        (&["set", "strategy", "overlays/prod", "web", "--max-surge", "-1"], 2, "--OPTION=-1"),
    ] {
        let ran = repo.overlay(args);
        assert_eq!(ran.status, status, "{args:?} {ran:?}");
        assert!(ran.stderr.contains(says), "{args:?} {ran:?}");
    }
}

#[test]
fn the_json_form_names_the_command_that_failed() {
    let repo = TestRepo::with_files(BASE);
    let ran = repo.overlay(&["pin", "none", "-o", "json"]);
    assert_eq!(ran.status, 4);
    let document = ran.json();
    assert_eq!(document["command"], "pin");
    assert_eq!(document["schemaVersion"], 1);
    assert_eq!(document["changed"], false);
    assert_eq!(document["error"]["code"], "no-such-overlay");
}

#[test]
fn help_and_version_are_0_on_standard_output() {
    let repo = TestRepo::with_files(BASE);
    for args in [&["--help"][..], &["pin", "--help"], &["-h"], &["--version"], &["-V"]] {
        let ran = repo.overlay(args);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{args:?}");
        assert!(!ran.stdout.is_empty(), "{args:?}");
    }
    let version = repo.overlay(&["--version"]).stdout;
    assert!(version.starts_with(concat!("overlay ", env!("CARGO_PKG_VERSION"))), "{version}");
    assert!(version.contains("kustomize 5.8.1"), "{version}");
}

#[test]
fn what_names_no_overlay_is_4() {
    let repo = TestRepo::with_files(BASE);
    for name in ["none", "overlays", "overlays/notes", "overlays/prod/web.yaml", "x*", "", "/etc"] {
        let ran = repo.overlay(&["pin", name, "--digests", "{}", "-o", "json"]);
        assert_eq!(ran.status, 4, "{name} {ran:?}");
        assert_eq!(ran.code(), "no-such-overlay", "{name}");
    }
    let ran = repo.overlay(&["pin", "overlays/prd", "--digests", "{}"]);
    assert!(ran.stderr.contains("hint: did you mean overlays/prod?"), "{ran:?}");
    let ran = repo.overlay(&["pin", "overlays", "--digests", "{}"]);
    assert!(ran.stderr.contains("hint: overlays below it: overlays/prod"), "{ran:?}");
}

#[test]
fn an_option_that_names_no_directory_or_file_is_4() {
    let repo = TestRepo::with_files(BASE);
    let ran = repo.overlay(&["-C", "none", "pin", ".", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (4, "no-such-directory"));
    let ran = repo.overlay(&["pin", "overlays/prod", "--digests", "@none.json", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (4, "no-such-file"));
}

#[test]
fn control_characters_never_reach_the_terminal() {
    let repo = TestRepo::with_files(BASE);
    for args in [&["pin", "\u{1b}[31mred\u{9b}\u{7f}"][..], &["pin", "x", "--\u{1b}[2J"]] {
        let ran = repo.overlay(args);
        assert!(!ran.stderr.chars().any(|c| c.is_control() && c != '\n'), "{ran:?}");
        let ran = repo.overlay(&[args, &["-o", "json"]].concat());
        assert!(!ran.stdout.trim_end().chars().any(char::is_control), "{ran:?}");
    }
}

#[test]
fn outside_of_git_the_boundary_is_root_or_the_current_directory() {
    let repo = TestRepo::with_files(BASE);
    std::fs::rename(repo.path().join(".git"), repo.path().join("not-git")).unwrap();
    let ran = repo.overlay(&["-C", "overlays/notes", "build", "../prod", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (4, "no-boundary"));
    assert!(ran.json()["error"]["hints"][0].as_str().unwrap().contains("--root"));
    let ran = repo.overlay(&["-C", "overlays/notes", "build", "../prod", "--root", "../.."]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let ran = repo.overlay(&["build", "overlays/prod"]);
    assert_eq!(ran.status, 0, "{ran:?}");
}

#[test]
fn a_name_that_begins_with_a_dash_comes_after_two() {
    let repo = TestRepo::with_files(BASE);
    let ran = repo.overlay(&["build", "--", "-dash"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(repo.overlay(&["build", "-dash"]).status, 2);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let repo = TestRepo::with_files(BASE);
    let mut child = Command::new(env!("CARGO_BIN_EXE_overlay"))
        .args(["pin", "--help"])
        .current_dir(repo.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn settings_are_strict_and_flags_win() {
    let repo = TestRepo::with_files(BASE);
    repo.write(".overlay.yaml", "timeout: 90s\ntimout: 1s\n");
    let ran = repo.overlay(&["build", "overlays/prod", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (3, "config-invalid"));
    let error = &ran.json()["error"];
    assert_eq!(error["location"], json!({"file": ".overlay.yaml", "line": 2, "column": 1}));
    assert_eq!(error["hints"], json!(["did you mean timeout?"]));
    repo.write("mine.yaml", "timeout: 1s\n");
    let ran = repo.overlay(&["build", "overlays/prod", "--config", "mine.yaml"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let ran = repo.overlay(&["build", "overlays/prod", "--config", "none.yaml", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (4, "no-such-file"));
}

#[test]
fn a_component_is_edited_through_the_overlays_that_use_it() {
    let component =
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamePrefix: x-\n";
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: db}]}\n";
    let repo = TestRepo::with_files(&[
        ("parts/db/kustomization.yaml", "kind: Component\nresources: [pod.yaml]\n"),
        ("parts/db/pod.yaml", pod),
        ("mid/kustomization.yaml", "components: [../parts/db]\n"),
        ("overlays/prod/kustomization.yaml", "resources: [../../mid]\n"),
        ("parts/alone/kustomization.yaml", component),
    ]);
    let digest = format!("sha256:{}", "5e".repeat(32));
    let ran = repo.overlay(&["pin", "parts/db", &format!("db={digest}"), "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let overlays = &ran.json()["result"]["overlays"];
    assert_eq!(overlays[0]["path"], "overlays/prod");
    assert_eq!(overlays[0]["files"][0]["path"], "parts/db/kustomization.yaml");
    assert_eq!(overlays[0]["effect"][0]["after"], format!("db@{digest}"));
    let ran = repo.overlay(&["pin", "parts/alone", "--digests", "{}", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (4, "component-unused"));
}

#[test]
fn list_says_who_uses_whom() {
    let repo = TestRepo::with_files(&[
        ("base/kustomization.yaml", "resources: [web.yaml]\n"),
        ("base/web.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"),
        ("parts/db/kustomization.yml", "kind: Component\nnamePrefix: x-\n"),
        (
            "overlays/prod/Kustomization",
            "resources:\n- ../../base\n- https://example.com/org/repo//x?ref=v1\ncomponents: [../../parts/db]\n",
        ),
        ("overlays/dev/kustomization.yaml", "resources: [../../base]\n"),
        ("overlays/bad/kustomization.yaml", "resources: {\n"),
    ]);
    let ran = repo.overlay(&["list", "-o", "json"]);
    let overlays = ran.json()["result"]["overlays"].clone();
    let problem = overlays[1]["problem"].as_str().unwrap_or_default().to_owned();
    assert!(problem.starts_with("overlays/bad/kustomization.yaml:"), "{overlays}");
    assert_eq!(
        overlays,
        json!([
            {"path": "base", "kind": "base", "uses": [], "usedBy": ["overlays/dev", "overlays/prod"], "remote": []},
            {"path": "overlays/bad", "kind": "overlay", "uses": [], "usedBy": [], "remote": [], "problem": problem},
            {"path": "overlays/dev", "kind": "overlay", "uses": ["base"], "usedBy": [], "remote": []},
            {"path": "overlays/prod", "kind": "overlay", "uses": ["base", "parts/db"], "usedBy": [],
             "remote": ["https://example.com/org/repo//x?ref=v1"]},
            {"path": "parts/db", "kind": "component", "uses": [], "usedBy": ["overlays/prod"], "remote": []},
        ])
    );
    let ran = repo.overlay(&["list", "overlays", "parts"]);
    assert_eq!(ran.status, 0);
    assert!(!ran.stdout.starts_with("base"), "{ran:?}");
}

fn web(name: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: 2\n  template: {{spec: {{containers: [{{name: c, image: r.test/web}}]}}}}\n"
    )
}

/// Two overlays on one base, and one on an overlay.
fn shop() -> TestRepo {
    TestRepo::with_files(&[
        ("base/kustomization.yaml", "resources: [web.yaml, service.yaml]\n"),
        ("base/web.yaml", &web("web")),
        ("base/service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {}\n"),
        ("overlays/prod/kustomization.yaml", "resources: [../../base]\n"),
        ("overlays/dev/kustomization.yaml", "resources: [../../base]\n"),
        ("overlays/dev-eu/kustomization.yaml", "resources: [../dev]\n"),
    ])
}

#[test]
fn advice_is_given_for_what_was_meant() {
    let repo = shop();
    let digest = format!("sha256:{}", "5e".repeat(32));
    repo.write("release.json", &format!("\u{feff}{{\"web\": \"{digest}\"}}"));
    repo.write("broken.json", "[]");
    repo.write("a;touch PWN", "{}");
    std::fs::create_dir(repo.path().join("ov;touch PWN")).unwrap();
    for (args, advice) in [
        (
            &["pin", "overlays/dev", "overlays/prod"][..],
            "hint: overlays/prod is a directory: quote the pattern ('overlays/*'), or add --overlay overlays/prod",
        ),
        (&["images", "overlays/dev", "overlays/prod"], "hint: overlays/prod is a directory"),
        (&["images", "overlays/dev", "ov;touch PWN"], "or add --overlay 'ov;touch PWN'"),
        (&["promote", "ov;touch PWN"], "or add --overlay 'ov;touch PWN'"),
        (&["show", "overlays/dev", "ov;touch PWN"], "or add --overlay 'ov;touch PWN'"),
        (&["pin", "overlays/dev", "ov;touch PWN"], "or add --overlay 'ov;touch PWN'"),
        (
            &["pin", "overlays/dev", "--digests", "a;touch PWN"],
            "hint: write `--digests '@a;touch PWN'`",
        ),
        (&["show", "overlays/dev", "overlays/prod"], "hint: overlays/prod is a directory"),
        (
            &["pin", "overlays/dev", "--digests", "release.json"],
            "hint: write `--digests @release.json`",
        ),
        (
            &["pin", "overlays/dev", "--digests", "@broken.json"],
            "the JSON of broken.json: line 1, column 1: ",
        ),
        (&["pin", "overlays/dev", "--digests", "@relase.json"], "hint: did you mean release.json?"),
        (&["show", "overlays/dev", "web", "spec.replcas"], "hint: did you mean replicas?"),
        (
            &["show", "overlays/dev", "Deployment/web", ".spec.replicas"],
            "hint: write spec.replicas",
        ),
        (
            &["show", "overlays/dev", "deploy/web"],
            "hint: did you mean Deployment.apps/web or Service/web?",
        ),
        (&["pni", "overlays/dev"], "hint: did you mean pin?"),
    ] {
        let ran = repo.overlay(args);
        assert_ne!(ran.status, 0, "{args:?}");
        assert!(ran.stderr.contains(advice), "{args:?}: {}", ran.stderr);
    }
    let ran = repo.overlay(&["pin", "overlays/dev", "--digests", "@release.json", "--dry-run"]);
    assert_eq!(ran.status, 0, "a byte-order mark is no part of the JSON: {ran:?}");
}

#[test]
fn help_is_a_command_and_quiet_is_quiet() {
    let repo = shop();
    let help = repo.overlay(&["help", "pin"]);
    assert_eq!(help.status, 0, "{help:?}");
    assert!(help.stdout.contains("NAME=REF"), "{help:?}");
    let pin = format!("web=sha256:{}", "5e".repeat(32));
    let quiet = repo.overlay(&["pin", "overlays/prod", &pin, "-q"]);
    assert_eq!((quiet.status, &*quiet.stdout, &*quiet.stderr), (0, "", ""));
    let shown = repo.overlay(&["show", "overlays/prod", "Deployment/web", "spec.replicas", "-q"]);
    assert!(shown.stdout.starts_with('2'), "what was asked for is shown: {shown:?}");
    let refused = repo.overlay(&["pin", "overlays/prod", "none=latest", "-q"]);
    assert_eq!((refused.status, &*refused.stdout), (3, ""));
    assert!(refused.stderr.starts_with("error: "), "{refused:?}");
}

#[test]
fn who_builds_on_the_overlay_is_named() {
    let repo = shop();
    let pin = format!("web=sha256:{}", "5e".repeat(32));
    let ran = repo.overlay(&["pin", "overlays/dev", &pin, "--dry-run", "-o", "json"]);
    assert_eq!(ran.json()["result"]["overlays"][0]["affects"], json!(["overlays/dev-eu"]));
    let ran = repo.overlay(&["pin", "overlays/dev", &pin, "--dry-run"]);
    assert!(ran.stdout.contains("  also changes overlays/dev-eu\n"), "{ran:?}");
    let ran = repo.overlay(&["pin", "overlays/prod", &pin, "--dry-run", "-o", "json"]);
    assert_eq!(ran.json()["result"]["overlays"][0]["affects"], json!([]));
}

#[test]
fn outside_of_git_the_boundary_is_named_and_no_remote_is_offered() {
    let repo = TestRepo::with_files(&[
        ("base/kustomization.yaml", "resources: []\n"),
        ("prod/kustomization.yaml", "resources: [../base]\n"),
    ]);
    std::fs::rename(repo.path().join(".git"), repo.path().join("not-git")).unwrap();
    let ran = repo.overlay(&["-C", "prod", "build", "."]);
    assert_ne!(ran.status, 0);
    assert!(
        ran.stderr.contains("hint: outside of git the boundary is [TEMP]/repo/prod; --root DIR"),
        "{ran:?}"
    );
    let ran = repo.overlay(&["build", "prod", "--at", "HEAD"]);
    assert_eq!(ran.status, 4);
    assert!(!ran.stderr.contains("--remote"), "{ran:?}");
}
