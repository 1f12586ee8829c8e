//! Is it the right Application, does the controller look after it, and has it seen the commit?

use super::sync::SYNC_ERROR;
use super::{Contained, asking, blocked, failed, progressing, with_words};
use crate::argocd::application::{ComparedTo, Condition};
use crate::argocd::expectation::ExpectedEffect;
use crate::argocd::moment::Moment;
use crate::argocd::readiness::{Kind, Readiness, Want};
use crate::argocd::source::{clean_path, is_commit_id, is_same_source};

/// The annotation by which the controller leaves an Application alone
/// (argo-cd `common/common.go` `AnnotationKeyAppSkipReconcile`).
const SKIP_RECONCILE: &str = "argocd.argoproj.io/skip-reconcile";

/// The phase of a hydrator at work, and the condition of what cannot be rendered or compared
/// (argo-cd `pkg/apis/application/v1alpha1/types.go`).
const HYDRATING: &str = "Hydrating";
const COMPARISON_ERROR: &str = "ComparisonError";

/// So long a pending refresh means that nobody takes it up.
const SILENCE: u64 = 60;

pub(super) fn same_uid(moment: &Moment<'_>) -> Result<(), Readiness> {
    match &moment.facts.uid {
        Some(uid) if *uid != moment.app.metadata.uid => {
            Err(failed(Kind::Gone, "it was deleted, and another of the same name was made"))
        }
        _ => Ok(()),
    }
}

pub(super) fn not_deleting(moment: &Moment<'_>) -> Result<(), Readiness> {
    match moment.app.metadata.deletion_timestamp {
        Some(_) => Err(failed(Kind::Gone, "it is being deleted")),
        None => Ok(()),
    }
}

/// One of its sources is the repository and overlay.
pub(super) fn deploys_overlay(moment: &Moment<'_>) -> Result<(), Readiness> {
    if !moment.asks_containment() || !moment.relevant_sources().is_empty() {
        return Ok(());
    }
    let sources = match &moment.app.spec.source_hydrator {
        Some(hydrator) => vec![&hydrator.dry_source],
        None => moment.app.sources(),
    };
    let shown = sources.iter().map(|source| match source.chart.is_empty() {
        true => format!("{} of {}", shown_path(&source.path), source.repo_url),
        false => format!("the chart {} of {}", source.chart, source.repo_url),
    });
    let shown: Vec<String> = shown.collect();
    let shown = if shown.is_empty() { "nothing".to_owned() } else { shown.join(" and ") };
    let wanted = moment.expected.path.as_deref().map(shown_path);
    let wanted = wanted.map_or_else(String::new, |path| format!("{path} of "));
    let repository = moment.expected.repositories.first().map_or("", String::as_str);
    Err(failed(Kind::WrongApplication, format!("it deploys {shown}, and not {wanted}{repository}")))
}

fn shown_path(path: &str) -> String {
    match clean_path(path) {
        path if path.is_empty() => ".".to_owned(),
        path => path,
    }
}

/// The controller looks after it.
pub(super) fn is_reconciled(moment: &Moment<'_>) -> Result<(), Readiness> {
    match moment.app.annotation(SKIP_RECONCILE) {
        Some("true") => Err(blocked(
            Kind::Skipped,
            format!("the annotation {SKIP_RECONCILE} tells the controller to leave it alone"),
        )),
        _ => Ok(()),
    }
}

/// Rendering and comparing went well. That a sync failed is judged where it is known of which revision it was. While the hydrator
/// is at work, its branch or what is to be in it may not be there yet.
pub(super) fn no_error_condition(moment: &Moment<'_>) -> Result<(), Readiness> {
    let status = &moment.app.status;
    let is_judged_later =
        |condition: &Condition| condition.kind == SYNC_ERROR && status.sync.status == "OutOfSync";
    let mut errors = status.conditions.iter().filter(|one| one.kind.ends_with("Error"));
    let is_hydrating = moment.app.spec.source_hydrator.is_some()
        && status.source_hydrator.current_operation.as_ref().is_some_and(|o| o.phase == HYDRATING);
    match errors.find(|condition| !is_judged_later(condition)) {
        Some(condition) if is_hydrating && condition.kind == COMPARISON_ERROR => {
            let message = with_words("hydration: Hydrating; so far", &condition.message);
            Err(progressing(Kind::Hydrating, message, Want::Time))
        }
        Some(condition) => Err(progressing(
            Kind::ComparisonFailed,
            with_words(&condition.kind, &condition.message),
            Want::Comparison,
        )),
        None => Ok(()),
    }
}

/// What was compared contains the commit, and still holds what it changed.
pub(super) fn contains_commit(moment: &Moment<'_>) -> Result<(), Readiness> {
    if !moment.asks_containment() {
        return Ok(());
    }
    match moment.comparison_contains() {
        Contained::Yes => Ok(()),
        Contained::Superseded { by } => Err(superseded(&by, &moment.compared())),
        Contained::No => Err(not_noticed(moment)),
        Contained::Ask(want) => Err(asking(want)),
        Contained::Unknown(message) => {
            Err(progressing(Kind::RevisionUnknown, message, Want::Comparison))
        }
    }
}

/// Compared was a revision that contains the commit, and the change is no longer in it.
fn superseded(by: &str, compared: &str) -> Readiness {
    let message = format!("{by} changed again what the commit changed; compared is {compared}");
    failed(Kind::Superseded, message)
}

