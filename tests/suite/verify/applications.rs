//! `overlay verify --follow` beside an Application that sees the commit later than the cluster, or never.

use std::time::Duration;

use serde_json::{Value, json};

use super::{NEW, command, ended, ids, repo, rolled_out, verify};
use crate::support::kube_api::KubeApi;
use crate::support::repo::{Ran, TestRepo};

/// A repository with an address, the commit that is asked for, and one before and one after it.
fn history() -> (TestRepo, [String; 3]) {
    let repo = repo(NEW);
    repo.git(&["remote", "add", "origin", "https://git.example/shop/deploy.git"]);
    let commit = |name: &str| {
        repo.write("README.md", name);
        repo.commit(name);
        repo.git(&["rev-parse", "HEAD"]).trim().to_owned()
    };
    let commits = ["before", "wanted", "after"].map(commit);
    (repo, commits)
}

fn application(status: &str, revision: &str) -> Value {
    json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": "shop", "namespace": "argocd"},
        "spec": {"source": {"repoURL": "https://git.example/shop/deploy.git",
            "path": "overlays/prod"}},
        "status": {"sync": {"status": status, "revision": revision},
            "health": {"status": "Healthy"}}})
}

/// What the timeline says of Applications.
fn told(ran: &Ran) -> Vec<String> {
    let steps = ran.json()["result"]["follow"]["timeline"].as_array().unwrap().clone();
    let of_it = steps.iter().filter(|step| step["object"] == "Application/shop");
    of_it.map(|step| step["what"].as_str().unwrap().to_owned()).collect()
}

fn args(commit: &str) -> [&str; 8] {
    let timeout = "60s";
    ["overlays/prod", "--follow", "--dwell", "0s", "--timeout", timeout, "--commit", commit]
}

#[test]
fn what_runs_may_be_well_before_the_application_is() {
    let (repo, [before, wanted, after]) = history();
    let server = KubeApi::with(rolled_out(NEW));
    server.apply(application("Synced", &before));
    let mut child = command(&repo, &server, &args(&wanted)).spawn().unwrap();
    server.wait_for("/applications?&watch=true", 1);
    // Everything else is as it is to be, and that is no success yet.
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(child.try_wait().unwrap(), None);
    server.apply(application("OutOfSync", &wanted));
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(child.try_wait().unwrap(), None);
    server.apply(application("Synced", &after));
    let ran = ended(child);
    assert_eq!((ran.status, ids(&ran)), (0, vec![]), "{ran:?}");
    let told = told(&ran);
    assert!(told[0].contains(&format!("compared at {before}")), "{told:?}");
    assert!(told[1].contains("OutOfSync"), "{told:?}");
    assert_eq!(told[2..], [format!("is Synced at {}", &after[..12])]);
    assert!(ran.stderr.contains("Application/shop is Synced"), "{ran:?}");
}

#[test]
fn an_application_that_never_gets_there_is_no_success() {
    let (repo, [before, wanted, _]) = history();
    for (application, id) in [
        (application("Synced", &before), "application-other-commit"),
        (application("OutOfSync", &wanted), "application-not-synced"),
    ] {
        let server = KubeApi::with(rolled_out(NEW));
        server.apply(application);
        let mut args = args(&wanted);
        args[5] = "3s";
        let ran = verify(&repo, &server, &args);
        assert_eq!((ran.status, &*ran.code()), (6, "rollout-stalled"), "{ran:?}");
        assert_eq!(ids(&ran), [id]);
        let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("Application/shop"), "{message}");
    }
}

/// Without `--commit` it has to be Synced, at whatever.
#[test]
fn an_application_is_waited_for_without_a_commit_too() {
    let (repo, [before, ..]) = history();
    let server = KubeApi::with(rolled_out(NEW));
    server.apply(application("OutOfSync", &before));
    let args = ["overlays/prod", "--follow", "--dwell", "0s", "--timeout", "60s"];
    let mut child = command(&repo, &server, &args).spawn().unwrap();
    server.wait_for("/applications?&watch=true", 1);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(child.try_wait().unwrap(), None);
    server.apply(application("Synced", &before));
    let ran = ended(child);
    assert_eq!((ran.status, ids(&ran)), (0, vec![]), "{ran:?}");
}

/// Where nobody deploys it no time mends that; who may not watch may list; who may do neither knows nothing.
#[test]
fn what_cannot_be_watched_is_looked_at_once() {
    let (repo, [before, wanted, after]) = history();
    let server = KubeApi::with(rolled_out(NEW));
    let ran = verify(&repo, &server, &args(&wanted));
    assert_eq!((ran.status, ids(&ran).join(" ")), (7, "application-other-commit".into()));
    server.apply(application("Synced", &before));
    server.deny("watch", "applications");
    let ran = verify(&repo, &server, &args(&wanted));
    assert_eq!((ran.status, ids(&ran).join(" ")), (7, "application-other-commit".into()));
    server.apply(application("Synced", &after));
    assert_eq!(verify(&repo, &server, &args(&wanted)).status, 0);
    server.deny("list", "applications");
    let ran = verify(&repo, &server, &args(&wanted));
    assert_eq!((ran.status, ids(&ran).join(" ")), (7, "unreadable".into()));
}

/// A revision that this clone does not have may hold the commit: that is said.
#[test]
fn a_revision_that_is_not_here_is_told_as_that() {
    let (repo, [_, wanted, _]) = history();
    let server = KubeApi::with(rolled_out(NEW));
    server.apply(application("Synced", &"c".repeat(40)));
    let ran = verify(&repo, &server, &["overlays/prod", "--commit", &wanted]);
    assert_eq!(ids(&ran), ["application-other-commit"]);
    assert!(ran.stdout.contains("git fetch"), "{ran:?}");
}

/// A recording holds Applications too.
#[test]
fn a_recording_is_judged_by_its_applications() {
    let (repo, [before, wanted, after]) = history();
    let recorded = |applications: &[Value]| {
        let first = rolled_out(NEW).into_iter().chain(applications.first().cloned());
        let list = json!({"apiVersion": "v1", "kind": "List", "items": first.collect::<Vec<_>>()});
        let later = applications.iter().skip(1);
        let later = later.map(|one| json!({"type": "MODIFIED", "object": one}).to_string());
        let all = std::iter::once(list.to_string()).chain(later);
        repo.write("../roll.json", &all.collect::<Vec<_>>().join("\n"));
        let from = ["--from", "../roll.json", "-o", "json"];
        let ran = repo.overlay(&[&["verify"][..], &args(&wanted), &from].concat());
        (ran.status, ids(&ran).join(" "))
    };
    let (old, new) = (application("Synced", &before), application("Synced", &after));
    assert_eq!(recorded(&[old.clone(), new]), (0, String::new()));
    assert_eq!(recorded(&[old]), (6, "application-other-commit".into()));
    assert_eq!(recorded(&[]), (7, "application-other-commit".into()));
}
