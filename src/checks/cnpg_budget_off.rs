//! `cnpg-budget-off`: a database with replicas has no disruption budget.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("cnpg-budget-off"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for cluster in &context.clusters {
        let spot = cluster.spot(&["enablePDB"]);
        let instances = cluster.instances();
        if instances < 2 || spot.node.as_str() != Some("false") {
            continue;
        }
        let name = cluster.name();
        let message = format!(
            "Cluster/{name} has {instances} instances and enablePDB false: a drain may take the primary and its replicas together"
        );
        let name = format!("Cluster/{name}");
        let command = context.command("set field", &[&name, "spec.enablePDB=true"]);
        found.push(context.finding(&CHECK, &spot, message).mend(command));
    }
    found
}
