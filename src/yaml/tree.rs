//! The span tree of a YAML text: where every node stands, to the byte.
//!
//! A [`Tree`] is an arena: nodes in reading order, children of all collections in one shared list, so that reading
//! megabytes allocates next to nothing per node. It keeps what an editor needs (spans, styles, comments, anchors)
//! and what a reader needs (decoded values). It does not resolve plain scalars to types; that is [`super::scalar`].

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// The longest text [`parse`] reads, in bytes. Far above any manifest; keeps memory bounded.
pub const MAX_TEXT_BYTES: usize = 64 << 20;
/// The most nodes [`parse`] builds from one text.
pub const MAX_NODES: usize = 4_000_000;
/// The deepest nesting of collections, block and flow counted together.
pub const MAX_DEPTH: usize = 1_000;
/// The most nodes a document may have once its aliases are expanded; stops alias bombs.
pub const MAX_EXPANDED_NODES: u64 = 10_000_000;

/// A node of a [`Tree`], by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

impl NodeId {
    /// The position of the node in [`Tree::nodes`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// `text`
    Plain,
    /// `'text'`
    SingleQuoted,
    /// `"text"`
    DoubleQuoted,
    /// `|` and its body
    Literal,
    /// `>` and its body
    Folded,
}

impl Style {
    /// Whether the scalar has a header (`|-`) and an indented body.
    #[must_use]
    pub fn is_block(self) -> bool {
        matches!(self, Style::Literal | Style::Folded)
    }
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind<'s> {
    /// A scalar; `value` is decoded (escapes, folding, chomping), an absent value is `""`.
    Scalar {
        /// The decoded text.
        value: Cow<'s, str>,
        /// How it is written.
        style: Style,
    },
    /// A sequence; see [`Tree::items`].
    Seq {
        /// Written in brackets.
        flow: bool,
    },
    /// A mapping; see [`Tree::pairs`].
    Map {
        /// Written in braces.
        flow: bool,
    },
    /// `*name`; the node it stands for comes earlier in the same document.
    Alias {
        /// The anchored node.
        target: NodeId,
    },
}

/// One node and its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<'s> {
    /// What it is.
    pub kind: Kind<'s>,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) props: u32,
    pub(super) before: u32,
    pub(super) children: (u32, u32),
    pub(super) parent: u32,
    pub(super) anchor: u32,
    /// An explicit tag in short form: `!!str`, `!custom`.
    pub tag: Option<Box<str>>,
    /// The line of [`Node::start`], from 1.
    pub line: u32,
    /// The column of [`Node::start`] in characters, from 1; a byte-order mark does not count.
    pub column: u32,
}

/// No parent, no anchor.
pub(super) const NONE: u32 = u32::MAX;

impl<'s> Node<'s> {
    /// The bytes of the content, without tag and anchor.
    ///
    /// * block scalar: from its `|` or `>` to the end of the body (with the line break of `|+` bodies, without
    ///   it otherwise);
    /// * block sequence: from the first dash; block mapping: from the first key (or its `?`);
    /// * both end with their last descendant, comments after it not included;
    /// * an absent value is an empty range at the end of the token before it (so *before* the `:` of its key).
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The start of the node with its tag and anchor.
    #[must_use]
    pub fn outer_start(&self) -> usize {
        self.props as usize
    }

    /// The end of the node, key, tag or anchor that precedes this node's tag and anchor, or the start of the document.
    #[must_use]
    pub fn before(&self) -> usize {
        self.before as usize
    }

    /// The collection that holds this node.
    #[must_use]
    pub fn parent(&self) -> Option<NodeId> {
        (self.parent != NONE).then_some(NodeId(self.parent))
    }

    /// The anchor defined here, as an index into [`Tree::anchors`].
    #[must_use]
    pub fn anchor(&self) -> Option<usize> {
        (self.anchor != NONE).then_some(self.anchor as usize)
    }

    /// The decoded text of a scalar.
    #[must_use]
    pub fn scalar(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The style of a scalar.
    #[must_use]
    pub fn style(&self) -> Option<Style> {
        match self.kind {
            Kind::Scalar { style, .. } => Some(style),
            _ => None,
        }
    }

    /// Whether nothing is written where the value should be (`key:`, `- `).
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.start == self.end && self.style() == Some(Style::Plain)
    }

