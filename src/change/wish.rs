//! What a change comes to on what is rendered: fields of resources and the values they shall have.

use crate::kustomize::{FieldPath, ResourceId};
use serde_json::Value as Json;

/// One field of one rendered resource, and its value after the edit.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// The resource, as rendered.
    pub resource: ResourceId,
    /// The field.
    pub path: FieldPath,
    /// The value it shall have; `None` where it shall be absent.
    pub value: Option<Json>,
}

impl Wish {
    /// `path` of `resource` shall be `value`.
    #[must_use]
    pub fn set(resource: ResourceId, path: FieldPath, value: impl Into<Json>) -> Self {
        Self { resource, path, value: Some(value.into()) }
    }

    /// `path` of `resource` shall be absent.
    #[must_use]
    pub fn remove(resource: ResourceId, path: FieldPath) -> Self {
        Self { resource, path, value: None }
    }

    /// `Kind/name path`, as people say it.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("{}/{} {}", self.resource.kind, self.resource.name, self.path)
    }
}
