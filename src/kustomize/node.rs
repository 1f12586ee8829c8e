//! The values of resources: a YAML document as kustomize holds it while it builds.
//!
//! A [`Node`] keeps what the output depends on: the text of a scalar, its tag as goyaml.v3 resolves
//! it when reading, its style (kyaml keeps a field's style when it sets the field, and a quoted
//! style decides that a number stays a string), and the order of keys. Comments, anchors and
//! positions are not kept; [`Origin`] says which file and line decided the value.
//!
//! Nothing here knows kinds, schemas or merging.

use std::sync::Arc;

use super::origin::Origin;
use crate::yaml::scalar::{Resolved, Rules, resolve};

/// Text shared between copies of a value; cloning counts, it does not copy.
pub type Text = Arc<str>;

/// The tag of a scalar: what goyaml.v3 resolved it to when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tag {
    /// No tag: written by a transformer that left the type to the text (kyaml `NewScalarRNode`).
    /// The type is resolved from the text when the value is printed.
    Unset,
    /// `!!null`
    Null,
    /// `!!bool`
    Bool,
    /// `!!int`
    Int,
    /// `!!float`
    Float,
    /// `!!str`
    Str,
    /// `!!timestamp`
    Timestamp,
    /// `!!binary`
    Binary,
    /// `!!merge`: the key `<<`.
    Merge,
    /// A tag that is none of these: it is read as a string, and is none where kyaml asks for one.
    Custom,
}

/// How a scalar was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Style {
    /// Without quotes.
    #[default]
    Plain,
    /// Behind its tag, which is printed again and decides the type, with quotes or without.
    Tagged,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

impl Style {
    /// Whether the way it is written makes a scalar a string.
    #[must_use]
    pub fn is_quoted(self) -> bool {
        !matches!(self, Self::Plain | Self::Tagged)
    }
}

/// A scalar: its text after unquoting, its tag and its style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// The text, decoded.
    pub text: Text,
    /// What it resolved to.
    pub tag: Tag,
    /// How it was written.
    pub style: Style,
    /// Not 0: one value with the others of its resource that have the same number
    /// ([`super::build::SharedValue`]).
    pub shared: u32,
}

impl Scalar {
    /// A scalar whose type is left to its text when it is printed (kyaml `NewScalarRNode`).
    #[must_use]
    pub fn untagged(text: impl Into<Text>) -> Self {
        Self { text: text.into(), tag: Tag::Unset, style: Style::Plain, shared: 0 }
    }

    /// A string, whatever its text looks like (kyaml `NewStringRNode`).
    #[must_use]
    pub fn string(text: impl Into<Text>) -> Self {
        let text = text.into();
        let style = if text.contains('\n') { Style::Literal } else { Style::Plain };
        Self { text, tag: Tag::Str, style, shared: 0 }
    }

    /// The explicit `null`.
    #[must_use]
    pub fn null() -> Self {
        Self { text: Text::from("null"), tag: Tag::Null, style: Style::Plain, shared: 0 }
    }
}

/// How a collection is written. It decides some values: kustomize prints and reads again what it
/// holds before it prints it, and in braces and brackets nothing becomes the empty string, and a
/// time of day a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// By indentation.
    #[default]
    Block,
    /// In braces or brackets.
    Flow,
}

/// The value of a [`Node`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A scalar.
    Scalar(Scalar),
    /// A mapping, in document order.
    Map(Map),
    /// A sequence.
    Seq(Vec<Node>),
}

/// A comment that kyaml keeps with a value and prints with it, so that the patterns of replacement
/// paths see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comment {
    /// Behind it on its line, from `#` on.
    Behind(Text),
    /// Behind the bracket that closes it, from `#` on; where it is no longer written in brackets, kyaml prints it behind what
    /// follows.
    Closing(Text),
    /// On lines of their own, above it or below it; how they are printed is not known here.
    Around,
    /// On the line below an element of a list, one in brackets, and apart from what follows; where it is no longer written in
    /// brackets, kyaml prints it behind the next scalar.
    Below,
}

/// A value and the file and line that decided it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Who decided it.
    pub origin: Origin,
    /// How it is laid out, if it is a mapping or a sequence.
    pub layout: Layout,
    /// Whether the key that it is the value of has a comment behind it.
    pub is_key_commented: bool,
    /// The comment of the value itself.
    pub comment: Option<Box<Comment>>,
}

