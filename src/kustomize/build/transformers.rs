//! The builtin transformers of one kustomization, in kustomize's fixed order.
//!
//! Source: kustomize `api/internal/target/kusttarget_configplugin.go`
//! (`configureBuiltinTransformers`).

use super::annotations::set_annotations;
use super::context::Context;
use super::images::set_images;
use super::labels::{set_labels, specs_of};
use super::namespace::{NamespaceTransformer, RoleBindingSubjects};
use super::patches;
use super::prefix_suffix::{Affix, add_affix};
use super::replacements::replace;
use super::replicas::set_replicas;
use super::transformer_config::TransformerConfig;
use crate::kustomize::error::BuildError;
use crate::kustomize::resmap::ResMap;
use crate::kustomize::types::Kustomization;

/// Runs every transformer that the fields of `fields` ask for over `resources`.
///
/// # Errors
/// As the transformers.
pub(super) fn run_builtin(
    resources: &mut ResMap,
    fields: &Kustomization,
    config: &TransformerConfig,
    context: &Context<'_>,
) -> Result<(), BuildError> {
    for entry in &fields.patches_strategic_merge {
        let patch = patches::load_strategic(entry, context)?;
        patches::apply_named_as_text(&patch, resources, context)?;
    }
    for entry in &fields.patches {
        patches::apply(&patches::load(entry, context)?, resources, context)?;
    }
    NamespaceTransformer {
        namespace: &fields.namespace,
        specs: &config.namespace,
        unset_only: false,
        subjects: RoleBindingSubjects::default(),
    }
    .transform(resources)?;
    if !fields.name_prefix.is_empty() {
        add_affix(resources, Affix::Prefix, &fields.name_prefix, &config.name_prefix)?;
    }
    if !fields.name_suffix.is_empty() {
        add_affix(resources, Affix::Suffix, &fields.name_suffix, &config.name_suffix)?;
    }
    for label in &fields.labels {
        set_labels(resources, &label.pairs, &specs_of(label, config)?)?;
    }
    set_labels(resources, &fields.common_labels, &config.common_labels)?;
    set_annotations(resources, &fields.common_annotations, &config.common_annotations)?;
    for entry in &fields.patches_json_6902 {
        patches::apply(&patches::load_json(entry, context)?, resources, context)?;
    }
    for replica in &fields.replicas {
        set_replicas(resources, replica, &config.replicas)?;
    }
    for image in &fields.images {
        set_images(resources, image, &config.images, context)?;
    }
    if !fields.replacements.is_empty() {
        replace(resources, &fields.replacements, context)?;
    }
    Ok(())
}
