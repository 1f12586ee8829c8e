//! Printing resources as `kustomize build` does, byte for byte.
//!
//! Kustomize prints a resource as JSON and the JSON as YAML: go-yaml version 3 reads the value,
//! Go's `encoding/json` writes it, go-yaml version 2 reads and writes it again. What that chain does
//! to keys, numbers, times and strings is done here in one step.
//!
//! Source: kustomize api `resource.AsYAML`, kyaml `RNode.MarshalJSON`, sigs.k8s.io/yaml
//! `JSONToYAML`, go.yaml.in/yaml v2.4.2 `encode.go` and `emitterc.go`.

mod comments;
mod folding;
mod key_order;
mod merge_keys;
mod number;
mod scalar;
mod typed;

use std::borrow::Cow;

use self::scalar::{Context, write_string};
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Entry, Layout, Map, Node, Value};
use crate::kustomize::origin::Origin;
use crate::kustomize::resource::Resource;

pub(crate) use self::comments::check as check_held_back;
pub(crate) use self::key_order::{INSERTION, insertion_sort, sort_in_place};
pub(crate) use self::merge_keys::{expand as expand_merge_keys, is_merging};
pub(crate) use self::number::{format_g, json_float};
pub(crate) use self::scalar::{double_quoted, style_of};
pub(crate) use self::typed::{
    Typed, decode_base64, fold_next_lines, is_string_key, text_of_bytes, typed_by, typed_in,
};

/// The longest key that is written without `?`.
const MAX_SIMPLE_KEY: usize = 128;

/// The text of all resources, separated by `---`.
///
/// # Errors
/// [`BuildErrorKind::Emit`] for a key that stands twice or is no string, and for a number that JSON
/// does not know.
pub(crate) fn as_yaml(resources: &[Resource]) -> Result<String, BuildError> {
    let mut emitter = Emitter::default();
    for (index, resource) in resources.iter().enumerate() {
        if index > 0 {
            emitter.out.push_str("---\n");
        }
        check_held_back(&resource.node)?;
        emitter.document(&resource.node)?;
    }
    Ok(emitter.out)
}

/// Kustomize prints a comment behind a key before `{`, and cannot read that again.
///
/// # Errors
/// [`BuildErrorKind::Unsupported`] for such a value; `in_flow` says that it stands in braces or brackets.
pub(crate) fn check_comment(node: &Node, in_flow: bool) -> Result<(), BuildError> {
    let is_commented = node.is_key_commented && node.as_scalar().is_none();
    let is_in_braces = in_flow || (node.is_nil_or_empty() && node.layout != Layout::Flow);
    if !is_commented || !is_in_braces {
        return Ok(());
    }
    let what = "a comment behind the key of an object that is printed in braces";
    Err(BuildError::unsupported(what).at(node.origin))
}

/// Where a value is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The document.
    Root,
    /// Behind `key:`; a list there is not indented.
    SimpleValue,
    /// Behind `- ` or `: `, where a map or list begins on the same line.
    SameLine,
}

#[derive(Default)]
struct Emitter<'n> {
    out: String,
    /// How many of the open collections are written in braces or brackets in the source.
    flow: usize,
    /// Entries of the open maps, sorted; each map uses the end of it.
    sorted: Vec<&'n Entry>,
}

impl<'n> Emitter<'n> {
    fn document(&mut self, node: &'n Node) -> Result<(), BuildError> {
        self.node(node, 0, Place::Root)?;
        if !self.out.ends_with(scalar::is_break) {
            self.out.push('\n');
        }
        Ok(())
    }

    /// Writes a value whose children, if it has any, stand at `indent`.
    fn node(&mut self, node: &'n Node, indent: usize, place: Place) -> Result<(), BuildError> {
        check_comment(node, self.flow > 0)?;
        match &node.value {
            Value::Scalar(scalar) => {
                let layout = if self.flow > 0 { Layout::Flow } else { Layout::Block };
                let value = typed_in(scalar, layout).map_err(|error| error.at(node.origin))?;
                let value = match value {
                    Typed::Str(text) if text.contains('\u{85}') => {
                        Typed::Str(fold_next_lines(&text).into())
                    }
                    value => value,
                };
                self.scalar(&value, indent, place);
                Ok(())
            }
            Value::Map(map) if map.is_empty() => {
                self.flow("{}", place);
                Ok(())
            }
            Value::Map(map) => {
                self.flow += usize::from(node.layout == Layout::Flow);
                self.map(map, node, indent, place)?;
                self.flow -= usize::from(node.layout == Layout::Flow);
                Ok(())
            }
            Value::Seq(items) if items.is_empty() => {
                self.flow("[]", place);
                Ok(())
            }
            Value::Seq(items) => {
                self.flow += usize::from(node.layout == Layout::Flow);
                self.seq(items, indent, place)?;
                self.flow -= usize::from(node.layout == Layout::Flow);
                Ok(())
            }
        }
    }

    fn flow(&mut self, text: &str, place: Place) {
        if place == Place::SimpleValue {
            self.out.push(' ');
        }
        self.out.push_str(text);
    }

