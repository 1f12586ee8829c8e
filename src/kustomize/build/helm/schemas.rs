//! The schemas that a chart brings for its values: helm loads what they refer to, from files and from
//! the network, so that only references within a schema, and to JSON Schema's own, which helm holds,
//! are let through.

use serde_json::Value as Json;

use crate::kustomize::chart::ChartFiles;

/// The name of a schema, of the chart and of each chart in it.
const SCHEMA: &str = "values.schema.json";
/// The keywords whose values helm may load.
const REFERENCES: [&str; 4] = ["$ref", "$dynamicRef", "$recursiveRef", "$schema"];
/// What helm holds itself.
const OWN: [&str; 2] = ["https://json-schema.org/", "http://json-schema.org/"];

/// The first schema of `chart` that refers to something out of it, or cannot be looked into, and which
/// of the two it is in words.
pub(super) fn find_outside(chart: &ChartFiles) -> Option<(&str, String)> {
    let is_schema = |path: &str| path.rsplit('/').next() == Some(SCHEMA);
    chart.iter().filter(|(path, _)| is_schema(path)).find_map(|(path, bytes)| {
        let reason = match serde_json::from_slice::<Json>(bytes) {
            Ok(schema) => format!("refers to {}", outside(&schema)?),
            Err(_) => "is no JSON that can be looked into".to_owned(),
        };
        Some((path, reason))
    })
}

fn outside(schema: &Json) -> Option<&str> {
    match schema {
        Json::Object(fields) => fields.iter().find_map(|(key, value)| match value.as_str() {
            Some(target) if REFERENCES.contains(&&**key) => Some(target).filter(|t| !is_inside(t)),
            _ => outside(value),
        }),
        Json::Array(items) => items.iter().find_map(outside),
        _ => None,
    }
}

fn is_inside(target: &str) -> bool {
    target.is_empty() || target.starts_with('#') || OWN.iter().any(|own| target.starts_with(own))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn found(path: &str, text: &str) -> Option<String> {
        let files = vec![(path.to_owned(), Arc::from(text.as_bytes()))];
        find_outside(&ChartFiles::new(files)).map(|(_, reason)| reason)
    }

    #[test]
    fn references_within_a_schema_are_let_through() {
        for text in [
            r##"{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a"}"##,
            r##"{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://h/x"}"##,
            r#"{"properties": {"$ref": {"type": "string"}}, "default": "file:///x"}"#,
        ] {
            assert_eq!(found("values.schema.json", text), None, "{text}");
        }
    }

    #[test]
    fn references_that_lead_out_are_found_wherever_they_stand() {
        for target in ["file:///etc/x", "FILE:///etc/x", "/etc/x", "etc/x", "http://127.0.0.1/x"] {
            for text in [
                format!(r#"{{"$ref": "{target}"}}"#),
                format!(r#"{{"$schema": "{target}"}}"#),
                format!(
                    r#"{{"allOf": [{{"properties": {{"a": {{"$dynamicRef": "{target}"}}}}}}]}}"#
                ),
            ] {
                for path in ["values.schema.json", "charts/sub/values.schema.json"] {
                    let expected = format!("refers to {target}");
                    assert_eq!(found(path, &text), Some(expected), "{path} {text}");
                }
            }
        }
        let deep = format!("{}1{}", "{\"a\":".repeat(200), "}".repeat(200));
        for text in ["no JSON", &deep] {
            let expected = "is no JSON that can be looked into";
            assert_eq!(found("values.schema.json", text).as_deref(), Some(expected));
        }
        assert_eq!(found("templates/x.json", r#"{"$ref": "/etc/x"}"#), None);
    }
}
