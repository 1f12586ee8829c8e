//! Follows the path of a field spec in a resource and sets what stands at its end.
//!
//! Source: kustomize `api/filters/fieldspec`, `api/filters/filtersutil`, kyaml `PathGetter` and
//! `FieldSetter`. Lists on the way are walked element by element; a missing field is made only where
//! the spec and the transformer say so.

use std::borrow::Cow;

use super::field_spec::FieldSpec;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Map, Node, Scalar, Style, Tag, Text, Value};
use crate::kustomize::origin::Origin;
use crate::kustomize::resource::split_api_version;

/// What a transformer makes at the end of a path where nothing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Create {
    /// Nothing, whatever the spec says.
    Never,
    /// A scalar; the tag is for a null that stands there.
    Scalar(Tag),
    /// A map.
    Map,
}

/// Why a path could not be followed, in words, without the object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FieldPathError {
    /// A scalar stands where the path goes on.
    #[error("a map or a list must stand before `{rest}`, not a scalar")]
    NotAContainer {
        /// What is left of the path.
        rest: String,
    },
    /// A part of the path that cannot name a field.
    #[error("`{name}` cannot be the name of a field")]
    Name {
        /// The part.
        name: String,
    },
    /// Another kind of value than the transformer sets.
    #[error("{expected} must stand there, not {found}")]
    WrongKind {
        /// The kind that can be set.
        expected: &'static str,
        /// The kind that is there.
        found: &'static str,
    },
    /// The transformer's own reason.
    #[error("{0}")]
    Refused(String),
}

/// Calls `set` on every value at the path of `spec` below `node`.
///
/// The caller has checked that the spec selects the object. `origin` is given to what is made.
///
/// # Errors
/// [`FieldPathError`], also from `set`.
pub(crate) fn set_at(
    node: &mut Node,
    spec: &FieldSpec,
    create: Create,
    origin: Origin,
    set: &mut dyn FnMut(&mut Node) -> Result<(), FieldPathError>,
) -> Result<(), FieldPathError> {
    let create = if spec.create { create } else { Create::Never };
    let path = spec.path.strip_prefix('/').unwrap_or(&spec.path);
    Walk { create, origin, set }.walk(node, Some(path))
}

/// The first name of a path and what is left of it (kyaml `PathSplitter`: `\/` is a slash).
pub(crate) fn split_first<'a>(path: &'a str) -> (Cow<'a, str>, Option<&'a str>) {
    let mut joined = String::new();
    let mut rest = path;
    loop {
        let (part, tail) = match rest.split_once('/') {
            Some((part, tail)) => (part, Some(tail)),
            None => (rest, None),
        };
        match (part.strip_suffix('\\'), tail) {
            (Some(head), Some(tail)) => {
                joined.push_str(head);
                joined.push('/');
                rest = tail;
            }
            _ if joined.is_empty() => return (Cow::Borrowed(part), tail),
            _ => return (Cow::Owned(joined + part), tail),
        }
    }
}

struct Walk<'a> {
    create: Create,
    origin: Origin,
    set: &'a mut dyn FnMut(&mut Node) -> Result<(), FieldPathError>,
}

impl Walk<'_> {
    fn walk(&mut self, node: &mut Node, path: Option<&str>) -> Result<(), FieldPathError> {
        let Some(rest) = path else {
            return (self.set)(node);
        };
        match &mut node.value {
            Value::Scalar(scalar) if scalar.tag == Tag::Null => Ok(()),
            Value::Scalar(_) => Err(FieldPathError::NotAContainer { rest: rest.to_owned() }),
            Value::Seq(items) => items.iter_mut().try_for_each(|item| self.walk(item, path)),
            Value::Map(map) => self.walk_map(map, rest),
        }
    }

    fn walk_map(&mut self, map: &mut Map, path: &str) -> Result<(), FieldPathError> {
        let (part, rest) = split_first(path);
        let without_brackets = part.strip_suffix("[]");
        let is_list = without_brackets.is_some();
        // kyaml `cleanPath`
        let name = without_brackets.unwrap_or(&part).trim();
        check_name(name)?;
        let empty = match (self.create, rest) {
            _ if is_list => None,
            (Create::Never, _) => None,
            (Create::Scalar(tag), None) => Some(empty_scalar(tag)),
            _ => Some(Value::Map(Map::new())),
        };
        if map.get(name).is_none() {
            let Some(value) = &empty else { return Ok(()) };
            let mut value = value.clone();
            if let Value::Scalar(scalar) = &mut value {
                scalar.tag = Tag::Unset;
            }
            map.push(name, Node { value, ..Node::null(self.origin) });
        }
        let Some(field) = map.get_mut(name) else { return Ok(()) };
        if field.is_null() {
            // A null takes the kind that is asked for; a list is asked for by `[]`.
            let list = is_list.then(|| Value::Seq(Vec::new()));
            if let Some(value) = empty.or(list) {
                field.value = value;
            }
        }
        self.walk(field, rest)
    }
}

