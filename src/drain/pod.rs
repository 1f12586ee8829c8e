//! Pods, and the workloads that they belong to.

use std::collections::BTreeMap;
use std::fmt;

use super::objects::{condition, labels, name, namespace};
use super::scale::{Controllers, behind_replica_set};
use super::state::State;
use crate::capacity::amounts::Amounts;
use crate::capacity::extras::{Extras, HostPort, host_ports, pod_extras};
use crate::capacity::request::pod_request;
use crate::checks::model::selector::Labels;
use crate::checks::model::workload::DEFAULT_GRACE_SECONDS;
use crate::checks::model::{int_at, is_true, items_at, text_at};
use crate::clock::parse_rfc_3339;
use crate::kustomize::node::Node;

/// A workload: what makes pods anew.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkloadId {
    /// Its namespace.
    pub namespace: String,
    /// Its kind: a Deployment or a Rollout stands for its ReplicaSets.
    pub kind: String,
    /// Its name.
    pub name: String,
}

impl WorkloadId {
    /// The identity of an object of that kind.
    pub(super) fn of(kind: &str, object: &Node) -> Self {
        Self {
            namespace: namespace(object).to_owned(),
            kind: kind.to_owned(),
            name: name(object).to_owned(),
        }
    }
}

impl fmt::Display for WorkloadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} in {}", self.kind, self.name, self.namespace)
    }
}

/// Who makes a pod anew when it is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Nobody.
    Nobody,
    /// The kubelet, from a file of its node.
    Kubelet,
    /// A DaemonSet, on the same node.
    Daemon,
    /// A workload, on any node that will do.
    Workload(WorkloadId),
}

/// A pod.
#[derive(Clone, Debug)]
pub struct Pod {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Who makes it anew.
    pub owner: Owner,
    /// Its node, by position; `None` while it has none.
    pub node: Option<usize>,
    /// `status.phase`.
    pub phase: String,
    /// Whether it is ready.
    pub is_ready: bool,
    /// Whether it is being deleted.
    pub is_terminating: bool,
    /// What it asks for.
    pub request: Amounts,
    /// What it asks for beside processor and memory.
    pub extras: Extras,
    /// The ports of its node that it takes.
    pub ports: Vec<HostPort>,
    /// Its `spec`.
    pub spec: Node,
    /// The claims that it mounts, by position.
    pub claims: Vec<usize>,
    /// Volumes of it that are emptied when it goes.
    pub scratch: Vec<String>,
    /// How long it may take to end, in seconds.
    pub grace: u64,
    /// How long it took from its place on a node to being ready, the last time, in seconds.
    pub started_in: Option<u64>,
    /// What `kubectl get pods` shows in its column STATUS.
    pub status: String,
}

impl Pod {
    pub(super) fn read(object: &Node, state: &State, controllers: &Controllers) -> Self {
        let labels = labels(object);
        let spec = object
            .get("spec")
            .cloned()
            .unwrap_or_else(|| Node::map(Default::default(), Default::default()));
        let namespace = namespace(object).to_owned();
        let volumes = items_at(&spec, &["volumes"]);
        let claim = |volume: &Node| {
            let named = text_at(volume, &["persistentVolumeClaim", "claimName"]);
            let ephemeral = volume.get("ephemeral").map(|_| {
                format!("{}-{}", name(object), text_at(volume, &["name"]).unwrap_or_default())
            });
            let named = named.map(str::to_owned).or(ephemeral)?;
            state.find_claim(&namespace, &named)
        };
        let node = text_at(&spec, &["nodeName"]).and_then(|name| state.find_node(name));
        let ready = condition(object, "Ready");
        let is_terminating = object.lookup(&["metadata", "deletionTimestamp"]).is_some();
        Self {
            name: name(object).to_owned(),
            owner: owner(object, &namespace, controllers),
            node,
            phase: text_at(object, &["status", "phase"]).unwrap_or_default().to_owned(),
            is_ready: ready.and_then(|ready| text_at(ready, &["status"])) == Some("True"),
            is_terminating,
            request: pod_request(&spec),
            extras: pod_extras(&spec),
            ports: host_ports(&spec),
            claims: volumes.iter().filter_map(claim).collect(),
            scratch: volumes
                .iter()
                .filter(|volume| volume.get("emptyDir").is_some())
                .filter_map(|volume| text_at(volume, &["name"]).map(str::to_owned))
                .collect(),
            grace: int_at(&spec, &["terminationGracePeriodSeconds"])
                .unwrap_or(DEFAULT_GRACE_SECONDS)
                .max(0)
                .unsigned_abs(),
            started_in: started_in(object),
            status: if is_terminating { "Terminating".to_owned() } else { status(object) },
            spec,
            labels,
            namespace,
        }
    }

