//! Edits as splices: for each operation the byte ranges to replace, and what the data should be afterwards.
//!
//! The functions here look at the old text only and promise nothing; [`super::document`] applies the splices and
//! compares what comes out with what was asked for.

use crate::edit::TextEdit;

use super::data::{self, Change, Place};
use super::layout::Layout;
use super::path::check_anchor;
use super::refusal::Reason;
use super::render::Format;
use super::tree::{Kind, NodeId, Style, Tree};

mod flow;
mod inline;
mod insert;
mod remove;
mod set;

pub(super) use inline::inline;
pub(super) use insert::{append, empty_document, insert_item, insert_key};
pub(super) use remove::remove;
pub(super) use set::{rename, set};

/// A planned edit.
#[derive(Debug, Default)]
pub(super) struct Splice {
    pub(super) edits: Vec<TextEdit>,
    pub(super) changes: Vec<Change>,
    /// Whether comments inside the replaced ranges go with them.
    pub(super) drops_comments: bool,
}

impl Splice {
    fn new(edits: Vec<TextEdit>, change: Change) -> Self {
        Splice { edits, changes: vec![change], drops_comments: false }
    }
}

/// What a splice gives, or the node to blame.
pub(super) type Planned = Result<Splice, (NodeId, Reason)>;

/// The place of a node in the data; nodes inside keys have none.
fn place(tree: &Tree<'_>, id: NodeId) -> Result<Place, (NodeId, Reason)> {
    data::place_of(tree, id).ok_or((id, Reason::ExplicitKey))
}

/// Whether a node stands inside brackets or braces (itself not counted).
fn is_in_flow(tree: &Tree<'_>, id: NodeId) -> bool {
    let mut node = tree.node(id).parent();
    while let Some(parent) = node {
        if tree.node(parent).is_flow() {
            return true;
        }
        node = tree.node(parent).parent();
    }
    false
}

/// Refuses to replace a node with an explicit tag or an anchor in use.
fn check_replaceable(tree: &Tree<'_>, id: NodeId) -> Result<(), (NodeId, Reason)> {
    check_anchor(tree, id)?;
    match &tree.node(id).tag {
        Some(tag) => Err((id, Reason::Tag(tag.to_string()))),
        None => Ok(()),
    }
}

/// Refuses where a comment lies in a range.
fn check_comments(
    layout: &Layout<'_, '_>,
    range: &std::ops::Range<usize>,
    blame: NodeId,
) -> Result<(), (NodeId, Reason)> {
    match layout.comment_in(range) {
        Some(comment) => Err((blame, Reason::Comment(comment.to_owned()))),
        None => Ok(()),
    }
}

/// The format for something new in `collection`: quotes, blanks and quoting of keys as there.
fn format_like(layout: &Layout<'_, '_>, collection: NodeId) -> Format {
    let tree = layout.tree;
    let sample = match tree.node(collection).kind {
        Kind::Seq { .. } => tree.items(collection).last().copied(),
        _ => Some(collection),
    };
    Format {
        map_indent: layout.map_indent(),
        list_indent: layout.list_indent(None),
        json: is_json(tree, collection),
        padded: sample.is_some_and(|id| is_padded(layout, id)),
        quotes: sample_quotes(tree, collection),
    }
}

/// Whether the keys around a collection are all in double quotes, as in JSON.
fn is_json(tree: &Tree<'_>, collection: NodeId) -> bool {
    let node = tree.node(collection);
    let inner = tree.children(collection).iter().copied();
    let maps: Vec<NodeId> = std::iter::once(collection)
        .chain(inner)
        .chain(node.parent())
        .filter(|id| tree.pairs(*id).len() > 0)
        .collect();
    let quoted = |k: NodeId| tree.node(k).style() == Some(Style::DoubleQuoted);
    !maps.is_empty() && maps.iter().all(|map| tree.pairs(*map).all(|(k, _)| quoted(k)))
}

/// Whether a flow collection has a blank behind its opening bracket.
fn is_padded(layout: &Layout<'_, '_>, id: NodeId) -> bool {
    let node = layout.tree.node(id);
    node.is_flow() && layout.text[node.span()].get(1..2) == Some(" ")
}

/// The quotes of the values in `collection`, by key; of its last mapping if it is a list.
fn sample_quotes(tree: &Tree<'_>, collection: NodeId) -> Vec<(String, Style)> {
    let mut quotes = Vec::new();
    let mut note = |key: &str, id: NodeId| {
        if let Some(style @ (Style::SingleQuoted | Style::DoubleQuoted)) = tree.node(id).style() {
            quotes.push((key.to_owned(), style));
        }
    };
    for item in tree.items(collection).iter().rev() {
        note("", *item);
        tree.pairs(*item).for_each(|(k, v)| note(tree.node(k).scalar().unwrap_or_default(), v));
    }
    tree.pairs(collection).for_each(|(k, v)| note(tree.node(k).scalar().unwrap_or_default(), v));
    quotes
}
