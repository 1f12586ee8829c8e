//! The last operation: where it was of the commit it ended well, and what is judged was compared after it. And those before it, as far
//! as they were seen.

use super::sync::{failure, sync_failed};
use super::{Contained, asking, progressing, with_words};
use crate::argocd::application::{Deployment, OperationState};
use crate::argocd::moment::{Moment, applied_by};
use crate::argocd::readiness::{Kind, Readiness, Want};

/// Where the last operation was of the commit, it succeeded and has an end. One of an older revision says nothing.
pub(super) fn operation_succeeded(moment: &Moment<'_>) -> Result<(), Readiness> {
    let Some((state, contained)) = moment.operation_of_commit() else { return Ok(()) };
    match contained {
        Contained::No => Ok(()),
        Contained::Ask(want) => Err(asking(want)),
        Contained::Yes | Contained::Superseded { .. } if state.is_failure() => {
            Err(sync_failed(state))
        }
        Contained::Unknown(why) if state.is_failure() => Err(unclear_failure(&why)),
        _ if state.is_success() => Ok(()),
        _ => {
            let message =
                format!("the operation says {} and no time at which it ended", state.phase);
            let message = with_words(&message, &state.message);
            Err(progressing(Kind::OperationUnclear, message, Want::Comparison))
        }
    }
}

fn unclear_failure(why: &str) -> Readiness {
    let message = format!("whether the failed sync was of the commit is not known: {why}");
    progressing(Kind::OperationUnclear, message, Want::Comparison)
}

/// Of the operations that were shown before the last one, the last that was of the commit ended well. A rollback that fails, or that
/// changes nothing, takes the place of a sync of the commit that failed, and what was compared may look well all the same.
pub(super) fn earlier_operations_succeeded(moment: &Moment<'_>) -> Result<(), Readiness> {
    let operations = &moment.facts.operations;
    if operations.last_first().all(OperationState::is_success) {
        return Ok(());
    }
    let shown = moment.app.status.operation_state.as_ref();
    let is_shown =
        |state: &OperationState| shown.is_some_and(|shown| shown.is_of_same_operation(state));
    for state in operations.last_first() {
        let contained = moment.operation_contains(state);
        match contained {
            Contained::Ask(want) => return Err(asking(want)),
            Contained::Yes | Contained::Superseded { .. } if state.is_success() => return Ok(()),
            Contained::No => {}
            // The one that is shown is judged for itself.
            _ if state.is_success() || is_shown(state) => {}
            _ if has_succeeded_since(moment, state)? => return Ok(()),
            Contained::Unknown(why) => return Err(unclear_failure(&why)),
            Contained::Yes | Contained::Superseded { .. } => return Err(ended_badly(state)),
        }
    }
    Ok(())
}

/// Whether the Application remembers a sync of the commit that succeeded and is not earlier than this one: one that came after it, or
/// itself, where its end was not seen. Starts are cut to seconds, so that of one that failed the same second proves nothing.
fn has_succeeded_since(moment: &Moment<'_>, state: &OperationState) -> Result<bool, Readiness> {
    let is_since = |deployment: &&Deployment| match state.is_failure() {
        true => deployment.deploy_started_at > state.started_at,
        false => deployment.deploy_started_at >= state.started_at,
    };
    for deployment in moment.app.status.history.iter().rev().filter(is_since) {
        match moment.deployment_contains(deployment) {
            Contained::Ask(want) => return Err(asking(want)),
            Contained::Yes | Contained::Superseded { .. } => return Ok(true),
            Contained::No | Contained::Unknown(_) => {}
        }
    }
    Ok(false)
}

/// A sync of the commit ended badly before the last one, or it was not to be seen how it ended.
fn ended_badly(state: &OperationState) -> Readiness {
    let of = applied_by(state).map_or_else(String::new, |revision| format!(" of {revision}"));
    let since = "and none of the commit has succeeded since";
    if state.is_failure() {
        return failure(state, &format!("a sync{of} ended in {}, {since}", state.phase));
    }
    let message = format!("how a sync{of} ended was not to be seen, {since}");
    progressing(Kind::OperationUnclear, message, Want::Comparison)
}

/// The comparison began after the last operation had ended, whatever revision that was of: one that somebody started by
/// hand may have put an older state into the cluster, of which an earlier comparison knows nothing. Times are cut to
/// seconds, so the same second proves nothing. A dry run does nothing itself, and began when what was before it had ended.
pub(super) fn compared_after_operation(moment: &Moment<'_>) -> Result<(), Readiness> {
    let Some(state) = &moment.app.status.operation_state else { return Ok(()) };
    let ended = match state.operation.sync.dry_run {
        true => state.started_at,
        false => state.finished_at,
    };
    match (moment.app.status.reconciled_at, ended) {
        (Some(reconciled), Some(ended)) if reconciled > ended => Ok(()),
        _ => {
            let message = "nothing was compared since the last sync ended";
            Err(progressing(Kind::NotCompared, message, Want::Comparison))
        }
    }
}
