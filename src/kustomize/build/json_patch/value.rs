//! Values of a JSON patch: from and to JSON, by pointer, and compared as the Go library does.

use serde_json::Value as Json;
use serde_json::value::RawValue;
use std::collections::HashMap;

use crate::kustomize::build::emit::{
    Typed, check_comment, expand_merge_keys, format_g, is_merging, is_string_key, json_float,
    sort_in_place, style_of, typed_by, typed_in,
};
use crate::kustomize::build::go_json;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Entry, Layout, Map, Node, Scalar, Style, Tag, Text, Value};
use crate::kustomize::origin::Origin;
use crate::yaml::scalar::Rules;

/// The container that a pointer leads into, and the last key. `None` where there is none.
pub(super) fn locate<'n>(document: &'n mut Node, path: &str) -> Option<(&'n mut Node, String)> {
    let mut parts: Vec<&str> = path.split('/').skip(1).collect();
    let key = unescape(parts.pop()?);
    let mut at = document;
    for part in parts {
        let part = unescape(part);
        at = match &mut at.value {
            Value::Map(map) => map.get_mut(&part)?,
            Value::Seq(items) => {
                let index = parse_index(&part, items.len()).ok()?;
                items.get_mut(index)?
            }
            Value::Scalar(_) => return None,
        };
    }
    at.as_scalar().is_none().then_some((at, key))
}

