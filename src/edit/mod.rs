//! Text edits on byte ranges, and their unified diff; knows nothing of YAML.
//!
//! Every change of a file is a list of [`TextEdit`]s on its original text, so that a byte outside the ranges cannot
//! change. What the edits mean is the business of `yaml` and `plan`.

mod compose;
mod diff;

use std::ops::Range;

pub use compose::EditedText;
pub use diff::{line_after, unified_diff};

/// Replaces one byte range of a text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TextEdit {
    /// The bytes that go; empty for an insertion.
    pub range: Range<usize>,
    /// What comes in their place.
    pub new_text: String,
}

impl TextEdit {
    /// An edit that puts `new_text` in place of `range`.
    #[must_use]
    pub fn new(range: Range<usize>, new_text: impl Into<String>) -> Self {
        TextEdit { range, new_text: new_text.into() }
    }

    /// An edit that inserts `new_text` before the byte `at`.
    #[must_use]
    pub fn insert(at: usize, new_text: impl Into<String>) -> Self {
        TextEdit::new(at..at, new_text)
    }
}

/// What happens to the text of a file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub enum FileChange {
    /// Edits on the file's present text.
    Edit(Vec<TextEdit>),
    /// A new file with this text.
    Create(String),
}

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct FileEdit {
    /// The file, relative to the repository, with `/`.
    pub path: String,
    /// What happens to it.
    pub change: FileChange,
}

impl FileEdit {
    /// An edit of the existing file at `path`.
    #[must_use]
    pub fn edit(path: impl Into<String>, edits: Vec<TextEdit>) -> Self {
        FileEdit { path: path.into(), change: FileChange::Edit(edits) }
    }

    /// A new file at `path`.
    #[must_use]
    pub fn create(path: impl Into<String>, text: impl Into<String>) -> Self {
        FileEdit { path: path.into(), change: FileChange::Create(text.into()) }
    }

    /// The new text of the file, given its present one (`None` if there is no such file).
    ///
    /// # Errors
    /// [`EditError`] if the edits do not fit the text, the file to edit is missing, or the file to create exists.
    pub fn apply(&self, present: Option<&str>) -> Result<String, EditError> {
        match (&self.change, present) {
            (FileChange::Edit(edits), Some(text)) => apply_edits(text, edits),
            (FileChange::Create(text), None) => Ok(text.clone()),
            (FileChange::Edit(_), None) => Err(EditError::Missing(self.path.clone())),
            (FileChange::Create(_), Some(_)) => Err(EditError::Exists(self.path.clone())),
        }
    }
}

/// Why edits cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// A range ends before it starts, ends behind the text, or splits a character.
    #[error("the edit of bytes {start} to {end} does not fit a text of {length} bytes")]
    OutOfBounds {
        /// First byte of the range.
        start: usize,
        /// Byte behind the range.
        end: usize,
        /// Bytes of the text.
        length: usize,
    },
    /// Two ranges share a byte, or two insertions share a place.
    #[error("two edits overlap at byte {0}")]
    Overlap(usize),
    /// The file to edit does not exist.
    #[error("{0}: no such file to edit")]
    Missing(String),
    /// The file to create exists.
    #[error("{0}: the file to create exists already")]
    Exists(String),
}

/// Applies `edits`, in any order, to `text`.
///
/// Two insertions at one place and an insertion at the start of a replaced range are overlaps: their order would be
/// a guess. An insertion at the end of a replaced range is not.
///
/// # Errors
/// [`EditError::OutOfBounds`] and [`EditError::Overlap`].
pub fn apply_edits(text: &str, edits: &[TextEdit]) -> Result<String, EditError> {
    let mut sorted: Vec<&TextEdit> = edits.iter().collect();
    sorted.sort_by_key(|e| (e.range.start, e.range.end));
    check_bounds(text, &sorted)?;
    check_overlaps(&sorted)?;
    let grown: usize = sorted.iter().map(|e| e.new_text.len()).sum();
    let mut out = String::with_capacity(text.len() + grown);
    let mut at = 0;
    for edit in sorted {
        out.push_str(&text[at..edit.range.start]);
        out.push_str(&edit.new_text);
        at = edit.range.end;
    }
    out.push_str(&text[at..]);
    Ok(out)
}

fn check_bounds(text: &str, edits: &[&TextEdit]) -> Result<(), EditError> {
    let fits = |r: &Range<usize>| text.get(r.clone()).is_some();
    match edits.iter().map(|e| &e.range).find(|r| !fits(r)) {
        Some(r) => Err(EditError::OutOfBounds { start: r.start, end: r.end, length: text.len() }),
        None => Ok(()),
    }
}

fn check_overlaps(sorted: &[&TextEdit]) -> Result<(), EditError> {
    let overlap = sorted.windows(2).find(|pair| {
        let (a, b) = (&pair[0].range, &pair[1].range);
        b.start < a.end || a.start == b.start
    });
    overlap.map_or(Ok(()), |pair| Err(EditError::Overlap(pair[1].range.start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_apply_in_any_order() {
        let edits = [TextEdit::new(4..5, "E"), TextEdit::insert(0, ">"), TextEdit::insert(5, "!")];
        assert_eq!(apply_edits("abcde", &edits).unwrap(), ">abcdE!");
    }

    #[test]
    fn overlapping_edits_are_an_error() {
        let edits = [TextEdit::new(0..3, ""), TextEdit::new(2..4, "")];
        assert_eq!(apply_edits("abcde", &edits), Err(EditError::Overlap(2)));
        let twice = [TextEdit::insert(1, "x"), TextEdit::insert(1, "y")];
        assert_eq!(apply_edits("abcde", &twice), Err(EditError::Overlap(1)));
    }

    #[test]
    fn a_range_that_splits_a_character_is_an_error() {
        assert!(matches!(
            apply_edits("ä", &[TextEdit::new(0..1, "")]),
            Err(EditError::OutOfBounds { .. })
        ));
        assert!(matches!(
            apply_edits("a", &[TextEdit::new(0..9, "")]),
            Err(EditError::OutOfBounds { .. })
        ));
    }

    #[test]
    fn a_file_is_created_only_where_none_is() {
        let edit = FileEdit::create("a.yaml", "x: 1\n");
        assert_eq!(edit.apply(None).unwrap(), "x: 1\n");
        assert_eq!(edit.apply(Some("")), Err(EditError::Exists("a.yaml".into())));
    }
}
