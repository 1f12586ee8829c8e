//! The intent to change which components an overlay uses.

use crate::kustomize::{ResourceId, ResourceName};

/// Components come, go, or give their place to others. Paths are as the `components:` list holds them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetComponents {
    /// Those that are put behind all others.
    pub add: Vec<String>,
    /// Those that are taken out.
    pub remove: Vec<String>,
    /// Those that give their place to another.
    pub replace: Vec<(String, String)>,
    /// `KIND/NAME` of objects with data that may leave the render.
    pub allowed_removals: Vec<String>,
}

/// Whether `allowed`, a list of `KIND[.GROUP]/NAME`, holds the object.
#[must_use]
pub(super) fn allows_removal(allowed: &[String], id: &ResourceId) -> bool {
    allowed.iter().filter_map(|text| ResourceName::parse(text)).any(|allowed| {
        allowed.kind.is_some_and(|kind| kind.eq_ignore_ascii_case(&id.kind))
            && allowed.group.is_none_or(|group| group == id.group())
            && *allowed.name == *id.name
    })
}

impl SetComponents {
    /// Whether the object may leave the render.
    #[must_use]
    pub fn allows_removal(&self, id: &ResourceId) -> bool {
        allows_removal(&self.allowed_removals, id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removal_is_allowed_by_kind_and_name_with_or_without_the_group() {
        let resources = crate::kustomize::Rendered::parse(
            "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\n",
        );
        let id = resources.unwrap().resources[0].current_id();
        let allows = |text: &str| allows_removal(&[text.to_owned()], &id);
        assert!(allows("StatefulSet/db") && allows("statefulset/db"));
        assert!(allows("StatefulSet.apps/db"));
        for other in ["StatefulSet.other/db", "StatefulSet/da", "db", "Deployment/db"] {
            assert!(!allows(other), "{other}");
        }
    }
}
