//! `overlay.lock`: written by `overlay lock` and `overlay bump`, held by every build. What a commit is, git says.

use std::fs;

use serde_json::Value as Json;

use crate::support::git_lab::Lab;
use crate::support::judge;
use crate::support::repo::Ran;

/// `hub.git` with an annotated tag `v1` on its first commit and `main` on its second; `nested.git`, whose base stands on
/// `v1` of the hub; and the repository `instance`, whose overlays stand on the tag, the branch, nothing, a commit, and
/// the nested one.
fn lab() -> Lab {
    let lab = Lab::new();
    lab.overlays("hub", &[]);
    lab.git("hub", &["tag", "-a", "v1", "-m", "one"]);
    write_config_map(&lab, "second");
    lab.commit_all("hub", "second");
    lab.bare("hub", "hub.git");
    lab.init("nested", &[]);
    let hub = lab.url("hub.git");
    lab.write(
        "nested/base/kustomization.yaml",
        format!("resources:\n- {hub}//base?ref=v1\nnamePrefix: n-\n"),
    );
    lab.commit_all("nested", "one");
    lab.git("nested", &["tag", "n1"]);
    lab.bare("nested", "nested.git");
    lab.init("instance", &[]);
    for (name, reference) in [
        ("tag", format!("{hub}//base?ref=v1")),
        ("branch", format!("{hub}//base?ref=main")),
        ("nothing", format!("{hub}//base")),
        ("commit", format!("{hub}//base?ref={}", lab.git("hub", &["rev-parse", "HEAD"]))),
        ("nested", format!("{}//base?ref=n1", lab.url("nested.git"))),
    ] {
        overlay_on(&lab, name, &reference);
    }
    lab.commit_all("instance", "start");
    lab
}

fn write_config_map(lab: &Lab, name: &str) {
    lab.write("hub/base/kustomization.yaml", "resources: [web.yaml, map.yaml]\n");
    let map = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
    lab.write("hub/base/map.yaml", map);
}

fn overlay_on(lab: &Lab, name: &str, reference: &str) {
    let text = format!("resources:\n- {reference}\nnamePrefix: our-\n");
    lab.write(&format!("instance/{name}/kustomization.yaml"), text);
}

/// Moves the tag `v1` and the branch `main` of the hub to a third commit.
fn move_all(lab: &Lab) -> String {
    write_config_map(lab, "third");
    let third = lab.commit_all("hub", "third");
    lab.git("hub", &["tag", "-f", "-a", "v1", "-m", "again"]);
    lab.git("hub", &["push", "-q", "-f", "../hub.git", "main", "v1"]);
    third
}

fn lock(lab: &Lab, args: &[&str]) -> Ran {
    lab.overlay("instance", &[&["lock", "-o", "json"], args].concat())
}

fn text(lab: &Lab) -> String {
    String::from_utf8(lab.read("instance/overlay.lock")).unwrap()
}

