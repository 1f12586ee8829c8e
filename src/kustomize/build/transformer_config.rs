//! The configuration of the builtin transformers: the defaults, merged with `configurations:` files
//! and with what `crds:` say.
//!
//! Source: kustomize `api/internal/plugins/builtinconfig`. It is accumulated with the resources: a
//! base's configuration holds in every layer above it. Reading the files is not done here.

use super::field_spec::{
    ConflictingFieldSpecs, FieldSpec, FieldSpecs, NameBackReferences, merge_all, sort_key,
};
use super::tables;
use std::borrow::Cow;

/// The fields that refer to other objects, by the kind they refer to.
pub(crate) type NameReferences = Cow<'static, [NameBackReferences]>;

/// Which fields each builtin transformer touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TransformerConfig {
    /// Fields that `namePrefix` changes.
    pub(crate) name_prefix: FieldSpecs,
    /// Fields that `nameSuffix` changes.
    pub(crate) name_suffix: FieldSpecs,
    /// Fields that `namespace` sets, beside `metadata.namespace`.
    pub(crate) namespace: FieldSpecs,
    /// Fields that `commonLabels` and `labels` with `includeSelectors` set.
    pub(crate) common_labels: FieldSpecs,
    /// Further fields of every entry of `labels`.
    pub(crate) labels: FieldSpecs,
    /// Fields that `labels` with `includeTemplates` sets.
    pub(crate) template_labels: FieldSpecs,
    /// Fields that `commonAnnotations` sets.
    pub(crate) common_annotations: FieldSpecs,
    /// Fields that hold names of other objects.
    pub(crate) name_reference: NameReferences,
    /// Fields in which `$(VAR)` is replaced.
    pub(crate) var_reference: FieldSpecs,
    /// Fields that `images` changes, beside the containers everywhere.
    pub(crate) images: FieldSpecs,
    /// Fields that `replicas` sets.
    pub(crate) replicas: FieldSpecs,
}

impl TransformerConfig {
    /// The configuration where no file says otherwise.
    pub(crate) fn builtin() -> Self {
        tables::default_config()
    }

    /// Adds what `other` says (`TransformerConfig.Merge`).
    ///
    /// # Errors
    /// [`ConflictingFieldSpecs`] where one field is to be created in one and not in the other.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), ConflictingFieldSpecs> {
        merge_sorted(&mut self.name_prefix, &other.name_prefix)?;
        merge_sorted(&mut self.name_suffix, &other.name_suffix)?;
        merge_sorted(&mut self.namespace, &other.namespace)?;
        merge_sorted(&mut self.common_annotations, &other.common_annotations)?;
        merge_sorted(&mut self.common_labels, &other.common_labels)?;
        merge_sorted(&mut self.labels, &other.labels)?;
        merge_sorted(&mut self.template_labels, &other.template_labels)?;
        merge_sorted(&mut self.var_reference, &other.var_reference)?;
        self.merge_name_references(&other.name_reference)?;
        merge_sorted(&mut self.images, &other.images)?;
        merge_sorted(&mut self.replicas, &other.replicas)
    }

    /// The same, every list sorted as kustomize sorts what it reads from a file.
    pub(crate) fn sorted(mut self) -> Self {
        for specs in [
            &mut self.name_prefix,
            &mut self.name_suffix,
            &mut self.namespace,
            &mut self.common_labels,
            &mut self.labels,
            &mut self.template_labels,
            &mut self.common_annotations,
            &mut self.var_reference,
            &mut self.images,
            &mut self.replicas,
        ] {
            specs.to_mut().sort_by_cached_key(|spec| sort_key(spec.gvk()));
        }
        let references = self.name_reference.to_mut();
        references.sort_by_cached_key(|references| sort_key(references.gvk()));
        self
    }

    fn merge_name_references(
        &mut self,
        incoming: &NameReferences,
    ) -> Result<(), ConflictingFieldSpecs> {
        if incoming.is_empty() && !self.name_reference.is_empty() {
            // They are in order already; a copy of the whole table would be made for nothing.
            return Ok(());
        }
        match (&self.name_reference[..], incoming) {
            ([], Cow::Borrowed(table)) => {
                self.name_reference = Cow::Borrowed(table);
                return Ok(());
            }
            (old, Cow::Borrowed(table)) if std::ptr::eq(old, *table) => return Ok(()),
            _ => {}
        }
        for references in incoming.iter() {
            self.add_name_references(references)?;
        }
        let references = self.name_reference.to_mut();
        references.sort_by_cached_key(|references| sort_key(references.gvk()));
        Ok(())
    }

    /// Adds the fields that refer to one kind (`nbrSlice.mergeOne`).
    ///
    /// # Errors
    /// [`ConflictingFieldSpecs`] as for [`TransformerConfig::merge`].
    pub(crate) fn add_name_references(
        &mut self,
        incoming: &NameBackReferences,
    ) -> Result<(), ConflictingFieldSpecs> {
        let references = self.name_reference.to_mut();
        match references.iter_mut().find(|old| old.gvk() == incoming.gvk()) {
            Some(old) => merge_all(&mut old.referrers, &incoming.referrers)?,
            None => references.push(incoming.clone()),
        }
        Ok(())
    }
}

