//! Where lines begin and end, and how a document is indented: the facts that splices follow.

use std::ops::Range;

use crate::edit::TextEdit;

use super::tree::{Kind, Node, NodeId, Style, Tree};
use super::value::Value;

/// A tree seen as lines.
#[derive(Clone, Copy)]
pub(super) struct Layout<'t, 's> {
    pub(super) tree: &'t Tree<'s>,
    pub(super) text: &'s str,
}

impl<'t, 's> Layout<'t, 's> {
    pub(super) fn new(tree: &'t Tree<'s>) -> Self {
        Layout { tree, text: tree.text() }
    }

    /// The start of the line of a byte, behind a byte-order mark.
    pub(super) fn line_start(&self, at: usize) -> usize {
        let start = self.text[..at].rfind(['\n', '\r']).map_or(0, |n| n + 1);
        let bom = start == 0 && at >= 3 && self.text.starts_with('\u{feff}');
        if bom { 3 } else { start }
    }

    /// The end of the line of a byte, before its line break.
    pub(super) fn line_end(&self, at: usize) -> usize {
        self.text[at..].find(['\n', '\r']).map_or(self.text.len(), |n| at + n)
    }

    /// The start of the line after the line of a byte, or the end of the text.
    pub(super) fn next_line(&self, at: usize) -> usize {
        let end = self.line_end(at);
        let tail = &self.text[end..];
        end + if tail.starts_with("\r\n") { 2 } else { usize::from(!tail.is_empty()) }
    }

    /// The bytes between the line's start and `at`.
    pub(super) fn column(&self, at: usize) -> usize {
        at - self.line_start(at)
    }

    /// Whether only blanks stand before `at` on its line.
    pub(super) fn is_first_on_line(&self, at: usize) -> bool {
        self.text[self.line_start(at)..at].bytes().all(|b| b == b' ')
    }

