//! Field paths of a rendered resource as JSON pointers, and values as JSON.

use crate::kustomize::node::{Node, Tag, Value};
use crate::kustomize::{FieldPath, Step};
use serde_json::Value as Json;

/// The path as a JSON pointer (RFC 6901); what is not there yet must be reached by keys alone.
pub(super) fn pointer(path: &FieldPath, root: &Node) -> Option<String> {
    let mut node = Some(root);
    let mut pointer = String::new();
    for step in path.steps() {
        let (token, next) = match step {
            Step::Key(key) => {
                (key.replace('~', "~0").replace('/', "~1"), node.and_then(|n| n.get(key)))
            }
            Step::Named(name) => {
                let items = node?.as_seq()?;
                let index = position(items, name)?;
                (index.to_string(), items.get(index))
            }
            Step::Index(index) => (index.to_string(), node?.as_seq()?.get(*index)),
        };
        pointer.push('/');
        pointer.push_str(&token);
        node = next;
    }
    Some(pointer)
}

/// The position of the item of that name.
pub(super) fn position(items: &[Node], name: &str) -> Option<usize> {
    items.iter().position(|item| item.get("name").and_then(Node::as_str) == Some(name))
}

/// The tokens of a JSON pointer, unescaped.
pub(super) fn tokens(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
}

/// Whether a rendered value is `wanted`; null and absent are the same.
pub(super) fn is_value(node: Option<&Node>, wanted: Option<&Json>) -> bool {
    match (node.filter(|node| !node.is_null()), wanted.filter(|wanted| !wanted.is_null())) {
        (None, None) => true,
        (Some(node), Some(wanted)) => to_json(node) == *wanted,
        _ => false,
    }
}

/// A rendered value as JSON; a number that JSON cannot hold stays text.
pub(super) fn to_json(node: &Node) -> Json {
    match &node.value {
        Value::Map(map) => Json::Object(
            map.entries().iter().map(|e| (e.key.text.to_string(), to_json(&e.value))).collect(),
        ),
        Value::Seq(items) => Json::Array(items.iter().map(to_json).collect()),
        Value::Scalar(scalar) => match scalar.tag {
            Tag::Null => Json::Null,
            Tag::Bool => scalar.text.eq_ignore_ascii_case("true").into(),
            Tag::Int | Tag::Float => serde_json::from_str::<serde_json::Number>(&scalar.text)
                .map_or_else(|_| scalar.text.to_string().into(), Json::Number),
            _ => scalar.text.to_string().into(),
        },
    }
}
