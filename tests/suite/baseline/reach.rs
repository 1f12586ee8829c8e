//! What cannot be reached: a namespace that is not there, and kinds that may not be listed.

use serde_json::json;

use super::{Lab, pod, service, well};
use crate::support::kube_api::KubeApi;
use crate::support::repo::Ran;

impl Lab {
    /// `overlay baseline` against `server`.
    fn live(&self, server: &KubeApi, args: &[&str]) -> Ran {
        self.0.write("kubeconfig", &server.kubeconfig("default"));
        let cluster = ["--kubeconfig", "kubeconfig", "-o", "json"];
        self.0.overlay(&[&["baseline"], args, &cluster].concat())
    }

    fn has(&self, file: &str) -> bool {
        self.0.path().join(file).exists()
    }
}

fn assert_refused(ran: &Ran, status: i32, code: &str) {
    assert_eq!((ran.status, ran.code().as_str()), (status, code), "{ran:?}");
}

#[test]
fn a_namespace_that_is_not_there_is_refused() {
    let lab = Lab::with(&well());
    let server = KubeApi::with([pod("web", "aaa", true), service("gateway", &["203.0.113.7"])]);
    let shpo = ["record", "shpo.json", "--namespace", "shpo"];
    let says = |ran: &Ran, source: &str| {
        assert_refused(ran, 4, "no-such-namespace");
        let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(message, format!("there is no namespace shpo in {source}"));
    };
    says(&lab.live(&server, &shpo), "the cluster");
    says(&lab.run(&shpo), "dump.json");
    assert!(!lab.has("shpo.json"));

    // One that was there when it was recorded.
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shpo"}});
    server.apply(namespace.clone());
    lab.is(&[&well()[..], &[namespace]].concat());
    for args in [&shpo[..], &["compare", "shpo.json"]] {
        for ran in [lab.live(&server, args), lab.run(args)] {
            assert_eq!(ran.status, 0, "{ran:?}");
        }
    }
    server.delete("namespaces", "", "shpo");
    lab.is(&well());
    says(&lab.live(&server, &["compare", "shpo.json"]), "the cluster");
    says(&lab.run(&["compare", "shpo.json"]), "dump.json");

    // Whether it is there may not be asked: no matter where something of it is seen.
    server.deny("get", "namespaces");
    let ran = lab.live(&server, &["record", "other.json", "--namespace", "shpo"]);
    assert_refused(&ran, 4, "cluster-denied");
    assert!(!lab.has("other.json"));
    let ran = lab.live(&server, &["record", "other.json", "--namespace", "shop"]);
    assert_eq!(ran.status, 0, "{ran:?}");
}

/// Custom kinds that are not installed are not looked at by that.
#[test]
fn where_nothing_may_be_listed_nothing_is_recorded_or_compared() {
    let lab = Lab::with(&well());
    let server = KubeApi::with([pod("web", "aaa", true)]);
    assert_eq!(lab.live(&server, &["record", "before.json"]).status, 0);
    let core = ["pods", "nodes", "services", "persistentvolumeclaims"];
    core[1..].iter().for_each(|plural| server.deny("list", plural));
    // One is enough to say something.
    let ran = lab.live(&server, &["record", "pods.json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let unseen = &ran.json()["result"]["baseline"]["unseen"];
    assert_eq!(unseen, &json!(["Node", "PersistentVolumeClaim", "Service"]));
    server.deny("list", core[0]);
    for args in [&["record", "none.json"][..], &["compare", "before.json"]] {
        assert_refused(&lab.live(&server, args), 4, "cluster-denied");
    }
    assert!(!lab.has("none.json"));
}
