//! A published OpenAPI description as a judge: of requests, of answers, and as the source of answers that are whole.
//!
//! The part of JSON Schema that such descriptions use (OpenAPI 3.0.3, "Schema Object"); formats are not looked at.

use std::path::Path;

use serde_json::{Map, Value as Json};

pub(crate) struct Description {
    document: Json,
}

/// One operation, found by method and path.
pub(crate) struct Operation<'a> {
    description: &'a Description,
    operation: &'a Json,
}

impl Description {
    pub(crate) fn load(path: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        Self { document: serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() }
    }

    /// The operation that serves this path.
    pub(crate) fn operation(&self, method: &str, path: &str) -> Option<Operation<'_>> {
        let paths = self.document["paths"].as_object().unwrap();
        let fits = |template: &str| {
            let (template, path): (Vec<_>, Vec<_>) =
                (template.split('/').collect(), path.split('/').collect());
            let same = |(t, p): (&&str, &&str)| t.starts_with('{') || t == p;
            template.len() == path.len() && template.iter().zip(&path).all(same)
        };
        // The name of a reference has slashes of its own.
        let long = |template: &str| {
            let start = template.strip_suffix("{ref}");
            start.is_some_and(|start| {
                let (start, path): (Vec<_>, Vec<_>) =
                    (start.split('/').collect(), path.split('/').collect());
                path.len() > start.len()
                    && start[..start.len() - 1]
                        .iter()
                        .zip(&path)
                        .all(|(t, p)| t.starts_with('{') || t == p)
            })
        };
        let (_, methods) =
            paths.iter().find(|(t, _)| fits(t)).or_else(|| paths.iter().find(|(t, _)| long(t)))?;
        let operation = methods.get(method.to_ascii_lowercase())?;
        Some(Operation { description: self, operation })
    }

    fn resolve<'a>(&'a self, schema: &'a Json) -> &'a Json {
        match schema.get("$ref").and_then(Json::as_str) {
            Some(reference) => {
                let found = self.document.pointer(&reference[1..]);
                self.resolve(found.unwrap_or_else(|| panic!("{reference}")))
            }
            None => schema,
        }
    }

    /// What is wrong with `value`, each with its place.
    fn faults(&self, schema: &Json, value: &Json, at: &str, out: &mut Vec<String>) {
        let schema = self.resolve(schema);
        if value.is_null() && schema.get("nullable") == Some(&Json::Bool(true)) {
            return;
        }
        for part in list(schema, "allOf") {
            self.faults(part, value, at, out);
        }
        for key in ["anyOf", "oneOf"] {
            let choices = list(schema, key);
            let is_one = choices.iter().any(|choice| {
                let mut faults = Vec::new();
                self.faults(choice, value, at, &mut faults);
                faults.is_empty()
            });
            if !choices.is_empty() && !is_one {
                out.push(format!("{at}: fits no choice: {value}"));
            }
        }
        if let Some(wanted) = schema.get("type").and_then(Json::as_str)
            && !is_of_type(value, wanted)
        {
            out.push(format!("{at}: no {wanted}: {value}"));
            return;
        }
        let allowed = list(schema, "enum");
        if !allowed.is_empty() && !allowed.contains(value) {
            out.push(format!("{at}: {value} is none of {allowed:?}"));
        }
        if let Some(object) = value.as_object() {
            self.object_faults(schema, object, at, out);
        }
        if let (Some(items), Some(schema)) = (value.as_array(), schema.get("items")) {
            for (index, item) in items.iter().enumerate() {
                self.faults(schema, item, &format!("{at}/{index}"), out);
            }
        }
    }

    fn object_faults(
        &self,
        schema: &Json,
        object: &Map<String, Json>,
        at: &str,
        out: &mut Vec<String>,
    ) {
        for name in list(schema, "required").iter().filter_map(Json::as_str) {
            if !object.contains_key(name) {
                out.push(format!("{at}: lacks {name}"));
            }
        }
        let properties = schema.get("properties").and_then(Json::as_object);
        for (name, value) in object {
            match properties.and_then(|known| known.get(name)) {
                Some(schema) => self.faults(schema, value, &format!("{at}/{name}"), out),
                None if schema.get("additionalProperties") == Some(&Json::Bool(false)) => {
                    out.push(format!("{at}: {name} is not known"));
                }
                None => {}
            }
        }
    }

    /// The smallest value that fits.
    fn smallest(&self, schema: &Json) -> Json {
        let schema = self.resolve(schema);
        if let Some(first) = list(schema, "enum").first() {
            return first.clone();
        }
        if schema.get("nullable") == Some(&Json::Bool(true)) {
            return Json::Null;
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(first) = list(schema, key).first() {
                return self.smallest(first);
            }
        }
        let mut object = Map::new();
        for part in list(schema, "allOf") {
            match self.smallest(part) {
                Json::Object(more) => object.extend(more),
                other => return other,
            }
        }
        let properties = schema.get("properties");
        for name in list(schema, "required").iter().filter_map(Json::as_str) {
            let value = properties.and_then(|known| known.get(name)).map(|s| self.smallest(s));
            object.insert(name.to_owned(), value.unwrap_or(Json::Null));
        }
        match schema.get("type").and_then(Json::as_str) {
            Some("string") => "x".into(),
            Some("integer" | "number") => 1.into(),
            Some("boolean") => false.into(),
            Some("array") => Json::Array(Vec::new()),
            _ => Json::Object(object),
        }
    }
}

