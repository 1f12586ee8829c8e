//! `overlay hold`: edits of an overlay are refused for a time, by a file that is reviewed like any other.

use std::ffi::OsString;
use std::sync::Arc;

use super::Context;
use super::deliver::Delivery;
use super::edit::{self, EditRequest};
use crate::change::{Change, Hold, HoldScope, SetHold};
use crate::error::{Error, codes};
use crate::git::{self, Repository};
use crate::report::Report;

/// Advice where git cannot say who puts a hold.
const SAY_WHO: &str = "or say who puts the hold with --by NAME";

/// What the user asks of `overlay hold`.
#[derive(Clone, Debug)]
pub struct HoldRequest {
    /// The overlays as typed.
    pub overlays: Vec<OsString>,
    /// The hold to put; none ends the one that stands.
    pub put: Option<Wanted>,
    /// `--dry-run`.
    pub dry_run: bool,
    /// How the edit is delivered; `None` leaves it in the files.
    pub delivery: Option<Delivery>,
}

/// A hold that is wanted.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// When it ends, RFC 3339.
    pub until: String,
    /// Why.
    pub reason: String,
    /// Who puts it; git's committer where nothing is said.
    pub by: Option<String>,
    /// What it refuses.
    pub scope: HoldScope,
}

/// Puts or ends the hold of every overlay named.
///
/// # Errors
/// Refusals and failures, each with its code; nothing was written then.
pub fn run(context: &Context, request: &HoldRequest) -> Result<Report, Error> {
    let wanted = match &request.put {
        None => SetHold::Release,
        Some(put) => {
            let (files, _) = context.locate(&request.overlays)?;
            let by = match &put.by {
                Some(by) => by.clone(),
                None => {
                    let settings = Arc::new(context.git_settings());
                    let opened = Repository::open(&settings, files.root());
                    who(&opened.map_err(|error| Error::from(error).hint(SAY_WHO))?, None)?
                }
            };
            let (until, reason) = (put.until.clone(), put.reason.clone());
            SetHold::Put(Hold { until, reason, by, scope: put.scope })
        }
    };
    let edit = EditRequest {
        overlays: request.overlays.clone(),
        change: Change::SetHold(wanted),
        dry_run: request.dry_run,
        no_proof: false,
        delivery: request.delivery.clone(),
    };
    edit::run(context, &edit)
}

/// Who puts a hold: `by`, or whom git takes for the committer.
///
/// # Errors
/// Where nobody is named and git knows none.
pub(super) fn who(repository: &Repository, by: Option<&str>) -> Result<String, Error> {
    if let Some(by) = by {
        return Ok(by.to_owned());
    }
    git::committer(repository).map_err(|error| {
        let error = Error::from(error);
        match error.code() {
            codes::NO_GIT_IDENTITY => error.hint(SAY_WHO),
            _ => error,
        }
    })
}
