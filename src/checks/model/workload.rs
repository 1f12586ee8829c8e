//! Workloads: what makes pods, with Kubernetes' defaults filled in.
//!
//! Source: Kubernetes `pkg/apis/apps/v1/defaults.go`, `pkg/controller/deployment/util`
//! (`ResolveFenceposts`, `MaxUnavailable`).

use super::amount::{Amount, Rounding};
use super::container::{Container, containers};
use super::selector::{Labels, labels_at};
use super::{int_at, is_true, items_at, text_at};
use crate::checks::finding::Spot;
use crate::kustomize::Resource;
use crate::kustomize::node::Node;

/// The kind of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkloadKind {
    /// `apps` Deployment.
    Deployment,
    /// `apps` StatefulSet.
    StatefulSet,
    /// `apps` DaemonSet.
    DaemonSet,
    /// `apps` ReplicaSet, ReplicationController or an Argo Rollout: pods by number, rolled by
    /// rules that are not looked at here.
    OtherScaled,
    /// `batch` Job.
    Job,
    /// `batch` CronJob.
    CronJob,
    /// A bare Pod.
    Pod,
}

/// A workload of the render.
#[derive(Clone, Debug)]
pub struct Workload<'a> {
    /// The resource.
    pub resource: &'a Resource,
    /// Its kind.
    pub kind: WorkloadKind,
    /// Its pods' specification.
    pub pod: &'a Node,
    /// The labels of its pods.
    pub labels: Labels<'a>,
    /// Its namespace; `default` where none is stated.
    pub namespace: String,
    template_path: &'static [&'static str],
}

/// What a rolling update may do, in pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollingUpdate {
    /// Pods beyond the number of replicas.
    pub surge: i64,
    /// Pods below it.
    pub unavailable: i64,
}

/// How the pods of a Deployment are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// All pods go before a new one comes.
    Recreate,
    /// Step by step.
    RollingUpdate(RollingUpdate),
    /// Values that the API refuses.
    Invalid,
}

const DEFAULT_SHARE: Amount = Amount::Percent(25);
/// `terminationGracePeriodSeconds` where nothing states it (`core/v1` defaults).
pub const DEFAULT_GRACE_SECONDS: i64 = 30;

