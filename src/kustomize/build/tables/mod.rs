//! What is known of kinds without being told: kustomize's merge keys, scopes and default field specs, and
//! what each field of Kubernetes' own kinds holds.
//!
//! The rows are made by `tools/tables/make_tables.py` from published schemas and are read where they
//! lie; nothing is parsed or allocated at start-up. This module holds their types and the look-ups
//! and knows no resource.

mod field_specs;
mod field_types;
mod merge_keys;
pub(crate) mod types;

use std::borrow::Cow;

use super::field_spec::{FieldSpec, NameBackReferences};
use super::transformer_config::TransformerConfig;

/// What kyaml's merge must know of one type: its members that are maps of a known type, and its
/// lists that are merged by key. Every other member is replaced as a whole.
#[derive(Debug)]
pub(crate) struct Definition {
    members: &'static [Member],
    values: Option<u16>,
}

#[derive(Debug)]
struct Member {
    name: &'static str,
    shape: Shape,
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Map(u16),
    List { keys: &'static [&'static str], element: Option<u16> },
}

/// What a [`Definition`] says of one field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldSchema {
    /// A map of a known type.
    Map(&'static Definition),
    /// A list with the patch strategy `merge`. Without keys it is a set of scalars.
    List {
        /// The merge keys, as kyaml's `PatchStrategyAndKeyList` gives them.
        keys: &'static [&'static str],
        /// The type of its elements, where they are maps.
        element: Option<&'static Definition>,
    },
}

/// Whether objects of a kind live in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// Not in a namespace.
    Cluster,
    /// In a namespace.
    Namespaced,
}

impl Definition {
    /// What is known of the field `name`; `None` for a scalar, a list that is replaced as a whole,
    /// and a field that the type does not have.
    pub(crate) fn field(&self, name: &str) -> Option<FieldSchema> {
        let found = self.members.binary_search_by(|member| member.name.cmp(name));
        match found.map(|at| self.members[at].shape) {
            Ok(Shape::Map(number)) => Some(FieldSchema::Map(definition_at(number))),
            Ok(Shape::List { keys, element }) => {
                Some(FieldSchema::List { keys, element: element.map(definition_at) })
            }
            Err(_) => self.values.map(|number| FieldSchema::Map(definition_at(number))),
        }
    }
}

/// The definition of the resources of `kind` in `api_version` (`group/version`, or `v1`).
pub(crate) fn definition_of(api_version: &str, kind: &str) -> Option<&'static Definition> {
    let wanted = (api_version, kind);
    let found = merge_keys::KINDS.binary_search_by(|row| (row.0, row.1).cmp(&wanted));
    found.ok().map(|at| definition_at(merge_keys::KINDS[at].2))
}

/// The built-in definition called `name`, as `$ref` names it behind `#/definitions/`.
pub(crate) fn definition_named(name: &str) -> Option<&'static Definition> {
    let found = merge_keys::NAMES.binary_search_by(|row| row.0.cmp(name));
    found.ok().map(|at| definition_at(merge_keys::NAMES[at].1))
}

/// Whether objects of `kind` in `api_version` live in a namespace; `None` for a kind that kustomize
/// does not know, which it treats as namespaced.
pub(crate) fn is_namespaced(api_version: &str, kind: &str) -> Option<bool> {
    let wanted = (api_version, kind);
    let found = merge_keys::SCOPES.binary_search_by(|row| (row.0, row.1).cmp(&wanted));
    found.ok().map(|at| merge_keys::SCOPES[at].2 == Scope::Namespaced)
}

