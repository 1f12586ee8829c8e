//! What wins over the overlay: what an Application states of it, and the files by which Argo CD lets a repository state
//! the same (argo-cd `pkg/apis/application/v1alpha1/types.go` `ApplicationSource`, `reposerver/repository`
//! `mergeSourceParameters`).

use serde_json::{Map, Value};

use crate::argocd::{Application, Source};
use crate::kustomize::Files;
use crate::yaml;

/// The tools, and what is stated for each that changes what a path renders to.
const WINNING: [(&str, &[&str]); 3] = [
    (
        "kustomize",
        &[
            "images",
            "replicas",
            "patches",
            "components",
            "namePrefix",
            "nameSuffix",
            "namespace",
            "commonLabels",
            "commonAnnotations",
        ],
    ),
    ("helm", &["parameters", "fileParameters", "values", "valuesObject", "valueFiles"]),
    ("plugin", &["parameters", "env"]),
];

/// The most values of one field that are named.
const MOST_VALUES: usize = 5;

/// One field that wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stated {
    tool: &'static str,
    /// The field, such as `images`.
    field: &'static str,
    /// What it says, shortly.
    values: String,
}

impl std::fmt::Display for Stated {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{}", self.tool, self.field)?;
        match self.values.as_str() {
            "" => Ok(()),
            values => write!(out, " ({values})"),
        }
    }
}

/// What a source states itself.
pub(super) fn stated(source: &Source) -> Vec<Stated> {
    let mut found = Vec::new();
    for (tool, fields) in WINNING {
        let Some(settings) = source.rest.get(tool).and_then(Value::as_object) else { continue };
        let set = fields.iter().filter_map(|field| {
            let value = settings.get(*field).filter(|value| !is_empty(value))?;
            Some(Stated { tool, field, values: shown(value) })
        });
        found.extend(set);
    }
    found
}

/// The names of the files beside an overlay that Argo CD merges into the Application's source.
pub(super) fn source_files(app: &Application) -> Vec<String> {
    let (name, namespace) = (&app.metadata.name, &app.metadata.namespace);
    vec![
        ".argocd-source.yaml".to_owned(),
        format!(".argocd-source-{name}.yaml"),
        format!(".argocd-source-{namespace}_{name}.yaml"),
    ]
}

/// The files beside the overlay at `path` that state such fields for the Application, each with them.
pub(super) fn stated_in_files(
    files: &dyn Files,
    path: &str,
    app: &Application,
) -> Vec<(String, String)> {
    let places = source_files(app).into_iter().map(|name| format!("{path}/{name}"));
    let found = places.filter_map(|place| {
        let place = place.trim_start_matches('/').to_owned();
        // A file that is not there is the rule.
        let text = String::from_utf8(files.read(&place).ok()?.to_vec()).ok()?;
        let fields = fields_of(&text).join(" and ");
        (!fields.is_empty()).then_some((place, fields))
    });
    found.collect()
}

/// The fields that win, of a file that is merged into the source.
fn fields_of(text: &str) -> Vec<String> {
    let Ok(tree) = yaml::parse(text) else { return Vec::new() };
    let Some(root) = tree.roots().first().map(|root| tree.target(*root)) else { return Vec::new() };
    let mut found = Vec::new();
    for (tool, fields) in WINNING {
        let Some(settings) = tree.value_of(root, tool).map(|id| tree.target(id)) else { continue };
        let set = fields.iter().filter(|field| tree.value_of(settings, field).is_some());
        found.extend(set.map(|field| format!("{tool}.{field}")));
    }
    found
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

/// A value in a few words: what a person would look for in git.
fn shown(value: &Value) -> String {
    let words: Vec<String> = match value {
        Value::Array(items) => items.iter().map(item).collect(),
        Value::Object(fields) => fields.keys().cloned().collect(),
        // Values of charts are whole files.
        Value::String(text) if text.contains('\n') => Vec::new(),
        Value::String(text) => vec![text.clone()],
        _ => Vec::new(),
    };
    let named: Vec<String> =
        words.iter().filter(|word| !word.is_empty()).take(MOST_VALUES).cloned().collect();
    let named = named.join(", ");
    match words.len().checked_sub(MOST_VALUES) {
        Some(more) if more > 0 => format!("{named} and {more} more"),
        _ => named,
    }
}

fn item(item: &Value) -> String {
    match item {
        Value::String(text) => text.clone(),
        Value::Object(fields) => named(fields),
        _ => String::new(),
    }
}

/// `web=3` of replicas and parameters, the target of a patch.
fn named(fields: &Map<String, Value>) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    let target = fields.get("target").and_then(|target| {
        let part = |key: &str| target.get(key).map(&text).unwrap_or_default();
        Some(format!("{}/{}", part("kind"), part("name"))).filter(|shown| shown.len() > 1)
    });
    let name = fields.get("name").map(&text).or(target).unwrap_or_default();
    let value = ["count", "value"].iter().find_map(|key| fields.get(*key)).map(text);
    match value.filter(|value| !value.is_empty() && !value.contains('\n')) {
        Some(value) => format!("{name}={value}"),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(rest: &Value) -> Vec<String> {
        let source = Source { rest: rest.as_object().unwrap().clone(), ..Source::default() };
        stated(&source).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_stated_is_named_with_its_values() {
        let kustomize = json!({"kustomize": {
            "images": ["shop/web=shop/web:2"], "replicas": [{"name": "web", "count": 3}],
            "patches": [{"target": {"kind": "Deployment", "name": "web"}, "patch": "- op: remove\n"}],
            "namePrefix": "", "commonLabels": {}, "version": "v5"}});
        assert_eq!(
            of(&kustomize),
            [
                "kustomize.images (shop/web=shop/web:2)",
                "kustomize.replicas (web=3)",
                "kustomize.patches (Deployment/web)"
            ]
        );
        let helm = json!({"helm": {"parameters": [{"name": "image.tag", "value": "2"}], "values": "a: b\nc: d\n"}});
        assert_eq!(of(&helm), ["helm.parameters (image.tag=2)", "helm.values"]);
        assert_eq!(of(&json!({"directory": {"recurse": true}})), [""; 0]);
    }

    #[test]
    fn a_file_beside_the_overlay_is_read_for_the_fields_alone() {
        let text = "kustomize:\n  images:\n    - shop/web:2\nhelm: {parameters: []}\n";
        assert_eq!(fields_of(text), ["kustomize.images", "helm.parameters"]);
        assert_eq!(fields_of("a: [b"), [""; 0]);
        assert_eq!(fields_of(""), [""; 0]);
    }
}
