//! Every edit command but `pin`: one change in the overlays named, in the files or through git.

use std::ffi::OsString;

use super::Context;
use super::change::{Write, run_change};
use super::deliver::{self, Delivery};
use super::elsewhere::with_address;
use crate::change::Change;
use crate::error::Error;
use crate::report::Report;

/// What the user asks of an edit command.
#[derive(Clone, Debug)]
pub struct EditRequest {
    /// The overlays as typed: directories, kustomization files or patterns.
    pub overlays: Vec<OsString>,
    /// What is wanted of them.
    pub change: Change,
    /// Plan, prove and show; write nothing.
    pub dry_run: bool,
    /// `--no-proof`: go on where nothing can render.
    pub no_proof: bool,
    /// How the edit is delivered; `None` leaves it in the files.
    pub delivery: Option<Delivery>,
}

/// Brings the change about in every overlay named, all or nothing.
///
/// # Errors
/// Refusals and failures, each with its code; nothing was written then.
pub fn run(context: &Context, request: &EditRequest) -> Result<Report, Error> {
    let outcome = run_as(context, request, request.change.command());
    outcome.map_err(|e| with_address(context, &request.overlays, &request.change, e))
}

/// As [`run`], as a part of another command.
///
/// # Errors
/// As [`run`].
pub(super) fn run_as(
    context: &Context,
    request: &EditRequest,
    command: &str,
) -> Result<Report, Error> {
    if request.no_proof {
        context.go_on_unproven();
    }
    let delivery = request.delivery.as_ref();
    if let Some(delivery) = delivery.filter(|how| how.is_dry_run || !request.dry_run) {
        let delivered = deliver::run(context, &request.overlays, &request.change, delivery)?;
        return Ok(delivered.into_report(command));
    }
    let (files, editable) = context.editable(&request.overlays)?;
    let write = if request.dry_run { Write::Nothing } else { Write::Files };
    let changed = run_change(context, &files, &editable, &request.change, write)?;
    Ok(changed.into_report(command))
}
