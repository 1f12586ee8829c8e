//! Entries and keys that go.

use std::ops::Range;

use super::super::data::{Change, position};
use super::super::layout::Layout;
use super::super::path::{check_anchor, is_explicit};
use super::super::refusal::Reason;
use super::super::tree::{Kind, NodeId, Tree};
use super::insert::pair_end;
use super::{Planned, Splice, check_comments, place};
use crate::edit::TextEdit;

/// Removes the item or the pair with the value `id`, with the comment lines that belong to it.
///
/// The last item of a list takes the list's own key or item with it; the last key of a mapping is refused.
pub(in super::super) fn remove(layout: &Layout<'_, '_>, id: NodeId) -> Planned {
    let tree = layout.tree;
    let Some(parent) = tree.node(id).parent() else {
        return Err((id, Reason::LastKey("the document".to_owned())));
    };
    check_anchors_inside(tree, id)?;
    let index = position(tree, parent, id).ok_or((id, Reason::ExplicitKey))?;
    let is_list = matches!(tree.node(parent).kind, Kind::Seq { .. });
    let count = if is_list { tree.items(parent).len() } else { tree.pairs(parent).len() };
    if count == 1 && is_list {
        check_anchor(tree, parent)?;
        return remove(layout, parent);
    }
    let key = tree.pairs(parent).nth(index).map(|(k, _)| k);
    if let Some(key) = key {
        check_key(tree, key, count)?;
    }
    let edits = match (tree.node(parent).is_flow(), key) {
        (true, _) => vec![flow_entry(layout, parent, index, id)?],
        (false, Some(key)) => vec![block_key(layout, parent, index, key, id)?],
        (false, None) => vec![block_item(layout, parent, index)?],
    };
    let change = Change::Remove(place(tree, parent)?, index);
    Ok(Splice { drops_comments: true, ..Splice::new(edits, change) })
}

fn check_key(tree: &Tree<'_>, key: NodeId, count: usize) -> Result<(), (NodeId, Reason)> {
    if is_explicit(tree, key) {
        return Err((key, Reason::ExplicitKey));
    }
    if count == 1 {
        return Err((key, Reason::LastKey(tree.source(key).to_owned())));
    }
    check_anchor(tree, key)
}

/// Refuses if an anchor in what is removed is used anywhere.
fn check_anchors_inside(tree: &Tree<'_>, id: NodeId) -> Result<(), (NodeId, Reason)> {
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        check_anchor(tree, id)?;
        open.extend_from_slice(tree.children(id));
    }
    Ok(())
}

fn block_item(
    layout: &Layout<'_, '_>,
    list: NodeId,
    index: usize,
) -> Result<TextEdit, (NodeId, Reason)> {
    let tree = layout.tree;
    let item = tree.items(list)[index];
    let dash = layout.dash(list, index).ok_or((item, Reason::NestedSequence))?;
    if !layout.is_first_on_line(dash) {
        return Err((item, Reason::NestedSequence));
    }
    let above = index.checked_sub(1).map(|i| layout.behind(tree.items(list)[i]));
    let end = tree.node(item).span().end.max(dash + 1);
    Ok(TextEdit::new(whole_lines(layout, dash, end, above, true), ""))
}

fn block_key(
    layout: &Layout<'_, '_>,
    map: NodeId,
    index: usize,
    key: NodeId,
    value: NodeId,
) -> Result<TextEdit, (NodeId, Reason)> {
    let tree = layout.tree;
    let start = tree.node(key).outer_start();
    let pairs: Vec<(NodeId, NodeId)> = tree.pairs(map).collect();
    if !layout.is_first_on_line(start) {
        // `- newTag: v1`: the next key moves up to the dash.
        let Some((next, _)) = pairs.get(index + 1) else {
            return Err((key, Reason::NestedSequence));
        };
        let range = start..tree.node(*next).outer_start();
        let own_line = layout.line_end(pair_end(layout, key, value));
        check_comments(layout, &(own_line..range.end), key)?;
        return Ok(TextEdit::new(range, ""));
    }
    let above =
        index.checked_sub(1).map(|i| layout.behind_byte(pair_end(layout, pairs[i].0, pairs[i].1)));
    // What stands above a key of an entry often speaks of the entry, and what the key said may be true without it.
    let takes_comments = tree.node(map).parent().is_none();
    let end = pair_end(layout, key, value);
    Ok(TextEdit::new(whole_lines(layout, start, end, above, takes_comments), ""))
}

/// The lines of an entry that begins at `start` and whose content ends at `end`, with the comments that belong to it.
///
/// `above` is the line behind the entry before it; the first entry has none, and the comments above it stay, since
/// they may speak of the whole collection. Without `takes_comments` those above every entry stay.
fn whole_lines(
    layout: &Layout<'_, '_>,
    start: usize,
    end: usize,
    above: Option<usize>,
    takes_comments: bool,
) -> Range<usize> {
    let column = layout.column(start);
    let mut from = layout.line_start(start);
    let mut to = layout.behind_deeper_comments(layout.behind_byte(end), Some(column));
    if let Some(limit) = above {
        if takes_comments {
            from = layout.above_comments(from, column, limit);
        }
        let is_last_or_spaced = to == layout.text.len() || layout.is_blank_line(to);
        if is_last_or_spaced {
            from = layout.above_blanks(from, limit);
        }
    }
    while layout.is_behind_kept_lines(from) && to < layout.text.len() && layout.is_blank_line(to) {
        to = layout.next_line(to);
    }
    let is_open = to == layout.text.len()
        && !layout.text.ends_with(['\n', '\r'])
        && !layout.is_behind_value_break(from);
    match layout.previous_line(from) {
        Some(previous) if is_open => layout.line_end(previous)..to,
        _ => from..to,
    }
}

fn flow_entry(
    layout: &Layout<'_, '_>,
    collection: NodeId,
    index: usize,
    value: NodeId,
) -> Result<TextEdit, (NodeId, Reason)> {
    let tree = layout.tree;
    let span = tree.node(collection).span();
    if !layout.text[span].starts_with(['[', '{']) {
        return Err((collection, Reason::ExplicitKey));
    }
    let bounds = |i: usize| -> Option<Range<usize>> {
        if let Some(item) = tree.items(collection).get(i) {
            return Some(tree.node(*item).outer_start()..tree.node(*item).span().end);
        }
        let (k, v) = tree.pairs(collection).nth(i)?;
        let end = tree.node(v).span().end.max(pair_end(layout, k, v));
        Some(tree.node(k).outer_start()..end)
    };
    let own = bounds(index).ok_or((value, Reason::ExplicitKey))?;
    let range = match (bounds(index + 1), index.checked_sub(1).and_then(bounds)) {
        (Some(next), _) => own.start..next.start,
        (None, Some(previous)) => previous.end..own.end,
        (None, None) => own,
    };
    check_comments(layout, &range, value)?;
    Ok(TextEdit::new(range, ""))
}
