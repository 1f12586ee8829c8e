//! A remote base goes to another version: the references move, the pins follow on what the new version
//! renders, and both renders are compared.

mod guards;
mod locks;

use std::collections::{BTreeMap, BTreeSet};

use super::{Proven, prove_change};
use crate::change::{BumpBase, Change};
use crate::edit::unified_diff;
use crate::error::{Error, Location, codes};
use crate::kustomize::{EditedFiles, Files, Rendered, SourceTree};
use crate::ops::Context;
use crate::ops::preflight::Editable;
use crate::plan::{BaseReference, Plan, find_base_references, move_references};
use crate::report::change::{FileReport, MovedObjects, OverlayReport, Status};
use crate::verify::{Effect, compare_objects};
use crate::write::NewText;

/// One overlay whose references are moved.
struct Moved<'a> {
    overlay: &'a Editable,
    file: String,
    text: String,
    before: Rendered,
    address: String,
    plan: Plan,
}

/// Moves the base of every overlay and proves it by rendering.
///
/// # Errors
/// Refusals, and a base that cannot be had at either version; nothing is written then.
pub(super) fn prove(
    context: &Context,
    files: &dyn Files,
    editable: &[Editable],
    bump: &BumpBase,
) -> Result<Proven, Error> {
    let moved = context.for_each_of(editable, |overlay| Moved::plan(context, overlay, bump))?;
    guards::refuse_left_behind(&moved, bump)?;
    let mut texts: BTreeMap<String, String> =
        moved.iter().flat_map(|moved| moved.plan.texts.iter().cloned()).collect();
    let first: Vec<(String, String)> = texts.clone().into_iter().collect();
    let edited = EditedFiles::new(files, &first);
    let targets = context.for_each_of(&moved, |moved| {
        let (tree, _) = render(context, &edited, moved, bump)?;
        Ok(Editable { located: moved.overlay.located.clone(), tree })
    })?;
    let pins = bump.pins.as_ref().filter(|pins| !pins.pins.is_empty());
    let pinned = match pins {
        Some(pins) => prove_change(context, &edited, &targets, &Change::PinImages(pins.clone()))?,
        None => Proven { overlays: Vec::new(), texts: Vec::new() },
    };
    for text in pinned.texts {
        texts.insert(
            text.path,
            String::from_utf8_lossy(&text.after.unwrap_or_default()).into_owned(),
        );
    }
    let last: Vec<(String, String)> = texts.into_iter().collect();
    let edited = EditedFiles::new(files, &last);
    let mut overlays = Vec::new();
    let mut trees = Vec::new();
    for (at, moved) in moved.iter().enumerate() {
        let (tree, after) = render(context, &edited, moved, bump)?;
        let mut report = moved.report(&after, &last, pinned.overlays.get(at), bump)?;
        let before = (&moved.overlay.tree, &moved.before);
        report.findings = context.findings_between(before, (&tree, &after));
        overlays.push(report);
        trees.push(tree);
    }
    let mut texts = new_texts(&moved, last);
    let changed = overlays.iter_mut().find(|overlay| overlay.status == Status::Changed);
    if let (Some(first), Some(lock)) = (changed, locks::new_lock(context, files, &trees)?) {
        first.files.push(locks::report(&lock));
        texts.push(lock);
    }
    Ok(Proven { overlays, texts })
}

impl<'a> Moved<'a> {
    fn plan(context: &Context, overlay: &'a Editable, bump: &BumpBase) -> Result<Self, Error> {
        let Editable { located, tree } = overlay;
        let file = match located.directory.is_empty() {
            true => located.file.clone(),
            false => format!("{}/{}", located.directory, located.file),
        };
        let bytes = tree.file(&file).map(|file| file.bytes.to_vec()).unwrap_or_default();
        let text = String::from_utf8(bytes).map_err(|_| {
            let place = Location::file(file.clone());
            Error::new(codes::NOT_EDITABLE, "the file is not valid UTF-8").at(place)
        })?;
        let found = find_base_references(&file, &text)?;
        let address = guards::choose(&found, &file, bump)?;
        if let Some(error) = first_missing(context, tree) {
            return Err(error);
        }
        let before = context.render(tree, tree.overlay())?.rendered;
        let of_it: Vec<&BaseReference> = found.iter().filter(|b| b.address == address).collect();
        let plan = move_references(&file, &text, &of_it, &bump.reference)?;
        Ok(Self { overlay, file, text, before, address, plan })
    }

