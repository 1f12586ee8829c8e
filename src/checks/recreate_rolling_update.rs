//! `recreate-rolling-update`: a Deployment with `Recreate` still has `rollingUpdate`, which the API refuses.

use super::context::Context;
use super::finding::{Finding, Severity, Spot};
use super::model::text_at;
use super::model::workload::WorkloadKind;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("recreate-rolling-update"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for workload in context.workloads.iter().filter(|w| w.kind == WorkloadKind::Deployment) {
        let node = &workload.resource.node;
        let is_recreate = text_at(node, &["spec", "strategy", "type"]) == Some("Recreate");
        let path = ["spec", "strategy", "rollingUpdate"];
        let has_rolling = node.lookup(&path).is_some_and(|rolling| !rolling.is_null());
        if is_recreate && has_rolling {
            let message = format!(
                "{} has the strategy Recreate and still a rollingUpdate, which the API refuses: the whole sync fails",
                workload.shown(),
            );
            let command = context.command("set strategy", &[workload.name(), "--recreate"]);
            let spot = Spot::at(workload.resource, &path);
            found.push(context.finding(&CHECK, &spot, message).mend(command));
        }
    }
    found
}
