//! Whether an edit of fields did what was asked: the resources render as before, but for exactly the
//! fields that were to change.

use super::effect::{Effect, FieldChange, measure_effect, node_to_json};
use super::secret::shown_value;
use crate::change::Wish;
use crate::kustomize::{FieldPath, Resource, ResourceId, Step};
use serde_json::{Map, Value as Json};
use std::collections::HashMap;

/// Why fields are not as asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FieldRefusal {
    /// A field keeps its value, or gets another one.
    #[error("{user} would render {rendered} and not {wanted}")]
    NoEffect {
        /// The resource and field.
        user: String,
        /// What was asked for, as JSON, or `nothing`.
        wanted: String,
        /// What it would render, as JSON, or `nothing`.
        rendered: String,
    },
    /// Something that was not asked for changes too.
    #[error("{user} would change too, from {before} to {after}")]
    Wider {
        /// The resource and field.
        user: String,
        /// Before, as JSON, or `nothing`.
        before: String,
        /// After, as JSON, or `nothing`.
        after: String,
    },
}

/// Judges an edit that is to bring `wishes` about, and nothing else.
///
/// The right result is computed from `before` and the wishes alone; a null or empty list and an absent
/// field are no difference, and neither is a mapping left empty.
///
/// # Errors
/// The first [`FieldRefusal`].
pub fn verify_fields(
    wishes: &[Wish],
    before: &[Resource],
    after: &[Resource],
) -> Result<Effect, FieldRefusal> {
    let effect = measure_effect(before, after);
    let later: HashMap<ResourceId, &Resource> = after.iter().map(|r| (r.current_id(), r)).collect();
    for wish in wishes {
        let rendered = later.get(&wish.resource).and_then(|r| wish.path.find(&r.node));
        let rendered = rendered.map(node_to_json);
        if normal(rendered.as_ref()) != normal(wish.value.as_ref()) {
            let shown = |value: &Option<Json>| {
                text(&value.as_ref().map(|v| shown_value(&wish.resource, &wish.path, v)))
            };
            return Err(FieldRefusal::NoEffect {
                user: wish.shown(),
                wanted: shown(&wish.value),
                rendered: shown(&rendered),
            });
        }
    }
    for moved in &effect.changes {
        let wished: Vec<&Wish> = wishes.iter().filter(|w| w.resource == moved.resource).collect();
        let is_as_asked = || {
            let before = before.iter().find(|r| r.current_id() == moved.resource);
            let after = later.get(&moved.resource);
            before.zip(after).is_some_and(|(before, after)| is_exactly(before, &wished, after))
        };
        if wished.is_empty() || !(is_accounted_for(moved, &wished) || is_as_asked()) {
            return Err(wider(moved));
        }
    }
    Ok(effect)
}

/// Whether what moved is what the wishes make of what was there.
fn is_accounted_for(moved: &FieldChange, wishes: &[&Wish]) -> bool {
    let steps = moved.path.steps();
    if steps.is_empty() {
        return false;
    }
    let mut expected = moved.before.clone().unwrap_or(Json::Null);
    let mut is_touched = false;
    for wish in wishes {
        let wanted = wish.path.steps();
        if let Some(inside) = below(steps, wanted) {
            is_touched = true;
            put(&mut expected, inside, wish.value.as_ref());
        } else if let Some(rest) = below(wanted, steps) {
            is_touched = true;
            let value = wish.value.as_ref().and_then(|value| FieldPath::json_at(value, rest));
            expected = value.cloned().unwrap_or(Json::Null);
        }
    }
    is_touched && normal(Some(&expected)) == normal(moved.after.as_ref())
}

/// Whether a resource is what the wishes make of it as a whole: for an item that a list gains, whose
/// position no wish names.
fn is_exactly(before: &Resource, wishes: &[&Wish], after: &Resource) -> bool {
    let mut expected = node_to_json(&before.node);
    for wish in wishes {
        put(&mut expected, wish.path.steps(), wish.value.as_ref());
    }
    without_nothing(&expected) == without_nothing(&node_to_json(&after.node))
}

/// The value without nulls and empty lists in its mappings.
fn without_nothing(value: &Json) -> Json {
    match value {
        Json::Array(items) => Json::Array(items.iter().map(without_nothing).collect()),
        Json::Object(map) => {
            let is_nothing = |v: &Json| v.is_null() || v.as_array().is_some_and(Vec::is_empty);
            let pairs = map.iter().filter(|(_, v)| !is_nothing(v));
            Json::Object(pairs.map(|(k, v)| (k.clone(), without_nothing(v))).collect())
        }
        other => other.clone(),
    }
}

