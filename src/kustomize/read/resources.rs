//! Reading the Kubernetes objects of a text.
//!
//! Source: kustomize api `resource/factory.go`, kyaml `kio/byteio_reader.go`,
//! `yaml/rnode.go` (`GetValidatedMetadata`).

use std::borrow::Cow;
use std::collections::VecDeque;

use super::{Part, first_resource, split_documents, text_of};
use crate::kustomize::build::json_of;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Node, Text, Value};
use crate::kustomize::origin::Origin;
use crate::kustomize::source_tree::SourceFile;
use crate::kustomize::types::Located;
use crate::yaml::scalar::Rules;

/// The objects of a file: every document, and the items of lists.
///
/// # Errors
/// [`BuildErrorKind::Yaml`] for a text that is no YAML, [`BuildErrorKind::Resource`] for a document
/// that is no Kubernetes object.
pub(crate) fn resources(file: &SourceFile) -> Result<Vec<Node>, BuildError> {
    file.objects(|file| resources_of(&text_of(file)?, Origin::new(file.id, 1)))
}

/// The objects of a text that stands in a kustomization file. Where its lines are not lines of the
/// file, every value is at the place of the whole text.
///
/// # Errors
/// As [`resources`].
pub(crate) fn inline_resources(text: &Located) -> Result<Vec<Node>, BuildError> {
    match text.content_start() {
        Some(start) => resources_of(text, start),
        None => {
            let place = text.origin;
            let mut nodes = resources_of(text, Origin::new(place.file, 0))
                .map_err(|error| error.moved_to(place))?;
            nodes.iter_mut().for_each(|node| node.set_origin_deep(place));
            Ok(nodes)
        }
    }
}

/// The objects of a text whose first line is at `start`.
///
/// # Errors
/// As [`resources`].
pub(crate) fn resources_of(text: &str, start: Origin) -> Result<Vec<Node>, BuildError> {
    let text: Cow<'_, str> =
        if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() };
    let parts = split_documents(Part { text: &text, start })?;
    let alone = parts.len() == 1;
    let mut nodes = Vec::with_capacity(parts.len());
    for part in parts {
        let Some(node) = first_resource(part)? else { continue };
        match node {
            null if null.is_null() => {}
            list if alone && is_plain_list(&list) => nodes.append(&mut items_of(list)),
            node => nodes.push(node),
        }
    }
    expand_lists(checked(nodes)?)
}

/// `kind: List` (or `ResourceList`) with items or a function's configuration, which kyaml unpacks
/// where it is the only document.
fn is_plain_list(node: &Node) -> bool {
    let kind = node.get("kind").and_then(Node::as_str);
    matches!(kind, Some("List" | "ResourceList"))
        && (node.get("items").is_some() || node.get("functionConfig").is_some())
}

fn items_of(list: Node) -> Vec<Node> {
    let Value::Map(mut map) = list.value else { return Vec::new() };
    match map.remove("items").map(|items| items.value) {
        Some(Value::Seq(items)) => items,
        // Everything below is taken for an object, the keys first.
        Some(Value::Map(map)) => {
            let keys = map.into_entries().into_iter();
            keys.map(|entry| Node::scalar(entry.key, entry.value.origin)).collect()
        }
        Some(Value::Scalar(_)) | None => Vec::new(),
    }
}

/// Drops what is empty and refuses what is no object (`dropBadNodes`).
fn checked(nodes: Vec<Node>) -> Result<Vec<Node>, BuildError> {
    let mut kept = Vec::with_capacity(nodes.len());
    for node in nodes {
        if !node.is_nil_or_empty() {
            check_metadata(&node)?;
            kept.push(node);
        }
    }
    Ok(kept)
}

/// kyaml's `GetValidatedMetadata`: a kind, and a name unless the kind ends in `List`.
///
/// # Errors
/// [`BuildErrorKind::Resource`].
pub(crate) fn check_metadata(node: &Node) -> Result<(), BuildError> {
    let refuse =
        |message: &str| Err(BuildError::new(BuildErrorKind::Resource, message).at(node.origin));
    let kind = text_at(node, &["kind"]);
    let name = text_at(node, &["metadata", "name"]);
    if kind.is_empty() {
        return refuse("not a Kubernetes object: `kind` is missing");
    }
    if kind.ends_with("List") || !name.is_empty() {
        return Ok(());
    }
    refuse(&format!("the {kind} has no `metadata.name`"))
}

fn text_at<'n>(node: &'n Node, path: &[&str]) -> &'n str {
    node.lookup(path).and_then(Node::as_str).unwrap_or("")
}

/// Puts the items of every `…List` behind all other objects, read again from JSON
/// (`inlineAnyEmbeddedLists`).
fn expand_lists(nodes: Vec<Node>) -> Result<Vec<Node>, BuildError> {
    let is_list = |node: &Node| text_at(node, &["kind"]).ends_with("List");
    if !nodes.iter().any(is_list) {
        return Ok(nodes);
    }
    let mut expanded = Vec::with_capacity(nodes.len());
    let mut queue = VecDeque::from(nodes);
    while let Some(node) = queue.pop_front() {
        if !is_list(&node) {
            expanded.push(node);
            continue;
        }
        // All of it is read into Go's maps first.
        json_of(&node, Rules::Resource)?;
        if node.get("items").is_none() {
            expanded.push(node);
            continue;
        }
        for item in list_items(node)? {
            queue.extend(checked(through_json(&item)?)?);
        }
    }
    Ok(expanded)
}

/// The objects of an item as they are when it was printed as JSON: in braces, texts in quotes.
fn through_json(item: &Node) -> Result<Vec<Node>, BuildError> {
    let text = json_of(item, Rules::Resource)?;
    let part = Part { text: &text, start: item.origin };
    let Some(mut node) = first_resource(part)? else { return Ok(Vec::new()) };
    keep_origins(&mut node, item);
    Ok(if is_plain_list(&node) { items_of(node) } else { vec![node] })
}

/// Gives what was read again the places it was read at before.
fn keep_origins(node: &mut Node, before: &Node) {
    node.origin = before.origin;
    match (&mut node.value, &before.value) {
        (Value::Map(map), Value::Map(before)) => {
            let entries = map.entries_mut().iter_mut().zip(before.entries());
            entries.for_each(|(entry, before)| keep_origins(&mut entry.value, &before.value));
        }
        (Value::Seq(items), Value::Seq(before)) => {
            items.iter_mut().zip(before).for_each(|(item, before)| keep_origins(item, before));
        }
        _ => {}
    }
}

fn list_items(list: Node) -> Result<Vec<Node>, BuildError> {
    let items = list.get("items");
    match items.map(|items| &items.value) {
        Some(Value::Seq(_)) | None => Ok(items_of(list)),
        Some(_) if items.is_some_and(Node::is_null) => Ok(Vec::new()),
        Some(_) => {
            let kind = Text::from(text_at(&list, &["kind"]));
            let message = format!("`items` of the {kind} must be a list");
            Err(BuildError::new(BuildErrorKind::Resource, message).at(list.origin))
        }
    }
}
