//! From tokens to nodes.

use std::borrow::Cow;
use std::collections::HashMap;

use super::cursor::Mark;
use super::scanner::{CommentAbove, Scanner, Token, TokenKind};
use super::{Form, Remark, Syntax, SyntaxId, SyntaxNode};
use crate::yaml::scalar::Rules;
use crate::yaml::tree::{
    MAX_DEPTH, MAX_EXPANDED_NODES, MAX_NODES, MAX_TEXT_BYTES, Style, YamlError,
};

const TOO_DEEP: &str = "collections are nested more than 1000 deep, aliases expanded";

/// An anchor, and what an alias of it stands for.
struct Anchor {
    node: SyntaxId,
    /// Nodes, aliases expanded; nothing while the node is still being read.
    size: Option<u64>,
    /// Levels of nesting, aliases expanded.
    height: usize,
}

/// Tag and anchor of a node.
#[derive(Default)]
struct Properties<'s> {
    anchor: Option<&'s str>,
    tag: Option<Box<str>>,
}

struct Parser<'s> {
    scanner: Scanner<'s>,
    syntax: Syntax<'s>,
    /// Children of the open collections.
    scratch: Vec<SyntaxId>,
    anchors: HashMap<&'s str, Anchor>,
    handles: Vec<(&'s str, String)>,
    /// The token that was taken last.
    last: Mark,
    /// The comment behind that; empty for none.
    comment: &'s str,
    /// The comment behind an anchor or a tag: it goes to the next scalar, or the next end of a collection.
    pending: &'s str,
    /// Nodes so far, aliases expanded.
    expanded: u64,
    depth: usize,
    /// How deep anything was since the innermost open anchor.
    deepest: usize,
}

pub(super) fn parse(text: &str, rules: Rules) -> Result<Syntax<'_>, YamlError> {
    if text.len() > MAX_TEXT_BYTES {
        let message =
            format!("the text has {} bytes, more than the limit of {MAX_TEXT_BYTES}", text.len());
        return Err(Mark::default().error(message));
    }
    let capacity = text.len() / 16;
    let syntax = Syntax {
        nodes: Vec::with_capacity(capacity),
        children: Vec::with_capacity(capacity),
        root: None,
    };
    let mut parser = Parser {
        scanner: Scanner::new(text, rules)?,
        syntax,
        scratch: Vec::new(),
        anchors: HashMap::new(),
        handles: Vec::new(),
        last: Mark::default(),
        comment: "",
        pending: "",
        expanded: 0,
        depth: 0,
        deepest: 0,
    };
    parser.syntax.root = parser.document()?;
    parser.scanner.peek()?;
    Ok(parser.syntax)
}

/// How a collection is written, and what ends it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Block,
    /// A list in a mapping that stands no deeper than its key.
    Indentless,
    Flow,
}

impl<'s> Parser<'s> {
    fn document(&mut self) -> Result<Option<SyntaxId>, YamlError> {
        use TokenKind::{DocumentEnd, DocumentStart, End, TagDirective, VersionDirective};
        match self.scanner.peek()?.kind {
            End => return Ok(None),
            VersionDirective { .. } | TagDirective { .. } | DocumentStart => {}
            _ => return self.node(true, false).map(Some),
        }
        self.directives()?;
        let start = self.take()?;
        if start.kind != DocumentStart {
            return Err(start.mark.error("behind directives a document begins with `---`"));
        }
        match self.scanner.peek()?.kind {
            End | DocumentEnd | DocumentStart | TagDirective { .. } | VersionDirective { .. } => {
                self.absent().map(Some)
            }
            _ => self.node(true, false).map(Some),
        }
    }

    fn directives(&mut self) -> Result<(), YamlError> {
        let mut has_version = false;
        loop {
            match &self.scanner.peek()?.kind {
                TokenKind::VersionDirective { .. } | TokenKind::TagDirective { .. } => {}
                _ => return Ok(()),
            }
            let token = self.take()?;
            match token.kind {
                TokenKind::VersionDirective { major: 1, minor: 1 } if !has_version => {
                    has_version = true;
                }
                TokenKind::TagDirective { handle, prefix }
                    if self.handles.iter().all(|(known, _)| *known != handle) =>
                {
                    self.handles.push((handle, prefix));
                }
                _ => return Err(token.mark.error("a second directive, or not of YAML 1.1")),
            }
        }
    }

