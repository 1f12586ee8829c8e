//! `cnpg-supervised-single`: a single-instance database whose updates wait for a person.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::admission::supervised_refusal;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("cnpg-supervised-single"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for cluster in &context.clusters {
        let Some(refusal) = supervised_refusal(cluster, cluster.instances()) else { continue };
        let name = cluster.name();
        let message = format!(
            "Cluster/{name}: {}, a pair that the webhook of CloudNativePG refuses",
            refusal.reason
        );
        let command = context.command("set instances", &[&format!("{name}=2")]);
        found.push(context.finding(&CHECK, &refusal.spot, message).mend(command));
    }
    found
}
