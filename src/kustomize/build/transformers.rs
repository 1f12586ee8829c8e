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
    let run = &mut Run { resources, context };
    run.patches(fields)?;
    run.names(fields, config)?;
    run.metadata(fields, config)?;
    run.values(fields, config)
}

/// The resources, and what each transformer is recorded in.
struct Run<'a, 'c> {
    resources: &'a mut ResMap,
    context: &'a Context<'c>,
}

impl Run<'_, '_> {
    /// Records that a transformer of `kind` has run.
    fn done(&mut self, kind: &str) {
        if let Some(provenance) = &self.context.provenance {
            provenance.builtin(kind).record(self.resources);
        }
    }

    fn patches(&mut self, fields: &Kustomization) -> Result<(), BuildError> {
        for patch in &patches::load_all_strategic(&fields.patches_strategic_merge, self.context)? {
            patches::apply_named_as_text(patch, self.resources, self.context)?;
        }
        if !fields.patches_strategic_merge.is_empty() {
            self.done("PatchStrategicMergeTransformer");
        }
        for entry in &fields.patches {
            let patch = patches::load(entry, self.context)?;
            patches::apply(&patch, self.resources, self.context)?;
            self.done("PatchTransformer");
        }
        Ok(())
    }

    fn names(
        &mut self,
        fields: &Kustomization,
        config: &TransformerConfig,
    ) -> Result<(), BuildError> {
        if !fields.namespace.is_empty() {
            NamespaceTransformer {
                namespace: &fields.namespace,
                specs: &config.namespace,
                unset_only: false,
                subjects: RoleBindingSubjects::default(),
            }
            .transform(self.resources)?;
            self.done("NamespaceTransformer");
        }
        let (prefix, suffix) = (&fields.name_prefix, &fields.name_suffix);
        if !prefix.is_empty() {
            add_affix(self.resources, Affix::Prefix, prefix, &config.name_prefix)?;
            self.done("PrefixTransformer");
        }
        if !suffix.is_empty() {
            add_affix(self.resources, Affix::Suffix, suffix, &config.name_suffix)?;
            self.done("SuffixTransformer");
        }
        Ok(())
    }

    fn metadata(
        &mut self,
        fields: &Kustomization,
        config: &TransformerConfig,
    ) -> Result<(), BuildError> {
        for label in &fields.labels {
            set_labels(self.resources, &label.pairs, &specs_of(label, config)?)?;
            self.done("LabelTransformer");
        }
        if !fields.labels.is_empty() || !fields.common_labels.is_empty() {
            set_labels(self.resources, &fields.common_labels, &config.common_labels)?;
            self.done("LabelTransformer");
        }
        let annotations = &fields.common_annotations;
        if !annotations.is_empty() {
            set_annotations(self.resources, annotations, &config.common_annotations)?;
            self.done("AnnotationsTransformer");
        }
        Ok(())
    }

    fn values(
        &mut self,
        fields: &Kustomization,
        config: &TransformerConfig,
    ) -> Result<(), BuildError> {
        for entry in &fields.patches_json_6902 {
            let patch = patches::load_json(entry, self.context)?;
            patches::apply(&patch, self.resources, self.context)?;
            self.done("PatchJson6902Transformer");
        }
        for replica in &fields.replicas {
            set_replicas(self.resources, replica, &config.replicas)?;
            self.done("ReplicaCountTransformer");
        }
        for image in &fields.images {
            set_images(self.resources, image, &config.images, self.context)?;
            self.done("ImageTagTransformer");
        }
        if !fields.replacements.is_empty() {
            replace(self.resources, &fields.replacements, self.context)?;
            self.done("ReplacementTransformer");
        }
        Ok(())
    }
}
