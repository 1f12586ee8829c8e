//! The only user of granit-parser: its events become a [`Tree`].
//!
//! What granit reports and a tree must not: an absent value as the scalar `~`, a block scalar without its header and
//! with the blanks up to the next token, a block sequence from behind its first dash, the end of a block collection
//! at the next token. All of that is put right here, from the text.

use std::ops::Range;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, Span, StructureStyle, Tag};

use super::tree::{
    Anchor, Kind, MAX_DEPTH, MAX_EXPANDED_NODES, MAX_NODES, MAX_TEXT_BYTES, NONE, Node, NodeId,
    Style, Tree, YamlError,
};

const TOO_DEEP: &str = "collections are nested more than 1000 deep, aliases expanded";

/// A collection that is being read.
struct Frame {
    node: NodeId,
    /// Where its children begin on the scratch stack.
    first: usize,
    /// Nodes in it so far, aliases expanded.
    expanded: u64,
    /// Levels of nesting below it so far, aliases expanded.
    height: usize,
}

struct Builder<'s> {
    tree: Tree<'s>,
    frames: Vec<Frame>,
    /// Children of the open collections; each closed one moves its own to `tree.children`.
    scratch: Vec<NodeId>,
    /// granit's anchor numbers to ours.
    anchor_ids: Vec<(usize, u32)>,
    /// Expanded size and height of each anchored node, in the order of `tree.anchors`.
    anchored: Vec<(u64, usize)>,
    /// End of the last token.
    last: usize,
    /// Nodes of the current document, aliases expanded.
    expanded: u64,
}

pub(super) fn parse(text: &str) -> Result<Tree<'_>, YamlError> {
    if text.len() > MAX_TEXT_BYTES {
        let message =
            format!("the text has {} bytes, more than the limit of {MAX_TEXT_BYTES}", text.len());
        return Err(YamlError { message, line: 1, column: 1 });
    }
    let options = granit_parser::options! {
        emit_anchor_events: true,
        block_scalar_eof_without_line_feed: true,
        max_buffered_comment_events: 100_000,
        block_nesting_limit: MAX_DEPTH,
        flow_nesting_limit: MAX_DEPTH,
    };
    let mut builder = Builder::new(text);
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|e| scan_error(&e))?;
        builder.take(event, &span)?;
    }
    Ok(builder.finish())
}

fn scan_error(error: &granit_parser::ScanError) -> YamlError {
    let mark = error.marker();
    let message = match error.kind() {
        ErrorKind::RecursionLimitExceeded => TOO_DEEP.to_owned(),
        _ => error.info().replace('\n', " "),
    };
    YamlError { message, line: mark.line() as u32, column: column(mark) }
}

/// granit counts columns from 0, and a byte-order mark not at all.
fn column(mark: &granit_parser::Marker) -> u32 {
    mark.col() as u32 + 1
}

impl<'s> Builder<'s> {
    fn new(text: &'s str) -> Self {
        let tree = Tree {
            text,
            nodes: Vec::with_capacity(text.len() / 16),
            children: Vec::with_capacity(text.len() / 16),
            roots: Vec::new(),
            comments: Vec::new(),
            anchors: Vec::new(),
            expanded: 0,
        };
        Builder {
            tree,
            frames: Vec::new(),
            scratch: Vec::new(),
            anchor_ids: Vec::new(),
            anchored: Vec::new(),
            last: 0,
            expanded: 0,
        }
    }

