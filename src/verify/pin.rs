//! Whether pins did what was asked: every image named has its digest, and nothing else moved.

use super::effect::{Effect, FieldChange, measure_effect};
use crate::change::{Pin, PinImages};
use crate::image::{Named, Split, is_same_name};
use crate::kustomize::{ImageUse, Resource, ResourceId, UseKind};
use std::collections::HashMap;

/// Why an edit is not what was asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// A place that was named renders as before.
    #[error(
        "{resource}: the edit of `{key}` has no effect on {path}, which still renders {rendered}"
    )]
    NoEffect {
        /// The key.
        key: String,
        /// The resource, `Kind/name`.
        resource: String,
        /// The field.
        path: String,
        /// What it renders.
        rendered: String,
    },
    /// A field that was not named changes too.
    #[error("{resource}: {path} would change too, from {before} to {after}")]
    Wider {
        /// The resource, `Kind/name`.
        resource: String,
        /// The field; empty for the whole resource.
        path: String,
        /// Before, as JSON, or `nothing`.
        before: String,
        /// After, as JSON, or `nothing`.
        after: String,
    },
    /// A place that was named gets another value than asked for.
    #[error("{resource}: {path} would render {rendered}, which is not what `{key}` asks for")]
    OtherValue {
        /// The key.
        key: String,
        /// The resource, `Kind/name`.
        resource: String,
        /// The field.
        path: String,
        /// What it would render.
        rendered: String,
    },
    /// Two keys ask for different digests of one place.
    #[error("`{first}` and `{second}` both name {reference} and ask for different digests")]
    Contradiction {
        /// A key.
        first: String,
        /// Another.
        second: String,
        /// The reference that both name.
        reference: String,
    },
}

/// `Kind NAMESPACE/NAME`, as people say it.
pub(super) fn shown(id: &ResourceId) -> String {
    match id.namespace.is_empty() {
        true => format!("{}/{}", id.kind, id.name),
        false => format!("{}/{} in {}", id.kind, id.name, id.namespace),
    }
}

/// Judges pins on two renders. `uses` are the places of the render before.
///
/// Places that no edit can reach (ephemeral containers, references that no entry matches) are not asked for; arguments only where their
/// flag is in the change.
///
/// # Errors
/// The first [`Refusal`] in the order of the render.
pub fn verify_pins(
    change: &PinImages,
    uses: &[ImageUse],
    before: &[Resource],
    after: &[Resource],
) -> Result<Effect, Refusal> {
    let wanted = wanted_pins(change, uses)?;
    let effect = measure_effect(before, after);
    for moved in &effect.changes {
        let use_of = |u: &ImageUse| u.resource == moved.resource && u.path == moved.path;
        let named = uses.iter().enumerate().filter(|(_, u)| use_of(u)).map(|(i, _)| i);
        if !named.into_iter().any(|i| wanted.contains_key(&i)) {
            return Err(wider(moved));
        }
    }
    let later: HashMap<ResourceId, &Resource> = after.iter().map(|r| (r.current_id(), r)).collect();
    for (i, place) in uses.iter().enumerate() {
        if let Some(pin) = wanted.get(&i) {
            let reference = later.get(&place.resource).and_then(|r| place.reference_in(r));
            check_place(pin, place, reference.unwrap_or_default())?;
        }
    }
    Ok(effect)
}

/// Which pin each place is asked to have, by the position of the place.
fn wanted_pins<'a>(
    change: &'a PinImages,
    uses: &[ImageUse],
) -> Result<HashMap<usize, &'a Pin>, Refusal> {
    let askable: Vec<usize> = (0..uses.len()).filter(|i| is_askable(change, &uses[*i])).collect();
    let named: Vec<Named<'_>> = askable.iter().map(|i| uses[*i].as_named()).collect();
    let mut wanted: HashMap<usize, &Pin> = HashMap::new();
    for pin in &change.pins {
        let Ok(found) = pin.find_fields(&named) else { continue };
        for i in found.fields.into_iter().map(|i| askable[i]) {
            let other = wanted.insert(i, pin).filter(|o| o.value.digest != pin.value.digest);
            if let Some(other) = other {
                return Err(Refusal::Contradiction {
                    first: other.key.as_str().to_owned(),
                    second: pin.key.as_str().to_owned(),
                    reference: uses[i].reference.to_string(),
                });
            }
        }
    }
    wanted.retain(|i, _| uses[*i].kind != UseKind::Ephemeral && !uses[*i].is_unmatchable());
    Ok(wanted)
}

fn is_askable(change: &PinImages, place: &ImageUse) -> bool {
    match &place.kind {
        UseKind::Argument { flag, .. } => change.has_image_arg(flag),
        _ => true,
    }
}

fn check_place(pin: &Pin, place: &ImageUse, rendered: &str) -> Result<(), Refusal> {
    let (old, new) = (Split::parse(&place.reference), Split::parse(rendered));
    let value = &pin.value;
    if new.digest != value.digest.as_str() {
        return Err(Refusal::NoEffect {
            key: pin.key.as_str().to_owned(),
            resource: shown(&place.resource),
            path: place.path.to_string(),
            rendered: rendered.to_owned(),
        });
    }
    let is_unchanged = rendered == &*place.reference;
    let has_name =
        new.name == old.name || value.name.as_deref().is_some_and(|n| is_same_name(n, new.name));
    let tags = [value.tag.as_deref(), Some(old.tag).filter(|_| value.tag.is_none())];
    let has_tag = (new.tag.is_empty() && !place.needs_tag()) || tags.contains(&Some(new.tag));
    match is_unchanged || (has_name && has_tag) {
        true => Ok(()),
        false => Err(Refusal::OtherValue {
            key: pin.key.as_str().to_owned(),
            resource: shown(&place.resource),
            path: place.path.to_string(),
            rendered: rendered.to_owned(),
        }),
    }
}

fn wider(moved: &FieldChange) -> Refusal {
    let text = |value: &Option<serde_json::Value>| match value {
        Some(value) => value.to_string(),
        None => "nothing".to_owned(),
    };
    Refusal::Wider {
        resource: shown(&moved.resource),
        path: moved.path.to_string(),
        before: text(&moved.before),
        after: text(&moved.after),
    }
}