    /// The line that starts at `start`, without its break.
    pub(super) fn line(&self, start: usize) -> &'s str {
        &self.text[start..self.line_end(start)]
    }

    pub(super) fn is_blank_line(&self, start: usize) -> bool {
        self.line(start).bytes().all(|b| matches!(b, b' ' | b'\t'))
    }

    /// The indentation of a line that holds a comment and nothing else.
    pub(super) fn comment_indent(&self, start: usize) -> Option<usize> {
        let line = self.line(start);
        let trimmed = line.trim_start_matches([' ', '\t']);
        trimmed.starts_with('#').then(|| line.bytes().take_while(|b| *b == b' ').count())
    }

    /// The start of the line before the one that starts at `start`.
    pub(super) fn previous_line(&self, start: usize) -> Option<usize> {
        let bom = if self.text.starts_with('\u{feff}') { 3 } else { 0 };
        if start <= bom {
            return None;
        }
        let end = start - 1 - usize::from(self.text[..start].ends_with("\r\n"));
        Some(self.line_start(end))
    }

    /// The line break in use around a byte: of the line before it, else of the first line.
    pub(super) fn eol(&self, at: usize) -> &'static str {
        let before = self.text[..at].rfind(['\n', '\r']);
        let found = before.or_else(|| self.text.find(['\n', '\r']));
        let Some(at) = found else { return "\n" };
        match (&self.text[..=at], &self.text[at..]) {
            (head, _) if head.ends_with("\r\n") => "\r\n",
            (_, tail) if tail.starts_with("\r\n") => "\r\n",
            (_, tail) if tail.starts_with('\r') => "\r",
            _ => "\n",
        }
    }

    /// The start of the line behind a block node: behind its last content line and that line's comment.
    pub(super) fn behind(&self, id: NodeId) -> usize {
        self.behind_byte(self.tree.node(id).span().end)
    }

    /// As [`Layout::behind`], for the end of a node's content.
    pub(super) fn behind_byte(&self, end: usize) -> usize {
        let is_line_start = end > 0 && self.text[..end].ends_with(['\n', '\r']);
        if is_line_start { end } else { self.next_line(end) }
    }

    /// Moves a line start behind the comment lines that follow and are indented deeper than `column`; blank lines
    /// between them are passed, blank lines after them not. `None` stands for the left edge of the document.
    pub(super) fn behind_deeper_comments(&self, from: usize, column: Option<usize>) -> usize {
        let mut end = from;
        let mut at = from;
        while at < self.text.len() {
            match self.comment_indent(at) {
                Some(indent) if column.is_none_or(|c| indent > c) => {
                    at = self.next_line(at);
                    end = at;
                }
                None if self.is_blank_line(at) => at = self.next_line(at),
                _ => break,
            }
        }
        end
    }

    /// The first line of the comment block that stands directly above a line, at the same column.
    pub(super) fn above_comments(&self, start: usize, column: usize, limit: usize) -> usize {
        let mut top = start;
        while let Some(line) = self.previous_line(top) {
            if line < limit || self.comment_indent(line) != Some(column) {
                break;
            }
            top = line;
        }
        top
    }

    /// The first of the blank lines directly above a line, not above `limit`.
    pub(super) fn above_blanks(&self, start: usize, limit: usize) -> usize {
        let mut top = start;
        while let Some(line) = self.previous_line(top) {
            if line < limit || !self.is_blank_line(line) {
                break;
            }
            top = line;
        }
        top
    }

    /// How many blank lines separate an entry, with its own comments, from what stands before it.
    pub(super) fn blanks_above(&self, line: usize, column: usize, limit: usize) -> usize {
        let top = self.above_comments(line, column, limit);
        let mut at = self.above_blanks(top, limit);
        let mut count = 0;
        while at < top {
            count += 1;
            at = self.next_line(at);
        }
        count
    }

    /// The block scalar whose body ends with the line before the one that starts at `at`.
    fn block_scalar_above(&self, at: usize) -> Option<&Node<'s>> {
        let last = self
            .tree
            .nodes()
            .iter()
            .rfind(|n| n.span().start < at && n.style().is_some() && !n.is_absent())?;
        let is_block = last.style().is_some_and(Style::is_block);
        (is_block && self.behind_byte(last.span().end) == at).then_some(last)
    }

    /// Whether blank lines at the line start `at` would be part of a `+` block scalar above it.
    pub(super) fn is_behind_kept_lines(&self, at: usize) -> bool {
        let above = self.block_scalar_above(at);
        above.is_some_and(|n| {
            n.span().end == at && self.text[header(self.text, n.span().start)].contains('+')
        })
    }

    /// Whether the line break before the line start `at` is part of a block scalar's value.
    pub(super) fn is_behind_value_break(&self, at: usize) -> bool {
        self.block_scalar_above(at).and_then(|n| n.scalar()).is_some_and(|s| s.ends_with('\n'))
    }

    /// Inserts lines (without line breaks), which hold `value`, before the line that starts at `at`; a text without
    /// a final line break stays without, unless the value needs one.
    pub(super) fn insert_lines(&self, at: usize, lines: &[String], value: &Value) -> Vec<TextEdit> {
        let eol = self.eol(at);
        let mut body = lines.join(eol);
        let is_open =
            at == self.text.len() && !self.text.is_empty() && !self.text.ends_with(['\n', '\r']);
        if !is_open || self.text == "\u{feff}" {
            return vec![TextEdit::insert(at, body + eol)];
        }
        if value.ends_with_line_break() {
            body.push_str(eol);
        }
        let mut edits = vec![TextEdit::insert(at, format!("{eol}{body}"))];
        edits.extend(self.strip_last_block_scalar());
        edits
    }

    /// A block scalar that ends at the end of the text has no final line break; once a line follows, only `-` says so.
    fn strip_last_block_scalar(&self) -> Option<TextEdit> {
        let last = self.tree.nodes().iter().rfind(|n| !n.is_absent())?;
        let ends_open =
            last.style().is_some_and(Style::is_block) && last.span().end == self.text.len();
        if !ends_open || last.scalar().is_none_or(|s| s.is_empty() || s.ends_with('\n')) {
            return None;
        }
        let header = header(self.text, last.span().start);
        let sign = self.text[header.clone()].find(['+', '-']).map(|n| header.start + n);
        match sign {
            Some(at) if self.text[at..].starts_with('-') => None,
            Some(at) => Some(TextEdit::new(at..at + 1, "-")),
            None => Some(TextEdit::insert(header.end, "-")),
        }
    }

    /// The column of the dashes of a block list, or of the keys of a block mapping.
    pub(super) fn block_column(&self, id: NodeId) -> usize {
        self.column(self.tree.node(id).span().start)
    }

    /// The dash of an item of a block list.
    pub(super) fn dash(&self, list: NodeId, index: usize) -> Option<usize> {
        let items = self.tree.items(list);
        let item = self.tree.node(*items.get(index)?);
        let from = match index.checked_sub(1) {
            None => return Some(self.tree.node(list).span().start),
            Some(previous) => self.tree.node(items[previous]).span().end,
        };
        let to = item.outer_start();
        let bytes = self.text.as_bytes();
        let mut at = from;
        while at < to {
            match bytes[at] {
                b'#' => at = self.line_end(at),
                b'-' => return Some(at),
                _ => at += 1,
            }
        }
        None
    }

    /// The `:` behind a key; `None` where a flow mapping leaves it out.
    pub(super) fn colon(&self, key: NodeId) -> Option<usize> {
        let end = self.tree.node(key).span().end;
        let tail = &self.text[end..];
        let blank = tail.len() - tail.trim_start_matches([' ', '\t', '\n', '\r']).len();
        tail[blank..].starts_with(':').then_some(end + blank)
    }

    /// How far most block lists of the text are indented below their keys; 0, as kustomize writes, without any.
    pub(super) fn list_indent(&self, except: Option<NodeId>) -> usize {
        let mut counts = [0usize; 9];
        for (key, value) in self.block_pairs() {
            let is_list = self.tree.node(value).kind == (Kind::Seq { flow: false });
            if is_list && Some(value) != except {
                let indent = self
                    .block_column(value)
                    .saturating_sub(self.column(self.tree.node(key).outer_start()));
                counts[indent.min(8)] += 1;
            }
        }
        most(&counts).unwrap_or(0)
    }

    /// How far most block mappings of the text are indented below their keys; 2 without any.
    pub(super) fn map_indent(&self) -> usize {
        let mut counts = [0usize; 9];
        for (key, value) in self.block_pairs() {
            if self.tree.node(value).kind == (Kind::Map { flow: false }) {
                let indent = self
                    .block_column(value)
                    .saturating_sub(self.column(self.tree.node(key).outer_start()));
                counts[indent.min(8)] += 1;
            }
        }
        counts[0] = 0;
        most(&counts).unwrap_or(2)
    }

    fn block_pairs(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        let maps =
            self.tree.ids().filter(|id| self.tree.node(*id).kind == (Kind::Map { flow: false }));
        maps.flat_map(|id| self.tree.pairs(id))
    }

    /// The first comment that lies in a range.
    pub(super) fn comment_in(&self, range: &Range<usize>) -> Option<&'s str> {
        let comments = self.tree.comments();
        let first = comments.partition_point(|c| c.start < range.start);
        let comment = comments.get(first).filter(|c| c.start < range.end)?;
        Some(&self.text[comment.clone()])
    }

    /// The comment at the end of the line of a byte.
    pub(super) fn comment_on_line(&self, at: usize) -> Option<&'s str> {
        self.comment_in(&(at..self.line_end(at).max(at)))
    }
}

/// The position of the largest count, the first of equals; `None` if all are zero.
fn most(counts: &[usize]) -> Option<usize> {
    let max = counts.iter().max().filter(|m| **m > 0)?;
    counts.iter().position(|c| c == max)
}

/// The characters of a block scalar's header: `|`, `>2-`; none where the parser was led to another place, as a lone
/// carriage return behind the indicator can, so that the check of the edit refuses what is made of it.
pub(super) fn header(text: &str, start: usize) -> Range<usize> {
    let tail = &text[start..];
    if !tail.starts_with(['|', '>']) {
        return start..start;
    }
    let more = tail[1..].bytes().take_while(|b| matches!(b, b'+' | b'-' | b'0'..=b'9')).count();
    start..start + 1 + more
}