fn unescape(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

/// The place of an existing item; negative indexes count from the end.
pub(super) fn parse_index(key: &str, length: usize) -> Result<usize, String> {
    index_in(key, length).and_then(|index| {
        if index < length { Ok(index) } else { Err(format!("there is no item {key}")) }
    })
}

fn index_in(key: &str, length: usize) -> Result<usize, String> {
    let index: i64 = key.parse().map_err(|_| format!("'{key}' is not an index of a list"))?;
    let wanted = if index < 0 { index + i64::try_from(length).unwrap_or(i64::MAX) } else { index };
    usize::try_from(wanted).map_err(|_| format!("there is no item {key}"))
}

/// Adds a value to a container.
pub(super) fn add(container: &mut Node, key: &str, value: Node) -> Result<(), String> {
    match &mut container.value {
        Value::Map(map) => map.insert(key, value),
        Value::Seq(items) if key == "-" => items.push(value),
        Value::Seq(items) => {
            let index = index_in(key, items.len() + 1)?;
            if index > items.len() {
                return Err(format!("there is no place {key} in a list of {}", items.len()));
            }
            items.insert(index, value);
        }
        Value::Scalar(_) => return Err("the path does not exist".to_owned()),
    }
    Ok(())
}

/// A JSON text in which every half of a surrogate pair is the replacement character, as Go reads it.
pub(super) fn replace_lone_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match (unit_at(rest), rest.get(6..).and_then(unit_at)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            // An escape of one character, or none at the end of the text.
            _ => rest.char_indices().nth(2).map_or(rest.len(), |(end, _)| end),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// The UTF-16 unit of the escape that `text` begins with.
fn unit_at(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

/// The JSON that Go makes of a value.
///
/// # Errors
/// [`BuildErrorKind::Emit`] for what JSON cannot hold: keys that are no strings or stand twice,
/// numbers that are none.
pub(crate) fn json_of(node: &Node, rules: Rules) -> Result<String, BuildError> {
    let mut out = String::new();
    write(&mut out, node, rules, true)?;
    Ok(out)
}

fn write(out: &mut String, node: &Node, rules: Rules, root: bool) -> Result<(), BuildError> {
    match &node.value {
        Value::Scalar(scalar) => {
            let value = typed_by(scalar, rules).map_err(|error| error.at(node.origin))?;
            out.push_str(&scalar_json(&value));
        }
        Value::Seq(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(out, item, rules, false)?;
            }
            out.push(']');
        }
        Value::Map(map) if rules == Rules::Resource && is_merging(map) => {
            let mut node = node.clone();
            expand_merge_keys(&mut node)?;
            write(out, &node, rules, root)?;
        }
        Value::Map(map) => {
            out.push('{');
            for (index, entry) in map.entries().iter().enumerate() {
                check_key(map, index, rules, root)?;
                if index > 0 {
                    out.push(',');
                }
                go_json::write_string(out, &entry.key.text);
                out.push(':');
                write(out, &entry.value, rules, false)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

fn check_key(map: &Map, index: usize, rules: Rules, root: bool) -> Result<(), BuildError> {
    let entry = &map.entries()[index];
    let refuse = |message: String| {
        Err(BuildError::new(BuildErrorKind::Emit, message).at(entry.value.origin))
    };
    let key = &entry.key.text;
    if rules == Rules::Kustomization {
        return Ok(());
    }
    if !root && !is_string_key(&entry.key) {
        return refuse(format!("the key {key} is not a string; write it in quotes: \"{key}\""));
    }
    if map.position(key) != Some(index) {
        return refuse(format!("the key \"{key}\" stands twice in one object"));
    }
    Ok(())
}

fn scalar_json(value: &Typed<'_>) -> String {
    match value {
        Typed::Null => "null".to_owned(),
        Typed::Bool(value) => value.to_string(),
        Typed::Int(int) => int.to_string(),
        Typed::Float(float) => json_float(*float),
        Typed::Str(text) => {
            let mut out = String::new();
            go_json::write_string(&mut out, text);
            out
        }
    }
}

/// A value of a patch.
///
/// # Errors
/// In words, for a number that float64 cannot hold.
pub(super) fn node_of(json: &str, origin: Origin) -> Result<Node, String> {
    let value: Json = serde_json::from_str(json).map_err(|error| error.to_string())?;
    Ok(from_json(value, origin))
}

fn from_json(value: Json, origin: Origin) -> Node {
    match value {
        Json::Null => Node::null(origin),
        Json::Bool(value) => plain(value.to_string(), Tag::Bool, origin),
        Json::Number(number) => {
            // Kept as it is until the whole resource goes through float64.
            let text = number.to_string();
            let tag = if number.is_f64() { Tag::Float } else { Tag::Int };
            plain(text, tag, origin)
        }
        Json::String(text) => string(text, origin),
        Json::Array(items) => {
            Node::seq(items.into_iter().map(|item| from_json(item, origin)).collect(), origin)
        }
        Json::Object(members) => {
            let mut map = Map::with_capacity(members.len());
            for (key, value) in members {
                let key = Scalar { style: style_of(&key), ..Scalar::string(key) };
                map.entries_mut().push(Entry { key, value: from_json(value, origin) });
            }
            Node::map(map, origin)
        }
    }
}

/// What remains of a value after it was printed and read again, before it is patched.
///
/// # Errors
/// [`BuildErrorKind::Emit`] for what cannot be printed, or not be read again.
pub(super) fn read_again(node: &mut Node, in_flow: bool) -> Result<(), BuildError> {
    check_comment(node, in_flow)?;
    let in_flow = in_flow || node.layout == Layout::Flow;
    let origin = node.origin;
    node.comment = None;
    match &mut node.value {
        Value::Seq(items) => items.iter_mut().try_for_each(|item| read_again(item, in_flow)),
        Value::Map(map) => {
            map.entries_mut().iter_mut().try_for_each(|entry| read_again(&mut entry.value, in_flow))
        }
        Value::Scalar(scalar) => {
            let layout = if in_flow { Layout::Flow } else { Layout::Block };
            let read = match typed_in(scalar, layout).map_err(|error| error.at(origin))? {
                Typed::Null => Some(Scalar::null()),
                // A folded text that was printed in quotes is not folded any more.
                Typed::Str(text)
                    if scalar.tag != Tag::Str
                        || scalar.style == Style::Folded
                        || *text != *scalar.text =>
                {
                    let text = Text::from(text);
                    Some(Scalar { style: style_of(&text), ..Scalar::string(text) })
                }
                _ => None,
            };
            read.map_or(Ok(()), |read| {
                *scalar = read;
                Ok(())
            })
        }
    }
}

fn plain(text: String, tag: Tag, origin: Origin) -> Node {
    Node::scalar(untyped(text, tag), origin)
}

fn string(text: String, origin: Origin) -> Node {
    Node::scalar(Scalar { style: style_of(&text), ..Scalar::string(text) }, origin)
}

/// What remains of a value after Go's JSON has read it into maps and go-yaml has written it.
///
/// # Errors
/// [`BuildErrorKind::Emit`] as for [`json_of`].
pub(super) fn through_float64(node: &mut Node) -> Result<(), BuildError> {
    let origin = node.origin;
    // What is empty is printed in braces or brackets, and read with them.
    let is_empty_collection = node.as_scalar().is_none() && node.is_nil_or_empty();
    node.layout = if is_empty_collection { Layout::Flow } else { Layout::Block };
    node.is_key_commented = false;
    match &mut node.value {
        Value::Seq(items) => items.iter_mut().try_for_each(through_float64),
        Value::Map(map) => {
            sort_in_place(map.entries_mut());
            map.entries_mut().iter_mut().try_for_each(|entry| {
                entry.key.tag = Tag::Str;
                if &*entry.key.text == "<<" {
                    // It is written without quotes, and so read as the key of a merge.
                    entry.key = Scalar { tag: Tag::Merge, ..Scalar::untagged("<<") };
                }
                through_float64(&mut entry.value)
            })
        }
        Value::Scalar(scalar) => {
            // Printing changes a folded text.
            let value = match scalar.style {
                Style::Folded => typed_in(scalar, Layout::Block),
                _ => typed_by(scalar, Rules::Resource),
            };
            let value = value.map_err(|error| error.at(origin))?;
            let converted = match value {
                Typed::Null => Scalar::null(),
                Typed::Bool(value) => untyped(value.to_string(), Tag::Bool),
                #[expect(clippy::cast_precision_loss, reason = "Go reads every number so")]
                Typed::Int(int) => float(int as f64),
                Typed::Float(value) => float(value),
                Typed::Str(text) => {
                    Scalar { style: style_of(&text), ..Scalar::string(Text::from(text)) }
                }
            };
            if converted.style == Style::Literal && converted.text.starts_with('\t') {
                let message = "a block of text that begins with a TAB cannot be read again";
                return Err(BuildError::new(BuildErrorKind::Emit, message).at(origin));
            }
            *scalar = converted;
            Ok(())
        }
    }
}

fn untyped(text: String, tag: Tag) -> Scalar {
    Scalar { tag, ..Scalar::untagged(text) }
}

fn float(value: f64) -> Scalar {
    let text = format_g(value);
    let is_integer = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    untyped(text, if is_integer { Tag::Int } else { Tag::Float })
}

/// Whether a value is the one that a `test` expects: objects and lists by their parts, everything
/// else by its JSON text.
pub(super) fn equal(node: &Node, expected: &str) -> bool {
    match &node.value {
        Value::Scalar(scalar) => {
            let text = typed_by(scalar, Rules::Resource).map(|value| scalar_json(&value));
            text.is_ok_and(|text| text == expected.trim())
        }
        Value::Map(map) => {
            let Ok(members) =
                serde_json::from_str::<HashMap<String, Option<Box<RawValue>>>>(expected)
            else {
                return false;
            };
            members.len() == map.len()
                && map.entries().iter().all(|entry| {
                    members
                        .get(&*entry.key.text)
                        .is_some_and(|expected| equal_or_null(&entry.value, expected.as_deref()))
                })
        }
        Value::Seq(items) => {
            let Ok(expected) = serde_json::from_str::<Vec<Option<Box<RawValue>>>>(expected) else {
                return false;
            };
            // The library breaks at a null in a list.
            let is_equal = |(item, expected): (&Node, &Option<Box<RawValue>>)| {
                let expected = expected.as_ref();
                !item.is_null() && expected.is_some_and(|expected| equal(item, expected.get()))
            };
            expected.len() == items.len() && items.iter().zip(&expected).all(is_equal)
        }
    }
}

fn equal_or_null(node: &Node, expected: Option<&RawValue>) -> bool {
    match expected {
        None => node.is_null(),
        Some(expected) => !node.is_null() && equal(node, expected.get()),
    }
}
