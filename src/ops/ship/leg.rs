//! One change on its way to the base branch: there, or back.

use std::ffi::OsString;

use crate::change::Change;
use crate::error::Error;
use crate::git::{ObjectId, Parents, Walk};
use crate::ops::Context;
use crate::ops::deliver::{self, Delivery, Survey};
use crate::report::change::ChangeReport;

/// How many commits are looked back for the one that brought a change.
const MOST_COMMITS: usize = 100;

/// A change, where it is made and how it goes.
pub(super) struct Leg<'a> {
    pub(super) context: &'a Context,
    pub(super) overlays: &'a [OsString],
    pub(super) change: &'a Change,
    pub(super) delivery: Delivery,
}

/// Where a change came to its base branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Landing {
    /// The first commit that holds it.
    pub(super) commit: ObjectId,
    /// The one before, which does not; `None` where history does not go back so far.
    pub(super) before: Option<ObjectId>,
}

impl Leg<'_> {
    /// Pushes the branch and opens the pull request, or brings them up to date; nothing is waited for.
    pub(super) fn propose(&self) -> Result<ChangeReport, Error> {
        self.deliver(None)
    }

    /// Merges, or waits for a person who does, until the base branch holds the change.
    pub(super) fn land(&self) -> Result<ChangeReport, Error> {
        let wanted = self.delivery.pull_request.as_ref().and_then(|wanted| wanted.landing);
        self.deliver(Some(wanted.unwrap_or_default()))
    }

    fn deliver(&self, landing: Option<deliver::Landing>) -> Result<ChangeReport, Error> {
        let mut delivery = self.delivery.clone();
        if let Some(wanted) = &mut delivery.pull_request {
            wanted.landing = landing;
        }
        deliver::run(self.context, self.overlays, self.change, &delivery)
    }

    /// The first commit of the base branch, at or before `known`, from which on it holds the change.
    pub(super) fn find_landing(&self, known: ObjectId) -> Result<Landing, Error> {
        let survey = Survey::open(self.context, self.overlays, self.change, &self.delivery)?;
        let mut commit = known;
        for walked in Walk::new(&survey.repository, known, None, Parents::First)?.take(MOST_COMMITS)
        {
            let walked = walked?;
            commit = walked.commit.id;
            let Some(parent) = walked.parents.first() else { break };
            let holds = survey.prove(parent.id).is_ok_and(|proven| proven.texts.is_empty());
            if !holds {
                return Ok(Landing { commit, before: Some(parent.id) });
            }
        }
        Ok(Landing { commit, before: None })
    }
}
