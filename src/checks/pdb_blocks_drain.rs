//! `pdb-blocks-drain`: a disruption budget that allows no eviction, so that a node drain waits for ever.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::budget::Budget;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("pdb-blocks-drain"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for budget in &context.budgets {
        let is_autoscaled = context.selected(budget).any(|w| context.autoscaler(w).is_some());
        let allowance = budget.rule.allowance(context.expected_pods(budget));
        let Some(allowance) = allowance.filter(|a| a.allowed == 0 && a.expected > 0) else {
            continue;
        };
        if is_autoscaled {
            continue;
        }
        let message = format!(
            "PodDisruptionBudget/{} allows 0 of {} {} to be evicted ({} wants {} to stay): a drain of the node will hang",
            budget.name(),
            allowance.expected,
            pods(allowance.expected),
            budget.rule.shown(),
            allowance.desired,
        );
        let mut finding = context.finding(&CHECK, &budget.spot(), message);
        if let Some(command) = mend(context, budget, allowance.desired) {
            finding = finding.mend(command);
        }
        found.push(finding);
    }
    found
}

fn pods(count: i64) -> &'static str {
    if count == 1 { "pod" } else { "pods" }
}

/// More replicas where the budget wants a number that more of them exceed; else one may go.
fn mend(context: &Context<'_>, budget: &Budget<'_>, desired: i64) -> Option<String> {
    use super::model::amount::Amount;
    let mut workloads = context.selected(budget).filter(|workload| workload.is_scaled());
    let only = workloads.next().filter(|_| workloads.next().is_none());
    match (&budget.rule.min_available, only) {
        (Some(Amount::Count(_)), Some(workload)) => {
            let change = format!("{}={}", workload.name(), desired + 1);
            Some(context.command("set replicas", &[&change]))
        }
        (Some(Amount::Percent(percent)), Some(workload)) if *percent < 100 => {
            Some(context.command("set replicas", &[&format!("{}=2", workload.name())]))
        }
        (None, _) => {
            let name = format!("PodDisruptionBudget/{}", budget.name());
            Some(context.command("set field", &[&name, "spec.maxUnavailable=1"]))
        }
        _ => None,
    }
}