    fn report(
        &self,
        after: &Rendered,
        texts: &[(String, String)],
        pinned: Option<&OverlayReport>,
        bump: &BumpBase,
    ) -> Result<OverlayReport, Error> {
        let objects = compare_objects(&self.before.resources, &after.resources);
        let new_kinds = new_kinds(&self.before, after);
        guards::refuse_kinds(&new_kinds, bump)?;
        guards::refuse_removals(&objects, bump)?;
        let files = self.files(texts, pinned);
        let mut placements = self.plan.placements.clone();
        placements.extend(pinned.iter().flat_map(|pinned| &pinned.placements).cloned());
        let changes = objects.changed.iter().flat_map(|changed| changed.fields.clone()).collect();
        let kinds = new_kinds.iter().map(|(kind, group)| shown_kind(kind, group)).collect();
        let status = if files.is_empty() { Status::Unchanged } else { Status::Changed };
        Ok(OverlayReport {
            files,
            placements,
            effect: Effect { changes },
            notes: pinned.map(|pinned| pinned.notes.clone()).unwrap_or_default(),
            moved: Some(MovedObjects { objects, new_kinds: kinds }),
            ..OverlayReport::new(self.overlay.located.shown(), status)
        })
    }

    fn files(&self, texts: &[(String, String)], pinned: Option<&OverlayReport>) -> Vec<FileReport> {
        let own = texts.iter().find(|(path, text)| *path == self.file && *text != self.text);
        let diff = |(path, text): &(String, String)| FileReport {
            path: path.clone(),
            diff: unified_diff(path, Some(&self.text), Some(text)),
        };
        let others = pinned.iter().flat_map(|pinned| &pinned.files);
        let others = others.filter(|file| file.path != self.file).cloned();
        own.map(diff).into_iter().chain(others).collect()
    }
}

/// Why the first remote base of `tree` that is not at hand cannot be had.
fn first_missing(context: &Context, tree: &SourceTree) -> Option<Error> {
    let missing = tree.missing_remotes();
    missing.iter().find_map(|reference| context.remote_failure(reference))
}

/// What the overlay reaches and renders with the texts of `edited`.
fn render(
    context: &Context,
    edited: &EditedFiles<'_>,
    moved: &Moved<'_>,
    bump: &BumpBase,
) -> Result<(SourceTree, Rendered), Error> {
    let directory = moved.overlay.tree.overlay();
    let tree = context.load(edited, directory)?;
    if let Some(error) = first_missing(context, &tree) {
        return Err(error);
    }
    let built = context.render(&tree, tree.overlay());
    let rendered = built.map_err(|error| guards::breaks_build(error, bump))?.rendered;
    Ok((tree, rendered))
}

/// Kinds, with their groups, of which the later render has the first objects.
fn new_kinds(before: &Rendered, after: &Rendered) -> BTreeSet<(String, String)> {
    let kinds = |rendered: &Rendered| -> BTreeSet<(String, String)> {
        let ids = rendered.resources.iter().map(crate::kustomize::Resource::current_id);
        ids.map(|id| (id.kind.to_string(), id.group().to_owned())).collect()
    };
    kinds(after).difference(&kinds(before)).cloned().collect()
}

fn shown_kind(kind: &str, group: &str) -> String {
    if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") }
}

fn new_texts(moved: &[Moved<'_>], texts: Vec<(String, String)>) -> Vec<NewText> {
    let before = |path: &str| {
        let file = moved.iter().find_map(|moved| moved.overlay.tree.file(path))?;
        Some(file.bytes.to_vec())
    };
    let new = |(path, text): (String, String)| NewText {
        before: before(&path),
        path,
        after: Some(text.into_bytes()),
    };
    texts.into_iter().map(new).collect()
}