/// What remains of `path` below `above`.
fn below<'a>(above: &[Step], path: &'a [Step]) -> Option<&'a [Step]> {
    path.starts_with(above).then(|| &path[above.len()..])
}

fn put(node: &mut Json, steps: &[Step], value: Option<&Json>) {
    let Some((step, rest)) = steps.split_first() else {
        *node = value.cloned().unwrap_or(Json::Null);
        return;
    };
    match step {
        Step::Key(key) => {
            if !node.is_object() {
                *node = Json::Object(Map::new());
            }
            if let Some(map) = node.as_object_mut() {
                put(map.entry(&**key).or_insert(Json::Null), rest, value);
            }
        }
        Step::Named(name) => {
            if !node.is_array() {
                *node = Json::Array(Vec::new());
            }
            let Some(items) = node.as_array_mut() else { return };
            let found = items.iter().position(|item| item["name"] == **name);
            let index = found.unwrap_or(items.len());
            if found.is_none() {
                items.push(serde_json::json!({"name": &**name}));
            }
            put(&mut items[index], rest, value);
        }
        Step::Index(index) => {
            if !node.is_array() {
                *node = Json::Array(Vec::new());
            }
            let Some(items) = node.as_array_mut() else { return };
            if *index == items.len() {
                items.push(Json::Null);
            }
            if let Some(item) = items.get_mut(*index) {
                put(item, rest, value);
            }
        }
    }
}

/// The value without nulls, empty lists and empty mappings.
fn normal(value: Option<&Json>) -> Option<Json> {
    match value? {
        Json::Null => None,
        Json::Array(items) if items.is_empty() => None,
        Json::Array(items) => {
            Some(Json::Array(items.iter().map(|i| normal(Some(i)).unwrap_or(Json::Null)).collect()))
        }
        Json::Object(map) => {
            let pairs = map.iter().filter_map(|(k, v)| Some((k.clone(), normal(Some(v))?)));
            let map: Map<String, Json> = pairs.collect();
            (!map.is_empty()).then_some(Json::Object(map))
        }
        other => Some(other.clone()),
    }
}

fn wider(moved: &FieldChange) -> FieldRefusal {
    let moved = moved.shown();
    let ResourceId { kind, name, .. } = &moved.resource;
    FieldRefusal::Wider {
        user: format!("{kind}/{name} {}", moved.path).trim_end().to_owned(),
        before: text(&moved.before),
        after: text(&moved.after),
    }
}

fn text(value: &Option<Json>) -> String {
    value.as_ref().map_or_else(|| "nothing".to_owned(), Json::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::Rendered;

    fn pod(containers: &str) -> Vec<Resource> {
        let text = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: {containers}}}\n"
        );
        Rendered::parse(&text).unwrap().resources
    }

    fn wish(resources: &[Resource], query: &str, value: &str) -> Wish {
        let path = crate::kustomize::path_of_field(&resources[0].node, query).unwrap();
        Wish::set(resources[0].current_id(), path, value)
    }

    fn outcome(before: &str, after: &str) -> Result<usize, FieldRefusal> {
        let (before, after) = (pod(before), pod(after));
        let wish = wish(&before, "spec.containers.[name=a].env.[name=X].value", "1");
        verify_fields(&[wish], &before, &after).map(|effect| effect.changes.len())
    }

    #[test]
    fn a_list_may_gain_the_item_that_was_asked_for() {
        assert_eq!(outcome("[{name: a}]", "[{name: a, env: [{name: X, value: '1'}]}]"), Ok(1));
        let (one, two) =
            ("[{name: Y, value: '2'}]", "[{name: Y, value: '2'}, {name: X, value: '1'}]");
        let with = |env: &str| format!("[{{name: a, env: {env}}}]");
        assert_eq!(outcome(&with(one), &with(two)), Ok(1));
    }

    #[test]
    fn what_moves_beside_it_is_wider() {
        let after = "[{name: a, env: [{name: X, value: '1'}], tty: true}]";
        assert!(matches!(outcome("[{name: a}]", after), Err(FieldRefusal::Wider { .. })));
        let (before, after) = ("[{name: a, x: {}}]", "[{name: a, env: [{name: X, value: '1'}]}]");
        assert!(matches!(outcome(before, after), Err(FieldRefusal::Wider { .. })));
    }

    #[test]
    fn a_field_that_stays_is_no_effect() {
        let after = "[{name: a, env: [{name: X, value: '2'}]}]";
        assert!(matches!(outcome("[{name: a}]", after), Err(FieldRefusal::NoEffect { .. })));
    }
}
