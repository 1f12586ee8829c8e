//! Is what runs healthy?

use std::collections::BTreeSet;

use super::{progressing, with_words};
use crate::argocd::expectation::{ExpectedChange, ExpectedEffect, HealthScope, Presence};
use crate::argocd::moment::Moment;
use crate::argocd::port::{ObjectRef, TreeNode};
use crate::argocd::readiness::{Kind, Readiness, Reason, Want};
use crate::database::{DatabaseState, assess_database, is_database};

/// The health that counts is `Healthy`.
pub(super) fn healthy(moment: &Moment<'_>) -> Result<(), Readiness> {
    match moment.expected.rules.health {
        HealthScope::Whole => whole(moment),
        HealthScope::Touched => touched(moment),
    }
}

fn whole(moment: &Moment<'_>) -> Result<(), Readiness> {
    let status = moment.app.status.health.status.as_str();
    if status == "Healthy" {
        return Ok(());
    }
    let Some(causes) = unhealthy(moment) else {
        return Err(progressing(kind_of(status), shown(status), Want::Tree));
    };
    Err(match status {
        "Degraded" => degraded(moment, &causes),
        _ => of_causes(status, &causes),
    })
}

/// The objects that are not healthy: of the tree, else of the status; `None` where the tree was not asked for yet.
fn unhealthy(moment: &Moment<'_>) -> Option<Vec<TreeNode>> {
    let status = &moment.app.status;
    let of_status = || {
        let health = status.resources.iter().filter_map(|resource| {
            let health = resource.health.as_ref()?;
            let object = super::sync::object(resource);
            let (health, message) = (health.status.clone(), health.message.clone());
            Some(TreeNode { object, health, message })
        });
        health.collect()
    };
    let nodes: Vec<TreeNode> = match moment.facts.tree.as_ref()? {
        Ok(nodes) => nodes.clone(),
        Err(_) => of_status(),
    };
    let is_well = |health: &str| health.is_empty() || health == "Healthy";
    Some(nodes.into_iter().filter(|node| !is_well(&node.health)).collect())
}

fn kind_of(status: &str) -> Kind {
    match status {
        "Progressing" => Kind::Rolling,
        "Suspended" => Kind::Suspended,
        "Missing" => Kind::Missing,
        "Degraded" => Kind::Degraded,
        _ => Kind::HealthUnknown,
    }
}

fn shown(status: &str) -> String {
    match status {
        "" => "its health is not stated".to_owned(),
        status => format!("its health is {status}"),
    }
}

/// The verdict on a health, with the objects that cause it.
fn of_causes(status: &str, causes: &[TreeNode]) -> Readiness {
    let same: Vec<&TreeNode> = causes.iter().filter(|node| node.health == status).collect();
    let reason = Reason::new(kind_of(status), described(status, &same)).wanting(Want::Comparison);
    let reason = match same.first() {
        Some(node) => reason.about(node.object.clone()),
        None => reason,
    };
    match status {
        "Suspended" => Readiness::Blocked(reason),
        _ => Readiness::Progressing(reason),
    }
}

fn described(status: &str, nodes: &[&TreeNode]) -> String {
    let words = nodes.iter().take(3);
    let words = words.map(|node| with_words(&node.object.to_string(), &node.message));
    with_words(&shown(status), &words.collect::<Vec<_>>().join("; "))
}

/// Degraded: by what, since when, and whether it only looks so.
fn degraded(moment: &Moment<'_>, causes: &[TreeNode]) -> Readiness {
    let degraded: Vec<TreeNode> =
        causes.iter().filter(|node| node.health == "Degraded").cloned().collect();
    let (databases, others): (Vec<_>, Vec<_>) = degraded
        .iter()
        .cloned()
        .partition(|node| is_database(&node.object.group, &node.object.kind));
    // A chart of databases calls each step of a normal roll Degraded; what the database says decides.
    if others.is_empty() && !databases.is_empty() {
        match &moment.facts.managed {
            None => return progressing(Kind::Rolling, shown("Degraded"), Want::ManagedResources),
            Some(Ok(_)) => {
                if let Some(verdict) = of_databases(moment, &databases) {
                    return verdict;
                }
            }
            Some(Err(_)) => {}
        }
    }
    let before = moment.facts.degraded_before.as_ref();
    let is_old = |node: &&TreeNode| is_old(moment, before, node);
    let is_all_old = !degraded.is_empty() && degraded.iter().all(|node| is_old(&node));
    let verdict = of_causes("Degraded", &degraded);
    match verdict {
        Readiness::Progressing(reason) if is_all_old => {
            Readiness::Progressing(Reason { kind: Kind::DegradedBefore, ..reason })
        }
        verdict => verdict,
    }
}

/// Whether what is degraded was so before, and is nothing that the commit changes.
fn is_old(moment: &Moment<'_>, before: Option<&BTreeSet<ObjectRef>>, node: &TreeNode) -> bool {
    before.is_some_and(|before| before.contains(&node.object))
        && !moment.expected.effect.touches(&node.object)
}

/// What the databases themselves say, where they are not all well.
fn of_databases(moment: &Moment<'_>, databases: &[TreeNode]) -> Option<Readiness> {
    let managed = moment.facts.managed.as_ref()?.as_ref().ok()?;
    let mut rolling = None;
    for node in databases {
        let live = managed.iter().find(|managed| managed.object.is(&node.object))?.live.as_ref()?;
        let about = |kind, phase: &str| {
            let message = format!("{} says: {phase}", node.object);
            Reason::new(kind, message).about(node.object.clone()).wanting(Want::Comparison)
        };
        match assess_database(live) {
            DatabaseState::Broken(_) => return None,
            DatabaseState::Waiting(phase) => {
                return Some(Readiness::Blocked(about(Kind::Suspended, &phase)));
            }
            DatabaseState::Rolling(phase) => {
                rolling = Some(Readiness::Progressing(about(Kind::Rolling, &phase)));
            }
            DatabaseState::Settled => {}
        }
    }
    rolling
}

/// Only the objects that the commit changes count; where it is not known which these are, all do.
fn touched(moment: &Moment<'_>) -> Result<(), Readiness> {
    if moment.app.status.health.status == "Healthy" {
        return Ok(());
    }
    let ExpectedEffect::Known(changes) = &moment.expected.effect else { return whole(moment) };
    let tree = match &moment.facts.tree {
        None => return Err(progressing(Kind::HealthUnknown, "health is being read", Want::Tree)),
        // Without the tree nothing is known of single objects.
        Some(Err(_)) => return whole(moment),
        Some(Ok(tree)) => tree,
    };
    let causes = unhealthy(moment).unwrap_or_default();
    let mut ours = causes.into_iter().filter(|node| moment.expected.effect.touches(&node.object));
    match ours.next().or_else(|| absent(changes, tree)) {
        Some(first) => Err(of_causes(&first.health.clone(), &[first])),
        None => Ok(()),
    }
}

/// The first changed object that the tree does not have, as one that is missing: the tree has every object that is managed
/// (argo-cd `controller/appcontroller.go` `getResourceTree`), and may be read after the comparison that saw this one.
fn absent(changes: &[ExpectedChange], tree: &[TreeNode]) -> Option<TreeNode> {
    let is_there = |object: &ObjectRef| tree.iter().any(|node| node.object.is(object));
    let mut expected = changes.iter().filter(|change| change.presence != Presence::Absent);
    let missing = expected.find(|change| !is_there(&change.object))?;
    Some(TreeNode {
        object: missing.object.clone(),
        health: "Missing".to_owned(),
        message: String::new(),
    })
}