    fn finish(mut self) -> Tree<'s> {
        self.tree.comments.sort_unstable_by_key(|c| c.start);
        self.tree
    }

    fn take(&mut self, event: Event<'s>, span: &Span) -> Result<(), YamlError> {
        let bytes = span.byte_range().unwrap_or_default();
        match event {
            Event::Comment(..) => self.tree.comments.push(bytes),
            Event::DocumentStart(..) => {
                self.last = bytes.end;
                self.expanded = 0;
            }
            Event::DocumentEnd => {
                self.last = bytes.end.max(self.last);
                self.tree.expanded += self.expanded;
            }
            Event::Scalar(value, style, _, tag) => {
                self.scalar(value, style, tag.as_deref(), span)?
            }
            Event::SequenceStart(style, _, tag) => {
                self.open(Kind::Seq { flow: style == StructureStyle::Flow }, tag.as_deref(), span)?;
            }
            Event::MappingStart(style, _, tag) => {
                self.open(Kind::Map { flow: style == StructureStyle::Flow }, tag.as_deref(), span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(&bytes),
            Event::Anchor(id, _) => self.anchor(id, bytes),
            Event::Alias(id) => self.alias(id, span)?,
            // Stream ends, and unresolved aliases, which are an error without their option.
            _ => {}
        }
        Ok(())
    }

    fn scalar(
        &mut self,
        value: std::borrow::Cow<'s, str>,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: &Span,
    ) -> Result<(), YamlError> {
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::SingleQuoted,
            ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
        };
        let bytes = span.byte_range().unwrap_or_default();
        let value = if style == Style::Plain && bytes.is_empty() { "".into() } else { value };
        let bytes = if style.is_block() { self.block_scalar(&bytes, &value, style) } else { bytes };
        let end = bytes.end;
        let id = self.push(Kind::Scalar { value, style }, tag, bytes, span)?;
        self.last = end.max(self.last);
        self.add_child(id, 1, 0)
    }

    /// Where the text that belongs to no token yet begins: the end of the last token or the start of the innermost
    /// block collection, so that no text is searched once per level of nesting.
    fn scan_from(&self) -> usize {
        let start = self.frames.last().map_or(0, |f| self.tree.node(f.node).start as usize);
        self.last.max(start)
    }

    /// The range of a block scalar from its header on, given granit's range of its body.
    fn block_scalar(&self, body: &Range<usize>, value: &str, style: Style) -> Range<usize> {
        let start = header_start(self.tree.text, self.scan_from(), body.start);
        start..block_scalar_end(self.tree.text, start, body, value, style)
    }

    fn open(&mut self, kind: Kind<'s>, tag: Option<&Tag>, span: &Span) -> Result<(), YamlError> {
        if self.frames.len() >= MAX_DEPTH {
            return Err(YamlError {
                message: TOO_DEEP.to_owned(),
                line: span.start.line() as u32,
                column: column(&span.start),
            });
        }
        let mut bytes = span.byte_range().unwrap_or_default();
        let in_mapping = self
            .frames
            .last()
            .is_some_and(|f| matches!(self.tree.node(f.node).kind, Kind::Map { .. }));
        if in_mapping && kind == (Kind::Seq { flow: false }) {
            bytes.start = dash_before(self.tree.text, self.scan_from(), bytes.start);
        }
        let flow_end = matches!(kind, Kind::Seq { flow: true } | Kind::Map { flow: true })
            .then_some(bytes.end);
        let node = self.push(kind, tag, bytes, span)?;
        self.last = flow_end.unwrap_or(self.last);
        self.frames.push(Frame { node, first: self.scratch.len(), expanded: 0, height: 0 });
        Ok(())
    }

    fn close(&mut self, bytes: &Range<usize>) {
        let Some(frame) = self.frames.pop() else { return };
        let from = self.tree.children.len() as u32;
        self.tree.children.extend(self.scratch.drain(frame.first..));
        let to = self.tree.children.len() as u32;
        let node = &mut self.tree.nodes[frame.node.index()];
        node.children = (from, to);
        if node.is_flow() {
            self.last = bytes.end.max(self.last);
        }
        node.end = (self.last as u32).max(node.start);
        let anchor = node.anchor;
        let size = frame.expanded + 1;
        let height = frame.height + 1;
        if anchor != NONE {
            self.anchored[anchor as usize] = (size, height);
        }
        self.attach(frame.node, size, height);
    }

    fn push(
        &mut self,
        kind: Kind<'s>,
        tag: Option<&Tag>,
        bytes: Range<usize>,
        span: &Span,
    ) -> Result<NodeId, YamlError> {
        let line = span.start.line() as u32;
        if self.tree.nodes.len() >= MAX_NODES {
            let message = format!("the text has more than {MAX_NODES} nodes");
            return Err(YamlError { message, line, column: column(&span.start) });
        }
        let id = NodeId(self.tree.nodes.len() as u32);
        let moved = span.byte_range().unwrap_or_default().start;
        let (line, column) = if bytes.start < moved {
            (
                line - line_breaks(&self.tree.text[bytes.start..moved]),
                column_in(self.tree.text, bytes.start),
            )
        } else {
            (line, column(&span.start))
        };
        let tag_start = span
            .tag_span()
            .and_then(|t| t.byte_range())
            .map_or(bytes.start, |t| t.start.min(bytes.start));
        self.tree.nodes.push(Node {
            kind,
            start: bytes.start as u32,
            end: bytes.end as u32,
            props: tag_start as u32,
            before: self.last.min(tag_start) as u32,
            children: (0, 0),
            parent: self.frames.last().map_or(NONE, |f| f.node.0),
            anchor: NONE,
            tag: tag.map(short_tag),
            line,
            column,
        });
        Ok(id)
    }

    /// Gives a finished node to its collection, or makes it a root.
    fn attach(&mut self, id: NodeId, size: u64, height: usize) {
        self.expanded = self.expanded.saturating_add(1);
        match self.frames.last_mut() {
            Some(frame) => {
                frame.expanded = frame.expanded.saturating_add(size);
                frame.height = frame.height.max(height);
                self.scratch.push(id);
            }
            None => self.tree.roots.push(id),
        }
    }

    /// Gives a scalar or an alias to its collection, within the limits of what aliases may expand to.
    fn add_child(&mut self, id: NodeId, size: u64, height: usize) -> Result<(), YamlError> {
        if self.frames.len() + height > MAX_DEPTH {
            return Err(self.error_at(id, TOO_DEEP.to_owned()));
        }
        self.attach(id, size, height);
        self.expanded = self.expanded.saturating_add(size - 1);
        if self.expanded > MAX_EXPANDED_NODES {
            let message = format!("the aliases expand to more than {MAX_EXPANDED_NODES} nodes");
            return Err(self.error_at(id, message));
        }
        Ok(())
    }

    fn anchor(&mut self, granit_id: usize, span: Range<usize>) {
        let id = NodeId(self.tree.nodes.len().saturating_sub(1) as u32);
        let Some(node) = self.tree.nodes.last_mut() else { return };
        node.props = node.props.min(span.start as u32);
        node.before = node.before.min(node.props);
        node.anchor = self.tree.anchors.len() as u32;
        // An absent value stands where its last property ends.
        if node.is_absent() && (node.start as usize) < span.end {
            node.start = span.end as u32;
            node.end = node.start;
        }
        self.last = self.last.max(span.end);
        self.anchor_ids.push((granit_id, node.anchor));
        self.anchored.push((1, 0));
        self.tree.anchors.push(Anchor { node: id, span, uses: 0 });
    }

    fn alias(&mut self, granit_id: usize, span: &Span) -> Result<(), YamlError> {
        let found = self.anchor_ids.binary_search_by_key(&granit_id, |(id, _)| *id);
        let anchor = found.ok().map(|i| self.anchor_ids[i].1 as usize);
        let target = anchor.and_then(|a| self.tree.anchors.get(a)).map(|a| a.node);
        let (Some(anchor), Some(target)) = (anchor, target) else {
            let message = "the alias stands for no earlier anchor".to_owned();
            let column = column(&span.start);
            return Err(YamlError { message, line: span.start.line() as u32, column });
        };
        let bytes = span.byte_range().unwrap_or_default();
        let end = bytes.end;
        let id = self.push(Kind::Alias { target }, None, bytes, span)?;
        if self.frames.iter().any(|f| f.node == target) {
            return Err(
                self.error_at(id, "the alias stands for a collection that contains it".to_owned())
            );
        }
        self.tree.anchors[anchor].uses += 1;
        self.last = end;
        let (size, height) = self.anchored[anchor];
        self.add_child(id, size, height)
    }

    fn error_at(&self, id: NodeId, message: String) -> YamlError {
        let node = self.tree.node(id);
        YamlError { message, line: node.line, column: node.column }
    }
}

