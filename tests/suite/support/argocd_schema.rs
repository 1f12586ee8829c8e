//! Whether an answer is what Argo CD's published description (`argocd-openapi.json`) says: every field known, of its type, and none null.

use std::fs;

use serde_json::Value;

use super::shared;

/// The description, where the optional folder with it is there.
pub(crate) struct Schema(Value);

impl Schema {
    pub(crate) fn load() -> Option<Self> {
        let path = shared()?.join("schema/argocd-openapi.json");
        Some(Self(serde_json::from_slice(&fs::read(path).unwrap()).unwrap()))
    }

    /// Everything in `value` that `definition` does not have.
    pub(crate) fn faults(&self, definition: &str, value: &Value) -> Vec<String> {
        assert!(self.0["definitions"][definition].is_object(), "{definition} has another name");
        let mut faults = Vec::new();
        self.check(&self.0["definitions"][definition], value, definition, &mut faults);
        faults
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().unwrap();
            // Described as what it is in Go; what is written is one of the two.
            if name == "intstrIntOrString" && (value.is_string() || value.is_u64()) {
                return;
            }
            return self.check(&self.0["definitions"][name], value, at, faults);
        }
        let is_typed = match schema["type"].as_str() {
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("array") => value.is_array(),
            Some("object") => value.is_object(),
            _ => true,
        };
        if !is_typed {
            faults.push(format!("{at} is no {}: {value}", schema["type"]));
        }
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            self.check(&schema["items"], item, &format!("{at}[{index}]"), faults);
        }
        let Some(map) = value.as_object() else { return };
        for (key, item) in map {
            let at = format!("{at}.{key}");
            match (schema["properties"].get(key), schema.get("additionalProperties")) {
                (Some(inner), _) => self.check(inner, item, &at, faults),
                (None, Some(inner)) => self.check(inner, item, &at, faults),
                (None, None) => faults.push(format!("{at} is not described")),
            }
        }
    }
}
