//! What go-yaml makes of a scalar, and how a string must be written so that go-yaml reads it back.
//!
//! kustomize reads YAML with two engines: `kustomization.yaml` and JSON 6902 patches with go-yaml v2 (YAML 1.1
//! booleans), resources and strategic merge patches with yaml.v3. The rules here follow `resolve.go` of both
//! (go.yaml.in/yaml v2.4 and v3.0); no Rust parser resolves like either.

use super::tree::{Node, Style};

mod encode;
mod time;

pub use encode::{double_quoted, encode, is_writable, literal_block, plain_is_safe, single_quoted};
pub use time::timestamp;

/// Which of kustomize's two engines reads the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rules {
    /// go-yaml v2: `kustomization.yaml` and JSON 6902 patches. `on`, `y`, `No` are booleans; dates are strings.
    Kustomization,
    /// yaml.v3: resources and strategic merge patches. `on`, `y`, `No` are strings; dates are timestamps.
    Resource,
}

/// The type, and for all but strings the value, of a scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolved {
    /// Nothing, `~` or `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer in the range of `i64` or `u64`.
    Int(i128),
    /// Any other number, `.inf` and `.nan` included.
    Float(f64),
    /// A string: the decoded text itself.
    Str,
    /// A date ([`Rules::Resource`] only); [`timestamp`] gives the text that kustomize prints for it.
    Timestamp,
}

/// Resolves the decoded text of a *plain* scalar without a tag.
#[must_use]
pub fn resolve(text: &str, rules: Rules) -> Resolved {
    match text.as_bytes().first() {
        None => Resolved::Null,
        Some(b'~' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'y' | b'Y' | b'o' | b'O') => {
            word(text, rules)
        }
        Some(b'.') => dotted(text),
        Some(b'0'..=b'9' | b'+' | b'-') => number(text, rules),
        Some(_) => Resolved::Str,
    }
}

/// Resolves a scalar node: quoted and block scalars are strings, an explicit core tag decides.
///
/// `None` for collections and aliases, and for a tag that is not `!!str`, `!!int`, `!!float`, `!!bool`, `!!null`
/// or `!!timestamp`.
#[must_use]
pub fn resolve_node(node: &Node<'_>, rules: Rules) -> Option<Resolved> {
    let (text, style) = (node.scalar()?, node.style()?);
    match node.tag.as_deref() {
        None if style == Style::Plain => Some(resolve(text, rules)),
        None | Some("!!str" | "!") => Some(Resolved::Str),
        Some("!!float") => Some(match resolve(text, rules) {
            Resolved::Int(i) => Resolved::Float(i as f64),
            other => other,
        }),
        Some("!!int" | "!!bool" | "!!null" | "!!timestamp") => Some(resolve(text, rules)),
        Some(_) => None,
    }
}

fn word(text: &str, rules: Rules) -> Resolved {
    match text {
        "~" | "null" | "Null" | "NULL" => Resolved::Null,
        "true" | "True" | "TRUE" => Resolved::Bool(true),
        "false" | "False" | "FALSE" => Resolved::Bool(false),
        _ if rules == Rules::Resource => Resolved::Str,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Resolved::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Resolved::Bool(false),
        _ => Resolved::Str,
    }
}

