//! Edits of YAML that is itself the text of a scalar (`patch: |-`), carried over to the text around it.

use std::ops::Range;

use super::super::data::{Change, Data};
use super::super::layout::{Layout, header};
use super::super::refusal::Reason;
use super::super::scalar::{encode, literal_block};
use super::super::tree::{NodeId, Style};
use super::set::body_indent;
use super::{Planned, Splice, check_replaceable, is_in_flow, place};
use crate::edit::{TextEdit, apply_edits};

/// Carries `edits` of the decoded text of the scalar `id` over to the document.
///
/// In a literal block each edit is mapped line by line, so that no other line changes. A folded block becomes a
/// literal one; a quoted text is written anew in its quotes.
pub(in super::super) fn inline(layout: &Layout<'_, '_>, id: NodeId, edits: &[TextEdit]) -> Planned {
    let tree = layout.tree;
    check_replaceable(tree, id)?;
    let node = tree.node(id);
    let (Some(old), Some(style)) = (node.scalar(), node.style()) else {
        return Err((
            id,
            Reason::WrongKind {
                path: "the value".to_owned(),
                wanted: "a text",
                found: "a collection",
            },
        ));
    };
    let new = apply_edits(old, edits).map_err(|e| (id, Reason::Verification(e.to_string())))?;
    let change = Change::Replace(place(tree, id)?, Data::string(new.clone()));
    let body = Body::new(layout, node.span());
    let mapped = match style {
        Style::Literal => edits.iter().map(|edit| body.map(old, edit)).collect(),
        Style::Folded => Some(rewrite(layout, &body, &node.span(), &new)),
        _ => Some(vec![TextEdit::new(node.span(), encode(&new, style, is_in_flow(tree, id)))]),
    };
    let edits =
        mapped.ok_or_else(|| (id, Reason::Verification("an edit of the whole text".to_owned())))?;
    Ok(Splice::new(edits, change))
}

/// A folded block, written anew as a literal one.
fn rewrite(
    layout: &Layout<'_, '_>,
    body: &Body<'_, '_, '_>,
    span: &Range<usize>,
    new: &str,
) -> Vec<TextEdit> {
    let head = header(layout.text, span.start);
    let block = literal_block(new, body.indent, 0, body.eol)
        .unwrap_or_else(|| encode(new, Style::DoubleQuoted, false));
    let (first, lines) = block.split_at(block.find(['\n', '\r']).unwrap_or(block.len()));
    let head_end = layout.line_end(span.start);
    let ends_with_break = span.end > head_end && layout.text[..span.end].ends_with(['\n', '\r']);
    let tail = if ends_with_break && !first.ends_with('+') { body.eol } else { "" };
    vec![
        TextEdit::new(head, first),
        TextEdit::new(head_end..span.end.max(head_end), format!("{lines}{tail}")),
    ]
}

/// The body of a literal block: which line of the document holds which line of the text.
struct Body<'l, 't, 's> {
    layout: &'l Layout<'t, 's>,
    /// Start of each line of the body.
    lines: Vec<usize>,
    /// Blanks in front of each line that are not text.
    indent: usize,
    eol: &'static str,
    /// End of the last line that is not blank, or of the last line of a `|+` block.
    end: usize,
}

impl<'l, 't, 's> Body<'l, 't, 's> {
    fn new(layout: &'l Layout<'t, 's>, span: Range<usize>) -> Self {
        let mut lines = Vec::new();
        let mut at = layout.next_line(span.start);
        while at < span.end {
            lines.push(at);
            at = layout.next_line(at);
        }
        let indent = body_indent(layout, &span);
        Body { layout, lines, indent, eol: layout.eol(span.end), end: span.end }
    }

    /// An edit of the decoded text as an edit of the document; `None` if it would leave no line of it.
    fn map(&self, old: &str, edit: &TextEdit) -> Option<TextEdit> {
        let indent = self.text_indent(old);
        let (first, first_column) = position(old, edit.range.start);
        let (last, last_column) = position(old, edit.range.end);
        let whole_lines = first_column == 0
            && last_column == 0
            && (edit.new_text.is_empty() || edit.new_text.ends_with('\n'));
        match (self.lines.get(first), self.lines.get(last)) {
            (Some(from), Some(to)) if whole_lines => {
                Some(TextEdit::new(*from..*to, self.indented(&edit.new_text, indent)))
            }
            (Some(from), Some(to)) => {
                let range =
                    self.byte(*from, first_column, indent)..self.byte(*to, last_column, indent);
                Some(TextEdit::new(range, self.continued(&edit.new_text, indent)))
            }
            _ if whole_lines => self.map_at_end(first, &edit.new_text, indent),
            _ => None,
        }
    }

    /// Whole lines from line `first` to the end of the text.
    fn map_at_end(&self, first: usize, new_text: &str, indent: usize) -> Option<TextEdit> {
        let from = match self.lines.get(first) {
            Some(start) => self.layout.line_end(self.layout.previous_line(*start)?),
            None => self.layout.line_end(*self.lines.last()?),
        };
        let lines = self.indented(new_text, indent);
        let text = lines.strip_suffix(self.eol).unwrap_or(&lines);
        let lead = if text.is_empty() { "" } else { self.eol };
        let end = self.layout.text[..self.end].trim_end_matches(['\n', '\r']).len();
        Some(TextEdit::new(from..end.max(from), format!("{lead}{text}")))
    }

    /// The blanks before the text of each line: those of the first line that is not blank, less its own.
    fn text_indent(&self, old: &str) -> usize {
        let own = old.lines().find(|l| !l.trim_matches([' ', '\t']).is_empty()).unwrap_or_default();
        let own = own.bytes().take_while(|b| *b == b' ').count();
        self.indent.saturating_sub(own)
    }

    fn byte(&self, line: usize, column: usize, indent: usize) -> usize {
        (line + indent + column).min(self.layout.line_end(line))
    }

    /// Whole lines with the indentation in front of each that is not empty.
    fn indented(&self, text: &str, indent: usize) -> String {
        let blanks = " ".repeat(indent);
        let mut out = String::new();
        for line in text.split_terminator('\n') {
            if !line.is_empty() {
                out.push_str(&blanks);
                out.push_str(line);
            }
            out.push_str(self.eol);
        }
        out
    }

    /// Text that goes on from the middle of a line.
    fn continued(&self, text: &str, indent: usize) -> String {
        let blanks = " ".repeat(indent);
        let mut lines = text.split('\n');
        let mut out = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            out.push_str(self.eol);
            if !line.is_empty() {
                out.push_str(&blanks);
                out.push_str(line);
            }
        }
        out
    }
}

/// The line, from 0, and the byte in it.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line = before.matches('\n').count();
    (line, at - before.rfind('\n').map_or(0, |n| n + 1))
}
