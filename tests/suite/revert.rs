//! `overlay revert` and `overlay hold`: judged by git and by a kustomize that is not ours.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value as Json;

use crate::compare::Numbers;
use crate::support::json_schema::faults;
use crate::support::judge;
use crate::support::repo::{Ran, TestRepo, tree_contents};

const KUSTOMIZATION: &str = "overlays/prod/kustomization.yaml";

fn digest(letter: char) -> String {
    format!("sha256:{}", letter.to_string().repeat(64))
}

fn base() -> String {
    let workload = |kind: &str, name: &str, image: &str| {
        format!(
            "apiVersion: apps/v1\nkind: {kind}\nmetadata:\n  name: {name}\nspec:\n  replicas: 1\n  selector:\n    matchLabels: {{app: {name}}}\n  template:\n    metadata:\n      labels: {{app: {name}}}\n    spec:\n      containers:\n      - name: {name}\n        image: {image}\n"
        )
    };
    format!(
        "{}---\n{}",
        workload("Deployment", "web", "127.0.0.1:9/web:1"),
        workload("Deployment", "api", "127.0.0.1:9/api:1")
    )
}

fn kustomization(web: char, api: char, replicas: u8) -> String {
    format!(
        "# prod\nresources:\n- ../../base\nreplicas:\n- name: web # two at least\n  count: {replicas}\nimages:\n- name: 127.0.0.1:9/web # the front\n  digest: {}\n- name: 127.0.0.1:9/api\n  digest: {}\n",
        digest(web),
        digest(api)
    )
}

/// A release, a bad release that touches another overlay too, and an edit of the replicas in the same file.
fn repo() -> TestRepo {
    let repo = TestRepo::with_files(&[
        ("base/kustomization.yaml", "resources:\n- all.yaml\n"),
        ("base/all.yaml", &base()),
        (KUSTOMIZATION, &kustomization('a', 'a', 2)),
        ("overlays/dev/kustomization.yaml", "resources:\n- ../../base\n"),
    ]);
    repo.write(KUSTOMIZATION, &kustomization('b', 'b', 2));
    repo.commit("release b");
    repo.write(KUSTOMIZATION, &kustomization('c', 'c', 2));
    repo.write("overlays/dev/kustomization.yaml", "resources:\n- ../../base\n# dev\n");
    repo.commit("bad release c");
    repo.write(KUSTOMIZATION, &kustomization('c', 'c', 3));
    repo.commit("three of web");
    repo
}

fn text(repo: &TestRepo, path: &str) -> String {
    fs::read_to_string(repo.path().join(path)).unwrap()
}

fn require(ran: &Ran, status: i32, code: &str) {
    assert_eq!((ran.status, &*ran.code()), (status, code), "{ran:?}");
}

