//! A platform moves to larger nodes by draining the old ones. Its databases run one instance each,
//! so their drains wait for ever; and an application and its sidecar are two Deployments on one
//! volume, which land apart when they are drained. Both are seen before the window.

use super::{found, objects};
use crate::support::repo::TestRepo;

const DATABASES: &str = "apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata:
  name: kernel
spec:
  instances: 1
---
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata:
  name: apps
spec:
  instances: 3
";

fn app(name: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
spec:
  replicas: 1
  strategy: {{type: Recreate}}
  selector:
    matchLabels: {{app: {name}}}
  template:
    metadata:
      labels: {{app: {name}}}
    spec:
      containers:
      - name: {name}
        image: registry.test/{name}:1.0
      volumes:
      - name: addons
        persistentVolumeClaim:
          claimName: addons
---
"
    )
}

fn platform() -> TestRepo {
    let claim = "apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: addons
spec:
  accessModes: [ReadWriteOnce]
";
    TestRepo::with_files(&[
        ("overlay/kustomization.yaml", "resources:\n- databases.yaml\n- apps.yaml\n"),
        ("overlay/databases.yaml", DATABASES),
        ("overlay/apps.yaml", &(app("odoo") + &app("odoo-addons") + claim)),
    ])
}

#[test]
fn what_will_hang_in_the_window_is_known_before() {
    let repo = platform();
    let hanging = found(&repo, "cnpg-blocks-drain", &["overlay"]);
    assert_eq!(hanging.len(), 1);
    assert_eq!(hanging[0].0, "Cluster/kernel");
    assert_eq!(hanging[0].1["severity"], "error");
    assert_eq!(hanging[0].1["fix"], "overlay set instances overlay kernel=2");

    let shared = found(&repo, "claim-shared", &["overlay"]);
    assert_eq!(shared.len(), 1);
    let message = shared[0].1["message"].as_str().unwrap();
    assert!(message.contains("Deployment/odoo and Deployment/odoo-addons"), "{message}");
}

#[test]
fn the_budgets_that_the_operator_makes_are_listed() {
    let repo = platform();
    let run = repo.overlay(&["check", "overlay", "--namespace=default", "-o", "json"]);
    let budgets = run.json()["result"]["budgets"].as_array().unwrap().clone();
    let names: Vec<&str> = budgets.iter().map(|b| b["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["apps", "apps-primary", "kernel-primary"]);
    let kernel = &budgets[2];
    assert_eq!((&kernel["allowed"], &kernel["expected"]), (&0.into(), &1.into()));
}

#[test]
fn two_instances_for_the_window_let_the_drain_pass() {
    let repo = platform();
    repo.write("overlay/databases.yaml", &DATABASES.replace("instances: 1", "instances: 2"));
    for id in ["cnpg-blocks-drain", "cnpg-single-instance"] {
        assert_eq!(objects(&repo, id, &["overlay"]), [""; 0], "{id}");
    }
}
