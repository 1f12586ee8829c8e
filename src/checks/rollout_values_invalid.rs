//! `rollout-values-invalid`: `maxSurge` and `maxUnavailable` that the API refuses.

use super::context::Context;
use super::finding::{Finding, Severity, Spot};
use super::model::amount::Amount;
use super::model::text_at;
use super::model::workload::{Workload, WorkloadKind};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("rollout-values-invalid"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let deployments = context.workloads.iter().filter(|w| w.kind == WorkloadKind::Deployment);
    deployments.filter_map(|deployment| judge(context, deployment)).collect()
}

fn judge(context: &Context<'_>, deployment: &Workload<'_>) -> Option<Finding> {
    if text_at(&deployment.resource.node, &["spec", "strategy", "type"]) == Some("Recreate") {
        return None;
    }
    let (surge, unavailable) =
        (deployment.rolling_value("maxSurge"), deployment.rolling_value("maxUnavailable"));
    let (field, wrong) = if let Amount::Invalid(_) = surge {
        ("maxSurge", format!("maxSurge {surge} is neither a number nor a percentage"))
    } else if let Amount::Invalid(_) = unavailable {
        let reason = format!("maxUnavailable {unavailable} is neither a number nor a percentage");
        ("maxUnavailable", reason)
    } else if surge.is_zero() && unavailable.is_zero() {
        let reason =
            format!("maxSurge {surge} and maxUnavailable {unavailable} leave no way to roll");
        ("maxUnavailable", reason)
    } else if matches!(unavailable, Amount::Percent(percent) if percent > 100) {
        ("maxUnavailable", format!("maxUnavailable {unavailable} is more than all"))
    } else {
        return None;
    };
    let message = format!("{}: {wrong}, which the API refuses", deployment.shown());
    let spot = Spot::at(deployment.resource, &["spec", "strategy", "rollingUpdate", field]);
    let command = context.command("set strategy", &[deployment.name(), "--zero-outage"]);
    Some(context.finding(&CHECK, &spot, message).mend(command))
}
