//! The commands that people run, as texts for a shell.

use super::pod::{Pod, WorkloadId};
use crate::shell::{self, word, words};

/// `kubectl cordon …` or `kubectl uncordon …`.
#[must_use]
pub fn cordon(verb: &str, nodes: &[&str]) -> String {
    format!("kubectl {verb} {}", words(nodes.iter().copied()))
}

/// The drain of a node, of the pods that `selector` selects, with so many seconds.
#[must_use]
pub fn drain(node: &str, selector: Option<&str>, timeout: u64) -> String {
    let only = selector.map(|text| format!(" --pod-selector={}", word(text))).unwrap_or_default();
    let node = word(node);
    format!(
        "kubectl drain {node} --ignore-daemonsets --delete-emptydir-data{only} --timeout={timeout}s"
    )
}

/// Deletes pods of one namespace and waits until they are gone.
#[must_use]
pub fn delete(pods: &[&Pod], timeout: u64) -> String {
    let namespace = pods.first().map(|pod| pod.namespace.as_str()).unwrap_or_default();
    let names = words(pods.iter().map(|pod| pod.name.as_str()));
    format!("kubectl delete pod -n {} {names} --timeout={timeout}s", word(namespace))
}

/// Waits until so many replicas of a workload are ready.
#[must_use]
pub fn wait_workload(id: &WorkloadId, ready: usize, timeout: &str) -> Option<String> {
    let (field, resource) = match id.kind.as_str() {
        "Deployment" => ("readyReplicas", "deployment"),
        "StatefulSet" => ("readyReplicas", "statefulset"),
        "ReplicaSet" => ("readyReplicas", "replicaset"),
        "Rollout" => ("readyReplicas", "rollout.argoproj.io"),
        "Cluster" => ("readyInstances", "cluster.postgresql.cnpg.io"),
        _ => return None,
    };
    let (namespace, name) = (word(&id.namespace), word(&id.name));
    Some(format!(
        "kubectl wait -n {namespace} --for=jsonpath='{{.status.{field}}}'={ready} {resource}/{name} --timeout={timeout}"
    ))
}

/// Waits until so many of the pods that a selector selects are ready. `kubectl wait` looks at the pods that there are, and would be
/// done at once where one that is gone has not been made anew yet.
#[must_use]
pub fn wait_pods(namespace: &str, selector: &str, ready: usize, timeout: &str) -> String {
    let (namespace, selector) = (word(namespace), word(selector));
    format!("timeout {timeout} sh -c '{WAIT_PODS}' wait {namespace} {selector} {ready}")
}

/// A script for namespace, selector and number.
const WAIT_PODS: &str = r#"until [ "$(kubectl get pods -n "$1" -l "$2" -o jsonpath="{.items[*].status.conditions[?(@.type==\"Ready\")].status}" | tr " " "\n" | grep -c True)" -ge "$3" ]; do sleep 2; done"#;

/// Shows pods that are neither running nor done; nothing is expected.
pub const CHECK: &str = "kubectl get pods -A --no-headers | grep -vE 'Running|Completed'";

/// An edit in git, as a pull request.
#[must_use]
pub fn edit(what: &str, overlay: &str, change: &str) -> String {
    shell::overlay(&format!("set {what}"), overlay, &[change, "--pr"])
}

/// A label by which exactly `wanted` are known among themselves and `others`: its key and its values.
#[must_use]
pub fn tell_apart(wanted: &[&Pod], others: &[&Pod]) -> Option<(String, Vec<String>)> {
    let first = wanted.first()?;
    let mut keys: Vec<&String> = first.labels.keys().collect();
    let rank = |key: &str| PREFERRED.iter().position(|known| *known == key).unwrap_or(99);
    keys.sort_by_key(|key| (rank(key), key.as_str()));
    keys.into_iter().find_map(|key| {
        let mut values: Vec<String> =
            wanted.iter().map(|pod| pod.labels.get(key).cloned()).collect::<Option<_>>()?;
        values.sort();
        values.dedup();
        let is_other = |pod: &&&Pod| pod.labels.get(key).is_some_and(|v| values.contains(v));
        (!others.iter().any(|pod| is_other(&pod))).then(|| (key.clone(), values))
    })
}

/// Labels that name a workload, before any others.
const PREFERRED: [&str; 6] = [
    "cnpg.io/cluster",
    "statefulset.kubernetes.io/pod-name",
    "app.kubernetes.io/instance",
    "app.kubernetes.io/name",
    "app",
    "k8s-app",
];
