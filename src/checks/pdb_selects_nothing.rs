//! `pdb-selects-nothing`: a disruption budget that no pod belongs to.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("pdb-selects-nothing"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for budget in &context.budgets {
        let selects = context.selected(budget).next().is_some()
            || context.selected_clusters(budget).next().is_some();
        if selects {
            continue;
        }
        let message = format!(
            "PodDisruptionBudget/{} selects {}, which no pod of this overlay has: it protects nothing",
            budget.name(),
            budget.selector.shown(),
        );
        found.push(context.finding(&CHECK, &budget.selector_spot(), message));
    }
    found
}
