//! `pdb-overlap`: two disruption budgets select one pod, which can then never be evicted.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::budget::Budget;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("pdb-overlap"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (position, workload) in context.workloads.iter().enumerate() {
        if !workload.is_scaled() || workload.replicas() == 0 {
            continue;
        }
        let here: Vec<&Budget<'_>> = context.budgets_of(position).collect();
        if let [first, second, ..] = here[..] {
            let message = format!(
                "the pods of {} belong to {} disruption budgets, {} and {}: eviction of a pod with more than one budget always fails, whatever they allow",
                workload.shown(),
                here.len(),
                first.name(),
                second.name(),
            );
            found.push(
                context.finding(&CHECK, &second.selector_spot(), message).about(&workload.shown()),
            );
        }
    }
    for budget in &context.budgets {
        for cluster in context.selected_clusters(budget).filter(|cluster| cluster.has_budgets()) {
            let (mine, theirs) = (budget.name(), cluster.name());
            let message = format!(
                "the pods of Cluster/{theirs} belong to the disruption budget {mine} and to {theirs}-primary, which CloudNativePG makes: eviction of a pod with more than one budget always fails"
            );
            found.push(context.finding(&CHECK, &budget.selector_spot(), message).about(theirs));
        }
    }
    found
}
