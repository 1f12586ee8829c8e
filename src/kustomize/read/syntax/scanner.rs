//! Tokens: indicators, scalars, and the starts and ends that indentation stands for.
//!
//! Whether a token is a key shows only at the `:` behind it; a [`SimpleKey`] remembers where one may
//! have begun, and the tokens for it are put in there later.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::cursor::{Cursor, Mark};
use crate::yaml::scalar::Rules;
use crate::yaml::tree::{MAX_DEPTH, Style, YamlError};

/// How far from its start the `:` of a key without `?` may stand, in characters.
const MAX_SIMPLE_KEY: usize = 1024;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind<'s> {
    End,
    VersionDirective { major: u32, minor: u32 },
    TagDirective { handle: &'s str, prefix: String },
    DocumentStart,
    DocumentEnd,
    BlockSeqStart,
    BlockMapStart,
    BlockEnd,
    FlowSeqStart,
    FlowSeqEnd,
    FlowMapStart,
    FlowMapEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(&'s str),
    Anchor(&'s str),
    Tag { handle: &'s str, suffix: String },
    Scalar(Cow<'s, str>, Style),
}

#[derive(Clone, Debug)]
pub(super) struct Token<'s> {
    pub(super) kind: TokenKind<'s>,
    pub(super) mark: Mark,
    /// The comment behind it on its line; empty for none.
    pub(super) comment: &'s str,
    /// The comment that stands before it, on lines of its own.
    pub(super) comment_above: Option<CommentAbove>,
}

/// A comment on lines of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommentAbove {
    /// Where it begins.
    pub(super) mark: Mark,
    /// Whether an empty line follows.
    pub(super) is_apart: bool,
}

impl<'s> Token<'s> {
    fn new(kind: TokenKind<'s>, mark: Mark) -> Self {
        Self { kind, mark, comment: "", comment_above: None }
    }
}

/// Where a key without `?` may have begun.
#[derive(Clone, Copy, Debug, Default)]
struct SimpleKey {
    possible: bool,
    /// Nothing else may stand here.
    required: bool,
    token: usize,
    mark: Mark,
}

#[derive(Debug)]
pub(super) struct Scanner<'s> {
    pub(super) cursor: Cursor<'s>,
    rules: Rules,
    queue: VecDeque<Token<'s>>,
    /// How many tokens were taken from the queue.
    taken: usize,
    indent: isize,
    indents: Vec<isize>,
    /// One for the block level and one for each open bracket.
    simple_keys: Vec<SimpleKey>,
    pub(super) simple_key_allowed: bool,
    /// Whether the last token took the line break behind it.
    pub(super) is_behind_break: bool,
    ended: bool,
}

impl<'s> Scanner<'s> {
    pub(super) fn new(text: &'s str, rules: Rules) -> Result<Self, YamlError> {
        Ok(Self {
            cursor: Cursor::new(text)?,
            rules,
            queue: VecDeque::new(),
            taken: 0,
            indent: -1,
            indents: Vec::new(),
            simple_keys: vec![SimpleKey::default()],
            simple_key_allowed: true,
            is_behind_break: false,
            ended: false,
        })
    }

    pub(super) fn in_flow(&self) -> bool {
        self.simple_keys.len() > 1
    }

    /// The column that the text of a block must be at or behind.
    pub(super) fn least_column(&self) -> usize {
        usize::try_from(self.indent + 1).unwrap_or(0)
    }

    /// The indentation, or nothing outside of all blocks.
    pub(super) fn indentation(&self) -> usize {
        usize::try_from(self.indent).unwrap_or(0)
    }

    /// The next token, which stays.
    pub(super) fn peek(&mut self) -> Result<&Token<'s>, YamlError> {
        // Version 3 looks further ahead, for comments, and finds faults there.
        let enough = if self.rules == Rules::Resource { 3 } else { 1 };
        while !self.ended && (self.queue.len() < enough || self.head_may_be_key()?) {
            self.fetch()?;
        }
        let end = || Token::new(TokenKind::End, self.cursor.mark);
        if self.queue.is_empty() {
            self.queue.push_back(end());
        }
        Ok(&self.queue[0])
    }

    /// Takes the token that was looked at.
    pub(super) fn take(&mut self) -> Result<Token<'s>, YamlError> {
        self.peek()?;
        self.taken += 1;
        let end = Token::new(TokenKind::End, self.cursor.mark);
        Ok(self.queue.pop_front().unwrap_or(end))
    }

    fn head_may_be_key(&mut self) -> Result<bool, YamlError> {
        let level = self.simple_keys.partition_point(|key| key.token < self.taken);
        let is_head = |key: &SimpleKey| key.possible && key.token == self.taken;
        match self.simple_keys[level..].iter().position(is_head) {
            Some(at) => self.is_valid_key(level + at),
            None => Ok(false),
        }
    }

    fn is_valid_key(&mut self, level: usize) -> Result<bool, YamlError> {
        let (key, here) = (self.simple_keys[level], self.cursor.mark);
        if !key.possible {
            return Ok(false);
        }
        if key.mark.line == here.line && key.mark.index + MAX_SIMPLE_KEY >= here.index {
            return Ok(true);
        }
        self.drop_key(level)?;
        Ok(false)
    }

    fn drop_key(&mut self, level: usize) -> Result<(), YamlError> {
        let key = &mut self.simple_keys[level];
        if key.possible && key.required {
            return Err(key.mark.error("could not find the `:` of a key that begins here"));
        }
        key.possible = false;
        Ok(())
    }

    fn drop_last_key(&mut self) -> Result<(), YamlError> {
        self.drop_key(self.simple_keys.len() - 1)
    }

    fn save_key(&mut self) -> Result<(), YamlError> {
        if !self.simple_key_allowed {
            return Ok(());
        }
        self.drop_last_key()?;
        let mark = self.cursor.mark;
        let required = !self.in_flow() && self.indent == signed(mark.column);
        let token = self.taken + self.queue.len();
        if let Some(last) = self.simple_keys.last_mut() {
            *last = SimpleKey { possible: true, required, token, mark };
        }
        Ok(())
    }

    pub(super) fn push(&mut self, kind: TokenKind<'s>, mark: Mark) {
        self.queue.push_back(Token::new(kind, mark));
    }

    fn roll(
        &mut self,
        mark: Mark,
        at: Option<usize>,
        kind: TokenKind<'s>,
    ) -> Result<(), YamlError> {
        let column = signed(mark.column);
        if self.in_flow() || self.indent >= column {
            return Ok(());
        }
        if self.indents.len() > MAX_DEPTH {
            return Err(mark.error("collections are nested more than 1000 deep"));
        }
        self.indents.push(self.indent);
        self.indent = column;
        let at = at.map_or(self.queue.len(), |token| token - self.taken);
        self.queue.insert(at, Token::new(kind, mark));
        Ok(())
    }

    fn unroll(&mut self, column: isize) {
        while !self.in_flow() && self.indent > column {
            self.push(TokenKind::BlockEnd, self.cursor.mark);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    fn fetch(&mut self) -> Result<(), YamlError> {
        let comment_above = self.skip_to_token();
        let first = self.queue.len();
        self.fetch_here()?;
        if comment_above.is_some() {
            let tokens = self.queue.iter_mut().skip(first);
            tokens.for_each(|token| token.comment_above = comment_above);
        }
        Ok(())
    }

    fn fetch_here(&mut self) -> Result<(), YamlError> {
        self.unroll(signed(self.cursor.mark.column));
        if self.cursor.is_end() {
            return self.finish();
        }
        let byte = self.cursor.byte(0);
        if self.cursor.mark.column == 0 && byte == b'%' {
            return self.directive();
        }
        if self.cursor.is_document_mark() {
            return self.document_mark(byte);
        }
        self.is_behind_break = false;
        self.indicator_or_scalar(byte)?;
        let is_entry = |token: &Token<'_>| token.kind == TokenKind::BlockEntry;
        let may_have_comment = !self.is_behind_break && !self.queue.back().is_some_and(is_entry);
        if self.rules == Rules::Resource && may_have_comment {
            self.skip_line_comment();
        }
        Ok(())
    }

    fn indicator_or_scalar(&mut self, byte: u8) -> Result<(), YamlError> {
        let is_alone = self.in_flow() || self.cursor.is_separated(1);
        match byte {
            b'[' => self.flow_start(TokenKind::FlowSeqStart),
            b'{' => self.flow_start(TokenKind::FlowMapStart),
            b']' => self.flow_end(TokenKind::FlowSeqEnd),
            b'}' => self.flow_end(TokenKind::FlowMapEnd),
            b',' => self.flow_entry(),
            b'-' if self.cursor.is_separated(1) => self.block_entry(),
            b'?' if is_alone => self.key(),
            b':' if is_alone => self.value(),
            b'*' | b'&' => self.anchor(byte),
            b'!' => self.tag(),
            b'|' | b'>' if !self.in_flow() => self.block(byte),
            b'\'' | b'"' => self.quoted(byte),
            b'#' | b'|' | b'>' | b'%' | b'@' | b'`' | b'\t' | b'-' if !self.starts_plain(byte) => {
                Err(self.cursor.mark.error("this character cannot begin a value"))
            }
            _ => self.plain(),
        }
    }

    fn starts_plain(&self, byte: u8) -> bool {
        byte == b'-' && !matches!(self.cursor.byte(1), b' ' | b'\t')
    }

    /// Goes over blanks, comments and line breaks, and says where the first comment was. A TAB may not
    /// stand where a key may begin.
    fn skip_to_token(&mut self) -> Option<CommentAbove> {
        let mut comment = None;
        loop {
            while self.cursor.byte(0) == b' '
                || (self.cursor.byte(0) == b'\t' && (self.in_flow() || !self.simple_key_allowed))
            {
                self.cursor.skip_ascii(1);
            }
            if self.cursor.byte(0) == b'#' {
                comment.get_or_insert_with(|| CommentAbove {
                    mark: self.cursor.mark,
                    is_apart: self.cursor.is_comment_apart(),
                });
                self.skip_comments();
            }
            if self.cursor.take_break().is_empty() {
                return comment;
            }
            if !self.in_flow() {
                self.simple_key_allowed = true;
            }
        }
    }

    /// Goes over a comment; version 3 then over those on the lines behind it, however indented.
    fn skip_comments(&mut self) {
        self.cursor.take_line();
        let is_between = |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        while self.rules == Rules::Resource && self.cursor.comment_ahead(is_between).is_some() {
            while self.cursor.byte(0) != b'#' {
                if self.cursor.take_break().is_empty() {
                    self.cursor.skip_ascii(1);
                } else if !self.in_flow() {
                    self.simple_key_allowed = true;
                }
            }
            self.cursor.take_line();
        }
    }

    /// Goes over a comment on the line of the last token, which it belongs to. One behind a comma
    /// belongs to what stands before the comma.
    fn skip_line_comment(&mut self) {
        let Some(ahead) = self.cursor.comment_ahead(|byte| matches!(byte, b' ' | b'\t')) else {
            return;
        };
        let comment = &self.cursor.take_line()[ahead..];
        let is_comma = |token: &Token<'_>| token.kind == TokenKind::FlowEntry;
        if self.queue.back().is_some_and(is_comma) {
            let before = self.queue.len().checked_sub(2);
            if let Some(token) = before.and_then(|before| self.queue.get_mut(before)) {
                token.comment = comment;
            }
        }
        if let Some(token) = self.queue.back_mut() {
            token.comment = comment;
        }
    }

    fn finish(&mut self) -> Result<(), YamlError> {
        if self.cursor.mark.column != 0 {
            self.cursor.mark.column = 0;
            self.cursor.mark.line += 1;
        }
        self.unroll(-1);
        self.drop_last_key()?;
        self.simple_key_allowed = false;
        self.push(TokenKind::End, self.cursor.mark);
        self.ended = true;
        Ok(())
    }

    /// Ends all blocks, for what stands between documents.
    pub(super) fn leave_blocks(&mut self) -> Result<(), YamlError> {
        self.unroll(-1);
        self.drop_last_key()?;
        self.simple_key_allowed = false;
        Ok(())
    }

    fn document_mark(&mut self, byte: u8) -> Result<(), YamlError> {
        self.leave_blocks()?;
        let kind = if byte == b'-' { TokenKind::DocumentStart } else { TokenKind::DocumentEnd };
        self.push(kind, self.cursor.mark);
        self.cursor.skip_ascii(3);
        Ok(())
    }

    fn indicator(&mut self, kind: TokenKind<'s>) {
        self.push(kind, self.cursor.mark);
        self.cursor.skip_ascii(1);
    }

    fn flow_start(&mut self, kind: TokenKind<'s>) -> Result<(), YamlError> {
        self.save_key()?;
        if self.simple_keys.len() > MAX_DEPTH {
            return Err(self.cursor.mark.error("collections are nested more than 1000 deep"));
        }
        let token = self.taken + self.queue.len();
        self.simple_keys.push(SimpleKey { token, ..SimpleKey::default() });
        self.simple_key_allowed = true;
        self.indicator(kind);
        Ok(())
    }

    fn flow_end(&mut self, kind: TokenKind<'s>) -> Result<(), YamlError> {
        self.drop_last_key()?;
        if self.in_flow() {
            self.simple_keys.pop();
        }
        self.simple_key_allowed = false;
        self.indicator(kind);
        Ok(())
    }

    fn flow_entry(&mut self) -> Result<(), YamlError> {
        self.drop_last_key()?;
        self.simple_key_allowed = true;
        self.indicator(TokenKind::FlowEntry);
        Ok(())
    }

    fn block_entry(&mut self) -> Result<(), YamlError> {
        if !self.in_flow() {
            self.check_allowed("an entry of a list is not allowed here")?;
            self.roll(self.cursor.mark, None, TokenKind::BlockSeqStart)?;
        }
        self.drop_last_key()?;
        self.simple_key_allowed = true;
        self.indicator(TokenKind::BlockEntry);
        Ok(())
    }

    fn check_allowed(&self, message: &str) -> Result<(), YamlError> {
        if self.simple_key_allowed { Ok(()) } else { Err(self.cursor.mark.error(message)) }
    }

    fn key(&mut self) -> Result<(), YamlError> {
        if !self.in_flow() {
            self.check_allowed("a key is not allowed here")?;
            self.roll(self.cursor.mark, None, TokenKind::BlockMapStart)?;
        }
        self.drop_last_key()?;
        self.simple_key_allowed = !self.in_flow();
        self.indicator(TokenKind::Key);
        Ok(())
    }

    fn value(&mut self) -> Result<(), YamlError> {
        let level = self.simple_keys.len() - 1;
        if self.is_valid_key(level)? {
            let key = self.simple_keys[level];
            let token = Token::new(TokenKind::Key, key.mark);
            self.queue.insert(key.token - self.taken, token);
            self.roll(key.mark, Some(key.token), TokenKind::BlockMapStart)?;
            self.simple_keys[level].possible = false;
            self.simple_key_allowed = false;
        } else {
            if !self.in_flow() {
                self.check_allowed("a value is not allowed here")?;
                self.roll(self.cursor.mark, None, TokenKind::BlockMapStart)?;
            }
            self.simple_key_allowed = !self.in_flow();
        }
        self.indicator(TokenKind::Value);
        Ok(())
    }

    /// An anchor or alias, a tag or a scalar on one line may be a key, and no key follows on that line.
    pub(super) fn start_word(&mut self) -> Result<Mark, YamlError> {
        self.save_key()?;
        self.simple_key_allowed = false;
        Ok(self.cursor.mark)
    }

    fn anchor(&mut self, indicator: u8) -> Result<(), YamlError> {
        let mark = self.start_word()?;
        self.cursor.skip_ascii(1);
        let from = self.cursor.at;
        while is_word(self.cursor.byte(0)) {
            self.cursor.skip_ascii(1);
        }
        let name = &self.cursor.text[from..self.cursor.at];
        let ends = self.cursor.is_separated(0)
            || matches!(self.cursor.byte(0), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if name.is_empty() || !ends {
            return Err(mark.error("the name of an anchor has letters, digits, `-` and `_` only"));
        }
        let kind = if indicator == b'&' { TokenKind::Anchor(name) } else { TokenKind::Alias(name) };
        self.push(kind, mark);
        Ok(())
    }

    fn block(&mut self, indicator: u8) -> Result<(), YamlError> {
        self.drop_last_key()?;
        self.simple_key_allowed = true;
        self.block_scalar(indicator == b'|')
    }
}

/// Whether a byte may stand in the name of an anchor or a handle.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn signed(column: usize) -> isize {
    isize::try_from(column).unwrap_or(isize::MAX)
}
