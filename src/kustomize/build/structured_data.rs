//! Replacement targets inside a text: a field of JSON or YAML that stands in a scalar.
//!
//! Source: kustomize `api/filters/replacement/replacement.go` (`setValueInStructuredData`).

use super::embedded_yaml::Layouted;
use super::go_json;
use super::location::value_at_mut;
use super::lookup::{lookup, lookup_mut};
use super::path_matcher::{self, Failure, MadeKind};
use super::replacements::overwrite;
use crate::kustomize::node::{Node, Tag, Text, Value};
use crate::kustomize::read;
use crate::yaml::scalar::{Rules, resolve};

/// YAML inside of a text whose layout only kustomize can write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unwritable;

/// Writes `value` at `path` if a scalar on the way holds JSON or YAML in which the rest of the path
/// leads somewhere. `false` where there is none, and the path must be walked as usual.
///
/// # Errors
/// [`Unwritable`] for YAML in a layout that only kustomize can write.
pub(super) fn write(
    node: &mut Node,
    value: &Node,
    path: &[String],
    create: Option<MadeKind>,
) -> Result<bool, Unwritable> {
    let Some(length) = scalar_prefix(node, path) else { return Ok(false) };
    let (outer, inner) = path.split_at(length);
    let Some(scalar) = lookup(node, outer).ok().flatten() else { return Ok(false) };
    let text = scalar.as_text().cloned().unwrap_or_default();
    let is_json = text.trim_start().starts_with(['{', '[']);
    let Ok(Some(mut data)) = read::embedded_document(&text, scalar.origin) else {
        return Ok(false);
    };
    let matched = match path_matcher::find(&mut data, inner, create, value.origin) {
        Ok(matched) => matched,
        Err(Failure::Reason(_)) => return Ok(false),
        Err(Failure::Unsupported(_)) => return Err(Unwritable),
    };
    if matched.count == 0 {
        return Ok(false);
    }
    let layout = if is_json { None } else { Layouted::of(&text) };
    for location in &matched.locations {
        let Some(field) = value_at_mut(&mut data, location) else { continue };
        // What is replaced whole takes its comments with it.
        if field.as_scalar().is_none() && layout.as_ref().is_some_and(Layouted::has_comments) {
            return Err(Unwritable);
        }
        overwrite(field, value.clone());
    }
    let written = match &layout {
        // A null is printed as it was written.
        _ if data.is_null() && data.comment.is_some() => return Err(Unwritable),
        _ if data.is_null() => {
            let text = data.as_text().map_or("", |text| text);
            Some(if text.is_empty() { "null" } else { text }.to_owned())
        }
        Some(layout) => Some(layout.print(&data).ok_or(Unwritable)?),
        None if is_json => serialize_json(&data, &text),
        None => return Err(Unwritable),
    };
    let Some(written) = written else { return Ok(false) };
    if let Some(Node { value: Value::Scalar(scalar), origin, .. }) = lookup_mut(node, outer) {
        scalar.text = Text::from(written);
        *origin = value.origin;
    }
    Ok(true)
}

/// How many parts of the path lead to a scalar that the path goes on from.
fn scalar_prefix(node: &Node, path: &[String]) -> Option<usize> {
    (1..path.len()).find(|length| {
        let found = lookup(node, &path[..*length]).ok().flatten();
        found.is_some_and(|found| {
            let text = found.as_text();
            text.is_some_and(|text| read::embedded(text, found.origin).is_ok())
        })
    })
}

/// The JSON of the changed data in the form of the original; `None` where goyaml would not read it
/// back.
fn serialize_json(data: &Node, original: &str) -> Option<String> {
    let mut compact = String::new();
    if !is_readable(data) || go_json::write_node(&mut compact, data).is_err() {
        return None;
    }
    if original.contains('\n') && original.contains("  ") {
        return Some(indent(&compact));
    }
    Some(compact)
}

/// Go's `json.Indent` with two blanks, for compact JSON.
fn indent(compact: &str) -> String {
    let mut out = String::with_capacity(compact.len() * 2);
    let mut depth = 0usize;
    let mut in_string = false;
    let mut chars = compact.chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    while let Some(c) = chars.next() {
        if in_string {
            out.push(c);
            match c {
                '\\' => out.extend(chars.next()),
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match c {
            '"' => {
                in_string = true;
                out.push(c);
            }
            '{' | '[' => {
                out.push(c);
                if matches!(chars.peek(), Some('}' | ']')) {
                    out.extend(chars.next());
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push(c),
        }
    }
    out
}

/// Whether goyaml reads back what it would print: a number or a bool that was overwritten with a
/// text of another type is refused, and kustomize leaves the whole text as it was.
fn is_readable(node: &Node) -> bool {
    match &node.value {
        Value::Map(map) => map.entries().iter().all(|entry| is_readable(&entry.value)),
        Value::Seq(items) => items.iter().all(is_readable),
        Value::Scalar(scalar) => {
            let now = read::tag_of(resolve(&scalar.text, Rules::Resource));
            match scalar.tag {
                Tag::Int | Tag::Bool | Tag::Null | Tag::Timestamp => now == scalar.tag,
                Tag::Float => matches!(now, Tag::Int | Tag::Float),
                Tag::Unset | Tag::Str | Tag::Binary | Tag::Merge | Tag::Custom => true,
            }
        }
    }
}
