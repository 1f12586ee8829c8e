//! Every disruption budget with the evictions that it allows: those of the render, and those that
//! CloudNativePG makes.

use serde::Serialize;

use super::context::Context;
use super::model::budget::Budget;
use super::model::cluster::Cluster;

/// One budget and what it allows when all pods are healthy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetLine {
    /// Its namespace; `default` where none is stated.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The overlay that renders it.
    pub overlay: String,
    /// Its rule, such as `minAvailable: 1`.
    pub rule: String,
    /// The pods that it counts on.
    pub expected: i64,
    /// The pods that must stay; absent for a rule that the API refuses.
    pub desired: Option<i64>,
    /// The pods that may be evicted at once.
    pub allowed: Option<i64>,
    /// Whose pods they are.
    pub guards: Vec<String>,
}

/// The budgets of one overlay, in the namespace `only` where that is given.
#[must_use]
pub fn budget_lines(context: &Context<'_>, only: Option<&str>) -> Vec<BudgetLine> {
    let mut lines: Vec<BudgetLine> =
        context.budgets.iter().map(|budget| line_of(context, budget)).collect();
    for cluster in context.clusters.iter().filter(|cluster| cluster.has_budgets()) {
        lines.extend(operator_lines(context, cluster));
    }
    lines.retain(|line| only.is_none_or(|only| line.namespace == only));
    lines
}

fn line_of(context: &Context<'_>, budget: &Budget<'_>) -> BudgetLine {
    let expected = context.expected_pods(budget);
    let allowance = budget.rule.allowance(expected);
    let workloads = context.selected(budget).map(|workload| workload.shown());
    let clusters = context.selected_clusters(budget);
    let clusters = clusters.map(|cluster| format!("Cluster/{}", cluster.name()));
    BudgetLine {
        namespace: budget.resource.current_id().effective_namespace().to_owned(),
        name: budget.name().to_owned(),
        overlay: context.shown().to_owned(),
        rule: budget.rule.shown(),
        expected,
        desired: allowance.map(|allowance| allowance.desired),
        allowed: allowance.map(|allowance| allowance.allowed),
        guards: workloads.chain(clusters).collect(),
    }
}

/// `<cluster>-primary` with `minAvailable: 1`, and from three instances on `<cluster>` with all
/// replicas but one (cloudnative-pg `pkg/specs/poddisruptionbudget.go`). The primary of several
/// instances moves away by itself before a drain.
fn operator_lines(context: &Context<'_>, cluster: &Cluster<'_>) -> Vec<BudgetLine> {
    let (name, instances) = (cluster.name(), cluster.instances());
    let line =
        |name: String, rule: String, expected: i64, desired: i64, guards: String| BudgetLine {
            namespace: cluster.resource.current_id().effective_namespace().to_owned(),
            name,
            overlay: context.shown().to_owned(),
            rule,
            expected,
            desired: Some(desired),
            allowed: Some((expected - desired).max(0)),
            guards: vec![guards],
        };
    let moves = if instances > 1 { ", which moves away by itself" } else { "" };
    let primary = format!("the primary of Cluster/{name}{moves}");
    let rule = "minAvailable: 1, made by CloudNativePG".to_owned();
    let mut lines = vec![line(format!("{name}-primary"), rule, 1, 1, primary)];
    if cluster.has_replica_budget() {
        let rule = format!("minAvailable: {}, made by CloudNativePG", instances - 2);
        let replicas = format!("the replicas of Cluster/{name}");
        lines.push(line(name.to_owned(), rule, instances - 1, instances - 2, replicas));
    }
    lines
}
