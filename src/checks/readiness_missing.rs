//! `readiness-missing`: requests go to pods that nobody asks whether they are ready.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::workload::Workload;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("readiness-missing"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for workload in context.workloads.iter().filter(|workload| workload.is_scaled()) {
        let containers = workload.containers();
        let has_probe = containers.iter().any(|c| c.node.get("readinessProbe").is_some());
        let Some(service) = context.service(workload) else { continue };
        if has_probe || workload.replicas() == 0 || has_gates(workload) {
            continue;
        }
        let message = format!(
            "{} has no readiness probe, and Service/{} sends requests to its pods as soon as they start: a roll counts a pod as ready that does not serve yet",
            workload.shown(),
            service.name(),
        );
        let spot = match containers.first() {
            Some(container) => container.spot(&["readinessProbe"]),
            None => workload.pod_spot(&["containers"]),
        };
        found.push(context.finding(&CHECK, &spot, message));
    }
    found
}

fn has_gates(workload: &Workload<'_>) -> bool {
    workload.pod.get("readinessGates").is_some_and(|gates| !gates.is_nil_or_empty())
}
