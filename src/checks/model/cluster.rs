//! CloudNativePG Clusters, with the operator's defaults and its own disruption budgets.
//!
//! Source: cloudnative-pg `api/v1/cluster_types.go`, `internal/webhook/v1/cluster_webhook.go`,
//! `pkg/specs/poddisruptionbudget.go`.

use super::selector::{Labels, Selector};
use super::{int_at, is_true, items_at, text_at};
use crate::checks::finding::Spot;
use crate::kustomize::Resource;

/// A Cluster of the render.
#[derive(Clone, Copy, Debug)]
pub struct Cluster<'a> {
    /// The resource.
    pub resource: &'a Resource,
}

impl<'a> Cluster<'a> {
    /// `resource` as a Cluster of CloudNativePG, if it is one.
    #[must_use]
    pub fn new(resource: &'a Resource) -> Option<Self> {
        let is_one = resource.api_version().starts_with("postgresql.cnpg.io/")
            && resource.kind() == "Cluster";
        is_one.then_some(Self { resource })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.resource.name()
    }

    /// The number of instances; 1 where none is stated.
    #[must_use]
    pub fn instances(&self) -> i64 {
        int_at(&self.resource.node, &["spec", "instances"]).unwrap_or(1)
    }

    /// Whether the operator makes budgets for it.
    #[must_use]
    pub fn has_budgets(&self) -> bool {
        let enabled = text_at(&self.resource.node, &["spec", "enablePDB"]) != Some("false");
        let is_waived = self.is_in_maintenance() && self.instances() == 1;
        enabled && !is_waived && !self.is_hibernated()
    }

    /// Whether one of the budgets is for its replicas: from three instances on, and not while nodes are maintained.
    #[must_use]
    pub fn has_replica_budget(&self) -> bool {
        self.has_budgets() && self.instances() >= 3 && !self.is_in_maintenance()
    }

    /// Whether nodes are maintained and its volumes wait for them.
    fn is_in_maintenance(&self) -> bool {
        let node = &self.resource.node;
        is_true(node, &["spec", "nodeMaintenanceWindow", "inProgress"])
            && text_at(node, &["spec", "nodeMaintenanceWindow", "reusePVC"]) != Some("false")
    }

    /// Whether it is put to sleep, so that no instance runs.
    #[must_use]
    pub fn is_hibernated(&self) -> bool {
        self.resource.annotation("cnpg.io/hibernation").is_some_and(|value| &**value == "on")
    }

    /// The field `path` of its `spec`, or what stands nearest.
    #[must_use]
    pub fn spot(&self, path: &[&str]) -> Spot<'a> {
        let mut whole = vec!["spec"];
        whole.extend(path);
        Spot::at(self.resource, &whole)
    }

    /// How many of its pods `selector` selects: the operator labels the primary and the replicas.
    #[must_use]
    pub fn pods_selected_by(&self, selector: &Selector<'_>) -> i64 {
        let of_role = |role| selector.matches(&self.pod_labels(role));
        i64::from(of_role("primary"))
            + if of_role("replica") { (self.instances() - 1).max(0) } else { 0 }
    }

    fn pod_labels(&self, role: &'static str) -> Labels<'a> {
        let mut labels: Labels<'a> = [
            ("cnpg.io/cluster", self.name()),
            ("cnpg.io/podRole", "instance"),
            ("cnpg.io/instanceRole", role),
            ("role", role),
        ]
        .into();
        let inherited = self.resource.node.lookup(&["spec", "inheritedMetadata"]);
        if let Some(node) = inherited {
            labels.extend(super::selector::labels_at(node, &["labels"]));
        }
        labels
    }

    /// `postgresql.synchronous.number`, where synchronous replication is configured that way.
    #[must_use]
    pub fn synchronous_number(&self) -> Option<i64> {
        int_at(&self.resource.node, &["spec", "postgresql", "synchronous", "number"])
    }

    /// How many standbys outside of the Cluster are named for synchronous replication.
    #[must_use]
    pub fn named_standbys(&self) -> i64 {
        ["standbyNamesPre", "standbyNamesPost"]
            .iter()
            .map(|list| {
                let path = ["spec", "postgresql", "synchronous", list];
                i64::try_from(items_at(&self.resource.node, &path).len()).unwrap_or(0)
            })
            .sum()
    }
}
