//! Reading texts into nodes, by the rules of the two YAML readers that kustomize uses.
//!
//! Resources and strategic merge patches are read by go-yaml version 3 through kyaml (`kio`):
//! documents are split at lines that start with `---`, only the first document of each part counts,
//! anchors and merge keys are expanded, and a key may stand twice. Kustomization files, JSON 6902
//! patches and plugin configurations in them are read by version 2: YAML 1.1 words are bools, and
//! the last of two equal keys counts.
//!
//! Source: kyaml v0.21.1 `kio/byteio_reader.go`; go.yaml.in/yaml.

mod anchors;
mod configuration;
mod documents;
mod resources;
mod syntax;

use std::borrow::Cow;
use std::cell::RefCell;

use self::syntax::{Form, Remark, Syntax, SyntaxId};
use super::error::{BuildError, BuildErrorKind};
use super::node::{Comment, Entry, Layout, Map, Node, Scalar, Style, Tag, Text, Value};
use super::origin::Origin;
use super::source_tree::SourceFile;
use crate::yaml::scalar::{Resolved, Rules, resolve, timestamp};
use crate::yaml::tree::{self, YamlError};
use crate::yaml::{IS_LFS_POINTER, is_lfs_pointer};

pub(crate) use configuration::{
    configuration, configuration_text, is_non_string, strict_configuration,
};
pub(crate) use documents::split_documents;
pub(crate) use resources::{check_metadata, inline_resources, resources, resources_of};

/// Reads the first document of a text that stands in a field of a resource, by version 3's rules.
/// An empty text is null.
///
/// # Errors
/// As [`configuration`].
pub(crate) fn embedded(text: &str, start: Origin) -> Result<Node, BuildError> {
    Ok(embedded_document(text, start)?.unwrap_or_else(|| Node::null(start)))
}

/// As [`embedded`]; `None` for a text without a document, be it empty or only a comment.
///
/// # Errors
/// As [`configuration`].
pub(crate) fn embedded_document(text: &str, start: Origin) -> Result<Option<Node>, BuildError> {
    let (part, rules) = (Part { text, start }, Rules::Resource);
    let syntax = Syntax::parse(text, rules).map_err(|error| part.error(&error))?;
    let convert = |root| Converter::new(&syntax, rules, start).node(root);
    syntax.root().map(convert).transpose()
}

/// The first document of a text of resources; `None` where there is none.
fn first_resource(part: Part<'_>) -> Result<Option<Node>, BuildError> {
    let syntax = Syntax::parse(part.text, Rules::Resource).map_err(|error| part.error(&error))?;
    let mut converter = Converter::new(&syntax, Rules::Resource, part.start);
    converter.repeats_null_keys = true;
    let convert = |root| match anchors::are_in(&syntax) {
        true => anchors::expanded(&converter, root),
        false => converter.node(root),
    };
    syntax.root().map(convert).transpose()
}

/// The text of a file: UTF-8, or UTF-16 behind a byte-order mark.
///
/// # Errors
/// [`BuildErrorKind::Yaml`] if it is neither, or a pointer of Git LFS.
pub(crate) fn text_of(file: &SourceFile) -> Result<Cow<'_, str>, BuildError> {
    let text = decoded(file)?;
    match is_lfs_pointer(&text) {
        true => {
            Err(BuildError::new(BuildErrorKind::Yaml, IS_LFS_POINTER).at(Origin::new(file.id, 1)))
        }
        false => Ok(text),
    }
}

fn decoded(file: &SourceFile) -> Result<Cow<'_, str>, BuildError> {
    let utf16 = match *file.bytes {
        [0xFF, 0xFE, ref units @ ..] => Some((units, u16::from_le_bytes as fn([u8; 2]) -> u16)),
        [0xFE, 0xFF, ref units @ ..] => Some((units, u16::from_be_bytes as fn([u8; 2]) -> u16)),
        _ => None,
    };
    if let Some((units, unit)) = utf16 {
        let units: Vec<u16> = units.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        return String::from_utf16(&units).map(Cow::Owned).map_err(|_| {
            let message = "is not UTF-16 text, though it begins as such";
            BuildError::new(BuildErrorKind::Yaml, message).at(Origin::new(file.id, 1))
        });
    }
    std::str::from_utf8(&file.bytes).map(Cow::Borrowed).map_err(|error| {
        let valid = &file.bytes[..error.valid_up_to()];
        let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
        BuildError::new(BuildErrorKind::Yaml, "is not UTF-8 text")
            .at(Origin::new(file.id, u32::try_from(line).unwrap_or(0)))
    })
}

/// A text, and where its first line stands.
#[derive(Clone, Copy)]
pub(crate) struct Part<'t> {
    pub(crate) text: &'t str,
    pub(crate) start: Origin,
}

impl Part<'_> {
    fn error(&self, error: &YamlError) -> BuildError {
        let place = line_of(self.start, error.line);
        let mut failed = BuildError::new(BuildErrorKind::Yaml, error.message.clone()).at(place);
        failed.column = error.column;
        failed
    }
}

