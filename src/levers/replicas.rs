//! `set replicas`: who owns the number, what is off on purpose, and what may be turned on.

use super::Resolved;
use super::error::{LeverError, LeverErrorKind};
use super::target::{among, find, shown, workload_of};
use crate::change::{Groups, SetReplicas, Wish};
use crate::checks::context::Context;
use crate::checks::model::cluster::Cluster;
use crate::checks::model::int_at;
use crate::checks::model::workload::Workload;
use crate::checks::secret_source_removed::removed_secrets;
use crate::image::{Digest, Split};
use crate::kustomize::{FieldPath, Resource};
use crate::shell;

pub(super) fn resolve(
    change: &SetReplicas,
    context: &Context<'_>,
    groups: &Groups,
) -> Result<Resolved, LeverError> {
    let mut resolved = Resolved::default();
    for (name, count) in &change.named {
        let found = find(context, name, is_scalable, |other| not_scaled(other, *count));
        if let Some(resource) = resolved.keep(&shown(name), found)? {
            guard(change, context, resource, *count)?;
            resolved.wishes.push(wish(resource, *count));
        }
    }
    if let Some(count) = change.all_at {
        let chosen = among(context, &change.among, groups, is_scaled)?.keep(&mut resolved);
        all_at(change, context, (count, &chosen), &mut resolved)?;
    }
    Ok(resolved)
}

fn wish(resource: &Resource, count: i64) -> Wish {
    Wish::set(resource.current_id(), FieldPath::of_keys(&["spec", "replicas"]), count)
}

fn is_scaled(workload: &Workload<'_>) -> bool {
    workload.is_scaled()
}

/// A workload with a number, or a custom resource that states one.
fn is_scalable(resource: &Resource) -> bool {
    match Workload::new(resource) {
        Some(workload) => workload.is_scaled(),
        None => {
            let is_custom = resource.api_version().split('/').next().unwrap_or("").contains('.');
            is_custom
                && Cluster::new(resource).is_none()
                && int_at(&resource.node, &["spec", "replicas"]).is_some()
        }
    }
}

fn not_scaled(other: &Resource, count: i64) -> LeverError {
    let (kind, name) = (other.kind(), other.name());
    let message = format!("{kind}/{name} has no number of replicas");
    let error = LeverError::new(LeverErrorKind::WrongKind, message);
    match Cluster::new(other) {
        Some(_) => error.hint(format!(
            "a CloudNativePG Cluster has instances: overlay set instances … {}",
            shell::word(&format!("{name}={count}"))
        )),
        None => error,
    }
}

fn all_at(
    change: &SetReplicas,
    context: &Context<'_>,
    (count, chosen): (i64, &[&Workload<'_>]),
    resolved: &mut Resolved,
) -> Result<(), LeverError> {
    let mut off = Vec::new();
    for workload in chosen {
        if workload.replicas() == 0 {
            off.push(workload.name());
            continue;
        }
        let is_named = resolved.wishes.iter().any(|w| w.resource == workload.resource.current_id());
        if !is_named {
            guard(change, context, workload.resource, count)?;
            resolved.wishes.push(wish(workload.resource, count));
        }
    }
    if !off.is_empty() {
        resolved.note("held-off", format!("off, and left at 0: {}", off.join(", ")));
    }
    Ok(())
}

/// The owner of the number, before "already so"; then what is off on purpose.
fn guard(
    change: &SetReplicas,
    context: &Context<'_>,
    resource: &Resource,
    count: i64,
) -> Result<(), LeverError> {
    let Some(workload) = workload_of(context, resource) else { return Ok(()) };
    if let (Some(scaler), false) = (context.autoscaler(workload), change.override_owner) {
        let owner = format!("{}/{}", scaler.resource.kind(), scaler.resource.name());
        let message = format!(
            "{}: {owner} owns the number and keeps it within {}..{}",
            workload.shown(),
            scaler.min,
            scaler.max
        );
        let error = LeverError::new(LeverErrorKind::OwnedByAutoscaler, message);
        return Err(error
            .hint(format!("set the bounds of {owner} instead"))
            .hint("--override-owner writes the number all the same"));
    }
    if workload.replicas() == 0 && count > 0 {
        guard_turning_on(change, context, workload)?;
    }
    Ok(())
}

/// What is held at 0 stays there unless that is named; so does what would run an image that may change
/// without a commit. A Secret without a source is a reason to hold it, and said with the refusal.
fn guard_turning_on(
    change: &SetReplicas,
    context: &Context<'_>,
    workload: &Workload<'_>,
) -> Result<(), LeverError> {
    let floating = floating_images(workload);
    let images = floating.join(", ");
    if !change.turn_on {
        let mut message = format!("{} is held at 0 on purpose", workload.shown());
        if !floating.is_empty() {
            message += &format!(", and its image is not pinned ({images})");
        }
        let removed = removed_secrets(context, workload);
        if !removed.is_empty() {
            let removed = removed.join(", ");
            message += &format!(", and this render takes away what it needs: {removed}");
        }
        let error = LeverError::new(LeverErrorKind::HeldOff, message);
        return Err(error.hint("--turn-on turns it on"));
    }
    if !floating.is_empty() && !change.allow_unpinned {
        let message =
            format!("{} would run an image that is not pinned: {images}", workload.shown());
        let error = LeverError::new(LeverErrorKind::Unpinned, message);
        return Err(error.hint("pin it first, or allow it with --allow-unpinned"));
    }
    Ok(())
}

fn floating_images(workload: &Workload<'_>) -> Vec<String> {
    let containers = workload.all_containers();
    let images = containers.iter().filter_map(|c| c.image()?.as_str());
    let is_floating = |image: &&str| Digest::parse(Split::parse(image).digest).is_err();
    images.filter(is_floating).map(str::to_owned).collect()
}
