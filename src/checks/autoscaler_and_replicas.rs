//! `autoscaler-and-replicas`: an autoscaler and the manifests both set a number of replicas.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("autoscaler-and-replicas"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for workload in context.workloads.iter().filter(|workload| workload.is_scaled()) {
        let Some(scaler) = context.autoscaler(workload) else { continue };
        let spot = workload.replicas_spot();
        let states_it = workload.resource.node.lookup(&["spec", "replicas"]).is_some();
        if !states_it {
            continue;
        }
        let message = format!(
            "{} states {} replicas, and {}/{} scales it between {} and {}: each sync sets the number back",
            workload.shown(),
            workload.replicas(),
            scaler.resource.kind(),
            scaler.resource.name(),
            scaler.min,
            scaler.max,
        );
        found.push(context.finding(&CHECK, &spot, message));
    }
    found
}