/// Line `line` (from 1) of a text whose first line is at `start`.
fn line_of(start: Origin, line: u32) -> Origin {
    let line = match start.line {
        0 => 0,
        first => first.saturating_add(line).saturating_sub(1),
    };
    Origin::new(start.file, line)
}

/// Makes nodes of a syntax.
struct Converter<'t, 's> {
    tree: &'t Syntax<'s>,
    rules: Rules,
    start: Origin,
    /// Whether a key that is null stands twice, as kyaml leaves it where it looks for aliases.
    repeats_null_keys: bool,
    /// Whether version 2 refuses a key that stands twice.
    is_strict: bool,
    keys: RefCell<KnownKeys>,
}

/// The key whose value is merged into the object that it is in.
const MERGE_KEY: &str = "<<";

impl<'t, 's> Converter<'t, 's> {
    fn new(tree: &'t Syntax<'s>, rules: Rules, start: Origin) -> Self {
        let keys = RefCell::default();
        Self { tree, rules, start, repeats_null_keys: false, is_strict: false, keys }
    }

    fn origin(&self, id: SyntaxId) -> Origin {
        line_of(self.start, self.tree.node(id).line)
    }

    fn error(&self, id: SyntaxId, message: &str) -> BuildError {
        let mut error = BuildError::new(BuildErrorKind::Yaml, message).at(self.origin(id));
        error.column = self.tree.node(id).column;
        error
    }

    fn node(&self, id: SyntaxId) -> Result<Node, BuildError> {
        let id = self.tree.target(id);
        let value = match &self.tree.node(id).form {
            Form::Scalar(..) => Value::Scalar(self.scalar(id, |text| Text::from(text))?),
            Form::Seq => Value::Seq(self.items(id)?),
            Form::Map => Value::Map(self.map(id)?),
            Form::Alias(..) => return Err(self.error(id, "an alias of an alias")),
        };
        Ok(self.laid_out(id, value))
    }

    /// A value with the place, the layout and the comment of its syntax.
    fn laid_out(&self, id: SyntaxId, value: Value) -> Node {
        let layout = match self.tree.node(id) {
            node if node.is_flow => Layout::Flow,
            _ => Layout::Block,
        };
        let comment = self.tree.node(id).comment.map(|remark| {
            Box::new(match remark {
                Remark::Behind(text) => Comment::Behind(Text::from(text.trim_end())),
                Remark::Closing(text) => Comment::Closing(Text::from(text.trim_end())),
                Remark::Around => Comment::Around,
                Remark::Below => Comment::Below,
            })
        });
        let is_key_commented = self.tree.node(id).is_commented;
        Node { value, origin: self.origin(id), layout, is_key_commented, comment }
    }

    fn items(&self, id: SyntaxId) -> Result<Vec<Node>, BuildError> {
        self.tree.children(id).iter().map(|item| self.node(*item)).collect()
    }

    /// The scalar that is a key.
    fn key(&self, id: SyntaxId) -> Result<Scalar, BuildError> {
        self.scalar(self.tree.target(id), |text| self.keys.borrow_mut().text(text))
    }

    fn scalar(
        &self,
        id: SyntaxId,
        shared: impl FnOnce(&str) -> Text,
    ) -> Result<Scalar, BuildError> {
        let node = self.tree.node(id);
        let Form::Scalar(text, style) = &node.form else {
            return Err(self.error(id, "a key must be a scalar"));
        };
        let style = match style {
            tree::Style::Plain => Style::Plain,
            tree::Style::SingleQuoted => Style::SingleQuoted,
            tree::Style::DoubleQuoted => Style::DoubleQuoted,
            tree::Style::Literal => Style::Literal,
            tree::Style::Folded => Style::Folded,
        };
        let (tag, style) = match node.tag.as_deref() {
            // Version 3 reads a bare `!` as no tag, version 2 as the tag of strings.
            Some("!") if self.rules == Rules::Kustomization => (Tag::Str, style),
            None | Some("!") => (self.implicit_tag(text, style), style),
            // Such a tag is written again, so the style does not decide the type.
            Some(tag) => (self.explicit_tag(id, tag, text)?, Style::Tagged),
        };
        if tag == Tag::Binary && self.rules == Rules::Kustomization {
            return self.binary(id, text);
        }
        Ok(Scalar { tag, style, ..Scalar::untagged(shared(text)) })
    }

    fn implicit_tag(&self, text: &str, style: Style) -> Tag {
        if style != Style::Plain {
            return Tag::Str;
        }
        if text == MERGE_KEY {
            return Tag::Merge;
        }
        tag_of(resolve(text, self.rules))
    }

