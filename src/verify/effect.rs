//! The difference of two renders, by resource and field.

use crate::kustomize::node::{Entry, Node, Scalar, Tag, Text, Value};
use crate::kustomize::{FieldPath, Resource, ResourceId, Step, item_steps};
use serde_json::Value as Json;
use std::collections::{HashMap, HashSet};

/// Every field that differs between two renders, in the order of the resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effect {
    /// The changes.
    pub changes: Vec<FieldChange>,
}

/// One field that differs; the empty path is the whole resource.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    /// The resource.
    pub resource: ResourceId,
    /// The field.
    pub path: FieldPath,
    /// Its value before; `None` where it was absent.
    pub before: Option<Json>,
    /// Its value after; `None` where it is absent.
    pub after: Option<Json>,
}

impl Effect {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// Compares two renders of one overlay. Resources are the same if apiVersion, kind, namespace and name
/// are; a null list and an empty one are no difference, and neither is the order of resources.
#[must_use]
pub fn measure_effect(before: &[Resource], after: &[Resource]) -> Effect {
    let mut changes = Vec::new();
    let later: HashMap<ResourceId, &Resource> = after.iter().map(|r| (r.current_id(), r)).collect();
    let mut seen = HashSet::new();
    for resource in before {
        let id = resource.current_id();
        let pairing = Pairing::ByPosition;
        let mut diff = Diff { resource: &id, changes: &mut changes, pairing };
        let other = later.get(&id).map(|r| &r.node);
        diff.values(Some(&resource.node), other, &FieldPath::default());
        seen.insert(id);
    }
    for resource in after {
        let id = resource.current_id();
        if !seen.contains(&id) {
            let pairing = Pairing::ByPosition;
            let mut diff = Diff { resource: &id, changes: &mut changes, pairing };
            diff.values(None, Some(&resource.node), &FieldPath::default());
        }
    }
    Effect { changes }
}

/// The fields of `resource` that differ. Items of lists are followed by their names where all have one.
#[must_use]
pub(super) fn compare_nodes(
    resource: &ResourceId,
    before: &Node,
    after: &Node,
) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    let pairing = Pairing::ByName;
    let mut diff = Diff { resource, changes: &mut changes, pairing };
    diff.values(Some(before), Some(after), &FieldPath::default());
    changes
}

/// Which items of two lists are compared with each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pairing {
    /// Those at the same position.
    ByPosition,
    /// Those of the same name, where that names all of them and keeps their order.
    ByName,
}

struct Diff<'a> {
    resource: &'a ResourceId,
    changes: &'a mut Vec<FieldChange>,
    pairing: Pairing,
}

impl Diff<'_> {
    fn values(&mut self, before: Option<&Node>, after: Option<&Node>, path: &FieldPath) {
        if let (Some(before), Some(after)) = (before, after)
            && is_same(before, after)
        {
            return;
        }
        match (before.map(|n| &n.value), after.map(|n| &n.value)) {
            (Some(Value::Map(_)), Some(Value::Map(_))) => self.maps(before, after, path),
            (Some(Value::Seq(a)), Some(Value::Seq(b))) => self.lists(a, b, path),
            (Some(Value::Scalar(a)), Some(Value::Scalar(b))) if is_equal(a, b) => {}
            (Some(_), Some(_))
                if before.is_some_and(is_no_list) && after.is_some_and(is_no_list) => {}
            (None, None) => {}
            _ => self.add(before, after, path),
        }
    }

    fn maps(&mut self, before: Option<&Node>, after: Option<&Node>, path: &FieldPath) {
        let keys = |node: Option<&Node>| -> Vec<Text> {
            let entries = node.and_then(Node::as_map).map_or(&[][..], |map| map.entries());
            entries.iter().map(|entry| Text::clone(&entry.key.text)).collect()
        };
        let mut seen = HashSet::new();
        for key in keys(before).into_iter().chain(keys(after)) {
            if seen.insert(Text::clone(&key)) {
                let (a, b) = (before.and_then(|n| n.get(&key)), after.and_then(|n| n.get(&key)));
                self.values(a, b, &path.child(Step::Key(key)));
            }
        }
    }

    /// Items are paired by name where both lists name the same items in the same order, else by number.
    fn lists(&mut self, before: &[Node], after: &[Node], path: &FieldPath) {
        let (a, b) = (item_steps(before), item_steps(after));
        if self.pairing == Pairing::ByName && a != b && is_same_order(&a, &b) {
            return self.named_lists((before, &a), (after, &b), path);
        }
        let steps =
            if a == b { a } else { (0..before.len().max(after.len())).map(Step::Index).collect() };
        for (i, step) in steps.into_iter().enumerate() {
            self.values(before.get(i), after.get(i), &path.child(step));
        }
    }

    fn named_lists(
        &mut self,
        (before, a): (&[Node], &[Step]),
        (after, b): (&[Node], &[Step]),
        path: &FieldPath,
    ) {
        let added = b.iter().filter(|step| !a.contains(step));
        for step in a.iter().chain(added) {
            let item = |items: &'_ [Node], steps: &[Step]| {
                steps.iter().position(|other| other == step).map(|at| items[at].clone())
            };
            let (before, after) = (item(before, a), item(after, b));
            self.values(before.as_ref(), after.as_ref(), &path.child(step.clone()));
        }
    }

    fn add(&mut self, before: Option<&Node>, after: Option<&Node>, path: &FieldPath) {
        self.changes.push(FieldChange {
            resource: self.resource.clone(),
            path: path.clone(),
            before: before.map(node_to_json),
            after: after.map(node_to_json),
        });
    }
}

