//! `cnpg-single-instance`: a database without a replica is down whenever its instance is.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("cnpg-single-instance"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for cluster in context.clusters.iter().filter(|cluster| !cluster.is_hibernated()) {
        if cluster.instances() != 1 {
            continue;
        }
        let name = cluster.name();
        let message = format!(
            "Cluster/{name} has 1 instance: every update, drain or failure is an outage, for there is no replica to switch to"
        );
        let command = context.command("set instances", &[&format!("{name}=2")]);
        found.push(context.finding(&CHECK, &cluster.spot(&["instances"]), message).mend(command));
    }
    found
}