    fn explicit_tag(&self, id: SyntaxId, tag: &str, text: &str) -> Result<Tag, BuildError> {
        let is_resource = self.rules == Rules::Resource;
        let wanted = match tag {
            "!!null" => Tag::Null,
            "!!bool" => Tag::Bool,
            "!!int" => Tag::Int,
            "!!float" => Tag::Float,
            "!!timestamp" if is_resource => Tag::Timestamp,
            "!!timestamp" if timestamp(text).is_none() => {
                return Err(self.error(id, &format!("cannot read `{text}` as {tag}")));
            }
            "!!binary" => return Ok(Tag::Binary),
            "!!merge" => return Ok(Tag::Merge),
            "!!str" => return Ok(Tag::Str),
            _ if is_resource => return Ok(Tag::Custom),
            _ => return Ok(Tag::Str),
        };
        let is = tag_of(resolve(text, self.rules));
        // Version 3 minds it when the value is printed, which one that is replaced never is.
        if is_resource || is == wanted || (wanted == Tag::Float && is == Tag::Int) {
            return Ok(wanted);
        }
        Err(self.error(id, &format!("cannot read `{text}` as {tag}")))
    }

    fn map(&self, id: SyntaxId) -> Result<Map, BuildError> {
        match self.rules {
            Rules::Resource => self.resource_map(id),
            Rules::Kustomization => self.configuration_map(id),
        }
    }

    /// Own entries first, then what merge keys add; a key may stand twice.
    fn resource_map(&self, id: SyntaxId) -> Result<Map, BuildError> {
        let pairs = self.tree.pairs(id);
        let mut map = Map::with_capacity(pairs.len());
        let mut merged = None;
        for (key, value) in pairs {
            let key_node = self.key(key)?;
            if &*key_node.text != MERGE_KEY {
                let value = self.node(value)?;
                map.entries_mut().push(Entry { key: key_node, value });
            } else if key_node.tag == Tag::Merge && merged.replace(value).is_some() {
                return Err(self.error(key, "two merge keys in one object"));
            }
        }
        if let Some(merged) = merged {
            let own = map.len();
            self.add_merged(&mut map, merged, own)?;
        }
        if self.repeats_null_keys {
            repeat_null_keys(&mut map);
        }
        Ok(map)
    }

    /// Adds the entries of a merge key's value behind the first `own` entries, which stay.
    fn add_merged(&self, map: &mut Map, value: SyntaxId, own: usize) -> Result<(), BuildError> {
        let id = self.tree.target(value);
        match &self.tree.node(id).form {
            Form::Map => {
                for entry in self.resource_map(id)?.into_entries() {
                    match map.position(&entry.key.text) {
                        Some(at) if at < own => {}
                        Some(at) => map.entries_mut()[at] = entry,
                        None => map.entries_mut().push(entry),
                    }
                }
                Ok(())
            }
            // Earlier maps of the list override later ones.
            Form::Seq if id == value => {
                let items = self.tree.children(id).iter().rev();
                items.copied().try_for_each(|item| {
                    match self.tree.node(self.tree.target(item)).form {
                        Form::Map => self.add_merged(map, item, own),
                        _ => Err(self.error(item, "only objects can be merged")),
                    }
                })
            }
            _ => Err(self.error(value, "only an object or a list of objects can be merged")),
        }
    }
}

/// Keys that were met lately, so that the same ones share their text.
struct KnownKeys([Option<Text>; KnownKeys::SLOTS]);

impl KnownKeys {
    const SLOTS: usize = 64;

    fn text(&mut self, key: &str) -> Text {
        let bytes = key.as_bytes();
        let byte = |at: usize| usize::from(bytes.get(at).copied().unwrap_or(0));
        let mixed = byte(0) + 7 * byte(bytes.len() / 2) + 31 * bytes.len();
        let slot = &mut self.0[mixed % Self::SLOTS];
        match slot {
            Some(known) if &**known == key => Text::clone(known),
            _ => Text::clone(slot.insert(Text::from(key))),
        }
    }
}

impl Default for KnownKeys {
    fn default() -> Self {
        Self([const { None }; Self::SLOTS])
    }
}

/// kyaml sets every field of an object once more, and does not find one whose key is null.
fn repeat_null_keys(map: &mut Map) {
    let is_null = |entry: &&Entry| entry.key.tag == Tag::Null && !entry.key.text.is_empty();
    let repeated: Vec<Entry> = map.entries().iter().filter(is_null).cloned().collect();
    for entry in repeated {
        match map.position("") {
            Some(at) => map.entries_mut()[at] = entry,
            None => map.entries_mut().push(entry),
        }
    }
}

/// The tag that goes with what a plain scalar resolves to.
pub(crate) fn tag_of(resolved: Resolved) -> Tag {
    match resolved {
        Resolved::Null => Tag::Null,
        Resolved::Bool(_) => Tag::Bool,
        Resolved::Int(_) => Tag::Int,
        Resolved::Float(_) => Tag::Float,
        Resolved::Str => Tag::Str,
        Resolved::Timestamp => Tag::Timestamp,
    }
}