    /// Its labels, borrowed.
    #[must_use]
    pub fn labels(&self) -> Labels<'_> {
        self.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
    }

    /// What finds its labels.
    pub(super) fn label<'a>(&'a self) -> impl Fn(&str) -> Option<&'a str> + use<'a> {
        |key| self.labels.get(key).map(String::as_str)
    }

    /// Its workload.
    #[must_use]
    pub fn workload(&self) -> Option<&WorkloadId> {
        match &self.owner {
            Owner::Workload(id) => Some(id),
            _ => None,
        }
    }

    /// Whether it has ended by itself.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.phase.as_str(), "Succeeded" | "Failed")
    }

    /// Whether a drain leaves it where it is.
    #[must_use]
    pub fn stays(&self) -> bool {
        matches!(self.owner, Owner::Kubelet | Owner::Daemon)
    }

    /// Whether a drain has something to move.
    #[must_use]
    pub fn moves(&self) -> bool {
        !self.stays() && !self.is_over() && !self.is_terminating
    }

    /// `namespace/name`.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

fn owner(object: &Node, namespace: &str, controllers: &Controllers) -> Owner {
    let annotations = ["metadata", "annotations", "kubernetes.io/config.mirror"];
    if object.lookup(&annotations).is_some() {
        return Owner::Kubelet;
    }
    let owners = items_at(object, &["metadata", "ownerReferences"]);
    let Some(controller) = owners.iter().find(|owner| is_true(owner, &["controller"])) else {
        return Owner::Nobody;
    };
    let field = |name| text_at(controller, &[name]).unwrap_or_default();
    let workload = |kind: &str, name: &str| {
        let (namespace, kind, name) = (namespace.to_owned(), kind.to_owned(), name.to_owned());
        Owner::Workload(WorkloadId { namespace, kind, name })
    };
    match field("kind") {
        "DaemonSet" => Owner::Daemon,
        "Node" => Owner::Kubelet,
        "ReplicaSet" => Owner::Workload(behind_replica_set(field("name"), object, controllers)),
        kind => workload(kind, field("name")),
    }
}

fn started_in(object: &Node) -> Option<u64> {
    let since = |kind| {
        let condition = condition(object, kind)?;
        let is_true = text_at(condition, &["status"]) == Some("True");
        parse_rfc_3339(text_at(condition, &["lastTransitionTime"])?).filter(|_| is_true)
    };
    u64::try_from(since("Ready")? - since("PodScheduled")?).ok()
}

/// The column STATUS (kubectl `pkg/printers/internalversion` `printPod`), as far as it tells trouble.
fn status(object: &Node) -> String {
    let phase = text_at(object, &["status", "phase"]).unwrap_or("Unknown");
    if let Some(reason) = text_at(object, &["status", "reason"]) {
        return reason.to_owned();
    }
    let reason = |container: &Node| {
        let state = |kind| text_at(container, &["state", kind, "reason"]);
        state("waiting").or_else(|| state("terminated")).map(str::to_owned)
    };
    for container in items_at(object, &["status", "initContainerStatuses"]) {
        let is_done = text_at(container, &["state", "terminated", "exitCode"]) == Some("0");
        let runs = container.lookup(&["state", "running"]).is_some();
        if let Some(reason) = reason(container).filter(|_| !is_done && !runs) {
            return format!("Init:{reason}");
        }
    }
    let containers = items_at(object, &["status", "containerStatuses"]);
    let shown = containers.iter().find_map(reason).filter(|reason| reason != "Completed");
    match (phase, shown) {
        ("Succeeded", _) => "Completed".to_owned(),
        (_, Some(reason)) => reason,
        (phase, None) => phase.to_owned(),
    }
}
