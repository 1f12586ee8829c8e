//! Image pins as they were, and everything else as it is.

use super::then::Then;
use super::{Ground, Restoration, guards, note};
use crate::error::{Error, Location, codes};
use crate::ops::change::{breaks_build, new_text, read_entries};
use crate::ops::overlay::LoadedOverlay;
use crate::ops::preflight::Editable;
use crate::plan::{self, Note, RestoredEntries};
use crate::verify::{LeftImage, compare_objects, verify_restored_pins};

/// The most places that a note names.
const MOST: usize = 5;

/// Brings the pins of the `images:` entries back that both versions have, and proves that nothing else moves.
pub(super) fn restore(
    ground: &Ground<'_>,
    editable: &Editable,
    then: &Then,
) -> Result<Restoration, Error> {
    let overlay = LoadedOverlay::load(ground.files, editable, ground.context)?;
    let entries = read_entries(&overlay)?;
    let restored = plan::restore_entries(&overlay.file, &entries, &then.entries()?)?;
    if !ground.revert.allow_missing {
        refuse_differing(&restored, &overlay.file, then)?;
    }
    let view = plan::WriteView {
        file: &overlay.file,
        text: &overlay.text,
        entries: &entries,
        uses: &[],
        rendered: &overlay.before,
        own: &[],
        may_add: false,
    };
    let plan = plan::write_decisions(view, &restored.decisions)?;
    let (tree, after) = overlay.build_with(&plan.texts).map_err(breaks_build)?;
    let before = &overlay.before.resources;
    let judged = verify_restored_pins(before, &after.resources, &then.rendered()?.resources)?;
    let objects = compare_objects(before, &after.resources);
    let mut notes =
        guards::check(ground.context, ground.revert, before, &after.resources, &objects)?;
    notes.extend(left(&overlay, then, &judged.left));
    notes.extend(along(then, &judged.along));
    notes.extend(kept(&restored, then));
    let texts: Vec<_> =
        plan.texts.iter().map(|(path, text)| new_text(overlay.tree(), path, text)).collect();
    let mut report = ground.report(editable, &texts);
    report.proof = overlay.proof;
    report.unknown.clone_from(&overlay.unknown);
    report.placements = plan.placements;
    report.findings = overlay.findings_delta(&tree, &after);
    report.effect = judged.effect;
    report.notes = notes;
    Ok((report, texts))
}

fn refuse_differing(restored: &RestoredEntries, file: &str, then: &Then) -> Result<(), Error> {
    let RestoredEntries { only_now, only_then, .. } = restored;
    if only_now.is_empty() && only_then.is_empty() {
        return Ok(());
    }
    let list = |names: &[String]| match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    };
    let message = format!(
        "entries of `images:` differ from those at {}: added since: {}; removed since: {}",
        then.shown,
        list(only_now),
        list(only_then)
    );
    Err(Error::new(codes::ENTRIES_DIFFER, message)
        .at(Location::file(file))
        .hint("--allow-missing brings back the others and leaves these as they are"))
}

fn place(image: &LeftImage) -> String {
    format!("{}/{} {}", image.resource.kind, image.resource.name, image.path)
}

fn few(images: &[LeftImage], shown: impl Fn(&LeftImage) -> String) -> String {
    let mut all: Vec<String> = images.iter().take(MOST).map(shown).collect();
    if images.len() > MOST {
        all.push(format!("and {} more", images.len() - MOST));
    }
    all.join("; ")
}

/// Images that are not what they were, since no entry of the overlay decides them, or one that was not there.
fn left(overlay: &LoadedOverlay<'_>, then: &Then, left: &[LeftImage]) -> Option<Note> {
    let shown = |image: &LeftImage| {
        let resource = overlay.before.resources.iter().find(|r| r.current_id() == image.resource);
        let node = resource.and_then(|resource| image.path.find(&resource.node));
        let owner = node.and_then(|node| overlay.owner_of(node.origin));
        let owner =
            owner.map_or_else(String::new, |o| format!(", decided by {}:{}", o.file, o.line));
        let was = image.then.as_deref().unwrap_or_default();
        format!("{} is {} and was {was}{owner}", place(image), image.now)
    };
    let message = format!("what does not come back to {}: {}", then.shown, few(left, shown));
    (!left.is_empty()).then(|| note("not-restored", message))
}

fn along(then: &Then, along: &[LeftImage]) -> Option<Note> {
    let message =
        format!("not there at {}, and moved along by its entry: {}", then.shown, few(along, place));
    (!along.is_empty()).then(|| note("moved-along", message))
}

fn kept(restored: &RestoredEntries, then: &Then) -> Option<Note> {
    let names: Vec<&str> =
        restored.only_now.iter().chain(&restored.only_then).map(String::as_str).collect();
    let message = format!(
        "entries that only one of now and {} has stay as they are: {}",
        then.shown,
        names.join(", ")
    );
    (!names.is_empty()).then(|| note("entries-differ", message))
}
