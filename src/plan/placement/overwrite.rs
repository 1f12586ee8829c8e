//! Operations that put a whole mapping where the layers below say something: what they say is lost,
//! and nothing of the render tells so.

use super::entry::{Entry, Form, entries};
use super::pointer::to_json;
use super::{Ground, Scene};
use crate::kustomize::{Rendered, Resource, ResourceId};
use crate::yaml::{NodeId, Path, Tree, parse};
use serde_json::Value as Json;

/// An operation of the overlay's own, and what it takes away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overwritten {
    /// The file.
    pub file: String,
    /// The line of the operation's value, from 1.
    pub line: u32,
    /// The resource.
    pub resource: ResourceId,
    /// The operation's path, a JSON pointer.
    pub path: String,
    /// The keys that the layers below give and the operation does not.
    pub lost: Vec<String>,
}

/// The operations of the overlay's own patches that take something away which `below`, the render
/// without those patches, has.
#[must_use]
pub fn find_overwritten(ground: &Ground, below: &Rendered) -> Vec<Overwritten> {
    let mut found = Vec::new();
    for resource in &below.resources {
        let (file, texts) = (&*ground.file, &ground.texts);
        let scene = Scene { file, texts, rendered: below, resource };
        let is_its = |entry: &Entry| {
            entry.reaches && entry.has_target && entry.form == Some(Form::Operations)
        };
        for entry in entries(&scene).into_iter().filter(is_its) {
            found.extend(overwritten_by(&entry, resource));
        }
    }
    found
}

fn overwritten_by(entry: &Entry, resource: &Resource) -> Vec<Overwritten> {
    let Ok(tree) = parse(&entry.body) else { return Vec::new() };
    let Some(root) = tree.roots().first() else { return Vec::new() };
    let below = to_json(&resource.node);
    let mut found = Vec::new();
    for operation in tree.items(*root) {
        let Some((path, value)) = set_by(&tree, *operation) else { continue };
        let Some(Json::Object(old)) = below.pointer(&path) else { continue };
        let kept: Vec<&str> =
            tree.pairs(tree.target(value)).filter_map(|(key, _)| tree.node(key).scalar()).collect();
        let lost: Vec<String> =
            old.keys().filter(|key| !kept.contains(&key.as_str())).cloned().collect();
        if !lost.is_empty() {
            let spot = entry.spot(&tree, value, Path::root(), true);
            let (file, line, resource) = (spot.file, spot.line, resource.current_id());
            found.push(Overwritten { file, line, resource, path, lost });
        }
    }
    found
}

/// The path and the value of an operation that sets one.
fn set_by(tree: &Tree<'_>, operation: NodeId) -> Option<(String, NodeId)> {
    let operation = tree.target(operation);
    let text = |key: &str| tree.node(tree.target(tree.value_of(operation, key)?)).scalar();
    matches!(text("op")?, "add" | "replace").then_some(())?;
    Some((text("path")?.to_owned(), tree.value_of(operation, "value")?))
}
