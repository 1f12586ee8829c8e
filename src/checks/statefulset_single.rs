//! `statefulset-single`: a StatefulSet of one has no ready pod during a roll.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::workload::WorkloadKind;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("statefulset-single"), severity: Severity::Note, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for workload in context.workloads.iter().filter(|w| w.kind == WorkloadKind::StatefulSet) {
        if workload.replicas() != 1 || context.service(workload).is_none() {
            continue;
        }
        let message = format!(
            "{} has 1 replica, and a StatefulSet takes a pod away before it makes the new one: every roll and every drain pass through zero ready pods",
            workload.shown(),
        );
        let command = context.command("set replicas", &[&format!("{}=2", workload.name())]);
        found.push(context.finding(&CHECK, &workload.replicas_spot(), message).mend(command));
    }
    found
}
