//! YAML as go-yaml reads it: the one dialect in which a build may read.
//!
//! go-yaml follows libyaml, which knows YAML 1.1 with corners of its own: `?` ends a plain text in
//! brackets, a TAB may not begin a line, U+0085, U+2028 and U+2029 are line breaks, `!a,` is one tag.
//! A text is read here as it is there, or refused; the lossless reader (`crate::yaml`) keeps bytes and
//! follows YAML 1.2.
//!
//! Must not know: types of scalars, anchors that are expanded, kustomize.
//!
//! Source: go.yaml.in/yaml v2.4.2 and v3.0.3, `readerc.go`, `scannerc.go`, `parserc.go`.

mod cursor;
mod parser;
mod quoted;
mod scalars;
mod scanner;
mod tags;

use std::borrow::Cow;

use crate::yaml::scalar::Rules;
use crate::yaml::tree::{Style, YamlError};

/// A node of a [`Syntax`], by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SyntaxId(u32);

impl SyntaxId {
    /// The position itself.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node is.
#[derive(Clone, Debug)]
pub(super) enum Form<'s> {
    /// A scalar, decoded.
    Scalar(Cow<'s, str>, Style),
    /// A sequence.
    Seq,
    /// A mapping; its children are keys and values in turn.
    Map,
    /// A node that stands for an earlier one, whose anchor has the name.
    Alias(SyntaxId, &'s str),
}

/// A comment that go-yaml version 3 keeps with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remark<'s> {
    /// Behind it on its line, from `#` on.
    Behind(&'s str),
    /// Behind the end of a collection, most often its bracket, from `#` on.
    Closing(&'s str),
    /// On lines of their own: above it, or below it in a list.
    Around,
    /// On the line below an element of a list, one in brackets, and apart from what follows.
    Below,
}

/// A node and where it stands.
#[derive(Clone, Debug)]
pub(super) struct SyntaxNode<'s> {
    /// What it is.
    pub(super) form: Form<'s>,
    /// Whether it is a collection in brackets or braces.
    pub(super) is_flow: bool,
    /// Whether the key that it is the value of has a comment behind it.
    pub(super) is_commented: bool,
    /// The comment of a scalar or of a collection.
    pub(super) comment: Option<Remark<'s>>,
    /// The tag, `!!name` for one of YAML's own.
    pub(super) tag: Option<Box<str>>,
    /// Line, from 1.
    pub(super) line: u32,
    /// Column in characters, from 1.
    pub(super) column: u32,
    children: (u32, u32),
}

/// The first document of a text.
#[derive(Debug)]
pub(super) struct Syntax<'s> {
    nodes: Vec<SyntaxNode<'s>>,
    children: Vec<SyntaxId>,
    root: Option<SyntaxId>,
}

impl<'s> Syntax<'s> {
    /// Reads the first document of `text`, as the version that these rules are of does.
    ///
    /// # Errors
    /// A fault in the syntax, an unknown alias, or more than the limits of `crate::yaml::tree` allow.
    pub(super) fn parse(text: &'s str, rules: Rules) -> Result<Self, YamlError> {
        parser::parse(text, rules)
    }

    /// The document, if there is one.
    pub(super) fn root(&self) -> Option<SyntaxId> {
        self.root
    }

    /// All nodes, in the order of their positions.
    pub(super) fn ids(&self) -> impl ExactSizeIterator<Item = SyntaxId> + use<> {
        (0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)).map(SyntaxId)
    }

    /// The node of an id.
    pub(super) fn node(&self, id: SyntaxId) -> &SyntaxNode<'s> {
        &self.nodes[id.0 as usize]
    }

    /// The node itself, or the one that its alias stands for.
    pub(super) fn target(&self, id: SyntaxId) -> SyntaxId {
        match self.node(id).form {
            Form::Alias(target, _) => target,
            _ => id,
        }
    }

    /// The children of a collection.
    pub(super) fn children(&self, id: SyntaxId) -> &[SyntaxId] {
        let (from, to) = self.node(id).children;
        &self.children[from as usize..to as usize]
    }

    /// The keys and values of a mapping.
    pub(super) fn pairs(
        &self,
        id: SyntaxId,
    ) -> impl ExactSizeIterator<Item = (SyntaxId, SyntaxId)> + '_ {
        self.children(id).chunks_exact(2).map(|pair| (pair[0], pair[1]))
    }
}

#[cfg(test)]
mod tests;
