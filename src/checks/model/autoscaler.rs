//! HorizontalPodAutoscalers and KEDA ScaledObjects: who owns a number of replicas.

use super::workload::Workload;
use super::{int_at, text_at};
use crate::kustomize::Resource;

/// An autoscaler of the render.
#[derive(Clone, Debug)]
pub struct Autoscaler<'a> {
    /// The resource.
    pub resource: &'a Resource,
    /// The kind of its target.
    pub target_kind: &'a str,
    /// The name of its target.
    pub target_name: &'a str,
    /// The least replicas.
    pub min: i64,
    /// The most replicas.
    pub max: i64,
    /// The path of the least number.
    pub min_path: [&'static str; 2],
}

impl<'a> Autoscaler<'a> {
    /// `resource` as an autoscaler, if it is one.
    #[must_use]
    pub fn new(resource: &'a Resource) -> Option<Self> {
        let group = resource.api_version().split_once('/').map_or("", |(group, _)| group);
        let spec = resource.node.get("spec")?;
        let target_name = text_at(spec, &["scaleTargetRef", "name"])?;
        let kind = text_at(spec, &["scaleTargetRef", "kind"]);
        let (target_kind, min, max, min_path) = match (group, resource.kind()) {
            ("autoscaling", "HorizontalPodAutoscaler") => {
                let min = int_at(spec, &["minReplicas"]).unwrap_or(1);
                let max = int_at(spec, &["maxReplicas"]).unwrap_or(min);
                (kind?, min, max, ["spec", "minReplicas"])
            }
            ("keda.sh", "ScaledObject") => {
                let min = int_at(spec, &["minReplicaCount"]).unwrap_or(0);
                let max = int_at(spec, &["maxReplicaCount"]).unwrap_or(100);
                (kind.unwrap_or("Deployment"), min, max, ["spec", "minReplicaCount"])
            }
            _ => return None,
        };
        Some(Self { resource, target_kind, target_name, min, max, min_path })
    }

    /// Whether it scales `workload`.
    #[must_use]
    pub fn scales(&self, workload: &Workload<'_>) -> bool {
        self.target_name == workload.name()
            && self.target_kind == workload.resource.kind()
            && self.resource.current_id().effective_namespace() == workload.namespace
    }
}
