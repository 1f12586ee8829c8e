//! A published GraphQL schema as a judge: of texts, of their variables, and of what is answered.

use apollo_compiler::resolvers::{Execution, FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};
use serde_json::{Value as Json, json};

pub(crate) struct GraphQl {
    schema: Valid<Schema>,
}

/// A text that fits the schema, with what it asks for.
pub(crate) struct Asked {
    document: Valid<ExecutableDocument>,
    variables: Json,
    /// The one field of the root that it names, such as `repository`.
    pub(crate) field: String,
}

impl GraphQl {
    pub(crate) fn load(path: &str) -> Self {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let text = std::fs::read_to_string(&path).unwrap();
        let schema = Schema::parse_and_validate(text, path);
        Self { schema: schema.unwrap_or_else(|e| panic!("{e}")) }
    }

    /// What is asked, or what is wrong with it.
    pub(crate) fn read(&self, text: &str, variables: &Json) -> Result<Asked, String> {
        let document = ExecutableDocument::parse_and_validate(&self.schema, text, "text.graphql");
        let document = document.map_err(|e| e.to_string())?;
        let operation = document.operations.get(None).map_err(|e| format!("{e:?}"))?;
        let given = serde_json::from_value(variables.clone()).map_err(|e| e.to_string())?;
        let coerced =
            apollo_compiler::request::coerce_variable_values(&self.schema, operation, &given);
        let coerced = coerced.map_err(|e| format!("{}", e.message()))?;
        // A variable that the text does not declare is ignored by GraphQL, and a mistake here.
        let known = |name: &String| operation.variables.iter().any(|v| v.name.as_str() == name);
        let unknown = variables.as_object().and_then(|given| given.keys().find(|n| !known(n)));
        if let Some(name) = unknown {
            return Err(format!("no variable ${name}"));
        }
        let field = operation.selection_set.fields().next().map(|field| field.name.to_string());
        let variables = serde_json::to_value(&*coerced).unwrap();
        Ok(Asked { field: field.unwrap_or_default(), document, variables })
    }

    /// The answer, and what of `data` is not as the schema says.
    pub(crate) fn answer(&self, asked: &Asked, data: Json) -> (Json, Vec<String>) {
        let operation = asked.document.operations.get(None).unwrap();
        let root = Object { name: operation.object_type().to_string(), value: data };
        let given = serde_json::from_value(asked.variables.clone()).unwrap();
        let run = Execution::new(&self.schema, &asked.document).raw_variable_values(&given);
        let response = serde_json::to_value(run.execute_sync(&root).unwrap()).unwrap();
        let errors = response["errors"].as_array().cloned().unwrap_or_default();
        let faults = errors.iter().map(|e| e["message"].to_string()).collect();
        (json!({"data": response["data"]}), faults)
    }
}

impl Asked {
    /// The value of a variable.
    pub(crate) fn variable(&self, name: &str) -> &Json {
        &self.variables[name]
    }
}

/// An object of the answer. Objects behind a union say of which type they are.
struct Object {
    name: String,
    value: Json,
}

impl ObjectValue for Object {
    fn type_name(&self) -> &str {
        &self.name
    }

    fn resolve_field<'a>(
        &'a self,
        info: &'a ResolveInfo<'a>,
    ) -> Result<ResolvedValue<'a>, FieldError> {
        let name = info.field_name();
        let value = self.value.get(name).ok_or_else(|| self.unknown_field_error(info))?;
        let of = info.field_definition().ty.inner_named_type().to_string();
        Ok(resolve(value, &of))
    }
}

fn resolve<'a>(value: &'a Json, of: &str) -> ResolvedValue<'a> {
    match value {
        Json::Object(_) => {
            let name = value["__typename"].as_str().unwrap_or(of).to_owned();
            ResolvedValue::object(Object { name, value: value.clone() })
        }
        Json::Array(items) => {
            let of = of.to_owned();
            ResolvedValue::List(Box::new(items.iter().map(move |item| Ok(resolve(item, &of)))))
        }
        other => ResolvedValue::leaf(
            serde_json::from_value::<apollo_compiler::response::JsonValue>(other.clone()).unwrap(),
        ),
    }
}

/// The texts of the program are what GitHub's schema says they may be.
#[test]
fn every_text_fits_the_published_schema() {
    let schema = GraphQl::load("fixtures/forge/github/schema.graphql");
    let mut count = 0;
    for entry in std::fs::read_dir("src/forge/github/texts").unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let read = ExecutableDocument::parse_and_validate(&schema.schema, &text, &path);
        read.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        count += 1;
    }
    assert_eq!(count, 4);
    for (text, variables) in [
        ("query { repository(owner: \"o\", name: \"n\") { autoMergeAllowd } }", json!({})),
        (
            "query Q($n: Int!) { repository(owner: \"o\", name: \"n\") { pullRequest(number: $n) { id } } }",
            json!({"n": "1"}),
        ),
        (
            "mutation M($i: EnqueuePullRequestInput!) { enqueuePullRequest(input: $i) { clientMutationId } }",
            json!({"i": {"pullRequest": "x"}}),
        ),
    ] {
        assert!(schema.read(text, &variables).is_err(), "{text} {variables}");
    }
}
