//! A kustomization seen at its `images:` layer: the same file without what acts there or later.
//!
//! Rendered so, an overlay shows each image as it arrives at the layer. Rendered so with one entry that
//! matches everything, it shows which fields the transformer reaches, whatever `configurations:` teach it
//! and in whichever base. Both texts are for rendering in memory and are never written.

use crate::yaml::scalar::resolve_node;
use crate::yaml::{NodeId, Resolved, Rules, Tree, YamlError, parse};
use serde_json::{Map, Value as Json, json};

/// What a field shows that the images transformer reaches.
pub const PROBE: &str = "overlay.invalid/reached";

/// The fields of a kustomization that act at the layer of `images:` or after it.
const LATER_FIELDS: [&str; 5] = ["images", "replacements", "transformers", "validators", "vars"];

/// The name of an entry that matches nothing, for no image has two slashes in a row: a file of nothing but images
/// is no valid one without a field.
const NOTHING: &str = "overlay.invalid//nothing";

/// A kustomization at its `images:` layer, twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probes {
    /// Without what its `images:` do and what acts after them.
    pub before: String,
    /// The same, with an entry that turns every image it reaches into [`PROBE`].
    pub probed: String,
}

/// The kustomization `text` at its `images:` layer.
///
/// # Errors
/// [`YamlError`] for a text that is no YAML.
pub fn probes(text: &str) -> Result<Probes, YamlError> {
    let mut fields = fields_of(text)?;
    fields.retain(|key, _| !is_one_of(&LATER_FIELDS, key));
    let mut with = |images: Json| {
        fields.insert("images".to_owned(), images);
        serde_json::to_string(&fields).unwrap_or_default()
    };
    Ok(Probes {
        before: with(json!([{"name": NOTHING}])),
        probed: with(json!([{"name": ".*", "newName": PROBE, "newTag": "0"}])),
    })
}

/// The kustomization `text` without its patches.
///
/// # Errors
/// [`YamlError`] for a text that is no YAML.
pub fn without_patches(text: &str) -> Result<String, YamlError> {
    let fields = ["patches", "patchesStrategicMerge", "patchesJson6902"];
    rewrite(text, &|key, value| (!is_one_of(&fields, key)).then_some(value), Vec::new())
}

/// The kustomization `text` with `more` items at the end of its list `field`.
///
/// # Errors
/// [`YamlError`] for a text that is no YAML.
pub fn with_items(text: &str, field: &str, more: Vec<Json>) -> Result<String, YamlError> {
    let mut fields = fields_of(text)?;
    if !more.is_empty() {
        let list = fields.entry(field).or_insert_with(|| Json::Array(Vec::new()));
        match list {
            Json::Array(items) => items.extend(more),
            other => *other = Json::Array(more),
        }
    }
    Ok(Json::Object(fields).to_string())
}

/// A digest that no image has.
pub const PROBE_DIGEST: &str =
    "sha256:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

/// The kustomization `text` with one more entry that gives every image it reaches [`PROBE_DIGEST`]. What
/// does not render it is decided by something that acts after `images:`.
///
/// # Errors
/// [`YamlError`] for a text that is no YAML.
pub fn with_digest_probe(text: &str) -> Result<String, YamlError> {
    let probe = json!({"name": ".*", "digest": PROBE_DIGEST});
    let images = fields_of(text)?.into_iter().filter(|(key, _)| is_one_of(&["images"], key));
    let images = images.filter_map(|(_, value)| value.as_array().cloned());
    let mut entries: Vec<Json> = images.flatten().collect();
    entries.push(probe);
    let keep = |key: &str, value| (!is_one_of(&["images"], key)).then_some(value);
    rewrite(text, &keep, vec![("images", Json::Array(entries))])
}

/// The kustomization `text` with `change` applied to the value of every field (`None` drops it), and
/// `added` at the end; written as JSON, which kustomize reads as the YAML it is.
///
/// # Errors
/// [`YamlError`] for a text that is no YAML.
pub fn rewrite(
    text: &str,
    change: &dyn Fn(&str, Json) -> Option<Json>,
    added: Vec<(&str, Json)>,
) -> Result<String, YamlError> {
    let mut fields = Map::new();
    for (key, value) in fields_of(text)? {
        if let Some(value) = change(&key, value) {
            fields.insert(key, value);
        }
    }
    fields.extend(added.into_iter().map(|(key, value)| (key.to_owned(), value)));
    Ok(Json::Object(fields).to_string())
}

/// The fields of a kustomization; none of a text that is no mapping.
fn fields_of(text: &str) -> Result<Map<String, Json>, YamlError> {
    let tree = parse(text)?;
    match tree.roots().first().map(|root| to_json(&tree, *root)) {
        Some(Json::Object(fields)) => Ok(fields),
        _ => Ok(Map::new()),
    }
}