    fn take(&mut self) -> Result<Token<'s>, YamlError> {
        let token = self.scanner.take()?;
        self.last = token.mark;
        self.comment = token.comment;
        Ok(token)
    }

    fn take_if(&mut self, kind: &TokenKind<'_>) -> Result<bool, YamlError> {
        let is_it = self.scanner.peek()?.kind == *kind;
        if is_it {
            self.take()?;
        }
        Ok(is_it)
    }

    fn node(&mut self, is_block: bool, may_be_indentless: bool) -> Result<SyntaxId, YamlError> {
        if let TokenKind::Alias(name) = self.scanner.peek()?.kind {
            return self.alias(name);
        }
        let properties = self.properties()?;
        if (properties.anchor.is_some() || properties.tag.is_some()) && !self.comment.is_empty() {
            self.pending = self.comment;
        }
        let mark = self.scanner.peek()?.mark;
        let (form, layout) = match self.scanner.peek()?.kind {
            TokenKind::Scalar(..) => return self.scalar(properties),
            TokenKind::FlowSeqStart => (Form::Seq, Layout::Flow),
            TokenKind::FlowMapStart => (Form::Map, Layout::Flow),
            TokenKind::BlockEntry if may_be_indentless => (Form::Seq, Layout::Indentless),
            TokenKind::BlockSeqStart if is_block => (Form::Seq, Layout::Block),
            TokenKind::BlockMapStart if is_block => (Form::Map, Layout::Block),
            _ if properties.anchor.is_some() || properties.tag.is_some() => {
                return self.leaf(Cow::Borrowed(""), Style::Plain, properties, self.last);
            }
            _ => return Err(mark.error("a value is missing here")),
        };
        self.collection(form, layout, properties, mark)
    }

    fn properties(&mut self) -> Result<Properties<'s>, YamlError> {
        let mut properties = Properties::default();
        loop {
            match self.scanner.peek()?.kind {
                TokenKind::Anchor(name) if properties.anchor.is_none() => {
                    self.take()?;
                    properties.anchor = Some(name);
                }
                TokenKind::Tag { .. } if properties.tag.is_none() => {
                    let token = self.take()?;
                    if let TokenKind::Tag { handle, suffix } = token.kind {
                        properties.tag = Some(self.resolve_tag(handle, suffix, token.mark)?);
                    }
                }
                _ => return Ok(properties),
            }
        }
    }

    fn resolve_tag(&self, handle: &str, suffix: String, mark: Mark) -> Result<Box<str>, YamlError> {
        let known = self.handles.iter().find(|(known, _)| *known == handle);
        let tag = match (handle, known) {
            ("", _) => suffix,
            (_, Some((_, prefix))) => format!("{prefix}{suffix}"),
            ("!", None) => format!("!{suffix}"),
            ("!!", None) => format!("!!{suffix}"),
            _ => return Err(mark.error("the handle of this tag is not known")),
        };
        Ok(match tag.strip_prefix("tag:yaml.org,2002:") {
            Some(name) => format!("!!{name}").into(),
            None => tag.into(),
        })
    }

    fn push(&mut self, node: SyntaxNode<'s>, mark: Mark) -> Result<SyntaxId, YamlError> {
        if self.syntax.nodes.len() >= MAX_NODES {
            return Err(mark.error(format!("the text has more than {MAX_NODES} nodes")));
        }
        let id = SyntaxId(u32::try_from(self.syntax.nodes.len()).unwrap_or(u32::MAX));
        self.syntax.nodes.push(node);
        self.expanded += 1;
        self.deepest = self.deepest.max(self.depth);
        Ok(id)
    }

    fn leaf(
        &mut self,
        text: Cow<'s, str>,
        style: Style,
        properties: Properties<'s>,
        mark: Mark,
    ) -> Result<SyntaxId, YamlError> {
        let id = self.push(new_node(Form::Scalar(text, style), properties.tag, mark), mark)?;
        if let Some(name) = properties.anchor {
            self.anchors.insert(name, Anchor { node: id, size: Some(1), height: 0 });
        }
        Ok(id)
    }

    fn scalar(&mut self, properties: Properties<'s>) -> Result<SyntaxId, YamlError> {
        let token = self.take()?;
        match token.kind {
            TokenKind::Scalar(text, style) => {
                let id = self.leaf(text, style, properties, token.mark)?;
                let is_around = token.comment_above.is_some() && self.pending.is_empty();
                let comment = self.with_pending(token.comment);
                self.syntax.nodes[id.0 as usize].comment = match is_around {
                    true => Some(Remark::Around),
                    false if comment.is_empty() => None,
                    false => Some(Remark::Behind(comment)),
                };
                Ok(id)
            }
            _ => self.absent(),
        }
    }

    /// The comment itself, or the one that was left for what comes now.
    fn with_pending(&mut self, comment: &'s str) -> &'s str {
        let pending = std::mem::take(&mut self.pending);
        if comment.is_empty() { pending } else { comment }
    }

    /// The value that is not written behind the last token.
    fn absent(&mut self) -> Result<SyntaxId, YamlError> {
        self.leaf(Cow::Borrowed(""), Style::Plain, Properties::default(), self.last)
    }

    fn alias(&mut self, name: &'s str) -> Result<SyntaxId, YamlError> {
        let mark = self.take()?.mark;
        // The comments of an alias go with it when it is expanded.
        self.pending = "";
        let Some(anchor) = self.anchors.get(name) else {
            return Err(mark.error(format!("the anchor `{name}` is not known")));
        };
        let Some(size) = anchor.size else {
            return Err(mark.error("the alias stands for a collection that contains it"));
        };
        let (target, height) = (anchor.node, anchor.height);
        let id = self.push(new_node(Form::Alias(target, name), None, mark), mark)?;
        self.expanded = self.expanded.saturating_add(size - 1);
        if self.expanded > MAX_EXPANDED_NODES {
            let message = format!("the aliases expand to more than {MAX_EXPANDED_NODES} nodes");
            return Err(mark.error(message));
        }
        if self.depth + height > MAX_DEPTH {
            return Err(mark.error(TOO_DEEP));
        }
        self.deepest = self.deepest.max(self.depth + height);
        Ok(id)
    }

    fn collection(
        &mut self,
        form: Form<'s>,
        layout: Layout,
        properties: Properties<'s>,
        mark: Mark,
    ) -> Result<SyntaxId, YamlError> {
        let is_map = matches!(form, Form::Map);
        let mut node = new_node(form, properties.tag, mark);
        node.is_flow = layout == Layout::Flow;
        let before = (self.expanded, self.deepest);
        self.deepest = self.depth;
        let id = self.open(node, mark)?;
        if let Some(name) = properties.anchor {
            self.anchors.insert(name, Anchor { node: id, size: None, height: 0 });
        }
        if layout != Layout::Indentless {
            self.take()?;
        }
        let first = self.scratch.len();
        match (is_map, layout) {
            (true, Layout::Flow) => self.flow_entries()?,
            (true, _) => self.block_entries()?,
            (false, Layout::Flow) => self.flow_items()?,
            (false, _) => self.block_items(layout)?,
        }
        self.close(id, first);
        let comment = self.with_pending(if layout == Layout::Flow { self.comment } else { "" });
        if !comment.is_empty() {
            self.syntax.nodes[id.0 as usize].comment = Some(Remark::Closing(comment));
        }
        let own = |anchor: &&mut Anchor| anchor.node == id;
        let anchor = properties.anchor.and_then(|name| self.anchors.get_mut(name));
        if let Some(anchor) = anchor.filter(own) {
            anchor.size = Some(self.expanded - before.0);
            anchor.height = self.deepest - self.depth;
        }
        self.deepest = self.deepest.max(before.1);
        Ok(id)
    }

    fn open(&mut self, node: SyntaxNode<'s>, mark: Mark) -> Result<SyntaxId, YamlError> {
        if self.depth >= MAX_DEPTH {
            return Err(mark.error(TOO_DEEP));
        }
        let id = self.push(node, mark)?;
        self.depth += 1;
        Ok(id)
    }

    fn close(&mut self, id: SyntaxId, first: usize) {
        self.depth -= 1;
        let position = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let from = position(self.syntax.children.len());
        self.syntax.children.extend(self.scratch.drain(first..));
        let to = position(self.syntax.children.len());
        self.syntax.nodes[id.0 as usize].children = (from, to);
    }

    fn add(&mut self, child: SyntaxId) {
        self.scratch.push(child);
    }

    fn block_items(&mut self, layout: Layout) -> Result<(), YamlError> {
        use TokenKind::{BlockEnd, BlockEntry, Key, Value};
        let mut is_below_comment = self.scanner.peek()?.comment_above.is_some();
        while self.take_if(&BlockEntry)? {
            let dash = self.last;
            let is_absent = match self.scanner.peek()?.kind {
                BlockEntry | BlockEnd => true,
                Key | Value => layout == Layout::Indentless,
                _ => false,
            };
            let item = if is_absent { self.absent()? } else { self.node(true, false)? };
            let next = self.scanner.peek()?;
            let is_above_comment = next.comment_above.is_some();
            // go-yaml keeps such a comment with the element above it, where an empty line or the end of the list follows.
            let is_own = |comment: CommentAbove| {
                comment.mark.line == self.last.line + 1
                    && comment.mark.column >= dash.column
                    && match next.kind {
                        BlockEntry => comment.is_apart,
                        _ => comment.mark.column > next.mark.column,
                    }
            };
            let has_own_below = next.comment_above.is_some_and(is_own);
            let node = &mut self.syntax.nodes[item.0 as usize];
            if has_own_below && node.is_flow {
                node.comment = Some(Remark::Below);
            }
            if (is_below_comment || is_above_comment) && matches!(node.form, Form::Scalar(..)) {
                node.comment = Some(Remark::Around);
            }
            is_below_comment = is_above_comment;
            self.add(item);
        }
        if layout == Layout::Indentless || self.take_if(&BlockEnd)? {
            return Ok(());
        }
        Err(self.scanner.peek()?.mark.error("an entry `- …` of the list is expected here"))
    }

    fn block_entries(&mut self) -> Result<(), YamlError> {
        while self.take_if(&TokenKind::Key)? {
            let key = self.block_part()?;
            self.add(key);
            let has_value = self.take_if(&TokenKind::Value)?;
            // A comment behind a key is the key's, though its value is on the next line, or nowhere.
            let is_behind_key = has_value && !self.comment.is_empty();
            let of_key = &mut self.syntax.nodes[key.0 as usize].comment;
            let is_commented =
                is_behind_key || of_key.take_if(|it| matches!(it, Remark::Behind(_))).is_some();
            let value = if has_value { self.block_part()? } else { self.absent()? };
            let node = &mut self.syntax.nodes[value.0 as usize];
            node.is_commented |= is_commented;
            self.add(value);
        }
        if self.take_if(&TokenKind::BlockEnd)? {
            return Ok(());
        }
        Err(self.scanner.peek()?.mark.error("a key of the object is expected here"))
    }

    /// A key or a value of a mapping in block style.
    fn block_part(&mut self) -> Result<SyntaxId, YamlError> {
        match self.scanner.peek()?.kind {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => self.absent(),
            _ => self.node(true, true),
        }
    }

    fn flow_items(&mut self) -> Result<(), YamlError> {
        use TokenKind::{FlowEntry, FlowSeqEnd, Key};
        let mut is_first = true;
        loop {
            if self.take_if(&FlowSeqEnd)? {
                return Ok(());
            }
            if !is_first && !self.take_if(&FlowEntry)? {
                return Err(self.scanner.peek()?.mark.error("`,` or `]` is expected here"));
            }
            is_first = false;
            if self.scanner.peek()?.kind == Key {
                let item = self.pair_in_list()?;
                self.add(item);
            } else if self.scanner.peek()?.kind != FlowSeqEnd {
                let item = self.node(false, false)?;
                self.add(item);
            }
        }
    }

    /// `[key: value]`: a mapping of one entry without braces.
    fn pair_in_list(&mut self) -> Result<SyntaxId, YamlError> {
        use TokenKind::{FlowEntry, FlowSeqEnd, Value};
        let mark = self.take()?.mark;
        let mut node = new_node(Form::Map, None, mark);
        node.is_flow = true;
        let id = self.open(node, mark)?;
        let first = self.scratch.len();
        let key = match self.scanner.peek()?.kind {
            // go-yaml takes the token that stands in place of the key.
            Value | FlowEntry | FlowSeqEnd => {
                self.take()?;
                self.absent()?
            }
            _ => self.node(false, false)?,
        };
        self.add(key);
        let has_value =
            self.take_if(&Value)? && !matches!(self.scanner.peek()?.kind, FlowEntry | FlowSeqEnd);
        let value = if has_value { self.node(false, false)? } else { self.absent()? };
        self.add(value);
        self.close(id, first);
        Ok(id)
    }

    fn flow_entries(&mut self) -> Result<(), YamlError> {
        use TokenKind::{FlowEntry, FlowMapEnd, Key, Value};
        let mut is_first = true;
        loop {
            if self.take_if(&FlowMapEnd)? {
                return Ok(());
            }
            if !is_first && !self.take_if(&FlowEntry)? {
                return Err(self.scanner.peek()?.mark.error("`,` or `}` is expected here"));
            }
            is_first = false;
            let has_key = self.take_if(&Key)?;
            match self.scanner.peek()?.kind {
                FlowMapEnd if !has_key => continue,
                Value | FlowEntry | FlowMapEnd if has_key => {
                    let key = self.absent()?;
                    self.add(key);
                }
                _ => {
                    let key = self.node(false, false)?;
                    self.add(key);
                }
            }
            let has_value = has_key
                && self.take_if(&Value)?
                && !matches!(self.scanner.peek()?.kind, FlowEntry | FlowMapEnd);
            let value = if has_value { self.node(false, false)? } else { self.absent()? };
            self.add(value);
        }
    }
}

fn new_node<'s>(form: Form<'s>, tag: Option<Box<str>>, mark: Mark) -> SyntaxNode<'s> {
    SyntaxNode {
        form,
        is_flow: false,
        is_commented: false,
        comment: None,
        tag,
        line: mark.line + 1,
        column: u32::try_from(mark.column + 1).unwrap_or(u32::MAX),
        children: (0, 0),
    }
}
