//! What is wrong in a cluster, under names that stay when pods are replaced.

use serde_json::Value;

use super::{Trouble, What, addresses, is_load_balancer};
use crate::database::{DatabaseState, assess_database};
use crate::rollout::{
    Snapshot, condition, controller, is_condition_true, is_terminating, kind, name, namespace,
    one_line, pod_trouble, ready_finding, sync_finding, text_at,
};

/// Conditions of a node that mean trouble where they are true.
const PRESSURES: [&str; 4] =
    ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"];

/// Everything that is wrong, in order; pods of one owner together.
pub(super) fn all(snapshot: &Snapshot, now: i64) -> Vec<Trouble> {
    let mut found: Vec<Trouble> = Vec::new();
    let each = |group: &str, kind: &str| snapshot.all(group, kind).iter();
    found.extend(each("", "Node").flat_map(node_troubles));
    found.extend(each("", "Pod").filter_map(|pod| trouble_of_pod(snapshot, pod, now)));
    found.extend(each("", "PersistentVolumeClaim").filter_map(claim));
    found.extend(each("", "Service").filter_map(service));
    found.extend(each("argoproj.io", "Application").flat_map(application));
    for (group, kind, what) in [
        ("external-secrets.io", "ExternalSecret", What::SecretNotSynced),
        ("cert-manager.io", "Certificate", What::CertificateNotReady),
    ] {
        let of_kind = each(group, kind);
        found.extend(of_kind.filter_map(|object| {
            ready_finding(object).map(|finding| of(object, what, &finding.message))
        }));
    }
    found.extend(each("postgresql.cnpg.io", "Cluster").filter_map(database));
    together(found)
}

/// One of each trouble, with how often it was met.
fn together(mut found: Vec<Trouble>) -> Vec<Trouble> {
    found.sort_by(|a, b| key(a).cmp(&key(b)));
    found.dedup_by(|next, kept| {
        let is_same = kept.is_same(next);
        kept.count += usize::from(is_same) * next.count;
        is_same
    });
    found
}

fn key(trouble: &Trouble) -> (What, &str, &str, &str, &str) {
    (trouble.what, &trouble.namespace, &trouble.kind, &trouble.name, &trouble.detail)
}

fn of(object: &Value, what: What, detail: &str) -> Trouble {
    Trouble {
        what,
        kind: kind(object).to_owned(),
        namespace: namespace(object).to_owned(),
        name: name(object).to_owned(),
        count: 1,
        detail: one_line(detail),
    }
}

fn node_troubles(node: &Value) -> Vec<Trouble> {
    let mut found = Vec::new();
    if !is_condition_true(node, "Ready") {
        found.push(of(node, What::NodeNotReady, &why_not_ready(node)));
    }
    let pressures: Vec<&str> =
        PRESSURES.into_iter().filter(|pressure| is_condition_true(node, pressure)).collect();
    if !pressures.is_empty() {
        found.push(of(node, What::NodePressure, &pressures.join(", ")));
    }
    if node["spec"]["unschedulable"] == true {
        found.push(of(node, What::NodeCordoned, "nothing new is placed on it"));
    }
    found
}

/// What a node says of it: the message of its condition, else its reason, else its status.
fn why_not_ready(node: &Value) -> String {
    let Some(ready) = condition(node, "Ready") else {
        return "it has no condition Ready".to_owned();
    };
    let said = ["/message", "/reason"].map(|pointer| text_at(ready, pointer));
    match said.into_iter().find(|said| !said.is_empty()) {
        Some(said) => said.to_owned(),
        None => format!("its condition Ready is {}", text_at(ready, "/status")),
    }
}

/// Pods that have done their work, or that are on their way out and in time, are well.
fn trouble_of_pod(snapshot: &Snapshot, pod: &Value, now: i64) -> Option<Trouble> {
    if text_at(pod, "/status/phase") == "Succeeded" && !is_terminating(pod) {
        return None;
    }
    let finding = pod_trouble(snapshot, pod, now)?;
    // How long something has lasted is other in each run.
    let (kind, name) = owner(pod);
    let detail = format!("{}: {}", finding.id, without_duration(&finding.message));
    Some(Trouble { kind, name, ..of(pod, What::PodsNotReady, &detail) })
}

/// Without `for 12s` at its end.
fn without_duration(message: &str) -> &str {
    let is_seconds = |text: &str| text.strip_suffix('s').is_some_and(|n| n.parse::<u64>().is_ok());
    match message.rsplit_once(" for ") {
        Some((before, duration)) if is_seconds(duration) => before,
        _ => message,
    }
}

/// What made a pod; a ReplicaSet stands for its Deployment.
pub(super) fn owner(pod: &Value) -> (String, String) {
    let (kind, name) = controller(pod);
    let hash = text_at(pod, "/metadata/labels/pod-template-hash");
    let deployment = name.strip_suffix(hash).and_then(|rest| rest.strip_suffix('-'));
    match deployment.filter(|_| kind == "ReplicaSet" && !hash.is_empty()) {
        Some(deployment) => ("Deployment".to_owned(), deployment.to_owned()),
        None => (kind.to_owned(), name.to_owned()),
    }
}

fn claim(claim: &Value) -> Option<Trouble> {
    let phase = text_at(claim, "/status/phase");
    (phase != "Bound").then(|| of(claim, What::ClaimNotBound, phase))
}

fn service(service: &Value) -> Option<Trouble> {
    let is_bare = is_load_balancer(service) && addresses(service).is_empty();
    is_bare.then(|| of(service, What::NoAddress, "its load balancer has no address"))
}

/// Progressing and Suspended are states of something that goes on.
fn application(application: &Value) -> Vec<Trouble> {
    let mut found = Vec::new();
    if let Some(finding) = sync_finding(application) {
        found.push(of(application, What::NotSynced, &finding.message));
    }
    let health = text_at(application, "/status/health/status");
    if matches!(health, "Degraded" | "Missing" | "Unknown") {
        let said = text_at(application, "/status/health/message");
        let said = if said.is_empty() { health.to_owned() } else { format!("{health}: {said}") };
        found.push(of(application, What::NotHealthy, &said));
    }
    found
}

fn database(cluster: &Value) -> Option<Trouble> {
    match assess_database(cluster) {
        DatabaseState::Settled => None,
        DatabaseState::Rolling(phase)
        | DatabaseState::Waiting(phase)
        | DatabaseState::Broken(phase) => Some(of(cluster, What::DatabaseNotSettled, &phase)),
    }
}
