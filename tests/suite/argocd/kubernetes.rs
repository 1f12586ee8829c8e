//! The same through the Kubernetes API: a server on loopback that answers as an API server does for Applications and what
//! they deploy.

use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::command::Cases;
use crate::support::repo::Ran;
use crate::support::scripted_http::{Answer, Asked, ScriptedHttp};

const APPLICATIONS: &str = "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications";

const PROJECT: &str = "/apis/argoproj.io/v1alpha1/namespaces/argocd/appprojects/team";

/// What the cluster holds.
struct Cluster {
    frames: Vec<Value>,
    at: usize,
    replicas: u64,
    /// It does not say which kinds there are.
    hides_kinds: bool,
    /// Every patch of an Application.
    patches: Vec<Value>,
}

fn start(frames: Vec<Value>, replicas: u64) -> (ScriptedHttp, Arc<Mutex<Cluster>>) {
    let cluster = Cluster { frames, at: 0, replicas, hides_kinds: false, patches: Vec::new() };
    let cluster = Arc::new(Mutex::new(cluster));
    let shared = Arc::clone(&cluster);
    (ScriptedHttp::start(move |asked| shared.lock().unwrap().answer(asked)), cluster)
}

impl Cluster {
    fn answer(&mut self, asked: &Asked) -> Answer {
        let path = asked.target.split('?').next().unwrap();
        let application = format!("{APPLICATIONS}/prod");
        match (asked.method.as_str(), path) {
            ("GET", path) if path == APPLICATIONS => success(&json!({
                "apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationList",
                "metadata": {"resourceVersion": "1"}, "items": [self.frames[self.at]],
            })),
            ("GET", path) if path == application => success(&self.frames[self.at]),
            ("PATCH", path) if path == application => {
                assert_eq!(asked.header("content-type"), Some("application/merge-patch+json"));
                self.patches.push(serde_json::from_slice(&asked.body).unwrap());
                self.at = (self.at + 1).min(self.frames.len() - 1);
                success(&self.frames[self.at])
            }
            // A project whose windows are closed at all times, for one Application.
            ("GET", path) if path == PROJECT => success(&json!({
                "apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject",
                "metadata": {"name": "team"},
                "spec": {"syncWindows": [{"kind": "deny", "schedule": "* * * * *",
                    "duration": "1h", "applications": ["pro*"]}]}})),
            ("GET", "/apis") if !self.hides_kinds => {
                success(&json!({"kind": "APIGroupList", "apiVersion": "v1",
                "groups": [{"name": "apps",
                    "versions": [{"groupVersion": "apps/v1", "version": "v1"}],
                    "preferredVersion": {"groupVersion": "apps/v1", "version": "v1"}}]}))
            }
            ("GET", "/apis/apps/v1") => success(&json!({"kind": "APIResourceList",
                "groupVersion": "apps/v1", "resources": [{"name": "deployments",
                    "singularName": "deployment", "namespaced": true, "kind": "Deployment",
                    "verbs": ["get"]}]})),
            ("GET", "/apis/apps/v1/namespaces/shop/deployments/web") => success(&json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "web", "namespace": "shop"},
                "spec": {"replicas": self.replicas}})),
            _ => Answer::new(404).header("Content-Type", "application/json").body(
                json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                    "message": format!("{path} not found"), "reason": "NotFound", "code": 404})
                .to_string(),
            ),
        }
    }
}

fn success(value: &Value) -> Answer {
    Answer::new(200).header("Content-Type", "application/json").body(value.to_string())
}

/// The frame as an object of the cluster that Argo CD itself lives in.
fn object(mut frame: Value) -> Value {
    frame["apiVersion"] = json!("argoproj.io/v1alpha1");
    frame["kind"] = json!("Application");
    frame["metadata"]["namespace"] = json!("argocd");
    frame["metadata"]["resourceVersion"] = json!("7");
    frame["spec"]["destination"] =
        json!({"server": "https://kubernetes.default.svc", "namespace": "shop"});
    frame
}

fn wait(cases: &Cases, server: &ScriptedHttp, args: &[&str]) -> Ran {
    let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": server.url("")}}],
        "users": [{"name": "me", "user": {"token": "planted-cluster-token"}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}]});
    cases.lab.write("kubeconfig", config.to_string());
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlay"));
    command.args(["wait", "-o", "json"]).args(args).current_dir(cases.lab.path("deploy"));
    command.env_clear().envs(cases.lab.environment());
    let output = command.env("KUBECONFIG", cases.lab.path("kubeconfig")).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let ran = Ran {
        status: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    };
    assert!(!format!("{ran:?}").contains("planted-cluster-token"), "{ran:?}");
    ran
}

