//! Strings in the style that go-yaml version 2 chooses, folded where it folds them.
//!
//! Source: go.yaml.in/yaml v2.4.2 `encode.go` (`stringv`) and `emitterc.go`.

use std::fmt::Write as _;

use super::pad;
use super::typed::block_is_allowed;
use crate::kustomize::node::Style;
use crate::yaml::scalar::{Resolved, Rules, resolve, timestamp};

/// The column behind which a blank becomes a line break.
const WIDTH: usize = 80;

/// Where a string is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// A value, which may have several lines.
    Value,
    /// A key before `:`, on one line.
    SimpleKey,
}

/// What a string's characters allow.
#[derive(Clone, Copy)]
struct Allowed {
    plain: bool,
    single_quoted: bool,
    block: bool,
}

/// The text in double quotes, on one line.
pub(crate) fn double_quoted(text: &str) -> String {
    let mut out = String::new();
    Folder::new(&mut out, 0, Context::SimpleKey).double_quoted(text);
    out
}

/// Writes a string that starts at the end of `out`; lines that follow are indented by `indent`.
pub(super) fn write_string(out: &mut String, text: &str, indent: usize, context: Context) {
    let allowed = analyze(text);
    if text.contains('\n') {
        if allowed.block && context == Context::Value {
            write_literal(out, text, indent);
        } else {
            Folder::new(out, indent, context).double_quoted(text);
        }
        return;
    }
    if !resolves_to_string(text) {
        Folder::new(out, indent, context).double_quoted(text);
    } else if allowed.plain {
        Folder::new(out, indent, context).plain(text);
    } else if allowed.single_quoted {
        Folder::new(out, indent, context).single_quoted(text);
    } else {
        Folder::new(out, indent, context).double_quoted(text);
    }
}

/// The style that go-yaml version 3 gives a string.
pub(crate) fn style_of(text: &str) -> Style {
    let allowed = analyze(text);
    let is_old_bool = || resolve(text, Rules::Kustomization) != Resolved::Str;
    if text.contains('\n') {
        if block_is_allowed(text) { Style::Literal } else { Style::DoubleQuoted }
    } else if !resolves_to_string(text) || is_old_bool() {
        Style::DoubleQuoted
    } else if allowed.plain {
        Style::Plain
    } else if allowed.single_quoted {
        Style::SingleQuoted
    } else {
        Style::DoubleQuoted
    }
}

/// Whether a key has to be written behind `?`.
pub(super) fn is_multiline(text: &str) -> bool {
    text.contains(is_break)
}

/// Whether a plain text would be read back as a string.
fn resolves_to_string(text: &str) -> bool {
    match text.as_bytes().first() {
        None => false,
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => {
            resolve(text, Rules::Kustomization) == Resolved::Str
                && timestamp(text).is_none()
                && !is_base_60(text)
        }
        Some(_) => resolve(text, Rules::Kustomization) == Resolved::Str,
    }
}

/// `^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$`: a number to other readers of YAML 1.1.
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let first = parts.next().unwrap_or("");
    let is_number = first.starts_with(|c: char| c.is_ascii_digit())
        && first.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let Some((last, middle)) =
        parts.collect::<Vec<_>>().split_last().map(|(l, m)| (*l, m.to_vec()))
    else {
        return false;
    };
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    is_number
        && middle.into_iter().chain([last]).all(is_sixtieth)
        && fraction.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

fn is_sixtieth(part: &str) -> bool {
    match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [tens, digit] => matches!(tens, b'0'..=b'5') && digit.is_ascii_digit(),
        _ => false,
    }
}

/// Bytes that never decide a style: no indicators, blanks or breaks.
const HARMLESS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        table[byte as usize] = !matches!(byte, b':' | b'#');
        byte += 1;
    }
    table
};

/// libyaml's analysis of a scalar, for block context.
fn analyze(text: &str) -> Allowed {
    let bytes = text.as_bytes();
    let starts_as_indicator = match bytes {
        [] => return Allowed { plain: true, single_quoted: true, block: false },
        [b'-', b'-', b'-', ..] | [b'.', b'.', b'.', ..] => true,
        [first, ..] => is_indicator(*first, bytes.get(1).copied()),
    };
    if bytes.iter().all(|byte| HARMLESS[usize::from(*byte)]) {
        return Allowed { plain: !starts_as_indicator, single_quoted: true, block: true };
    }
    let mut scan = Scan { indicator: starts_as_indicator, ..Scan::default() };
    scan.run(text);
    scan.allowed(text)
}

/// Whether a plain scalar must not start with `first`.
fn is_indicator(first: u8, second: Option<u8>) -> bool {
    match first {
        b'#' | b',' | b'[' | b']' | b'{' | b'}' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\''
        | b'"' | b'%' | b'@' | b'`' => true,
        b'?' | b':' | b'-' => matches!(second, None | Some(b' ' | b'\t')),
        _ => false,
    }
}

#[derive(Default)]
struct Scan {
    indicator: bool,
    special: bool,
    breaks: bool,
    break_space: bool,
    space_break: bool,
}