fn short_tag(tag: &Tag) -> Box<str> {
    match tag.suffix_in_namespace("tag:yaml.org,2002:") {
        Some(name) => format!("!!{name}").into(),
        None => format!("{}{}", tag.handle(), tag.suffix()).into(),
    }
}

/// Where the header of a block scalar (`|`, `>`) stands, searched forward from the end of the last token.
fn header_start(text: &str, from: usize, to: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    let mut at_token_start = true;
    while at < to {
        match bytes[at] {
            b'|' | b'>' if at_token_start => return at,
            b'#' | b'!' | b'&' if at_token_start => {
                let comment = bytes[at] == b'#';
                let ends =
                    |b: &u8| matches!(b, b'\n' | b'\r') || (!comment && matches!(b, b' ' | b'\t'));
                at += bytes[at..to].iter().position(ends).unwrap_or(to - at);
            }
            b' ' | b'\t' | b'\n' | b'\r' => {
                at_token_start = true;
                at += 1;
            }
            b':' | b'-' | b'?' => {
                at_token_start = true;
                at += 1;
            }
            _ => {
                at_token_start = false;
                at += 1;
            }
        }
    }
    to
}

/// The end of a block scalar: for `+` behind its last line break, else the end of the last line that is content.
fn block_scalar_end(
    text: &str,
    header: usize,
    body: &Range<usize>,
    value: &str,
    style: Style,
) -> usize {
    let header_end = line_end(text, header);
    let keeps = text[header..header_end]
        .bytes()
        .take_while(|b| !matches!(b, b' ' | b'\t'))
        .any(|b| b == b'+');
    let content = &text[header_end..body.end.max(header_end)];
    if keeps {
        let kept = content.rfind(['\n', '\r']).map(|n| header_end + n + 1);
        let is_open =
            body.end == text.len() && !text.ends_with(['\n', '\r']) && !value.ends_with('\n');
        return if is_open {
            text.len()
        } else {
            kept.filter(|n| *n > next_line(text, header_end)).unwrap_or(header_end)
        };
    }
    let lines = value.trim_end_matches('\n');
    if lines.is_empty() {
        // The characters of the header alone: `|2-`.
        return text[header..header_end].find([' ', '\t']).map_or(header_end, |n| header + n);
    }
    if style == Style::Literal {
        let last = lines.matches('\n').count();
        return (0..=last).fold(header_end, |at, _| line_end(text, next_line(text, at)));
    }
    line_end(text, header_end + content.trim_end_matches([' ', '\t', '\n', '\r']).len())
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find(['\n', '\r']).map_or(text.len(), |n| at + n)
}