fn is_one_of(fields: &[&str], key: &str) -> bool {
    fields.iter().any(|field| field.eq_ignore_ascii_case(key))
}

/// The data of a node as kustomize reads a kustomization file, aliases and merges expanded.
fn to_json(tree: &Tree<'_>, id: NodeId) -> Json {
    data_of(tree, id, Rules::Kustomization)
}

/// The data of a node as kustomize reads a text of these rules, aliases and merges expanded.
pub(super) fn data_of(tree: &Tree<'_>, id: NodeId, rules: Rules) -> Json {
    let id = tree.target(id);
    let node = tree.node(id);
    match node.scalar() {
        Some(text) => scalar_to_json(text, resolve_node(node, rules)),
        None if tree.pairs(id).len() > 0 => map_to_json(tree, id, rules),
        None if tree.items(id).is_empty() && matches!(node.kind, crate::yaml::Kind::Map { .. }) => {
            Json::Object(Map::new())
        }
        None => {
            Json::Array(tree.items(id).iter().map(|item| data_of(tree, *item, rules)).collect())
        }
    }
}

fn scalar_to_json(text: &str, resolved: Option<Resolved>) -> Json {
    match resolved {
        Some(Resolved::Null) => Json::Null,
        Some(Resolved::Bool(value)) => value.into(),
        Some(Resolved::Int(value)) => {
            i64::try_from(value).map_or_else(|_| json!(value as f64), Json::from)
        }
        Some(Resolved::Float(value)) => json!(value),
        _ => text.into(),
    }
}

/// Own keys win over merged ones; of two equal keys the last counts.
fn map_to_json(tree: &Tree<'_>, id: NodeId, rules: Rules) -> Json {
    let mut own = Map::new();
    let mut merged = Map::new();
    for (key, value) in tree.pairs(id) {
        match tree.node(tree.target(key)).scalar() {
            Some("<<") => merge(&mut merged, data_of(tree, value, rules)),
            Some(key) => drop(own.insert(key.to_owned(), data_of(tree, value, rules))),
            None => {}
        }
    }
    for (key, value) in merged {
        own.entry(key).or_insert(value);
    }
    Json::Object(own)
}

/// One mapping, or a list of them of which the earlier win.
fn merge(into: &mut Map<String, Json>, from: Json) {
    match from {
        Json::Object(fields) => {
            for (key, value) in fields {
                into.entry(key).or_insert(value);
            }
        }
        Json::Array(items) => items.into_iter().for_each(|item| merge(into, item)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_acts_at_the_layer_or_later_goes() {
        let text = "resources: [a]\nIMAGES: []\nreplacements: []\nnamespace: \"1\"\n";
        assert_eq!(
            json(&probes(text).unwrap().before),
            json!({"resources": ["a"], "namespace": "1", "images": [{"name": NOTHING}]})
        );
    }

    #[test]
    fn items_go_behind_those_that_stand_there() {
        let with =
            |text: &str| json(&with_items(text, "patches", vec![json!({"path": "b"})]).unwrap());
        assert_eq!(
            with("patches: [{path: a}]\n")["patches"],
            json!([{"path": "a"}, {"path": "b"}])
        );
        for text in ["resources: [a]\n", "patches:\n", "patches: []\n"] {
            assert_eq!(with(text)["patches"], json!([{"path": "b"}]), "{text}");
        }
    }

    #[test]
    fn aliases_and_merges_are_expanded() {
        let text = "images:\n- newTag: &v \"1.3\"\nlabels:\n- pairs: {a: *v}\n- &p {x: 1}\n- {<<: *p, y: 2}\n";
        let expected = json!({"labels": [{"pairs": {"a": "1.3"}}, {"x": 1}, {"y": 2, "x": 1}],
            "images": [{"name": NOTHING}]});
        assert_eq!(json(&probes(text).unwrap().before), expected);
    }

    #[test]
    fn scalars_keep_the_type_that_kustomize_reads() {
        let text = "a: on\nb: 0x10\nc: 1.5\nd: ~\ne: 'on'\nf: {}\ng: []\n";
        let expected = json!({"a": true, "b": 16, "c": 1.5, "d": null, "e": "on", "f": {}, "g": [],
            "images": [{"name": NOTHING}]});
        assert_eq!(json(&probes(text).unwrap().before), expected);
    }

    #[test]
    fn the_probe_is_one_entry_for_everything() {
        let probed = json(&probes("images: [{name: a}]\n").unwrap().probed);
        assert_eq!(probed["images"][0]["name"], ".*");
        assert_eq!(probed["images"].as_array().unwrap().len(), 1);
    }
}
