//! What the simulator hands out is what Argo CD's API hands out: samples of it against the published
//! description of that API.

use super::history;
use super::peers::{Peer, wait};
use super::server::Server;
use crate::support;
use serde_json::Value;

/// Says where `value` is not as `schema` describes it; a field that the schema does not know is a fault.
fn fault(value: &Value, schema: &Value, all: &Value, at: &str) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let definition = &all["definitions"][name.trim_start_matches("#/definitions/")];
        return fault(value, definition, all, at);
    }
    let fits = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64() || schema["format"] == "int64",
        Some("boolean") => value.is_boolean(),
        _ => true,
    };
    if !fits {
        return Some(format!("{at}: {value} is no {}", schema["type"]));
    }
    match value {
        Value::Array(items) => items.iter().find_map(|v| fault(v, &schema["items"], all, at)),
        Value::Object(fields) => fields.iter().find_map(|(key, v)| {
            let at = format!("{at}.{key}");
            match (schema["properties"].get(key), schema.get("additionalProperties")) {
                (Some(known), _) | (None, Some(known)) => fault(v, known, all, &at),
                (None, None) => Some(format!("{at}: no such field")),
            }
        }),
        _ => None,
    }
}

#[test]
fn simulated_applications_are_as_argo_cd_describes_them() {
    let Some(shared) = support::shared() else { return };
    let text = std::fs::read_to_string(shared.join("schema/argocd-openapi.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let application = &all["definitions"]["v1alpha1Application"];
    let managed = &all["definitions"]["applicationManagedResourcesResponse"]["properties"]["items"];
    assert!(application.is_object() && managed.is_object(), "the schema has other names");
    for seed in 0..12 {
        let history = history::draw(seed);
        let mut server = Server::new(history.world);
        server.world.advance(history.call.starts);
        wait(Peer::Predicate { without: None }, history.call.dwell, &mut server);
        let app = server.application();
        let found = app.and_then(|app| fault(&app, application, &all, "application"));
        assert_eq!(found, None, "seed {seed}");
        let items = Value::Array(server.managed().unwrap_or_default());
        assert_eq!(fault(&items, managed, &all, "managed"), None, "seed {seed}");
    }
}
