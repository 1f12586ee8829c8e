//! Several changes as one: each is planned and proven on what the ones before it made, in memory. Then
//! the whole is proven: each change, asked again of the result, changes nothing, and what the overlay
//! renders differs from what it rendered in nothing that no change did.

use std::collections::BTreeMap;

use super::{Proven, breaks_build, consequences, prove_step};
use crate::change::Part;
use crate::discover::shown_directory;
use crate::edit::{line_after, unified_diff};
use crate::error::{Error, Location, codes};
use crate::kustomize::{EditedFiles, Files};
use crate::ops::Context;
use crate::ops::overlay::LoadedOverlay;
use crate::ops::preflight::Editable;
use crate::plan::{Note, Placement};
use crate::report::change::{FileReport, MovedObjects, OverlayReport, Status};
use crate::shell;
use crate::verify::{FieldChange, compare_objects, measure_effect};
use crate::write::NewText;

/// Brings all `parts` about, one after the other; nothing is written.
///
/// # Errors
/// The first refusal, with the place in the file of changes, and changes that contradict each other.
pub(super) fn prove(
    context: &Context,
    files: &dyn Files,
    editable: &[Editable],
    parts: &[Part],
) -> Result<Proven, Error> {
    refuse_strangers(editable, parts)?;
    let done = vec![Done::default(); editable.len()];
    let mut run = Run { context, files, editable, texts: BTreeMap::new(), done };
    for part in parts {
        run.step(part).map_err(|error| asked_at(error, part))?;
    }
    for part in parts {
        run.require_kept(part)?;
    }
    run.finish()
}

/// What the steps so far did to one overlay.
#[derive(Clone, Default)]
struct Done {
    status: Option<Status>,
    placements: Vec<Placement>,
    changes: Vec<FieldChange>,
    notes: Vec<Note>,
    moves_objects: bool,
}

struct Run<'a> {
    context: &'a Context,
    files: &'a dyn Files,
    editable: &'a [Editable],
    /// By path: the bytes before all steps, and the text after the last.
    texts: BTreeMap<String, (Option<Vec<u8>>, String)>,
    done: Vec<Done>,
}

impl Run<'_> {
    /// Plans and proves `part` on the texts so far.
    fn prove_part(&self, part: &Part) -> Result<(Vec<usize>, Proven), Error> {
        let texts = self.new_texts();
        let edited = EditedFiles::new(self.files, &texts);
        let concerned =
            self.editable.iter().enumerate().filter(|(_, overlay)| part.concerns(&named(overlay)));
        let concerned: Vec<(usize, &Editable)> = concerned.collect();
        let targets = self.context.for_each_of(&concerned, |(_, overlay)| {
            let tree = match texts.is_empty() {
                true => overlay.tree.clone(),
                false => self.context.load(&edited, overlay.tree.overlay())?,
            };
            Ok(Editable { located: overlay.located.clone(), tree })
        })?;
        let proven = prove_step(self.context, &edited, &targets, &part.change)?;
        Ok((concerned.iter().map(|(at, _)| *at).collect(), proven))
    }

    fn step(&mut self, part: &Part) -> Result<(), Error> {
        let (concerned, proven) = self.prove_part(part)?;
        for text in proven.texts {
            let after = text.after.as_deref().unwrap_or_default();
            let after = String::from_utf8_lossy(after).into_owned();
            self.move_placements(&text, &after);
            let before = text.before;
            self.texts.entry(text.path).or_insert((before, String::new())).1 = after;
        }
        for (at, report) in concerned.into_iter().zip(proven.overlays) {
            self.done[at].add(report);
        }
        Ok(())
    }

    /// The lines of earlier steps are those of the new text.
    fn move_placements(&mut self, text: &NewText, after: &str) {
        let before = text.before.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let placements = self.done.iter_mut().flat_map(|done| &mut done.placements);
        for placement in placements.filter(|placement| placement.file == text.path) {
            placement.line = line_after(&before, after, placement.line);
        }
    }

    /// Asked again of the result, `part` changes nothing.
    fn require_kept(&self, part: &Part) -> Result<(), Error> {
        let again = self.prove_part(part);
        let cause = match again {
            Ok((_, proven)) if proven.texts.is_empty() => return Ok(()),
            Ok((_, proven)) => proven.texts.iter().map(|text| text.path.clone()).collect(),
            Err(error) => vec![error.to_string()],
        };
        let message =
            format!("a later change undoes what this `{}` asks for", part.change.command());
        let error = Error::new(codes::CONTRADICTION, message).at(place(part));
        Err(error.cause(cause.join(", ")).hint("put one of the two behind the other, or drop it"))
    }

    fn new_texts(&self) -> Vec<(String, String)> {
        self.texts.iter().map(|(path, (_, text))| (path.clone(), text.clone())).collect()
    }

    fn finish(self) -> Result<Proven, Error> {
        let texts = self.new_texts();
        let each: Vec<(&Editable, &Done)> = self.editable.iter().zip(&self.done).collect();
        let overlays = self
            .context
            .for_each_of(&each, |(overlay, done)| self.report(overlay, done, &texts))?;
        let new = |(path, (before, after)): (String, (Option<Vec<u8>>, String))| {
            let after = Some(after.into_bytes());
            (before != after).then_some(NewText { path, before, after })
        };
        Ok(Proven { overlays, texts: self.texts.into_iter().filter_map(new).collect() })
    }

    /// The proof of the whole for one overlay.
    fn report(
        &self,
        editable: &Editable,
        done: &Done,
        texts: &[(String, String)],
    ) -> Result<OverlayReport, Error> {
        let overlay = LoadedOverlay::load(self.files, editable, self.context)?;
        let (tree, after) = overlay.build_with(texts).map_err(breaks_build)?;
        let effect = measure_effect(&overlay.before.resources, &after.resources);
        if !done.moves_objects {
            refuse_unasked(&effect.changes, &done.changes)?;
        }
        let mut notes = done.notes.clone();
        notes.extend(consequences::budgets(self.context, &overlay, &tree, &after));
        let moved = done.moves_objects.then(|| MovedObjects {
            objects: compare_objects(&overlay.before.resources, &after.resources),
            new_kinds: Vec::new(),
        });
        let files = self.file_reports(editable);
        let status = match done.status {
            Some(Status::Changed) if files.is_empty() => Status::Unchanged,
            status => status.unwrap_or(Status::Unaffected),
        };
        Ok(OverlayReport {
            status,
            files,
            placements: done.placements.clone(),
            effect,
            findings: overlay.findings_delta(&tree, &after),
            notes,
            moved,
            affects: Vec::new(),
            path: overlay.path,
            proof: overlay.proof,
            unknown: overlay.unknown,
        })
    }

    /// The files below the directory of what is edited, each with the diff of all steps.
    fn file_reports(&self, editable: &Editable) -> Vec<FileReport> {
        let directory = &editable.located.directory;
        let is_own = |path: &str| {
            directory.is_empty()
                || path.strip_prefix(&**directory).is_some_and(|rest| rest.starts_with('/'))
        };
        let report = |(path, (before, after)): (&String, &(Option<Vec<u8>>, String))| {
            let before = before.as_deref().map(String::from_utf8_lossy);
            FileReport {
                path: path.clone(),
                diff: unified_diff(path, before.as_deref(), Some(after)),
            }
        };
        let own = self.texts.iter().filter(|(path, _)| is_own(path)).map(report);
        own.filter(|file| !file.diff.is_empty()).collect()
    }
}

