//! The second half of "raise, wait, return": found by the name that the first half's commit carries.

use std::ffi::OsString;

use super::back;
use super::leg::{Landing, Leg};
use crate::change::Change;
use crate::error::{Error, codes};
use crate::git::{Commit, ObjectId, Repository, parse_records};
use crate::ops::Context;
use crate::ops::deliver::{Delivery, Survey};
use crate::ops::edit::EditRequest;
use crate::ops::revision::find_kustomization;
use crate::ship::{RECORD_KEY, ShipRecord};

/// How many commits with a record are looked back.
const MOST_RECORDS: usize = 500;

/// What the user asks of `overlay ship return`.
#[derive(Clone, Debug)]
pub struct ReturnRequest {
    /// The name that the change was shipped by.
    pub name: String,
    /// `--of`: the commit of the first half, where its merge has dropped the trailer.
    pub of: Option<String>,
    /// `--dry-run`.
    pub dry_run: bool,
    /// How the change back is delivered; it asks for a pull request.
    pub delivery: Delivery,
}

/// What is there to return.
pub(super) enum Found {
    /// This is.
    Open {
        /// The change back.
        edit: Box<EditRequest>,
        /// What its commit remembers.
        record: ShipRecord,
        /// The commit by which it was returned already, where that still holds: what comes after its merge may not have been done.
        returned: Option<String>,
    },
    /// It was returned by this commit, and nothing is left to look at: others have changed the same since, or it failed and was taken back.
    Returned {
        /// That.
        commit: String,
    },
}

/// Finds the newest change of that name, and what takes it back.
///
/// # Errors
/// Where the base branch has none.
pub(super) fn find(context: &Context, wanted: &ReturnRequest) -> Result<Found, Error> {
    // The change is not known yet; where it goes is.
    let nothing = Change::Several(Vec::new());
    let survey = Survey::of_branch(context, &nothing, &wanted.delivery)?;
    let tip = survey.tip()?;
    let repository = &survey.repository;
    let (first, returned) = match &wanted.of {
        Some(revision) => (named(repository, revision)?, None),
        None => match newest(repository, tip, &wanted.name)? {
            Some((commit, ShipRecord::Returns { .. })) => {
                let commit = commit.id.to_string();
                match first_half(repository, tip, &wanted.name)? {
                    Some(first) => (first, Some(commit)),
                    None => return Ok(Found::Returned { commit }),
                }
            }
            Some((commit, ShipRecord::TakesBack { .. })) => {
                return Ok(Found::Returned { commit: commit.id.to_string() });
            }
            Some((commit, _)) => (commit, None),
            None => return Err(unknown(&wanted.name, survey.base())),
        },
    };
    let landed = repository.landing_of(first.id, tip)?.unwrap_or(first.id);
    let before = repository.commit(landed)?.parents.first().copied();
    let overlays = overlays_of(&survey, &first, (before, landed))?;
    let landing = Landing { commit: landed, before };
    let original = original_command(&first);
    let original = original.as_deref().unwrap_or_default();
    let delivery = wanted.delivery.clone();
    let leg = Leg { context, overlays: &overlays, change: &nothing, delivery: delivery.clone() };
    let change = match &returned {
        None => back::change_back_of(&leg, landing, original)?,
        Some(commit) => match back::held_change_back(&leg, (landing, tip), original)? {
            Some(change) => change,
            None => return Ok(Found::Returned { commit: commit.clone() }),
        },
    };
    let record = ShipRecord::Returns { name: wanted.name.clone(), commit: landed.to_string() };
    let edit = EditRequest {
        overlays,
        change,
        dry_run: wanted.dry_run,
        no_proof: false,
        delivery: Some(delivery),
    };
    Ok(Found::Open { edit: Box::new(edit), record, returned })
}

/// A name stands for one change at a time, which is returned before it stands for another.
///
/// # Errors
/// Where the base branch, at `tip`, holds one of that name.
pub(super) fn require_free(
    repository: &Repository,
    tip: ObjectId,
    name: &str,
) -> Result<(), Error> {
    match newest(repository, tip, name)? {
        Some((commit, ShipRecord::Makes { .. })) => {
            let message =
                format!("`{name}` stands for {}, which is not returned", commit.id.short());
            Err(Error::new(codes::NAME_IN_USE, message).hint(format!(
                "`overlay ship return {}` returns it; or take another name",
                crate::shell::word(name)
            )))
        }
        _ => Ok(()),
    }
}

