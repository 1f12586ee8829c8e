//! Resources that cannot be seen and may be there: stand-ins by the names that a change gives, so that
//! the overlay's own statements about them are found and edited. Only where `--no-proof` says to go on.

use crate::change::Change;
use crate::error::Error;
use crate::kustomize::{Rendered, Resource, ResourceId, ResourceName, shown_name};
use crate::ops::Context;
use crate::ops::overlay::LoadedOverlay;
use crate::plan::Note;
use crate::report::change::Proof;
use serde_json::json;

/// The API groups and versions of kinds that are named without a group.
const USUAL: [(&str, &str); 11] = [
    ("Cluster", "postgresql.cnpg.io/v1"),
    ("CronJob", "batch/v1"),
    ("DaemonSet", "apps/v1"),
    ("Deployment", "apps/v1"),
    ("HorizontalPodAutoscaler", "autoscaling/v2"),
    ("Ingress", "networking.k8s.io/v1"),
    ("Job", "batch/v1"),
    ("PodDisruptionBudget", "policy/v1"),
    ("ReplicaSet", "apps/v1"),
    ("Rollout", "argoproj.io/v1alpha1"),
    ("StatefulSet", "apps/v1"),
];

/// The kinds that a workload is known by its pod template.
const TEMPLATED: [&str; 5] = ["DaemonSet", "Deployment", "ReplicaSet", "Rollout", "StatefulSet"];

/// One stand-in for each name of `change` that the overlay does not render and may hold unseen.
///
/// # Errors
/// As reading a resource; a name that could break a text is none.
pub(super) fn stand_ins(
    context: &Context,
    overlay: &LoadedOverlay<'_>,
    change: &Change,
) -> Result<Vec<Resource>, Error> {
    if !context.goes_on_unproven() || overlay.proof == Proof::Full {
        return Ok(Vec::new());
    }
    let (names, kind) = named(change);
    let is_unseen = |name: &&ResourceName| name.find(&overlay.before.resources).is_empty();
    let mut made = Vec::new();
    for name in names.into_iter().filter(is_unseen) {
        made.extend(stand_in(name, kind)?);
    }
    Ok(made)
}

/// The names of a change, and the kind that a bare one has.
fn named(change: &Change) -> (Vec<&ResourceName>, &'static str) {
    match change {
        Change::SetReplicas(change) => {
            (change.named.iter().map(|(name, _)| name).collect(), "Deployment")
        }
        Change::Restart(change) => (change.names.iter().collect(), "Deployment"),
        Change::SetInstances(change) => {
            (change.named.iter().map(|(name, _)| name).collect(), "Cluster")
        }
        Change::SetFields(change) if change.name.kind.is_some() => (vec![&change.name], ""),
        _ => (Vec::new(), ""),
    }
}

fn stand_in(name: &ResourceName, kind: &str) -> Result<Option<Resource>, Error> {
    let kind = name.kind.as_deref().unwrap_or(kind);
    let usual = USUAL.iter().find(|(known, _)| known.eq_ignore_ascii_case(kind));
    let kind = usual.map_or(kind, |(known, _)| known);
    let api_version = match (&name.group, usual) {
        (Some(group), Some((_, known))) if known.starts_with(&format!("{group}/")) => {
            (*known).to_owned()
        }
        (Some(group), _) => format!("{group}/v1"),
        (None, known) => known.map_or("v1", |(_, version)| version).to_owned(),
    };
    let mut resource = json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name.name},
    });
    if TEMPLATED.contains(&kind) {
        resource["spec"] = json!({"template": {"spec": {}}});
    }
    Ok(Rendered::parse(&resource.to_string())?.resources.pop())
}

/// What to know of a resource whose statement was edited unseen.
pub(super) fn note(id: &ResourceId) -> Note {
    let message = format!(
        "{}: nothing that can be rendered has it, so that its edit is not proven",
        shown_name(id)
    );
    Note { code: "unproven", message }
}
