//! New list entries and new keys.

use super::super::data::{Change, Data};
use super::super::layout::Layout;
use super::super::path::{is_null_word, kind_name};
use super::super::refusal::Reason;
use super::super::tree::{Kind, NodeId, Tree};
use super::super::value::Value;
use super::set::gap;
use super::{
    Planned, Splice, check_comments, check_replaceable, flow, format_like, is_in_flow, place,
};
use crate::edit::TextEdit;

/// Appends `item` to the list `id`; a list that is null or `[]` becomes one with this entry.
pub(in super::super) fn append(layout: &Layout<'_, '_>, id: NodeId, item: &Value) -> Planned {
    let tree = layout.tree;
    match tree.node(id).kind {
        Kind::Seq { .. } if !tree.items(id).is_empty() => {
            insert_item(layout, id, tree.items(id).len(), item)
        }
        Kind::Seq { .. } => fill_list(layout, id, item),
        _ if tree.node(id).is_absent() || is_null_word(tree, id) => fill_list(layout, id, item),
        _ => {
            let path = "the value".to_owned();
            Err((id, Reason::WrongKind { path, wanted: "a list", found: kind_name(tree, id) }))
        }
    }
}

/// Inserts `item` into a list that has items, before position `index`.
pub(in super::super) fn insert_item(
    layout: &Layout<'_, '_>,
    list: NodeId,
    index: usize,
    item: &Value,
) -> Planned {
    let tree = layout.tree;
    let change = Change::Insert(place(tree, list)?, index, None, Data::of(item));
    let edits = if tree.node(list).is_flow() {
        flow_item(layout, list, index, item)?
    } else {
        block_item(layout, list, index, item)?
    };
    Ok(Splice::new(edits, change))
}

fn flow_item(
    layout: &Layout<'_, '_>,
    list: NodeId,
    index: usize,
    item: &Value,
) -> Result<Vec<TextEdit>, (NodeId, Reason)> {
    let tree = layout.tree;
    let text = format_like(layout, list).flow("", item);
    match index.checked_sub(1) {
        Some(previous) => {
            let node = tree.node(tree.items(list)[previous]);
            flow::insert(layout, list, Some((node.outer_start(), node.span().end)), &text)
        }
        None => Ok(vec![TextEdit::insert(
            tree.node(tree.items(list)[0]).outer_start(),
            format!("{text}, "),
        )]),
    }
}

fn block_item(
    layout: &Layout<'_, '_>,
    list: NodeId,
    index: usize,
    item: &Value,
) -> Result<Vec<TextEdit>, (NodeId, Reason)> {
    let tree = layout.tree;
    let first = tree.node(list).span().start;
    let column = layout.column(first);
    if !layout.is_first_on_line(first) {
        return Err((list, Reason::NestedSequence));
    }
    let sample = index.saturating_sub(1);
    let items = tree.items(list);
    let gap = dash_gap(layout, list, sample);
    let format = format_like(layout, list);
    let is_flow_map = tree.node(items[sample]).kind == (Kind::Map { flow: true });
    let mut lines = match item {
        Value::Map(_) if is_flow_map => {
            vec![format!("-{}{}", " ".repeat(gap), format.flow("", item))]
        }
        item => format.block_item(item, column, gap),
    };
    let indent = " ".repeat(column);
    lines[0].insert_str(0, &indent);
    if index == 0 {
        return Ok(layout.insert_lines(layout.line_start(first), &lines, item));
    }
    let parent_column = parent_column(layout, list);
    let behind = layout.behind(items[sample]);
    let at = match index == items.len() {
        true => layout.behind_deeper_comments(behind, parent_column),
        false => layout.behind_deeper_comments(behind, Some(column)),
    };
    let blanks = if layout.is_behind_kept_lines(at) {
        0
    } else {
        blanks_between(layout, list, sample, column)
    };
    lines.splice(0..0, vec![String::new(); blanks]);
    Ok(layout.insert_lines(at, &lines, item))
}

/// The column of the key, or the dash, that a list belongs to.
fn parent_column(layout: &Layout<'_, '_>, list: NodeId) -> Option<usize> {
    let tree = layout.tree;
    let parent = tree.node(list).parent()?;
    Some(match tree.node(parent).kind {
        Kind::Map { .. } => map_column(layout, parent),
        _ => layout.block_column(parent),
    })
}

