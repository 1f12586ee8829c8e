//! Components come and go: the list is edited, both renders are compared, and everything that moves is listed.

use super::removals::refuse_removals;
use super::{Proven, breaks_build, consequences};
use crate::change::SetComponents;
use crate::edit::unified_diff;
use crate::error::{Error, Location, codes};
use crate::kustomize::{Files, ResourceId};
use crate::ops::Context;
use crate::ops::overlay::LoadedOverlay;
use crate::ops::preflight::Editable;
use crate::plan::{self, Note, Plan};
use crate::report::change::{FileReport, MovedObjects, OverlayReport, Status};
use crate::verify::{ObjectDiff, compare_objects, measure_effect};
use crate::write::NewText;

/// Edits the list of every overlay and proves it by rendering.
///
/// # Errors
/// Where the list cannot be edited, the overlay does not build with it, or an object with data leaves.
pub(super) fn prove(
    context: &Context,
    files: &dyn Files,
    editable: &[Editable],
    change: &SetComponents,
) -> Result<Proven, Error> {
    let one = |overlay: &Editable| prove_one(context, files, overlay, change);
    let (mut overlays, mut texts) = (Vec::new(), Vec::<NewText>::new());
    for (report, text) in context.for_each_of(editable, one)? {
        overlays.push(report);
        texts.extend(text.filter(|text| !texts.iter().any(|known| known.path == text.path)));
    }
    Ok(Proven { overlays, texts })
}

fn prove_one(
    context: &Context,
    files: &dyn Files,
    editable: &Editable,
    change: &SetComponents,
) -> Result<(OverlayReport, Option<NewText>), Error> {
    let overlay = LoadedOverlay::load(files, editable, context)?;
    let (plan, notes) = plan::edit_components(&overlay.file, &overlay.text, change)?;
    let Some((path, after)) = plan.texts.first().cloned() else {
        return Ok((report(&overlay, Status::Unchanged, notes), None));
    };
    require_list(&overlay, &after, change)?;
    let report = prove_edit(context, &overlay, &plan, notes, change)?;
    let before = Some(overlay.text.clone().into_bytes());
    Ok((report, Some(NewText { path, before, after: Some(after.into_bytes()) })))
}

/// The edited list is what the change makes of the list as it was.
fn require_list(
    overlay: &LoadedOverlay<'_>,
    after: &str,
    change: &SetComponents,
) -> Result<(), Error> {
    let before = plan::read_components(&overlay.file, &overlay.text)?;
    let wanted = plan::changed_components(&before, change);
    let got = plan::read_components(&overlay.file, after)?;
    if got == wanted {
        return Ok(());
    }
    let message =
        format!("the components would be {} and not {}", got.join(", "), wanted.join(", "));
    Err(Error::new(codes::OTHER_VALUE, message).at(Location::file(overlay.file.clone())))
}

fn prove_edit(
    context: &Context,
    overlay: &LoadedOverlay<'_>,
    plan: &Plan,
    mut notes: Vec<Note>,
    change: &SetComponents,
) -> Result<OverlayReport, Error> {
    let (tree, after) = overlay.build_with(&plan.texts).map_err(breaks_build)?;
    let objects = compare_objects(&overlay.before.resources, &after.resources);
    let is_allowed = |id: &_| change.allows_removal(id);
    refuse_removals(&objects, "with these components", is_allowed)?;
    let effect = measure_effect(&overlay.before.resources, &after.resources);
    notes.extend(consequences::budgets(context, overlay, &tree, &after));
    notes.extend(consequences::volumes(&effect));
    notes.extend(overwritten_notes(overlay, plan, &objects));
    let diff = |(path, text): &(String, String)| FileReport {
        path: path.clone(),
        diff: unified_diff(path, Some(&overlay.text), Some(text)),
    };
    Ok(OverlayReport {
        files: plan.texts.iter().map(diff).collect(),
        placements: plan.placements.clone(),
        effect,
        findings: overlay.findings_delta(&tree, &after),
        moved: Some(MovedObjects { objects, new_kinds: Vec::new() }),
        ..report(overlay, Status::Changed, notes)
    })
}

/// Patches of the overlay that put a whole mapping in the place of what the components say of an object
/// that moves: said, because the render does not show what is lost.
fn overwritten_notes(overlay: &LoadedOverlay<'_>, plan: &Plan, objects: &ObjectDiff) -> Vec<Note> {
    let mut ground = overlay.ground();
    ground.texts.extend(plan.texts.iter().cloned());
    let below = overlay.render_text(plan::layer::without_patches(&ground.texts[&overlay.file]));
    let Ok(below) = below else { return Vec::new() };
    let changed = objects.changed.iter().map(|changed| &changed.resource);
    let moved: Vec<&ResourceId> = changed.chain(&objects.added).collect();
    let moves = |found: &plan::Overwritten| {
        moved.iter().any(|id| id.kind == found.resource.kind && id.name == found.resource.name)
    };
    let found = plan::find_overwritten(&ground, &below).into_iter().filter(moves);
    found.map(|found| overwritten_note(&found)).collect()
}

fn overwritten_note(found: &plan::Overwritten) -> Note {
    let message = format!(
        "{}/{}: the overlay's own operation on {} ({}:{}) takes the place of all that the layers below say there; lost: {}",
        found.resource.kind,
        found.resource.name,
        found.path,
        found.file,
        found.line,
        found.lost.join(", ")
    );
    Note { code: "overwrites-below", message }
}

fn report(overlay: &LoadedOverlay<'_>, status: Status, notes: Vec<Note>) -> OverlayReport {
    OverlayReport {
        proof: overlay.proof,
        unknown: overlay.unknown.clone(),
        notes,
        ..OverlayReport::new(overlay.path.clone(), status)
    }
}
