//! The command itself: real git, a server on loopback, real time.

use std::process::Command;

use serde_json::{Value, json};

use super::server::{FakeArgo, Script, TOKEN, frame};
use crate::support::git_lab::{Lab, WEB};
use crate::support::repo::Ran;

const URL: &str = "https://git.test/ops/deploy.git";

/// The repository of the cases: a hub with OLD, NEW and LATER, and a clone that has not fetched LATER.
pub(crate) struct Cases {
    pub(crate) lab: Lab,
    names: Vec<(&'static str, String)>,
}

impl Cases {
    pub(crate) fn new() -> Self {
        Self::with_later(|lab| {
            lab.write("work/apps/other/x", "x\n");
        })
    }

    fn with_later(later: impl FnOnce(&Lab)) -> Self {
        let lab = Lab::new();
        lab.init("work", &[]);
        lab.write("work/base/kustomization.yaml", "resources: [web.yaml]\n");
        lab.write("work/base/web.yaml", WEB);
        lab.write("work/overlays/prod/kustomization.yaml", "resources: [../../base]\n");
        lab.write("work/apps/other/kustomization.yaml", "resources: []\n");
        let old = lab.commit_all("work", "old");
        let pinned = "resources: [../../base]\nreplicas: [{name: web, count: 3}]\n";
        lab.write("work/overlays/prod/kustomization.yaml", pinned);
        let new = lab.commit_all("work", "pin");
        lab.bare("work", "hub.git");
        let hub = lab.url("hub.git");
        lab.git("", &["clone", "-q", &hub, "deploy"]);
        lab.git("deploy", &["remote", "set-url", "origin", URL]);
        lab.git("deploy", &["config", &format!("url.{hub}.insteadOf"), URL]);
        later(&lab);
        let later = lab.commit_all("work", "later");
        lab.git("work", &["push", "-q", &hub, "main"]);
        Self { lab, names: vec![("@OLD@", old), ("@NEW@", new), ("@LATER@", later)] }
    }

    fn name(&self, key: &str) -> &str {
        &self.names.iter().find(|(name, _)| *name == key).unwrap().1
    }

    pub(crate) fn frame(&self, name: &str) -> Value {
        let names: Vec<(&str, &str)> = self.names.iter().map(|(a, b)| (*a, b.as_str())).collect();
        frame(name, &names)
    }

    fn wait(&self, server: &FakeArgo, args: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_overlay"));
        command.args(["wait", "-o", "json"]).args(args).current_dir(self.lab.path("deploy"));
        command.env_clear().envs(self.lab.environment());
        command.env("ARGOCD_SERVER", server.url()).env("ARGOCD_AUTH_TOKEN", TOKEN);
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let ran = Ran {
            status: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        assert!(!format!("{ran:?}").contains(TOKEN), "{ran:?}");
        ran
    }
}

fn deployment(replicas: u64) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
           "spec": {"replicas": replicas}})
}

fn managed(target: u64, live: u64) -> Value {
    json!({"items": [{"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web",
        "targetState": deployment(target).to_string(), "liveState": deployment(live).to_string()}]})
}

