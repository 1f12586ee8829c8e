//! A new text for a single value, and for a key.

use std::ops::Range;

use super::super::data::{Change, Data};
use super::super::layout::{Layout, header};
use super::super::path::kind_name;
use super::super::refusal::Reason;
use super::super::scalar::{encode, literal_block};
use super::super::tree::{NodeId, Style};
use super::super::value::Value;
use super::{Planned, Splice, check_replaceable, is_in_flow, place};
use crate::edit::TextEdit;

/// Replaces the single (or absent) value `id`; its quotes stay where they can.
pub(in super::super) fn set(layout: &Layout<'_, '_>, id: NodeId, value: &Value) -> Planned {
    let tree = layout.tree;
    check_replaceable(tree, id)?;
    let node = tree.node(id);
    let (Some(style), Some((text, is_string))) = (node.style(), value.single()) else {
        let path = "the value".to_owned();
        return Err((
            id,
            Reason::WrongKind { path, wanted: "a single value", found: kind_name(tree, id) },
        ));
    };
    if Data::read(tree, id) == Data::of(value) && !matches!(value, Value::Styled(..)) {
        return Ok(Splice::default());
    }
    let wanted = match value {
        Value::Styled(_, style) => *style,
        _ if is_string => style,
        _ => Style::Plain,
    };
    let change = Change::Replace(place(tree, id)?, Data::of(value));
    let edits = if node.is_absent() {
        vec![fill(layout, id, &text, wanted, is_string)?]
    } else if style.is_block() {
        replace_block(layout, node.span(), &text, wanted, is_string)
    } else {
        let new = one_line(&text, wanted, is_string, is_in_flow(tree, id));
        vec![TextEdit::new(node.span(), new)]
    };
    Ok(Splice::new(edits, change))
}

fn one_line(text: &str, style: Style, is_string: bool, in_flow: bool) -> String {
    if is_string { encode(text, style, in_flow) } else { text.to_owned() }
}

/// Writes a value where none is: behind the `:` of its key or the dash of its item.
fn fill(
    layout: &Layout<'_, '_>,
    id: NodeId,
    text: &str,
    style: Style,
    is_string: bool,
) -> Result<TextEdit, (NodeId, Reason)> {
    let tree = layout.tree;
    let new = one_line(text, style, is_string, is_in_flow(tree, id));
    let (at, colon) =
        gap(layout, id).ok_or((id, Reason::NotFound("place for the value".to_owned())))?;
    Ok(TextEdit::insert(at, format!("{colon} {new}")))
}

/// Where an absent value would begin, and the `:` to write first if there is none.
pub(super) fn gap(layout: &Layout<'_, '_>, id: NodeId) -> Option<(usize, &'static str)> {
    let tree = layout.tree;
    let node = tree.node(id);
    let parent = node.parent()?;
    if node.anchor().is_some() || node.tag.is_some() {
        return Some((node.span().end, ""));
    }
    let Some((key, _)) = tree.pairs(parent).find(|(_, value)| *value == id) else {
        // Flow lists have no absent items; a block item comes right behind its dash.
        let index = tree.items(parent).iter().position(|item| *item == id)?;
        return layout.dash(parent, index).map(|dash| (dash + 1, ""));
    };
    match layout.colon(key) {
        Some(colon) => Some((colon + 1, "")),
        None => Some((tree.node(key).span().end, ":")),
    }
}

/// Replaces a block scalar: literal by literal where the text has lines, else its header by a one-line scalar and
/// its body by nothing. A comment behind the header stays.
fn replace_block(
    layout: &Layout<'_, '_>,
    span: Range<usize>,
    text: &str,
    wanted: Style,
    is_string: bool,
) -> Vec<TextEdit> {
    let head = header(layout.text, span.start);
    let head_line_end = layout.line_end(span.start).min(span.end);
    let ends_with_break =
        span.end > head_line_end && layout.text[..span.end].ends_with(['\n', '\r']);
    let tail = if ends_with_break { layout.eol(span.end) } else { "" };
    let body = head_line_end..span.end;
    let keeps_lines = is_string && wanted.is_block() && text.contains('\n');
    let block = keeps_lines
        .then(|| literal_block(text, body_indent(layout, &span), 0, layout.eol(span.end)))
        .flatten();
    if let Some(block) = block {
        let header_len = block.find(['\n', '\r']).unwrap_or(block.len());
        let (new_head, new_body) = block.split_at(header_len);
        let new_body =
            if new_head.ends_with('+') { new_body.to_owned() } else { format!("{new_body}{tail}") };
        return vec![TextEdit::new(head, new_head), TextEdit::new(body, new_body)];
    }
    let style = if wanted.is_block() { Style::Plain } else { wanted };
    vec![TextEdit::new(head, one_line(text, style, is_string, false)), TextEdit::new(body, tail)]
}

/// The indentation of the first line of a block scalar's body that is not blank.
pub(super) fn body_indent(layout: &Layout<'_, '_>, span: &Range<usize>) -> usize {
    let mut at = layout.next_line(span.start);
    while at < span.end && layout.is_blank_line(at) {
        at = layout.next_line(at);
    }
    if at < span.end {
        return layout.line(at).bytes().take_while(|b| *b == b' ').count();
    }
    let line = layout.line_start(span.start);
    layout.line(line).bytes().take_while(|b| *b == b' ').count() + 2
}

/// Gives the key `key` of the pair with `value` another name; its quotes stay.
pub(in super::super) fn rename(
    layout: &Layout<'_, '_>,
    key: NodeId,
    value: NodeId,
    name: &str,
) -> Planned {
    let tree = layout.tree;
    check_replaceable(tree, key)?;
    let node = tree.node(key);
    let style = node.style().filter(|s| !s.is_block()).ok_or((key, Reason::ExplicitKey))?;
    let mut at = place(tree, value)?;
    let index = at.pop().unwrap_or_default();
    let in_flow = is_in_flow(tree, key);
    let edit = TextEdit::new(node.span(), encode(name, style, in_flow));
    Ok(Splice::new(vec![edit], Change::Rename(at, index, Data::string(name))))
}
