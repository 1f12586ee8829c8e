//! JSON as Go's `encoding/json` prints it: sorted keys, `<`, `>` and `&` escaped, numbers through
//! float64.

use std::fmt::Write as _;

use crate::kustomize::node::{Node, Scalar, Tag, Value};
use crate::yaml::scalar::{Resolved, Rules, resolve, timestamp};

/// Adds `text` as a JSON string with Go's escapes, those for HTML included.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// Adds a float64 as Go prints it: without an exponent from 1e-6 up to 1e21.
///
/// # Errors
/// In words, for a number that is not finite.
pub(crate) fn write_float(out: &mut String, value: f64) -> Result<(), String> {
    if !value.is_finite() {
        return Err(format!("JSON has no number {value}"));
    }
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
        let _ = write!(out, "{value}");
    } else {
        let text = format!("{value:e}");
        // Go writes the sign of a positive exponent, too.
        match text.split_once('e') {
            Some((mantissa, exponent)) if exponent.starts_with('-') => {
                let _ = write!(out, "{mantissa}e{exponent}");
            }
            Some((mantissa, exponent)) => {
                let _ = write!(out, "{mantissa}e+{exponent}");
            }
            None => out.push_str(&text),
        }
    }
    Ok(())
}

/// A float64 as Go's `%v` prints it: with an exponent below 1e-4 and from 1e6.
pub(crate) fn float_text(value: f64) -> String {
    let text = format!("{value:e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return value.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// Adds a value that was read from YAML into Go's maps.
///
/// # Errors
/// In words, for what JSON cannot hold.
pub(crate) fn write_node(out: &mut String, node: &Node) -> Result<(), String> {
    match &node.value {
        Value::Scalar(scalar) => write_scalar(out, scalar),
        Value::Seq(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_node(out, item)?;
            }
            out.push(']');
            Ok(())
        }
        Value::Map(map) => {
            let mut entries: Vec<_> = map.entries().iter().collect();
            entries.sort_by(|a, b| a.key.text.cmp(&b.key.text));
            out.push('{');
            for (at, entry) in entries.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_string(out, &entry.key.text);
                out.push(':');
                write_node(out, &entry.value)?;
            }
            out.push('}');
            Ok(())
        }
    }
}

fn write_scalar(out: &mut String, scalar: &Scalar) -> Result<(), String> {
    let resolved = match scalar.tag {
        Tag::Unset if scalar.style.is_quoted() => Resolved::Str,
        Tag::Unset | Tag::Bool | Tag::Int | Tag::Float => resolve(&scalar.text, Rules::Resource),
        Tag::Null => Resolved::Null,
        Tag::Timestamp => Resolved::Timestamp,
        Tag::Str | Tag::Merge | Tag::Binary | Tag::Custom => Resolved::Str,
    };
    match resolved {
        Resolved::Null => out.push_str("null"),
        Resolved::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        Resolved::Int(value) => out.push_str(&value.to_string()),
        Resolved::Float(value) => write_float(out, value)?,
        Resolved::Str => write_string(out, &scalar.text),
        Resolved::Timestamp => {
            let printed = timestamp(&scalar.text);
            write_string(out, printed.as_deref().unwrap_or(&scalar.text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(value: f64) -> String {
        let mut out = String::new();
        write_float(&mut out, value).unwrap();
        out
    }

    #[test]
    fn numbers_are_printed_as_go_prints_them() {
        // Printed by Go's encoding/json.
        for (value, text) in [
            (1.0, "1"),
            (0.1, "0.1"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1e-6, "0.000001"),
            (1.5e-7, "1.5e-7"),
            (1e100, "1e+100"),
            (9_007_199_254_740_993.0, "9007199254740992"),
            (-0.0, "-0"),
        ] {
            assert_eq!(float(value), text);
        }
        assert!(write_float(&mut String::new(), f64::NAN).is_err());
    }

    #[test]
    fn floats_in_texts_are_printed_as_gos_percent_v() {
        // Printed by Go's fmt.
        for (value, text) in [
            (1e6, "1e+06"),
            (123_456.7, "123456.7"),
            (1_234_567.8, "1.2345678e+06"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (999_999.0, "999999"),
        ] {
            assert_eq!(float_text(value), text);
        }
    }

    #[test]
    fn strings_are_escaped_for_html() {
        let mut out = String::new();
        write_string(&mut out, "<a&b>\u{2028}\"\\\n\u{1}\u{7f}é");
        let expected = "\"\\u003ca\\u0026b\\u003e\\u2028\\\"\\\\\\n\\u0001\u{7f}é\"";
        assert_eq!(out, expected);
    }
}
