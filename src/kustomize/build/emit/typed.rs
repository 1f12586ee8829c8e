//! The type that a scalar has in the output.

use std::borrow::Cow;

use super::folding;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Layout, Scalar, Style, Tag};
use crate::kustomize::read::tag_of;
use crate::yaml::scalar::{Resolved, Rules, resolve, timestamp};

/// A scalar as JSON knows it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Typed<'n> {
    /// Null.
    Null,
    /// A bool.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i128),
    /// Any other finite number.
    Float(f64),
    /// A string.
    Str(Cow<'n, str>),
}

/// What go-yaml version 3 and JSON make of `scalar`, which is in a collection of this layout.
///
/// # Errors
/// [`BuildErrorKind::Emit`] for infinities, NaN, broken `!!binary`, a text that is not of its tag's
/// type, and one that cannot be printed or read.
pub(crate) fn typed_in(scalar: &Scalar, layout: Layout) -> Result<Typed<'_>, BuildError> {
    let text = &*scalar.text;
    if layout == Layout::Flow {
        // In braces and brackets these two need quotes.
        match scalar.tag {
            _ if scalar.style == Style::Tagged => {}
            Tag::Null | Tag::Unset if text.is_empty() => return Ok(Typed::Str("".into())),
            Tag::Unset if text.contains(':') => return string(text),
            Tag::Timestamp if text.contains(':') && timestamp(text).is_some() => {
                return string(text);
            }
            _ => {}
        }
        return typed_by(scalar, Rules::Resource);
    }
    let is_block = matches!(scalar.style, Style::Literal | Style::Folded)
        || (!scalar.style.is_quoted() && text.contains('\n'));
    if is_block && block_is_allowed(text) {
        if text.starts_with('\t') {
            let message = "a block of text that begins with a TAB cannot be read again";
            return Err(BuildError::new(BuildErrorKind::Emit, message));
        }
        if scalar.style == Style::Folded {
            return match string(text)? {
                Typed::Str(text) => Ok(Typed::Str(folding::refold(&text).into())),
                other => Ok(other),
            };
        }
    }
    typed_by(scalar, Rules::Resource)
}

/// Whether go-yaml version 3 writes the text as a block.
pub(super) fn block_is_allowed(text: &str) -> bool {
    let printable = |c: char| c == '\t' || super::scalar::is_printable(c);
    !text.ends_with(' ') && !text.contains(" \n") && text.chars().all(printable)
}

/// Whether a key is read as the merge key when the object is read again.
pub(super) fn is_merge_key(key: &Scalar) -> bool {
    &*key.text == "<<" && !key.style.is_quoted()
}

/// Whether a key is a string when the object is read again.
pub(crate) fn is_string_key(key: &Scalar) -> bool {
    match key.tag {
        _ if is_merge_key(key) => false,
        Tag::Str => true,
        // What is empty is printed in quotes.
        _ if key.text.is_empty() && key.style != Style::Tagged => true,
        _ if key.style.is_quoted() => true,
        Tag::Unset => resolve(&key.text, Rules::Resource) == Resolved::Str,
        _ => false,
    }
}

/// What is made of a scalar that was read by these rules.
///
/// # Errors
/// As [`typed_in`].
pub(crate) fn typed_by(scalar: &Scalar, rules: Rules) -> Result<Typed<'_>, BuildError> {
    let text = &*scalar.text;
    let is_quoted = scalar.style.is_quoted() || text.contains('\n');
    match scalar.tag {
        Tag::Binary => return binary(text),
        Tag::Str | Tag::Merge | Tag::Custom => return string(text),
        // go-yaml drops a tag that the text alone would give, and quotes make it a string.
        tag if is_quoted && (tag == Tag::Unset || tag == tag_of(resolve(text, rules))) => {
            return string(text);
        }
        _ => {}
    }
    match scalar.tag {
        Tag::Str | Tag::Merge | Tag::Binary | Tag::Custom | Tag::Unset => resolved(text, rules),
        Tag::Float => match resolve(text, rules) {
            #[expect(clippy::cast_precision_loss, reason = "go-yaml rounds it so too")]
            Resolved::Int(int) => Ok(Typed::Float(int as f64)),
            Resolved::Float(float) => finite(float),
            _ => Err(mistyped(text, "!!float")),
        },
        Tag::Null => match resolve(text, rules) {
            Resolved::Null => Ok(Typed::Null),
            _ => Err(mistyped(text, "!!null")),
        },
        Tag::Bool => match resolve(text, rules) {
            Resolved::Bool(value) => Ok(Typed::Bool(value)),
            _ => Err(mistyped(text, "!!bool")),
        },
        Tag::Int => match resolve(text, rules) {
            Resolved::Int(int) => Ok(Typed::Int(int)),
            _ => Err(mistyped(text, "!!int")),
        },
        Tag::Timestamp => match timestamp(text) {
            Some(time) => Ok(Typed::Str(time.into())),
            None => Err(mistyped(text, "!!timestamp")),
        },
    }
}

