//! The JSON schema of a file of changes, made from the same arguments that read it, and held equal to
//! `docs/changes.schema.json`.

use clap::{ArgAction, Command};
use serde_json::{Map, Value as Json, json};

use super::item::option_names;
use super::kinds::{self, ChangeKind};

/// The schema, as `overlay schema changes` prints it.
pub(in crate::cli) fn schema() -> Json {
    let kinds: Vec<Json> = kinds::all().map(|kind| item(&kind)).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The changes of `overlay apply`",
        "type": "object",
        "additionalProperties": false,
        "required": ["changes"],
        "properties": {
            "changes": {
                "description": "Made one after the other, and all or none of them.",
                "type": "array",
                "maxItems": super::MOST_CHANGES,
                "items": {"oneOf": kinds},
            },
        },
        "$defs": {
            "scalar": {"type": ["string", "number", "boolean"]},
            "values": {
                "description": "One, a list, or a mapping of names and values.",
                "anyOf": [
                    {"$ref": "#/$defs/scalar"},
                    {"type": "array", "items": {"$ref": "#/$defs/scalar"}},
                    {"type": "object", "additionalProperties": {"$ref": "#/$defs/scalar"}},
                    {"type": "null"},
                ],
            },
        },
    })
}

fn item(kind: &ChangeKind) -> Json {
    let command = kind.command();
    let mut properties = Map::new();
    properties.insert(
        kind.name.to_owned(),
        json!({
            "description": about(&command),
            "$ref": "#/$defs/values",
        }),
    );
    properties.insert("overlays".to_owned(), json!({
        "description": "Only these of the overlays that the command names, from the repository's root.",
        "$ref": "#/$defs/values",
    }));
    if kind.name == "field" {
        let text = "Paths and their values; a quoted value is a text.";
        properties.insert("set".to_owned(), json!({"description": text, "$ref": "#/$defs/values"}));
    }
    for argument in command.get_arguments() {
        let Some(long) = argument.get_long().filter(|l| !ChangeKind::is_of_the_whole(l)) else {
            continue;
        };
        let name = option_names(&Command::new("one").arg(argument.clone())).remove(0);
        let help = argument.get_help().map(ToString::to_string).unwrap_or_else(|| long.to_owned());
        let property = match argument.get_action() {
            ArgAction::SetTrue => json!({"description": help, "type": "boolean"}),
            ArgAction::Append => json!({"description": help, "$ref": "#/$defs/values"}),
            _ => json!({"description": help, "$ref": "#/$defs/scalar"}),
        };
        properties.insert(name, property);
    }
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": [kind.name],
        "properties": properties,
    })
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_schema_is_that_of_the_arguments() {
        let text = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
        if std::env::var_os("OVERLAY_BLESS").is_some() {
            std::fs::write("docs/changes.schema.json", &text).unwrap();
        }
        let page = std::fs::read_to_string("docs/changes.schema.json").unwrap();
        assert!(page == text, "docs/changes.schema.json: run this test with OVERLAY_BLESS=1");
    }
}
