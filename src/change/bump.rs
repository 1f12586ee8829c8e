//! The intent to move a remote base to another version.

use super::PinImages;
use crate::kustomize::ResourceId;

/// A remote base goes to another reference, with its pins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BumpBase {
    /// The tag, branch or commit.
    pub reference: String,
    /// Part of the address of the repository that is meant, where the overlay stands on several.
    pub repository: Option<String>,
    /// The images that are pinned along.
    pub pins: Option<PinImages>,
    /// Kinds, or kinds with their group (`Cluster.postgresql.cnpg.io`), that may be new.
    pub accepted_kinds: Vec<String>,
    /// `KIND/NAME` of objects with data that may leave the render.
    pub allowed_removals: Vec<String>,
}

impl BumpBase {
    /// Whether the kind `kind` of the API group `group` may be new.
    #[must_use]
    pub fn accepts_kind(&self, kind: &str, group: &str) -> bool {
        self.accepted_kinds.iter().any(|accepted| match accepted.split_once('.') {
            Some((name, in_group)) => name.eq_ignore_ascii_case(kind) && in_group == group,
            None => accepted.eq_ignore_ascii_case(kind),
        })
    }

    /// Whether the object may leave the render.
    #[must_use]
    pub fn allows_removal(&self, id: &ResourceId) -> bool {
        super::components::allows_removal(&self.allowed_removals, id)
    }
}
