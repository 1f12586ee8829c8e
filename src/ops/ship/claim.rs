//! Whether what the base branch holds is this command's to take back: what it did not bring, what has run for long, and what
//! replaced something that had failed before, stays.

use std::collections::BTreeSet;

use super::back::{is_within, render};
use super::leg::Landing;
use super::voyage::Voyage;
use crate::clock;
use crate::error::Error;
use crate::git::{ObjectId, Parents, Walk};
use crate::ops::deliver::Survey;
use crate::ship::{RECORD_KEY, ShipRecord};
use crate::verify::{ChangedObject, ObjectDiff, compare_objects};

/// How long after its landing a change is held to be what made a step fail, where another run brought it: in seconds.
const FRESH: i64 = 24 * 60 * 60;

/// How many commits that came after a change, or with it, are looked at.
const MOST_COMMITS: usize = 100;

/// How many commits with a record are looked back.
const MOST_RECORDS: usize = 500;

/// How many changes that were taken back are compared with what was before this one.
const MOST_TAKEN_BACK: usize = 20;

impl Voyage<'_> {
    /// Why the change is not taken back though a step failed; `None` where it is. What cannot be found out is a reason too.
    pub(super) fn reason_to_stay(&self) -> Option<&str> {
        let found = self.stays.get_or_init(|| {
            self.find_reason_to_stay().unwrap_or_else(|error| Some(error.message().to_owned()))
        });
        found.as_deref()
    }

    fn find_reason_to_stay(&self) -> Result<Option<String>, Error> {
        let Some(Landing { commit, before: Some(before) }) = self.landing else { return Ok(None) };
        let leg = self.leg();
        let survey = Survey::open(leg.context, leg.overlays, leg.change, &leg.delivery)?;
        let tip = survey.tip()?;
        let (base, short) = (self.base(), commit.short());
        if !self.merged_here {
            if !self.is_recorded(&survey, (before, commit))? {
                return Ok(Some(format!("{base} has it by {short}, which is not of this command")));
            }
            if !is_held_since(&survey, commit, tip)? {
                return Ok(Some(format!("{base} did not hold it all the while since {short}")));
            }
            let landed_at = survey.repository.commit(commit)?.committed_at;
            if i64::try_from(clock::now_unix()).unwrap_or(i64::MAX) - landed_at > FRESH {
                return Ok(Some(format!("it landed as {short} more than a day ago")));
            }
        }
        let failed = failed_before(&survey, before, tip)?;
        Ok(failed.map(|failed| {
            let failed = failed.short();
            format!("before it was what had failed as {failed} and was taken back")
        }))
    }

    /// Whether a commit by which the change landed says that it makes this very change.
    fn is_recorded(
        &self,
        survey: &Survey<'_>,
        (before, landed): (ObjectId, ObjectId),
    ) -> Result<bool, Error> {
        let own = survey.fingerprint(&survey.prove(before)?);
        let is_own = |record: &ShipRecord| match (self.shipping.record, record) {
            (Some(own), record) => own == record,
            (None, ShipRecord::Makes { change, .. }) => *change == own,
            (None, _) => false,
        };
        let repository = &survey.repository;
        for walked in Walk::new(repository, landed, Some(before), Parents::All)?.take(MOST_COMMITS)
        {
            if ShipRecord::find_in(&walked?.commit.message).iter().any(is_own) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether every commit of the base branch after `landed` holds the change: one that does not says that somebody took it out, so that
/// it is there by another hand now.
fn is_held_since(survey: &Survey<'_>, landed: ObjectId, tip: ObjectId) -> Result<bool, Error> {
    let after = survey.repository.commits_between(landed, tip, MOST_COMMITS + 1)?;
    let holds = |commit: &ObjectId| survey.prove(*commit).is_ok_and(|now| now.texts.is_empty());
    Ok(after.len() <= MOST_COMMITS && after.iter().all(holds))
}

/// The commit that brought a change which failed and was taken back, and which `before` holds all the same: to go back there would
/// bring it again. One that a person shipped once more (`--again`) is none.
fn failed_before(
    survey: &Survey<'_>,
    before: ObjectId,
    tip: ObjectId,
) -> Result<Option<ObjectId>, Error> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut taken_back: Vec<ObjectId> = Vec::new();
    let line = format!("{RECORD_KEY}:");
    for said in survey.repository.commits_saying(tip, &line, MOST_RECORDS)? {
        for record in ShipRecord::find_in(&said.message) {
            // The newest record that speaks of a change decides.
            match record {
                ShipRecord::Makes { change, .. } => drop(known.insert(change)),
                ShipRecord::TakesBack { change, commit } => {
                    if known.insert(change) {
                        taken_back.extend(commit.parse::<ObjectId>());
                    }
                }
                ShipRecord::Returns { .. } => {}
            }
        }
    }
    for failed in taken_back.into_iter().take(MOST_TAKEN_BACK) {
        if is_in(survey, failed, before)? {
            return Ok(Some(failed));
        }
    }
    Ok(None)
}

/// Whether `commit` renders what the commit `landed` changed, in one of the overlays.
fn is_in(survey: &Survey<'_>, landed: ObjectId, commit: ObjectId) -> Result<bool, Error> {
    let repository = &survey.repository;
    if !repository.has(landed)? {
        return Ok(false);
    }
    let Some(parent) = repository.commit(landed)?.parents.first().copied() else {
        return Ok(false);
    };
    let files = repository.changed_files(parent, landed)?;
    for located in survey.located.iter().filter(|located| is_within(located, &files)) {
        let build = |commit| render(survey, commit, &located.directory);
        // An overlay that was not there then, or does not build, holds nothing of it.
        let (Ok(old), Ok(new), Ok(now)) = (build(parent), build(landed), build(commit)) else {
            continue;
        };
        let made = compare_objects(&old, &new);
        if !made.is_empty() && is_kept(&made, &compare_objects(&new, &now)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether nothing of what was `made` became anything else `since`.
fn is_kept(made: &ObjectDiff, since: &ObjectDiff) -> bool {
    let is_changed_again = |one: &ChangedObject| {
        let mut again = since.changed.iter().filter(|other| other.resource == one.resource);
        again.any(|other| {
            other.fields.iter().any(|field| one.fields.iter().any(|own| own.path == field.path))
        })
    };
    let is_gone = |one: &ChangedObject| since.removed.contains(&one.resource);
    !made.added.iter().any(|id| since.removed.contains(id))
        && !made.removed.iter().any(|id| since.added.contains(id))
        && !made.changed.iter().any(|one| is_gone(one) || is_changed_again(one))
}
