//! Safety checks on a rendered overlay: what will hang, fail or interrupt service, with the numbers,
//! and who owns the value.
//!
//! One check a file, named by its id; [`ALL`] lists them, `docs/checks.md` explains them. A check
//! reads a [`Context`](context::Context) and gives [`Finding`]s. Nothing here reads files, runs
//! programs or knows arguments; [`model`] holds what Kubernetes, CloudNativePG and Argo CD make of
//! the objects.

pub mod budgets;
pub mod context;
mod explain;
mod finding;
pub mod model;
pub mod settings;

mod argocd_overrides;
mod argocd_path_missing;
mod argocd_paths_miss_base;
mod argocd_pinned_sha;
mod argocd_prune_stateful;
mod argocd_revision_missing;
mod argocd_selfheal_autoscaler;
mod autoscaler_and_replicas;
mod autoscaler_min_blocks_drain;
mod base_digest_dropped;
mod budget_exceeded;
mod claim_shared;
mod claim_surge;
mod cnpg_blocks_drain;
mod cnpg_budget_off;
mod cnpg_change_refused;
mod cnpg_image_untagged;
mod cnpg_refused;
mod cnpg_single_instance;
mod cnpg_spread;
mod cnpg_supervised_single;
mod cnpg_sync_refused;
mod cnpg_sync_stalls;
mod deprecated_field;
mod drain_sources_disagree;
mod grace_above_node_drain;
mod grace_below_drain;
mod grace_equals_drain;
mod image_argument_floating;
mod image_unpinned;
mod images_entry_duplicate;
mod images_entry_overmatch;
mod images_entry_unused;
mod liveness_cuts_drain;
mod node_label_unused;
mod patch_before_target;
mod patch_unmatched;
mod pdb_blocks_drain;
mod pdb_invalid;
mod pdb_missing;
mod pdb_overlap;
mod pdb_selects_all;
mod pdb_selects_nothing;
mod placeholder_digest;
mod placeholder_value;
mod progress_deadline_short;
mod readiness_missing;
mod recreate_rolling_update;
mod reference_missing;
mod remote_base_unpinned;
mod replicas_shadows_patch;
mod rollout_values_invalid;
mod rollout_zero_ready;
pub(crate) mod secret_source_removed;
mod statefulset_single;
mod surge_cannot_fit;

pub use context::Overlay;
pub(crate) use explain::section;
pub use explain::{explanation, summary};
pub use finding::{CheckId, Delta, Finding, Place, Severity, Spot, Subject, compare};
pub use settings::Settings;

use crate::kustomize::Rendered;
use context::Context;
use model::application::Repository;
use settings::EXCEPTION_ANNOTATION;

/// One check.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Its stable name.
    pub id: CheckId,
    /// How bad its findings are, unless one says otherwise.
    pub severity: Severity,
    run: fn(&Context<'_>) -> Vec<Finding>,
}

/// All checks, by topic.
pub const ALL: &[Check] = &[
    image_unpinned::CHECK,
    images_entry_unused::CHECK,
    images_entry_duplicate::CHECK,
    images_entry_overmatch::CHECK,
    base_digest_dropped::CHECK,
    cnpg_image_untagged::CHECK,
    placeholder_digest::CHECK,
    image_argument_floating::CHECK,
    rollout_zero_ready::CHECK,
    readiness_missing::CHECK,
    recreate_rolling_update::CHECK,
    rollout_values_invalid::CHECK,
    surge_cannot_fit::CHECK,
    progress_deadline_short::CHECK,
    statefulset_single::CHECK,
    pdb_blocks_drain::CHECK,
    pdb_invalid::CHECK,
    pdb_selects_nothing::CHECK,
    pdb_overlap::CHECK,
    pdb_missing::CHECK,
    pdb_selects_all::CHECK,
    grace_below_drain::CHECK,
    grace_equals_drain::CHECK,
    grace_above_node_drain::CHECK,
    liveness_cuts_drain::CHECK,
    drain_sources_disagree::CHECK,
    cnpg_blocks_drain::CHECK,
    cnpg_single_instance::CHECK,
    cnpg_budget_off::CHECK,
    cnpg_sync_refused::CHECK,
    cnpg_refused::CHECK,
    cnpg_change_refused::CHECK,
    cnpg_sync_stalls::CHECK,
    cnpg_spread::CHECK,
    cnpg_supervised_single::CHECK,
    placeholder_value::CHECK,
    autoscaler_and_replicas::CHECK,
    autoscaler_min_blocks_drain::CHECK,
    budget_exceeded::CHECK,
    claim_shared::CHECK,
    claim_surge::CHECK,
    patch_unmatched::CHECK,
    patch_before_target::CHECK,
    replicas_shadows_patch::CHECK,
    deprecated_field::CHECK,
    remote_base_unpinned::CHECK,
    argocd_path_missing::CHECK,
    argocd_revision_missing::CHECK,
    argocd_pinned_sha::CHECK,
    argocd_overrides::CHECK,
    argocd_selfheal_autoscaler::CHECK,
    argocd_paths_miss_base::CHECK,
    argocd_prune_stateful::CHECK,
    secret_source_removed::CHECK,
    reference_missing::CHECK,
    node_label_unused::CHECK,
];

