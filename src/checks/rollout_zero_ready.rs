//! `rollout-zero-ready`: a roll can leave a Deployment without a ready pod.

use super::context::Context;
use super::finding::{Finding, Severity, Spot};
use super::model::claim::Access;
use super::model::workload::{Strategy, Workload, WorkloadKind};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("rollout-zero-ready"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let deployments = context.workloads.iter().filter(|w| w.kind == WorkloadKind::Deployment);
    deployments.filter_map(|deployment| judge(context, deployment)).collect()
}

fn judge(context: &Context<'_>, deployment: &Workload<'_>) -> Option<Finding> {
    let replicas = context.least_replicas(deployment);
    if replicas == 0 {
        return None;
    }
    let resource = deployment.resource;
    let name = deployment.shown();
    let mend = context.command("set strategy", &[deployment.name(), "--zero-outage"]);
    match deployment.strategy(replicas) {
        Strategy::Recreate => {
            let message = format!(
                "{name} is rolled by Recreate at {replicas} {}: every roll passes through zero ready pods",
                replica_word(replicas),
            );
            let spot = Spot::at(resource, &["spec", "strategy", "type"]);
            let finding = context.finding(&CHECK, &spot, message);
            Some(match needs_recreate(context, deployment) {
                true => finding.graded(Severity::Note),
                false => finding.graded(Severity::Warning).mend(mend),
            })
        }
        Strategy::RollingUpdate(roll) if roll.unavailable >= replicas => {
            let (surge, unavailable) =
                (deployment.rolling_value("maxSurge"), deployment.rolling_value("maxUnavailable"));
            let message = format!(
                "a roll of {name} can pass through zero ready pods: of {replicas} {} maxUnavailable {unavailable} lets {} go and maxSurge {surge} brings {} before",
                replica_word(replicas),
                roll.unavailable,
                roll.surge,
            );
            let spot = Spot::at(resource, &["spec", "strategy", "rollingUpdate", "maxUnavailable"]);
            Some(context.finding(&CHECK, &spot, message).mend(mend))
        }
        _ => None,
    }
}

fn replica_word(replicas: i64) -> &'static str {
    if replicas == 1 { "replica" } else { "replicas" }
}

/// Whether Recreate is there for a volume: one that is not known to be mountable by many nodes.
fn needs_recreate(context: &Context<'_>, deployment: &Workload<'_>) -> bool {
    deployment.claims().any(|(name, _)| {
        let mut claims = context.claims.iter().filter(|claim| claim.resource.name() == name);
        claims.next().is_none_or(|claim| claim.access != Access::Many)
    })
}
