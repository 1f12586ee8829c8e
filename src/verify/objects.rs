//! The difference of two renders by object, for people who review it: objects are followed through
//! new names, and what a Secret holds is not shown.

use std::collections::HashMap;

use super::effect::{FieldChange, compare_nodes};
use crate::kustomize::{Resource, ResourceId};

/// The length of the hash that generators put behind a name.
const HASH_LENGTH: usize = 10;

/// The characters of such a hash: kustomize api `hasher/hasher.go` replaces those hexadecimal digits
/// that could make words.
const HASH_CHARACTERS: &str = "2456789bcdfghkmt";

/// Which objects differ between two renders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectDiff {
    /// Only in the later one.
    pub added: Vec<ResourceId>,
    /// Only in the earlier one.
    pub removed: Vec<ResourceId>,
    /// In both, with other fields.
    pub changed: Vec<ChangedObject>,
}

/// An object that is in both renders.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedObject {
    /// What it is called in the later one.
    pub resource: ResourceId,
    /// What it was called before, where that differs.
    pub renamed_from: Option<ResourceId>,
    /// The fields that differ.
    pub fields: Vec<FieldChange>,
}

impl ObjectDiff {
    /// Whether no object differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// Compares two renders. An object is the same one if group, kind, namespace and name are; else if it
/// is the only one left on both sides of that kind with that name before its hash, or that name in the
/// file it was read from. The order of objects is no difference.
#[must_use]
pub fn compare_objects(before: &[Resource], after: &[Resource]) -> ObjectDiff {
    let mut left: Vec<&Resource> = before.iter().collect();
    let mut right: Vec<&Resource> = after.iter().collect();
    let mut pairs = Vec::new();
    for key in [same_id as fn(&Resource) -> Key, same_object, same_before_hash, same_in_file] {
        pair_by(key, &mut left, &mut right, &mut pairs);
    }
    let position: HashMap<*const Resource, usize> =
        after.iter().enumerate().map(|(at, r)| (std::ptr::from_ref(r), at)).collect();
    pairs.sort_by_key(|(_, after)| position.get(&std::ptr::from_ref(*after)).copied());
    ObjectDiff {
        added: right.into_iter().map(Resource::current_id).collect(),
        removed: left.into_iter().map(Resource::current_id).collect(),
        changed: pairs.into_iter().filter_map(|(a, b)| changed(a, b)).collect(),
    }
}

/// What two objects have to share.
type Key = [String; 4];

fn same_id(resource: &Resource) -> Key {
    let id = resource.current_id();
    [&id.api_version, &id.kind, &id.namespace, &id.name].map(|text| text.to_string())
}

fn same_object(resource: &Resource) -> Key {
    let id = resource.current_id();
    [id.group(), &*id.kind, &*id.namespace, &*id.name].map(str::to_owned)
}

fn same_before_hash(resource: &Resource) -> Key {
    let id = resource.current_id();
    [id.group(), &*id.kind, &*id.namespace, before_hash(&id.name)].map(str::to_owned)
}

fn same_in_file(resource: &Resource) -> Key {
    let id = resource.original_id();
    [id.group(), &*id.kind, &*id.namespace, before_hash(&id.name)].map(str::to_owned)
}

/// The name without the hash of a generator.
fn before_hash(name: &str) -> &str {
    let is_hash =
        |text: &str| text.len() == HASH_LENGTH && text.chars().all(|c| HASH_CHARACTERS.contains(c));
    match name.rsplit_once('-') {
        Some((before, hash)) if is_hash(hash) => before,
        _ => name,
    }
}

/// Moves those that are alone with their key on both sides to `pairs`.
fn pair_by<'r>(
    key: impl Fn(&Resource) -> Key,
    left: &mut Vec<&'r Resource>,
    right: &mut Vec<&'r Resource>,
    pairs: &mut Vec<(&'r Resource, &'r Resource)>,
) {
    let index = |side: &[&'r Resource]| {
        let mut index: HashMap<Key, Vec<&'r Resource>> = HashMap::new();
        side.iter().for_each(|resource| index.entry(key(resource)).or_default().push(resource));
        index
    };
    let (mut ours, theirs) = (index(left), index(right));
    ours.retain(|key, found| found.len() == 1 && theirs.get(key).is_some_and(|t| t.len() == 1));
    let is_paired = |resource: &&Resource| ours.contains_key(&key(resource));
    left.retain(|resource| !is_paired(resource));
    right.retain(|resource| !is_paired(resource));
    pairs.extend(ours.iter().map(|(key, found)| (found[0], theirs[key][0])));
}

fn changed(before: &Resource, after: &Resource) -> Option<ChangedObject> {
    let (old, new) = (before.current_id(), after.current_id());
    let mut fields = compare_nodes(&new, &before.node, &after.node);
    if fields.is_empty() {
        return None;
    }
    if old.is_secret() || new.is_secret() {
        fields.iter_mut().for_each(FieldChange::mask);
    }
    let renamed_from =
        Some(old).filter(|old| old.name != new.name || old.namespace != new.namespace);
    Some(ChangedObject { resource: new, renamed_from, fields })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::Rendered;
    use crate::verify::MASK;

    fn diff(before: &str, after: &str) -> ObjectDiff {
        let parse = |text: &str| Rendered::parse(text).unwrap().resources;
        compare_objects(&parse(before), &parse(after))
    }

    fn config_map(name: &str, value: &str) -> String {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  a: {value}\n")
    }

    #[test]
    fn a_new_hash_hides_no_change() {
        let diff = diff(&config_map("web-2456789bcd", "x"), &config_map("web-fghkmt2456", "y"));
        assert!(diff.added.is_empty() && diff.removed.is_empty());
        let [changed] = &diff.changed[..] else { panic!("{diff:?}") };
        assert_eq!(changed.renamed_from.as_ref().map(|id| &*id.name), Some("web-2456789bcd"));
        let paths: Vec<String> = changed.fields.iter().map(|f| f.path.to_string()).collect();
        assert_eq!(paths, ["metadata.name", "data.a"]);
    }

    #[test]
    fn names_that_only_look_alike_are_other_objects() {
        let diff = diff(&config_map("web-aaaaaaaaaa", "x"), &config_map("web-eeeeeeeeee", "x"));
        assert_eq!((diff.added.len(), diff.removed.len(), diff.changed.len()), (1, 1, 0));
    }

    #[test]
    fn a_new_version_of_an_api_is_the_same_object() {
        let ingress = |version: &str| {
            format!(
                "apiVersion: networking.k8s.io/{version}\nkind: Ingress\nmetadata: {{name: a}}\n"
            )
        };
        let diff = diff(&ingress("v1beta1"), &ingress("v1"));
        assert_eq!(diff.changed[0].fields[0].path.to_string(), "apiVersion");
        assert_eq!(diff.changed[0].renamed_from, None);
    }

    #[test]
    fn secrets_are_masked_whole_and_by_key() {
        let secret =
            |rest: &str| format!("apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n{rest}");
        for (before, after) in [
            ("data:\n  a: aGlkZGVu\n", "data:\n  a: b3RoZXI=\n"),
            ("", "stringData:\n  a: hidden\n"),
            ("data: {a: aGlkZGVu}\n", ""),
        ] {
            let diff = diff(&secret(before), &secret(after));
            let shown = format!("{:?}", diff.changed[0].fields);
            assert!(shown.contains(MASK), "{shown}");
            for hidden in ["aGlkZGVu", "b3RoZXI", "hidden"] {
                assert!(!shown.contains(hidden), "{shown}");
            }
        }
    }
}
