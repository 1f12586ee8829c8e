//! Which kinds have no namespace.
//!
//! Kustomize knows the built-in kinds from a fixed table (kyaml `precomputedIsNamespaceScoped`) and
//! the others only from a schema that `openapi.path` gives; an unknown kind counts as namespaced.

use std::collections::HashMap;
use std::sync::Arc;

use super::build::tables;

/// Knowledge of which kinds are cluster scoped. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Scopes {
    custom: Option<Arc<HashMap<(String, String), bool>>>,
}

impl Scopes {
    /// The built-in kinds.
    #[must_use]
    pub fn builtin() -> Self {
        Self::default()
    }

    /// The built-in kinds and those of a custom schema: `(apiVersion, kind)` to whether it is
    /// namespaced.
    #[must_use]
    pub fn with_custom(custom: HashMap<(String, String), bool>) -> Self {
        Self { custom: Some(Arc::new(custom)) }
    }

    /// Whether the kind is known, and known to have no namespace.
    #[must_use]
    pub fn is_cluster_scoped(&self, api_version: &str, kind: &str) -> bool {
        self.is_namespaced(api_version, kind) == Some(false)
    }

    /// Whether the kind has a namespace; `None` if it is unknown.
    #[must_use]
    pub fn is_namespaced(&self, api_version: &str, kind: &str) -> Option<bool> {
        tables::is_namespaced(api_version, kind).or_else(|| {
            let custom = self.custom.as_ref()?;
            custom.get(&(api_version.to_owned(), kind.to_owned())).copied()
        })
    }
}
