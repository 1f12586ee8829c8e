//! `autoscaler-min-blocks-drain`: at the least number of replicas a budget allows no eviction.

use super::context::Context;
use super::finding::{Finding, Severity, Spot};
use super::model::autoscaler::Autoscaler;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("autoscaler-min-blocks-drain"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for budget in &context.budgets {
        let scaler = context.selected(budget).find_map(|workload| context.autoscaler(workload));
        let allowance = budget.rule.allowance(context.expected_pods(budget));
        let Some((scaler, allowance)) = scaler.zip(allowance) else { continue };
        if allowance.allowed > 0 || allowance.expected == 0 {
            continue;
        }
        let message = format!(
            "{}/{} may scale {} down to {}, where PodDisruptionBudget/{} ({}, {} of {} to stay) allows 0 evictions: a drain of the node will hang",
            scaler.resource.kind(),
            scaler.resource.name(),
            scaler.target_name,
            scaler.min,
            budget.name(),
            budget.rule.shown(),
            allowance.desired,
            allowance.expected,
        );
        found.push(context.finding(&CHECK, &least(scaler), message).mend(mend(
            context,
            scaler,
            allowance.desired,
        )));
    }
    found
}

fn least<'a>(scaler: &Autoscaler<'a>) -> Spot<'a> {
    Spot::at(scaler.resource, &scaler.min_path)
}

fn mend(context: &Context<'_>, scaler: &Autoscaler<'_>, desired: i64) -> String {
    let name = format!("{}/{}", scaler.resource.kind(), scaler.resource.name());
    let change = format!("{}={}", scaler.min_path.join("."), desired + 1);
    context.command("set field", &[&name, &change])
}
