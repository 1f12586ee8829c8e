//! Merge keys that are left in an object (see [`crate::kustomize::read`]), or that a patch makes: they are expanded
//! when the object is printed and read again.
//!
//! Source: go.yaml.in/yaml v3.0.4 `decode.go` (`mapping`, `merge`).

use std::collections::HashSet;

use super::typed::{is_merge_key, typed_in};
use super::{Typed, check_comment, repeated_key};
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Entry, Layout, Map, Node, Scalar, Style, Tag, Value};

/// Whether a map has a merge key.
pub(crate) fn is_merging(map: &Map) -> bool {
    map.entries().iter().any(|entry| is_merge_key(&entry.key))
}

/// Expands the merge keys of a value, in all depths.
///
/// # Errors
/// [`BuildErrorKind::Emit`] for one whose value is no object or list of objects, and for a key that stands
/// twice in an object that has one, or is merged; as [`check_comment`] for what is merged.
pub(crate) fn expand(node: &mut Node) -> Result<(), BuildError> {
    expand_below(node, false)
}

fn expand_below(node: &mut Node, in_flow: bool) -> Result<(), BuildError> {
    let in_flow_here = in_flow || node.layout == Layout::Flow;
    match &mut node.value {
        Value::Scalar(_) => Ok(()),
        Value::Seq(items) => items.iter_mut().try_for_each(|item| expand_below(item, in_flow_here)),
        Value::Map(map) => {
            for entry in map.entries_mut() {
                expand_below(&mut entry.value, in_flow_here)?;
            }
            if is_merging(map) { merge(node, in_flow) } else { Ok(()) }
        }
    }
}

/// The map of a node with its own merge key expanded; those further down stay. `in_flow` says that it
/// stands in braces or brackets.
///
/// # Errors
/// As [`expand`].
pub(super) fn expanded(node: &Node, in_flow: bool) -> Result<Node, BuildError> {
    let mut node = node.clone();
    merge(&mut node, in_flow)?;
    Ok(node)
}

/// Puts what a merge key adds behind the fields of the object, which stay.
fn merge(node: &mut Node, in_flow: bool) -> Result<(), BuildError> {
    let in_flow = in_flow || node.layout == Layout::Flow;
    let Some(map) = node.as_map_mut() else { return Ok(()) };
    check_keys(map)?;
    let Some(at) = map.entries().iter().position(|entry| is_merge_key(&entry.key)) else {
        return Ok(());
    };
    let value = map.entries_mut().remove(at).value;
    check_comments(&value, in_flow)?;
    let (origin, in_brackets) = (value.origin, value.layout == Layout::Flow);
    let mut sources = match value.value {
        Value::Seq(items) => items,
        _ => vec![value],
    };
    if sources.iter().any(|source| source.as_map().is_none()) {
        let message = "the key << stands for objects that are merged; its value is none";
        return Err(BuildError::new(BuildErrorKind::Emit, message).at(origin));
    }
    for source in &mut sources {
        merge(source, in_flow || in_brackets)?;
        let leaves_flow = !in_flow && (in_brackets || source.layout == Layout::Flow);
        let Value::Map(added) = std::mem::replace(&mut source.value, Value::Seq(Vec::new())) else {
            continue;
        };
        check_keys(&added)?;
        for mut entry in added.into_entries() {
            if map.get(&entry.key.text).is_none() {
                if leaves_flow {
                    leave_flow(&mut entry)?;
                }
                map.entries_mut().push(entry);
            }
        }
    }
    Ok(())
}

/// Checks what is merged before it is left out where the object has the field.
fn check_comments(node: &Node, in_flow: bool) -> Result<(), BuildError> {
    check_comment(node, in_flow)?;
    let in_flow = in_flow || node.layout == Layout::Flow;
    match &node.value {
        Value::Scalar(_) => Ok(()),
        Value::Seq(items) => items.iter().try_for_each(|item| check_comments(item, in_flow)),
        Value::Map(map) => {
            map.entries().iter().try_for_each(|entry| check_comments(&entry.value, in_flow))
        }
    }
}

/// Keeps what a value is for standing in braces, which are not around it any more.
fn leave_flow(entry: &mut Entry) -> Result<(), BuildError> {
    let origin = entry.value.origin;
    match &mut entry.value.value {
        Value::Map(_) | Value::Seq(_) => entry.value.layout = Layout::Flow,
        Value::Scalar(scalar) => {
            let typed = typed_in(scalar, Layout::Flow).map_err(|error| error.at(origin))?;
            if let Typed::Str(text) = typed {
                let quoted = Scalar { tag: Tag::Str, style: Style::DoubleQuoted, ..scalar.clone() };
                *scalar = Scalar { text: text.into(), ..quoted };
            }
        }
    }
    Ok(())
}

fn check_keys(map: &Map) -> Result<(), BuildError> {
    let mut keys = HashSet::with_capacity(map.len());
    match map.entries().iter().find(|entry| !keys.insert(&*entry.key.text)) {
        None => Ok(()),
        Some(entry) => Err(repeated_key(&entry.key.text, entry.value.origin)),
    }
}
