//! The JSON envelope: exactly one object on standard output, on failure too.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::Report;
use crate::error::{Error, Exit};

/// The version of every JSON document that the program prints.
pub const SCHEMA_VERSION: u32 = 1;

/// The report as one line of JSON without a newline, pure of control characters.
pub fn to_json(report: &Report) -> String {
    let document = json!({
        "schemaVersion": SCHEMA_VERSION,
        "ok": report.exit() == Exit::Done,
        "command": report.command,
        "changed": report.changed,
        "error": report.error.as_ref().map(error_value),
        "result": report.result,
    });
    escape_terminal_controls(&document.to_string())
}

fn error_value(error: &Error) -> Value {
    let mut object = Map::new();
    object.insert("code".into(), error.code().name().into());
    object.insert("exit".into(), error.exit().status().into());
    object.insert("message".into(), error.message().into());
    object.insert("hints".into(), error.hints().into());
    if !error.causes().is_empty() {
        object.insert("causes".into(), error.causes().into());
    }
    if let Some(location) = error.location() {
        object.insert("location".into(), json!(location));
    }
    object.into()
}

/// JSON escapes U+0000 to U+001F by itself; DEL and the C1 controls, which a terminal may obey, only
/// occur inside of strings and are written `\u00XX` there.
pub(in crate::report) fn escape_terminal_controls(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\u{7f}'..='\u{9f}' => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(c));
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Location, codes};

    #[test]
    fn success_has_every_key() {
        let report =
            Report::unchanged("pin", json!({"overlays": []}), super::super::Text::default());
        assert_eq!(
            to_json(&report),
            r#"{"schemaVersion":1,"ok":true,"command":"pin","changed":false,"error":null,"result":{"overlays":[]}}"#
        );
    }

    #[test]
    fn failure_carries_code_exit_hints_and_location() {
        let error = Error::new(codes::NO_SUCH_OVERLAY, "no").hint("look").at(Location::at(
            "a/kustomization.yaml",
            7,
            5,
        ));
        let json: Value = serde_json::from_str(&to_json(&Report::failure("show", error))).unwrap();
        assert_eq!(json["ok"], false);
        assert_eq!(json["result"], json!({"overlays": []}));
        assert_eq!(
            json["error"],
            json!({"code": "no-such-overlay", "exit": 4, "message": "no", "hints": ["look"],
                   "location": {"file": "a/kustomization.yaml", "line": 7, "column": 5}})
        );
    }

    #[test]
    fn no_control_character_survives() {
        let error = Error::new(codes::USAGE, "\u{1b}[31m\u{7f}\u{9b}2J");
        let json = to_json(&Report::failure("pin", error));
        assert!(!json.chars().any(char::is_control), "{json:?}");
        let back: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(back["error"]["message"], "\u{1b}[31m\u{7f}\u{9b}2J");
    }
}