fn empty_scalar(tag: Tag) -> Value {
    Value::Scalar(Scalar { tag, ..Scalar::untagged("") })
}

/// kyaml's `PathGetter` takes these for places in a list, which a map is not.
fn check_name(name: &str) -> Result<(), FieldPathError> {
    let digits = name.strip_prefix(['+', '-']).unwrap_or(name);
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let is_element = name.starts_with('[') && name.ends_with(']');
    if name.is_empty() || is_number || is_element || matches!(name, "-" | "*") {
        return Err(FieldPathError::Name { name: name.to_owned() });
    }
    Ok(())
}

/// Sets the text of a scalar and keeps its style (kyaml `FieldSetter` without a name).
///
/// # Errors
/// [`FieldPathError::WrongKind`] for a map or a list.
pub(crate) fn set_scalar(
    node: &mut Node,
    text: Text,
    tag: Tag,
    origin: Origin,
) -> Result<(), FieldPathError> {
    match &mut node.value {
        Value::Scalar(scalar) => {
            scalar.text = text;
            scalar.tag = tag;
            node.origin = origin;
            Ok(())
        }
        _ => Err(wrong_kind("a scalar", node)),
    }
}

/// Sets the string `text` under `key` of a map (kyaml `FieldSetter` with a name). A null, which has
/// no place for a key, stays as it is.
///
/// # Errors
/// [`FieldPathError::WrongKind`] for a list and for a scalar other than null, and
/// [`FieldPathError::Name`] for an empty key.
pub(crate) fn set_entry(node: &mut Node, key: &str, value: &Node) -> Result<(), FieldPathError> {
    if node.is_null() {
        return Ok(());
    }
    match &mut node.value {
        Value::Map(_) if key.is_empty() => Err(FieldPathError::Name { name: key.to_owned() }),
        Value::Map(map) => {
            map.set_field(key, value.clone());
            Ok(())
        }
        _ => Err(wrong_kind("a map", node)),
    }
}

/// The error for a value of another kind than `expected`.
pub(crate) fn wrong_kind(expected: &'static str, node: &Node) -> FieldPathError {
    let found = match &node.value {
        Value::Map(_) => "a map",
        Value::Seq(_) => "a list",
        Value::Scalar(_) => "a scalar",
    };
    FieldPathError::WrongKind { expected, found }
}

/// A plain string.
pub(crate) fn string_node(text: &Text, origin: Origin) -> Node {
    let scalar =
        Scalar { tag: Tag::Str, style: Style::Plain, ..Scalar::untagged(Text::clone(text)) };
    Node::scalar(scalar, origin)
}

/// Calls `set` at the path of every one of `specs` that selects the object.
///
/// # Errors
/// [`BuildErrorKind::Transformer`] with the path and the object.
pub(crate) fn apply_specs<'a>(
    node: &mut Node,
    specs: impl IntoIterator<Item = &'a FieldSpec>,
    create: Create,
    origin: Origin,
    mut set: impl FnMut(&mut Node) -> Result<(), FieldPathError>,
) -> Result<(), BuildError> {
    for spec in specs {
        let (api_version, kind) = (field_text(node, "apiVersion"), field_text(node, "kind"));
        let (group, version) = split_api_version(&api_version);
        if spec.selects(group, version, &kind) {
            set_at(node, spec, create, origin, &mut set)
                .map_err(|error| describe(&error, spec, node).at(origin))?;
        }
    }
    Ok(())
}

fn field_text(node: &Node, key: &str) -> Text {
    node.get(key).and_then(Node::as_text).cloned().unwrap_or_default()
}

fn describe(error: &FieldPathError, spec: &FieldSpec, node: &Node) -> BuildError {
    let name = node.lookup(&["metadata", "name"]).and_then(Node::as_text).cloned();
    let message = format!(
        "field `{}` of {} {}: {error}",
        spec.path,
        field_text(node, "kind"),
        name.unwrap_or_default(),
    );
    BuildError::new(BuildErrorKind::Transformer, message)
}
