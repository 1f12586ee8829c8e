//! What a plain scalar means to go-yaml: version 3 reads resources and strategic merge patches,
//! version 2 reads kustomization files, JSON patches and JSON on its way to the output.
//!
//! Source: go.yaml.in/yaml v2.4.2 and v3.0.3, `resolve.go`. The two differ in the words of YAML 1.1
//! (`yes`, `on`, `n`), in octal `0o`, and in timestamps, which version 2 leaves strings when nothing
//! asks for a time.

use super::node::Tag;

/// The version of go-yaml that reads a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// go.yaml.in/yaml/v2 (YAML 1.1 words).
    V2,
    /// go.yaml.in/yaml/v3.
    V3,
}

/// What a plain scalar resolves to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolved {
    /// Null.
    Null,
    /// A bool.
    Bool(bool),
    /// An integer that fits 64 bits with a sign.
    Int(i64),
    /// An integer beyond that.
    Uint(u64),
    /// Any other number, infinities and NaN included.
    Float(f64),
    /// A time; version 2 tags it so too, but reads it as a string.
    Timestamp,
    /// The merge key `<<`.
    Merge,
    /// A string.
    Str,
}

impl Resolved {
    /// The tag that goes with it.
    #[must_use]
    pub fn tag(self) -> Tag {
        match self {
            Self::Null => Tag::Null,
            Self::Bool(_) => Tag::Bool,
            Self::Int(_) | Self::Uint(_) => Tag::Int,
            Self::Float(_) => Tag::Float,
            Self::Timestamp => Tag::Timestamp,
            Self::Merge => Tag::Merge,
            Self::Str => Tag::Str,
        }
    }
}

/// Resolves a plain scalar without a tag.
#[must_use]
pub fn resolve_plain(text: &str, reader: Reader) -> Resolved {
    let Some(&first) = text.as_bytes().first() else {
        return Resolved::Null;
    };
    match first {
        b'0'..=b'9' | b'+' | b'-' | b'.' => resolve_number(text, reader),
        b'~' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'y' | b'Y' | b'o' | b'O' | b'<' => {
            resolve_word(text, reader).unwrap_or(Resolved::Str)
        }
        _ => Resolved::Str,
    }
}

/// Whether a string would come back as another type when version 2 read it plain (kyaml
/// `IsValueNonString`, for texts that are one scalar).
#[must_use]
pub fn is_yaml_1_1_non_string(text: &str) -> bool {
    !text.is_empty()
        && !text.contains('\n')
        && !matches!(
            resolve_plain(text, Reader::V2),
            Resolved::Str | Resolved::Timestamp | Resolved::Merge
        )
}

fn resolve_word(text: &str, reader: Reader) -> Option<Resolved> {
    Some(match text {
        "~" | "null" | "Null" | "NULL" => Resolved::Null,
        "true" | "True" | "TRUE" => Resolved::Bool(true),
        "false" | "False" | "FALSE" => Resolved::Bool(false),
        "<<" => Resolved::Merge,
        _ if reader == Reader::V3 => return None,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Resolved::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Resolved::Bool(false),
        _ => return None,
    })
}

fn resolve_number(text: &str, reader: Reader) -> Resolved {
    if let Some(float) = special_float(text) {
        return Resolved::Float(float);
    }
    if text.starts_with('.') {
        return go_float(text).map_or(Resolved::Str, Resolved::Float);
    }
    if super::timestamp::parse(text).is_some() {
        return Resolved::Timestamp;
    }
    let without: String;
    let plain = if text.contains('_') {
        without = text.replace('_', "");
        &without
    } else {
        text
    };
    go_integer(plain)
        .or_else(|| go_float(plain).map(Resolved::Float))
        .or_else(|| second_chance_integer(plain, reader))
        .unwrap_or(Resolved::Str)
}

fn special_float(text: &str) -> Option<f64> {
    match text {
        ".nan" | ".NaN" | ".NAN" => Some(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// Go's `strconv.ParseInt(text, 0, 64)`, then `ParseUint`: a sign, then `0x`, `0b`, `0o` or a
/// leading zero for octal.
fn go_integer(text: &str) -> Option<Resolved> {
    let (negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (digits, radix) = split_radix(unsigned);
    let magnitude = parse_digits(digits, radix)?;
    if negative {
        let value = i128::from(magnitude).checked_neg()?;
        return i64::try_from(value).ok().map(Resolved::Int);
    }
    match i64::try_from(magnitude) {
        Ok(value) => Some(Resolved::Int(value)),
        // ParseUint takes no sign.
        Err(_) if text.starts_with('+') => None,
        Err(_) => Some(Resolved::Uint(magnitude)),
    }
}

fn split_radix(unsigned: &str) -> (&str, u32) {
    let bytes = unsigned.as_bytes();
    if bytes.len() < 2 || bytes[0] != b'0' {
        return (unsigned, 10);
    }
    match bytes[1] {
        b'x' | b'X' if bytes.len() > 2 => (&unsigned[2..], 16),
        b'b' | b'B' if bytes.len() > 2 => (&unsigned[2..], 2),
        b'o' | b'O' if bytes.len() > 2 => (&unsigned[2..], 8),
        _ => (&unsigned[1..], 8),
    }
}

fn parse_digits(digits: &str, radix: u32) -> Option<u64> {
    if digits.is_empty() || !digits.bytes().all(|b| (b as char).is_digit(radix)) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

/// `^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`, finite.
fn go_float(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let mut at = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let whole = count_digits(&bytes[at..]);
    at += whole;
    let mut fraction = 0;
    if bytes.get(at) == Some(&b'.') {
        fraction = count_digits(&bytes[at + 1..]);
        at += 1 + fraction;
    }
    if whole == 0 && fraction == 0 {
        return None;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'-' | b'+')));
        let exponent = count_digits(&bytes[at..]);
        if exponent == 0 {
            return None;
        }
        at += exponent;
    }
    if at != bytes.len() {
        return None;
    }
    text.parse().ok().filter(|float: &f64| float.is_finite())
}

fn count_digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// What only the code after the floats finds: `-0b-1` is refused by the first pass, but a second
/// sign after `0b` (and in version 3 `0o`) is taken by the later one.
fn second_chance_integer(text: &str, reader: Reader) -> Option<Resolved> {
    let binary = |prefix: &str, radix: u32, negative: bool| -> Option<Resolved> {
        let rest = text.strip_prefix(prefix)?;
        let signed = if negative {
            parse_signed(rest, radix).filter(|_| !rest.starts_with(['-', '+']))?.checked_neg()?
        } else {
            parse_signed(rest, radix)?
        };
        i64::try_from(signed).ok().map(Resolved::Int)
    };
    binary("0b", 2, false)
        .or_else(|| binary("-0b", 2, true))
        .or_else(|| (reader == Reader::V3).then(|| binary("0o", 8, false))?)
        .or_else(|| (reader == Reader::V3).then(|| binary("-0o", 8, true))?)
}

fn parse_signed(text: &str, radix: u32) -> Option<i128> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let magnitude = i128::from(parse_digits(digits, radix)?);
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}
