//! `restart`: the annotation of the pod template that a rolling restart is.

use super::Resolved;
use super::error::{LeverError, LeverErrorKind};
use super::target::{find, shown};
use crate::change::{Restart, Wish};
use crate::checks::context::Context;
use crate::checks::model::workload::{Workload, WorkloadKind};
use crate::kustomize::{FieldPath, Resource};

/// What `kubectl rollout restart` writes.
const ANNOTATION: &str = "kubectl.kubernetes.io/restartedAt";

pub(super) fn resolve(change: &Restart, context: &Context<'_>) -> Result<Resolved, LeverError> {
    let mut resolved = Resolved::default();
    for name in &change.names {
        let found = find(context, name, restarts, not_restarted);
        let Some(resource) = resolved.keep(&shown(name), found)? else { continue };
        let path = ["spec", "template", "metadata", "annotations", ANNOTATION];
        let path = FieldPath::of_keys(&path);
        resolved.wishes.push(Wish::set(resource.current_id(), path, change.at.as_str()));
    }
    Ok(resolved)
}

fn restarts(resource: &Resource) -> bool {
    use WorkloadKind::{DaemonSet, Deployment, StatefulSet};
    Workload::new(resource).is_some_and(|w| matches!(w.kind, Deployment | StatefulSet | DaemonSet))
}

fn not_restarted(other: &Resource) -> LeverError {
    let message = format!("{}/{} is not restarted by its pod template", other.kind(), other.name());
    LeverError::new(LeverErrorKind::WrongKind, message)
}
