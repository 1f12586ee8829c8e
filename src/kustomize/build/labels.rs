//! Labels: `labels` with all its options, and `commonLabels`.
//!
//! Source: kustomize `api/filters/labels`, `api/internal/target/kusttarget_configplugin.go`.

use std::cell::Cell;

use super::field_path::{Create, FieldPathError, apply_specs, set_entry, string_node};
use super::field_spec::{FieldSpec, FieldSpecs, merge_all, merge_one};
use super::shared_values::{restyle, settle, share};
use super::transformer_config::TransformerConfig;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Node, Style};
use crate::kustomize::resmap::ResMap;
use crate::kustomize::types::{Label, StringMap};

/// The fields that one entry of `labels` sets.
///
/// # Errors
/// [`BuildErrorKind::Transformer`] where its own fields disagree with the configured ones.
pub(crate) fn specs_of(
    label: &Label,
    config: &TransformerConfig,
) -> Result<FieldSpecs, BuildError> {
    let mut specs: FieldSpecs = label.field_specs.iter().map(FieldSpec::from).collect();
    let mut merge = || {
        merge_all(&mut specs, &config.labels)?;
        if label.include_selectors {
            return merge_all(&mut specs, &config.common_labels);
        }
        if label.include_templates {
            merge_all(&mut specs, &config.template_labels)?;
        }
        let metadata =
            FieldSpec { path: "metadata/labels".into(), create: true, ..FieldSpec::default() };
        merge_one(&mut specs, &metadata)
    };
    merge().map_err(|error| {
        BuildError::new(BuildErrorKind::Transformer, format!("labels: {error}")).at(label.origin)
    })?;
    Ok(specs)
}

/// Sets `pairs` in the fields of `specs` on every resource.
///
/// # Errors
/// [`BuildErrorKind::Transformer`] where something else than a map stands in such a field.
pub(crate) fn set_labels(
    resmap: &mut ResMap,
    pairs: &StringMap,
    specs: &FieldSpecs,
) -> Result<(), BuildError> {
    set_pairs(resmap, pairs, specs)
}

/// What labels and annotations share: each pair goes into the map at the end of each path.
pub(crate) fn set_pairs(
    resmap: &mut ResMap,
    pairs: &StringMap,
    specs: &FieldSpecs,
) -> Result<(), BuildError> {
    if pairs.is_empty() {
        return Ok(());
    }
    if let Some((_, value)) = pairs.iter().find(|(key, _)| &**key == "<<") {
        let message = "`<<` cannot be the key of a label or an annotation";
        return Err(BuildError::new(BuildErrorKind::Transformer, message).at(value.origin));
    }
    let made =
        if specs.iter().any(is_made_for_build) { specs_that_make(specs) } else { Vec::new() };
    for resource in resmap.resources_mut() {
        // What kustomize keeps in annotations makes the field, too.
        let has_annotations = !made.is_empty() && resource.has_build_annotations();
        let specs: &[FieldSpec] = if has_annotations { &made } else { specs };
        for (key, value) in pairs {
            let mut text = string_node(&value.text, value.origin);
            text.quote_if_yaml_1_1_differs();
            let one = share(&mut resource.shared, text.clone());
            let own_style = text.as_scalar().map_or(Style::Plain, |scalar| scalar.style);
            let style = Cell::new(own_style);
            let set = |node: &mut Node| -> Result<(), FieldPathError> {
                let is_new = node.get(key).is_none();
                set_entry(node, key, if is_new { &one } else { &text })?;
                let scalar = node.get(key).and_then(Node::as_scalar);
                // What is there keeps its quotes, and the one value takes them on.
                let takes_on = !is_new || style.get() == Style::Plain;
                if let Some(scalar) = scalar.filter(|_| takes_on) {
                    style.set(scalar.style);
                }
                Ok(())
            };
            apply_specs(&mut resource.node, specs.iter(), Create::Map, value.origin, set)?;
            if style.get() != own_style {
                restyle(resource, &one, style.get());
            }
        }
        settle(resource);
    }
    Ok(())
}

/// Whether a spec is of the annotations, and does not make the field.
fn is_made_for_build(spec: &FieldSpec) -> bool {
    !spec.create && spec.path.trim_start_matches('/') == "metadata/annotations"
}

fn specs_that_make(specs: &[FieldSpec]) -> Vec<FieldSpec> {
    let make = |spec: &FieldSpec| FieldSpec {
        create: spec.create || is_made_for_build(spec),
        ..spec.clone()
    };
    specs.iter().map(make).collect()
}