/// The newest commit that speaks of the name; where that change failed, the one that took it back.
fn newest(
    repository: &Repository,
    tip: ObjectId,
    name: &str,
) -> Result<Option<(Commit, ShipRecord)>, Error> {
    let mut taken_back: Vec<(String, Commit, ShipRecord)> = Vec::new();
    for commit in repository.commits_saying(tip, &format!("{RECORD_KEY}:"), MOST_RECORDS)? {
        let records = ShipRecord::find_in(&commit.message);
        let speaks = |record: &ShipRecord| match record {
            ShipRecord::Makes { then_revert, .. } => then_revert.as_deref() == Some(name),
            ShipRecord::Returns { name: other, .. } => other == name,
            ShipRecord::TakesBack { .. } => false,
        };
        if let Some(record) = records.iter().find(|record| speaks(record)) {
            let back = match record {
                ShipRecord::Makes { change, .. } => {
                    taken_back.into_iter().find(|(failed, ..)| failed == change)
                }
                _ => None,
            };
            let found = back.map(|(_, commit, record)| (commit, record));
            return Ok(Some(found.unwrap_or_else(|| (commit.clone(), record.clone()))));
        }
        taken_back.extend(records.into_iter().filter_map(|record| match &record {
            ShipRecord::TakesBack { change, .. } => Some((change.clone(), commit.clone(), record)),
            _ => None,
        }));
    }
    Ok(None)
}

/// The newest commit that brought a change of that name.
fn first_half(repository: &Repository, tip: ObjectId, name: &str) -> Result<Option<Commit>, Error> {
    let commits = repository.commits_saying(tip, &format!("{RECORD_KEY}:"), MOST_RECORDS)?;
    let brings = |record: &ShipRecord| matches!(record, ShipRecord::Makes { then_revert: Some(other), .. } if other == name);
    let is_first = |commit: &Commit| ShipRecord::find_in(&commit.message).iter().any(brings);
    Ok(commits.into_iter().find(is_first))
}

fn named(repository: &Repository, revision: &str) -> Result<Commit, Error> {
    Ok(repository.commit(repository.resolve(revision)?)?)
}

fn unknown(name: &str, base: &str) -> Error {
    let message = format!("no commit of {base} was shipped with --then-revert {name}");
    Error::new(codes::NOTHING_TO_RETURN, message)
        .hint("--of COMMIT names it, where its merge has dropped what the commit said")
}

/// The overlays that the first half changed: as its record has them, else those whose files it moved.
fn overlays_of(
    survey: &Survey<'_>,
    first: &Commit,
    (before, landed): (Option<ObjectId>, ObjectId),
) -> Result<Vec<OsString>, Error> {
    let records = parse_records(&first.message);
    let paths = records.iter().filter_map(|record| record.data["overlays"].as_array()).flatten();
    let mut paths: Vec<String> =
        paths.filter_map(|path| path.as_str().map(str::to_owned)).collect();
    if let (true, Some(before)) = (paths.is_empty(), before) {
        let files = survey.repository.files_of(landed)?;
        for path in survey.repository.changed_files(before, landed)? {
            let above = std::path::Path::new(&path).ancestors().skip(1);
            let mut above = above.filter_map(|directory| directory.to_str());
            let found = above.find(|directory| {
                find_kustomization(&files, directory).is_ok_and(|found| found.is_some())
            });
            paths.extend(found.map(str::to_owned).filter(|path| !paths.contains(path)));
        }
    }
    if paths.is_empty() {
        let message = format!("{} changed no overlay", first.id.short());
        return Err(Error::new(codes::NOTHING_TO_RETURN, message));
    }
    Ok(paths.iter().map(|path| survey.root().join(path).into_os_string()).collect())
}

/// The words of the command that made the first half.
fn original_command(first: &Commit) -> Option<String> {
    let record = parse_records(&first.message).into_iter().next()?;
    record.data["command"].as_str().map(str::to_owned)
}
