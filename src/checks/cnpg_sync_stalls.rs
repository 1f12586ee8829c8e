//! `cnpg-sync-stalls`: one replica that restarts stops every commit.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::text_at;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("cnpg-sync-stalls"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for cluster in &context.clusters {
        let Some(number) = cluster.synchronous_number() else { continue };
        let durability = ["spec", "postgresql", "synchronous", "dataDurability"];
        let is_required = text_at(&cluster.resource.node, &durability) != Some("preferred");
        let standbys = cluster.instances() - 1 + cluster.named_standbys();
        let is_refused = number > standbys;
        if !is_required || is_refused || standbys > number {
            continue;
        }
        let message = format!(
            "Cluster/{} requires {number} synchronous standbys and has {standbys}: while one of them restarts, every commit waits",
            cluster.name(),
        );
        let spot = cluster.spot(&["postgresql", "synchronous", "number"]);
        let change = format!("{}={}", cluster.name(), cluster.instances() + 1);
        let command = context.command("set instances", &[&change]);
        found.push(context.finding(&CHECK, &spot, message).mend(command));
    }
    found
}
