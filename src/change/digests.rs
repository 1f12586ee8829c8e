//! `--digests`: a JSON object of keys and values, read strictly; and `KEY=VALUE` on the command line.

use super::image::{Pin, PinValue, PinValueError};
use super::key::Key;
use crate::json::JsonProblem;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::collections::HashSet;
use std::fmt;

/// Why the pins could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DigestsError {
    /// Not JSON, not an object, or a value that is no string.
    #[error("the JSON of --digests: line {line}, column {column}: {reason}")]
    Json {
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in bytes.
        column: usize,
        /// In the parser's words.
        reason: String,
    },
    /// The same key twice.
    #[error("the JSON of --digests has `{key}` twice")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// A value that pins nothing.
    #[error("{key}: {reason}")]
    Value {
        /// The key.
        key: String,
        /// Why.
        reason: PinValueError,
    },
    /// A key without a character.
    #[error("a key of --digests is empty")]
    EmptyKey,
}

/// Reads `{"KEY": "VALUE", …}`. An empty object is no pins.
///
/// # Errors
/// [`DigestsError`]; nothing is read half.
pub fn parse_digests(json: &str) -> Result<Vec<Pin>, DigestsError> {
    let Object(pairs) = serde_json::from_str(json).map_err(|error| json_error(&error))?;
    let mut seen = HashSet::new();
    if let Some((key, _)) = pairs.iter().find(|(key, _)| !seen.insert(key.as_str())) {
        return Err(DigestsError::DuplicateKey { key: key.clone() });
    }
    pairs.iter().map(|(key, value)| parse_assignment(key, value)).collect()
}

/// One pin from its key and its value.
///
/// # Errors
/// [`DigestsError::Value`] with the reason, or [`DigestsError::EmptyKey`].
pub fn parse_assignment(key: &str, value: &str) -> Result<Pin, DigestsError> {
    if key.is_empty() {
        return Err(DigestsError::EmptyKey);
    }
    let value = PinValue::parse(value)
        .map_err(|reason| DigestsError::Value { key: key.to_owned(), reason })?;
    Ok(Pin { key: Key::parse(key), value })
}

fn json_error(error: &serde_json::Error) -> DigestsError {
    let JsonProblem { line, column, reason } = error.into();
    DigestsError::Json { line, column, reason }
}

/// The members of an object in their order, those of one name included.
struct Object(Vec<(String, String)>);

impl<'de> serde::Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of image names and digests")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Object(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "sha256:34098e9339ac005509d0768ba1222d39b3df61802617a764f551a031d45c4371";

    #[test]
    fn an_empty_object_is_no_pins() {
        assert_eq!(parse_digests(" {} ").unwrap(), []);
    }

    #[test]
    fn pins_keep_their_order() {
        let pins = parse_digests(&format!(r#"{{"b": "{A}", "a": "x/a:1@{A}"}}"#)).unwrap();
        assert_eq!(pins.iter().map(|p| p.key.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    }

    #[test]
    fn broken_json_has_its_position() {
        let at = |json: &str| match parse_digests(json) {
            Err(DigestsError::Json { line, column, .. }) => (line, column),
            other => panic!("{other:?}"),
        };
        assert_eq!(at("{\"a\": \"b\",\n }"), (2, 2));
        assert_eq!(at("[]"), (1, 1));
        assert_eq!(at("{\"a\": 1}"), (1, 7));
        assert_eq!(at("{} x"), (1, 4));
        assert_eq!(at("{\"a\": null}"), (1, 10));
    }

    #[test]
    fn a_key_twice_is_refused() {
        let json = format!(r#"{{"a": "{A}", "a": "{A}"}}"#);
        assert_eq!(parse_digests(&json), Err(DigestsError::DuplicateKey { key: "a".into() }));
    }

    #[test]
    fn a_value_that_pins_nothing_names_its_key() {
        let error = parse_digests(r#"{"loom-gate": "latest"}"#).unwrap_err();
        assert!(error.to_string().starts_with("loom-gate: `latest` carries no digest"), "{error}");
    }
}
