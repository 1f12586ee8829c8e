//! The namespace of everything: `namespace`, with the rules for the subjects of role bindings.
//!
//! Source: kustomize `api/filters/namespace`, `api/internal/builtins/NamespaceTransformer.go`.

use std::collections::HashSet;

use super::field_path::{Create, FieldPathError, apply_specs, set_scalar, wrong_kind};
use super::field_spec::{FieldSpec, FieldSpecs};
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Node, Tag, Text, Value};
use crate::kustomize::resmap::ResMap;
use crate::kustomize::resource::Resource;
use crate::kustomize::types::Located;

/// Marks what helm made, which gets no namespace.
const HELM_GENERATED: &str = "internal.config.kubernetes.io/helm-generated";

/// Which subjects of role bindings get the namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RoleBindingSubjects {
    /// Those named `default`.
    #[default]
    DefaultOnly,
    /// All of the kind `ServiceAccount`.
    AllServiceAccounts,
    /// None.
    None,
}

impl RoleBindingSubjects {
    /// Reads the option `setRoleBindingSubjects`; the empty text is the default.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "" | "defaultOnly" => Some(Self::DefaultOnly),
            "allServiceAccounts" => Some(Self::AllServiceAccounts),
            "none" => Some(Self::None),
            _ => None,
        }
    }
}

/// The transformer and its options; a kustomization's `namespace` leaves them at their defaults.
#[derive(Debug)]
pub(crate) struct NamespaceTransformer<'a> {
    /// The namespace.
    pub(crate) namespace: &'a Located,
    /// More fields that hold a namespace.
    pub(crate) specs: &'a FieldSpecs,
    /// Whether a namespace that is there stays.
    pub(crate) unset_only: bool,
    /// Which subjects of role bindings get it.
    pub(crate) subjects: RoleBindingSubjects,
}

impl NamespaceTransformer<'_> {
    /// Sets the namespace of every resource.
    ///
    /// # Errors
    /// [`BuildErrorKind::Conflict`] where two resources are the same one afterwards, and
    /// [`BuildErrorKind::Transformer`] where a field holds no scalar.
    pub(crate) fn transform(&self, resmap: &mut ResMap) -> Result<(), BuildError> {
        if self.namespace.is_empty() {
            return Ok(());
        }
        for resource in resmap.resources_mut() {
            let is_left_to_helm =
                resource.annotation(HELM_GENERATED).is_some_and(|text| &**text == "true");
            if !resource.node.is_nil_or_empty() && !is_left_to_helm {
                resource.store_previous_id();
                self.transform_resource(resource)?;
            }
        }
        self.check_conflicts(resmap)
    }

    /// Sets the namespace of one resource, without remembering what it was before.
    ///
    /// # Errors
    /// [`BuildErrorKind::Transformer`] where a field holds no scalar.
    pub(super) fn transform_resource(&self, resource: &mut Resource) -> Result<(), BuildError> {
        let id = resource.current_id();
        if !id.cluster_scoped {
            let path = "metadata/namespace".into();
            let spec = FieldSpec { path, create: true, ..FieldSpec::default() };
            self.set_at_specs(&mut resource.node, [&spec], Create::Scalar(Tag::Unset))?;
        }
        let is_binding = is_role_binding(&id.kind);
        if is_binding {
            self.set_subjects(&mut resource.node).map_err(|error| {
                let message = format!("subjects of {id}: {error}");
                BuildError::new(BuildErrorKind::Transformer, message).at(self.namespace.origin)
            })?;
        }
        let is_core = resource.api_version() == "v1";
        let is_plain = |spec: &&FieldSpec| match &*spec.path {
            "metadata/namespace" => false,
            "metadata/name" => is_core,
            "subjects/namespace" => !(is_binding && is_role_binding(&spec.kind)),
            _ => true,
        };
        let specs = self.specs.iter().filter(is_plain);
        self.set_at_specs(&mut resource.node, specs, Create::Scalar(Tag::Str))
    }

    fn set_at_specs<'s>(
        &self,
        node: &mut Node,
        specs: impl IntoIterator<Item = &'s FieldSpec>,
        create: Create,
    ) -> Result<(), BuildError> {
        apply_specs(node, specs, create, self.namespace.origin, |node| self.set(node))
    }

    fn set(&self, node: &mut Node) -> Result<(), FieldPathError> {
        if self.unset_only && node.as_str().is_some_and(|text| !text.is_empty()) {
            return Ok(());
        }
        set_scalar(node, Text::clone(&self.namespace.text), Tag::Str, self.namespace.origin)
    }

    fn set_subjects(&self, node: &mut Node) -> Result<(), FieldPathError> {
        let wanted = match self.subjects {
            RoleBindingSubjects::None => return Ok(()),
            RoleBindingSubjects::DefaultOnly => ("name", "default"),
            RoleBindingSubjects::AllServiceAccounts => ("kind", "ServiceAccount"),
        };
        let Some(subjects) = node.get_mut("subjects").filter(|subjects| !subjects.is_null()) else {
            return Ok(());
        };
        match &mut subjects.value {
            Value::Seq(items) => {
                items.iter_mut().try_for_each(|item| self.set_subject(item, wanted))
            }
            _ => Err(wrong_kind("a list", subjects)),
        }
    }

    fn set_subject(&self, subject: &mut Node, wanted: (&str, &str)) -> Result<(), FieldPathError> {
        if subject.is_null() {
            return Ok(());
        }
        let Value::Map(map) = &mut subject.value else {
            return Err(wrong_kind("a map", subject));
        };
        match map.get(wanted.0) {
            Some(value) if value.as_scalar().is_none() => {
                return Err(wrong_kind("a scalar", value));
            }
            Some(value) if value.as_str() == Some(wanted.1) => {}
            _ => return Ok(()),
        }
        if map.get("namespace").is_none() {
            map.push("namespace", Node::untagged("", self.namespace.origin));
        }
        map.get_mut("namespace").map_or(Ok(()), |namespace| self.set(namespace))
    }

    fn check_conflicts(&self, resmap: &ResMap) -> Result<(), BuildError> {
        let mut seen = HashSet::with_capacity(resmap.len());
        for resource in resmap.resources() {
            let id = resource.current_id();
            let namespace = Text::from(id.effective_namespace());
            let key = (id.api_version.clone(), id.kind.clone(), id.name.clone(), namespace);
            if !seen.insert(key) {
                let message = format!("namespace transformation produces ID conflict: {id}");
                return Err(
                    BuildError::new(BuildErrorKind::Conflict, message).at(self.namespace.origin)
                );
            }
        }
        Ok(())
    }
}

fn is_role_binding(kind: &str) -> bool {
    matches!(kind, "RoleBinding" | "ClusterRoleBinding")
}