fn merge_sorted(
    specs: &mut FieldSpecs,
    incoming: &FieldSpecs,
) -> Result<(), ConflictingFieldSpecs> {
    merge_all(specs, incoming)?;
    if let Cow::Owned(owned) = specs {
        owned.sort_by_cached_key(|spec: &FieldSpec| sort_key(spec.gvk()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(kind: &'static str, path: &'static str, create: bool) -> FieldSpec {
        FieldSpec { kind: kind.into(), path: path.into(), create, ..FieldSpec::default() }
    }

    #[test]
    fn the_tables_are_merged_and_sorted_in_themselves() {
        let builtin = TransformerConfig::builtin();
        let mut again = TransformerConfig::default();
        let owned = |specs: &FieldSpecs| -> FieldSpecs { Cow::Owned(specs.to_vec()) };
        for (table, merged) in [
            (&builtin.common_labels, &mut again.common_labels),
            (&builtin.var_reference, &mut again.var_reference),
            (&builtin.images, &mut again.images),
            (&builtin.replicas, &mut again.replicas),
            (&builtin.common_annotations, &mut again.common_annotations),
        ] {
            merge_sorted(merged, &owned(table)).unwrap();
            assert_eq!(merged, table);
            merge_sorted(merged, table).unwrap();
            assert_eq!(merged, table);
        }
    }

    #[test]
    fn merging_the_defaults_again_keeps_the_borrowed_tables() {
        let mut config = TransformerConfig::default();
        config.merge(&TransformerConfig::builtin()).unwrap();
        config.merge(&TransformerConfig::builtin()).unwrap();
        config.merge(&TransformerConfig::default()).unwrap();
        assert!(matches!(config.name_reference, Cow::Borrowed(_)));
        assert_eq!(config, TransformerConfig::builtin());
        assert_eq!(config.name_reference, config.clone().sorted().name_reference);
    }

    #[test]
    fn an_entry_for_every_kind_is_left_out_beside_one_for_a_kind() {
        let mut config = TransformerConfig::builtin();
        let before = config.replicas.len();
        let other = TransformerConfig {
            replicas: Cow::Owned(vec![
                spec("", "spec/replicas", true),
                spec("Cluster", "spec/instances", true),
            ]),
            ..TransformerConfig::default()
        };
        config.merge(&other).unwrap();
        assert_eq!(config.replicas.len(), before + 1);
    }

    #[test]
    fn field_specs_that_disagree_on_create_are_an_error() {
        let mut config = TransformerConfig::builtin();
        let other = TransformerConfig {
            replicas: Cow::Owned(vec![spec("Deployment", "spec/replicas", false)]),
            ..TransformerConfig::default()
        };
        let error = config.merge(&other).unwrap_err();
        assert_eq!(error.path, "spec/replicas");
    }

    #[test]
    fn name_references_merge_into_the_kind_they_refer_to() {
        let mut config = TransformerConfig::builtin();
        let before = config.name_reference.len();
        let other = TransformerConfig {
            name_reference: Cow::Owned(vec![NameBackReferences {
                kind: "Secret".into(),
                version: "v1".into(),
                referrers: Cow::Owned(vec![spec("Widget", "spec/secret", false)]),
                ..NameBackReferences::default()
            }]),
            ..TransformerConfig::default()
        };
        config.merge(&other).unwrap();
        assert_eq!(config.name_reference.len(), before);
        let secret = config.name_reference.iter().find(|n| n.kind == "Secret").unwrap();
        assert_eq!(secret.referrers.last().unwrap().path, "spec/secret");
    }
}
