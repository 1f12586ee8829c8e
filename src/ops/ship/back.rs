//! The change that takes another one back: the files as they were, or, where others have edited them since, its own fields alone.

use super::leg::{Landing, Leg};
use super::step::{Done, Failed, nothing_found};
use super::voyage::{Voyage, landed, proposed};
use crate::change::{Change, Part, Restored, RevertTarget, SetFields};
use crate::discover::{Located, shown_directory};
use crate::error::{Error, codes};
use crate::git::ObjectId;
use crate::kustomize::{Resource, ResourceId, ResourceName, shown_name};
use crate::ops::deliver::{Delivery, Survey};
use crate::ops::revert::nothing_restored;
use crate::ops::version::Version;
use crate::ship::{Ending, ShipRecord};
use crate::verify::{ObjectDiff, compare_objects};

impl Voyage<'_> {
    fn leg_back(&self) -> Result<Leg<'_>, Failed> {
        let (change, delivery) = self.back.as_ref().ok_or_else(nothing_found)?;
        let overlays = &self.edit.overlays[..];
        Ok(Leg { context: self.context(), overlays, change, delivery: delivery.clone() })
    }

    /// Opens the pull request that takes the change back, or brings it up to date.
    ///
    /// # Errors
    /// Where what was before is not known, or the forge refuses.
    pub(super) fn propose_back(&mut self) -> Result<Done, Failed> {
        let landing = self.landing.ok_or_else(nothing_found)?;
        let leg = self.leg();
        let change = change_back(&leg, landing)?;
        let survey = Survey::open(leg.context, leg.overlays, leg.change, &leg.delivery)?;
        let (tip, before) = (survey.tip()?, landing.before);
        let before = before.ok_or_else(|| no_past(landing.commit))?;
        let change_made = survey.fingerprint(&survey.prove(before)?);
        let record = record_back(self.shipping.record, change_made, landing.commit);
        let delivery = delivery_back(&leg.delivery, &record);
        drop(leg);
        self.back = Some((change, delivery));
        let leg = self.leg_back()?;
        let survey = Survey::open(leg.context, leg.overlays, leg.change, &leg.delivery)?;
        if survey.prove(tip)?.texts.is_empty() {
            return Ok(Done::skipped("the base branch is as before already"));
        }
        let delivered = leg.propose()?;
        proposed(delivered, leg.change.command())
    }

    /// Merges it, or waits for a person who does.
    ///
    /// # Errors
    /// Where it is not merged.
    pub(super) fn land_back(&mut self) -> Result<Done, Failed> {
        let leg = self.leg_back()?;
        let report = leg.land()?;
        let known = landed(&report, leg.change.command())?;
        let commit = leg.find_landing(known)?.commit;
        let command = leg.change.command();
        let summary = format!("on {} since {}", self.base(), commit.short());
        self.went_back = Some(commit);
        Ok(Done::new(Ending::Changed, summary, report.into_report(command).result))
    }
}

/// What takes `leg`'s change back, which landed there.
///
/// # Errors
/// Where history does not go back so far, or the objects that came and went with the change cannot be told from those of others.
pub(super) fn change_back(leg: &Leg<'_>, landing: Landing) -> Result<Change, Error> {
    change_back_of(leg, landing, leg.change.command())
}

/// As [`change_back`], where all that is known of the change is the command that made it.
///
/// # Errors
/// As [`change_back`].
pub(super) fn change_back_of(
    leg: &Leg<'_>,
    landing: Landing,
    command: &str,
) -> Result<Change, Error> {
    let before = landing.before.ok_or_else(|| no_past(landing.commit))?;
    let survey = Survey::open(leg.context, leg.overlays, leg.change, &leg.delivery)?;
    let tip = survey.tip()?;
    let is_touched = is_touched_since(&survey, landing.commit, tip)?;
    let restored = match command {
        _ if !is_touched => Restored::Files,
        "pin" => Restored::Pins,
        _ => return fields_back(&survey, landing.commit, before),
    };
    Ok(revert_to(&survey, before, restored))
}

/// What took `leg`'s change back, which landed there, where the base branch at `tip` still holds that; else nothing.
///
/// # Errors
/// Where the base branch cannot be read.
pub(super) fn held_change_back(
    leg: &Leg<'_>,
    (landing, tip): (Landing, ObjectId),
    command: &str,
) -> Result<Option<Change>, Error> {
    let Some(before) = landing.before else { return Ok(None) };
    let survey = Survey::open(leg.context, leg.overlays, leg.change, &leg.delivery)?;
    // The whole files, as long as nobody has edited them since; then the same as if it were returned now.
    let whole = revert_to(&survey, before, Restored::Files);
    let parts = change_back_of(leg, landing, command).ok();
    for change in [Some(whole), parts].into_iter().flatten() {
        let survey = Survey::open(leg.context, leg.overlays, &change, &leg.delivery)?;
        if survey.prove(tip).is_ok_and(|proven| proven.texts.is_empty()) {
            return Ok(Some(change));
        }
    }
    Ok(None)
}

