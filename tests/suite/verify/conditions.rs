//! Conditions of `.overlay.yaml`: a Prometheus server on loopback, and logs of a Kubernetes API.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{NEW, OLD, command, ended, ids, pod, repo, rolled_out, set, verify};
use crate::support::kube_api::KubeApi;
use crate::support::repo::{Ran, TestRepo};
use crate::support::scripted_http::{Answer, ScriptedHttp};

const TOKEN: &str = "planted-prometheus-token";

fn vector(value: &str) -> Answer {
    let body = json!({"status": "success", "data": {"resultType": "vector",
        "result": [{"metric": {}, "value": [1.0, value]}]}});
    Answer::new(200).header("Content-Type", "application/json").body(body.to_string())
}

/// A server that says `value` to every query.
fn prometheus(value: &'static str) -> ScriptedHttp {
    ScriptedHttp::start(move |_| vector(value))
}

/// An overlay with this `verify` in its `.overlay.yaml`.
fn repo_with(conditions: &Value) -> TestRepo {
    let repo = repo(NEW);
    repo.write(".overlay.yaml", &json!({ "verify": conditions }).to_string());
    repo
}

fn with_token(repo: &TestRepo, server: &KubeApi, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command: Command = command(repo, server, args);
    command.env("PROMETHEUS_TOKEN", TOKEN).envs(variables.iter().copied());
    ended(command.stdout(Stdio::piped()).spawn().unwrap())
}

#[test]
fn a_number_out_of_its_bounds_is_a_finding() {
    let metrics = prometheus("0.75");
    let errors = |bound: &str, limit: f64| {
        json!({"prometheus": metrics.url(""), "queries": [{"name": "errors",
            "query": "sum(rate(errors[5m])) / 2", bound: limit}]})
    };
    let server = KubeApi::with(rolled_out(NEW));
    let of = |conditions: &Value| verify(&repo_with(conditions), &server, &["overlays/prod"]);
    assert_eq!(of(&errors("atMost", 0.75)).status, 0);
    assert_eq!(of(&errors("atLeast", 0.75)).status, 0);
    let ran = of(&errors("atMost", 0.5));
    assert_eq!((ran.status, ids(&ran)), (7, vec!["query-failed".to_owned()]), "{ran:?}");
    let finding = &ran.json()["result"]["findings"][0];
    assert_eq!(finding["message"], "it is 0.75, and may be 0.5 at most");
    assert_eq!(finding["resource"]["name"], "errors");
    assert_eq!(of(&errors("atLeast", 0.8)).status, 7);
    let asked = metrics.asked();
    assert_eq!(asked[0].target, "/api/v1/query?query=sum%28rate%28errors%5B5m%5D%29%29%20%2F%202");
    assert!(asked.iter().all(|asked| asked.method == "GET"));
}

#[test]
fn a_condition_is_for_its_overlays() {
    let metrics = prometheus("9");
    let server = KubeApi::with(rolled_out(NEW));
    let of = |patterns: Value, args: &[&str]| {
        let conditions = json!({"prometheus": metrics.url(""), "queries": [{"name": "errors",
            "query": "errors", "atMost": 1, "overlays": patterns}]});
        verify(&repo_with(&conditions), &server, args).status
    };
    assert_eq!(of(json!(["overlays/dev", "stages/*"]), &["overlays/prod"]), 0);
    assert_eq!(of(json!(["overlays/*"]), &["overlays/prod"]), 7);
    assert_eq!(of(json!([]), &["--namespace", "shop"]), 0, "a namespace is no overlay");
    assert_eq!(metrics.asked().len(), 1);
}

