//! The type that a scalar has in the output.

use std::borrow::Cow;

use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Scalar, Style, Tag};
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

/// What go-yaml version 3 and JSON make of `scalar`.
///
/// # Errors
/// [`BuildErrorKind::Emit`] for infinities, NaN, broken `!!binary`, and a text that is not of its
/// tag's type.
pub(crate) fn typed(scalar: &Scalar) -> Result<Typed<'_>, BuildError> {
    typed_by(scalar, Rules::Resource)
}

/// As [`typed`], for a scalar that was read by other rules.
///
/// # Errors
/// As [`typed`].
pub(crate) fn typed_by(scalar: &Scalar, rules: Rules) -> Result<Typed<'_>, BuildError> {
    let text = &*scalar.text;
    match scalar.tag {
        Tag::Binary => return binary(text),
        Tag::Str | Tag::Merge => return string(text),
        // go-yaml drops a tag that the text alone would give, and quotes make it a string.
        _ if scalar.style != Style::Plain || text.contains('\n') => return string(text),
        _ => {}
    }
    match scalar.tag {
        Tag::Str | Tag::Merge | Tag::Binary | Tag::Unset => resolved(text, rules),
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
/// reader behind it: that folds a next-line character (U+0085) as a line break of a quoted scalar,
/// and refuses U+007F, the other C1 controls, U+FFFE and U+FFFF.
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
    if text.contains('\u{85}') {
        return Ok(Typed::Str(fold_next_lines(text).into()));
    }
    Ok(Typed::Str(text.into()))
}

fn fold_next_lines(text: &str) -> String {
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
        Some(bytes) => Ok(Typed::Str(String::from_utf8_lossy(&bytes).into_owned().into())),
        None => {
            let message = "!!binary value is not base64";
            Err(BuildError::new(BuildErrorKind::Emit, message))
        }
    }
}

/// Go's `base64.StdEncoding.DecodeString`, which skips line breaks.
pub(crate) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
    if digits.len() % 4 != 0 {
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
