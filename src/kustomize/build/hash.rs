//! The hash of their content that generated config maps and secrets carry in their names.
//!
//! Source: kustomize `api/hasher/hasher.go`: SHA-256 over the JSON that Go's `encoding/json` prints
//! of kind, name and data, its first ten digits in letters that spell no words.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::emit::{Typed, typed_in};
use super::go_json;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Entry, Layout, Node, Scalar, Text, Value};
use crate::kustomize::resource::Resource;

/// The suffix of the name of `resource`, without the hyphen.
///
/// # Errors
/// [`BuildErrorKind::Unsupported`] for another kind than `ConfigMap` and `Secret`, and
/// [`BuildErrorKind::Transformer`] for content that JSON cannot hold.
pub(crate) fn name_suffix(resource: &Resource) -> Result<String, BuildError> {
    let fields = match resource.kind() {
        "ConfigMap" => config_map_fields(resource),
        "Secret" => secret_fields(resource),
        kind => return Err(BuildError::unsupported(format!("the name hash of a {kind}"))),
    };
    let encoded = encode(&fields).map_err(|reason| {
        let message = format!("hash of {}: {reason}", resource.current_id());
        BuildError::new(BuildErrorKind::Transformer, message).at(resource.origin)
    })?;
    Ok(suffix_of(&encoded))
}

/// Adds its hash to the name of every resource that asks for it (`HashTransformer`).
///
/// # Errors
/// As [`name_suffix`].
pub(crate) fn add_name_suffixes(resources: &mut [Resource]) -> Result<(), BuildError> {
    for resource in resources.iter_mut().filter(|resource| resource.needs_hash) {
        let suffix = name_suffix(resource)?;
        resource.store_previous_id();
        let name = format!("{}-{suffix}", resource.name());
        resource.set_name(&name, resource.origin);
    }
    Ok(())
}

/// A field of the object that is hashed.
enum Field<'a> {
    /// No field.
    Nothing,
    Text(Text),
    /// A map, or its text where it is none.
    Value(&'a Node),
}

/// The name is always empty: kustomize looks for a field called `metadata/name`.
const NAME: (&str, Field<'static>) = ("name", Field::Nothing);

fn field_at<'a>(node: &'a Node, path: &[&str]) -> Field<'a> {
    match node.lookup(path) {
        None => Field::Nothing,
        Some(node) => match node.as_text() {
            Some(text) => Field::Text(Text::clone(text)),
            None => Field::Value(node),
        },
    }
}

/// Sorted by key, as Go prints a map.
fn config_map_fields(resource: &Resource) -> Vec<(&'static str, Field<'_>)> {
    let node = &resource.node;
    let mut fields = Vec::with_capacity(4);
    if let binary @ Field::Value(_) = field_at(node, &["binaryData"]) {
        fields.push(("binaryData", binary));
    }
    fields.push(("data", field_at(node, &["data"])));
    fields.push(("kind", Field::Text(Text::from("ConfigMap"))));
    fields.push(NAME);
    fields
}

fn secret_fields(resource: &Resource) -> Vec<(&'static str, Field<'_>)> {
    let node = &resource.node;
    let mut fields = vec![
        ("data", field_at(node, &["data"])),
        ("kind", Field::Text(Text::from("Secret"))),
        NAME,
    ];
    if let strings @ Field::Value(_) = field_at(node, &["stringData"]) {
        fields.push(("stringData", strings));
    }
    fields.push(("type", field_at(node, &["type"])));
    fields
}

fn encode(fields: &[(&str, Field<'_>)]) -> Result<String, String> {
    let mut out = String::from("{");
    for (at, (key, field)) in fields.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        go_json::write_string(&mut out, key);
        out.push(':');
        match field {
            Field::Nothing => out.push_str("\"\""),
            Field::Text(text) => go_json::write_string(&mut out, text),
            // Kyaml reads the value into a map; a list does not fit and leaves nothing.
            Field::Value(node) if node.as_map().is_none() => out.push_str("null"),
            Field::Value(node) => write_value(&mut out, node, Layout::Block)?,
        }
    }
    out.push('}');
    Ok(out)
}

/// Adds a value as kyaml's `MarshalJSON` makes it, with every number through float64.
fn write_value(out: &mut String, node: &Node, around: Layout) -> Result<(), String> {
    let layout = if node.layout == Layout::Flow { Layout::Flow } else { around };
    match &node.value {
        Value::Scalar(scalar) => write_scalar(out, scalar, around),
        Value::Seq(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_value(out, item, layout)?;
            }
            out.push(']');
            Ok(())
        }
        Value::Map(map) => {
            let mut entries: Vec<&Entry> = map.entries().iter().collect();
            entries.sort_by(|a, b| a.key.text.cmp(&b.key.text));
            out.push('{');
            for (at, entry) in entries.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                go_json::write_string(out, &entry.key.text);
                out.push(':');
                write_value(out, &entry.value, layout)?;
            }
            out.push('}');
            Ok(())
        }
    }
}

fn write_scalar(out: &mut String, scalar: &Scalar, around: Layout) -> Result<(), String> {
    match typed_in(scalar, around).map_err(|error| error.message)? {
        Typed::Null => out.push_str("null"),
        Typed::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        #[expect(clippy::cast_precision_loss, reason = "Go reads every number as a float64")]
        Typed::Int(value) => go_json::write_float(out, value as f64)?,
        Typed::Float(value) => go_json::write_float(out, value)?,
        Typed::Str(text) => go_json::write_string(out, &text),
    }
    Ok(())
}

/// Ten digits of the SHA-256, in letters that spell no words.
fn suffix_of(encoded: &str) -> String {
    let digest = Sha256::digest(encoded.as_bytes());
    let mut digits = String::with_capacity(10);
    for byte in &digest[..5] {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    let spell = |digit: char| match digit {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        other => other,
    };
    digits.chars().map(spell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suffix_is_spelled_from_the_digest() {
        // Values from the tests of kubectl's and kustomize's hashers.
        for (json, suffix) in [
            (r#"{"data":"","kind":"ConfigMap","name":""}"#, "6ct58987ht"),
            (r#"{"data":{"one":""},"kind":"ConfigMap","name":""}"#, "9g67k2htb6"),
        ] {
            assert_eq!(suffix_of(json), suffix);
        }
    }
}
