//! Scalars in quotes.

use std::borrow::Cow;

use super::cursor::Mark;
use super::scalars::Breaks;
use super::scanner::{Scanner, TokenKind};
use crate::yaml::tree::{Style, YamlError};

impl<'s> Scanner<'s> {
    /// A text in quotes of this kind.
    pub(super) fn quoted(&mut self, quote: u8) -> Result<(), YamlError> {
        let mark = self.start_word()?;
        self.cursor.skip_ascii(1);
        let text = match self.simple_quoted(quote) {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(self.folded_quoted(quote, mark)?),
        };
        let style = if quote == b'"' { Style::DoubleQuoted } else { Style::SingleQuoted };
        self.push(TokenKind::Scalar(text, style), mark);
        Ok(())
    }

    /// A text of one line without escapes, as most are.
    fn simple_quoted(&mut self, quote: u8) -> Option<&'s str> {
        let text = &self.cursor.text[self.cursor.at..];
        let bytes = text.as_bytes();
        let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != quote && *byte != b'\\';
        let is_plain = |byte: &u8| is_plain(byte) || (*byte == b'\\' && quote == b'\'');
        let length = bytes.iter().take_while(|byte| is_plain(byte)).count();
        let ends = bytes.get(length) == Some(&quote);
        if !ends || (quote == b'\'' && bytes.get(length + 1) == Some(&quote)) {
            return None;
        }
        self.cursor.skip_ascii(length + 1);
        Some(&text[..length])
    }

    fn folded_quoted(&mut self, quote: u8, mark: Mark) -> Result<String, YamlError> {
        let mut out = String::new();
        loop {
            if self.cursor.is_document_mark() {
                return Err(mark.error("a document ends before the quote of this text"));
            }
            if self.cursor.is_end() {
                return Err(mark.error("the quote of this text is not closed"));
            }
            let mut continues = false;
            while !self.cursor.is_separated(0) && !continues {
                match self.cursor.byte(0) {
                    b'\'' if quote == b'\'' && self.cursor.byte(1) == b'\'' => {
                        out.push('\'');
                        self.cursor.skip_ascii(2);
                    }
                    byte if byte == quote => {
                        self.cursor.skip_ascii(1);
                        return Ok(out);
                    }
                    b'\\' if quote == b'"' => continues = self.escape(&mut out, mark)?,
                    _ => {
                        let from = self.cursor.at;
                        self.cursor.skip();
                        out.push_str(&self.cursor.text[from..self.cursor.at]);
                    }
                }
            }
            self.quoted_gap(&mut out, continues);
        }
    }

    /// Blanks, or line breaks with the blanks around them, which `continues` begins.
    fn quoted_gap(&mut self, out: &mut String, continues: bool) {
        let (from, mut breaks, mut broke) = (self.cursor.at, Breaks::default(), continues);
        let mut others = String::new();
        let mut end = from;
        loop {
            if self.cursor.is_blank() {
                self.cursor.skip_ascii(1);
            } else if !self.cursor.is_break() {
                break;
            } else if broke {
                others.push_str(self.cursor.take_break());
            } else {
                breaks.add(self.cursor.take_break());
                broke = true;
            }
            if !broke {
                end = self.cursor.at;
            }
        }
        if broke {
            breaks.others = others;
            breaks.fold_into(out);
        } else {
            out.push_str(&self.cursor.text[from..end]);
        }
    }

    /// An escape; true for one of a line break.
    fn escape(&mut self, out: &mut String, mark: Mark) -> Result<bool, YamlError> {
        self.cursor.skip_ascii(1);
        if self.cursor.is_break() {
            self.cursor.take_break();
            return Ok(true);
        }
        let (c, digits) = match self.cursor.byte(0) {
            b'0' => ('\0', 0),
            b'a' => ('\u{7}', 0),
            b'b' => ('\u{8}', 0),
            b't' | b'\t' => ('\t', 0),
            b'n' => ('\n', 0),
            b'v' => ('\u{B}', 0),
            b'f' => ('\u{C}', 0),
            b'r' => ('\r', 0),
            b'e' => ('\u{1B}', 0),
            byte @ (b' ' | b'"' | b'\'' | b'\\') => (char::from(byte), 0),
            b'N' => ('\u{85}', 0),
            b'_' => ('\u{A0}', 0),
            b'L' => ('\u{2028}', 0),
            b'P' => ('\u{2029}', 0),
            b'x' => (' ', 2),
            b'u' => (' ', 4),
            b'U' => (' ', 8),
            _ => return Err(mark.error("this text has an unknown escape")),
        };
        self.cursor.skip_ascii(1);
        out.push(if digits == 0 { c } else { self.code(digits, mark)? });
        Ok(false)
    }

    fn code(&mut self, digits: usize, mark: Mark) -> Result<char, YamlError> {
        let text = self.cursor.text.get(self.cursor.at..self.cursor.at + digits);
        let code = text
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|text| u32::from_str_radix(text, 16).ok())
            .and_then(char::from_u32);
        self.cursor.skip_ascii(if code.is_some() { digits } else { 0 });
        code.ok_or_else(|| mark.error("an escape of this text is no character"))
    }
}
