//! What went wrong at others, told as one test each: the seed of the checks.

mod budgets_at_one_replica;
mod databases_and_volumes_before_a_migration;
mod grace_that_equals_the_drain;
mod larger_nodes;
pub(crate) mod moving_to_larger_nodes;
mod the_roll_that_was_an_outage;

use serde_json::Value as Json;

use crate::support::repo::TestRepo;

/// The findings of the check `id` in the one overlay, by object.
pub(crate) fn found(repo: &TestRepo, id: &str, args: &[&str]) -> Vec<(String, Json)> {
    let mut all = vec!["check", "-o", "json"];
    all.extend(args);
    let report = repo.overlay(&all).json();
    let findings = report["result"]["overlays"][0]["findings"].as_array().unwrap().clone();
    let object = |f: &Json| {
        let text = |field: &str| f["resource"][field].as_str().unwrap_or_default().to_owned();
        format!("{}/{}", text("kind"), text("name"))
    };
    findings.into_iter().filter(|f| f["id"] == id).map(|f| (object(&f), f)).collect()
}

/// The objects alone.
pub(crate) fn objects(repo: &TestRepo, id: &str, args: &[&str]) -> Vec<String> {
    found(repo, id, args).into_iter().map(|(object, _)| object).collect()
}

/// A Deployment that serves, ready when it says so.
pub(crate) fn service(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
spec:
{spec}  selector:
    matchLabels: {{app: {name}}}
  template:
    metadata:
      labels: {{app: {name}}}
    spec:
      containers:
      - name: {name}
        image: registry.test/mesh/{name}:1.0
        readinessProbe:
          httpGet: {{path: /ready, port: 8080}}
---
apiVersion: v1
kind: Service
metadata:
  name: {name}
spec:
  selector: {{app: {name}}}
  ports:
  - port: 80
---
"
    )
}
