//! What an Application states of the kustomization itself, in its `spec` or in the files that Argo CD merges with it: it wins over git.

use serde_json::{Map, Value};

use crate::kustomize::Rendered;

/// The fields of a source's `kustomize` that change what is rendered.
const WINNING: [&str; 7] =
    ["images", "replicas", "patches", "components", "namePrefix", "nameSuffix", "namespace"];

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The field of `kustomize`.
    pub field: String,
    /// The image, the workload, the target or the path that it speaks of; `None` where it does not name one.
    pub name: Option<String>,
    /// What it says: an item of a list, else the value of the field.
    pub value: Value,
}

/// The statements of a source's `kustomize`.
#[must_use]
pub fn overrides_of(kustomize: &Map<String, Value>) -> Vec<Override> {
    let stated = WINNING.iter().filter_map(|field| Some((*field, kustomize.get(*field)?)));
    stated.flat_map(|(field, value)| statements(field, value)).collect()
}

fn statements(field: &str, value: &Value) -> Vec<Override> {
    let of = |name: Option<&str>, value: &Value| Override {
        field: field.to_owned(),
        name: name.map(str::to_owned),
        value: value.clone(),
    };
    let Value::Array(items) = value else {
        return if value.is_null() { Vec::new() } else { vec![of(None, value)] };
    };
    let name = |item: &Value| match field {
        "images" => item.as_str().map(image_name).map(str::to_owned),
        "components" => item.as_str().map(str::to_owned),
        "patches" => target(item),
        _ => item["name"].as_str().map(str::to_owned),
    };
    items.iter().map(|item| of(name(item).as_deref(), item)).collect()
}

/// What a patch goes to, `Deployment/web`: its target, else what a strategic merge patch names itself.
fn target(patch: &Value) -> Option<String> {
    let target = &patch["target"];
    let parts = [&target["kind"], &target["name"]].map(|part| part.as_str().unwrap_or_default());
    if parts != ["", ""] {
        return Some(parts.join("/"));
    }
    let patched = Rendered::parse(patch["patch"].as_str()?).ok()?;
    let first = patched.resources.first()?;
    Some(format!("{}/{}", first.kind(), first.name()))
}

/// The name of the entry that `[NAME=]IMAGE[:TAG][@DIGEST]` is, as `kustomize edit set image` reads it.
fn image_name(text: &str) -> &str {
    if let Some((name, _)) = text.split_once('=') {
        return name;
    }
    let name = text.split_once('@').map_or(text, |(name, _)| name);
    let path = name.rfind('/').map_or(0, |slash| slash + 1);
    name[path..].find(':').map_or(name, |colon| &name[..path + colon])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(kustomize: &Value) -> Vec<String> {
        let all = overrides_of(kustomize.as_object().unwrap());
        all.into_iter()
            .map(|one| format!("{} {}", one.field, one.name.unwrap_or_default()))
            .collect()
    }

    #[test]
    fn images_and_replicas_are_named() {
        let kustomize = json!({
            "images": ["r.example:5000/a", "r.example:5000/b:v1", "c@sha256:1", "old=r.example/new:v1"],
            "replicas": [{"name": "web", "count": "3"}],
        });
        let names =
            ["images r.example:5000/a", "images r.example:5000/b", "images c", "images old"];
        assert_eq!(shown(&kustomize)[..4], names);
        assert_eq!(shown(&kustomize)[4..], ["replicas web"]);
    }

    #[test]
    fn what_states_nothing_wins_over_nothing() {
        let kustomize = json!({"images": [], "replicas": null, "patches": [], "version": "v5.8.1"});
        assert_eq!(shown(&kustomize), [""; 0]);
        let kustomize = json!({"patches": [{"patch": "x"}], "namePrefix": "a-"});
        assert_eq!(shown(&kustomize), ["patches ", "namePrefix "]);
    }

    #[test]
    fn patches_and_components_are_named() {
        let merge =
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {paused: true}\n";
        let kustomize = json!({
            "patches": [{"target": {"kind": "Deployment", "name": "api"}, "patch": "[]"},
                {"target": {"kind": "Job"}, "path": "p.yaml"}, {"patch": merge}, {"path": "p.yaml"}],
            "components": ["../small"],
        });
        let names =
            ["patches Deployment/api", "patches Job/", "patches Deployment/web", "patches "];
        assert_eq!(shown(&kustomize)[..4], names);
        assert_eq!(shown(&kustomize)[4..], ["components ../small"]);
    }
}
