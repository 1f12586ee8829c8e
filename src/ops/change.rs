//! The spine of every edit: load, render, plan, prove, write, report. One call a stage, no decision of
//! its own; nothing is written before every overlay is proven.

#[cfg(feature = "git")]
mod bump;
mod components;
mod consequences;
pub(super) mod databases;
mod fields;
pub(super) mod hold;
pub(super) mod reach;
mod removals;
#[cfg(feature = "registry")]
mod resolve;
#[cfg(feature = "git")]
pub(super) mod revert;
mod several;
mod unseen;

use std::collections::{BTreeMap, HashMap};

use super::Context;
use super::overlay::LoadedOverlay;
use super::preflight::Editable;
use crate::change::{Change, PinImages, Wish};
use crate::checks::Delta;
use crate::discover::DiskFiles;
use crate::edit::{FileChange, unified_diff};
use crate::error::{Error, Location, codes};
use crate::kustomize::{
    FieldPath, Files, ImageUse, Resource, SourceTree, Step, UseKind, find_image_uses,
};
use crate::plan::{self, ImagesEntry, Note, Plan, PlanError, layer};
use crate::report::change::{ChangeReport, Delivered, FileReport, OverlayReport, Proof, Status};
use crate::verify::{Effect, measure_effect, verify_fields, verify_pins};
use crate::write::{NewText, write_texts};
use crate::yaml;

/// Whether the files are edited in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    /// They are.
    Files,
    /// The diff and the effect are shown instead.
    Nothing,
}

/// One overlay with what was decided for it.
struct Planned<'a> {
    overlay: LoadedOverlay<'a>,
    wanted: Wanted<'a>,
    plan: Plan,
    notes: Vec<Note>,
    unmatched: Vec<(String, Error)>,
    matched: usize,
}

/// What the judge compares the render with.
enum Wanted<'a> {
    Pins(&'a PinImages, Vec<ImageUse>),
    Fields(Vec<Wish>),
}

/// A change that was planned and proven, and is not written.
pub(crate) struct Proven {
    /// What became of each overlay.
    pub(crate) overlays: Vec<OverlayReport>,
    /// The files that differ.
    pub(crate) texts: Vec<NewText>,
}

/// Plans `change` in every overlay of `editable` and proves it by rendering; all or nothing.
///
/// # Errors
/// The first refusal or failure, where an overlay that would change is held, and where the operator of a database would refuse
/// what it becomes.
pub(crate) fn prove_change(
    context: &Context,
    files: &dyn Files,
    editable: &[Editable],
    change: &Change,
) -> Result<Proven, Error> {
    let proven = prove_step(context, files, editable, change)?;
    databases::refuse_refused(change, &proven.overlays)?;
    Ok(proven)
}

/// As [`prove_change`], of a change that is one of several: operators see the whole.
fn prove_step(
    context: &Context,
    files: &dyn Files,
    editable: &[Editable],
    change: &Change,
) -> Result<Proven, Error> {
    let proven = plan_and_prove(context, files, editable, change)?;
    hold::require_none(context, files, editable, change, &proven)?;
    Ok(proven)
}

fn plan_and_prove(
    context: &Context,
    files: &dyn Files,
    editable: &[Editable],
    change: &Change,
) -> Result<Proven, Error> {
    #[cfg(feature = "git")]
    if let Change::BumpBase(bump) = change {
        return bump::prove(context, files, editable, bump);
    }
    match change {
        Change::SetComponents(wanted) => {
            return components::prove(context, files, editable, wanted);
        }
        Change::Several(parts) => return several::prove(context, files, editable, parts),
        #[cfg(feature = "registry")]
        Change::ResolveImages(wanted) => return resolve::prove(context, files, editable, wanted),
        Change::SetHold(wanted) => return hold::prove(files, editable, wanted),
        #[cfg(feature = "git")]
        Change::Revert(revert) => return revert::prove_on_disk(context, files, editable, revert),
        _ => {}
    }
    let plan = |overlay: &Editable| {
        let overlay = LoadedOverlay::load(files, overlay, context)?;
        match change {
            Change::PinImages(pins) => plan_pins(overlay, pins),
            _ => fields::plan(context, overlay, change),
        }
    };
    let planned = context.for_each_of(editable, plan)?;
    prove_planned(context, planned)
}