/// Release, bad release, an unrelated edit in the same file, back to the pins with a hold, a bot that is
/// refused, and the hold released.
#[test]
fn a_bad_release_goes_back_and_stays_back() {
    let repo = repo();
    let ran = repo.overlay(&[
        "revert",
        "overlays/prod",
        "--to",
        "HEAD~2",
        "--pins",
        "--hold",
        "24h",
        "--reason",
        "c crashes",
        "--commit",
        "-o",
        "json",
    ]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(text(&repo, KUSTOMIZATION), kustomization('b', 'b', 3));
    let changed = repo.git(&["diff", "--name-only", "HEAD~1", "HEAD"]);
    assert_eq!(changed, "overlays/prod/kustomization.yaml\noverlays/prod/overlay-hold.yaml\n");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    let schema = serde_json::from_str(include_str!("../../docs/result.schema.json")).unwrap();
    assert_eq!(faults(&schema, &ran.json()), [""; 0]);
    let effect = ran.json()["result"]["overlays"][0]["effect"].as_array().unwrap().clone();
    let images: Vec<&str> = effect.iter().map(|change| change["after"].as_str().unwrap()).collect();
    assert_eq!(
        images,
        [format!("127.0.0.1:9/api@{}", digest('b')), format!("127.0.0.1:9/web@{}", digest('b'))]
    );

    let bot = ["pin", "overlays/prod", &format!("web={}", digest('c')), "-o", "json"];
    let refused = repo.overlay(&[&bot[..], &["--commit"]].concat());
    require(&refused, 3, "on-hold");
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("c crashes") && message.contains("Case"), "{message}");
    assert!(refused.stdout.contains("--override-hold"), "{refused:?}");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    // Every other edit too, but for one that changes nothing.
    require(
        &repo.overlay(&["set", "replicas", "overlays/prod", "web=4", "-o", "json"]),
        3,
        "on-hold",
    );
    let same =
        repo.overlay(&["pin", "overlays/prod", &format!("web={}", digest('b')), "-o", "json"]);
    assert_eq!((same.status, &same.json()["changed"]), (0, &Json::Bool(false)), "{same:?}");
    let other = repo.overlay(&["set", "replicas", "overlays/dev", "web=4", "--dry-run"]);
    assert_eq!(other.status, 0, "{other:?}");
    // Again is already so, its own hold standing.
    let again = repo.overlay(&[
        "revert",
        "overlays/prod",
        "--to",
        "HEAD~3",
        "--pins",
        "--hold",
        "24h",
        "--commit",
        "-o",
        "json",
    ]);
    assert_eq!((again.status, &again.json()["changed"]), (0, &Json::Bool(false)), "{again:?}");

    let person = repo.overlay(&[&bot[..], &["--override-hold", "--dry-run"]].concat());
    assert_eq!(person.status, 0, "{person:?}");
    let released = repo.overlay(&["hold", "overlays/prod", "--release", "--commit"]);
    assert_eq!(released.status, 0, "{released:?}");
    assert!(!repo.path().join("overlays/prod/overlay-hold.yaml").exists());
    let pinned = repo.overlay(&[&bot[..], &["--commit"]].concat());
    assert_eq!(pinned.status, 0, "{pinned:?}");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn only_the_overlays_own_files_go_back() {
    let repo = repo();
    repo.write(
        "overlays/prod/extra.yaml",
        "kind: ConfigMap\napiVersion: v1\nmetadata: {name: extra}\n",
    );
    repo.write(
        KUSTOMIZATION,
        &format!(
            "{}- extra.yaml\n",
            kustomization('c', 'c', 3).replace("resources:\n- ../../base\n", "")
                + "resources:\n- ../../base\n"
        ),
    );
    repo.commit("extra");
    repo.git(&["rm", "-q", "overlays/prod/extra.yaml"]);
    repo.write("overlays/prod/new/note.txt", "new\n");
    repo.write(KUSTOMIZATION, &kustomization('d', 'd', 3));
    repo.commit("release d");
    let ran =
        repo.overlay(&["revert", "overlays/prod", "--to", "HEAD~1", "--commit", "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(repo.git(&["diff", "HEAD~2", "HEAD", "--", "overlays/prod"]), "");
    assert!(!repo.path().join("overlays/prod/new").exists());
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    // To before the bad release, which touched another overlay.
    let ran =
        repo.overlay(&["revert", "overlays/prod", "--to", "HEAD~5", "--commit", "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(text(&repo, KUSTOMIZATION), kustomization('b', 'b', 2));
    assert_eq!(
        repo.git(&["diff", "--name-only", "HEAD~1", "HEAD", "--", "overlays/dev", "base"]),
        ""
    );
    assert!(ran.stdout.contains("takes-back"), "{ran:?}");
    let again =
        repo.overlay(&["revert", "overlays/prod", "--to", "HEAD~6", "--commit", "-o", "json"]);
    assert_eq!((again.status, &again.json()["changed"]), (0, &Json::Bool(false)), "{again:?}");
    assert_eq!(repo.git(&["rev-list", "--count", "HEAD"]).trim(), "8");
}

#[test]
fn a_merge_is_gone_back_behind_like_any_commit() {
    let repo = repo();
    repo.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
    repo.write("overlays/prod/side.txt", "x\n");
    repo.commit("side");
    repo.git(&["checkout", "-q", "main"]);
    repo.merge("ort", "side");
    repo.git(&["commit", "-q", "-m", "Merge side"]);
    let ran =
        repo.overlay(&["revert", "overlays/prod", "--to", "HEAD~1", "--commit", "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(
        repo.git(&["diff", "--name-status", "HEAD~1", "HEAD"]),
        "D\toverlays/prod/side.txt\n"
    );
}

#[test]
fn the_newest_change_is_undone_and_reverts_are_passed_over() {
    let repo = repo();
    let undo = |more: &[&str]| {
        let ran =
            repo.overlay(&[&["revert", "overlays/prod", "--commit", "-o", "json"], more].concat());
        assert_eq!(ran.status, 0, "{ran:?}");
        ran.json()["changed"].as_bool().unwrap()
    };
    assert!(undo(&["--last"]));
    assert_eq!(text(&repo, KUSTOMIZATION), kustomization('c', 'c', 2));
    assert!(!undo(&["--last"]), "what was undone is not undone again");
    assert!(undo(&["--steps", "2"]));
    assert_eq!(text(&repo, KUSTOMIZATION), kustomization('b', 'b', 2));
    assert!(undo(&["--steps", "3"]));
    assert_eq!(text(&repo, KUSTOMIZATION), kustomization('a', 'a', 2));
    // The first commit has nothing before it.
    require(
        &repo.overlay(&["revert", "overlays/prod", "--steps", "4", "-o", "json"]),
        3,
        "absent-then",
    );
    let message = repo.git(&["log", "-1", "--format=%B"]);
    assert!(
        message.starts_with("Go back to ") && message.contains("\"command\":\"revert\""),
        "{message}"
    );
}

#[test]
fn one_field_goes_back() {
    let repo = repo();
    let field = "Deployment/web spec.replicas";
    let ran = repo.overlay(&[
        "revert",
        "overlays/prod",
        "--to",
        "HEAD~1",
        "--field",
        field,
        "-o",
        "json",
    ]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(text(&repo, KUSTOMIZATION), kustomization('c', 'c', 2));
    let other = ["--field", field, "--field", "Deployment/api spec.replicas"];
    require(
        &repo.overlay(
            &[&["revert", "overlays/prod", "--to", "HEAD~1", "-o", "json"], &other[..]].concat(),
        ),
        2,
        "usage",
    );
    let none = [
        "revert",
        "overlays/prod",
        "--to",
        "HEAD~1",
        "--field",
        "Deployment/none spec.replicas",
        "-o",
        "json",
    ];
    require(&repo.overlay(&none), 3, "entries-differ");
}

#[test]
fn what_is_no_past_of_this_is_refused() {
    let repo = repo();
    let revert = |to: &str| repo.overlay(&["revert", "overlays/prod", "--to", to, "-o", "json"]);
    require(&revert("nowhere"), 4, "no-such-revision");
    repo.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
    repo.write("x", "x");
    repo.commit("side");
    repo.git(&["checkout", "-q", "main"]);
    require(&revert("side"), 3, "not-an-ancestor");
    repo.write("overlays/new/kustomization.yaml", "resources:\n- ../../base\n");
    repo.commit("new");
    require(
        &repo.overlay(&["revert", "overlays/new", "--to", "HEAD~1", "-o", "json"]),
        3,
        "absent-then",
    );
    require(&repo.overlay(&["revert", "overlays/new", "--last", "-o", "json"]), 3, "absent-then");
    assert_eq!(repo.overlay(&["revert", "overlays/prod"]).status, 2);
    assert_eq!(repo.overlay(&["revert", "overlays/prod", "--last", "--steps", "2"]).status, 2);
}

#[test]
fn what_is_not_committed_is_not_written_over() {
    let repo = repo();
    let half = format!("{}# half done\n", kustomization('c', 'c', 3));
    repo.write(KUSTOMIZATION, &half);
    let to = ["revert", "overlays/prod", "--to", "HEAD~2", "-o", "json"];
    require(&repo.overlay(&to), 3, "dirty-file");
    assert_eq!(text(&repo, KUSTOMIZATION), half);
    // Pins are edited in the file as it is.
    assert_eq!(repo.overlay(&[&to[..], &["--pins"]].concat()).status, 0);
    assert_eq!(text(&repo, KUSTOMIZATION), format!("{}# half done\n", kustomization('b', 'b', 3)));
    assert_eq!(repo.overlay(&[&to[..], &["--overwrite"]].concat()).status, 0);
    assert_eq!(text(&repo, KUSTOMIZATION), kustomization('b', 'b', 2));
}

#[test]
fn what_a_base_decides_cannot_come_back_and_is_told() {
    let repo = repo();
    repo.write("base/all.yaml", &base().replace("replicas: 1", "replicas: 5"));
    repo.commit("base");
    let ran = repo.overlay(&["revert", "overlays/prod", "--to", "HEAD~3", "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let notes = &ran.json()["result"]["overlays"][0]["notes"];
    let told =
        notes.as_array().unwrap().iter().find(|note| note["code"] == "not-restored").unwrap();
    let told = told["message"].as_str().unwrap();
    assert!(
        told.contains("base/all.yaml") && told.contains("Deployment.apps/api spec.replicas"),
        "{told}"
    );
}

#[test]
fn placeholders_and_older_databases_do_not_come_back_unnoticed() {
    let cluster = |tag: &str| {
        format!(
            "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata:\n  name: db\nspec:\n  instances: 1\n  imageName: 127.0.0.1:9/postgres:{tag}\n"
        )
    };
    let zeros = format!("images:\n- name: 127.0.0.1:9/web\n  digest: {}\n", digest('0'));
    let real = zeros.replace(&digest('0'), &digest('a'));
    let top = "resources:\n- ../../base\n- db.yaml\n";
    let repo = TestRepo::with_files(&[
        ("base/kustomization.yaml", "resources:\n- all.yaml\n"),
        ("base/all.yaml", &base()),
        (KUSTOMIZATION, &format!("{top}{zeros}")),
        ("overlays/prod/db.yaml", &cluster("16.9")),
    ]);
    repo.write(KUSTOMIZATION, &format!("{top}{real}"));
    repo.commit("a digest");
    repo.write("overlays/prod/db.yaml", &cluster("17.2"));
    repo.commit("17");
    let revert = |to: &str, more: &[&str]| {
        let args = ["revert", "overlays/prod", "-o", "json", "--dry-run", "--to", to];
        repo.overlay(&[&args[..], more].concat())
    };
    require(&revert("HEAD~1", &[]), 3, "database-downgrade");
    assert_eq!(revert("HEAD~1", &["--allow-downgrade"]).status, 0);
    require(&revert("HEAD~2", &["--allow-downgrade"]), 3, "placeholder-returns");
    require(&revert("HEAD~2", &["--pins"]), 3, "placeholder-returns");
    assert_eq!(revert("HEAD~2", &["--allow-downgrade", "--allow-placeholder"]).status, 0);
    repo.write(KUSTOMIZATION, &format!("{top}{zeros}"));
    repo.commit("off again");
    require(&revert("HEAD~1", &["--pins"]), 3, "placeholder");
    assert_eq!(revert("HEAD~1", &["--pins", "--replace-placeholder"]).status, 0);
}

#[test]
fn an_overlay_that_no_longer_builds_goes_back() {
    let repo = repo();
    repo.write(KUSTOMIZATION, "resources:\n- ../../nothing\n");
    repo.commit("broken");
    let ran = repo.overlay(&["revert", "overlays/prod", "--last", "--commit", "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(text(&repo, KUSTOMIZATION), kustomization('c', 'c', 3));
    assert!(ran.stdout.contains("now-broken"), "{ran:?}");
}

#[test]
fn a_shallow_clone_is_deepened_or_says_so() {
    let repo = repo();
    let old = repo.git(&["rev-parse", "HEAD~2"]).trim().to_owned();
    for to in [old.as_str(), "HEAD~2"] {
        let clone = repo.clone_shallow(1);
        let ran = clone.overlay(&["revert", "overlays/prod", "--to", to, "-o", "json"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert_eq!(text(&clone, KUSTOMIZATION), kustomization('b', 'b', 2));
    }
    let clone = repo.clone_shallow(1);
    let last = clone.overlay(&["revert", "overlays/prod", "--last", "-o", "json"]);
    assert_eq!(last.status, 0, "{last:?}");
    assert_eq!(text(&clone, KUSTOMIZATION), kustomization('c', 'c', 2));
    let clone = repo.clone_shallow(1);
    clone.git(&["remote", "set-url", "origin", "file:///nowhere"]);
    let ran = clone.overlay(&["revert", "overlays/prod", "--to", &old, "-o", "json"]);
    require(&ran, 4, "shallow-clone");
    assert!(ran.stdout.contains("git fetch --unshallow"), "{ran:?}");
}

#[test]
fn a_delivery_to_a_branch_leaves_the_checkout() {
    let repo = repo();
    let ran = repo.overlay(&[
        "revert",
        "overlays/prod",
        "--to",
        "HEAD~2",
        "--branch",
        "back",
        "-o",
        "json",
    ]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(repo.git(&["show", &format!("back:{KUSTOMIZATION}")]), kustomization('b', 'b', 2));
    assert_eq!(text(&repo, KUSTOMIZATION), kustomization('c', 'c', 3));
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_hold_ends_by_itself_and_a_broken_one_refuses() {
    let repo = repo();
    let pin = || {
        repo.overlay(&[
            "pin",
            "overlays/prod",
            &format!("web={}", digest('d')),
            "--dry-run",
            "-o",
            "json",
        ])
    };
    let ran = repo.overlay(&[
        "hold",
        "overlays/prod",
        "--until",
        "2020-01-01",
        "--reason",
        "x",
        "--by",
        "Bo",
    ]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let file = "overlays/prod/overlay-hold.yaml";
    assert!(
        text(&repo, file).contains("\nuntil: \"2020-01-02T00:00:00Z\"\n"),
        "{}",
        text(&repo, file)
    );
    assert_eq!(pin().status, 0);
    let again = repo.overlay(&[
        "hold",
        "overlays/prod",
        "--until",
        "2020-01-01",
        "--reason",
        "x",
        "--by",
        "Bo",
        "-o",
        "json",
    ]);
    assert_eq!(again.json()["changed"], false);
    repo.write(file, "version: 1\nuntil: 2999-01-01T00:00:00Z\nreason: x\nby: y\nwho: z\n");
    let ran = pin();
    require(&ran, 3, "hold-invalid");
    assert_eq!(ran.json()["error"]["location"]["line"], 5);
    repo.write(file, "version: 1\nuntil: someday\nreason: x\nby: y\n");
    require(&pin(), 3, "hold-invalid");
    // A hold of pins lets other edits be.
    let args = [
        "hold",
        "overlays/prod",
        "--until",
        "24h",
        "--reason",
        "x",
        "--by",
        "Bo",
        "--scope",
        "pins",
    ];
    assert_eq!(repo.overlay(&["hold", "overlays/prod", "--release"]).status, 0);
    assert_eq!(repo.overlay(&args).status, 0);
    require(&pin(), 3, "on-hold");
    assert_eq!(repo.overlay(&["set", "replicas", "overlays/prod", "web=4", "--dry-run"]).status, 0);
    assert_eq!(repo.overlay(&["hold", "overlays/prod"]).status, 2);
    assert_eq!(repo.overlay(&["hold", "overlays/prod", "--until", "24h"]).status, 2);
}

/// One change of a random sort within the overlay.
fn change(repo: &TestRepo, numbers: &mut Numbers, at: usize) {
    let letters = ['a', 'b', 'c', 'd'];
    let (web, api) = (*numbers.pick(&letters), *numbers.pick(&letters));
    let count = u8::try_from(1 + numbers.below(3)).unwrap();
    let mut text = kustomization(web, api, count);
    for name in ["one.yaml", "deep/two.yaml", "three.yaml"] {
        let path = format!("overlays/prod/{name}");
        match numbers.below(3) {
            0 => drop(fs::remove_file(repo.path().join(path))),
            _ => {
                let name = name.replace(['.', '/'], "-");
                repo.write(&path, &format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  at: \"{}\"\n", numbers.below(3)));
            }
        }
    }
    let stands = |name: &&str| repo.path().join("overlays/prod").join(name).exists();
    for name in ["one.yaml", "deep/two.yaml", "three.yaml"].iter().filter(|name| stands(name)) {
        text = text.replace("resources:\n", &format!("resources:\n- {name}\n"));
    }
    if numbers.below(3) == 0 {
        text += &format!("# remark {at}\n");
    }
    repo.write(KUSTOMIZATION, &text);
}

/// `OVERLAY_HISTORIES=300` looks at more of them.
#[test]
fn going_back_renders_what_was_rendered() {
    let Some(judge) = judge() else { return };
    let wanted = std::env::var("OVERLAY_HISTORIES").ok().and_then(|n| n.parse().ok()).unwrap_or(2);
    for seed in 0..wanted {
        let mut numbers = Numbers(0xface_0000_0001 + 7919 * seed);
        let repo = repo();
        for at in 0..5 {
            change(&repo, &mut numbers, at);
            if numbers.below(3) == 0 {
                repo.write(
                    "overlays/dev/kustomization.yaml",
                    &format!("resources:\n- ../../base\nnamePrefix: n{at}-\n"),
                );
            }
            repo.commit(&format!("change {at}"));
        }
        let to = format!("HEAD~{}", 1 + numbers.below(7));
        let commit = repo.git(&["rev-parse", &to]).trim().to_owned();
        let delivered = numbers.below(2) == 0;
        let mut args = vec!["revert", "overlays/prod", "--to", &to, "-o", "json"];
        args.extend(delivered.then_some("--commit"));
        let ran = repo.overlay(&args);
        assert_eq!(ran.status, 0, "seed {seed}: {ran:?}");
        let now = judge.build(&repo.path().join("overlays/prod")).unwrap();
        let built = repo.overlay(&["build", "overlays/prod", "--at", &commit]).stdout;
        assert_eq!(now, built, "seed {seed} to {to}");
        // Git's own word: below the overlay as then, beside it as before.
        repo.git(&["add", "-A"]);
        assert_eq!(
            repo.git(&["diff", "--cached", &commit, "--", "overlays/prod"]),
            "",
            "seed {seed}"
        );
        let start = if delivered { "HEAD~1" } else { "HEAD" };
        assert_eq!(
            repo.git(&["diff", "--cached", start, "--", "base", "overlays/dev"]),
            "",
            "seed {seed}"
        );
    }
}

/// Pins of a commit, and all else as it is: git's word line by line.
#[test]
fn pins_go_back_alone() {
    for seed in 0..4 {
        let mut numbers = Numbers(0xbeef_0001 + 31 * seed);
        let repo = repo();
        change(&repo, &mut numbers, 0);
        repo.commit("other");
        let before = text(&repo, KUSTOMIZATION);
        let files = tree_contents(&repo.path());
        let ran =
            repo.overlay(&["revert", "overlays/prod", "--to", "HEAD~3", "--pins", "-o", "json"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        let lines: Vec<String> = before
            .lines()
            .map(|line| match line.contains("digest: ") {
                true => format!("  digest: {}", digest('b')),
                false => line.to_owned(),
            })
            .collect();
        let expected = lines.join("\n") + "\n";
        assert_eq!(text(&repo, KUSTOMIZATION), expected);
        let mut now: BTreeMap<String, Vec<u8>> = tree_contents(&repo.path());
        let mut then = files;
        now.remove(KUSTOMIZATION);
        then.remove(KUSTOMIZATION);
        assert_eq!(now, then);
    }
}

/// The published schema says what the reader takes: the same keys, and each of them needed or not.
#[test]
fn the_schema_of_a_hold_is_what_is_read() {
    let schema: Json = serde_json::from_str(include_str!("../../docs/hold.schema.json")).unwrap();
    let keys: Vec<&str> =
        schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, overlay::plan::HOLD_KEYS);
    let repo = repo();
    let values = [
        ("version", "1"),
        ("until", "2999-01-01T00:00:00Z"),
        ("reason", "x"),
        ("by", "y"),
        ("scope", "all"),
    ];
    for left_out in keys {
        let lines = values.iter().filter(|(key, _)| *key != left_out);
        let text: String = lines.map(|(key, value)| format!("{key}: {value}\n")).collect();
        repo.write("overlays/prod/overlay-hold.yaml", &text);
        let ran =
            repo.overlay(&["pin", "overlays/prod", &format!("web={}", digest('d')), "-o", "json"]);
        let is_needed = schema["required"].as_array().unwrap().contains(&left_out.into());
        require(&ran, 3, if is_needed { "hold-invalid" } else { "on-hold" });
    }
}

/// The script of `docs/hold.md`, as the page has it.
#[test]
fn the_required_check_of_the_page_refuses_what_is_held() {
    for program in ["jq", "bash"] {
        if !crate::support::runs(program, &["--version"]) {
            return crate::support::skip(&format!("no {program}"));
        }
    }
    let page = include_str!("../../docs/hold.md");
    let script = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let repo = repo();
    let hold = ["hold", "overlays/prod", "--until", "24h", "--reason", "x", "--commit"];
    assert_eq!(repo.overlay(&hold).status, 0);
    repo.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let check = || repo.script(script, &[("BASE", "main")]);
    assert_eq!(check(), 0);
    repo.write("overlays/dev/kustomization.yaml", "resources:\n- ../../base\nnamePrefix: d-\n");
    repo.commit("dev");
    assert_eq!(check(), 0, "another overlay is not held");
    repo.write(KUSTOMIZATION, &kustomization('d', 'd', 3));
    repo.commit("a bot");
    assert_eq!(check(), 1);
}

/// A registry that has collected the image of then, and one that still has it.
#[cfg(feature = "registry")]
#[test]
fn an_image_that_is_gone_does_not_come_back_unless_that_is_said() {
    use crate::support::scripted_http::{Answer, ScriptedHttp};
    let server = ScriptedHttp::start(|asked| match asked.target.contains(&"a".repeat(64)) {
        true => Answer::new(404).body("{\"errors\":[{\"code\":\"MANIFEST_UNKNOWN\"}]}"),
        false => Answer::new(200)
            .header("Content-Type", "application/vnd.oci.image.index.v1+json")
            .header("Docker-Content-Digest", &digest('b')),
    });
    let host = server.host();
    let text = |letter: char| {
        format!(
            "resources:\n- ../../base\nimages:\n- name: {host}/web\n  digest: {}\n",
            digest(letter)
        )
    };
    let repo = TestRepo::with_files(&[
        ("base/kustomization.yaml", "resources:\n- all.yaml\n"),
        ("base/all.yaml", &base().replace("127.0.0.1:9", &host)),
        (KUSTOMIZATION, &text('a')),
    ]);
    for letter in ['b', 'c'] {
        repo.write(KUSTOMIZATION, &text(letter));
        repo.commit("release");
    }
    let revert = |to: &str, more: &[&str]| {
        let args = ["revert", "overlays/prod", "-o", "json", "--dry-run", "--to", to];
        repo.overlay(&[&args[..], more].concat())
    };
    let gone = revert("HEAD~2", &[]);
    require(&gone, 3, "image-gone");
    assert!(gone.stdout.contains(&format!("{host}/web@{}", digest('a'))), "{gone:?}");
    assert_eq!(revert("HEAD~2", &["--allow-gone"]).status, 0);
    let there = revert("HEAD~1", &[]);
    assert_eq!(there.status, 0, "{there:?}");
    assert!(!there.stdout.contains("registry-not-checked"), "{there:?}");
    // Nothing listens on port 9: that stops nobody.
    let ran = self::repo().overlay(&[
        "revert",
        "overlays/prod",
        "--to",
        "HEAD~2",
        "--dry-run",
        "-o",
        "json",
    ]);
    assert!(ran.status == 0 && ran.stdout.contains("registry-not-checked"), "{ran:?}");
}
