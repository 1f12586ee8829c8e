//! A pod that has no node, no volumes or no network yet.

use serde_json::Value;

use super::claims;
use crate::rollout::events::{latest_message, one_line};
use crate::rollout::finding::Finding;
use crate::rollout::live::{
    Snapshot, condition, int_at, is_condition_true, items_at, name, namespace, shown, text_at,
};

/// Why it is not where it could start.
pub(super) fn trouble(snapshot: &Snapshot, pod: &Value) -> Option<Finding> {
    unscheduled(snapshot, pod).or_else(|| before_containers(snapshot, pod))
}

/// The node that it is on does not answer.
pub(super) fn node_trouble(snapshot: &Snapshot, pod: &Value) -> Option<Finding> {
    let node = text_at(pod, "/spec/nodeName");
    let node = snapshot.find("", "Node", "", node).filter(|_| !node.is_empty())?;
    if is_condition_true(node, "Ready") {
        return None;
    }
    let said = condition(node, "Ready").map(|ready| one_line(text_at(ready, "/message")));
    let said = said.filter(|said| !said.is_empty()).map(|said| format!(": {said}"));
    let message = format!(
        "its node {} is not ready{}; what the pod really does is not known until the node answers or is removed",
        name(node),
        said.unwrap_or_default()
    );
    Some(Finding::about(pod, "node-not-ready", message))
}

fn unscheduled(snapshot: &Snapshot, pod: &Value) -> Option<Finding> {
    let scheduled = condition(pod, "PodScheduled").filter(|found| found["status"] == "False")?;
    if scheduled["reason"] == "SchedulingGated" {
        let gates = items_at(pod, "/spec/schedulingGates").iter();
        let gates: Vec<&str> = gates.map(|gate| text_at(gate, "/name")).collect();
        let message = format!("scheduling gates hold it back: {}", gates.join(", "));
        return Some(Finding::about(pod, "scheduling-gated", message));
    }
    let said = one_line(text_at(scheduled, "/message"));
    let pending = claims(snapshot, pod)
        .find(|claim| text_at(claim, "/status/phase") == "Pending")
        .filter(|_| said.contains("PersistentVolumeClaim"));
    let volume = pending.map(|claim| pending_claim(snapshot, claim)).unwrap_or_default();
    let message = format!("no node takes it: {said}{volume}");
    let finding = Finding::about(pod, "unschedulable", message);
    Some(match advice(&said) {
        Some(advice) => finding.fix(advice),
        None => finding,
    })
}

fn pending_claim(snapshot: &Snapshot, claim: &Value) -> String {
    let reasons = ["ProvisioningFailed", "FailedBinding", "WaitForFirstConsumer"];
    let said = latest_message(snapshot, claim, &reasons, |_| true);
    let said = said.map(|said| format!(": {said}")).unwrap_or_default();
    format!(" ({} is Pending{said})", shown(claim))
}

/// What would help, by the scheduler's words (Kubernetes `pkg/scheduler/framework/plugins`).
fn advice(said: &str) -> Option<&'static str> {
    let words: [(&str, &str); 8] = [
        (
            "didn't match pod anti-affinity rules",
            "its anti-affinity asks for a node that holds none of the others: one more node, `preferred` in place of `required`, or maxSurge 0 with maxUnavailable 1",
        ),
        (
            "didn't satisfy existing pods anti-affinity",
            "pods that run already keep it away: one more node, or other anti-affinity rules",
        ),
        (
            "didn't have free ports",
            "its host port is taken by the pod that it replaces: maxSurge 0 with maxUnavailable 1, or no host port",
        ),
        ("volume node affinity conflict", "its volume is in another zone than the nodes with room"),
        (
            "PersistentVolumeClaim",
            "its volume has to be provisioned first: look at the claim and its storage class",
        ),
        (
            "topology spread constraints",
            "its spread constraints leave no node: one more node in the zone that lacks one, or a larger maxSkew",
        ),
        (
            "Insufficient",
            "it asks for more than a node has left: one more node, smaller requests, or maxSurge 0 with maxUnavailable 1",
        ),
        ("untolerated taint", "every node with room has a taint that it does not tolerate"),
    ];
    words.iter().find(|(word, _)| said.contains(word)).map(|(_, advice)| *advice)
}

/// Volumes and network come before the containers.
fn before_containers(snapshot: &Snapshot, pod: &Value) -> Option<Finding> {
    if has_begun(pod) {
        return None;
    }
    let event = |reasons: &[&str]| latest_message(snapshot, pod, reasons, |_| true);
    if let Some(said) = event(&["FailedAttachVolume"]) {
        let finding = Finding::about(pod, "attach-failed", attach_message(snapshot, pod, &said));
        let fix = "a ReadWriteOnce volume is on one node at a time: bring the pods that use it together on one node, or roll with Recreate";
        return Some(if said.contains("Multi-Attach") { finding.fix(fix) } else { finding });
    }
    if let Some(said) = event(&["FailedMount"]) {
        let message = format!("a volume cannot be mounted: {said}");
        return Some(Finding::about(pod, "mount-failed", message));
    }
    let said = event(&["FailedCreatePodSandBox", "FailedCreatePodContainer", "NetworkNotReady"])?;
    Some(Finding::about(pod, "network-failed", format!("its network cannot be set up: {said}")))
}

/// Whether a container of it runs or has run, init containers included.
fn has_begun(pod: &Value) -> bool {
    let statuses = ["/status/initContainerStatuses", "/status/containerStatuses"];
    statuses.iter().flat_map(|pointer| items_at(pod, pointer)).any(|status| {
        status["state"]["running"].is_object()
            || status["state"]["terminated"].is_object()
            || int_at(status, "/restartCount").unwrap_or(0) > 0
    })
}

/// Who holds the volume: the pods that mount the same claim on another node.
fn attach_message(snapshot: &Snapshot, pod: &Value, said: &str) -> String {
    let own: Vec<&str> = claims(snapshot, pod).map(name).collect();
    let others = snapshot.all("", "Pod").iter().filter(|other| {
        namespace(other) == namespace(pod)
            && name(other) != name(pod)
            && text_at(other, "/spec/nodeName") != text_at(pod, "/spec/nodeName")
            && claims(snapshot, other).any(|claim| own.contains(&name(claim)))
    });
    let holders: Vec<String> = others
        .map(|other| format!("{} on {}", name(other), text_at(other, "/spec/nodeName")))
        .collect();
    match holders.as_slice() {
        [] => format!("a volume cannot be attached: {said}"),
        holders => format!("a volume cannot be attached: {said} (held by {})", holders.join(", ")),
    }
}
