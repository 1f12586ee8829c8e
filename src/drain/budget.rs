//! PodDisruptionBudgets: what they select, and how many evictions they allow.

use super::objects::{condition, name, namespace};
use super::pod::{Pod, WorkloadId};
use super::state::State;
use crate::checks::model::amount::Amount;
use crate::checks::model::budget::Rule;
use crate::checks::model::selector::Selector;
use crate::checks::model::{int_at, text_at};
use crate::kustomize::node::Node;

/// A PodDisruptionBudget.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// How many pods it keeps.
    pub rule: Rule,
    /// Whether it lets go of every pod that is not ready (`unhealthyPodEvictionPolicy: AlwaysAllow`).
    pub lets_go_unready: bool,
    /// What its controller says where it fails, and so allows nothing.
    pub failure: Option<String>,
    selector: Option<Node>,
}

impl State {
    /// The budgets that select a pod, by position.
    #[must_use]
    pub fn budgets_of(&self, pod: usize) -> &[usize] {
        &self.kin.budgets_of[pod]
    }

    /// The pods that have not ended and that a budget selects, by position; both by position.
    #[must_use]
    pub fn guarded(&self, budget: usize) -> &[usize] {
        &self.kin.guarded[budget]
    }

    /// Whether a pod may be evicted whatever disruptions its budget allows: one that is not ready, where the policy lets it go,
    /// or where as many are ready as have to be (Kubernetes `pkg/registry/core/pod/storage/eviction.go`). Both by position.
    #[must_use]
    pub fn passes_by(&self, pod: usize, budget: usize) -> bool {
        let pod = &self.pods[pod];
        let allowance = self.allowance(budget);
        let is_met = !allowance.is_failing
            && allowance.desired.is_some_and(|desired| desired > 0 && allowance.healthy >= desired);
        pod.phase == "Pending" || !pod.is_ready && (self.budgets[budget].lets_go_unready || is_met)
    }

    /// What a budget, by position, comes to now.
    #[must_use]
    pub fn allowance(&self, budget: usize) -> Allowance {
        let pods = || self.guarded(budget).iter().map(|pod| &self.pods[*pod]);
        let budget = &self.budgets[budget];
        let mut owners: Vec<&WorkloadId> = pods().filter_map(Pod::workload).collect();
        owners.sort();
        owners.dedup();
        let count = |is_one: &dyn Fn(&Pod) -> bool| {
            i64::try_from(pods().filter(|pod| is_one(pod)).count()).unwrap_or(i64::MAX)
        };
        let of_owner = |id: &WorkloadId| match self.scales.get(id) {
            Some(scale) => scale.wanted,
            None => count(&|pod| pod.workload() == Some(id)),
        };
        let scale: i64 = owners.iter().map(|id| of_owner(id)).sum();
        let expected = if budget.counts_pods() { count(&|_| true) } else { scale };
        let healthy = count(&|pod| pod.is_ready && !pod.is_terminating);
        let is_failing = budget.failure.is_some();
        Allowance { expected, healthy, desired: budget.rule.desired(expected), is_failing }
    }
}

/// What a budget comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The pods that there should be.
    pub expected: i64,
    /// The pods that are ready.
    pub healthy: i64,
    /// The pods that must stay; `None` for numbers that the API refuses.
    pub desired: Option<i64>,
    /// Whether the controller fails, whatever these numbers are.
    pub is_failing: bool,
}

impl Allowance {
    /// How many may be evicted now; none where the controller fails.
    #[must_use]
    pub fn allowed(self) -> i64 {
        let desired = self.desired.unwrap_or(i64::MAX);
        let is_none = self.is_failing || self.expected <= 0;
        if is_none { 0 } else { (self.healthy - desired).max(0) }
    }

    /// Whether no eviction is allowed now and would be if all pods were ready, or if there were more of them, or if the controller
    /// did not fail.
    #[must_use]
    pub fn is_ill(self) -> bool {
        match self.blocks_for_good() {
            true => self.desired.is_some_and(|desired| self.healthy < desired),
            false => self.allowed() == 0,
        }
    }

    /// Whether no eviction is ever allowed, though all pods are well.
    #[must_use]
    pub fn blocks_for_good(self) -> bool {
        !self.is_failing && self.desired.is_none_or(|desired| desired >= self.expected)
    }
}

impl Budget {
    pub(super) fn read(object: &Node) -> Self {
        Self {
            namespace: namespace(object).to_owned(),
            name: name(object).to_owned(),
            rule: Rule::read(object),
            lets_go_unready: object
                .lookup(&["spec", "unhealthyPodEvictionPolicy"])
                .and_then(Node::as_str)
                == Some("AlwaysAllow"),
            failure: failure(object),
            selector: object.lookup(&["spec", "selector"]).cloned(),
        }
    }

    /// Whether it selects a pod.
    #[must_use]
    pub fn selects(&self, pod: &Pod) -> bool {
        pod.namespace == self.namespace
            && Selector::new(self.selector.as_ref()).selects(pod.label())
    }

    /// Whether it counts the pods that there are, and not those that there should be.
    fn counts_pods(&self) -> bool {
        matches!(self.rule.min_available, Some(Amount::Count(_)))
    }
}

/// What the controller says of a budget that it cannot reckon: it then allows no disruption (Kubernetes
/// `pkg/controller/disruption/disruption.go` `failSafe`, and the condition `DisruptionAllowed` with the reason `SyncFailed`).
fn failure(object: &Node) -> Option<String> {
    let condition = condition(object, "DisruptionAllowed")?;
    let is_failed = text_at(condition, &["reason"]) == Some("SyncFailed")
        && text_at(condition, &["status"]) == Some("False")
        && int_at(object, &["status", "disruptionsAllowed"]).unwrap_or(0) == 0;
    let message = text_at(condition, &["message"]).unwrap_or_default();
    is_failed.then(|| message.to_owned())
}
