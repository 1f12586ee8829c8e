//! A place in a text, and what stands there: blanks, line breaks, the end.

use crate::yaml::tree::YamlError;

/// A place in a text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    /// In characters.
    pub(super) index: usize,
    /// From 0.
    pub(super) line: u32,
    /// In characters, from 0.
    pub(super) column: usize,
}

impl Mark {
    /// An error here.
    pub(super) fn error(self, message: impl Into<String>) -> YamlError {
        let column = u32::try_from(self.column + 1).unwrap_or(u32::MAX);
        YamlError { message: message.into(), line: self.line + 1, column }
    }
}

/// Reads a text from its start to its end.
#[derive(Debug)]
pub(super) struct Cursor<'s> {
    pub(super) text: &'s str,
    /// In bytes.
    pub(super) at: usize,
    pub(super) mark: Mark,
}

impl<'s> Cursor<'s> {
    /// A cursor at the start of `text`, behind a byte-order mark.
    ///
    /// # Errors
    /// For a character that YAML does not allow.
    pub(super) fn new(text: &'s str) -> Result<Self, YamlError> {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        if let Some(from) = text.bytes().position(may_be_control) {
            check_characters(text, from)?;
        }
        Ok(Self { text, at: 0, mark: Mark::default() })
    }

    /// The byte `ahead` of the cursor; 0 behind the end.
    pub(super) fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    pub(super) fn is_end(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(super) fn is_blank(&self) -> bool {
        matches!(self.byte(0), b' ' | b'\t')
    }

    pub(super) fn is_break(&self) -> bool {
        self.break_length(0) > 0
    }

    /// Whether a line break or the end is `ahead`.
    pub(super) fn is_break_or_end(&self, ahead: usize) -> bool {
        self.at + ahead >= self.text.len() || self.break_length(ahead) > 0
    }

    /// Whether a blank, a line break or the end is `ahead`.
    pub(super) fn is_separated(&self, ahead: usize) -> bool {
        matches!(self.byte(ahead), b' ' | b'\t') || self.is_break_or_end(ahead)
    }

    /// The bytes of the line break that is `ahead`, 0 for none.
    fn break_length(&self, ahead: usize) -> usize {
        match self.byte(ahead) {
            b'\n' => 1,
            b'\r' if self.byte(ahead + 1) == b'\n' => 2,
            b'\r' => 1,
            0xC2 if self.byte(ahead + 1) == 0x85 => 2,
            0xE2 if self.byte(ahead + 1) == 0x80 && matches!(self.byte(ahead + 2), 0xA8 | 0xA9) => {
                3
            }
            _ => 0,
        }
    }

    /// Goes over one character that is no line break.
    pub(super) fn skip(&mut self) {
        let first = self.byte(0);
        self.at += match first {
            0..=0x7F => 1,
            0x80..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xFF => 4,
        };
        self.mark.index += 1;
        self.mark.column += 1;
    }

    /// Goes over `count` ASCII characters that are no line breaks.
    pub(super) fn skip_ascii(&mut self, count: usize) {
        self.at += count;
        self.mark.index += count;
        self.mark.column += count;
    }

    /// Goes over blanks.
    pub(super) fn skip_blanks(&mut self) {
        while self.is_blank() {
            self.skip_ascii(1);
        }
    }

    /// Goes to the end of the line and returns what was on it.
    pub(super) fn take_line(&mut self) -> &'s str {
        let from = self.at;
        loop {
            let bytes = &self.text.as_bytes()[self.at..];
            let plain = bytes.iter().take_while(|byte| matches!(byte, b'\t' | b' '..=b'~')).count();
            self.skip_ascii(plain);
            if self.is_break_or_end(0) {
                return &self.text[from..self.at];
            }
            self.skip();
        }
    }

    /// Goes over a line break and returns what it stands for in a value; nothing at the end.
    pub(super) fn take_break(&mut self) -> &'s str {
        let length = self.break_length(0);
        if length == 0 {
            return "";
        }
        let text = if length == 3 { &self.text[self.at..self.at + 3] } else { "\n" };
        self.at += length;
        self.mark.index += 1;
        self.mark.column = 0;
        self.mark.line += 1;
        text
    }

    /// Whether `---` or `...` stands here as a mark of a document.
    pub(super) fn is_document_mark(&self) -> bool {
        self.mark.column == 0
            && (self.text.as_bytes()[self.at..].starts_with(b"---")
                || self.text.as_bytes()[self.at..].starts_with(b"..."))
            && self.is_separated(3)
    }

    /// Whether an empty line follows the lines of comments that begin here.
    pub(super) fn is_comment_apart(&self) -> bool {
        let mut lines = self.text[self.at..].lines().map(str::trim_start);
        lines.find(|line| !line.starts_with('#')).is_some_and(str::is_empty)
    }

    /// Whether the first thing behind blanks, no more than go-yaml looks at, is a comment.
    pub(super) fn comment_ahead(&self, mut is_between: impl FnMut(u8) -> bool) -> Option<usize> {
        const LOOKS_AT: usize = 512;
        let ahead = (0..LOOKS_AT).find(|ahead| !is_between(self.byte(*ahead)))?;
        (self.byte(ahead) == b'#').then_some(ahead)
    }
}

fn may_be_control(byte: u8) -> bool {
    (byte < b' ' && !matches!(byte, b'\n' | b'\t' | b'\r')) || matches!(byte, 0x7F | 0xC2 | 0xEF)
}

fn check_characters(text: &str, from: usize) -> Result<(), YamlError> {
    let is_refused = |c: char| !matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{FFFD}' | '\u{10000}'..);
    match text[from..].char_indices().find(|(_, c)| is_refused(*c)) {
        None => Ok(()),
        Some((at, c)) => {
            let before = &text[..from + at];
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            let lines = before.bytes().filter(|byte| *byte == b'\n').count();
            let mark = Mark {
                index: 0,
                line: u32::try_from(lines).unwrap_or(0),
                column: before[line_start..].chars().count(),
            };
            Err(mark.error(format!("the control character {c:?} is not allowed")))
        }
    }
}