/// Proves what was planned for each overlay; all or nothing.
fn prove_planned(context: &Context, mut planned: Vec<Planned<'_>>) -> Result<Proven, Error> {
    refuse_unmatched(&mut planned)?;
    let texts = merged_texts(&planned)?;
    let mut overlays = context.for_each_of(&planned, |planned| {
        prove(context, planned, &texts_reached(planned.overlay.tree(), &texts))
    })?;
    if let Some(first) = overlays.first_mut() {
        #[cfg(feature = "git")]
        first.notes.extend(context.remote_notes());
        first.notes.extend(context.chart_notes());
    }
    Ok(Proven { overlays, texts: new_texts(&planned, texts) })
}

/// Brings `change` about in every overlay of `editable`, all or nothing.
///
/// # Errors
/// The first refusal or failure; nothing was written then.
pub(crate) fn run_change(
    context: &Context,
    files: &DiskFiles,
    editable: &[Editable],
    change: &Change,
    write: Write,
) -> Result<ChangeReport, Error> {
    let Proven { mut overlays, texts } = prove_change(context, files, editable, change)?;
    let beside = editable.first().map(|first| first.tree.beside()).unwrap_or_default();
    reach::note_users(beside, files, editable, &mut overlays)?;
    if write == Write::Files && !texts.is_empty() {
        write_texts(files.root(), &texts)?;
        context.say(|| {
            let names: Vec<&str> = texts.iter().map(|text| &*text.path).collect();
            format!("written: {}", names.join(", "))
        });
    }
    let dry_run = write == Write::Nothing;
    Ok(ChangeReport { dry_run, overlays, delivered: Delivered::default() })
}

/// An overlay with what planning pins has to see of it.
struct Viewed<'a> {
    overlay: LoadedOverlay<'a>,
    entries: Vec<ImagesEntry>,
    uses: Vec<ImageUse>,
}

impl<'a> Viewed<'a> {
    fn of(overlay: LoadedOverlay<'a>, image_args: &[String]) -> Result<Self, Error> {
        let entries = read_entries(&overlay)?;
        let uses = find_uses(&overlay, &entries, image_args)?;
        Ok(Self { overlay, entries, uses })
    }

    fn as_pin_view(&self) -> plan::PinView<'_> {
        plan::PinView {
            file: &self.overlay.file,
            entries: &self.entries,
            later: self.overlay.later(),
            uses: &self.uses,
            resources: &self.overlay.before.resources,
            is_partial: !self.overlay.unknown.is_empty(),
        }
    }
}

fn plan_pins<'a>(overlay: LoadedOverlay<'a>, pins: &'a PinImages) -> Result<Planned<'a>, Error> {
    plan_viewed(Viewed::of(overlay, &pins.image_args)?, pins)
}

fn plan_viewed<'a>(viewed: Viewed<'a>, pins: &'a PinImages) -> Result<Planned<'a>, Error> {
    let decided = plan::decide_pins(pins, viewed.as_pin_view())?;
    let Viewed { overlay, entries, uses, .. } = viewed;
    let own = overlay.own_files();
    let view = plan::WriteView {
        file: &overlay.file,
        text: &overlay.text,
        entries: &entries,
        uses: &uses,
        rendered: &overlay.before,
        own: &own,
        may_add: !pins.no_add,
    };
    let plan = plan::write_decisions(view, &decided.decisions)?;
    let plan::Decisions { notes, unmatched, matched, .. } = decided;
    let unmatched = unmatched.into_iter().map(|(key, error)| (key, error.into())).collect();
    Ok(Planned { overlay, wanted: Wanted::Pins(pins, uses), plan, notes, unmatched, matched })
}

/// The `images:` entries of the overlay's own kustomization file.
///
/// # Errors
/// Where the file is no YAML, or its `images:` is not one list.
pub(crate) fn read_entries(overlay: &LoadedOverlay<'_>) -> Result<Vec<ImagesEntry>, Error> {
    let file = || overlay.file.clone();
    let tree =
        yaml::parse(&overlay.text).map_err(|error| PlanError::Yaml { file: file(), error })?;
    let entries = plan::read_entries(&tree);
    Ok(entries.map_err(|error| PlanError::Entries { file: file(), error })?)
}