/// The column of the keys of a block mapping, the property of its first key included.
fn map_column(layout: &Layout<'_, '_>, map: NodeId) -> usize {
    let first = layout.tree.pairs(map).next().map(|(key, _)| layout.tree.node(key).outer_start());
    layout.column(first.unwrap_or(layout.tree.node(map).span().start))
}

/// Blanks between the dash of an item and its content; 1 where the content is on another line.
fn dash_gap(layout: &Layout<'_, '_>, list: NodeId, index: usize) -> usize {
    let Some(dash) = layout.dash(list, index) else { return 1 };
    let content = layout.tree.node(layout.tree.items(list)[index]).outer_start();
    let gap = layout.text.get(dash + 1..content).unwrap_or_default();
    if !gap.is_empty() && gap.bytes().all(|b| b == b' ') { gap.len() } else { 1 }
}

/// Blank lines between an item and the one before it.
fn blanks_between(layout: &Layout<'_, '_>, list: NodeId, index: usize, column: usize) -> usize {
    let Some(previous) = index.checked_sub(1) else { return 0 };
    let limit = layout.behind(layout.tree.items(list)[previous]);
    layout
        .dash(list, index)
        .map_or(0, |dash| layout.blanks_above(layout.line_start(dash), column, limit))
}

/// Gives a list that is null or `[]` its first item.
fn fill_list(layout: &Layout<'_, '_>, id: NodeId, item: &Value) -> Planned {
    let tree = layout.tree;
    check_replaceable(tree, id)?;
    let node = tree.node(id);
    let list = Value::Seq(vec![item.clone()]);
    let change = Change::Replace(place(tree, id)?, Data::of(&list));
    let key = node.parent().and_then(|p| tree.pairs(p).find(|(_, v)| *v == id));
    let (Some(parent), Some((key, _)), false) = (node.parent(), key, is_in_flow(tree, id)) else {
        let edits = fill_in_flow(layout, id, item)?;
        return Ok(Splice::new(edits, change));
    };
    let (colon, _) = gap(layout, id).ok_or((id, Reason::ExplicitKey))?;
    let old = if node.is_absent() {
        colon..colon
    } else {
        layout.colon(key).unwrap_or(colon) + 1..node.span().end
    };
    check_comments(layout, &old, id)?;
    let format = format_like(layout, parent);
    let column = map_column(layout, parent) + format.list_indent;
    let mut lines = format.block("", &list, column);
    lines[0].insert_str(0, &" ".repeat(column));
    let mut edits = layout.insert_lines(layout.next_line(old.end), &lines, item);
    if !old.is_empty() {
        edits.push(TextEdit::new(old, ""));
    }
    Ok(Splice::new(edits, change))
}

/// A null or `[]` inside brackets, as the root, or as an item of a list: becomes `[item]`.
fn fill_in_flow(
    layout: &Layout<'_, '_>,
    id: NodeId,
    item: &Value,
) -> Result<Vec<TextEdit>, (NodeId, Reason)> {
    let tree = layout.tree;
    let node = tree.node(id);
    let format = format_like(layout, node.parent().unwrap_or(id));
    let text = format.flow("", item);
    if let Kind::Seq { .. } = node.kind {
        return flow::insert(layout, id, None, &text);
    }
    if node.is_absent() {
        let (at, colon) =
            gap(layout, id).ok_or((id, Reason::NotFound("place for the list".to_owned())))?;
        return Ok(vec![TextEdit::insert(at, format!("{colon} [{text}]"))]);
    }
    Ok(vec![TextEdit::new(node.span(), format!("[{text}]"))])
}

/// Adds `key: value` to the mapping `map`: behind the pair at position `after`, or at the end.
pub(in super::super) fn insert_key(
    layout: &Layout<'_, '_>,
    map: NodeId,
    after: Option<usize>,
    key: &str,
    value: &Value,
) -> Planned {
    let tree = layout.tree;
    let count = tree.pairs(map).len();
    let index = after.map_or(count, |i| i + 1);
    let change = Change::Insert(place(tree, map)?, index, Some(Data::string(key)), Data::of(value));
    let edits = if tree.node(map).is_flow() {
        flow_key(layout, map, index, key, value)?
    } else {
        block_key(layout, map, index, key, value)
    };
    Ok(Splice::new(edits, change))
}