#[test]
fn a_commit_is_waited_for_and_verified_through_the_kubernetes_api() {
    let cases = Cases::new();
    let frames = ["c91-1", "c91-2"].map(|name| object(cases.frame(name)));
    let (server, cluster) = start(frames.to_vec(), 3);
    let ran = wait(&cases, &server, &["prod", "--timeout", "20s"]);
    assert_eq!((ran.status, &ran.json()["result"]["effect"]), (0, &json!("verified")), "{ran:?}");
    let cluster = cluster.lock().unwrap();
    let annotations = &cluster.patches[0]["metadata"]["annotations"];
    assert_eq!(annotations["argocd.argoproj.io/refresh"], "normal");
    assert!(annotations["argocd.argoproj.io/refresh-timestamp"].is_string());
}

/// Who is not told which kinds there are does not know that an object is missing.
#[test]
fn a_cluster_that_tells_no_kinds_leaves_the_effect_unknown() {
    let cases = Cases::new();
    let frames = ["c91-1", "c91-2"].map(|name| object(cases.frame(name)));
    let (server, cluster) = start(frames.to_vec(), 3);
    cluster.lock().unwrap().hides_kinds = true;
    let ran = wait(&cases, &server, &["prod", "--timeout", "20s"]);
    assert_eq!((ran.status, &ran.json()["result"]["effect"]), (0, &json!("unknown")), "{ran:?}");
}

#[test]
fn what_is_live_decides() {
    let cases = Cases::new();
    let (server, _) = start(vec![object(cases.frame("c104-1"))], 1);
    let ran = wait(&cases, &server, &["--overlay", "overlays/prod", "--timeout", "2s"]);
    assert_eq!((ran.status, &*ran.code()), (6, "not-settled"), "{ran:?}");
    assert!(ran.stdout.contains("live is 1 at spec.replicas of Deployment/web"), "{ran:?}");
    // Where the comparison leaves the field out, that is why nothing differs.
    let mut ignoring = object(cases.frame("c104-1"));
    ignoring["spec"]["ignoreDifferences"] =
        json!([{"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}]);
    let (server, _) = start(vec![ignoring], 1);
    let ran = wait(&cases, &server, &["prod", "--timeout", "2s"]);
    assert!(ran.stdout.contains("ignoreDifferences leaves the field out"), "{ran:?}");
    assert!(ran.stdout.contains("effect-ignored"), "{ran:?}");
}

#[test]
fn a_sync_is_asked_for_as_the_api_server_does() {
    let cases = Cases::new();
    let mut manual = object(cases.frame("c90-1"));
    manual["spec"]["syncPolicy"] = json!({"syncOptions": ["ServerSideApply=true"]});
    let frames = vec![manual, object(cases.frame("c91-2"))];
    let (server, cluster) = start(frames, 3);
    let ran = wait(&cases, &server, &["prod", "--sync", "--no-refresh", "--timeout", "20s"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let cluster = cluster.lock().unwrap();
    let patch = &cluster.patches[0];
    assert_eq!(patch["metadata"]["resourceVersion"], "7");
    assert_eq!(patch["operation"]["sync"]["syncOptions"], json!(["ServerSideApply=true"]));
    assert!(patch["status"]["operationState"].is_null());
    assert!(patch["status"].as_object().unwrap().contains_key("operationState"));
}

#[test]
fn a_closed_window_of_the_project_is_the_reason_that_nothing_is_synced() {
    let cases = Cases::new();
    let of_project = |project: &str| {
        let mut frame = object(cases.frame("c90-1"));
        frame["spec"]["project"] = json!(project);
        let (server, _) = start(vec![frame], 1);
        wait(&cases, &server, &["prod", "--timeout", "2s"])
    };
    let ran = of_project("team");
    assert_eq!((ran.status, &*ran.code()), (6, "sync-window"), "{ran:?}");
    assert!(ran.stdout.contains("deny `* * * * *` for 1h"), "{ran:?}");
    let ran = of_project("none");
    assert_eq!((ran.status, &*ran.code()), (6, "commit-not-synced"), "{ran:?}");
}
