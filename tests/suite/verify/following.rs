//! `overlay verify --follow` against a Kubernetes API on loopback that goes on, breaks, forgets and hangs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{
    NEW, OLD, command, deployment, ended, ids, plain_command, pod, repo, rolled_out, set, verify,
};
use crate::support::kube_api::KubeApi;

/// Waits until a roll is watched.
fn wait_until_watched(server: &KubeApi) {
    for plural in ["pods", "replicasets", "deployments"] {
        server.wait_for(&format!("/{plural}?&watch=true"), 1);
    }
}

/// The pod is told to end, fails its readiness, ends and is gone.
fn end_pod(server: &KubeApi, set: &str, name: &str, image: &str, is_told_unready: bool) {
    let mut going = pod(set, name, image, true);
    going["metadata"]["deletionTimestamp"] = json!("2999-01-01T00:00:00Z");
    server.apply(going.clone());
    if is_told_unready {
        going["status"]["conditions"][0]["status"] = json!("False");
        server.apply(going);
    }
    server.delete("pods", "shop", &format!("{set}-{name}"));
}

/// A whole roll from OLD to NEW, without the numbers of the Deployment at its end.
fn roll(server: &KubeApi, is_told_unready: bool) {
    server.apply(set("web-2", "2"));
    server.apply(deployment(NEW, "2", [3, 1, 2, 2]));
    for (old, new) in [("a", "c"), ("b", "d")] {
        server.apply(pod("web-2", new, NEW, false));
        std::thread::sleep(Duration::from_millis(20));
        server.apply(pod("web-2", new, NEW, true));
        end_pod(server, "web-1", old, OLD, is_told_unready);
    }
}

const ARGS: [&str; 6] = ["overlays/prod", "--follow", "--dwell", "0s", "--timeout", "60s"];

#[test]
fn a_roll_is_followed_from_before_its_beginning_to_its_end() {
    let repo = repo(NEW);
    let server = KubeApi::with(rolled_out(OLD));
    let child = command(&repo, &server, &ARGS).spawn().unwrap();
    wait_until_watched(&server);
    roll(&server, true);
    server.forget();
    server.apply(deployment(NEW, "2", [2, 2, 2, 2]));
    let ran = ended(child);
    assert_eq!((ran.status, ids(&ran)), (0, vec![]), "{ran:?}");
    let follow = &ran.json()["result"]["follow"];
    assert_eq!(follow["ending"], "settled");
    let pods = follow["pods"].as_array().unwrap();
    assert_eq!(pods.iter().filter(|pod| pod["gone"].is_string()).count(), 2, "{follow}");
    assert!(server.asked().iter().all(|asked| asked.method == "GET"));
}

#[test]
fn a_roll_that_does_not_end_says_why() {
    let repo = repo(NEW);
    let server = KubeApi::with(rolled_out(OLD));
    server.apply(set("web-2", "2"));
    server.apply(deployment(NEW, "2", [3, 1, 2, 2]));
    let mut waiting = pod("web-2", "c", NEW, false);
    waiting["status"] = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled",
        "status": "False", "reason": "Unschedulable",
        "message": "0/1 nodes are available: 1 Insufficient cpu."}]});
    server.apply(waiting);
    let args = ["overlays/prod", "--follow", "--timeout", "2s"];
    let ran = verify(&repo, &server, &args);
    assert_eq!((ran.status, &*ran.code()), (6, "rollout-stalled"), "{ran:?}");
    let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("Pod/web-2-c") && message.contains("1 Insufficient cpu"), "{message}");
    let findings = ids(&ran);
    assert!(findings.contains(&"unschedulable".to_owned()), "{findings:?}");
    server.deny("watch", "pods");
    let ran = verify(&repo, &server, &args);
    assert_eq!((ran.status, &*ran.code()), (4, "cluster-denied"), "{ran:?}");
}

#[test]
fn what_breaks_is_resumed_and_nothing_is_missed() {
    let repo = repo(NEW);
    let server = KubeApi::with(rolled_out(OLD));
    // The first stream of each ends in the middle of an event, the next is no JSON.
    for plural in ["pods", "replicasets", "deployments", "poddisruptionbudgets"] {
        server.garbage(plural, b"{\"type\": \"MODIFIED\", \"object\": {\"kind\"");
    }
    let child = command(&repo, &server, &ARGS).spawn().unwrap();
    wait_until_watched(&server);
    server.garbage("pods", b"oops\n");
    server.fail(6);
    roll(&server, true);
    server.apply(deployment(NEW, "2", [2, 2, 2, 2]));
    let ran = ended(child);
    assert_eq!((ran.status, ids(&ran)), (0, vec![]), "{ran:?}");
    let pods = ran.json()["result"]["follow"]["pods"].clone();
    let old: Vec<&Value> =
        pods.as_array().unwrap().iter().filter(|pod| pod["wasThere"] == true).collect();
    assert_eq!(old.len(), 2, "{pods}");
    for pod in old {
        for field in ["ready", "terminating", "unready", "ended", "gone"] {
            assert!(pod[field].is_string(), "{field} of {pod}");
        }
    }
}

