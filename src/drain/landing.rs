//! What is wrong before anything moves, and what is waited for before the next step.

use super::command;
use super::means::Means;
use super::plan::{Obstacle, Planner, StepKind};
use super::pod::{Owner, WorkloadId};
use crate::capacity::eligible::tolerates_cordon;
use crate::checks::model::{items_at, text_at};
use crate::shell;

/// That a node has no kubelet that would end its pods.
pub(super) fn not_ready(node: &str, pods: usize) -> String {
    let s = if pods == 1 { "" } else { "s" };
    format!(
        "{node} is not ready: no kubelet ends its {pods} pod{s}, which stay Terminating, with their volumes attached"
    )
}

/// What to do about it (Kubernetes, "Non-graceful node shutdown").
pub(super) fn mend_not_ready(node: &str) -> String {
    let node = shell::word(node);
    format!(
        "mend its kubelet; if the machine is off for good: kubectl delete node {node}, or kubectl taint node {node} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
    )
}

impl Planner<'_> {
    /// Waits for what moved, where something else moves on the strength of it.
    pub(super) fn wait_for(&mut self, pods: &[usize]) {
        let mut waited: Vec<WorkloadId> = Vec::new();
        for pair in self.pairs.clone() {
            if !pods.iter().any(|pod| pair.pods.contains(pod)) {
                continue;
            }
            match (&pair.workload, &pair.selector) {
                (Some(id), _) => {
                    self.wait_for_workload(
                        id,
                        self.full_count(id),
                        "ready before another one moves",
                    );
                    waited.push(id.clone());
                }
                (None, Some((namespace, selector))) => {
                    let timeout = &self.options.wait_timeout;
                    let command = command::wait_pods(namespace, selector, pair.pods.len(), timeout);
                    let text = format!("{}: all are ready before another one moves.", pair.name);
                    let shown = self.shown(&pair.pods);
                    self.step(StepKind::Wait, text, vec![command]).pods = shown;
                }
                (None, None) => {}
            }
        }
        for pod in pods {
            let Some(id) = self.board.state.pods[*pod].workload().cloned() else { continue };
            let is_first = self.rules.order.iter().any(|rule| rule.before.is(&id));
            let is_raised = self.raises.iter().find(|raise| raise.workload == id).map(|r| r.to);
            let ready = match is_raised {
                Some(to) => usize::try_from(to).unwrap_or(0),
                None if is_first || self.attaches_volumes(*pod) => self.full_count(&id),
                None => continue,
            };
            if !waited.contains(&id) {
                self.wait_for_workload(&id, ready, "ready before anything else moves");
                waited.push(id);
            }
        }
    }

    /// How many of a workload are ready when all is well: as many as it is asked for, or as there are.
    pub(super) fn full_count(&self, id: &WorkloadId) -> usize {
        let state = &self.board.state;
        let wanted = state.scales.get(id).and_then(|scale| usize::try_from(scale.wanted).ok());
        wanted.unwrap_or_else(|| state.pods_of(id).len()).max(1)
    }

    /// Whether a pod is what attaches volumes: nothing else can attach one while it is away.
    fn attaches_volumes(&self, pod: usize) -> bool {
        let containers = items_at(&self.board.state.pods[pod].spec, &["containers"]);
        let name = |container| text_at(container, &["name"]);
        containers.iter().any(|container| name(container) == Some("csi-attacher"))
    }

    /// A wait until so many of a workload are ready.
    pub(super) fn wait_for_workload(&mut self, id: &WorkloadId, ready: usize, when: &str) {
        let timeout = self.options.wait_timeout.clone();
        let pods = self.board.state.pods_of(id);
        let command = command::wait_workload(id, ready, &timeout).or_else(|| {
            let state = &self.board.state;
            let own: Vec<_> = pods.iter().map(|pod| &state.pods[*pod]).collect();
            let near = |at: &usize| {
                let pod = &state.pods[*at];
                pod.namespace == id.namespace && !pods.contains(at) && !pod.is_over()
            };
            let others = (0..state.pods.len()).filter(near);
            let others: Vec<_> = others.map(|at| &state.pods[at]).collect();
            let (key, values) = command::tell_apart(&own, &others)?;
            let selector = format!("{key} in ({})", values.join(","));
            Some(command::wait_pods(&id.namespace, &selector, ready, &timeout))
        });
        let s = if ready == 1 { "" } else { "s" };
        let text = format!("{id}: {ready} replica{s} {when}.");
        let shown = self.shown(&pods);
        let commands = command.into_iter().collect();
        self.step(StepKind::Wait, text, commands).pods = shown;
    }

    /// What is wrong with the old nodes before anything moves, and what a cordon of them does not do.
    pub(super) fn tell_obstacles_of_nodes(&mut self) {
        let state = &self.board.state;
        let held = |node: usize| -> Vec<usize> {
            let is_held = |at: &usize| {
                let pod = &state.pods[*at];
                pod.node == Some(node) && !pod.stays() && !pod.is_over()
            };
            (0..state.pods.len()).filter(is_held).collect()
        };
        let (mut found, mut come_back) = (Vec::new(), Vec::new());
        for node in &self.old {
            let (pods, known) = (held(*node), &state.nodes[*node]);
            if !known.is_ready && !pods.is_empty() {
                let name = &known.face.name;
                found.push(Obstacle {
                    id: "old-node-not-ready",
                    message: not_ready(name, pods.len()),
                    pods: self.shown(&pods),
                    fix: mend_not_ready(name),
                });
            }
            let returns = |at: &&usize| {
                let pod = &state.pods[**at];
                tolerates_cordon(&pod.spec) && self.board.forbids(pod, *node).is_none()
            };
            come_back.extend(pods.iter().filter(returns).copied());
        }
        self.plan.obstacles.extend(found);
        if !come_back.is_empty() {
            self.plan.notes.push(format!(
                "a cordon does not keep off what tolerates node.kubernetes.io/unschedulable, and may come back to an old node: {}",
                self.shown(&come_back).join(", ")
            ));
        }
    }

    /// What is wrong with pods before anything moves.
    pub(super) fn tell_obstacles_of_pods(&mut self) {
        let state = &self.board.state;
        let mut found: Vec<Obstacle> = Vec::new();
        for (at, means) in self.means.iter().enumerate() {
            let pod = &state.pods[at];
            if *means == Means::None {
                continue;
            }
            let shown = pod.shown();
            if pod.owner == Owner::Nobody {
                found.push(Obstacle {
                    id: "pod-of-nobody",
                    message: format!("{shown} is made by nothing: once it is gone, nothing brings it back"),
                    pods: vec![shown.clone()],
                    fix: format!("keep its manifest (kubectl get pod -n {} {} -o yaml), and make it again after", shell::word(&pod.namespace), shell::word(&pod.name)),
                });
            }
            for budget in state.budgets_of(at) {
                let allowance = state.allowance(*budget);
                let is_ill =
                    *means == Means::Drain && allowance.is_ill() && !state.passes_by(at, *budget);
                if !is_ill {
                    continue;
                }
                let budget = &state.budgets[*budget];
                let (why, fix) = match &budget.failure {
                    Some(failure) => (
                        format!("its controller cannot reckon it (SyncFailed: {failure})"),
                        "mend the budget, or what it selects, until its status allows disruptions",
                    ),
                    None => (
                        format!("{} of {} pods are ready", allowance.healthy, allowance.expected),
                        "mend the pods that are not ready first",
                    ),
                };
                let message = format!(
                    "the budget {} in {} ({}) allows no eviction now: {why}",
                    budget.name,
                    budget.namespace,
                    budget.rule.shown(),
                );
                match found.iter_mut().find(|known| known.message == message) {
                    Some(known) => known.pods.push(shown.clone()),
                    None => found.push(Obstacle {
                        id: "budget-unhealthy",
                        message,
                        pods: vec![shown.clone()],
                        fix: fix.to_owned(),
                    }),
                }
            }
            if !pod.scratch.is_empty() {
                self.scratch.push(shown);
            }
        }
        self.plan.obstacles.extend(found);
        if !self.scratch.is_empty() {
            let count = self.scratch.len();
            self.plan.notes.push(format!(
                "{} what is in emptyDir volumes (--delete-emptydir-data): {}",
                if count == 1 { "1 pod loses".to_owned() } else { format!("{count} pods lose") },
                self.scratch.join(", ")
            ));
        }
    }
}
