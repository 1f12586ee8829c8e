//! Nothing is pending, the change itself is there, and all of it lasts.

use std::time::Duration;

use super::{progressing, with_words};
use crate::argocd::application::Application;
use crate::argocd::effect::{Finding, check_effect};
use crate::argocd::expectation::ExpectedEffect;
use crate::argocd::moment::Moment;
use crate::argocd::readiness::{Kind, Readiness, Reason, Want};
use crate::database::{DatabaseState, assess_database, is_database};

/// The annotations by which a comparison and a hydration are asked for.
const REFRESH: &str = "argocd.argoproj.io/refresh";
const HYDRATE: &str = "argocd.argoproj.io/hydrate";

/// Whether a comparison, or a hydration, is asked for and not done. The API server asks for a hydration of every
/// Application that is to be refreshed (argo-cd `server/application` `Get`), and of those without a hydrator nobody takes
/// that away (`controller/hydrator` `ProcessAppHydrateQueueItem`).
pub(in crate::argocd) fn is_refresh_pending(app: &Application) -> bool {
    let is_hydrated = app.spec.source_hydrator.is_some();
    app.annotation(REFRESH).is_some() || is_hydrated && app.annotation(HYDRATE).is_some()
}

/// No comparison is asked for that may yet show something else.
pub(super) fn no_refresh_pending(moment: &Moment<'_>) -> Result<(), Readiness> {
    match is_refresh_pending(moment.app) {
        true => {
            let message = "a refresh is asked for and not yet done";
            Err(progressing(Kind::RefreshPending, message, Want::Time))
        }
        false => Ok(()),
    }
}

/// Argo CD does not leave out a changed object, nor does another Application own it too
/// (argo-cd `controller/state.go`: the conditions name kind and name).
pub(super) fn objects_accepted(moment: &Moment<'_>) -> Result<(), Readiness> {
    match refused_object(moment) {
        Some(reason) => Err(Readiness::Failed(reason)),
        None => Ok(()),
    }
}

/// The first changed object that a condition says is left out or also another Application's.
pub(super) fn refused_object(moment: &Moment<'_>) -> Option<Reason> {
    let is_refusal =
        |kind: &str| matches!(kind, "ExcludedResourceWarning" | "SharedResourceWarning");
    let mut conditions = moment.app.status.conditions.iter().filter(|c| is_refusal(&c.kind));
    conditions.find_map(|condition| {
        let words: Vec<&str> =
            condition.message.split(|c: char| !c.is_alphanumeric() && !"-.".contains(c)).collect();
        let names = |text: &str| words.contains(&text);
        let mut changes = moment.expected.effect.changes().iter();
        let named =
            changes.find(|change| names(&change.object.kind) && names(&change.object.name))?;
        let message = with_words(&condition.kind, &condition.message);
        Some(Reason::new(Kind::ObjectExcluded, message).about(named.object.clone()))
    })
}

/// What is rendered and live holds the change, as far as it can be read.
pub(super) fn effect_holds(moment: &Moment<'_>) -> Result<(), Readiness> {
    let ExpectedEffect::Known(changes) = &moment.expected.effect else { return Ok(()) };
    if changes.is_empty() {
        return Ok(());
    }
    let managed = match &moment.facts.managed {
        None => {
            let message = "what is rendered and live is being read";
            return Err(progressing(Kind::EffectUnread, message, Want::ManagedResources));
        }
        Some(Err(_)) => return Ok(()),
        Some(Ok(managed)) => managed,
    };
    match check_effect(changes, managed, &moment.app.spec.ignore_differences) {
        None => Ok(()),
        Some(finding) => Err(not_effective(moment, finding)),
    }
}

fn not_effective(moment: &Moment<'_>, finding: Finding) -> Readiness {
    let (kind, want) = match (finding.is_ignored, moment.facts.has_rendered_anew) {
        (true, _) => (Kind::EffectIgnored, Want::Comparison),
        (false, true) => (Kind::EffectMissing, Want::Comparison),
        (false, false) => (Kind::EffectMissing, Want::FreshRender),
    };
    Readiness::Progressing(Reason::new(kind, finding.message).about(finding.object).wanting(want))
}

/// Databases that the commit changes say themselves that they are done.
pub(super) fn databases_settled(moment: &Moment<'_>) -> Result<(), Readiness> {
    let Some(Ok(managed)) = &moment.facts.managed else { return Ok(()) };
    let changes = moment.expected.effect.changes().iter();
    for change in changes.filter(|change| is_database(&change.object.group, &change.object.kind)) {
        let found = managed.iter().find(|managed| managed.object.is(&change.object));
        let Some(live) = found.and_then(|managed| managed.live.as_ref()) else { continue };
        let about = |kind, phase: &str| {
            let message = format!("{} says: {phase}", change.object);
            Reason::new(kind, message).about(change.object.clone()).wanting(Want::Comparison)
        };
        return Err(match assess_database(live) {
            DatabaseState::Settled => continue,
            DatabaseState::Rolling(phase) => Readiness::Progressing(about(Kind::Rolling, &phase)),
            DatabaseState::Waiting(phase) => Readiness::Blocked(about(Kind::Suspended, &phase)),
            DatabaseState::Broken(phase) => Readiness::Progressing(about(Kind::Degraded, &phase)),
        });
    }
    Ok(())
}

/// It has been so for long enough, by the controller's own clock: since the operation ended, or since it was first seen.
pub(super) fn dwell(moment: &Moment<'_>) -> Result<(), Readiness> {
    let dwell = moment.expected.rules.dwell;
    if dwell.is_zero() {
        return Ok(());
    }
    let status = &moment.app.status;
    let Some(reconciled) = status.reconciled_at else {
        let message = "when it was compared is not stated";
        return Err(progressing(Kind::Dwelling, message, Want::Comparison));
    };
    let finished = status.operation_state.as_ref().and_then(|state| state.finished_at);
    let held = moment.facts.held.map(|held| held.compared_at);
    let lasted =
        [finished, held].into_iter().flatten().map(|since| reconciled.seconds_after(since));
    let lasted = Duration::from_secs(u64::try_from(lasted.max().unwrap_or(0)).unwrap_or(0));
    match dwell.checked_sub(lasted).filter(|left| !left.is_zero()) {
        None => Ok(()),
        Some(left) => {
            let message =
                format!("it has been well for {}s by what was compared", lasted.as_secs());
            Err(progressing(Kind::Dwelling, message, Want::LaterComparison(left)))
        }
    }
}