/// The states of the entries, by reference.
fn states(ran: &Ran) -> Vec<(String, String)> {
    let entries = ran.json()["result"]["entries"].clone();
    let word = |entry: &Json, key: &str| entry[key].as_str().unwrap_or("HEAD").to_owned();
    entries.as_array().unwrap().iter().map(|e| (word(e, "ref"), word(e, "state"))).collect()
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn every_tag_and_branch_is_written_down_and_a_second_run_changes_nothing() {
    let lab = lab();
    let dry = lock(&lab, &["--dry-run"]);
    assert_eq!((dry.status, &dry.json()["changed"]), (0, &Json::Bool(true)), "{dry:?}");
    assert!(!lab.path("instance/overlay.lock").exists());
    let unlocked = lock(&lab, &["--check"]);
    assert_eq!((unlocked.status, unlocked.code().as_str()), (7, "lock-outdated"));
    let ran = lock(&lab, &[]);
    assert_eq!((ran.status, &ran.json()["changed"]), (0, &Json::Bool(true)), "{ran:?}");
    let (hub, nested) = (lab.url("hub.git"), lab.url("nested.git"));
    let commit = |dir: &str, name: &str| lab.git(dir, &["rev-parse", name]);
    let (first, second) = (commit("hub", "v1^{commit}"), commit("hub", "main"));
    let n1 = commit("nested", "n1");
    assert_eq!(
        text(&lab),
        format!(
            "overlay-lock 1\n{hub} - {second}\n{hub} main {second}\n{hub} v1 {first}\n{nested} n1 {n1}\n"
        )
    );
    let again = lock(&lab, &[]);
    assert_eq!((again.status, &again.json()["changed"]), (0, &Json::Bool(false)));
    assert_eq!(lock(&lab, &["--check"]).status, 0);
    for args in [["--check", "--update"], ["--check", "--dry-run"]] {
        assert_eq!(lock(&lab, &args).status, 2);
    }
}

#[test]
fn what_is_locked_is_built_until_an_update_and_a_moved_tag_is_told() {
    let lab = lab();
    let build = |name: &str| lab.overlay("instance", &["build", name]).stdout;
    let before = ["tag", "branch", "nothing", "nested"].map(build);
    lock(&lab, &[]);
    let third = move_all(&lab);
    assert_eq!(["tag", "branch", "nothing", "nested"].map(build), before);
    let check = lock(&lab, &["--check"]);
    assert_eq!((check.status, check.code().as_str()), (7, "lock-outdated"), "{check:?}");
    let moved =
        [("HEAD", "branch-moved"), ("main", "branch-moved"), ("v1", "tag-moved"), ("n1", "kept")];
    assert_eq!(states(&check), pairs(&moved));
    assert_eq!(check.json()["result"]["entries"][2]["remote"], Json::String(third.clone()));
    let kept = text(&lab);
    let plain = lock(&lab, &[]);
    assert_eq!((plain.status, states(&plain)), (0, pairs(&moved)), "told, and kept");
    assert_eq!(text(&lab), kept);
    let update = lock(&lab, &["--update"]);
    let updated = [("HEAD", "updated"), ("main", "updated"), ("v1", "updated"), ("n1", "kept")];
    assert_eq!((update.status, states(&update)), (0, pairs(&updated)));
    assert_eq!(text(&lab).matches(&third).count(), 3);
    assert_eq!(lock(&lab, &["--check"]).status, 0);
    let after = build("tag");
    assert_ne!(after, before[0]);
    if let Some(judge) = judge() {
        assert_eq!(judge.build(&lab.path("instance/tag")), Ok(after));
    }
}

#[test]
fn a_branch_that_moved_on_is_no_finding_and_a_tag_that_is_gone_is() {
    let lab = lab();
    lock(&lab, &["branch", "--overlay", "tag"]);
    write_config_map(&lab, "third");
    lab.commit_all("hub", "third");
    lab.git("hub", &["push", "-q", "../hub.git", "main"]);
    let check = lock(&lab, &["branch", "tag", "--check"]);
    assert_eq!(
        (check.status, states(&check)),
        (0, pairs(&[("main", "branch-moved"), ("v1", "kept")]))
    );
    lab.git("hub.git", &["tag", "-d", "v1"]);
    let check = lock(&lab, &["branch", "tag", "--check"]);
    assert_eq!(
        (check.status, states(&check)),
        (7, pairs(&[("main", "branch-moved"), ("v1", "gone")]))
    );
}

#[test]
fn overlays_that_are_named_leave_the_others_and_all_together_drop_what_nothing_uses() {
    let lab = lab();
    lock(&lab, &["tag"]);
    assert_eq!(text(&lab).lines().count(), 2);
    let more = lock(&lab, &["bran*"]);
    assert_eq!(states(&more), pairs(&[("main", "added"), ("v1", "kept")]));
    for name in ["tag", "nested", "nothing", "commit"] {
        fs::remove_dir_all(lab.path(&format!("instance/{name}"))).unwrap();
    }
    let all = lock(&lab, &[]);
    assert_eq!(states(&all), pairs(&[("main", "kept"), ("v1", "removed")]));
    assert!(!text(&lab).contains(" v1 "));
    assert_eq!(lock(&lab, &["none"]).code(), "no-such-overlay");
}

#[test]
fn offline_the_lock_and_the_cache_are_enough() {
    let lab = lab();
    lock(&lab, &[]);
    let online = lab.overlay("instance", &["build", "tag", "branch", "nothing", "nested"]);
    fs::rename(lab.path("hub.git"), lab.path("gone.git")).unwrap();
    fs::rename(lab.path("nested.git"), lab.path("gone-too.git")).unwrap();
    // What is locked asks nobody, with --offline and without.
    for more in [&["--offline"][..], &[]] {
        let args = [&["build", "tag", "branch", "nothing", "nested"], more].concat();
        let built = lab.overlay("instance", &args);
        assert_eq!((built.status, &built.stdout), (0, &online.stdout), "{built:?}");
    }
    assert_eq!(lock(&lab, &["--offline"]).status, 0);
    fs::remove_dir_all(lab.path("cache")).unwrap();
    let cold = lab.overlay("instance", &["build", "tag", "--offline", "-o", "json"]);
    assert_eq!((cold.status, cold.code().as_str()), (4, "remote-base"));
    let before = text(&lab);
    let failed = lock(&lab, &["--update"]);
    assert_eq!(failed.status, 5, "{failed:?}");
    assert_eq!(text(&lab), before, "nothing is written where a base cannot be had");
}

#[test]
fn a_locked_commit_that_the_remote_dropped_is_named() {
    let lab = lab();
    lock(&lab, &["tag"]);
    let locked = lab.git("hub", &["rev-parse", "v1^{commit}"]);
    lab.init("other", &[]);
    lab.write("other/base/kustomization.yaml", "resources: []\n");
    lab.commit_all("other", "another history");
    lab.git("other", &["tag", "v1"]);
    fs::remove_dir_all(lab.path("hub.git")).unwrap();
    lab.bare("other", "hub.git");
    fs::remove_dir_all(lab.path("cache")).unwrap();
    let ran = lab.overlay("instance", &["build", "tag", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (4, "remote-base"), "{ran:?}");
    assert!(ran.stdout.contains(&locked) && ran.stdout.contains("overlay.lock"), "{ran:?}");
}

#[test]
fn an_entry_never_stands_for_a_commit_that_is_named() {
    let lab = lab();
    let (first, second) =
        (lab.git("hub", &["rev-parse", "v1^{commit}"]), lab.git("hub", &["rev-parse", "main"]));
    let hostile = format!("overlay-lock 1\n{} {second} {first}\n", lab.url("hub.git"));
    let plain = lab.overlay("instance", &["build", "commit"]).stdout;
    lab.write("instance/overlay.lock", hostile);
    assert_eq!(lab.overlay("instance", &["build", "commit"]).stdout, plain);
}

#[test]
fn a_bump_keeps_the_lock_in_the_same_change_and_makes_none() {
    let lab = lab();
    let second = lab.git("hub", &["rev-parse", "main"]);
    lab.git("hub.git", &["tag", "v2", "main"]);
    let bump = |more: &[&str]| {
        let args = ["bump", "tag", "--ref", "v2", "--accept-kind", "ConfigMap", "-o", "json"];
        lab.overlay("instance", &[&args[..], more].concat())
    };
    assert_eq!(bump(&[]).status, 0);
    assert!(!lab.path("instance/overlay.lock").exists(), "no lock where there was none");
    lab.git("instance", &["checkout", "-q", "."]);
    lock(&lab, &["tag"]);
    lab.commit_all("instance", "locked");
    let before = text(&lab);
    let dry = bump(&["--dry-run"]);
    assert_eq!(dry.json()["result"]["overlays"][0]["files"][1]["path"], "overlay.lock", "{dry:?}");
    assert_eq!(text(&lab), before);
    let ran = bump(&["--commit"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let names = lab.git("instance", &["diff", "--name-only", "HEAD^", "HEAD"]);
    assert_eq!(names, "overlay.lock\ntag/kustomization.yaml");
    assert_eq!(text(&lab), format!("{before}{} v2 {second}\n", lab.url("hub.git")));
    assert_eq!(lab.git("instance", &["status", "--porcelain"]), "");
    let again = bump(&["--commit"]);
    assert_eq!((again.status, &again.json()["changed"]), (0, &Json::Bool(false)));
    let all = lock(&lab, &[]);
    assert!(states(&all).contains(&("v2".to_owned(), "kept".to_owned())), "{all:?}");
}
