//! Names: `namePrefix` and `nameSuffix`.
//!
//! Source: kustomize `api/internal/builtins/PrefixTransformer.go` and `SuffixTransformer.go`.

use super::field_path::{Create, apply_specs, set_scalar, wrong_kind};
use super::field_spec::{FieldSpec, FieldSpecs};
use super::shared_values::settle;
use crate::kustomize::error::BuildError;
use crate::kustomize::node::{Node, Tag, Text};
use crate::kustomize::resmap::ResMap;
use crate::kustomize::resource::{Resource, ResourceId};
use crate::kustomize::types::Located;

/// Which end of a name is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Affix {
    /// `namePrefix`
    Prefix,
    /// `nameSuffix`
    Suffix,
}

impl Affix {
    fn join(self, affix: &str, name: &str) -> Text {
        match self {
            Self::Prefix => Text::from(format!("{affix}{name}")),
            Self::Suffix => Text::from(format!("{name}{affix}")),
        }
    }

    fn remember(self, resource: &mut Resource, affix: &Text) {
        if affix.is_empty() {
            return;
        }
        // Kustomize keeps them as one text, separated by commas.
        let parts = affix.split(',').map(Text::from);
        match self {
            Self::Prefix => resource.prefixes.extend(parts),
            Self::Suffix => resource.suffixes.extend(parts),
        }
        resource.store_previous_id();
    }
}

/// Adds `text` to the fields of `specs` on every resource that may be renamed.
///
/// # Errors
/// [`crate::kustomize::error::BuildErrorKind::Transformer`] where a map or a list stands in such a
/// field.
pub(crate) fn add_affix(
    resmap: &mut ResMap,
    affix: Affix,
    text: &Located,
    specs: &FieldSpecs,
) -> Result<(), BuildError> {
    for resource in resmap.resources_mut() {
        let id = resource.original_id();
        if is_never_renamed(&id) {
            continue;
        }
        let is_meant = |spec: &&FieldSpec| spec.selects(id.group(), id.version(), &id.kind);
        for spec in specs.iter().filter(is_meant) {
            if spec.path == "metadata/name" {
                affix.remember(resource, &text.text);
            }
            let set = |node: &mut Node| {
                let Some(name) = node.as_text() else { return Err(wrong_kind("a scalar", node)) };
                let joined = affix.join(text, name);
                let decided = if text.is_empty() { node.origin } else { text.origin };
                set_scalar(node, joined, Tag::Unset, decided)
            };
            let create = Create::Scalar(Tag::Str);
            apply_specs(&mut resource.node, [spec], create, text.origin, set)?;
            if spec.path != "metadata/name" {
                settle(resource);
            }
        }
    }
    Ok(())
}

/// Kinds whose names mean something outside of the overlay (`prefixFieldSpecsToSkip`).
fn is_never_renamed(id: &ResourceId) -> bool {
    match &*id.kind {
        "CustomResourceDefinition" | "Namespace" => true,
        "APIService" => id.group() == "apiregistration.k8s.io",
        _ => false,
    }
}