fn resolved(text: &str, rules: Rules) -> Result<Typed<'_>, BuildError> {
    match resolve(text, rules) {
        Resolved::Null => Ok(Typed::Null),
        Resolved::Bool(value) => Ok(Typed::Bool(value)),
        Resolved::Int(int) => Ok(Typed::Int(int)),
        Resolved::Float(float) => finite(float),
        Resolved::Str => string(text),
        Resolved::Timestamp => Ok(Typed::Str(timestamp(text).unwrap_or_default().into())),
    }
}

fn finite<'n>(float: f64) -> Result<Typed<'n>, BuildError> {
    if float.is_finite() {
        return Ok(Typed::Float(float));
    }
    let message = format!("{float} cannot be printed: JSON does not know such a number");
    Err(BuildError::new(BuildErrorKind::Emit, message))
}

fn mistyped(text: &str, tag: &str) -> BuildError {
    BuildError::new(BuildErrorKind::Emit, format!("cannot read `{text}` as {tag}"))
}

/// A string on its way through JSON, which writes all but a few characters as they are, and the
/// reader behind it: that refuses U+007F, the C1 controls but U+0085, U+FFFE and U+FFFF.
fn string(text: &str) -> Result<Typed<'_>, BuildError> {
    let may_be_special = |byte: u8| matches!(byte, 0x7F | 0xC2 | 0xEF);
    if !text.bytes().any(may_be_special) {
        return Ok(Typed::Str(text.into()));
    }
    let refused =
        |c: &char| matches!(c, '\u{7F}'..='\u{84}' | '\u{86}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}');
    if let Some(c) = text.chars().find(refused) {
        let message = format!("the control character {:?} cannot be printed", c);
        return Err(BuildError::new(BuildErrorKind::Emit, message));
    }
    Ok(Typed::Str(text.into()))
}

/// What go-yaml reads from a quoted text in which next-line characters (U+0085) stand as they are, as JSON writes them: each
/// is a line break that is folded.
pub(crate) fn fold_next_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{85}') {
        out.push_str(rest[..at].trim_end_matches(' '));
        let after = rest[at..].trim_start_matches([' ', '\u{85}']);
        let breaks = rest[at..rest.len() - after.len()].matches('\u{85}').count();
        match breaks {
            1 => out.push(' '),
            several => (1..several).for_each(|_| out.push('\n')),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

fn binary<'n>(text: &str) -> Result<Typed<'n>, BuildError> {
    match decode_base64(text) {
        Some(bytes) => Ok(Typed::Str(text_of_bytes(&bytes).into())),
        None => {
            let message = "!!binary value is not base64";
            Err(BuildError::new(BuildErrorKind::Emit, message))
        }
    }
}

/// The text that Go's JSON writes for bytes: each that is not UTF-8 becomes a replacement character.
pub(crate) fn text_of_bytes(mut bytes: &[u8]) -> String {
    let mut text = String::new();
    loop {
        match std::str::from_utf8(bytes) {
            Ok(rest) => return text + rest,
            Err(error) => {
                let (valid, rest) = bytes.split_at(error.valid_up_to());
                text.push_str(&String::from_utf8_lossy(valid));
                text.push(char::REPLACEMENT_CHARACTER);
                bytes = &rest[1..];
            }
        }
    }
}

/// Go's `base64.StdEncoding.DecodeString`, which skips line breaks.
pub(crate) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
    if !digits.len().is_multiple_of(4) {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3);
    for (index, quad) in digits.chunks_exact(4).enumerate() {
        let last = (index + 1) * 4 == digits.len();
        let padding = quad.iter().rev().take_while(|byte| **byte == b'=').count();
        if padding > 2 || (padding > 0 && !last) {
            return None;
        }
        let mut bits = 0u32;
        for byte in &quad[..4 - padding] {
            bits = bits << 6 | base64_digit(*byte)?;
        }
        bits <<= 6 * padding;
        bytes.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
    }
    Some(bytes)
}

fn base64_digit(byte: u8) -> Option<u32> {
    let digit = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(digit))
}