#[test]
fn a_commit_that_is_applied_is_verified_down_to_the_object() {
    let cases = Cases::new();
    let script = Script::new(vec![cases.frame("c91-1"), cases.frame("c91-2")]);
    let server =
        FakeArgo::start(vec![("prod", script.serving("managed-resources", managed(3, 3)))]);
    let ran = cases.wait(&server, &["prod", "--timeout", "20s"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let result = &ran.json()["result"];
    assert_eq!(result["application"], "prod");
    assert_eq!(result["commit"], cases.name("@NEW@"));
    assert_eq!(result["revision"], cases.name("@NEW@"));
    assert_eq!(result["relation"], "equal");
    assert_eq!(result["effect"], "verified");
    assert_eq!(result["timeline"][0]["state"], "not-noticed");
    assert!(ran.stderr.contains("not-noticed"), "{ran:?}");
    assert!(server.count("/api/v1/stream/applications?name=prod") >= 1);
}

#[test]
fn a_server_that_keeps_silent_holds_nobody_beyond_the_timeout() {
    let cases = Cases::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlay"));
    command.args(["wait", "prod", "--timeout", "3s"]).current_dir(cases.lab.path("deploy"));
    command.env_clear().envs(cases.lab.environment());
    command.env("ARGOCD_SERVER", server).env("ARGOCD_AUTH_TOKEN", TOKEN);
    let began = std::time::Instant::now();
    let output = command.output().unwrap();
    let took = began.elapsed();
    assert!(matches!(output.status.code(), Some(5 | 6)), "{output:?}");
    assert!(took < std::time::Duration::from_millis(4_800), "{took:?}");
    drop(listener);
}

#[test]
fn names_that_no_application_has_are_never_asked_for() {
    let cases = Cases::new();
    let server = FakeArgo::start(Vec::new());
    for name in ["", "..", "a/b/c", "/", "Prod", "a b", "-a", "a%2fb", "a\nb"] {
        let ran = cases.wait(&server, &["--timeout", "5s", "--", name]);
        assert_eq!((ran.status, ran.code().as_str()), (2, "usage"), "{name:?}: {ran:?}");
    }
    assert_eq!(server.count("/api"), 0);
}

#[test]
fn what_cannot_be_read_is_said_to_be_unknown() {
    let cases = Cases::new();
    let server = FakeArgo::start(vec![("prod", Script::new(vec![cases.frame("c104-1")]))]);
    let ran = cases.wait(&server, &["prod"]);
    assert_eq!((ran.status, &ran.json()["result"]["effect"]), (0, &json!("unknown")), "{ran:?}");
    assert!(ran.json()["result"]["warnings"][0].as_str().unwrap().contains("not verified"));
}

#[test]
fn c94_a_later_commit_is_fetched_and_found_to_hold_the_change() {
    let cases = Cases::new();
    let server = FakeArgo::start(vec![("prod", Script::new(vec![cases.frame("c94-1")]))]);
    let new = cases.name("@NEW@").to_owned();
    let ran = cases.wait(&server, &["prod", "--commit", &new, "--overlay", "overlays/prod"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(ran.json()["result"]["relation"], "descendant");
    assert_eq!(ran.json()["result"]["revision"], cases.name("@LATER@"));
}

#[test]
fn c94_a_later_commit_that_takes_the_change_back_is_superseding() {
    let cases = Cases::with_later(|lab| {
        lab.write("work/overlays/prod/kustomization.yaml", "resources: [../../base]\n");
    });
    let server = FakeArgo::start(vec![("prod", Script::new(vec![cases.frame("c94-1")]))]);
    let ran = cases.wait(&server, &["prod"]);
    assert_eq!((ran.status, &*ran.code()), (5, "superseded"), "{ran:?}");
    assert!(ran.stdout.contains(cases.name("@LATER@")), "{ran:?}");
}

#[test]
fn a_commit_that_changes_only_hooks_says_that_they_may_not_run() {
    let cases = Cases::with_later(|lab| {
        let hook = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: migrate\n  annotations:\n    \
                    argocd.argoproj.io/hook: PreSync\n";
        lab.write("work/overlays/prod/hook.yaml", hook);
        let with_hook = "resources: [../../base, hook.yaml]\nreplicas: [{name: web, count: 3}]\n";
        lab.write("work/overlays/prod/kustomization.yaml", with_hook);
    });
    let server = FakeArgo::start(vec![("prod", Script::new(vec![cases.frame("c94-1")]))]);
    let later = cases.name("@LATER@").to_owned();
    let ran = cases.wait(&server, &["prod", "--commit", &later]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let warnings = ran.json()["result"]["warnings"].to_string();
    assert!(warnings.contains("only hooks") && warnings.contains("Job/migrate"), "{ran:?}");
    let new = cases.name("@NEW@").to_owned();
    let ran = cases.wait(&server, &["prod", "--commit", &new]);
    assert!(!ran.json()["result"]["warnings"].to_string().contains("hooks"), "{ran:?}");
}

#[test]
fn applications_are_found_by_overlay_whatever_the_spelling_of_the_repository() {
    let cases = Cases::new();
    let mut other = cases.frame("c104-1");
    other["metadata"]["name"] = json!("other");
    other["spec"]["source"]["path"] = json!("overlays/staging");
    let mut prod = cases.frame("c98-1");
    prod["spec"]["sources"][1]["repoURL"] = json!("ssh://git@GIT.test:22/ops/deploy");
    let apps = vec![("prod", Script::new(vec![prod])), ("other", Script::new(vec![other]))];
    let server = FakeArgo::start(apps);
    let ran = cases.wait(&server, &["--overlay", "overlays/prod"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(ran.json()["result"]["applications"].as_array().unwrap().len(), 1);
    let ran = cases.wait(&server, &["--overlay", "apps/other"]);
    assert_eq!((ran.status, &*ran.code()), (4, "no-such-application"), "{ran:?}");
}

#[test]
fn the_children_of_an_application_set_are_waited_for_side_by_side() {
    let cases = Cases::new();
    let names = ["prod-east", "prod-west", "prod-north"];
    let owner = json!([{"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet",
        "name": "prod", "uid": "1", "controller": true}]);
    let apps = names.map(|name| {
        let frames = ["c91-1", "c91-2"].map(|frame| {
            let mut app = cases.frame(frame);
            app["metadata"]["name"] = json!(name);
            app["metadata"]["ownerReferences"] = owner.clone();
            app
        });
        (name, Script::new(frames.to_vec()).serving("managed-resources", managed(3, 3)))
    });
    let server = FakeArgo::start(apps.into());
    let ran = cases.wait(&server, &["--overlay", "overlays/prod", "--timeout", "30s"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let json = ran.json();
    let applications = json["result"]["applications"].as_array().unwrap();
    assert_eq!(applications.len(), names.len());
    for application in applications {
        assert_eq!(
            (&application["relation"], &application["effect"]),
            (&json!("equal"), &json!("verified"))
        );
    }
    // One that fails is named, whatever the others do.
    let mut other = cases.frame("c91-1");
    other["metadata"]["name"] = json!("late");
    other["metadata"]["ownerReferences"] = owner;
    let mut done = cases.frame("c91-2");
    done["metadata"]["name"] = json!("done");
    let apps = vec![("done", Script::new(vec![done])), ("late", Script::new(vec![other]))];
    let server = FakeArgo::start(apps);
    let ran = cases.wait(&server, &["--overlay", "overlays/prod", "--timeout", "3s"]);
    assert_eq!((ran.status, &*ran.code()), (6, "commit-not-noticed"), "{ran:?}");
    assert!(ran.json()["error"]["message"].as_str().unwrap().contains("late: "), "{ran:?}");
}

#[test]
fn what_an_application_states_over_git_is_named() {
    let cases = Cases::with_later(|lab| {
        let file = "kustomize:\n  images: [shop/web:2]\n";
        lab.write("work/overlays/prod/.argocd-source-prod.yaml", file);
        let more = "resources: [../../base]\nreplicas: [{name: web, count: 4}]\n";
        lab.write("work/overlays/prod/kustomization.yaml", more);
    });
    let mut app = cases.frame("c94-1");
    app["spec"]["source"]["kustomize"] = json!({"images": ["shop/web=shop/web:1"]});
    app["status"]["sync"]["comparedTo"] = json!({"source": app["spec"]["source"]});
    let script = Script::new(vec![app]).serving("managed-resources", managed(1, 1));
    let server = FakeArgo::start(vec![("prod", script)]);
    let later = cases.name("@LATER@").to_owned();
    let ran = cases.wait(&server, &["prod", "--commit", &later, "--timeout", "2s"]);
    assert_eq!((ran.status, &*ran.code()), (6, "not-settled"), "{ran:?}");
    for word in [
        "the Application itself states kustomize.images (shop/web=shop/web:1), which wins over git",
        "overlays/prod/.argocd-source-prod.yaml states kustomize.images",
        "rendered is 1 at spec.replicas of Deployment/web",
    ] {
        assert!(ran.stdout.contains(word), "{word}: {ran:?}");
    }
}

#[test]
fn a_commit_that_a_forced_push_dropped_is_told() {
    let cases = Cases::new();
    let old = cases.name("@OLD@").to_owned();
    let hub = cases.lab.url("hub.git");
    // Another way from the commit before, which has to be fetched to be known.
    cases.lab.git("work", &["reset", "-q", "--hard", &old]);
    cases.lab.write("work/apps/other/y", "y\n");
    let other = cases.lab.commit_all("work", "another way");
    cases.lab.git("work", &["push", "-q", "-f", &hub, "HEAD:refs/heads/main"]);
    let mut app = cases.frame("c91-1");
    app["status"]["sync"]["revision"] = json!(other);
    let server = FakeArgo::start(vec![("prod", Script::new(vec![app]))]);
    let ran = cases.wait(&server, &["prod", "--timeout", "2m"]);
    assert_eq!((ran.status, &*ran.code()), (5, "commit-rewritten"), "{ran:?}");
}

#[test]
fn c106_children_are_followed() {
    let cases = Cases::new();
    let root = Script::new(vec![cases.frame("c106-1")]);
    let shop = Script::new(vec![cases.frame("c106-child")]);
    let server = FakeArgo::start(vec![("root", root), ("shop", shop)]);
    let ran = cases.wait(&server, &["root", "--timeout", "2s"]);
    assert_eq!((ran.status, &*ran.code()), (6, "commit-not-noticed"), "{ran:?}");
    assert!(
        ran.json()["error"]["message"].as_str().unwrap().starts_with("argocd/shop: "),
        "{ran:?}"
    );
}

#[test]
fn c110_an_application_of_another_overlay_is_refused() {
    let cases = Cases::new();
    let mut app = cases.frame("c110-1");
    app["spec"]["source"]["path"] = json!("overlays/staging");
    let server = FakeArgo::start(vec![("prod", Script::new(vec![app]))]);
    let ran = cases.wait(&server, &["prod", "--overlay", "overlays/prod"]);
    assert_eq!((ran.status, &*ran.code()), (3, "wrong-application"), "{ran:?}");
}

#[test]
fn stale_manifests_are_no_success() {
    let cases = Cases::new();
    let script = Script::new(vec![cases.frame("c104-1")]);
    let server =
        FakeArgo::start(vec![("prod", script.serving("managed-resources", managed(1, 1)))]);
    let ran = cases.wait(&server, &["prod", "--timeout", "2s"]);
    assert_eq!((ran.status, &*ran.code()), (6, "not-settled"), "{ran:?}");
    assert!(ran.stdout.contains("rendered is 1 at spec.replicas of Deployment/web"), "{ran:?}");
    assert_eq!(server.count("refresh=hard"), 1);
}

#[test]
fn what_is_not_there_or_not_allowed_is_a_missing_precondition() {
    let cases = Cases::new();
    let server = FakeArgo::start(Vec::new());
    let ran = cases.wait(&server, &["absent"]);
    assert_eq!((ran.status, &*ran.code()), (4, "no-such-application"), "{ran:?}");
    assert_eq!(cases.wait(&server, &[]).status, 2);
    assert_eq!(cases.wait(&server, &["prod", "--commit", "nothing"]).status, 4);
}
