//! `claim-shared`: two workloads mount one claim that only one node, or one pod, can hold.

use super::context::Context;
use super::finding::{Finding, Severity, Spot};
use super::model::claim::{Access, Claim};
use super::model::workload::Workload;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("claim-shared"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let claims = context.claims.iter().filter(|claim| claim.access != Access::Many);
    claims.filter_map(|claim| judge(context, claim)).collect()
}

fn judge(context: &Context<'_>, claim: &Claim<'_>) -> Option<Finding> {
    let id = claim.resource.current_id();
    let name = claim.resource.name();
    let mounts = |workload: &&Workload<'_>| {
        let runs = workload.is_scaled() && workload.replicas() > 0;
        runs && id.is_namespace_equal(&workload.resource.current_id())
            && workload.claims().any(|(claimed, _)| claimed == name)
    };
    let users: Vec<String> = context.workloads.iter().filter(mounts).map(Workload::shown).collect();
    if users.len() < 2 {
        return None;
    }
    let mode = claim.mode();
    let fate = match claim.access {
        Access::OnePod => "the second pod cannot start",
        _ => {
            "after a drain their pods may land on two nodes, and one waits for the volume for ever"
        }
    };
    let message = format!(
        "PersistentVolumeClaim/{name} is {mode} and mounted by {} workloads, {}: {fate}",
        users.len(),
        users.join(" and "),
    );
    let severity = if claim.access == Access::OnePod { Severity::Error } else { CHECK.severity };
    let spot = Spot::at(claim.resource, &["spec", "accessModes"]);
    Some(context.finding(&CHECK, &spot, message).graded(severity))
}
