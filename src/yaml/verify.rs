//! The proof of an edit: the new text says what was asked for, and every comment is still there.

use crate::edit::{TextEdit, apply_edits};

use super::data::{self};
use super::limits::unfit;
use super::splice::Splice;
use super::tree::{Tree, parse};

/// Applies a splice to the text of `tree` and checks the outcome; the error says what is wrong with it.
pub(super) fn verified(tree: &Tree<'_>, splice: &Splice) -> Result<(), String> {
    let new_text = apply_edits(tree.text(), &splice.edits).map_err(|e| e.to_string())?;
    let new_tree = parse(&new_text).map_err(|e| format!("the result is no YAML ({e})"))?;
    if let Some((line, reason)) = unfit(&new_tree) {
        return Err(format!("the result could not be edited again (line {line}: {reason})"));
    }
    let mut want = data::documents(tree);
    for change in &splice.changes {
        data::apply(&mut want, change.clone())
            .ok_or("the place of the change is not in the data")?;
    }
    if data::documents(&new_tree) != want {
        return Err("the result reads differently than intended".to_owned());
    }
    let comments: Vec<&str> = comments(&new_tree, &[]);
    let dropped: &[TextEdit] = if splice.drops_comments { &splice.edits } else { &[] };
    if comments != self::comments(tree, dropped) {
        return Err("a comment would be lost or appear".to_owned());
    }
    Ok(())
}

/// The comments of a text that no edit replaces.
fn comments<'s>(tree: &Tree<'s>, edits: &[TextEdit]) -> Vec<&'s str> {
    let kept = |c: &&std::ops::Range<usize>| {
        !edits.iter().any(|e| e.range.start <= c.start && c.end <= e.range.end)
    };
    tree.comments().iter().filter(kept).map(|c| &tree.text()[c.clone()]).collect()
}