/// One `key: value` of a [`Map`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key; a scalar, for YAML knows keys that are no strings.
    pub key: Scalar,
    /// The value.
    pub value: Node,
}

/// A mapping in document order. A key may stand twice, as kyaml allows until it prints; the first
/// is the one that is found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map {
    entries: Vec<Entry>,
}

impl Map {
    /// An empty mapping.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty mapping with room for `count` entries.
    #[must_use]
    pub fn with_capacity(count: usize) -> Self {
        Self { entries: Vec::with_capacity(count) }
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries in order.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entries in order, to change.
    pub fn entries_mut(&mut self) -> &mut Vec<Entry> {
        &mut self.entries
    }

    /// The entries in order, owned.
    #[must_use]
    pub fn into_entries(self) -> Vec<Entry> {
        self.entries
    }

    /// Where the first entry called `key` stands.
    #[must_use]
    pub fn position(&self, key: &str) -> Option<usize> {
        self.entries.iter().position(|entry| &*entry.key.text == key)
    }

    /// The value of the first entry called `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|entry| &*entry.key.text == key).map(|entry| &entry.value)
    }

    /// The value of the first entry called `key`, to change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries.iter_mut().find(|entry| &*entry.key.text == key).map(|entry| &mut entry.value)
    }

    /// Puts `value` under `key`: in place of the first entry of that name, else at the end. Styles
    /// are not kept; see [`Map::set_field`] for kyaml's `FieldSetter`.
    pub fn insert(&mut self, key: impl Into<Text>, value: Node) {
        let key = key.into();
        match self.get_mut(&key) {
            Some(old) => *old = value,
            None => self.push(key, value),
        }
    }

    /// Adds `key: value` at the end without looking for an entry of that name.
    pub fn push(&mut self, key: impl Into<Text>, value: Node) {
        self.entries.push(Entry { key: Scalar::untagged(key), value });
    }

    /// Removes the first entry called `key` and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Node> {
        let index = self.position(key)?;
        Some(self.entries.remove(index).value)
    }

    /// Sets a field as kyaml's `SetField(key, value)` does: a null value removes the field; a field
    /// that exists keeps its style; a string that YAML 1.1 reads as another type is quoted first.
    pub fn set_field(&mut self, key: &str, mut value: Node) {
        if value.is_null() {
            self.remove(key);
            return;
        }
        value.quote_if_yaml_1_1_differs();
        match self.get_mut(key) {
            Some(old) => old.replace_keeping_style(value),
            None => self.push(key, value),
        }
    }

    /// The mapping under `key`, made empty where there is none. `None` where something else stands
    /// there.
    pub fn map_or_create(&mut self, key: &str, origin: Origin) -> Option<&mut Map> {
        if self.position(key).is_none() {
            self.push(key, Node::map(Map::new(), origin));
        }
        self.get_mut(key).and_then(Node::as_map_mut)
    }
}

impl Node {
    fn of(value: Value, origin: Origin) -> Self {
        Self { value, origin, layout: Layout::Block, is_key_commented: false, comment: None }
    }

    /// A node of `scalar`.
    #[must_use]
    pub fn scalar(scalar: Scalar, origin: Origin) -> Self {
        Self::of(Value::Scalar(scalar), origin)
    }

    /// A scalar whose type its text decides when it is printed (kyaml `NewScalarRNode`).
    #[must_use]
    pub fn untagged(text: impl Into<Text>, origin: Origin) -> Self {
        Self::scalar(Scalar::untagged(text), origin)
    }

    /// A string (kyaml `NewStringRNode`).
    #[must_use]
    pub fn string(text: impl Into<Text>, origin: Origin) -> Self {
        Self::scalar(Scalar::string(text), origin)
    }

    /// The explicit null.
    #[must_use]
    pub fn null(origin: Origin) -> Self {
        Self::scalar(Scalar::null(), origin)
    }

    /// A mapping.
    #[must_use]
    pub fn map(map: Map, origin: Origin) -> Self {
        Self::of(Value::Map(map), origin)
    }

    /// A sequence.
    #[must_use]
    pub fn seq(items: Vec<Node>, origin: Origin) -> Self {
        Self::of(Value::Seq(items), origin)
    }