    fn scalar(&mut self, value: &Typed<'_>, indent: usize, place: Place) {
        if place == Place::SimpleValue {
            self.out.push(' ');
        }
        match value {
            Typed::Null => self.out.push_str("null"),
            Typed::Bool(true) => self.out.push_str("true"),
            Typed::Bool(false) => self.out.push_str("false"),
            Typed::Int(int) => number::write_integer(&mut self.out, *int),
            Typed::Float(float) => number::write_float(&mut self.out, *float),
            Typed::Str(text) => write_string(&mut self.out, text, indent, Context::Value),
        }
    }

    fn seq(&mut self, items: &'n [Node], indent: usize, place: Place) -> Result<(), BuildError> {
        let indent = if place == Place::SimpleValue { indent - 2 } else { indent };
        for (index, item) in items.iter().enumerate() {
            self.start_line(indent, index == 0, place);
            self.out.push_str("- ");
            self.node(item, indent + 2, Place::SameLine)?;
        }
        Ok(())
    }

    /// Goes to column `indent` of a new line, unless a collection begins on this one.
    fn start_line(&mut self, indent: usize, first: bool, place: Place) {
        if first && place != Place::SimpleValue {
            return;
        }
        // A block may end with another line break than this.
        if !self.out.ends_with(scalar::is_break) {
            self.out.push('\n');
        }
        pad(&mut self.out, indent);
    }

    fn map(
        &mut self,
        map: &'n Map,
        node: &'n Node,
        indent: usize,
        place: Place,
    ) -> Result<(), BuildError> {
        if is_merging(map) {
            return self.merging_map(node, indent, place);
        }
        let from = self.sorted.len();
        self.sorted.extend(map.entries());
        key_order::sort(&mut self.sorted[from..]);
        self.check_keys(from, node, place)?;
        for at in from..self.sorted.len() {
            let entry = self.sorted[at];
            self.start_line(indent, at == from, place);
            self.entry(entry, indent)?;
        }
        self.sorted.truncate(from);
        Ok(())
    }

    /// Writes a map with a merge key as the map that it stands for.
    fn merging_map(&mut self, node: &Node, indent: usize, place: Place) -> Result<(), BuildError> {
        let node = merge_keys::expanded(node, self.flow > 0)?;
        let out = std::mem::take(&mut self.out);
        let mut inner = Emitter { out, flow: self.flow, sorted: Vec::new() };
        let written = match &node.value {
            Value::Map(map) if map.is_empty() => {
                inner.flow("{}", place);
                Ok(())
            }
            Value::Map(map) => inner.map(map, &node, indent, place),
            Value::Scalar(_) | Value::Seq(_) => Ok(()),
        };
        self.out = inner.out;
        written
    }

    fn entry(&mut self, entry: &'n Entry, indent: usize) -> Result<(), BuildError> {
        let key: Cow<'_, str> = match typed_in(&entry.key, Layout::Block) {
            Ok(Typed::Null) => "".into(),
            Ok(Typed::Str(text)) if is_string_key(&entry.key) => text,
            Err(error) => return Err(error.at(entry.value.origin)),
            // Only at the root, where the text is taken as it is.
            Ok(_) => Cow::Borrowed(&*entry.key.text),
        };
        if entry.key.text.contains('\u{85}') {
            let message = "a key with a next-line character (U+0085) cannot be printed";
            return Err(BuildError::new(BuildErrorKind::Emit, message).at(entry.value.origin));
        }
        if key.len() <= MAX_SIMPLE_KEY && !scalar::is_multiline(&key) {
            write_string(&mut self.out, &key, indent + 2, Context::SimpleKey);
            self.out.push(':');
            return self.node(&entry.value, indent + 2, Place::SimpleValue);
        }
        self.out.push_str("? ");
        write_string(&mut self.out, &key, indent + 2, Context::Value);
        self.start_line(indent, false, Place::SimpleValue);
        self.out.push_str(": ");
        self.node(&entry.value, indent + 2, Place::SameLine)
    }

    /// Refuses a key that stands twice, and below the root one that is no string.
    fn check_keys(&self, from: usize, node: &Node, place: Place) -> Result<(), BuildError> {
        let sorted = &self.sorted[from..];
        for pair in sorted.windows(2) {
            if pair[0].key.text == pair[1].key.text {
                let later = pair.iter().map(|entry| entry.value.origin).max_by_key(|o| o.line);
                return Err(repeated_key(&pair[0].key.text, later.unwrap_or(node.origin)));
            }
        }
        let is_bad = |entry: &&&Entry| !is_string_key(&entry.key);
        match sorted.iter().find(is_bad).filter(|_| place != Place::Root) {
            None => Ok(()),
            Some(entry) => {
                let key = &entry.key.text;
                let message =
                    format!("the key {key} is not a string; write it in quotes: \"{key}\"");
                Err(BuildError::new(BuildErrorKind::Emit, message).at(entry.value.origin))
            }
        }
    }
}

fn repeated_key(key: &str, place: Origin) -> BuildError {
    let message = format!("the key \"{key}\" stands twice in one object");
    BuildError::new(BuildErrorKind::Emit, message).at(place)
}

/// Writes `count` blanks.
fn pad(out: &mut String, count: usize) {
    const BLANKS: &str = "                                                                ";
    let mut left = count;
    while left > 0 {
        let some = left.min(BLANKS.len());
        out.push_str(&BLANKS[..some]);
        left -= some;
    }
}
