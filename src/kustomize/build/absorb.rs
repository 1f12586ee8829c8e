//! A generated config map or secret merged into, or put in place of, an existing one.
//!
//! Source: kustomize api `resmap/reswrangler.go` (`appendReplaceOrMerge`), `resource/resource.go`
//! (`CopyMergeMetaDataFieldsFrom`, `MergeDataMapFrom`).

use super::build_metadata::{ORIGIN, keep_origin};
use crate::kustomize::node::{Map, Node, Text};
use crate::kustomize::origin::Origin;
use crate::kustomize::resource::{Behavior, Resource};

/// Puts `generated` in place of `existing`, with the existing one's name, namespace and history;
/// labels, annotations and, for [`Behavior::Merge`], data of both, the generated ones winning.
pub(crate) fn absorb_into(existing: &mut Resource, mut generated: Resource) {
    let origin = generated.origin;
    let labels = merged(existing.labels(), generated.labels());
    let annotations = merged(existing.annotations(), generated.annotations());
    let keep = |old: &Resource, field: &str| old.node.lookup(&["metadata", field]).cloned();
    restore_origins(&mut generated, "labels", labels, keep(existing, "labels"), origin);
    restore_origins(
        &mut generated,
        "annotations",
        annotations,
        keep(existing, "annotations"),
        origin,
    );
    generated.set_name(existing.name(), existing.origin);
    generated.set_namespace(existing.namespace(), existing.origin);
    if generated.behavior == Some(Behavior::Merge) {
        keep_origin(&mut generated, existing.annotation(ORIGIN).cloned());
        merge_data(&mut generated, existing, "data");
        merge_data(&mut generated, existing, "binaryData");
    }
    generated.previous_ids.clone_from(&existing.previous_ids);
    generated.prefixes.clone_from(&existing.prefixes);
    generated.suffixes.clone_from(&existing.suffixes);
    generated.referred_by.clone_from(&existing.referred_by);
    generated.var_names.clone_from(&existing.var_names);
    generated.behavior = existing.behavior;
    generated.needs_hash = generated.needs_hash && existing.needs_hash;
    *existing = generated;
}

type Pairs = Vec<(Text, Text)>;

/// Both, the second one winning.
fn merged(first: Pairs, second: Pairs) -> Pairs {
    let mut result = second;
    for (key, value) in first {
        if !result.iter().any(|(known, _)| *known == key) {
            result.push((key, value));
        }
    }
    result
}

/// Sets a map of the metadata; a value that is the existing resource's keeps its origin.
fn restore_origins(
    generated: &mut Resource,
    field: &str,
    pairs: Pairs,
    existing: Option<Node>,
    origin: Origin,
) {
    match field {
        "labels" => generated.set_labels(pairs, origin),
        _ => generated.set_annotations(pairs, origin),
    }
    let Some(map) = generated.node.lookup_mut(&["metadata", field]).and_then(Node::as_map_mut)
    else {
        return;
    };
    for entry in map.entries_mut() {
        let old = existing.as_ref().and_then(|old| old.get(&entry.key.text));
        if let Some(old) = old.filter(|old| old.as_text() == entry.value.as_text()) {
            entry.value.origin = old.origin;
        }
    }
}

fn merge_data(generated: &mut Resource, existing: &Resource, field: &str) {
    let old = existing.node.get(field).and_then(Node::as_map).map_or(&[][..], Map::entries);
    let origin = generated.origin;
    let Some(map) = generated.node.as_map_mut() else { return };
    let new = match map.remove(field).map(|node| node.value) {
        Some(crate::kustomize::node::Value::Map(new)) => new,
        _ => Map::new(),
    };
    let mut entries: Vec<(Text, Node)> = Vec::with_capacity(old.len() + new.len());
    for entry in old.iter().filter(|entry| new.get(&entry.key.text).is_none()) {
        entries.push((Text::clone(&entry.key.text), string_of(&entry.value)));
    }
    for entry in new.into_entries() {
        let value = string_of(&entry.value);
        entries.push((entry.key.text, value));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    let mut data = Map::with_capacity(entries.len());
    entries.into_iter().for_each(|(key, value)| data.push(key, value));
    if !data.is_empty() {
        map.push(field, Node::map(data, origin));
    }
}

/// The value as the string that kyaml makes of it: null is empty.
fn string_of(node: &Node) -> Node {
    let mut string = Node::string(node.as_str().unwrap_or(""), node.origin);
    string.quote_if_yaml_1_1_differs();
    string
}