impl Operation<'_> {
    /// What is wrong with a request: names of its query that are not known, its body.
    pub(crate) fn request_faults(&self, query: &[(String, String)], body: &Json) -> Vec<String> {
        let mut out = Vec::new();
        let parameters = list(self.operation, "parameters");
        let known: Vec<&str> = parameters
            .iter()
            .map(|p| self.description.resolve(p))
            .filter(|p| p["in"] == "query")
            .filter_map(|p| p["name"].as_str())
            .collect();
        for (name, value) in query {
            if !known.contains(&name.as_str()) || value.is_empty() {
                out.push(format!("query {name}={value}: known are {known:?}"));
            }
        }
        let schema = self.operation.pointer("/requestBody/content/application~1json/schema");
        match (schema, body) {
            (Some(_), Json::Null) if self.operation["requestBody"]["required"] == true => {
                out.push("no body".to_owned());
            }
            (Some(schema), body) if !body.is_null() => {
                self.description.faults(schema, body, "body", &mut out);
            }
            (None, body) if !body.is_null() => out.push("a body".to_owned()),
            _ => {}
        }
        out
    }

    /// What is wrong with an answer.
    pub(crate) fn answer_faults(&self, status: u16, body: &Json) -> Vec<String> {
        let mut out = Vec::new();
        match self.operation["responses"].get(status.to_string()) {
            // Every operation may answer with these (docs.github.com, "Troubleshooting the REST API").
            None if matches!(status, 401 | 403 | 404 | 429 | 500..=504) => {}
            None => out.push(format!("status {status} is not known")),
            Some(answer) => {
                if let Some(schema) = answer.get("schema") {
                    self.description.faults(schema, body, "body", &mut out);
                }
            }
        }
        out
    }

    /// The smallest body of an answer that fits.
    pub(crate) fn smallest_answer(&self, status: u16) -> Json {
        let schema = self.operation.pointer(&format!("/responses/{status}/schema"));
        schema.map_or(Json::Null, |schema| self.description.smallest(schema))
    }

    /// The smallest item of a list that fits.
    pub(crate) fn smallest_item(&self, status: u16) -> Json {
        let schema = self.operation.pointer(&format!("/responses/{status}/schema")).unwrap();
        self.description.smallest(&self.description.resolve(schema)["items"])
    }
}

fn list<'a>(value: &'a Json, key: &str) -> &'a [Json] {
    value.get(key).and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

fn is_of_type(value: &Json, wanted: &str) -> bool {
    match wanted {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => true,
    }
}

#[test]
fn the_description_finds_what_breaks_it() {
    let github = Description::load("fixtures/forge/github/openapi.json");
    let create = github.operation("POST", "/repos/ops/deploy/pulls").unwrap();
    let good =
        serde_json::json!({"title": "t", "head": "h", "base": "b", "body": "x", "draft": true});
    assert_eq!(create.request_faults(&[], &good), Vec::<String>::new());
    for (key, value) in [("base", Json::Null), ("draft", "yes".into()), ("title", 3.into())] {
        let mut bad = good.clone();
        bad[key] = value;
        assert_eq!(create.request_faults(&[], &bad).len(), 1, "{bad}");
    }
    let mut answer = create.smallest_answer(201);
    assert_eq!(create.answer_faults(201, &answer), Vec::<String>::new());
    answer["state"] = "merged".into();
    answer.as_object_mut().unwrap().remove("html_url");
    assert_eq!(create.answer_faults(201, &answer).len(), 2);
    assert_eq!(create.answer_faults(200, &answer).len(), 1);
    let pages = [("per_page".to_owned(), "100".to_owned()), ("owner".to_owned(), "x".to_owned())];
    let list = github.operation("GET", "/repos/ops/deploy/pulls").unwrap();
    assert_eq!(list.request_faults(&pages, &Json::Null).len(), 1);
}
