//! Does something run, and is what was compared in the cluster?

use super::settled::refused_object;
use super::{Contained, asking, blocked, failed, progressing, with_words};
use crate::argocd::application::{OperationState, ResourceStatus};
use crate::argocd::expectation::{DriftRule, ExpectedEffect, SyncRule};
use crate::argocd::moment::Moment;
use crate::argocd::port::{ObjectRef, SyncWindow, SyncWindows};
use crate::argocd::readiness::{Kind, Readiness, Reason, Want};

/// The condition by which the controller says why it does not sync (argo-cd `controller/appcontroller.go` `autoSync`).
pub(super) const SYNC_ERROR: &str = "SyncError";

/// Nothing runs or is about to.
pub(super) fn no_operation(moment: &Moment<'_>) -> Result<(), Readiness> {
    let state = moment.app.status.operation_state.as_ref();
    match state.filter(|state| is_running(state)) {
        Some(state) => Err(running(moment, state)),
        None if moment.app.operation.is_some() => {
            Err(progressing(Kind::Syncing, "a sync is asked for", Want::Time))
        }
        None => Ok(()),
    }
}

fn is_running(state: &OperationState) -> bool {
    matches!(state.phase.as_str(), "Running" | "Terminating")
}

fn running(moment: &Moment<'_>, state: &OperationState) -> Readiness {
    // argo-cd `controller/sync.go` `SyncAppState` keeps an operation running while its window is closed.
    if state.message.to_lowercase().contains("sync window") {
        return blocked(Kind::WindowClosed, with_words("a sync is held back", &state.message));
    }
    let of = moment.applied().map_or_else(String::new, |revision| format!(" of {revision}"));
    match moment.operation_contains(state) {
        Contained::Ask(want) => return asking(want),
        Contained::No => {
            let message = with_words(
                &format!("a sync{of} runs, which does not contain the commit"),
                &state.message,
            );
            return blocked(Kind::OperationStuck, message);
        }
        _ => {}
    }
    if state.finished_at.is_some() {
        let message = format!("a sync{of} failed and waits for try {}", state.retry_count + 1);
        return progressing(Kind::Retrying, with_words(&message, &state.message), Want::Time);
    }
    progressing(Kind::Syncing, with_words(&format!("a sync{of} runs"), &state.message), Want::Time)
}

/// What was compared is what is in the cluster.
pub(super) fn synced(moment: &Moment<'_>) -> Result<(), Readiness> {
    match moment.app.status.sync.status.as_str() {
        "Synced" => Ok(()),
        "OutOfSync" => out_of_sync(moment),
        _ => {
            let message = "whether it is in sync is not known";
            Err(progressing(Kind::SyncUnknown, message, Want::Comparison))
        }
    }
}

fn out_of_sync(moment: &Moment<'_>) -> Result<(), Readiness> {
    let Some((state, contained)) = moment.operation_of_commit() else {
        return Err(not_begun(moment));
    };
    match contained {
        Contained::Ask(want) => Err(asking(want)),
        Contained::Yes | Contained::Superseded { .. }
            if state.is_failure() && moment.applied().as_deref() == Some(&moment.compared()) =>
        {
            Err(sync_failed(state))
        }
        Contained::Yes | Contained::Superseded { .. }
            if state.phase == "Succeeded" && !state.is_partial() =>
        {
            after_success(moment, state)
        }
        _ => Err(not_begun(moment)),
    }
}

/// The sync of the commit failed: with the objects, as far as they are named.
pub(super) fn sync_failed(state: &OperationState) -> Readiness {
    failure(state, &format!("the sync ended in {}", state.phase))
}

/// `what` happened to a sync, with what it says itself.
pub(super) fn failure(state: &OperationState, what: &str) -> Readiness {
    let message = with_words(what, &state.message);
    let results = state.sync_result.iter().flat_map(|result| &result.resources);
    let bad: Vec<_> = results.filter(|result| result.is_bad()).collect();
    let Some(first) = bad.first() else { return failed(Kind::SyncFailed, message) };
    let words = bad
        .iter()
        .take(5)
        .map(|result| with_words(&format!("{}/{}", result.kind, result.name), &result.message));
    let message = format!("{message}; {}", words.collect::<Vec<_>>().join("; "));
    Readiness::Failed(Reason::new(Kind::SyncFailed, message).about(ObjectRef {
        group: first.group.clone(),
        kind: first.kind.clone(),
        namespace: first.namespace.clone(),
        name: first.name.clone(),
    }))
}

/// OutOfSync after a whole sync of the commit.
fn after_success(moment: &Moment<'_>, state: &OperationState) -> Result<(), Readiness> {
    let reconciled = moment.app.status.reconciled_at;
    if state.finished_at.is_none() || reconciled <= state.finished_at {
        let message = "nothing was compared since the last sync ended";
        return Err(progressing(Kind::NotCompared, message, Want::Comparison));
    }
    let differing = differing(moment);
    if accepts_drift(moment, &differing) {
        return Ok(());
    }
    if is_prune_only(&differing) {
        return Err(prune_needed(&differing));
    }
    // It differs because another Application puts its own there.
    if let Some(reason) = refused_object(moment) {
        return Err(Readiness::Progressing(reason.wanting(Want::Comparison)));
    }
    let message = format!("after a finished sync it is OutOfSync{}", listed(&differing));
    let reason = Reason::new(Kind::Drift, message).wanting(Want::Comparison);
    Err(Readiness::Progressing(match differing.first() {
        Some(first) => reason.about(object(first)),
        None => reason,
    }))
}

fn differing<'a>(moment: &Moment<'a>) -> Vec<&'a ResourceStatus> {
    let resources = moment.app.status.resources.iter();
    resources.filter(|resource| resource.status == "OutOfSync").collect()
}

