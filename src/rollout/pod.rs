//! One pod: whether it is ready, and if not, why.
//!
//! Sources: Kubernetes `pkg/kubelet/kuberuntime` and `pkg/kubelet/images` (the reasons of waiting containers),
//! `pkg/kubelet/events/event.go` and `pkg/controller/volume` (the reasons of events), `pkg/apis/core/types.go`.

mod container;
mod ending;
mod placing;

use serde_json::Value;

use super::events::time_at;
use super::finding::Finding;
use super::live::{
    Snapshot, condition, is_condition_true, is_terminating, items_at, namespace, text_at,
};

pub use ending::{DrainFact, drain_of_pod};

/// Whether all its containers are ready and it takes requests.
#[must_use]
pub fn is_ready(pod: &Value) -> bool {
    text_at(pod, "/status/phase") == "Running" && is_condition_true(pod, "Ready")
}

/// Whether it is over and never runs again.
#[must_use]
pub fn is_over(pod: &Value) -> bool {
    matches!(text_at(pod, "/status/phase"), "Succeeded" | "Failed")
}

/// Whether it is ready and stays.
#[must_use]
pub fn counts(pod: &Value) -> bool {
    is_ready(pod) && !is_terminating(pod)
}

/// `2/3`: containers that are ready, of all that run on.
#[must_use]
pub fn ready_containers(pod: &Value) -> (usize, usize) {
    let statuses = items_at(pod, "/status/containerStatuses");
    let ready = statuses.iter().filter(|status| status["ready"] == true).count();
    (ready, items_at(pod, "/spec/containers").len().max(statuses.len()))
}

/// Whether one of its containers runs.
#[must_use]
pub fn has_running_container(pod: &Value) -> bool {
    let statuses = items_at(pod, "/status/containerStatuses").iter();
    statuses.clone().any(|status| status["state"]["running"].is_object())
}

/// Why `pod` is not ready, or not gone although it should be; `None` where nothing is wrong with it. `now` is in seconds
/// since 1970.
#[must_use]
pub fn pod_trouble(snapshot: &Snapshot, pod: &Value, now: i64) -> Option<Finding> {
    if is_terminating(pod) {
        return ending::trouble(snapshot, pod, now);
    }
    if text_at(pod, "/status/phase") == "Failed" {
        let reason = text_at(pod, "/status/reason");
        let id = if reason.is_empty() { "crash-loop" } else { "evicted" };
        let word = if reason.is_empty() { "Failed" } else { reason };
        let said = super::events::one_line(text_at(pod, "/status/message"));
        return Some(Finding::about(pod, id, format!("it has ended: {word}: {said}")));
    }
    if is_ready(pod) {
        return None;
    }
    placing::node_trouble(snapshot, pod)
        .or_else(|| placing::trouble(snapshot, pod))
        .or_else(|| container::trouble(snapshot, pod))
        .or_else(|| gate_trouble(pod))
        .or_else(|| Some(Finding::about(pod, "pods-not-ready", not_ready(pod, now))))
}

fn not_ready(pod: &Value, now: i64) -> String {
    let (ready, all) = ready_containers(pod);
    let since = condition(pod, "Ready").and_then(|ready| time_at(ready, "/lastTransitionTime"));
    let since = since.or_else(|| time_at(pod, "/metadata/creationTimestamp"));
    let long = since.map(|since| format!(" for {}s", (now - since).max(0))).unwrap_or_default();
    format!("{ready} of {all} containers are ready{long}")
}

/// A condition that something outside of the pod has to set.
fn gate_trouble(pod: &Value) -> Option<Finding> {
    let gates = items_at(pod, "/spec/readinessGates").iter();
    let closed = gates
        .map(|gate| text_at(gate, "/conditionType"))
        .find(|gate| !is_condition_true(pod, gate))?;
    let message = format!(
        "its containers are ready, and its readiness gate {closed} is not: what sets that condition (such as a load balancer's controller) has not done so"
    );
    Some(Finding::about(pod, "readiness-gate", message))
}

/// The claims that a pod mounts, as they are.
fn claims<'a>(snapshot: &'a Snapshot, pod: &'a Value) -> impl Iterator<Item = &'a Value> {
    let names = items_at(pod, "/spec/volumes").iter();
    names
        .map(|volume| text_at(volume, "/persistentVolumeClaim/claimName"))
        .filter(|name| !name.is_empty())
        .filter_map(|name| snapshot.find("", "PersistentVolumeClaim", namespace(pod), name))
}