/// The configuration of the builtin transformers where no file says otherwise.
pub(crate) fn default_config() -> TransformerConfig {
    TransformerConfig {
        name_prefix: Cow::Borrowed(field_specs::NAME_PREFIX),
        name_suffix: Cow::Borrowed(field_specs::NAME_SUFFIX),
        namespace: Cow::Borrowed(field_specs::NAMESPACE),
        common_labels: Cow::Borrowed(field_specs::COMMON_LABELS),
        labels: Cow::Borrowed(&[]),
        template_labels: Cow::Borrowed(field_specs::TEMPLATE_LABELS),
        common_annotations: Cow::Borrowed(field_specs::COMMON_ANNOTATIONS),
        name_reference: Cow::Borrowed(field_specs::NAME_REFERENCE),
        var_reference: Cow::Borrowed(field_specs::VAR_REFERENCE),
        images: Cow::Borrowed(field_specs::IMAGES),
        replicas: Cow::Borrowed(field_specs::REPLICAS),
    }
}

fn definition_at(number: u16) -> &'static Definition {
    &merge_keys::DEFINITIONS[usize::from(number)]
}

const fn definition(members: &'static [Member], values: Option<u16>) -> Definition {
    Definition { members, values }
}

const fn map(name: &'static str, number: u16) -> Member {
    Member { name, shape: Shape::Map(number) }
}

const fn list(name: &'static str, keys: &'static [&'static str], element: Option<u16>) -> Member {
    Member { name, shape: Shape::List { keys, element } }
}

const fn field(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    path: &'static str,
    create: bool,
) -> FieldSpec {
    FieldSpec {
        group: Cow::Borrowed(group),
        version: Cow::Borrowed(version),
        kind: Cow::Borrowed(kind),
        path: Cow::Borrowed(path),
        create,
    }
}

const fn referrers(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    specs: &'static [FieldSpec],
) -> NameBackReferences {
    NameBackReferences {
        group: Cow::Borrowed(group),
        version: Cow::Borrowed(version),
        kind: Cow::Borrowed(kind),
        referrers: Cow::Borrowed(specs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map_at(definition: &'static Definition, path: &[&str]) -> &'static Definition {
        path.iter().fold(definition, |at, name| match at.field(name) {
            Some(FieldSchema::Map(next)) => next,
            other => panic!("{name}: {other:?}"),
        })
    }

    #[test]
    fn containers_merge_by_name_and_their_ports_by_two_keys() {
        let deployment = definition_of("apps/v1", "Deployment").unwrap();
        let pod = map_at(deployment, &["spec", "template", "spec"]);
        let Some(FieldSchema::List { keys, element: Some(container) }) = pod.field("containers")
        else {
            panic!("containers");
        };
        assert_eq!(keys, ["name"]);
        let Some(FieldSchema::List { keys, .. }) = container.field("ports") else {
            panic!("ports");
        };
        assert_eq!(keys, ["containerPort", "protocol"]);
        assert!(container.field("args").is_none());
        assert!(pod.field("tolerations").is_none());
    }

    #[test]
    fn finalizers_are_a_set_of_scalars() {
        let config_map = definition_of("v1", "ConfigMap").unwrap();
        let metadata = map_at(config_map, &["metadata"]);
        let finalizers = metadata.field("finalizers");
        assert!(matches!(finalizers, Some(FieldSchema::List { keys: [], element: None })));
    }

    #[test]
    fn scopes_are_known_for_builtin_kinds_only() {
        assert_eq!(is_namespaced("v1", "Namespace"), Some(false));
        assert_eq!(is_namespaced("apps/v1", "Deployment"), Some(true));
        assert_eq!(is_namespaced("example.com/v1", "Widget"), None);
        assert!(definition_of("example.com/v1", "Widget").is_none());
    }

    #[test]
    fn rows_are_sorted_for_the_binary_searches() {
        assert!(merge_keys::KINDS.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)));
        assert!(merge_keys::SCOPES.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)));
        assert!(merge_keys::NAMES.is_sorted_by(|a, b| a.0 < b.0));
        let sorted = |d: &Definition| d.members.is_sorted_by(|a, b| a.name < b.name);
        assert!(merge_keys::DEFINITIONS.iter().all(sorted));
    }
}
