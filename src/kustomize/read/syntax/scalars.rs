//! Plain scalars and blocks of text.

use std::borrow::Cow;

use super::cursor::Mark;
use super::scanner::{Scanner, TokenKind};
use crate::yaml::tree::{Style, YamlError};

/// What of the line breaks at the end of a block belongs to its text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

/// Line breaks between two parts of a text that is folded.
#[derive(Default)]
pub(super) struct Breaks<'s> {
    pub(super) first: &'s str,
    pub(super) others: String,
}

impl<'s> Breaks<'s> {
    pub(super) fn add(&mut self, line_break: &'s str) {
        if self.first.is_empty() {
            self.first = line_break;
        } else {
            self.others.push_str(line_break);
        }
    }

    /// Adds them to a text: a single line break becomes a blank, several one less.
    pub(super) fn fold_into(&mut self, out: &mut String) {
        match (self.first, &*self.others) {
            ("\n", "") => out.push(' '),
            ("\n", _) => out.push_str(&self.others),
            (first, _) => {
                out.push_str(first);
                out.push_str(&self.others);
            }
        }
        self.first = "";
        self.others.clear();
    }
}

impl<'s> Scanner<'s> {
    pub(super) fn plain(&mut self) -> Result<(), YamlError> {
        let mark = self.start_word()?;
        let text = self.cursor.text;
        let start = self.cursor.at;
        let (mut end, mut owned, mut breaks) = (start, None::<String>, Breaks::default());
        while !self.cursor.is_document_mark() && self.cursor.byte(0) != b'#' {
            let from = self.cursor.at;
            self.skip_plain_run();
            if self.cursor.at > from {
                if !breaks.first.is_empty() {
                    let out = owned.get_or_insert_with(|| text[start..end].to_owned());
                    breaks.fold_into(out);
                    out.push_str(&text[from..self.cursor.at]);
                } else if let Some(out) = &mut owned {
                    out.push_str(&text[end..self.cursor.at]);
                }
                end = self.cursor.at;
            }
            if !self.cursor.is_blank() && !self.cursor.is_break() {
                break;
            }
            self.skip_plain_gap(&mut breaks, mark)?;
            if !self.in_flow() && self.cursor.mark.column < self.least_column() {
                break;
            }
        }
        self.is_behind_break = !breaks.first.is_empty();
        self.simple_key_allowed |= self.is_behind_break;
        let value = owned.map_or(Cow::Borrowed(&text[start..end]), Cow::Owned);
        self.push(TokenKind::Scalar(value, Style::Plain), mark);
        Ok(())
    }

    /// Goes over what belongs to a plain scalar without a doubt.
    fn skip_plain_run(&mut self) {
        let in_flow = self.in_flow();
        loop {
            match self.cursor.byte(0) {
                b':' if self.cursor.is_separated(1) => return,
                b',' | b'?' | b'[' | b']' | b'{' | b'}' if in_flow => return,
                b'!'..=b'~' => self.cursor.skip_ascii(1),
                _ if self.cursor.is_separated(0) => return,
                _ => self.cursor.skip(),
            }
        }
    }

    fn skip_plain_gap(&mut self, breaks: &mut Breaks<'s>, start: Mark) -> Result<(), YamlError> {
        loop {
            if self.cursor.is_blank() {
                let indents =
                    !breaks.first.is_empty() && self.cursor.mark.column < self.least_column();
                if indents && self.cursor.byte(0) == b'\t' {
                    return Err(start.error("a TAB stands in the indentation of this text"));
                }
                self.cursor.skip_ascii(1);
            } else if self.cursor.is_break() {
                breaks.add(self.cursor.take_break());
            } else {
                return Ok(());
            }
        }
    }

    /// A text behind `|` or `>`.
    pub(super) fn block_scalar(&mut self, is_literal: bool) -> Result<(), YamlError> {
        let mark = self.cursor.mark;
        self.cursor.skip_ascii(1);
        let (chomping, increment) = self.block_header(mark)?;
        self.cursor.skip_blanks();
        if self.cursor.byte(0) == b'#' {
            self.cursor.take_line();
        }
        if !self.cursor.is_break_or_end(0) {
            return Err(mark.error("behind `|` or `>` only a comment may follow"));
        }
        self.cursor.take_break();
        let mut indent = increment.map(|increment| self.indentation() + increment);
        let mut trailing = String::new();
        self.block_breaks(&mut indent, &mut trailing, mark)?;
        let (mut text, mut leading, mut was_indented) = (String::new(), "", false);
        while Some(self.cursor.mark.column) == indent && !self.cursor.is_end() {
            let is_indented = self.cursor.is_blank();
            if !is_literal && leading == "\n" && !was_indented && !is_indented {
                if trailing.is_empty() {
                    text.push(' ');
                }
            } else {
                text.push_str(leading);
            }
            text.push_str(&trailing);
            trailing.clear();
            was_indented = is_indented;
            text.push_str(self.cursor.take_line());
            leading = self.cursor.take_break();
            self.block_breaks(&mut indent, &mut trailing, mark)?;
        }
        if chomping != Chomping::Strip {
            text.push_str(leading);
        }
        if chomping == Chomping::Keep {
            text.push_str(&trailing);
        }
        self.is_behind_break = true;
        let style = if is_literal { Style::Literal } else { Style::Folded };
        self.push(TokenKind::Scalar(text.into(), style), mark);
        Ok(())
    }

    /// What stands behind `|`: `+` or `-`, and a digit, in any order.
    fn block_header(&mut self, mark: Mark) -> Result<(Chomping, Option<usize>), YamlError> {
        let mut chomping = self.chomping();
        let increment = match self.cursor.byte(0) {
            b'0' => return Err(mark.error("the indentation of a block must not be 0")),
            digit @ b'1'..=b'9' => {
                self.cursor.skip_ascii(1);
                Some(usize::from(digit - b'0'))
            }
            _ => None,
        };
        if chomping.is_none() && increment.is_some() {
            chomping = self.chomping();
        }
        Ok((chomping.unwrap_or(Chomping::Clip), increment))
    }

    fn chomping(&mut self) -> Option<Chomping> {
        let chomping = match self.cursor.byte(0) {
            b'+' => Chomping::Keep,
            b'-' => Chomping::Strip,
            _ => return None,
        };
        self.cursor.skip_ascii(1);
        Some(chomping)
    }

    /// Goes over indentation and empty lines; the first line with a text decides the indentation.
    fn block_breaks(
        &mut self,
        indent: &mut Option<usize>,
        breaks: &mut String,
        mark: Mark,
    ) -> Result<(), YamlError> {
        let mut deepest = 0;
        loop {
            let is_within = |column: usize| indent.is_none_or(|indent| column < indent);
            while is_within(self.cursor.mark.column) && self.cursor.byte(0) == b' ' {
                self.cursor.skip_ascii(1);
            }
            deepest = deepest.max(self.cursor.mark.column);
            if is_within(self.cursor.mark.column) && self.cursor.byte(0) == b'\t' {
                return Err(mark.error("a TAB stands in the indentation of this block"));
            }
            if !self.cursor.is_break() {
                break;
            }
            breaks.push_str(self.cursor.take_break());
        }
        indent.get_or_insert_with(|| deepest.max(self.least_column()).max(1));
        Ok(())
    }
}
