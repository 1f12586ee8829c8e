//! What a field of a resource holds, where Kubernetes' own schema says it.

use super::build::tables::types::{Shape, shape_of};
use super::field_path::{FieldPath, Step};
use super::node::Node;

/// What the field `path` of the resource `root` holds; `None` where that is not known: in kinds that are not
/// Kubernetes' own (their metadata apart), and for fields that are newer than the schema.
pub(crate) fn shape_at(root: &Node, path: &FieldPath) -> Option<&'static Shape> {
    let root = Some(shape_of_resource(root));
    path.steps().iter().fold(root, |shape, step| below(shape?, step))
}

/// What the resource `root` is as a whole.
pub(super) fn shape_of_resource(root: &Node) -> &'static Shape {
    let text = |key: &str| root.get(key).and_then(Node::as_str).unwrap_or_default();
    shape_of(text("apiVersion"), text("kind"))
}

/// What is one step below `shape`.
pub(super) fn below(shape: &'static Shape, step: &Step) -> Option<&'static Shape> {
    match step {
        Step::Key(key) => shape.field(key),
        Step::Named(_) | Step::Index(_) => shape.item(),
    }
}
