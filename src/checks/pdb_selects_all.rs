//! `pdb-selects-all`: a disruption budget with an empty selector is for every pod of its namespace.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("pdb-selects-all"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for budget in context.budgets.iter().filter(|budget| budget.selector.is_empty()) {
        let is_beta = budget.resource.api_version() == "policy/v1beta1";
        let whom =
            if is_beta { "no pod at all in policy/v1beta1" } else { "every pod of its namespace" };
        let message = format!(
            "PodDisruptionBudget/{} has an empty selector, which stands for {whom}; {} workload(s) of this overlay are in it",
            budget.name(),
            context.selected(budget).count(),
        );
        found.push(context.finding(&CHECK, &budget.selector_spot(), message));
    }
    found
}
