//! `budget-exceeded`: the pods of the render may take more than a configured limit.

use super::context::Context;
use super::finding::{Finding, Severity, Spot};
use super::model::quantity::parse_quantity;
use super::model::text_at;
use super::model::workload::Workload;
use super::settings::{PerPod, SumBudget, matches_pattern};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("budget-exceeded"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let budgets = context.settings.budgets.iter();
    budgets.filter_map(|budget| judge(context, budget)).collect()
}

/// One workload's share of a sum.
struct Share<'a> {
    spot: Spot<'a>,
    name: &'a str,
    pods: i64,
    per_pod: f64,
}

impl Share<'_> {
    fn total(&self) -> f64 {
        self.pods as f64 * self.per_pod
    }
}

fn judge(context: &Context<'_>, budget: &SumBudget) -> Option<Finding> {
    let workloads = context.workloads.iter().filter(|workload| workload.is_scaled());
    let shares: Vec<Share<'_>> =
        workloads.filter_map(|workload| share(context, budget, workload)).collect();
    let total: f64 = shares.iter().map(Share::total).sum();
    if total <= budget.limit {
        return None;
    }
    let most = shares.iter().max_by(|a, b| a.total().total_cmp(&b.total()))?;
    let parts: Vec<String> =
        shares.iter().map(|s| format!("{} {} × {}", s.name, s.pods, s.per_pod)).collect();
    let message = format!(
        "{}: {total} are possible during a roll, and the limit is {} ({})",
        budget.name,
        budget.limit,
        parts.join(", "),
    );
    let finding = context.finding(&CHECK, &most.spot, message);
    Some(finding.about(&format!("budgets.{}", budget.name)))
}

/// Replicas and surge times the number per pod; nothing for a workload that is off.
fn share<'a>(
    context: &Context<'a>,
    budget: &SumBudget,
    workload: &Workload<'a>,
) -> Option<Share<'a>> {
    let names = &budget.workloads;
    if !names.is_empty() && !names.iter().any(|pattern| matches_pattern(pattern, workload.name())) {
        return None;
    }
    let pods = workload.pods_at_most();
    let per_pod = budget.per_pod.iter().find_map(|source| number(context, source, workload))?;
    (pods > 0).then(|| Share {
        spot: workload.replicas_spot(),
        name: workload.name(),
        pods,
        per_pod,
    })
}

fn number<'a>(context: &Context<'a>, source: &PerPod, workload: &Workload<'a>) -> Option<f64> {
    match source {
        PerPod::Number(number) => Some(*number),
        PerPod::ConfigMap { name, key } => {
            let map = context.config_map(workload, name)?;
            parse_quantity(text_at(&map.node, &["data", key])?)
        }
        PerPod::Env(variable) => {
            let numbers = workload.containers().into_iter().filter_map(|container| {
                let mut environment = context.environment(workload, &container).into_iter();
                let last = environment.rfind(|(name, _, _)| name == variable);
                last.and_then(|(_, value, _)| parse_quantity(value))
            });
            numbers.reduce(|a, b| a + b)
        }
    }
}