/// The checks that find what CloudNativePG refuses to take, so that it never runs.
const REFUSED_BY_OPERATOR: [CheckId; 5] = [
    cnpg_image_untagged::CHECK.id,
    cnpg_sync_refused::CHECK.id,
    cnpg_supervised_single::CHECK.id,
    cnpg_refused::CHECK.id,
    cnpg_change_refused::CHECK.id,
];

/// Whether `finding` is an error of which an operator refuses the object.
#[must_use]
pub fn is_refused_by_operator(finding: &Finding) -> bool {
    finding.severity == Severity::Error && REFUSED_BY_OPERATOR.contains(&finding.id)
}

/// Whether `finding` is about the way from one state to another, and not about a state.
#[must_use]
pub fn is_of_a_change(finding: &Finding) -> bool {
    finding.id == cnpg_change_refused::CHECK.id
}

/// The check of that name.
#[must_use]
pub fn find(id: &str) -> Option<&'static Check> {
    ALL.iter().find(|check| check.id.as_str() == id)
}

/// A finding that somebody accepted.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Excepted {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// Why it is accepted.
    pub reason: String,
}

/// What all checks found in one overlay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The findings, by file and line.
    pub findings: Vec<Finding>,
    /// Those that are accepted.
    pub excepted: Vec<Excepted>,
}

/// Runs every check over `overlay`, one of `all`.
#[must_use]
pub fn run(
    overlay: Overlay<'_>,
    all: &[Overlay<'_>],
    settings: &Settings,
    repository: &Repository,
) -> Outcome {
    run_all(&Context::new(overlay, all, settings, repository))
}

/// As [`run`], of a change: `earlier` is what `overlay` rendered before it, where it was there.
#[must_use]
pub fn run_since(
    earlier: Option<&Rendered>,
    overlay: Overlay<'_>,
    all: &[Overlay<'_>],
    settings: &Settings,
    repository: &Repository,
) -> Outcome {
    let mut context = Context::new(overlay, all, settings, repository);
    context.earlier = earlier;
    run_all(&context)
}

fn run_all(context: &Context<'_>) -> Outcome {
    let settings = context.settings;
    let mut outcome = Outcome::default();
    for check in ALL {
        let Some(severity) = configured_severity(check, settings) else { continue };
        for finding in (check.run)(context) {
            let finding = match severity {
                Configured::AsFound => finding,
                Configured::Always(severity) => finding.graded(severity),
            };
            match accepted(context, &finding) {
                Some(reason) => outcome.excepted.push(Excepted { finding, reason }),
                None => outcome.findings.push(finding),
            }
        }
    }
    let place = |finding: &Finding| (finding.location.clone(), finding.id);
    outcome.findings.sort_by_cached_key(place);
    outcome.excepted.sort_by_cached_key(|excepted| place(&excepted.finding));
    outcome
}

/// What a repository says about the severity of a check.
enum Configured {
    AsFound,
    Always(Severity),
}

fn configured_severity(check: &Check, settings: &Settings) -> Option<Configured> {
    match settings.severities.get(check.id.as_str()) {
        None => Some(Configured::AsFound),
        Some(None) => None,
        Some(Some(severity)) => Some(Configured::Always(*severity)),
    }
}

/// The reason for which a finding is accepted: by the configuration, or by an annotation of its
/// object.
fn accepted(context: &Context<'_>, finding: &Finding) -> Option<String> {
    let exceptions = context.settings.exceptions.iter();
    let configured = exceptions
        .filter(|exception| exception.covers(finding, context.shown()))
        .map(|exception| exception.reason.clone());
    configured.chain(annotated(context, finding)).next()
}

fn annotated(context: &Context<'_>, finding: &Finding) -> Option<String> {
    let key = format!("{EXCEPTION_ANNOTATION}{}", finding.id);
    let mut objects = context.excepting.iter();
    let object = objects.find(|resource| Subject::of(resource) == finding.resource)?;
    let reason = object.annotation(&key)?.trim().to_owned();
    (!reason.is_empty()).then_some(reason)
}