    /// The scalar, if it is one.
    #[must_use]
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match &self.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The scalar to change, if it is one.
    pub fn as_scalar_mut(&mut self) -> Option<&mut Scalar> {
        match &mut self.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The text of a scalar of whatever tag, null included.
    #[must_use]
    pub fn as_text(&self) -> Option<&Text> {
        self.as_scalar().map(|scalar| &scalar.text)
    }

    /// The text of a scalar that is not null.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        self.as_scalar().filter(|scalar| scalar.tag != Tag::Null).map(|scalar| &*scalar.text)
    }

    /// The mapping, if it is one.
    #[must_use]
    pub fn as_map(&self) -> Option<&Map> {
        match &self.value {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The mapping to change, if it is one.
    pub fn as_map_mut(&mut self) -> Option<&mut Map> {
        match &mut self.value {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The items, if it is a sequence.
    #[must_use]
    pub fn as_seq(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Seq(items) => Some(items),
            _ => None,
        }
    }

    /// The items to change, if it is a sequence.
    pub fn as_seq_mut(&mut self) -> Option<&mut Vec<Node>> {
        match &mut self.value {
            Value::Seq(items) => Some(items),
            _ => None,
        }
    }

    /// The value of the field `key` of a mapping.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_map().and_then(|map| map.get(key))
    }

    /// The value of the field `key` of a mapping, to change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.as_map_mut().and_then(|map| map.get_mut(key))
    }

    /// The value at the end of a path of fields.
    #[must_use]
    pub fn lookup(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The value at the end of a path of fields, to change.
    pub fn lookup_mut(&mut self, path: &[&str]) -> Option<&mut Node> {
        path.iter().try_fold(self, |node, key| node.get_mut(key))
    }

    /// Whether it is tagged null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.as_scalar().is_some_and(|scalar| scalar.tag == Tag::Null)
    }

    /// Whether it is null, an empty mapping or an empty sequence (kyaml `IsYNodeNilOrEmpty`).
    #[must_use]
    pub fn is_nil_or_empty(&self) -> bool {
        match &self.value {
            Value::Scalar(scalar) => scalar.tag == Tag::Null,
            Value::Map(map) => map.is_empty(),
            Value::Seq(items) => items.is_empty(),
        }
    }

    /// Whether it is a string or an untyped scalar (kyaml `IsYNodeString`).
    #[must_use]
    pub fn is_string(&self) -> bool {
        self.as_scalar().is_some_and(|scalar| matches!(scalar.tag, Tag::Str | Tag::Unset))
    }

    /// Sets the value and keeps the style a scalar was written in, as kyaml's setters do.
    pub fn replace_keeping_style(&mut self, mut value: Node) {
        let (style, shared) =
            self.as_scalar().map_or((Style::Plain, 0), |scalar| (scalar.style, scalar.shared));
        if let Some(scalar) = value.as_scalar_mut() {
            scalar.style = style;
            scalar.shared = shared;
        }
        value.layout = self.layout;
        value.is_key_commented = self.is_key_commented;
        *self = value;
    }

    /// Sets `origin` here and on everything below.
    pub fn set_origin_deep(&mut self, origin: Origin) {
        self.origin = origin;
        match &mut self.value {
            Value::Scalar(_) => {}
            Value::Map(map) => {
                map.entries.iter_mut().for_each(|entry| entry.value.set_origin_deep(origin))
            }
            Value::Seq(items) => items.iter_mut().for_each(|item| item.set_origin_deep(origin)),
        }
    }

    /// Quotes a plain string that YAML 1.1 reads as a number, a bool or null (kyaml
    /// `IsYaml1_1NonString`), as kyaml's `FieldSetter` does before it sets one. One behind its tag is left.
    pub fn quote_if_yaml_1_1_differs(&mut self) {
        let Some(scalar) = self.as_scalar_mut() else {
            return;
        };
        if matches!(scalar.tag, Tag::Str | Tag::Unset)
            && scalar.style == Style::Plain
            && is_yaml_1_1_non_string(&scalar.text)
        {
            scalar.style = Style::DoubleQuoted;
        }
    }
}

/// Whether a string would come back as something else when go-yaml version 2 read it as a document of its own (kyaml
/// `IsValueNonString`): as another type, as a map or a list, as nothing.
#[must_use]
pub fn is_yaml_1_1_non_string(text: &str) -> bool {
    if text.is_empty() || text.contains('\n') {
        return false;
    }
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'+');
    if text.bytes().all(is_plain) {
        return resolve(text, Rules::Kustomization) != Resolved::Str;
    }
    super::read::is_non_string(text)
}
