//! How many pods workloads are asked for, how many they have, and who decides the number.
//!
//! Sources: Kubernetes `apps/v1` (`status.readyReplicas` is left out at 0), Argo Rollouts' `Rollout` (the same fields; its
//! ReplicaSets are told apart by the label `rollouts-pod-template-hash`), `autoscaling/v2`.

use std::collections::BTreeMap;

use super::objects::{labels, name, namespace};
use super::pod::{Pod, WorkloadId};
use super::state::State;
use crate::checks::model::selector::Selector;
use crate::checks::model::{int_at, is_true, items_at, text_at};
use crate::kustomize::node::Node;

/// The kinds of workloads whose replicas are judged.
pub(super) const WORKLOADS: [&str; 4] = ["Deployment", "StatefulSet", "ReplicaSet", "Rollout"];

/// What a workload is asked for, and what it says that it has.
#[derive(Clone, Debug)]
pub struct Scale {
    /// `spec.replicas`, or the instances of a database.
    pub wanted: i64,
    /// The ready ones, where it has a status.
    reported: Option<i64>,
    selector: Option<Node>,
}

/// What decides the replicas of a workload within bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scaler {
    /// Its name.
    pub name: String,
    /// The least replicas.
    pub min: i64,
    /// The most replicas.
    pub max: i64,
}

/// Fewer ready pods than asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// The pods that are ready.
    pub ready: i64,
    /// The pods that are asked for.
    pub wanted: i64,
}

impl Scale {
    pub(super) fn read(object: &Node) -> Self {
        let status = object.get("status").filter(|status| status.lookup(&["replicas"]).is_some());
        let ready = |status| int_at(status, &["readyReplicas"]).unwrap_or(0);
        Self {
            wanted: int_at(object, &["spec", "replicas"]).unwrap_or(1),
            reported: status.map(ready),
            selector: object.lookup(&["spec", "selector"]).filter(|node| !node.is_null()).cloned(),
        }
    }

    pub(super) fn of_database(instances: i64, ready: Option<i64>) -> Self {
        Self { wanted: instances, reported: ready, selector: None }
    }
}

impl Scaler {
    /// What a HorizontalPodAutoscaler scales, and how.
    pub(super) fn read(object: &Node) -> Option<(WorkloadId, Self)> {
        let target = |field| text_at(object, &["spec", "scaleTargetRef", field]).map(str::to_owned);
        let id = WorkloadId {
            namespace: namespace(object).to_owned(),
            kind: target("kind")?,
            name: target("name")?,
        };
        let min = int_at(object, &["spec", "minReplicas"]).unwrap_or(1);
        let max = int_at(object, &["spec", "maxReplicas"]).unwrap_or(i64::MAX);
        Some((id, Self { name: name(object).to_owned(), min, max }))
    }
}

/// The controllers of ReplicaSets, by namespace and name; none for those that nothing controls.
pub(super) type Controllers = BTreeMap<(String, String), Option<WorkloadId>>;

/// Whose each ReplicaSet is.
pub(super) fn controllers(sets: &[Node]) -> Controllers {
    let of = |set: &Node| {
        let owners = items_at(set, &["metadata", "ownerReferences"]);
        let owner = owners.iter().find(|owner| is_true(owner, &["controller"]))?;
        Some(WorkloadId {
            namespace: namespace(set).to_owned(),
            kind: text_at(owner, &["kind"])?.to_owned(),
            name: text_at(owner, &["name"])?.to_owned(),
        })
    };
    sets.iter().map(|set| ((namespace(set).to_owned(), name(set).to_owned()), of(set))).collect()
}

/// The workload behind a ReplicaSet: its controller where the set was read; else by the hash in its name, which the label of
/// its pods tells; else the set itself.
pub(super) fn behind_replica_set(set: &str, pod: &Node, controllers: &Controllers) -> WorkloadId {
    let namespace = namespace(pod).to_owned();
    if let Some(controller) = controllers.get(&(namespace.clone(), set.to_owned())) {
        let itself =
            || WorkloadId { namespace, kind: "ReplicaSet".to_owned(), name: set.to_owned() };
        return controller.clone().unwrap_or_else(itself);
    }
    let labels = labels(pod);
    let by_hash = |key: &str, kind: &str| {
        let name = set.strip_suffix(labels.get(key)?.as_str())?.strip_suffix('-')?;
        Some((kind.to_owned(), name.to_owned()))
    };
    let (kind, name) = by_hash("rollouts-pod-template-hash", "Rollout")
        .or_else(|| by_hash("pod-template-hash", "Deployment"))
        .unwrap_or_else(|| ("ReplicaSet".to_owned(), set.to_owned()));
    WorkloadId { namespace, kind, name }
}

impl State {
    /// How many pods of a workload are ready: no more than it says, and no more than there are.
    #[must_use]
    pub fn ready_of(&self, id: &WorkloadId) -> i64 {
        let scale = self.scales.get(id);
        let selector = scale.and_then(|scale| scale.selector.as_ref());
        let is_its = |pod: &&Pod| match selector {
            // By labels where they are told: a dump may lack what leads from a pod to its workload.
            Some(selector) => {
                pod.namespace == id.namespace
                    && Selector::new(Some(selector)).matches(&pod.labels())
            }
            None => pod.workload() == Some(id),
        };
        let is_up = |pod: &&Pod| pod.is_ready && !pod.is_over() && !pod.is_terminating;
        let counted = self.pods.iter().filter(is_up).filter(is_its).count();
        let counted = i64::try_from(counted).unwrap_or(i64::MAX);
        scale.and_then(|scale| scale.reported).map_or(counted, |reported| reported.min(counted))
    }

    /// What a workload lacks; `None` where it lacks nothing or is not known.
    #[must_use]
    pub fn shortage(&self, id: &WorkloadId) -> Option<Shortage> {
        let wanted = self.scales.get(id)?.wanted;
        let ready = self.ready_of(id);
        (ready < wanted).then_some(Shortage { ready, wanted })
    }

    /// Whether there is a workload, or a pod of it, that is asked for.
    #[must_use]
    pub fn has(&self, id: &WorkloadId) -> bool {
        match self.scales.get(id) {
            Some(scale) => scale.wanted > 0,
            None => !self.pods_of(id).is_empty(),
        }
    }
}