/// The start of the line behind the line break at `at`.
fn next_line(text: &str, at: usize) -> usize {
    at + if text[at..].starts_with("\r\n") { 2 } else { usize::from(at < text.len()) }
}

/// The first dash of a block sequence that is a mapping's value; granit starts an unindented one behind that dash.
fn dash_before(text: &str, from: usize, to: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < to {
        match bytes[at] {
            b'#' => {
                at +=
                    bytes[at..to].iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(to - at)
            }
            b'-' if is_dash(bytes, at) => return at,
            _ => at += 1,
        }
    }
    to
}

/// Whether a dash stands at `at` with blanks or line breaks on both sides.
fn is_dash(bytes: &[u8], at: usize) -> bool {
    let blank = |b: Option<&u8>| matches!(b, None | Some(b' ' | b'\t' | b'\n' | b'\r'));
    bytes.get(at) == Some(&b'-')
        && blank(bytes.get(at + 1))
        && (at == 0 || blank(bytes.get(at - 1)))
}

fn line_breaks(text: &str) -> u32 {
    let bytes = text.as_bytes();
    let lone_cr = |i: &usize| bytes[*i] == b'\r' && bytes.get(i + 1) != Some(&b'\n');
    let breaks = (0..bytes.len()).filter(|i| bytes[*i] == b'\n' || lone_cr(i)).count();
    breaks as u32
}

/// The column, from 1, of a byte offset.
fn column_in(text: &str, at: usize) -> u32 {
    let line = text[..at].rfind(['\n', '\r']).map_or(0, |n| n + 1);
    let bom = usize::from(line == 0 && text.starts_with('\u{feff}'));
    (text[line..at].chars().count() + 1).saturating_sub(bom) as u32
}
