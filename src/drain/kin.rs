//! Which pods, workloads and budgets belong together, looked up once.

use std::collections::BTreeMap;

use super::budget::Budget;
use super::pod::{Pod, WorkloadId};
use super::state::State;

/// All by position. What they say of each other never changes: neither labels nor owners do.
#[derive(Clone, Debug, Default)]
pub(super) struct Kin {
    /// The budgets that select each pod.
    pub(super) budgets_of: Vec<Vec<usize>>,
    /// The pods that have not ended and that each budget selects.
    pub(super) guarded: Vec<Vec<usize>>,
    /// The pods of each workload that have not ended.
    of_workload: BTreeMap<WorkloadId, Vec<usize>>,
    /// The budgets of each namespace.
    in_namespace: BTreeMap<String, Vec<usize>>,
}

impl Kin {
    pub(super) fn of(state: &State) -> Self {
        let mut kin = Self { guarded: vec![Vec::new(); state.budgets.len()], ..Self::default() };
        for (at, budget) in state.budgets.iter().enumerate() {
            kin.in_namespace.entry(budget.namespace.clone()).or_default().push(at);
        }
        state.pods.iter().for_each(|pod| kin.add(pod, &state.budgets));
        kin
    }

    /// Adds the pod that comes after those that it knows.
    fn add(&mut self, pod: &Pod, budgets: &[Budget]) {
        let at = self.budgets_of.len();
        let near = self.in_namespace.get(&pod.namespace).map(Vec::as_slice).unwrap_or_default();
        let own: Vec<usize> =
            near.iter().copied().filter(|budget| budgets[*budget].selects(pod)).collect();
        if !pod.is_over() {
            own.iter().for_each(|budget| self.guarded[*budget].push(at));
            if let Some(id) = pod.workload() {
                self.of_workload.entry(id.clone()).or_default().push(at);
            }
        }
        self.budgets_of.push(own);
    }
}

impl State {
    /// Adds a pod; returns its position.
    pub(super) fn add_pod(&mut self, pod: Pod) -> usize {
        self.kin.add(&pod, &self.budgets);
        self.pods.push(pod);
        self.pods.len() - 1
    }

    /// The pods of a workload that are meant to run, by position.
    #[must_use]
    pub fn pods_of(&self, id: &WorkloadId) -> Vec<usize> {
        self.kin.of_workload.get(id).cloned().unwrap_or_default()
    }
}