    /// Whether the node is a collection in brackets or braces.
    #[must_use]
    pub fn is_flow(&self) -> bool {
        matches!(self.kind, Kind::Seq { flow: true } | Kind::Map { flow: true })
    }
}

/// An anchor definition, `&name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The node that carries it.
    pub node: NodeId,
    /// The bytes of `&name`.
    pub span: Range<usize>,
    /// How many aliases stand for it.
    pub uses: u32,
}

/// A parsed YAML text: all its documents.
#[derive(Clone, Debug)]
pub struct Tree<'s> {
    pub(super) text: &'s str,
    pub(super) nodes: Vec<Node<'s>>,
    pub(super) children: Vec<NodeId>,
    pub(super) roots: Vec<NodeId>,
    pub(super) comments: Vec<Range<usize>>,
    pub(super) anchors: Vec<Anchor>,
    pub(super) expanded: u64,
}

impl<'s> Tree<'s> {
    /// The text this tree was read from.
    #[must_use]
    pub fn text(&self) -> &'s str {
        self.text
    }

    /// All nodes, in reading order; a node comes before its children.
    #[must_use]
    pub fn nodes(&self) -> &[Node<'s>] {
        &self.nodes
    }

    /// All ids, in reading order.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// The root node of each document; an empty document has an absent scalar as root.
    #[must_use]
    pub fn roots(&self) -> &[NodeId] {
        &self.roots
    }

    /// The bytes of each comment, from `#` to before the line break, in source order.
    #[must_use]
    pub fn comments(&self) -> &[Range<usize>] {
        &self.comments
    }

    /// All anchor definitions, in source order.
    #[must_use]
    pub fn anchors(&self) -> &[Anchor] {
        &self.anchors
    }

    /// How many nodes all documents have once their aliases are expanded.
    #[must_use]
    pub fn expanded_nodes(&self) -> u64 {
        self.expanded
    }

    /// The node of an id.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node<'s> {
        &self.nodes[id.index()]
    }

    /// The children of a collection: items, or keys and values in turn. Empty for scalars and aliases.
    #[must_use]
    pub fn children(&self, id: NodeId) -> &[NodeId] {
        let (from, to) = self.node(id).children;
        &self.children[from as usize..to as usize]
    }

    /// The items of a sequence; empty for anything else.
    #[must_use]
    pub fn items(&self, id: NodeId) -> &[NodeId] {
        match self.node(id).kind {
            Kind::Seq { .. } => self.children(id),
            _ => &[],
        }
    }

    /// The key and value of each entry of a mapping, in order; empty for anything else. Merge keys (`<<`) are
    /// entries like others.
    pub fn pairs(
        &self,
        id: NodeId,
    ) -> impl DoubleEndedIterator<Item = (NodeId, NodeId)> + ExactSizeIterator + '_ {
        let children = match self.node(id).kind {
            Kind::Map { .. } => self.children(id),
            _ => &[],
        };
        children.chunks_exact(2).map(|pair| (pair[0], pair[1]))
    }

    /// The value of the first entry of a mapping whose key is the scalar `key`.
    #[must_use]
    pub fn value_of(&self, map: NodeId, key: &str) -> Option<NodeId> {
        self.pairs(map).find(|(k, _)| self.node(*k).scalar() == Some(key)).map(|(_, value)| value)
    }

    /// The node itself, or the one its alias stands for.
    #[must_use]
    pub fn target(&self, id: NodeId) -> NodeId {
        match self.node(id).kind {
            Kind::Alias { target } => target,
            _ => id,
        }
    }

    /// The text of a node without tag and anchor; see [`Node::span`].
    #[must_use]
    pub fn source(&self, id: NodeId) -> &'s str {
        &self.text[self.node(id).span()]
    }
}

/// Why a text cannot be read or edited, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct YamlError {
    /// One sentence without position and final period.
    pub message: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

/// Reads every document of `text`.
///
/// The text may start with a byte-order mark and use any line ends; nothing is normalised.
///
/// # Errors
/// A syntax error in any document (also a later one), an unknown alias, nesting beyond [`MAX_DEPTH`], a text beyond
/// [`MAX_TEXT_BYTES`] or [`MAX_NODES`], or aliases that would expand beyond [`MAX_EXPANDED_NODES`].
pub fn parse(text: &str) -> Result<Tree<'_>, YamlError> {
    super::parse::parse(text)
}

#[cfg(test)]
mod tests;