/// Every place that names an image, with what arrives there and which entries act on it.
///
/// # Errors
/// As rendering.
pub(crate) fn find_uses(
    overlay: &LoadedOverlay<'_>,
    entries: &[ImagesEntry],
    flags: &[String],
) -> Result<Vec<ImageUse>, Error> {
    let mut uses = find_image_uses(&overlay.before.resources, flags);
    let (arriving, probed) = overlay.render_layer()?;
    for moved in measure_effect(&arriving.resources, &probed.resources).changes {
        let text = |value: &Option<serde_json::Value>| value.as_ref()?.as_str().map(str::to_owned);
        let is_probe = text(&moved.after).is_some_and(|after| after.starts_with(layer::PROBE));
        let Some(reference) = text(&moved.before).filter(|_| is_probe) else { continue };
        let known = uses.iter_mut().find(|u| u.resource == moved.resource && u.path == moved.path);
        match known {
            Some(place) => place.arriving = Some(reference.into()),
            None => uses.extend(taught_use(
                &overlay.before.resources,
                moved.resource,
                moved.path,
                &reference,
            )),
        }
    }
    plan::trace_entries(&mut uses, entries);
    mark_overridden(overlay, &mut uses)?;
    Ok(uses)
}

/// Finds the places that replacements or transformers of this layer decide after its `images:`.
fn mark_overridden(overlay: &LoadedOverlay<'_>, uses: &mut [ImageUse]) -> Result<(), Error> {
    if overlay.later().is_empty() {
        return Ok(());
    }
    let probed = overlay.render_text(layer::with_digest_probe(&overlay.text))?;
    for place in uses.iter_mut().filter(|place| place.arriving.is_some()) {
        let resource = probed.resources.iter().find(|r| r.current_id() == place.resource);
        let reference = resource.and_then(|r| place.reference_in(r)).unwrap_or_default();
        place.is_overridden = !reference.ends_with(layer::PROBE_DIGEST);
    }
    Ok(())
}

/// A field that only `configurations:` make one of the images transformer.
fn taught_use(
    resources: &[Resource],
    resource: crate::kustomize::ResourceId,
    path: FieldPath,
    arriving: &str,
) -> Option<ImageUse> {
    let is_copy = path.steps().iter().any(is_no_image_field);
    let found = resources.iter().find(|r| r.current_id() == resource && !is_copy)?;
    let reference = path.find(&found.node)?.as_str()?.into();
    let arriving = Some(arriving.into());
    let (kind, container, entry_names) = (UseKind::Field, None, Vec::new());
    let is_overridden = false;
    Some(ImageUse {
        resource,
        path,
        kind,
        container,
        reference,
        arriving,
        is_overridden,
        entry_names,
    })
}

/// A `vars:` of a base or a like copy of an image, and not a field that the transformer was taught.
fn is_no_image_field(step: &Step) -> bool {
    let copies = ["env", "args", "command", "data", "stringData", "metadata"];
    matches!(step, Step::Key(key) if copies.contains(&key.as_ref()))
}