fn revert_to(survey: &Survey<'_>, commit: ObjectId, restored: Restored) -> Change {
    let target = |located: &Located| RevertTarget {
        directory: located.directory.clone(),
        commit: commit.to_string(),
    };
    let targets = survey.located.iter().map(target).collect();
    Change::Revert(crate::change::Revert { targets, ..nothing_restored(restored) })
}

/// Nobody knows what was before.
pub(super) fn no_past(commit: ObjectId) -> Error {
    let message =
        format!("the history of this clone does not say what was before {}", commit.short());
    Error::new(codes::SHALLOW_CLONE, message).hint("fetch more of it: git fetch --unshallow")
}

/// What the commit back remembers: that `change` failed as `landed`, or, where that was a return, that it is open again.
pub(super) fn record_back(
    there: Option<&ShipRecord>,
    change: String,
    landed: ObjectId,
) -> ShipRecord {
    match there {
        Some(ShipRecord::Returns { name, .. }) => {
            ShipRecord::Makes { change, then_revert: Some(name.clone()) }
        }
        _ => ShipRecord::TakesBack { change, commit: landed.to_string() },
    }
}

/// How the change back is delivered: like the change, under a name and a text of its own.
pub(super) fn delivery_back(there: &Delivery, record: &ShipRecord) -> Delivery {
    let mut back = Delivery {
        branch: None,
        message: None,
        trailers: vec![record.to_trailer()],
        ..there.clone()
    };
    if let Some(wanted) = &mut back.pull_request {
        wanted.title = None;
        wanted.is_draft = false;
    }
    back
}

/// Whether commits after the landing changed files of the overlays.
fn is_touched_since(survey: &Survey<'_>, landed: ObjectId, tip: ObjectId) -> Result<bool, Error> {
    let changed = survey.repository.changed_files(landed, tip)?;
    Ok(survey.located.iter().any(|located| is_within(located, &changed)))
}

/// Whether one of the files is of the overlay.
pub(super) fn is_within(located: &Located, files: &[String]) -> bool {
    let below = format!("{}/", located.directory);
    located.directory.is_empty() && !files.is_empty()
        || files.iter().any(|path| path.starts_with(&below))
}

/// What the overlay in `directory` renders at `commit`.
///
/// # Errors
/// Where it does not build.
pub(super) fn render(
    survey: &Survey<'_>,
    commit: ObjectId,
    directory: &str,
) -> Result<Vec<Resource>, Error> {
    let files = survey.repository.files_of(commit)?;
    let context = survey.context.with_own_remotes();
    Ok(Version::new(&context, &files).build(directory)?.rendered.resources)
}

/// The fields that the change moved, with the values of before.
fn fields_back(survey: &Survey<'_>, landed: ObjectId, before: ObjectId) -> Result<Change, Error> {
    let mut parts = Vec::new();
    for located in &survey.located {
        let directory = &located.directory;
        let build = |commit| render(survey, commit, directory);
        let moved = compare_objects(&build(landed)?, &build(before)?);
        parts.extend(parts_of(&moved, &shown_directory(directory), &landed.short())?);
    }
    Ok(Change::Several(parts))
}

/// One part for each object.
fn parts_of(moved: &ObjectDiff, overlay: &str, landed: &str) -> Result<Vec<Part>, Error> {
    if let Some(id) = moved.added.iter().chain(&moved.removed).next() {
        let message = format!(
            "{overlay} was edited since {landed}, and {} came or went with it, which only its files bring back",
            shown_name(id)
        );
        return Err(Error::new(codes::NOT_EDITABLE, message)
            .hint("`overlay revert --to` takes the later edits back too"));
    }
    let part = |changed: &crate::verify::ChangedObject| {
        let fields = changed.fields.iter();
        let fields = fields.map(|field| (field.path.to_string(), field.after.clone())).collect();
        Part {
            overlays: vec![overlay.to_owned()],
            change: Change::SetFields(SetFields { name: name_of(&changed.resource), fields }),
            file: landed.to_owned(),
            line: 1,
            column: 1,
        }
    };
    Ok(moved.changed.iter().map(part).collect())
}

fn name_of(id: &ResourceId) -> ResourceName {
    let group = Some(id.group()).filter(|group| !group.is_empty()).map(str::to_owned);
    ResourceName { kind: Some(id.kind.to_string()), group, name: id.name.to_string() }
}
