//! New entries in brackets and braces.

use super::super::layout::Layout;
use super::super::refusal::Reason;
use super::super::tree::NodeId;
use super::check_comments;
use crate::edit::TextEdit;

/// Inserts `text` behind the entry that ends at byte `after` (an item's or a value's end), or as the first and only
/// entry.
///
/// In a collection whose entries stand on lines of their own the new one gets a line of its own.
pub(super) fn insert(
    layout: &Layout<'_, '_>,
    collection: NodeId,
    after: Option<(usize, usize)>,
    text: &str,
) -> Result<Vec<TextEdit>, (NodeId, Reason)> {
    let span = layout.tree.node(collection).span();
    if !layout.text[span.clone()].starts_with(['[', '{']) || span.len() < 2 {
        // `[a: b]` holds a mapping without braces.
        return Err((collection, Reason::ExplicitKey));
    }
    let Some((start, end)) = after else {
        let inside = span.start + 1..span.end - 1;
        check_comments(layout, &inside, collection)?;
        return Ok(vec![TextEdit::new(inside, text)]);
    };
    if !layout.is_first_on_line(start) {
        return Ok(vec![TextEdit::insert(end, format!(", {text}"))]);
    }
    Ok(insert_line(layout, start, end, text))
}

/// The entry from `start` to `end` is the first on its line: the new one comes on the next line, behind the comma
/// and the comment of the old one.
fn insert_line(layout: &Layout<'_, '_>, start: usize, end: usize, text: &str) -> Vec<TextEdit> {
    let eol = layout.eol(end.max(layout.line_start(start)));
    let line = layout.line_start(start);
    let indent = " ".repeat(start - line);
    let tail = &layout.text[end..layout.line_end(end)];
    let rest = tail.trim_start_matches([' ', '\t']);
    let comma = rest.starts_with(',').then(|| end + tail.len() - rest.len());
    let behind_comma = rest.trim_start_matches(',').trim_start_matches([' ', '\t']);
    let is_alone = behind_comma.is_empty() || behind_comma.starts_with('#');
    match comma {
        // Something else follows on the line, the closing bracket for instance.
        None if !is_alone => vec![TextEdit::insert(end, format!(",{eol}{indent}{text}"))],
        Some(comma) if !is_alone => {
            vec![TextEdit::insert(comma + 1, format!("{eol}{indent}{text},"))]
        }
        None if behind_comma.is_empty() => {
            vec![TextEdit::insert(end, format!(",{eol}{indent}{text}"))]
        }
        None => {
            vec![
                TextEdit::insert(end, ","),
                TextEdit::insert(layout.line_end(end), format!("{eol}{indent}{text}")),
            ]
        }
        Some(_) => vec![TextEdit::insert(layout.line_end(end), format!("{eol}{indent}{text},"))],
    }
}
