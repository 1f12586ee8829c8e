//! PersistentVolumeClaims and who may mount them at once.

use super::items_at;
use crate::kustomize::Resource;
use crate::kustomize::node::Node;

/// How many may mount a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Pods of one node (`ReadWriteOnce`).
    OneNode,
    /// One pod (`ReadWriteOncePod`).
    OnePod,
    /// Pods of many nodes.
    Many,
}

/// A claim of the render.
#[derive(Clone, Debug)]
pub struct Claim<'a> {
    /// The resource.
    pub resource: &'a Resource,
    /// Who may mount it.
    pub access: Access,
}

impl<'a> Claim<'a> {
    /// `resource` as a claim, if it is one.
    #[must_use]
    pub fn new(resource: &'a Resource) -> Option<Self> {
        if resource.kind() != "PersistentVolumeClaim" || resource.api_version() != "v1" {
            return None;
        }
        let modes: Vec<&str> = items_at(&resource.node, &["spec", "accessModes"])
            .iter()
            .filter_map(Node::as_str)
            .collect();
        let access = if modes.iter().any(|mode| matches!(*mode, "ReadWriteMany" | "ReadOnlyMany")) {
            Access::Many
        } else if modes.contains(&"ReadWriteOncePod") {
            Access::OnePod
        } else if modes.contains(&"ReadWriteOnce") {
            Access::OneNode
        } else {
            Access::Many
        };
        Some(Self { resource, access })
    }

    /// The word for its access mode, for messages.
    #[must_use]
    pub fn mode(&self) -> &'static str {
        match self.access {
            Access::OneNode => "ReadWriteOnce",
            Access::OnePod => "ReadWriteOncePod",
            Access::Many => "ReadWriteMany",
        }
    }
}
