//! The last operation: where it was of the commit it ended well, and what is judged was compared after it.

use super::sync::sync_failed;
use super::{Contained, asking, progressing, with_words};
use crate::argocd::moment::Moment;
use crate::argocd::readiness::{Kind, Readiness, Want};

/// Where the last operation was of the commit, it succeeded and has an end. One of an older revision says nothing.
pub(super) fn operation_succeeded(moment: &Moment<'_>) -> Result<(), Readiness> {
    let Some((state, contained)) = moment.operation_of_commit() else { return Ok(()) };
    let is_failure = matches!(state.phase.as_str(), "Failed" | "Error");
    match contained {
        Contained::No => Ok(()),
        Contained::Ask(want) => Err(asking(want)),
        Contained::Yes | Contained::Superseded { .. } if is_failure => Err(sync_failed(state)),
        Contained::Unknown(why) if is_failure => {
            let message = format!("whether the failed sync was of the commit is not known: {why}");
            Err(progressing(Kind::OperationUnclear, message, Want::Comparison))
        }
        _ if state.phase == "Succeeded" && state.finished_at.is_some() => Ok(()),
        _ => {
            let message =
                format!("the operation says {} and no time at which it ended", state.phase);
            let message = with_words(&message, &state.message);
            Err(progressing(Kind::OperationUnclear, message, Want::Comparison))
        }
    }
}

/// The comparison began after the last operation had ended, whatever revision that was of: one that somebody started by
/// hand may have put an older state into the cluster, of which an earlier comparison knows nothing. Times are cut to
/// seconds, so the same second proves nothing.
pub(super) fn compared_after_operation(moment: &Moment<'_>) -> Result<(), Readiness> {
    let state = moment.app.status.operation_state.as_ref();
    let Some(state) = state.filter(|state| !state.operation.sync.dry_run) else { return Ok(()) };
    match (moment.app.status.reconciled_at, state.finished_at) {
        (Some(reconciled), Some(finished)) if reconciled > finished => Ok(()),
        _ => {
            let message = "nothing was compared since the last sync ended";
            Err(progressing(Kind::NotCompared, message, Want::Comparison))
        }
    }
}