/// Whether all of it is as it was, which is so for most of a render: seen without making a path to every value. What
/// differs in no more than the order of its keys is looked at again.
fn is_same(before: &Node, after: &Node) -> bool {
    match (&before.value, &after.value) {
        (Value::Scalar(a), Value::Scalar(b)) => is_equal(a, b),
        (Value::Seq(a), Value::Seq(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            let (a, b) = (a.entries(), b.entries());
            let is_same =
                |(a, b): (&Entry, &Entry)| a.key.text == b.key.text && is_same(&a.value, &b.value);
            a.len() == b.len() && a.iter().zip(b).all(is_same)
        }
        _ => false,
    }
}

/// Whether all steps are names, and those that are on both sides are in one order.
fn is_same_order(a: &[Step], b: &[Step]) -> bool {
    let is_named = |steps: &[Step]| steps.iter().all(|step| matches!(step, Step::Named(_)));
    let common = |steps: &[Step], others: &[Step]| -> Vec<Step> {
        steps.iter().filter(|step| others.contains(step)).cloned().collect()
    };
    is_named(a) && is_named(b) && common(a, b) == common(b, a)
}

fn is_no_list(node: &Node) -> bool {
    node.is_null() || node.as_seq().is_some_and(<[Node]>::is_empty)
}

fn is_equal(a: &Scalar, b: &Scalar) -> bool {
    a.tag == Tag::Null && b.tag == Tag::Null || (a.text == b.text && json_type(a) == json_type(b))
}

fn json_type(scalar: &Scalar) -> u8 {
    match scalar.tag {
        Tag::Null => 0,
        Tag::Bool => 1,
        Tag::Int | Tag::Float => 2,
        Tag::Unset | Tag::Str | Tag::Timestamp | Tag::Binary | Tag::Merge | Tag::Custom => 3,
    }
}

/// The value as JSON; a number that JSON cannot hold exactly stays text.
#[must_use]
pub fn node_to_json(node: &Node) -> Json {
    match &node.value {
        Value::Scalar(scalar) => scalar_to_json(scalar),
        Value::Map(map) => {
            let pairs =
                map.entries().iter().map(|e| (e.key.text.to_string(), node_to_json(&e.value)));
            Json::Object(pairs.collect())
        }
        Value::Seq(items) => Json::Array(items.iter().map(node_to_json).collect()),
    }
}

fn scalar_to_json(scalar: &Scalar) -> Json {
    let text = || Json::String(scalar.text.to_string());
    match scalar.tag {
        Tag::Null => Json::Null,
        Tag::Bool => scalar.text.eq_ignore_ascii_case("true").into(),
        Tag::Int | Tag::Float => {
            let number = serde_json::from_str::<serde_json::Number>(&scalar.text);
            number.map_or_else(|_| text(), Json::Number)
        }
        _ => text(),
    }
}