/// A text that starts with a dot; go-yaml hands it to Go's `strconv.ParseFloat`, which takes an underscore between
/// two digits and nowhere else.
fn dotted(text: &str) -> Resolved {
    match text {
        ".inf" | ".Inf" | ".INF" => Resolved::Float(f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" => Resolved::Float(f64::NAN),
        _ if !text.contains('_') => decimal(text).map_or(Resolved::Str, Resolved::Float),
        _ => {
            let well_placed = text.split('_').all(|part| {
                part.starts_with(|c: char| c.is_ascii_digit() || part.len() > 1 && c == '.')
                    && part.ends_with(|c: char| c.is_ascii_digit())
            });
            let number = if well_placed { decimal(&text.replace('_', "")) } else { None };
            number.map_or(Resolved::Str, Resolved::Float)
        }
    }
}

fn number(text: &str, rules: Rules) -> Resolved {
    match text {
        "+.inf" | "+.Inf" | "+.INF" => return Resolved::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Resolved::Float(f64::NEG_INFINITY),
        _ => {}
    }
    if time::is_timestamp(text) {
        return if rules == Rules::Resource { Resolved::Timestamp } else { Resolved::Str };
    }
    let plain: std::borrow::Cow<'_, str> =
        if text.contains('_') { text.replace('_', "").into() } else { text.into() };
    if let Some(int) = integer(&plain, rules) {
        return Resolved::Int(int);
    }
    decimal(&plain).map_or(Resolved::Str, Resolved::Float)
}

/// Go's `strconv.ParseInt` and `ParseUint` with base 0, and go-yaml's second look at `0b` and (v3) `0o`.
fn integer(text: &str, rules: Rules) -> Option<i128> {
    let (sign, digits) = split_sign(text);
    let (base, rest) = radix(digits);
    let value = magnitude(rest, base)?;
    match value {
        Some(value) => in_range(sign, value),
        None => second_look(text, rules),
    }
}

/// `Some(None)` where the digits are malformed, `None` where they are no candidate at all.
fn magnitude(digits: &str, base: u32) -> Option<Option<u128>> {
    if digits.is_empty() {
        return None;
    }
    if digits.starts_with(['+', '-']) {
        return Some(None);
    }
    if digits.len() > 64 {
        let trimmed = digits.trim_start_matches('0');
        return if trimmed.len() > 64 {
            None
        } else {
            magnitude(if trimmed.is_empty() { "0" } else { trimmed }, base)
        };
    }
    u128::from_str_radix(digits, base).ok().map(Some)
}

fn split_sign(text: &str) -> (Option<char>, &str) {
    match text.chars().next() {
        Some(sign @ ('+' | '-')) => (Some(sign), &text[1..]),
        _ => (None, text),
    }
}

fn radix(digits: &str) -> (u32, &str) {
    let bytes = digits.as_bytes();
    if bytes.first() != Some(&b'0') || bytes.len() < 2 {
        return (10, digits);
    }
    match bytes[1] {
        b'x' | b'X' => (16, &digits[2..]),
        b'b' | b'B' => (2, &digits[2..]),
        b'o' | b'O' => (8, &digits[2..]),
        _ => (8, &digits[1..]),
    }
}

fn in_range(sign: Option<char>, magnitude: u128) -> Option<i128> {
    let value = i128::try_from(magnitude).ok()?;
    match sign {
        Some('-') => (value <= -i128::from(i64::MIN)).then_some(-value),
        Some(_) => (value <= i128::from(i64::MAX)).then_some(value),
        None => (value <= i128::from(u64::MAX)).then_some(value),
    }
}

/// `0b` (and in v3 `0o`) followed by a sign, which go-yaml hands to `ParseInt` a second time.
fn second_look(text: &str, rules: Rules) -> Option<i128> {
    let (base, rest) = match text.strip_prefix("0b") {
        Some(rest) => (2, rest),
        None if rules == Rules::Resource => (8, text.strip_prefix("0o")?),
        None => return None,
    };
    let (sign, digits) = split_sign(rest);
    in_range(sign, magnitude(digits, base)??)
}

/// A finite decimal number: `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
fn decimal(text: &str) -> Option<f64> {
    let unsigned = split_sign(text).1;
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let mantissa_is_good = match mantissa.split_once('.') {
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
        None => digits(mantissa),
    };
    if !mantissa_is_good || !exponent.is_none_or(|e| digits(split_sign(e).1)) {
        return None;
    }
    text.parse::<f64>().ok().filter(|f| f.is_finite())
}