/// A key or name must mean something in at least one overlay.
fn refuse_unmatched(planned: &mut [Planned<'_>]) -> Result<(), Error> {
    let overlays = planned.len();
    let Some(first) = planned.first() else { return Ok(()) };
    let keys: Vec<String> = first.unmatched.iter().map(|(key, _)| key.clone()).collect();
    for key in keys {
        let errors = planned.iter_mut().filter_map(|p| {
            let at = p.unmatched.iter().position(|(unmatched, _)| *unmatched == key)?;
            Some(p.unmatched.swap_remove(at).1)
        });
        let mut errors: Vec<Error> = errors.collect();
        if errors.len() == overlays {
            return Err(errors.swap_remove(0));
        }
    }
    Ok(())
}

/// The new texts of all overlays; two that edit one file differently are refused.
fn merged_texts(planned: &[Planned<'_>]) -> Result<Vec<(String, String)>, Error> {
    let mut merged: BTreeMap<&str, &str> = BTreeMap::new();
    for (path, text) in planned.iter().flat_map(|p| &p.plan.texts) {
        if merged.insert(path, text).is_some_and(|other| other != text) {
            let message = "two overlays named would edit this file differently";
            return Err(Error::new(codes::CONTRADICTION, message).at(Location::file(path)));
        }
    }
    Ok(merged.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect())
}

/// Those of `texts`, which are in the order of their paths, that the build of `tree` may read: a
/// kustomization reads files of its own directory only.
fn texts_reached(tree: &SourceTree, texts: &[(String, String)]) -> Vec<(String, String)> {
    let mut reached: BTreeMap<&str, &str> = BTreeMap::new();
    for (directory, _) in tree.kustomizations() {
        let below = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let start = texts.partition_point(|(path, _)| **path < *below);
        let within = texts[start..].iter().take_while(|(path, _)| path.starts_with(&below));
        reached.extend(within.map(|(path, text)| (&**path, &**text)));
    }
    reached.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect()
}

fn prove(
    context: &Context,
    planned: &Planned<'_>,
    texts: &[(String, String)],
) -> Result<OverlayReport, Error> {
    let overlay = &planned.overlay;
    let mut notes = planned.notes.clone();
    notes.extend(unproven_note(overlay).filter(|_| !texts.is_empty()));
    let (mut effect, mut findings) = (Effect::default(), Delta::default());
    if !texts.is_empty() {
        let (tree, after) = overlay.build_with(texts).map_err(breaks_build)?;
        let before = &overlay.before.resources;
        effect = match &planned.wanted {
            Wanted::Pins(pins, uses) => verify_pins(pins, uses, before, &after.resources)?,
            Wanted::Fields(wishes) => verify_fields(wishes, before, &after.resources)?,
        };
        findings = overlay.findings_delta(&tree, &after);
        notes.extend(consequences::budgets(context, overlay, &tree, &after));
        notes.extend(consequences::volumes(&effect));
        context.say(|| proven_step(planned, &effect));
    }
    let status = match (planned.plan.edits.is_empty(), planned.matched) {
        (false, _) => Status::Changed,
        (true, 0) => Status::Unaffected,
        (true, _) => Status::Unchanged,
    };
    Ok(OverlayReport {
        path: overlay.path.clone(),
        status,
        proof: overlay.proof,
        unknown: overlay.unknown.clone(),
        files: diffs(planned)?,
        placements: planned.plan.placements.clone(),
        effect,
        findings,
        notes,
        affects: Vec::new(),
        moved: None,
    })
}

/// Said of an overlay of which nothing could be rendered.
fn unproven_note(overlay: &LoadedOverlay<'_>) -> Option<Note> {
    let message = format!(
        "{}: nothing of it could be rendered, so that the edit is not proven",
        overlay.path
    );
    (overlay.proof == Proof::None).then_some(Note { code: "unproven", message })
}

/// What was proven, and where the edits stand, as `--verbose` tells it.
fn proven_step(planned: &Planned<'_>, effect: &Effect) -> String {
    let overlay = &planned.overlay;
    let place = |p: &plan::Placement| format!("{}:{} ({})", p.file, p.line, p.kind.word());
    let places: Vec<String> = planned.plan.placements.iter().map(place).collect();
    let (fields, proof) = (effect.changes.len(), overlay.proof.word());
    format!(
        "{}: proof {proof}: {fields} fields differ, as asked; placed at {}",
        overlay.path,
        places.join(", ")
    )
}

fn breaks_build(error: Error) -> Error {
    match error.code() {
        code if code == codes::BUILD_BROKEN => {
            Error::new(codes::EDIT_BREAKS_BUILD, "the overlay would no longer build after the edit")
                .cause(error.to_string())
        }
        _ => error,
    }
}

fn diffs(planned: &Planned<'_>) -> Result<Vec<FileReport>, Error> {
    let mut files = Vec::new();
    for (path, text) in &planned.plan.texts {
        let is_new = planned
            .plan
            .edits
            .iter()
            .any(|e| e.path == *path && matches!(e.change, FileChange::Create(_)));
        let old = (!is_new).then(|| planned.overlay.text_of(path)).transpose()?;
        let diff = unified_diff(path, old.as_deref(), Some(text));
        files.push(FileReport { path: path.clone(), diff });
    }
    Ok(files)
}

/// What `text` does to its file.
fn file_report(text: &NewText) -> FileReport {
    let [before, after] =
        [&text.before, &text.after].map(|bytes| bytes.as_deref().map(String::from_utf8_lossy));
    FileReport {
        path: text.path.clone(),
        diff: unified_diff(&text.path, before.as_deref(), after.as_deref()),
    }
}

/// The new text of a file that `tree` has, or has not yet.
#[cfg(feature = "git")]
pub(crate) fn new_text(tree: &SourceTree, path: &str, text: &str) -> NewText {
    NewText {
        path: path.to_owned(),
        before: tree.file(path).map(|file| file.bytes.to_vec()),
        after: Some(text.as_bytes().to_vec()),
    }
}

fn new_texts(planned: &[Planned<'_>], texts: Vec<(String, String)>) -> Vec<NewText> {
    let mut old: HashMap<&str, &[u8]> = HashMap::new();
    for planned in planned {
        let files =
            planned.plan.texts.iter().filter_map(|(path, _)| planned.overlay.tree().file(path));
        old.extend(files.map(|file| (&*file.path, &*file.bytes)));
    }
    let before = |path: &str| old.get(path).map(|bytes| bytes.to_vec());
    let new = |(path, text): (String, String)| NewText {
        before: before(&path),
        path,
        after: Some(text.into_bytes()),
    };
    texts.into_iter().map(new).collect()
}
