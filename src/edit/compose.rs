//! Successive edits of one text, told as edits on the original.

use std::ops::Range;

use super::{EditError, TextEdit, apply_edits};

/// A text under edit: what it is now, and which bytes of the original are still in it.
#[derive(Clone, Debug)]
pub struct EditedText {
    original: String,
    present: String,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    /// Bytes of the original.
    Kept(Range<usize>),
    New(String),
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Piece::Kept(range) => range.len(),
            Piece::New(text) => text.len(),
        }
    }

    fn part(&self, range: Range<usize>) -> Piece {
        match self {
            Piece::Kept(kept) => Piece::Kept(kept.start + range.start..kept.start + range.end),
            Piece::New(text) => Piece::New(text[range].to_owned()),
        }
    }
}

impl EditedText {
    /// A text without edits.
    #[must_use]
    pub fn new(original: String) -> Self {
        let pieces = vec![Piece::Kept(0..original.len())];
        EditedText { present: original.clone(), original, pieces }
    }

    /// The text before all edits.
    #[must_use]
    pub fn original(&self) -> &str {
        &self.original
    }

    /// The text after all edits so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.present
    }

    /// Applies edits whose ranges are bytes of [`EditedText::text`].
    ///
    /// # Errors
    /// As [`apply_edits`]; nothing has changed then.
    pub fn apply(&mut self, edits: &[TextEdit]) -> Result<(), EditError> {
        let present = apply_edits(&self.present, edits)?;
        let mut sorted: Vec<&TextEdit> = edits.iter().collect();
        sorted.sort_by_key(|e| (e.range.start, e.range.end));
        let mut pieces = Vec::with_capacity(self.pieces.len() + 2 * edits.len());
        let mut at = 0;
        for edit in sorted {
            self.copy(at..edit.range.start, &mut pieces);
            pieces.push(Piece::New(edit.new_text.clone()));
            at = edit.range.end;
        }
        self.copy(at..self.present.len(), &mut pieces);
        self.pieces = pieces;
        self.present = present;
        Ok(())
    }

    fn copy(&self, range: Range<usize>, out: &mut Vec<Piece>) {
        let mut start = 0;
        for piece in &self.pieces {
            let end = start + piece.len();
            let (from, to) = (range.start.max(start), range.end.min(end));
            if from < to {
                out.push(piece.part(from - start..to - start));
            }
            start = end;
        }
    }

    /// All edits so far on the original, in order, none of them without effect.
    #[must_use]
    pub fn edits(&self) -> Vec<TextEdit> {
        let mut edits = Vec::new();
        let mut at = 0;
        let mut new_text = String::new();
        let end = Piece::Kept(self.original.len()..self.original.len());
        for piece in self.pieces.iter().chain([&end]) {
            match piece {
                Piece::New(text) => new_text.push_str(text),
                Piece::Kept(kept) => {
                    if self.original[at..kept.start] != *new_text {
                        edits.push(TextEdit::new(at..kept.start, std::mem::take(&mut new_text)));
                    }
                    new_text.clear();
                    at = kept.end;
                }
            }
        }
        edits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successive_edits_are_told_on_the_original() {
        let mut text = EditedText::new("one two three".to_owned());
        text.apply(&[TextEdit::new(4..7, "2"), TextEdit::insert(0, "> ")]).unwrap();
        text.apply(&[TextEdit::new(8..13, "3")]).unwrap();
        text.apply(&[TextEdit::insert(6, "++")]).unwrap();
        assert_eq!(text.text(), "> one ++2 3");
        let edits = text.edits();
        assert_eq!(apply_edits(text.original(), &edits).unwrap(), text.text());
        assert_eq!(edits[1], TextEdit::new(4..7, "++2"));
    }

    #[test]
    fn an_edit_taken_back_is_no_edit() {
        let mut text = EditedText::new("a: 1\n".to_owned());
        text.apply(&[TextEdit::new(3..4, "2")]).unwrap();
        text.apply(&[TextEdit::new(3..4, "1")]).unwrap();
        assert_eq!(text.edits(), []);
    }
}