/// Who writes to the repository does not decide where a credential goes.
#[test]
fn a_token_goes_where_the_user_says_alone() {
    let (of_repository, of_user) = (prometheus("0"), prometheus("0"));
    let conditions = json!({"prometheus": of_repository.url(""),
        "queries": [{"name": "errors", "query": "errors", "atMost": 1}]});
    let (repo, server) = (repo_with(&conditions), KubeApi::with(rolled_out(NEW)));
    let ran = with_token(&repo, &server, &["overlays/prod"], &[]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let asked = of_repository.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].header("authorization"), None, "{asked:?}");
    assert!(!format!("{asked:?}").contains(TOKEN));
    let url = of_user.url("/prometheus");
    let by_flag = with_token(&repo, &server, &["overlays/prod", "--prometheus", &url], &[]);
    assert_eq!(by_flag.status, 0, "{by_flag:?}");
    let by_variable = [("PROMETHEUS_URL", url.as_str())];
    assert_eq!(with_token(&repo, &server, &["overlays/prod"], &by_variable).status, 0);
    let asked = of_user.asked();
    assert_eq!(asked.len(), 2);
    for asked in asked {
        assert_eq!(asked.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
        assert!(asked.target.starts_with("/prometheus/api/v1/query?"), "{}", asked.target);
    }
    assert_eq!(of_repository.asked().len(), 1, "the flag and the variable win");
    // A server of the user's that sends the request on: the token stays with it.
    let onward = of_repository.url("/api/v1/query?query=errors");
    let sends_on = ScriptedHttp::start(move |_| Answer::new(307).header("Location", &onward));
    let ran =
        with_token(&repo, &server, &["overlays/prod", "--prometheus", &sends_on.url("")], &[]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!format!("{:?}", of_repository.asked()).contains(TOKEN));
    let open = ["overlays/prod", "--prometheus", "http://prometheus.example"];
    let ran = with_token(&repo, &server, &open, &[]);
    assert_eq!((ran.status, &*ran.code()), (2, "usage"), "{ran:?}");
    assert!(!ran.stdout.contains(TOKEN) && !ran.stderr.contains(TOKEN));
}

#[test]
fn a_server_that_says_no_number_is_no_success() {
    let server = KubeApi::with(rolled_out(NEW));
    let of = |answer: Answer| {
        let metrics = ScriptedHttp::start(move |_| answer.clone());
        let conditions = json!({"prometheus": metrics.url(""),
            "queries": [{"name": "errors", "query": "errors(", "atMost": 1}]});
        let ran = verify(&repo_with(&conditions), &server, &["overlays/prod"]);
        (ran.status, ids(&ran).join(" "))
    };
    let refusal = |status: u16, kind: &str| {
        let body = json!({"status": "error", "errorType": kind, "error": "1:8: parse error"});
        Answer::new(status).body(body.to_string())
    };
    assert_eq!(of(refusal(400, "bad_data")), (7, "query-failed".into()));
    assert_eq!(of(refusal(503, "unavailable")), (7, "unreadable".into()));
    assert_eq!(of(Answer::new(200).body("<html>login</html>")), (7, "unreadable".into()));
    assert_eq!(of(Answer::new(401)), (7, "unreadable".into()));
    // Nobody names a server.
    let conditions = json!({"queries": [{"name": "errors", "query": "errors", "atMost": 1}]});
    let ran = verify(&repo_with(&conditions), &server, &["overlays/prod"]);
    assert_eq!((ran.status, ids(&ran)), (7, vec!["unreadable".to_owned()]), "{ran:?}");
    // Nobody listens there.
    let conditions = json!({"prometheus": "http://127.0.0.1:1",
        "queries": [{"name": "errors", "query": "errors", "atMost": 1}]});
    let ran = verify(&repo_with(&conditions), &server, &["overlays/prod"]);
    assert_eq!((ran.status, ids(&ran)), (7, vec!["unreadable".to_owned()]), "{ran:?}");
    let conditions = json!({"prometheus": "http://a b",
        "queries": [{"name": "errors", "query": "errors", "atMost": 1}]});
    let ran = verify(&repo_with(&conditions), &server, &["overlays/prod"]);
    assert_eq!((ran.status, &*ran.code()), (3, "config-invalid"), "{ran:?}");
    let ran = verify(&repo(NEW), &server, &["overlays/prod", "--prometheus", "prometheus"]);
    assert_eq!(ran.status, 0, "nothing is asked, {ran:?}");
}