/// Compared was a revision without the commit.
fn not_noticed(moment: &Moment<'_>) -> Readiness {
    let compared = moment.compared();
    let mut sources = moment.relevant_sources().into_iter().map(|(_, source)| source);
    if let Some(pinned) = sources.find(|source| is_commit_id(&source.target_revision)) {
        let message = format!(
            "it is pinned to {}, which does not contain the commit",
            pinned.target_revision
        );
        return blocked(Kind::Pinned, message);
    }
    if moment.facts.is_delivered == Some(false) {
        let message = "no branch of the remote contains the commit any longer";
        return progressing(Kind::Rewritten, message, Want::Delivery);
    }
    if moment.facts.silence.as_secs() >= SILENCE {
        let message = format!(
            "a refresh has been asked for since {}s, and the controller does not take it up",
            moment.facts.silence.as_secs()
        );
        return progressing(Kind::ControllerSilent, message, Want::Comparison);
    }
    let message = format!("compared is {compared}, which does not contain the commit");
    progressing(Kind::NotNoticed, message, Want::Delivery)
}

/// The hydrator has rendered the commit, or a later one (argo-cd `controller/hydrator`).
pub(super) fn hydrated(moment: &Moment<'_>) -> Result<(), Readiness> {
    if moment.app.spec.source_hydrator.is_none() || !moment.asks_containment() {
        return Ok(());
    }
    let status = &moment.app.status.source_hydrator;
    match status.current_operation.as_ref() {
        Some(current) if current.phase == "Failed" => Err(progressing(
            Kind::HydrationFailed,
            with_words("the hydrator failed", &current.message),
            Want::Comparison,
        )),
        Some(current) if current.phase != "Hydrated" => {
            Err(progressing(Kind::Hydrating, format!("hydration: {}", current.phase), Want::Time))
        }
        current => {
            let rendered = current.map_or("", |current| current.dry_sha.as_str());
            match dry_reached(moment, rendered) {
                Err(reason) => Err(reason),
                Ok(true) => Ok(()),
                Ok(false) => not_rendered(moment, &status.last_compared_dry_revision),
            }
        }
    }
}

/// Whether what the hydrator speaks of contains the commit and still holds its change.
fn dry_reached(moment: &Moment<'_>, revision: &str) -> Result<bool, Readiness> {
    if revision.is_empty() {
        return Ok(false);
    }
    match moment.dry_contains(revision) {
        Contained::Yes => Ok(true),
        Contained::Superseded { by } => Err(superseded(&by, revision)),
        Contained::Ask(want) => Err(asking(want)),
        Contained::No | Contained::Unknown(_) => Ok(false),
    }
}

/// What was rendered last does not contain the commit. Where the hydrator compared one that does, it found nothing to
/// render, or is about to render it: it says the first before it begins the second (`ProcessAppHydrateQueueItem`). So
/// that is enough only of a commit that changes nothing that is rendered.
fn not_rendered(moment: &Moment<'_>, compared: &str) -> Result<(), Readiness> {
    let is_compared = dry_reached(moment, compared)?;
    let changes_nothing = moment.expected.effect == ExpectedEffect::Known(Vec::new());
    let message = match (is_compared, changes_nothing) {
        (true, true) => return Ok(()),
        (true, false) => "the hydrator has looked at the commit and not rendered it",
        (false, _) => "the hydrator has not rendered the commit",
    };
    Err(progressing(Kind::Hydrating, message, Want::Delivery))
}

/// The status speaks of the spec as it is now.
pub(super) fn compared_to_spec(moment: &Moment<'_>) -> Result<(), Readiness> {
    match &moment.app.status.sync.compared_to {
        Some(compared) if !is_of_spec(compared, moment) => Err(progressing(
            Kind::SpecChanged,
            "its status speaks of another spec than it has now",
            Want::Comparison,
        )),
        _ => Ok(()),
    }
}

fn is_of_spec(compared: &ComparedTo, moment: &Moment<'_>) -> bool {
    let spec = &moment.app.spec;
    let texts = [
        (&compared.destination.server, &spec.destination.server),
        (&compared.destination.name, &spec.destination.name),
        (&compared.destination.namespace, &spec.destination.namespace),
    ];
    // A controller fills in the server of a named cluster, so that only what both state is compared.
    let same_destination =
        texts.iter().all(|(one, other)| one.is_empty() || other.is_empty() || one == other);
    same_destination && is_of_sources(compared, moment)
}

fn is_of_sources(compared: &ComparedTo, moment: &Moment<'_>) -> bool {
    let spec = &moment.app.spec;
    let of_one = compared.source.iter().filter(|source| !source.repo_url.is_empty());
    if let Some(hydrator) = &spec.source_hydrator {
        let sync = &hydrator.sync_source;
        return of_one.into_iter().all(|source| {
            source.target_revision == sync.target_branch
                && clean_path(&source.path) == clean_path(&sync.path)
        });
    }
    if moment.app.has_several_sources() {
        // What speaks of no sources at all is what a version without the field writes.
        let sources = &compared.sources;
        return sources.is_empty()
            || (sources.len() == spec.sources.len()
                && sources.iter().zip(&spec.sources).all(|(a, b)| is_same_source(a, b)));
    }
    match &spec.source {
        Some(wanted) => of_one.into_iter().all(|source| is_same_source(source, wanted)),
        None => true,
    }
}
