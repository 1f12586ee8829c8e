//! Overlays go back to what they were at a commit, as a change of now: what comes back is proven by
//! rendering that commit beside what is edited.

mod fields;
mod files;
mod guards;
mod pins;
mod presence;
mod then;

pub(in crate::ops) use then::absent;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::hold;
use super::{Proven, breaks_build, file_report};
use crate::change::{HOLD_FILE, Restored, Revert};
use crate::error::{Error, Location, codes};
use crate::git::{ObjectId, Repository};
use crate::kustomize::{Files, Rendered, SourceTree};
use crate::ops::Context;
use crate::ops::preflight::Editable;
use crate::plan::Note;
use crate::report::change::{MovedObjects, OverlayReport, Status};
use crate::verify::{Effect, ObjectDiff};
use crate::write::NewText;
use then::Then;

/// Where the past is, and what it is seen from.
pub(in crate::ops) struct Past<'a> {
    /// The repository with the commits.
    pub(in crate::ops) repository: &'a Repository,
    /// The commit that is edited.
    pub(in crate::ops) base: ObjectId,
    /// The files on disk are edited, which may differ from it.
    pub(in crate::ops) is_on_disk: bool,
}

/// What one overlay went through.
type Restoration = (OverlayReport, Vec<NewText>);

/// What going back sees.
struct Ground<'a> {
    context: &'a Context,
    past: &'a Past<'a>,
    files: &'a dyn Files,
    revert: &'a Revert,
}

/// As [`prove`], for the files on disk.
///
/// # Errors
/// As [`prove`], and where they are in no repository.
pub(super) fn prove_on_disk(
    context: &Context,
    files: &dyn Files,
    editable: &[Editable],
    revert: &Revert,
) -> Result<Proven, Error> {
    let root = context.boundary.get().unwrap_or(&context.cwd);
    let repository = Repository::open(&Arc::new(context.git_settings()), root)?;
    let base = repository.resolve("HEAD")?;
    let past = Past { repository: &repository, base, is_on_disk: true };
    prove(context, &past, files, editable, revert)
}

/// Brings back what is asked for in every overlay and proves it by rendering; nothing is written.
///
/// # Errors
/// Refusals, and commits that cannot be read.
pub(in crate::ops) fn prove(
    context: &Context,
    past: &Past<'_>,
    files: &dyn Files,
    editable: &[Editable],
    revert: &Revert,
) -> Result<Proven, Error> {
    let ground = Ground { context, past, files, revert };
    let each = context.for_each_of(editable, |editable| ground.restore(editable))?;
    let mut texts: BTreeMap<String, NewText> = BTreeMap::new();
    let mut overlays = Vec::new();
    for (report, new) in each {
        overlays.push(report);
        for text in new {
            let path = text.path.clone();
            if texts.get(&path).is_some_and(|other| other.after != text.after) {
                let message = "two overlays named would leave this file with different texts";
                return Err(Error::new(codes::CONTRADICTION, message).at(Location::file(path)));
            }
            texts.insert(path, text);
        }
    }
    Ok(Proven { overlays, texts: texts.into_values().collect() })
}

impl Ground<'_> {
    fn restore(&self, editable: &Editable) -> Result<Restoration, Error> {
        let then = Then::load(self, editable)?;
        let (mut report, mut texts) = match &self.revert.restored {
            Restored::Files => files::restore(self, editable, &then),
            Restored::Pins => pins::restore(self, editable, &then),
            Restored::Fields(name, paths) => fields::restore(self, editable, &then, name, paths),
        }?;
        report.notes.extend(then.broken_note());
        if let Some(hold) = &self.revert.hold {
            let directory = &editable.located.directory;
            let text = hold::put_along(self.files, directory, hold, !texts.is_empty())?;
            if let Some(text) = text {
                report.files.push(file_report(&text));
                report.status = Status::Changed;
                texts.push(text);
            }
        }
        Ok((report, texts))
    }

    /// The report of an overlay with nothing said of it yet.
    fn report(&self, editable: &Editable, texts: &[NewText]) -> OverlayReport {
        let path = crate::discover::shown_directory(editable.tree.overlay());
        let status = if texts.is_empty() { Status::Unchanged } else { Status::Changed };
        OverlayReport {
            files: texts.iter().map(file_report).collect(),
            ..OverlayReport::new(path, status)
        }
    }

    /// What the overlay renders with its new files.
    fn render(&self, tree: &SourceTree) -> Result<Rendered, Error> {
        let built = self.context.render(tree, tree.overlay());
        Ok(built.map_err(breaks_build)?.rendered)
    }
}

/// The effect and the objects of a report, what a Secret holds hidden.
fn fill_effect(report: &mut OverlayReport, objects: ObjectDiff) {
    let changes = objects.changed.iter().flat_map(|changed| changed.fields.clone()).collect();
    report.effect = Effect { changes };
    report.moved = Some(MovedObjects { objects, new_kinds: Vec::new() });
}

fn note(code: &'static str, message: impl Into<String>) -> Note {
    Note { code, message: message.into() }
}

/// Whether `path` is the file of a hold, which no going back moves.
fn is_hold(path: &str) -> bool {
    path.rsplit('/').next() == Some(HOLD_FILE)
}
