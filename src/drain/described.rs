//! What a plan says of the nodes before and after, and of the budgets that guard what moves.

use super::holding::Held;
use super::means::Means;
use super::order::load;
use super::plan::{Planner, TO_COME};
use super::pod::WorkloadId;
use crate::capacity::amounts::Amounts;

/// A node as the plan sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedNode {
    /// Its name.
    pub name: String,
    /// What it has for pods.
    pub allocatable: Amounts,
    /// What its pods ask for.
    pub used: Amounts,
    /// What the pods that a drain moves ask for.
    pub moving: Amounts,
    /// How many those are.
    pub moving_pods: usize,
    /// Its pods.
    pub pods: Vec<Held>,
    /// Whether it is still to come.
    pub is_to_come: bool,
}

/// A budget that guards pods which are to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its rule, such as `minAvailable: 1`.
    pub rule: String,
    /// The pods that it counts on.
    pub expected: i64,
    /// The pods that must stay; none for numbers that the API refuses.
    pub desired: Option<i64>,
    /// The pods that may be evicted now.
    pub allowed: i64,
    /// Whose pods they are.
    pub guarded: Vec<String>,
}

impl Planner<'_> {
    pub(super) fn describe_old(&mut self) {
        let mut nodes: Vec<usize> = self.old.clone();
        nodes.sort_by_key(|node| load(&self.board.state, *node));
        self.plan.old = nodes.into_iter().map(|node| self.describe(node)).collect();
    }

    pub(super) fn describe_guards(&mut self) {
        let state = &self.board.state;
        let moving = (0..self.means.len()).filter(|pod| self.means[*pod] != Means::None);
        let mut budgets: Vec<usize> =
            moving.flat_map(|pod| state.budgets_of(pod)).copied().collect();
        budgets.sort_by_key(|at| {
            let budget = &state.budgets[*at];
            (&budget.namespace, &budget.name, *at)
        });
        budgets.dedup();
        self.plan.guards = budgets.into_iter().map(|budget| self.guard(budget)).collect();
    }

    fn guard(&self, budget: usize) -> Guard {
        let state = &self.board.state;
        let allowance = state.allowance(budget);
        let pods = state.guarded(budget).iter().map(|pod| &state.pods[*pod]);
        let budget = &state.budgets[budget];
        let whose = |id: &WorkloadId| format!("{}/{}", id.kind, id.name);
        let mut guarded: Vec<String> =
            pods.map(|pod| pod.workload().map_or_else(|| pod.name.clone(), whose)).collect();
        guarded.sort();
        guarded.dedup();
        Guard {
            namespace: budget.namespace.clone(),
            name: budget.name.clone(),
            rule: budget.rule.shown(),
            expected: allowance.expected,
            desired: allowance.desired,
            allowed: allowance.allowed(),
            guarded,
        }
    }

    pub(super) fn describe_new(&mut self) {
        let targets = self.targets();
        self.plan.new = targets.iter().map(|node| self.describe(*node)).collect();
        self.plan.survives_loss = targets.len() > 1
            && targets.iter().all(|node| self.board.homeless_without(*node, |_| true).is_empty());
        if !self.plan.survives_loss && targets.len() > 1 && self.plan.obstacles.is_empty() {
            self.plan.notes.push(
                "at the end the pods of a lost new node would not all find a place on the others"
                    .to_owned(),
            );
        }
    }

    fn describe(&self, node: usize) -> PlannedNode {
        let state = &self.board.state;
        let pods = Held::on(state, node);
        let moving = || pods.iter().filter(|pod| pod.moves);
        let known = &state.nodes[node];
        PlannedNode {
            name: known.face.name.clone(),
            allocatable: known.allocatable,
            used: pods.iter().map(|pod| pod.request).sum(),
            moving: moving().map(|pod| pod.request).sum(),
            moving_pods: moving().count(),
            is_to_come: known.provider_id.as_deref() == Some(TO_COME),
            pods,
        }
    }
}
