//! `cnpg-supervised-single`: a single-instance database whose updates wait for a person.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::text_at;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("cnpg-supervised-single"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for cluster in &context.clusters {
        let strategy = text_at(&cluster.resource.node, &["spec", "primaryUpdateStrategy"]);
        if cluster.instances() != 1 || strategy != Some("supervised") {
            continue;
        }
        let name = cluster.name();
        let message = format!(
            "Cluster/{name} has 1 instance and primaryUpdateStrategy supervised, a pair that the webhook of CloudNativePG refuses"
        );
        let command = format!("overlay set instances {} {name}=2", context.shown());
        let spot = cluster.spot(&["primaryUpdateStrategy"]);
        found.push(context.finding(&CHECK, &spot, message).mend(command));
    }
    found
}
