//! `pdb-missing`: a workload that serves has several pods and no disruption budget.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};

pub(super) const CHECK: Check = Check { id: CheckId("pdb-missing"), severity: Severity::Note, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (position, workload) in context.workloads.iter().enumerate() {
        if !workload.is_scaled() {
            continue;
        }
        let replicas = context.least_replicas(workload);
        let Some(service) = context.service(workload) else { continue };
        let has_budget = context.budgets_of(position).next().is_some();
        if has_budget || replicas < 2 || workload.replicas() == 0 {
            continue;
        }
        let message = format!(
            "{} has {replicas} replicas behind Service/{} and no PodDisruptionBudget: a drain may take all of them at once",
            workload.shown(),
            service.name(),
        );
        found.push(context.finding(&CHECK, &workload.replicas_spot(), message));
    }
    found
}
