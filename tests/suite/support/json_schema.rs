//! A judge of JSON documents: as much of JSON Schema 2020-12 as the published schemas use.
//!
//! A keyword that it does not know is a fault, so that a schema never says more than is judged.

use regex::Regex;
use serde_json::{Map, Value};

/// Keywords that say nothing about validity.
const ANNOTATIONS: [&str; 5] = ["$schema", "$defs", "title", "description", "then"];

/// What is wrong with `value` by `schema`, each with the JSON pointer of the value; empty where it is valid.
pub(crate) fn faults(schema: &Value, value: &Value) -> Vec<String> {
    Judge { root: schema }.faults(schema, value, "")
}

/// What `-o json` printed is as `docs/result.schema.json` says.
#[track_caller]
pub(crate) fn assert_is_result(document: &Value) {
    let text = std::fs::read_to_string("docs/result.schema.json").unwrap();
    let faults = faults(&serde_json::from_str(&text).unwrap(), document);
    assert!(faults.is_empty(), "{faults:?} {document}");
}

struct Judge<'a> {
    root: &'a Value,
}

impl Judge<'_> {
    fn faults(&self, schema: &Value, value: &Value, at: &str) -> Vec<String> {
        let Some(keywords) = schema.as_object() else {
            return if *schema == Value::Bool(false) {
                vec![format!("{at}: not allowed")]
            } else {
                Vec::new()
            };
        };
        keywords.iter().flat_map(|(k, v)| self.keyword(k, v, keywords, value, at)).collect()
    }

    fn holds(&self, schema: &Value, value: &Value) -> bool {
        self.faults(schema, value, "").is_empty()
    }

    fn keyword(
        &self,
        keyword: &str,
        says: &Value,
        schema: &Map<String, Value>,
        value: &Value,
        at: &str,
    ) -> Vec<String> {
        let all = || says.as_array().into_iter().flatten();
        let unless = |holds: bool| {
            if holds { Vec::new() } else { vec![format!("{at}: {value} and {keyword} {says}")] }
        };
        match keyword {
            "$ref" => {
                let pointer = says.as_str().unwrap().strip_prefix('#').unwrap();
                self.faults(self.root.pointer(pointer).unwrap(), value, at)
            }
            "type" => {
                let is = |name: &Value| is_type(value, name.as_str().unwrap());
                unless(if says.is_string() { is(says) } else { all().any(is) })
            }
            "const" => unless(value == says),
            "enum" => unless(all().any(|one| one == value)),
            "minLength" => unless(
                value
                    .as_str()
                    .is_none_or(|text| text.chars().count() as u64 >= says.as_u64().unwrap()),
            ),
            "pattern" => unless(
                value
                    .as_str()
                    .is_none_or(|text| Regex::new(says.as_str().unwrap()).unwrap().is_match(text)),
            ),
            "minimum" => {
                unless(value.as_f64().is_none_or(|number| number >= says.as_f64().unwrap()))
            }
            "maximum" => {
                unless(value.as_f64().is_none_or(|number| number <= says.as_f64().unwrap()))
            }
            "minItems" => unless(
                value.as_array().is_none_or(|items| items.len() as u64 >= says.as_u64().unwrap()),
            ),
            "maxItems" => unless(
                value.as_array().is_none_or(|items| items.len() as u64 <= says.as_u64().unwrap()),
            ),
            "minProperties" => unless(
                value.as_object().is_none_or(|map| map.len() as u64 >= says.as_u64().unwrap()),
            ),
            "required" => unless(
                value
                    .as_object()
                    .is_none_or(|map| all().all(|key| map.contains_key(key.as_str().unwrap()))),
            ),
            "allOf" => all().flat_map(|one| self.faults(one, value, at)).collect(),
            "anyOf" => unless(all().any(|one| self.holds(one, value))),
            "oneOf" => unless(all().filter(|one| self.holds(one, value)).count() == 1),
            "if" => match (self.holds(says, value), schema.get("then")) {
                (true, Some(then)) => self.faults(then, value, at),
                _ => Vec::new(),
            },
            "items" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                items.flat_map(|(i, item)| self.faults(says, item, &format!("{at}/{i}"))).collect()
            }
            "properties" | "additionalProperties" | "propertyNames" => {
                self.members(keyword, says, schema, value, at)
            }
            _ if ANNOTATIONS.contains(&keyword) => Vec::new(),
            _ => panic!("the judge does not know `{keyword}`"),
        }
    }

    fn members(
        &self,
        keyword: &str,
        says: &Value,
        schema: &Map<String, Value>,
        value: &Value,
        at: &str,
    ) -> Vec<String> {
        let own = schema.get("properties").and_then(Value::as_object);
        let members = value.as_object().into_iter().flatten();
        let judge = |(key, member): (&String, &Value)| {
            let at = format!("{at}/{key}");
            let stated = own.and_then(|own| own.get(key));
            match (keyword, stated) {
                ("properties", Some(schema)) => self.faults(schema, member, &at),
                ("additionalProperties", None) => self.faults(says, member, &at),
                ("propertyNames", _) => self.faults(says, &Value::from(key.as_str()), &at),
                _ => Vec::new(),
            }
        };
        members.flat_map(judge).collect()
    }
}

fn is_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => panic!("the judge does not know the type `{name}`"),
    }
}
