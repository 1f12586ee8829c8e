//! Repositories that others write to, and runs beside each other: names that imitate output, values that are secret, edits at once.

use std::fs;
use std::thread;

use crate::support::repo::TestRepo;

const BASE: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: registry.test/shop/web:1.0}]}
";

/// Objects whose every name goes on with a command of a CI runner on a line of its own.
const EVIL: &str = r#"apiVersion: v1
kind: Pod
metadata: {name: "pod\n::error::name"}
spec: {containers: [{name: "c\n::error::container", image: "registry.test/a\n::error::image"}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {key: "one\n::error::value"}
"#;

/// A runner looks for its commands behind the blanks of a line (actions/runner, `ActionCommand.TryParseV2`).
fn commands_in(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.trim_start().starts_with("::")).collect()
}

#[cfg(all(unix, feature = "git"))]
#[test]
fn no_name_in_a_repository_begins_a_line_of_the_output() {
    let overlay = "overlays/o\n::error::directory";
    let file = |name: &str| format!("{overlay}/{name}");
    let repo = TestRepo::with_files(&[
        ("base/kustomization.yaml", "resources: [web.yaml]\n"),
        ("base/web.yaml", BASE),
    ]);
    repo.write(&file("kustomization.yaml"), "resources: [../../base, evil.yaml]\n");
    repo.write(&file("evil.yaml"), EVIL);
    repo.commit("evil");
    let digest = format!("web=sha256:{}", "a".repeat(64));
    for args in [
        &["list"][..],
        &["images", overlay],
        &["check", overlay],
        &["diff", overlay, "--from", "HEAD~1"],
        &["history", overlay],
        &["affected", "--from", "HEAD~1"],
        &["show", overlay, "Pod/pod"],
        &["pin", overlay, "--check"],
        &["pin", overlay, "nothing=sha256:1"],
        &["set", "field", overlay, "ConfigMap/settings", "data.key=two\n::error::new"],
        &["set", "replicas", overlay, "settings=2"],
        &["pin", overlay, &digest],
    ] {
        let ran = repo.overlay(args);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!said.is_empty(), "{args:?}");
        assert_eq!(commands_in(&said), [""; 0], "{args:?}: {said}");
    }
}

#[cfg(feature = "git")]
#[test]
fn a_commit_does_not_tell_what_a_secret_holds() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: login}\nstringData:\n  password: hunter-two\n";
    let repo = TestRepo::with_files(&[
        ("overlays/prod/kustomization.yaml", "resources: [secret.yaml]\n"),
        ("overlays/prod/secret.yaml", secret),
    ]);
    let args = [
        "set",
        "field",
        "overlays/prod",
        "Secret/login",
        "stringData.password=correct-horse",
        "--commit",
    ];
    let ran = repo.overlay(&args);
    assert_eq!(ran.status, 0, "{ran:?}");
    let message = repo.git(&["log", "-1", "--format=%B"]);
    assert!(message.contains("Secret/login stringData.password\n  *** -> ***"), "{message}");
    let history = repo.overlay(&["history", "overlays/prod", "-o", "json"]);
    let back = repo.overlay(&[
        "revert",
        "overlays/prod",
        "--to",
        "HEAD~1",
        "--field",
        "Secret/login stringData.password",
    ]);
    assert_eq!(back.status, 0, "{back:?}");
    for said in [&message, &history.stdout, &back.stdout, &back.stderr] {
        assert!(!said.contains("hunter-two") && !said.contains("correct-horse"), "{said}");
    }
    let file = fs::read_to_string(repo.path().join("overlays/prod/secret.yaml")).unwrap();
    assert!(file.contains("password: hunter-two\n"), "{file}");
}

#[test]
fn of_edits_at_once_each_that_succeeds_is_there() {
    let repo = TestRepo::with_files(&[
        ("base/kustomization.yaml", "resources: [web.yaml]\n"),
        ("base/web.yaml", BASE),
        ("overlays/prod/kustomization.yaml", "resources: [../../base]\n"),
    ]);
    let edit = |number: usize| {
        let field = format!("metadata.annotations.a{number}=v");
        repo.overlay(&["set", "field", "overlays/prod", "Deployment/web", &field, "-o", "json"])
    };
    let ran: Vec<_> = thread::scope(|scope| {
        let runs: Vec<_> = (0..8).map(|number| scope.spawn(move || edit(number))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let text = fs::read_to_string(repo.path().join("overlays/prod/kustomization.yaml")).unwrap();
    for (number, ran) in ran.iter().enumerate() {
        let is_there = text.contains(&format!("a{number}: v"));
        match ran.status {
            0 => assert!(is_there, "edit {number} is lost: {text}"),
            status => {
                assert_eq!((status, ran.code().as_str()), (3, "changed-meanwhile"), "{ran:?}");
                assert!(!is_there, "edit {number} was refused and is there: {text}");
            }
        }
    }
    assert!(ran.iter().any(|ran| ran.status == 0));
}
