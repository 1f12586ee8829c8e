//! Writing a string so that every YAML reader in question reads the same string back.

use super::super::tree::Style;
use super::{Resolved, Rules, resolve};

/// Whether `text` may be written as a plain scalar and is read back as that string by go-yaml v2, yaml.v3 and other
/// YAML readers; `in_flow` for places inside brackets or braces.
#[must_use]
pub fn plain_is_safe(text: &str, in_flow: bool) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let flow_break = |c| matches!(c, ',' | '[' | ']' | '{' | '}' | '?');
    let starts_wrong = match first {
        '-' | '?' | ':' => in_flow || text[1..].starts_with([' ', '\t']) || text.len() == 1,
        _ => matches!(
            first,
            '&' | '*'
                | '!'
                | '|'
                | '>'
                | '\''
                | '"'
                | '%'
                | '@'
                | '`'
                | '#'
                | ','
                | '['
                | ']'
                | '{'
                | '}'
        ),
    };
    !starts_wrong
        && !text.starts_with([' ', '\t'])
        && !text.ends_with([' ', '\t', ':'])
        && !text.contains(": ")
        && !text.contains(":\t")
        && !text.contains(" #")
        && !text.contains("\t#")
        && text.chars().all(|c| is_printable(c) && c != '\n')
        && !(in_flow && text.contains(flow_break))
        && !looks_typed(text)
}

/// Whether some reader takes the plain text for something else than a string.
fn looks_typed(text: &str) -> bool {
    let typed = |rules| resolve(text, rules) != Resolved::Str;
    typed(Rules::Kustomization)
        || typed(Rules::Resource)
        || matches!(text, "<<" | "=")
        || text.starts_with("---")
        || text.starts_with("...")
        || looks_numeric(text)
        || is_reserved_word(text)
}

/// Numbers, dates and base-60 numbers of any YAML reader, generously.
fn looks_numeric(text: &str) -> bool {
    let unsigned = text.trim_start_matches(['+', '-']);
    let lower = unsigned.to_ascii_lowercase();
    let year = unsigned.len() > 4
        && unsigned.as_bytes()[4] == b'-'
        && unsigned.bytes().take(4).all(|b| b.is_ascii_digit());
    let numeric = |b: u8| matches!(b, b'0'..=b'9' | b'_' | b'.' | b':');
    let starts_numeric = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let scientific = |b: u8| numeric(b) || matches!(b, b'e' | b'E' | b'+' | b'-');
    let prefixed = ["0x", "0o", "0b"].iter().any(|p| lower.starts_with(p));
    let infinite = matches!(lower.as_str(), ".inf" | ".nan" | "inf" | "nan" | "infinity");
    let all_scientific = starts_numeric && unsigned.bytes().all(scientific);
    prefixed || infinite || year || (all_scientific && !is_version(unsigned))
}

/// `1.9.1`: two dots or more and nothing but digits and dots; no reader takes it for a number.
fn is_version(text: &str) -> bool {
    text.bytes().filter(|b| *b == b'.').count() > 1
        && text.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
}

fn is_reserved_word(text: &str) -> bool {
    let words = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "~"];
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a character may stand unescaped in YAML 1.1 and 1.2 without being a line break other than LF.
fn is_printable(c: char) -> bool {
    matches!(c, '\t' | '\n' | ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}'
        | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..)
}

/// Whether an editor may write `text` as a value at all: no control characters but tab and line feed, none of the
/// characters that kustomize cannot print.
#[must_use]
pub fn is_writable(text: &str) -> bool {
    text.chars().all(is_printable)
}

/// `text` in double quotes, escaped; also valid JSON.
#[must_use]
pub fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_printable(c) => out.push(c),
            c => {
                let mut units = [0u16; 2];
                c.encode_utf16(&mut units)
                    .iter()
                    .for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
            }
        }
    }
    out.push('"');
    out
}

/// `text` in single quotes; `None` if it holds a line break or a character that needs an escape.
#[must_use]
pub fn single_quoted(text: &str) -> Option<String> {
    let fits = text.chars().all(|c| is_printable(c) && c != '\n');
    fits.then(|| format!("'{}'", text.replace('\'', "''")))
}

/// `text` as a literal block: the header (`|`, `|-`, `|+`, with an indentation digit where the first line starts
/// with a blank), then each line behind `eol` and `indent` blanks. Ends without a line break, except for `|+`.
///
/// `None` if it cannot be written so: empty, a character that needs an escape, a line of blanks only at the end,
/// or `step` (the blanks beyond the parent's own indentation) outside 1–9 where a digit is needed.
#[must_use]
pub fn literal_block(text: &str, indent: usize, step: usize, eol: &str) -> Option<String> {
    let body = text.trim_end_matches('\n');
    if body.is_empty() || !is_writable(text) || body.ends_with([' ', '\t']) {
        return None;
    }
    let first = body.lines().find(|l| !l.is_empty()).unwrap_or_default();
    let digit = match first.starts_with(' ') {
        true if !(1..=9).contains(&step) => return None,
        true => step.to_string(),
        false => String::new(),
    };
    let breaks = text.len() - body.len();
    let chomp = ["-", "", "+"][breaks.min(2)];
    let mut out = format!("|{digit}{chomp}");
    for line in body.split('\n') {
        out.push_str(eol);
        if !line.is_empty() {
            out.push_str(&" ".repeat(indent));
            out.push_str(line);
        }
    }
    if breaks > 1 {
        out.push_str(&eol.repeat(breaks));
    }
    Some(out)
}

/// `text` as a one-line scalar in `style` if that is safe, else in double quotes. Block styles become double quotes.
#[must_use]
pub fn encode(text: &str, style: Style, in_flow: bool) -> String {
    match style {
        Style::Plain if plain_is_safe(text, in_flow) => text.to_owned(),
        Style::SingleQuoted => single_quoted(text).unwrap_or_else(|| double_quoted(text)),
        _ => double_quoted(text),
    }
}