/// Drift is accepted where it is known which objects drift, and the changed ones do not.
fn accepts_drift(moment: &Moment<'_>, differing: &[&ResourceStatus]) -> bool {
    let expected = moment.expected;
    let is_known = matches!(expected.effect, ExpectedEffect::Known(_)) && !differing.is_empty();
    expected.rules.drift == DriftRule::Accepted
        && is_known
        && !differing.iter().any(|resource| expected.effect.touches(&object(resource)))
}

fn is_prune_only(differing: &[&ResourceStatus]) -> bool {
    !differing.is_empty() && differing.iter().all(|resource| resource.requires_pruning)
}

fn prune_needed(differing: &[&ResourceStatus]) -> Readiness {
    let message = format!("only pruning is left, and nobody prunes{}", listed(differing));
    let reason = Reason::new(Kind::PruneNeeded, message).wanting(Want::Comparison);
    Readiness::Blocked(match differing.first() {
        Some(first) => reason.about(object(first)),
        None => reason,
    })
}

pub(super) fn object(resource: &ResourceStatus) -> ObjectRef {
    ObjectRef {
        group: resource.group.clone(),
        kind: resource.kind.clone(),
        namespace: resource.namespace.clone(),
        name: resource.name.clone(),
    }
}

fn listed(resources: &[&ResourceStatus]) -> String {
    let names = resources.iter().take(5).map(|resource| object(resource).to_string());
    let names = names.collect::<Vec<_>>().join(", ");
    match resources.len() {
        0 => String::new(),
        1..=5 => format!(": {names}"),
        more => format!(": {names} and {} more", more - 5),
    }
}

/// OutOfSync, and no sync of the commit was begun: who should begin it, and what holds it back.
fn not_begun(moment: &Moment<'_>) -> Readiness {
    let policy = moment.app.spec.sync_policy.automated.as_ref();
    let prunes = policy.is_some_and(|automated| automated.prune);
    let differing = differing(moment);
    if is_prune_only(&differing) && !prunes && moment.app.is_automated() {
        return prune_needed(&differing);
    }
    let mut conditions = moment.app.status.conditions.iter();
    if let Some(error) = conditions.find(|condition| condition.kind == SYNC_ERROR) {
        let message = with_words("the controller does not sync it", &error.message);
        return progressing(Kind::SyncFailed, message, Want::Comparison);
    }
    if let Some(set) = owning_set(moment) {
        match moment.facts.has_rolling_sync {
            None => return waiting(Want::RollingSync(set.to_owned())),
            Some(true) => {
                let message = format!("the ApplicationSet {set} syncs step by step");
                return progressing(Kind::RollingSync, message, Want::Comparison);
            }
            Some(false) => {}
        }
    }
    match (moment.app.is_automated(), moment.expected.rules.sync) {
        (true, _) => automated_not_begun(moment),
        (false, SyncRule::WhereManual) => waiting(Want::Sync),
        (false, SyncRule::Never) => blocked(
            Kind::Manual,
            format!("it is OutOfSync, and nobody syncs: automation is off{}", listed(&differing)),
        ),
    }
}

fn waiting(want: Want) -> Readiness {
    progressing(Kind::SyncExpected, "it is OutOfSync, and no sync has begun", want)
}

fn owning_set<'a>(moment: &Moment<'a>) -> Option<&'a str> {
    let mut owners = moment.app.metadata.owner_references.iter();
    owners.find(|owner| owner.kind == "ApplicationSet").map(|owner| owner.name.as_str())
}

fn automated_not_begun(moment: &Moment<'_>) -> Readiness {
    match &moment.facts.windows {
        None => waiting(Want::Windows),
        Some(Ok(windows)) => match closing_window(windows) {
            Some(words) => blocked(Kind::WindowClosed, words),
            None => waiting(Want::Comparison),
        },
        Some(Err(_)) => waiting(Want::Comparison),
    }
}

/// What keeps automation from syncing (argo-cd `types.go` `SyncWindows.CanSync`): an active deny window, or allow windows
/// of which none is active. What the server calls `canSync` is about syncs by hand.
fn closing_window(windows: &SyncWindows) -> Option<String> {
    let shown = |window: &SyncWindow| {
        format!("{} `{}` for {}", window.kind, window.schedule, window.duration)
    };
    if let Some(deny) = windows.active.iter().find(|window| window.kind == "deny") {
        return Some(format!("a sync window is closed: {}", shown(deny)));
    }
    let is_allow = |window: &&SyncWindow| window.kind == "allow";
    let opens = windows.assigned.iter().find(is_allow)?;
    match windows.active.iter().any(|window| is_allow(&window)) {
        true => None,
        false => Some(format!("no sync window is open; the next is {}", shown(opens))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(kind: &str) -> SyncWindow {
        let (kind, schedule) = (kind.to_owned(), "0 22 * * *".to_owned());
        SyncWindow { kind, schedule, duration: "1h".to_owned() }
    }

    #[test]
    fn windows_close_as_argo_cd_says() {
        let of = |assigned: &[&str], active: &[&str]| {
            let all = |kinds: &[&str]| kinds.iter().map(|kind| window(kind)).collect();
            closing_window(&SyncWindows { assigned: all(assigned), active: all(active) }).is_some()
        };
        assert!(!of(&[], &[]));
        assert!(of(&["deny"], &["deny"]));
        assert!(!of(&["deny"], &[]));
        assert!(of(&["allow"], &[]));
        assert!(!of(&["allow", "allow"], &["allow"]));
        assert!(of(&["allow", "deny"], &["allow", "deny"]));
    }
}