#[test]
fn logs_of_the_pods_that_run_are_held_against_patterns() {
    let conditions = json!({"logs": [{"workload": "Deployment/web",
        "forbid": "panic: [a-z]+", "require": "listening on [0-9]+"}]});
    let (repo, server) = (repo_with(&conditions), KubeApi::with(rolled_out(NEW)));
    // An old pod that is told to end is nobody's example.
    server.apply(set("web-0", "0"));
    let mut old = pod("web-0", "z", OLD, true);
    old["metadata"]["deletionTimestamp"] = json!("2999-01-01T00:00:00Z");
    server.apply(old);
    server.log("web-0-z", "panic: old\n");
    server.log("web-1-a", "starting\nlistening on 8080\n");
    server.log("web-1-b", "listening on 8080\n");
    let of = |repo: &TestRepo| verify(repo, &server, &["overlays/prod"]);
    let ran = of(&repo);
    assert_eq!((ran.status, ids(&ran)), (0, vec![]), "{ran:?}");
    let logs: Vec<String> = server
        .asked()
        .into_iter()
        .filter(|asked| asked.target.contains("/log?"))
        .map(|asked| asked.target)
        .collect();
    assert_eq!(logs.len(), 2, "{logs:?}");
    assert!(logs.iter().all(|log| log.contains("container=web") && log.contains("tailLines=5000")));
    server.log("web-1-b", "listening on 8080\nkey=hunter2 panic: route\n");
    let ran = of(&repo);
    assert_eq!((ran.status, ids(&ran)), (7, vec!["log-pattern".to_owned()]), "{ran:?}");
    let finding = ran.json()["result"]["findings"][0].clone();
    assert_eq!(
        finding["message"],
        "its log has 1 line that may not be there, the last of them: panic: route"
    );
    assert_eq!(finding["resource"]["name"], "web-1-b");
    assert!(!ran.stdout.contains("hunter2"), "the rest of the line is nobody's business");
    server.log("web-1-b", "");
    let ran = of(&repo);
    assert_eq!((ran.status, ids(&ran)), (7, vec!["log-pattern".to_owned()]), "{ran:?}");
    // Another workload, and one of this overlay that is not rendered.
    let other = |more: Value| {
        let mut log = json!({"workload": "StatefulSet/web", "forbid": "listening"});
        log.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        of(&repo_with(&json!({"logs": [log]})))
    };
    assert_eq!(other(json!({})).status, 0);
    let ran = other(json!({"overlays": ["overlays/prod"]}));
    assert_eq!((ran.status, ids(&ran)), (7, vec!["log-pattern".to_owned()]), "{ran:?}");
    server.deny("get", "pods/log");
    let ran = of(&repo);
    assert_eq!((ran.status, ids(&ran)), (7, vec!["unreadable".to_owned()]), "{ran:?}");
    let message = ran.json()["result"]["findings"][0]["message"].clone();
    assert!(message.to_string().contains("may not get pods/log in namespace shop"), "{message}");
}

/// A number may become right, and is asked for again; a line in a log stays there.
#[test]
fn a_roll_is_followed_until_its_conditions_hold() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let metrics = ScriptedHttp::start(move |_| {
        vector(if counter.fetch_add(1, Ordering::SeqCst) == 0 { "3" } else { "0" })
    });
    let conditions = json!({"prometheus": metrics.url(""),
        "queries": [{"name": "errors", "query": "errors", "atMost": 1}],
        "logs": [{"workload": "web", "forbid": "panic"}]});
    let (repo, server) = (repo_with(&conditions), KubeApi::with(rolled_out(NEW)));
    for pod in ["web-1-a", "web-1-b"] {
        server.log(pod, "fine\n");
    }
    let args = ["overlays/prod", "--follow", "--dwell", "0s", "--timeout", "60s"];
    let ran = verify(&repo, &server, &args);
    assert_eq!((ran.status, ids(&ran)), (0, vec![]), "{ran:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    // Too late: what did not hold is the reason.
    asked.store(0, Ordering::SeqCst);
    let late = ["overlays/prod", "--follow", "--dwell", "0s", "--timeout", "2s"];
    let always = prometheus("3");
    let url = always.url("");
    let ran = verify(&repo, &server, &[&late[..], &["--prometheus", &url]].concat());
    assert_eq!((ran.status, &*ran.code()), (6, "rollout-stalled"), "{ran:?}");
    let message = ran.json()["error"]["message"].clone();
    assert_eq!(message, "not there in time: Query/errors: it is 3, and may be 1 at most");
    server.log("web-1-a", "panic\n");
    let ran = verify(&repo, &server, &args);
    assert_eq!((ran.status, &*ran.code()), (7, "not-verified"), "{ran:?}");
    assert_eq!(ids(&ran), ["query-failed", "log-pattern"]);
}
