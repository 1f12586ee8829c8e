//! What runs, read from a Kubernetes API on loopback: a change that Argo CD applies and that does not come to run is taken back.

use serde_json::json;

use super::*;
use crate::support::kube_api::KubeApi;

/// `web` with two ready pods that run an image with a digest of this digit.
fn running(digit: char) -> Vec<Json> {
    let digest = format!("sha256:{}", digit.to_string().repeat(64));
    let image = format!("shop/web@{digest}");
    let template = |extra: Json| {
        let mut labels = json!({"app": "web"});
        labels.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": image}]}})
    };
    let hash = json!({"pod-template-hash": "h1"});
    let mut objects = vec![
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop", "uid": "d", "generation": 2},
            "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template(json!({}))},
            "status": {"observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2}}),
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {"name": "web-h1", "namespace": "shop", "uid": "r", "labels": {"app": "web", "pod-template-hash": "h1"},
                "annotations": {"deployment.kubernetes.io/revision": "1"},
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": true}]},
            "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web", "pod-template-hash": "h1"}}, "template": template(hash)},
            "status": {"replicas": 2, "readyReplicas": 2, "availableReplicas": 2, "observedGeneration": 1}}),
    ];
    for at in 0..2 {
        objects.push(json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": format!("web-h1-{at}"), "namespace": "shop", "uid": format!("p{at}"),
                "labels": {"app": "web", "pod-template-hash": "h1"},
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-h1", "uid": "r", "controller": true}]},
            "spec": {"nodeName": "n", "containers": [{"name": "web", "image": image}]},
            "status": {"phase": "Running",
                "conditions": [{"type": "Ready", "status": "True"}, {"type": "ContainersReady", "status": "True"}],
                "containerStatuses": [{"name": "web", "ready": true, "restartCount": 0, "image": image,
                    "imageID": format!("docker.io/shop/web@{digest}"), "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]}}));
    }
    objects
}

fn ship(harbor: &Harbor, api: &KubeApi, more: &[&str]) -> Ran {
    harbor.stage.lab.write("kubeconfig", api.kubeconfig("shop"));
    let reference = pin("shop/web", '2');
    let file = harbor.stage.lab.path("kubeconfig");
    let args =
        ["pin", "overlays/prod", &reference, "--merge", "--kubeconfig", file.to_str().unwrap()];
    harbor.ship(&[&args, more].concat())
}

#[test]
fn what_comes_to_run_is_waited_for() {
    let harbor = Harbor::new();
    let api = KubeApi::with(running('1'));
    let tip = harbor.tip();
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            while harbor.tip() == tip {
                std::thread::sleep(Duration::from_millis(20));
            }
            std::thread::sleep(Duration::from_secs(1));
            running('2').into_iter().for_each(|object| api.apply(object));
        });
        ship(&harbor, &api, &["--timeout", "60s"])
    })
    .ok();
    assert_eq!(steps(&ran, 0)[4..], ["wait=holds", "verify=holds"], "{}", ran.text);
    let again = ship(&harbor, &api, &["--timeout", "5s"]).ok();
    assert!(!again.changed());
}

#[test]
fn what_does_not_come_to_run_is_taken_back_and_old_trouble_is_not() {
    let harbor = Harbor::new();
    let before = harbor.rendered("overlays/prod");
    let api = KubeApi::with(running('1'));
    let ran = ship(&harbor, &api, &["--auto-revert", "--timeout", "8s"]);
    assert_eq!(
        (ran.status, ran.code(), status(&ran, 0)),
        (7, "not-verified", "taken-back"),
        "{}",
        ran.text
    );
    assert_eq!(harbor.rendered("overlays/prod"), before);

    // Nothing of it runs in this cluster, and did not before: that is no fault of the change.
    let other = KubeApi::start();
    let ran = ship(&harbor, &other, &["--auto-revert", "--again", "--timeout", "8s"]);
    assert_eq!((ran.code(), status(&ran, 0)), ("not-verified", "failed"), "{}", ran.text);
    assert_ne!(harbor.rendered("overlays/prod"), before);
}

#[test]
fn a_run_that_is_killed_while_it_verifies_is_gone_on_with() {
    let harbor = Harbor::new();
    let api = KubeApi::with(running('1'));
    harbor.stage.lab.write("kubeconfig", api.kubeconfig("shop"));
    let file = harbor.stage.lab.path("kubeconfig").display().to_string();
    let reference = pin("shop/web", '2');
    let args = ["pin", "overlays/prod", &reference, "--merge", "--kubeconfig", &file];
    let null = std::process::Stdio::null;
    let mut command = harbor.command_in("clone", &args);
    let mut child = command.stdout(null()).stderr(null()).spawn().unwrap();
    let tip = harbor.tip();
    while harbor.tip() == tip {
        std::thread::sleep(Duration::from_millis(20));
    }
    // What preflight asked is over by now: the next question is that of the step after the wait.
    let asked = api.asked().len();
    while api.asked().len() == asked {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None);
    running('2').into_iter().for_each(|object| api.apply(object));
    harbor.fresh_clone("elsewhere");
    let ran = harbor.ship_in("elsewhere", &args).ok();
    assert_eq!(
        (status(&ran, 0), steps(&ran, 0).last().unwrap().as_str()),
        ("already-so", "verify=holds")
    );
}