impl<'a> Workload<'a> {
    /// `resource` as a workload, if it is one.
    #[must_use]
    pub fn new(resource: &'a Resource) -> Option<Self> {
        let group = resource.api_version().split_once('/').map_or("", |(group, _)| group);
        let template: &'static [&'static str] = &["spec", "template"];
        let (kind, path) = match (group, resource.kind()) {
            ("apps", "Deployment") => (WorkloadKind::Deployment, template),
            ("apps", "StatefulSet") => (WorkloadKind::StatefulSet, template),
            ("apps", "DaemonSet") => (WorkloadKind::DaemonSet, template),
            ("apps", "ReplicaSet") | ("", "ReplicationController") | ("argoproj.io", "Rollout") => {
                (WorkloadKind::OtherScaled, template)
            }
            ("batch", "Job") => (WorkloadKind::Job, template),
            ("batch", "CronJob") => {
                let nested: &'static [&'static str] = &["spec", "jobTemplate", "spec", "template"];
                (WorkloadKind::CronJob, nested)
            }
            ("", "Pod") => (WorkloadKind::Pod, &[] as &'static [&'static str]),
            _ => return None,
        };
        let template = resource.node.lookup(path)?;
        let pod = template.get("spec")?;
        let labels = labels_at(template, &["metadata", "labels"]);
        let namespace = resource.current_id().effective_namespace().to_owned();
        Some(Self { resource, kind, pod, labels, namespace, template_path: path })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.resource.name()
    }

    /// `Kind/name`.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("{}/{}", self.resource.kind(), self.name())
    }

    /// Whether its pods are meant to run on, in a number of replicas.
    #[must_use]
    pub fn is_scaled(&self) -> bool {
        use WorkloadKind::{Deployment, OtherScaled, StatefulSet};
        matches!(self.kind, Deployment | StatefulSet | OtherScaled)
    }

    /// The number of replicas; 1 where none is stated.
    #[must_use]
    pub fn replicas(&self) -> i64 {
        match self.kind {
            WorkloadKind::Pod => 1,
            _ => int_at(&self.resource.node, &["spec", "replicas"]).unwrap_or(1).max(0),
        }
    }

    /// The field of the number of replicas, or of what stands nearest.
    #[must_use]
    pub fn replicas_spot(&self) -> Spot<'a> {
        Spot::at(self.resource, &["spec", "replicas"])
    }

    /// The field `path` of its pods' specification, or what stands nearest.
    #[must_use]
    pub fn pod_spot(&self, path: &[&str]) -> Spot<'a> {
        let mut whole = self.template_path.to_vec();
        whole.push("spec");
        whole.extend(path);
        Spot::at(self.resource, &whole)
    }

    /// The path of its pods' specification.
    #[must_use]
    pub fn pod_path(&self) -> String {
        let mut path = self.template_path.to_vec();
        path.push("spec");
        path.join(".")
    }

    /// The containers that run for as long as the pod.
    #[must_use]
    pub fn containers(&self) -> Vec<Container<'a>> {
        containers(self.resource, self.pod, &self.pod_path(), &["containers"])
    }

    /// All containers, init containers included.
    #[must_use]
    pub fn all_containers(&self) -> Vec<Container<'a>> {
        containers(self.resource, self.pod, &self.pod_path(), &["containers", "initContainers"])
    }

    /// The seconds between the order to end and the kill.
    #[must_use]
    pub fn grace_seconds(&self) -> i64 {
        int_at(self.pod, &["terminationGracePeriodSeconds"]).unwrap_or(DEFAULT_GRACE_SECONDS)
    }

    /// `maxSurge` or `maxUnavailable` as stated; 25 % where nothing states it.
    #[must_use]
    pub fn rolling_value(&self, field: &str) -> Amount {
        let node = self.resource.node.lookup(&["spec", "strategy", "rollingUpdate", field]);
        node.and_then(Amount::read).unwrap_or(DEFAULT_SHARE)
    }

    /// How a Deployment replaces its pods, for `replicas` of them.
    #[must_use]
    pub fn strategy(&self, replicas: i64) -> Strategy {
        if text_at(&self.resource.node, &["spec", "strategy", "type"]) == Some("Recreate") {
            return Strategy::Recreate;
        }
        let surge = self.rolling_value("maxSurge").of(replicas, Rounding::Up);
        let unavailable = self.rolling_value("maxUnavailable").of(replicas, Rounding::Down);
        let (Some(surge), Some(unavailable)) = (surge, unavailable) else {
            return Strategy::Invalid;
        };
        let unavailable = if surge == 0 && unavailable == 0 { 1 } else { unavailable };
        let unavailable = unavailable.min(replicas);
        Strategy::RollingUpdate(RollingUpdate { surge, unavailable })
    }

    /// The most pods that there can be during a roll.
    #[must_use]
    pub fn pods_at_most(&self) -> i64 {
        let replicas = self.replicas();
        match (self.kind, self.strategy(replicas)) {
            _ if replicas == 0 => 0,
            (WorkloadKind::Deployment, Strategy::RollingUpdate(roll)) => replicas + roll.surge,
            _ => replicas,
        }
    }

    /// The names of the claims that its pods mount (claim templates of a StatefulSet are one for
    /// each pod and not among them), with the node of each.
    pub fn claims(&self) -> impl Iterator<Item = (&'a str, &'a Node)> {
        items_at(self.pod, &["volumes"]).iter().filter_map(|volume| {
            let node = volume.lookup(&["persistentVolumeClaim", "claimName"])?;
            Some((node.as_str()?, node))
        })
    }

    /// Whether its pods use the network of their node.
    #[must_use]
    pub fn uses_host_network(&self) -> bool {
        is_true(self.pod, &["hostNetwork"])
    }

    /// What all containers of one pod ask for of `resource` (`cpu`, `memory`), in base units.
    #[must_use]
    pub fn request(&self, resource: &str) -> f64 {
        let asked = |container: &Container<'_>| {
            let node = container.node.lookup(&["resources", "requests", resource])?;
            super::quantity::parse_quantity(node.as_str()?)
        };
        self.containers().iter().filter_map(asked).sum()
    }
}
