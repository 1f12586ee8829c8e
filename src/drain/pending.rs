//! Which step of a plan is the first that is still to be done, by what the cluster shows.
//!
//! Steps that only look or wait are never it: what they would wait for is judged by itself, before anything is said to be next.

use std::collections::BTreeSet;

use super::plan::{Replicas, Step, StepKind};
use super::pod::{Pod, WorkloadId};
use super::progress::Course;

/// The plan, held against the cluster as it is.
pub(super) struct Walk<'a> {
    course: &'a Course<'a>,
    /// The pods that are still there, each with its node.
    held: BTreeSet<(String, &'a str)>,
    /// Whose pods are on old nodes.
    on_old: BTreeSet<&'a WorkloadId>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(course: &'a Course<'a>) -> Self {
        let placed = |pod: &'a Pod| {
            let node = pod.node.filter(|_| !pod.is_over())?;
            Some((pod, course.now.nodes[node].face.name.as_str()))
        };
        let placed: Vec<(&Pod, &str)> = course.now.pods.iter().filter_map(placed).collect();
        let is_old = |node: &str| course.old.iter().any(|old| old == node);
        let on_old = placed.iter().filter(|(_, node)| is_old(node));
        Self {
            course,
            on_old: on_old.filter_map(|(pod, _)| pod.workload()).collect(),
            held: placed.iter().map(|(pod, node)| (pod.shown(), *node)).collect(),
        }
    }

    /// The position of that step.
    pub(super) fn first_pending(&self) -> Option<usize> {
        (0..self.course.plan.steps.len()).find(|at| self.is_pending(*at))
    }

    /// The nodes that are cordoned only while pods move together that have not come to rest yet.
    pub(super) fn closed_for_a_while(&self, pending: Option<usize>) -> BTreeSet<&'a str> {
        let steps = &self.course.plan.steps;
        let opens = steps.iter().enumerate().filter(|(_, step)| step.kind == StepKind::Uncordon);
        let opens = opens.filter(|(at, step)| {
            let closes =
                |earlier: &Step| earlier.kind == StepKind::Cordon && earlier.nodes == step.nodes;
            let from = steps[..*at].iter().rposition(closes);
            pending.is_some_and(|pending| pending <= *at && from.is_some_and(|from| from < pending))
        });
        opens.flat_map(|(_, step)| step.nodes.iter().map(String::as_str)).collect()
    }

    fn is_pending(&self, at: usize) -> bool {
        let steps = &self.course.plan.steps;
        let step = &steps[at];
        match step.kind {
            StepKind::Cordon => {
                let is_for_all = step.nodes.iter().all(|node| self.course.old.contains(node));
                // Nodes to go to are closed while the next pods move, and no longer.
                let moves = |next: &&Step| !next.pods.is_empty();
                let is_wanted = is_for_all
                    || steps[at..].iter().find(moves).is_some_and(|next| self.holds(next));
                is_wanted
                    && step.nodes.iter().any(|node| self.course.is_cordoned(node) == Some(false))
            }
            StepKind::Uncordon => {
                step.nodes.iter().any(|node| self.course.is_cordoned(node) == Some(true))
            }
            StepKind::Raise => step.replicas.as_ref().is_some_and(|raised| {
                self.on_old.contains(&raised.workload)
                    && self.course.count_of(raised).is_some_and(|count| count < raised.count)
            }),
            StepKind::Lower => step.replicas.as_ref().is_some_and(|lowered| self.is_up(lowered)),
            StepKind::Drain | StepKind::Delete | StepKind::Database => self.holds(step),
            StepKind::Wait | StepKind::Check | StepKind::Provider => false,
        }
    }

    /// Whether a pod that the step moves is still on its node.
    fn holds(&self, step: &Step) -> bool {
        let node = step.node.as_deref().unwrap_or_default();
        step.pods.iter().any(|pod| self.held.contains(&(pod.clone(), node)))
    }

    /// Whether what the plan raises is up still.
    fn is_up(&self, lowered: &Replicas) -> bool {
        let raised = |step: &&Step| {
            let replicas = step.replicas.as_ref();
            step.kind == StepKind::Raise
                && replicas.is_some_and(|replicas| replicas.workload == lowered.workload)
        };
        let raised = self.course.plan.steps.iter().find(raised);
        let raised = raised.and_then(|step| step.replicas.as_ref());
        let count = self.course.count_of(lowered);
        raised.is_some_and(|raised| count.is_some_and(|count| count >= raised.count))
    }
}

impl Course<'_> {
    /// Whether a node is cordoned; `None` where it is no part of the cluster.
    pub(super) fn is_cordoned(&self, name: &str) -> Option<bool> {
        self.now.find_node(name).map(|node| self.now.nodes[node].is_cordoned)
    }

    /// How many a workload is asked for now: by its autoscaler, where it has one.
    fn count_of(&self, replicas: &Replicas) -> Option<i64> {
        let scaler = self.now.autoscaled.get(&replicas.workload).map(|scaler| scaler.min);
        scaler.or_else(|| self.now.scales.get(&replicas.workload).map(|scale| scale.wanted))
    }
}
