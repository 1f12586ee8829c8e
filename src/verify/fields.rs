//! Whether an edit of fields did what was asked: the resources render as before, but for exactly the
//! fields that were to change.

use super::effect::{Effect, FieldChange, measure_effect, node_to_json};
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
            return Err(FieldRefusal::NoEffect {
                user: wish.shown(),
                wanted: text(&wish.value),
                rendered: text(&rendered),
            });
        }
    }
    for moved in &effect.changes {
        let wished: Vec<&Wish> = wishes.iter().filter(|w| w.resource == moved.resource).collect();
        if !is_accounted_for(moved, &wished) {
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
            let items = node.as_array_mut().into_iter().flatten();
            if let Some(item) = items.into_iter().find(|item| item["name"] == **name) {
                put(item, rest, value);
            }
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
