//! `cnpg-blocks-drain`: the primary of a single-instance database can never be evicted.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("cnpg-blocks-drain"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for cluster in &context.clusters {
        if cluster.instances() != 1 || !cluster.has_budgets() {
            continue;
        }
        let name = cluster.name();
        let message = format!(
            "Cluster/{name} has 1 instance, and the budget {name}-primary (minAvailable 1) that CloudNativePG makes for it allows 0 disruptions: a drain of its node will hang"
        );
        let command = context.command("set instances", &[&format!("{name}=2")]);
        found.push(context.finding(&CHECK, &cluster.spot(&["instances"]), message).mend(command));
    }
    found
}
