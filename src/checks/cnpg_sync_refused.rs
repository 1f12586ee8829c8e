//! `cnpg-sync-refused`: synchronous settings that the webhook of CloudNativePG refuses.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::cluster::Cluster;
use super::model::int_at;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("cnpg-sync-refused"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for cluster in &context.clusters {
        for (path, reason) in refusals(cluster) {
            let message = format!(
                "Cluster/{}: {reason}, which the webhook of CloudNativePG refuses, so that the whole sync fails",
                cluster.name(),
            );
            found.push(context.finding(&CHECK, &cluster.spot(path), message));
        }
    }
    found
}

fn refusals(cluster: &Cluster<'_>) -> Vec<(&'static [&'static str], String)> {
    let number = |field: &str| int_at(&cluster.resource.node, &["spec", field]);
    let instances = cluster.instances();
    let mut wrong: Vec<(&'static [&'static str], String)> = Vec::new();
    if instances < 1 {
        wrong.push((&["instances"], format!("it has {instances} instances, and the least is 1")));
    }
    let (min, max) = (number("minSyncReplicas"), number("maxSyncReplicas"));
    if let Some(max) = max.filter(|max| *max > 0 && *max >= instances) {
        let reason = format!("maxSyncReplicas {max} is not less than its {instances} instances");
        wrong.push((&["maxSyncReplicas"], reason));
    }
    if let Some(min) = min.filter(|min| *min > max.unwrap_or(0)) {
        let reason =
            format!("minSyncReplicas {min} is more than maxSyncReplicas {}", max.unwrap_or(0));
        wrong.push((&["minSyncReplicas"], reason));
    }
    if let Some(number) = cluster.synchronous_number() {
        let named = cluster.named_standbys();
        if number < 1 || number >= instances + named {
            let reason = format!(
                "synchronous number {number} is not between 1 and what its {instances} instances and {named} named standbys leave"
            );
            wrong.push((&["postgresql", "synchronous", "number"], reason));
        }
    }
    wrong
}
