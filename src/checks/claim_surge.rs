//! `claim-surge`: two pods of one Deployment need a claim that only one node can hold.

use super::context::Context;
use super::finding::{Finding, Severity, Spot};
use super::model::claim::{Access, Claim};
use super::model::workload::{Strategy, Workload, WorkloadKind};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("claim-surge"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let deployments = context.workloads.iter().filter(|w| w.kind == WorkloadKind::Deployment);
    deployments.filter_map(|deployment| judge(context, deployment)).collect()
}

fn judge(context: &Context<'_>, deployment: &Workload<'_>) -> Option<Finding> {
    let replicas = deployment.replicas();
    let (claim, spot) = one_node_claim(context, deployment).filter(|_| replicas > 0)?;
    let surge = match deployment.strategy(replicas) {
        Strategy::RollingUpdate(roll) => roll.surge,
        _ => 0,
    };
    let (name, mode) = (claim.resource.name(), claim.mode());
    let shown = deployment.shown();
    let message = if replicas > 1 {
        format!(
            "{shown} has {replicas} replicas that all mount PersistentVolumeClaim/{name}, which is {mode}: they run only while they share a node"
        )
    } else if surge > 0 {
        format!(
            "a roll of {shown} starts {surge} pod beside the 1 that holds PersistentVolumeClaim/{name}, which is {mode}: on another node it waits for the volume, and the roll never ends"
        )
    } else {
        return None;
    };
    let finding = context.finding(&CHECK, &spot, message);
    let command = context.command("set strategy", &[deployment.name(), "--recreate"]);
    Some(if replicas == 1 { finding.mend(command) } else { finding })
}

fn one_node_claim<'c, 'a>(
    context: &'c Context<'a>,
    deployment: &Workload<'a>,
) -> Option<(&'c Claim<'a>, Spot<'a>)> {
    let id = deployment.resource.current_id();
    deployment.claims().find_map(|(name, node)| {
        let claim = context.claims.iter().find(|claim| {
            claim.resource.name() == name
                && claim.access != Access::Many
                && claim.resource.current_id().is_namespace_equal(&id)
        })?;
        let field = format!("{}.volumes", deployment.pod_path());
        Some((claim, Spot::of(deployment.resource, node, field)))
    })
}