impl Done {
    /// Budgets are told of the whole, not of its steps.
    fn add(&mut self, report: OverlayReport) {
        self.status = Some(match (self.status, report.status) {
            (Some(Status::Changed), _) | (_, Status::Changed) => Status::Changed,
            (Some(Status::Unchanged), _) | (_, Status::Unchanged) => Status::Unchanged,
            _ => Status::Unaffected,
        });
        self.moves_objects |= report.moved.is_some();
        self.changes.extend(report.effect.changes);
        self.placements.extend(report.placements);
        for note in report.notes {
            if note.code != consequences::BUDGET_NOTE && !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}

/// What the whole moves is what a step moved, or lies within or around it.
fn refuse_unasked(whole: &[FieldChange], steps: &[FieldChange]) -> Result<(), Error> {
    let is_asked = |moved: &&FieldChange| {
        steps.iter().any(|step| {
            let (a, b) = (moved.path.steps(), step.path.steps());
            step.resource == moved.resource && (a.starts_with(b) || b.starts_with(a))
        })
    };
    let Some(moved) = whole.iter().find(|moved| !is_asked(moved)) else { return Ok(()) };
    let (kind, name) = (&moved.resource.kind, &moved.resource.name);
    let message = format!("{kind}/{name} {} would change, and no change asks for it", moved.path);
    Err(Error::new(codes::WIDER_EFFECT, message))
}

/// An overlay that a part names has to be named on the command line too.
fn refuse_strangers(editable: &[Editable], parts: &[Part]) -> Result<(), Error> {
    let is_named = |path: &str| {
        editable.iter().any(|overlay| {
            let only = Part { overlays: vec![path.to_owned()], ..parts[0].clone() };
            only.concerns(&named(overlay))
        })
    };
    for part in parts {
        if let Some(stranger) = part.overlays.iter().find(|path| !is_named(path)) {
            let message = format!("{stranger} is none of the overlays that the command names");
            let hint = format!(
                "add --overlay {}; the paths are those from the repository's root",
                shell::word(stranger)
            );
            return Err(Error::new(codes::NO_SUCH_OVERLAY, message).at(place(part)).hint(hint));
        }
    }
    Ok(())
}

/// What is edited, as reports call it.
fn named(editable: &Editable) -> String {
    shown_directory(&editable.located.directory)
}

fn place(part: &Part) -> Location {
    Location::at(part.file.clone(), part.line, part.column)
}

/// `error` with the place of the change that it refuses.
fn asked_at(error: Error, part: &Part) -> Error {
    if error.location().is_none() {
        return error.at(place(part));
    }
    let (file, line) = (&part.file, part.line);
    error.hint(format!("the change that is refused is asked for at {file}:{line}"))
}
