//! Whether going back did what was asked: the images are those of then, and nothing else moved.

use super::effect::{Effect, measure_effect};
use super::pin::{Refusal, shown};
use crate::kustomize::{FieldPath, ImageUse, Resource, ResourceId, find_image_uses};
use std::collections::HashMap;

/// What going back did, and what is still not as it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RestoredPins {
    /// The measured difference.
    pub effect: Effect,
    /// Places that run another image than then.
    pub left: Vec<LeftImage>,
    /// Places that moved along and were not there then.
    pub along: Vec<LeftImage>,
}

/// A place and the image of then and now.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftImage {
    /// The resource.
    pub resource: ResourceId,
    /// The field.
    pub path: FieldPath,
    /// The reference of then; nothing where the place was not there.
    pub then: Option<String>,
    /// The reference after the edit.
    pub now: String,
}

type Places<'a> = HashMap<(&'a ResourceId, &'a FieldPath), &'a str>;

/// Compares the renders before and after the edit, and that of then: only images may move, and each to
/// what it was then.
///
/// # Errors
/// [`Refusal::Wider`] for a field that names no image, [`Refusal::OtherValue`] for an image that moves away
/// from what it was then.
pub fn verify_restored_pins(
    before: &[Resource],
    after: &[Resource],
    then: &[Resource],
) -> Result<RestoredPins, Refusal> {
    let [old_uses, new_uses, then_uses] =
        [before, after, then].map(|resources| find_image_uses(resources, &[]));
    let (old, new, then) = (places(&old_uses), places(&new_uses), places(&then_uses));
    let effect = measure_effect(before, after);
    let mut restored = RestoredPins::default();
    for change in &effect.changes {
        let place = (&change.resource, &change.path);
        let Some(now) = new.get(&place) else {
            let text = |value: &Option<serde_json::Value>| {
                value.as_ref().map_or_else(|| "nothing".to_owned(), ToString::to_string)
            };
            return Err(Refusal::Wider {
                resource: shown(&change.resource),
                path: change.path.to_string(),
                before: text(&change.before),
                after: text(&change.after),
            });
        };
        match then.get(&place) {
            None => restored.along.push(left(place, None, now)),
            Some(then) if old.get(&place) == Some(then) => {
                return Err(Refusal::OtherValue {
                    key: (*then).to_owned(),
                    resource: shown(&change.resource),
                    path: change.path.to_string(),
                    rendered: (*now).to_owned(),
                });
            }
            Some(_) => {}
        }
    }
    for used in &new_uses {
        let place = (&used.resource, &used.path);
        let other = then.get(&place).filter(|then| **then != &*used.reference);
        restored.left.extend(other.map(|then| left(place, Some(then), &used.reference)));
    }
    restored.effect = effect;
    Ok(restored)
}

fn places(uses: &[ImageUse]) -> Places<'_> {
    uses.iter().map(|used| ((&used.resource, &used.path), &*used.reference)).collect()
}

fn left(place: (&ResourceId, &FieldPath), then: Option<&str>, now: &str) -> LeftImage {
    LeftImage {
        resource: place.0.clone(),
        path: place.1.clone(),
        then: then.map(str::to_owned),
        now: now.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::Rendered;

    fn render(image: &str, replicas: u8) -> Vec<Resource> {
        let text = format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: {replicas}\n  template:\n    spec:\n      containers:\n      - {{name: web, image: {image}}}\n"
        );
        Rendered::parse(&text).unwrap().resources
    }

    #[test]
    fn only_images_move_and_only_to_what_they_were() {
        let restored = verify_restored_pins(
            &render("r/web:2", 3),
            &render("r/web:1", 3),
            &render("r/web:1", 1),
        );
        let restored = restored.unwrap();
        assert_eq!((restored.effect.changes.len(), restored.left.len()), (1, 0));
        let wider = verify_restored_pins(
            &render("r/web:2", 3),
            &render("r/web:1", 1),
            &render("r/web:1", 1),
        );
        assert!(matches!(wider, Err(Refusal::Wider { .. })), "{wider:?}");
        let away = verify_restored_pins(
            &render("r/web:1", 3),
            &render("r/web:2", 3),
            &render("r/web:1", 1),
        );
        assert!(matches!(away, Err(Refusal::OtherValue { .. })), "{away:?}");
        let half = verify_restored_pins(
            &render("r/web:3", 3),
            &render("r/web:2", 3),
            &render("r/web:1", 1),
        );
        assert_eq!(half.unwrap().left[0].then.as_deref(), Some("r/web:1"));
    }
}