#[test]
fn an_old_pod_that_ends_ready_is_a_finding() {
    let repo = repo(NEW);
    let server = KubeApi::with(rolled_out(OLD));
    let child = command(&repo, &server, &ARGS).spawn().unwrap();
    wait_until_watched(&server);
    roll(&server, false);
    server.apply(deployment(NEW, "2", [2, 2, 2, 2]));
    let ran = ended(child);
    let want = vec!["exited-ready".to_owned(); 2];
    assert_eq!((ran.status, &*ran.code(), ids(&ran)), (7, "not-verified", want), "{ran:?}");
    assert_eq!(ran.json()["result"]["follow"]["ending"], "settled");
}

#[test]
fn an_old_pod_that_lingers_is_waited_for_and_told() {
    let repo = repo(NEW);
    let server = KubeApi::with(rolled_out(NEW));
    server.apply(set("web-0", "0"));
    let mut old = pod("web-0", "z", OLD, false);
    old["metadata"]["deletionTimestamp"] = json!("2999-01-01T00:00:00Z");
    server.apply(old);
    // The numbers of the Deployment leave it out, and so does `kubectl rollout status`.
    assert_eq!(verify(&repo, &server, &["overlays/prod"]).status, 0);
    let ran = verify(&repo, &server, &["overlays/prod", "--follow", "--timeout", "1s"]);
    assert_eq!((ran.status, &*ran.code()), (6, "rollout-stalled"), "{ran:?}");
    assert_eq!(ids(&ran), ["draining"]);
    assert_eq!(ran.json()["result"]["findings"][0]["resource"]["name"], "web-0-z");
}

#[test]
fn a_failed_roll_ends_it_at_once() {
    let repo = repo(NEW);
    let server = KubeApi::with(rolled_out(OLD));
    let child = command(&repo, &server, &ARGS).spawn().unwrap();
    wait_until_watched(&server);
    server.apply(set("web-2", "2"));
    let mut failed = deployment(NEW, "2", [3, 1, 2, 2]);
    failed["status"]["conditions"] = json!([{"type": "Progressing", "status": "False",
        "reason": "ProgressDeadlineExceeded"}]);
    server.apply(pod("web-2", "c", NEW, false));
    server.apply(failed);
    let ran = ended(child);
    assert_eq!((ran.status, &*ran.code()), (7, "not-verified"), "{ran:?}");
    assert_eq!(ids(&ran), ["deadline-exceeded", "pods-not-ready"]);
    assert_eq!(ran.json()["result"]["follow"]["ending"], "failed");
}

/// Nothing is said of what was never heard, and the time is kept.
#[test]
fn a_server_that_hangs_is_not_waited_for_without_end() {
    let repo = repo(NEW);
    let server = KubeApi::with(rolled_out(NEW));
    server.hang("pods");
    let began = Instant::now();
    let ran = verify(&repo, &server, &["overlays/prod", "--follow", "--timeout", "3s"]);
    assert!(began.elapsed() < Duration::from_millis(4_800), "{:?}", began.elapsed());
    assert_eq!((ran.status, &*ran.code()), (5, "cluster-unreachable"), "{ran:?}");
    let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!(message, "the cluster did not list Pod of namespace shop in time");
    // Not even the question whether there is the namespace goes beyond the end.
    server.hang("namespaces");
    let began = Instant::now();
    let ran = verify(&repo, &server, &["-n", "shop", "--follow", "--timeout", "3s"]);
    assert!(began.elapsed() < Duration::from_millis(4_800), "{:?}", began.elapsed());
    assert_eq!((ran.status, &*ran.code()), (5, "cluster-unreachable"), "{ran:?}");
    // What only helps to explain may hang.
    let server = KubeApi::with(rolled_out(NEW));
    server.hang("events");
    let ran =
        verify(&repo, &server, &["overlays/prod", "--follow", "--timeout", "2s", "--dwell", "0s"]);
    assert_eq!((ran.status, ids(&ran)), (0, vec![]), "{ran:?}");
}

#[test]
fn people_see_what_happened_and_other_pods_are_left_out() {
    let repo = repo(NEW);
    let server = KubeApi::with(rolled_out(OLD));
    let mut command = plain_command(&repo, &server);
    command.args(ARGS).arg("--no-registry");
    let child = command.spawn().unwrap();
    wait_until_watched(&server);
    let mut stranger = pod("job-1", "x", OLD, true);
    stranger["metadata"]["ownerReferences"] = json!([{"kind": "Job", "name": "job", "uid": "j"}]);
    server.apply(stranger);
    roll(&server, true);
    server.delete("pods", "shop", "job-1-x");
    server.apply(deployment(NEW, "2", [2, 2, 2, 2]));
    let ran = ended(child);
    assert_eq!(ran.status, 0, "{ran:?}");
    for line in [
        "Pod/web-1-a was told to end",
        "Pod/web-1-a became unready",
        "Pod/web-1-b is gone",
        "Pod/web-2-d became ready",
    ] {
        assert!(ran.stdout.contains(line) && ran.stderr.contains(line), "{line}: {ran:?}");
    }
    assert!(
        !ran.stdout.contains("job-1-x") && ran.stdout.contains("2/2 Deployment/web"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("all is as it is to be"), "{ran:?}");
}
