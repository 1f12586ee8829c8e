//! What the checks see of rendered resources: workloads, budgets, autoscalers, databases, claims,
//! drains, references and Argo CD Applications, with Kubernetes' defaults filled in.

pub mod admission;
pub mod amount;
pub mod application;
pub mod autoscaler;
pub mod budget;
pub mod claim;
pub mod cluster;
pub mod container;
pub mod drain;
pub mod image_use;
pub mod quantity;
pub mod reference;
pub mod selector;
pub mod workload;

use crate::kustomize::node::{Map, Node, Tag, Value};

/// The largest number that is reckoned with, so that sums and differences stay in range; the fields
/// of Kubernetes that are looked at have 32 bits.
pub const MOST: i64 = 1 << 40;

/// The whole number that `node` is, within [`MOST`]; a string of digits is none.
#[must_use]
pub fn int(node: &Node) -> Option<i64> {
    let scalar = node.as_scalar()?;
    let is_number = matches!(scalar.tag, Tag::Int | Tag::Unset);
    let number: i64 = scalar.text.parse().ok().filter(|_| is_number)?;
    Some(number.clamp(-MOST, MOST))
}

/// The whole number at `path` below `node`.
#[must_use]
pub fn int_at(node: &Node, path: &[&str]) -> Option<i64> {
    node.lookup(path).and_then(int)
}

/// The text at `path` below `node`.
#[must_use]
pub fn text_at<'a>(node: &'a Node, path: &[&str]) -> Option<&'a str> {
    node.lookup(path).and_then(Node::as_str)
}

/// Whether the value at `path` is `true`.
#[must_use]
pub fn is_true(node: &Node, path: &[&str]) -> bool {
    text_at(node, path) == Some("true")
}

/// The items of the list at `path`; none where there is no list.
#[must_use]
pub fn items_at<'a>(node: &'a Node, path: &[&str]) -> &'a [Node] {
    node.lookup(path).and_then(Node::as_seq).unwrap_or_default()
}

/// The keys and texts of the mapping at `path`; values that are no scalar are left out.
#[must_use]
pub fn texts_at<'a>(node: &'a Node, path: &[&str]) -> Vec<(&'a str, &'a str)> {
    let entries = node.lookup(path).and_then(Node::as_map).map(Map::entries).unwrap_or_default();
    entries.iter().filter_map(|e| Some((&*e.key.text, e.value.as_str()?))).collect()
}

/// Calls `visit` with every scalar below `node` and the name of the field it is in.
pub fn each_scalar<'a>(node: &'a Node, visit: &mut impl FnMut(&str, &'a Node)) {
    each_scalar_of("", node, visit);
}

fn each_scalar_of<'a>(field: &str, node: &'a Node, visit: &mut impl FnMut(&str, &'a Node)) {
    match &node.value {
        Value::Scalar(_) => visit(field, node),
        Value::Seq(items) => items.iter().for_each(|item| each_scalar_of(field, item, visit)),
        Value::Map(map) => {
            for entry in map.entries() {
                each_scalar_of(&entry.key.text, &entry.value, visit);
            }
        }
    }
}
