//! `set instances`: what CloudNativePG's admission accepts, the budget that goes with the number, and
//! what is lost on the way down.
//!
//! Source: cloudnative-pg `internal/webhook/v1/cluster_webhook.go`, `pkg/specs/poddisruptionbudget.go`.

use super::Resolved;
use super::error::{LeverError, LeverErrorKind};
use super::target::{find, shown};
use crate::change::{SetInstances, Wish};
use crate::checks::context::Context;
use crate::checks::model::admission::{number_refusals, supervised_refusal};
use crate::checks::model::cluster::Cluster;
use crate::checks::model::text_at;
use crate::kustomize::node::Node;
use crate::kustomize::{FieldPath, Resource};

pub(super) fn resolve(
    change: &SetInstances,
    context: &Context<'_>,
) -> Result<Resolved, LeverError> {
    let mut resolved = Resolved::default();
    for (name, count) in &change.named {
        if let Some(count) = count.filter(|count| *count < 1) {
            return Err(too_few(&shown(name), count));
        }
        let found = find(context, name, |r| Cluster::new(r).is_some(), not_a_cluster);
        let Some(resource) = resolved.keep(&shown(name), found)? else { continue };
        let Some(cluster) = Cluster::new(resource) else { continue };
        if let Some(count) = count {
            check_admission(cluster, *count)?;
            check_spread(change, cluster, *count, &mut resolved)?;
            wish_instances(change, cluster, *count, &mut resolved);
        }
        if let Some(sleeps) = change.hibernate {
            resolved.wishes.push(hibernation(resource, sleeps));
        }
    }
    Ok(resolved)
}

fn too_few(name: &str, count: i64) -> LeverError {
    let message = format!("{name}: {count} instances; a Cluster has at least one");
    let error = LeverError::new(LeverErrorKind::NotAllowed, message);
    error.hint("--hibernate stops a database: it sets the annotation cnpg.io/hibernation")
}

fn not_a_cluster(other: &Resource) -> LeverError {
    let (kind, name, version) = (other.kind(), other.name(), other.api_version());
    let message = format!(
        "{kind}/{name} is of {version}, and no Cluster of CloudNativePG (postgresql.cnpg.io)"
    );
    LeverError::new(LeverErrorKind::WrongKind, message)
}

fn hibernation(resource: &Resource, sleeps: bool) -> Wish {
    let path = FieldPath::of_keys(&["metadata", "annotations", "cnpg.io/hibernation"]);
    Wish::set(resource.current_id(), path, if sleeps { "on" } else { "off" })
}

fn check_admission(cluster: Cluster<'_>, count: i64) -> Result<(), LeverError> {
    let mut refusals = number_refusals(&cluster, count).into_iter();
    let Some(refusal) = refusals.next().or_else(|| supervised_refusal(&cluster, count)) else {
        return Ok(());
    };
    let name = cluster.name();
    let message =
        format!("Cluster/{name} at {count}: {}, which CloudNativePG refuses", refusal.reason);
    Err(LeverError::new(LeverErrorKind::NotAllowed, message))
}

/// Whether the instances can be spread: required anti-affinity needs a node for each.
fn check_spread(
    change: &SetInstances,
    cluster: Cluster<'_>,
    count: i64,
    resolved: &mut Resolved,
) -> Result<(), LeverError> {
    let affinity = |field: &str| text_at(&cluster.resource.node, &["spec", "affinity", field]);
    let is_off = affinity("enablePodAntiAffinity") == Some("false");
    let is_required = affinity("podAntiAffinityType") == Some("required") && !is_off;
    let name = cluster.name();
    if let (Some(nodes), true) = (change.nodes, is_required)
        && nodes < count
    {
        let message = format!(
            "Cluster/{name}: {count} instances need a node each (podAntiAffinityType: required), and there are {nodes}"
        );
        return Err(LeverError::new(LeverErrorKind::NotAllowed, message));
    }
    if count > 1 && is_off {
        let message =
            format!("{name}: anti-affinity is off, so that all instances may share one node");
        resolved.note("cnpg-spread", message);
    } else if change.nodes.is_some_and(|nodes| nodes < count) {
        resolved.note("cnpg-spread", format!("{name}: more instances than nodes; some share one"));
    }
    Ok(())
}

fn wish_instances(
    change: &SetInstances,
    cluster: Cluster<'_>,
    count: i64,
    resolved: &mut Resolved,
) {
    let id = cluster.resource.current_id();
    let path = |field: &str| FieldPath::of_keys(&["spec", field]);
    let (now, name) = (cluster.instances(), cluster.name());
    let has_budget = text_at(&cluster.resource.node, &["spec", "enablePDB"]) != Some("false");
    resolved.wishes.push(Wish::set(id.clone(), path("instances"), count));
    if count > now && !has_budget {
        resolved.wishes.push(Wish::set(id.clone(), path("enablePDB"), true));
        let message = format!(
            "{name}: enablePDB goes on with the second instance, or a drain could take the primary and the only replica together"
        );
        resolved.note("cnpg-budget", message);
    }
    if count == 1 && change.allow_drain {
        resolved.wishes.push(Wish::set(id, path("enablePDB"), false));
    } else if count == 1 && has_budget {
        let message = format!(
            "{name}: with one instance the budget {name}-primary allows no eviction, so a node drain will hang; --allow-drain sets enablePDB: false with it"
        );
        resolved.note("cnpg-blocks-drain", message);
    }
    if count < now {
        let size = text_at(&cluster.resource.node, &["spec", "storage", "size"]).unwrap_or("its");
        let message = format!(
            "{name}: {} of {now} instances go, and with each its volume ({size}) and what is on it",
            now - count
        );
        resolved.note("cnpg-scale-down", message);
    }
    note_stalling_roll(cluster, count, resolved);
}

/// A roll takes one standby away: with `dataDurability: required` commits wait for it.
fn note_stalling_roll(cluster: Cluster<'_>, count: i64, resolved: &mut Resolved) {
    let Some(number) = cluster.synchronous_number() else { return };
    let path = ["spec", "postgresql", "synchronous", "dataDurability"];
    let is_preferred =
        cluster.resource.node.lookup(&path).and_then(Node::as_str) == Some("preferred");
    if !is_preferred && count - 2 + cluster.named_standbys() < number {
        let message = format!(
            "{}: while one standby restarts, fewer than {number} are left and commits wait",
            cluster.name()
        );
        resolved.note("cnpg-sync-stalls", message);
    }
}
