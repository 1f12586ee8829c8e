//! Where a value stands in the value that holds it, as places of children from the top down: the
//! way back to a value after what is around it was changed, where a path may lead elsewhere by then.

use crate::kustomize::node::{Node, Value};

/// The place of a child at each level: of an entry in its map, of an item in its list.
pub(super) type Location = Vec<usize>;

/// Where `wanted`, which is a part of `root`, stands in it.
pub(super) fn location_of(root: &Node, wanted: &Node) -> Option<Location> {
    let mut location = Location::new();
    find(root, wanted, &mut location).then_some(location)
}

fn find(node: &Node, wanted: &Node, location: &mut Location) -> bool {
    if std::ptr::eq(node, wanted) {
        return true;
    }
    let mut enter = |(at, child): (usize, &Node)| {
        location.push(at);
        let found = find(child, wanted, location);
        if !found {
            location.pop();
        }
        found
    };
    match &node.value {
        Value::Scalar(_) => false,
        Value::Seq(items) => items.iter().enumerate().any(&mut enter),
        Value::Map(map) => {
            map.entries().iter().map(|entry| &entry.value).enumerate().any(&mut enter)
        }
    }
}

/// The value at `location`.
pub(super) fn value_at<'n>(root: &'n Node, location: &[usize]) -> Option<&'n Node> {
    location.iter().try_fold(root, |node, place| match &node.value {
        Value::Scalar(_) => None,
        Value::Seq(items) => items.get(*place),
        Value::Map(map) => map.entries().get(*place).map(|entry| &entry.value),
    })
}

/// As [`value_at`], to change.
pub(super) fn value_at_mut<'n>(root: &'n mut Node, location: &[usize]) -> Option<&'n mut Node> {
    location.iter().try_fold(root, |node, place| match &mut node.value {
        Value::Scalar(_) => None,
        Value::Seq(items) => items.get_mut(*place),
        Value::Map(map) => map.entries_mut().get_mut(*place).map(|entry| &mut entry.value),
    })
}
