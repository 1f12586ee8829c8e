//! What differs between two renders, as history tells it: objects, fields, and which images moved where.

use std::collections::BTreeMap;

use crate::image::Split;
use crate::kustomize::{ImageUse, Rendered, Resource, find_image_uses};
use crate::report::history::{FieldMove, ImageMove, Moved, ObjectName, Status};
use crate::verify::compare_objects;

/// The difference of two renders; `None` for one that is not there.
pub(super) fn measure(
    status: Status,
    before: Option<&Rendered>,
    after: Option<&Rendered>,
) -> Moved {
    let resources = |rendered: Option<&Rendered>| -> Vec<Resource> {
        rendered.map(|rendered| rendered.resources.clone()).unwrap_or_default()
    };
    let mut moved = Moved { status, ..Moved::default() };
    if matches!(status, Status::Broken | Status::Mended | Status::Unknown) {
        // What a broken overlay would render is not known, so neither is what it lost or gained.
        return moved;
    }
    let (before, after) = (resources(before), resources(after));
    let objects = compare_objects(&before, &after);
    moved.added = objects.added.iter().map(ObjectName::of).collect();
    moved.removed = objects.removed.iter().map(ObjectName::of).collect();
    for object in &objects.changed {
        moved.fields.extend(object.fields.iter().map(FieldMove::of));
    }
    moved.images = images(&before, &after);
    moved
}

/// By place: the reference and who runs it.
type Places = BTreeMap<String, (String, Vec<String>)>;

fn places(resources: &[Resource]) -> Places {
    let place = |used: ImageUse| {
        let id = &used.resource;
        let key = format!("{}/{}/{} {}", id.kind, id.namespace, id.name, used.path);
        let container = used.container.iter().map(ToString::to_string);
        let by = container.chain([id.name.to_string()]).collect();
        (key, (used.reference.to_string(), by))
    };
    find_image_uses(resources, &[]).into_iter().map(place).collect()
}

/// Each image that is another one at some place, once.
fn images(before: &[Resource], after: &[Resource]) -> Vec<ImageMove> {
    let (mut old, new) = (places(before), places(after));
    let mut moves: Vec<ImageMove> = Vec::new();
    let mut add = |before: Option<String>, after: Option<String>, by: Vec<String>| {
        let known = moves.iter_mut().find(|known| known.before == before && known.after == after);
        match known {
            Some(known) => known.by.extend(by),
            None => {
                let reference = after.as_ref().or(before.as_ref()).cloned().unwrap_or_default();
                let name = Split::parse(&reference).name.to_owned();
                moves.push(ImageMove { name, before, after, by });
            }
        }
    };
    for (place, (reference, by)) in new {
        match old.remove(&place) {
            Some((before, _)) if before == reference => {}
            before => add(before.map(|(before, _)| before), Some(reference), by),
        }
    }
    for (_, (reference, by)) in old {
        add(Some(reference), None, by);
    }
    for image in &mut moves {
        image.by.sort();
        image.by.dedup();
    }
    moves
}