fn flow_key(
    layout: &Layout<'_, '_>,
    map: NodeId,
    index: usize,
    key: &str,
    value: &Value,
) -> Result<Vec<TextEdit>, (NodeId, Reason)> {
    let tree = layout.tree;
    let text = format_like(layout, map).flow_pair(key, value);
    let after = index.checked_sub(1).and_then(|i| tree.pairs(map).nth(i)).map(|(k, v)| {
        let end = tree.node(v).span().end.max(layout.colon(k).map_or(0, |c| c + 1));
        (tree.node(k).outer_start(), end.max(tree.node(k).span().end))
    });
    flow::insert(layout, map, after, &text)
}

fn block_key(
    layout: &Layout<'_, '_>,
    map: NodeId,
    index: usize,
    key: &str,
    value: &Value,
) -> Vec<TextEdit> {
    let tree = layout.tree;
    let column = map_column(layout, map);
    let format = format_like(layout, map);
    let mut lines = format.block_pair(key, value, column);
    lines[0].insert_str(0, &" ".repeat(column));
    let pairs: Vec<(NodeId, NodeId)> = tree.pairs(map).collect();
    let Some((last_key, last_value)) = index.checked_sub(1).and_then(|i| pairs.get(i)).copied()
    else {
        return layout.insert_lines(layout.line_start(tree.node(map).span().start), &lines, value);
    };
    let behind = layout.behind_byte(pair_end(layout, last_key, last_value));
    let at = layout.behind_deeper_comments(behind, Some(column));
    let blanks = match index.checked_sub(2).and_then(|i| pairs.get(i)) {
        Some((k, v)) if tree.node(map).parent().is_none() && !layout.is_behind_kept_lines(at) => {
            let limit = layout.behind_byte(pair_end(layout, *k, *v));
            layout
                .blanks_above(layout.line_start(tree.node(last_key).outer_start()), column, limit)
                .min(1)
        }
        _ => 0,
    };
    lines.splice(0..0, vec![String::new(); blanks]);
    layout.insert_lines(at, &lines, value)
}

/// The end of a pair's text: of its value, or of its `:` if it has none.
pub(super) fn pair_end(layout: &Layout<'_, '_>, key: NodeId, value: NodeId) -> usize {
    let node = layout.tree.node(value);
    if node.is_absent() && node.anchor().is_none() && node.tag.is_none() {
        return layout.colon(key).map_or(layout.tree.node(key).span().end, |c| c + 1);
    }
    node.span().end
}

/// The first content of a text without documents, or of an empty document.
pub(in super::super) fn empty_document(
    tree: &Tree<'_>,
    root: Option<NodeId>,
    key: &str,
    value: &Value,
) -> Planned {
    let layout = Layout::new(tree);
    let blank = Value::map([(key, value.clone())]);
    let format = super::Format {
        map_indent: 2,
        list_indent: 0,
        json: false,
        padded: false,
        quotes: Vec::new(),
    };
    let lines = format.block("", &blank, 0);
    let (at, change) = match root {
        Some(root) => {
            let node = tree.node(root);
            if !node.is_absent() {
                check_replaceable(tree, root)?;
                let path = "the document".to_owned();
                return Err((
                    root,
                    Reason::WrongKind { path, wanted: "a mapping", found: kind_name(tree, root) },
                ));
            }
            check_replaceable(tree, root)?;
            (
                behind_marker(&layout, node.span().end),
                Change::Replace(place(tree, root)?, Data::of(&blank)),
            )
        }
        None => (tree.text().len(), Change::NewDocument(Data::of(&blank))),
    };
    Ok(Splice::new(layout.insert_lines(at, &lines, value), change))
}

/// Behind the `---` of an empty document and the comments below it.
fn behind_marker(layout: &Layout<'_, '_>, marker_end: usize) -> usize {
    let behind = layout.next_line(marker_end);
    layout.behind_deeper_comments(behind, None)
}