impl Scan {
    fn run(&mut self, text: &str) {
        let (mut after_space, mut after_break, mut after_blank) = (false, false, true);
        let mut chars = text.chars().peekable();
        let mut first = true;
        while let Some(c) = chars.next() {
            let before_blank = matches!(chars.peek(), None | Some(' ' | '\t'));
            self.indicator |= !first && c == ':' && before_blank;
            self.indicator |= !first && c == '#' && after_blank;
            self.special |= !is_printable(c);
            let (space, line_break) = (c == ' ', is_break(c));
            self.break_space |= space && after_break;
            self.space_break |= line_break && after_space;
            self.breaks |= line_break;
            (after_space, after_break) = (space, line_break);
            after_blank = space || line_break || c == '\t' || c == '\0';
            first = false;
        }
    }

    fn allowed(&self, text: &str) -> Allowed {
        let edge = |c: char| c == ' ' || is_break(c);
        let at_edge = text.starts_with(edge) || text.ends_with(edge);
        let quoted_only = self.break_space || self.space_break || self.special;
        Allowed {
            plain: !(at_edge || quoted_only || self.breaks || self.indicator),
            single_quoted: !quoted_only,
            block: !(text.ends_with(' ') || self.space_break || self.special),
        }
    }
}

pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What libyaml's emitter calls printable: no TAB, and nothing beyond the basic plane.
pub(super) fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}')
        && c != '\u{FEFF}'
}

/// `|`, its hints, and the lines.
fn write_literal(out: &mut String, text: &str, indent: usize) {
    out.push('|');
    if text.starts_with(|c| c == ' ' || is_break(c)) {
        out.push('2');
    }
    let mut ends = text.chars().rev();
    match (ends.next().is_some_and(is_break), ends.next()) {
        (false, _) => out.push('-'),
        (true, None) => out.push('+'),
        (true, Some(before)) if is_break(before) => out.push('+'),
        (true, Some(_)) => {}
    }
    out.push('\n');
    for line in text.split_inclusive(is_break) {
        if !line.starts_with(is_break) {
            pad(out, indent);
        }
        out.push_str(line);
    }
}

/// Writes a scalar of one style and breaks its lines behind column 80.
struct Folder<'o> {
    out: &'o mut String,
    indent: usize,
    column: usize,
    may_break: bool,
}

impl<'o> Folder<'o> {
    fn new(out: &'o mut String, indent: usize, context: Context) -> Self {
        let line = out.rsplit(is_break).next().unwrap_or_default();
        let column = line.chars().count();
        Self { out, indent, column, may_break: context == Context::Value }
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn new_line(&mut self) {
        self.out.push('\n');
        pad(self.out, self.indent);
        self.column = self.indent;
    }

    /// Whether a blank here becomes a line break.
    fn is_full(&self, after_space: bool) -> bool {
        self.may_break && !after_space && self.column > WIDTH
    }

    fn plain(&mut self, text: &str) {
        if self.column + text.len() <= WIDTH || !text.contains(' ') {
            self.out.push_str(text);
            return;
        }
        let mut after_space = false;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c == ' ' && self.is_full(after_space) && chars.peek() != Some(&' ') {
                self.new_line();
            } else {
                self.put(c);
            }
            after_space = c == ' ';
        }
    }

    fn single_quoted(&mut self, text: &str) {
        self.put('\'');
        let (mut after_space, mut after_break, mut first) = (false, false, true);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let inner = !first && chars.peek().is_some_and(|next| *next != ' ');
            if c == ' ' && self.is_full(after_space) && inner {
                self.new_line();
            } else if is_break(c) {
                self.out.push(c);
                self.column = 0;
            } else {
                if after_break {
                    pad(self.out, self.indent);
                    self.column = self.indent;
                }
                if c == '\'' {
                    self.put('\'');
                }
                self.put(c);
            }
            after_space = c == ' ';
            after_break = is_break(c);
            first = false;
        }
        self.put('\'');
    }

    fn double_quoted(&mut self, text: &str) {
        self.put('"');
        // libyaml asks for a byte-order mark at the start of the text instead of at the character.
        let all_escaped = text.starts_with('\u{FEFF}');
        let (mut after_space, mut first) = (false, true);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if all_escaped || !is_printable(c) || is_break(c) || matches!(c, '"' | '\\') {
                self.escape(c);
            } else if c == ' ' && self.is_full(after_space) && !first && chars.peek().is_some() {
                self.new_line();
                if chars.peek() == Some(&' ') {
                    self.put('\\');
                }
            } else {
                self.put(c);
            }
            after_space = c == ' ' && !all_escaped;
            first = false;
        }
        self.put('"');
    }

    fn escape(&mut self, c: char) {
        let before = self.out.len();
        self.out.push('\\');
        let short = match c {
            '\0' => '0',
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\u{B}' => 'v',
            '\u{C}' => 'f',
            '\r' => 'r',
            '\u{1B}' => 'e',
            '"' | '\\' => c,
            '\u{85}' => 'N',
            '\u{A0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ => '\0',
        };
        // Writing to a string cannot fail.
        let _ = match u32::from(c) {
            _ if short != '\0' => write!(self.out, "{short}"),
            code @ ..=0xFF => write!(self.out, "x{code:02X}"),
            code @ ..=0xFFFF => write!(self.out, "u{code:04X}"),
            code => write!(self.out, "U{code:08X}"),
        };
        self.column += self.out.len() - before;
    }
}
