//! What is not as it should be while a drain is under way, and by what command it is mended or waited for.

use std::collections::BTreeSet;

use super::command;
use super::landing::{mend_not_ready, not_ready};
use super::order::{Pair, pairs};
use super::plan::{Step, StepKind};
use super::pod::{Owner, Pod, WorkloadId};
use super::progress::{Course, NewNode, NextStep, OldNode, Phase, Wrong};
use super::scale::Shortage;
use super::state::State;
use crate::shell;

/// Kinds that stay when their pods go; what makes pods for a while is not missed.
const LASTING: [&str; 4] = ["Deployment", "StatefulSet", "Rollout", "Cluster"];

impl Wrong {
    /// What no single command mends.
    fn new(id: &'static str, message: String, fix: String) -> Self {
        Self { id, message, fix, command: None }
    }
}

impl Course<'_> {
    pub(super) fn look_at_nodes(
        &self,
        old: &[OldNode],
        new: &[NewNode],
        phase: Phase,
        wrong: &mut Vec<Wrong>,
    ) {
        let is_open =
            |node: &&OldNode| !node.is_cordoned && !node.is_gone && self.is_due(node, old);
        for node in old.iter().filter(is_open).filter(|_| phase != Phase::NotBegun) {
            let name = &node.name;
            let message = format!("{name} is not cordoned: what is evicted may come to it");
            let fix = command::cordon("cordon", &[name]);
            let command = Some((format!("cordon {name}"), fix.clone()));
            wrong.push(Wrong { command, ..Wrong::new("not-cordoned", message, fix) });
        }
        for OldNode { name, left, .. } in old.iter().filter(|node| !node.left.is_empty()) {
            let is_ready = |node: usize| self.now.nodes[node].is_ready;
            if !self.now.find_node(name).is_none_or(is_ready) {
                let (message, fix) = (not_ready(name, left.len()), mend_not_ready(name));
                wrong.push(Wrong::new("old-node-not-ready", message, fix));
            }
        }
        for NewNode { name, .. } in new.iter().filter(|node| !node.is_ready) {
            let fix = format!("kubectl describe node {}", shell::word(name));
            wrong.push(Wrong::new("node-not-ready", format!("{name} is not ready"), fix));
        }
        for request in &self.now.pending_requests {
            let message = format!("the certificate request {request} waits for an answer");
            let fix = "kubectl get csr, and approve it when it is one of the new nodes".to_owned();
            wrong.push(Wrong::new("request-pending", message, fix));
        }
        let (there, wanted) = (new.len() as u64, self.new_nodes.unwrap_or(0));
        if there < wanted {
            let seen = match self.now.pending_requests.is_empty() {
                true => {
                    "and no certificate request waits: no kubelet has reached the API server (a port quota?)"
                }
                false => "and certificate requests wait",
            };
            let message = format!("{there} of {wanted} new nodes have joined, {seen}");
            let fix = "look at the provider's quotas, then at kubectl get csr".to_owned();
            wrong.push(Wrong::new("nodes-missing", message, fix));
        }
    }

    /// Whether an old node should be closed by now: another one that the plan closes with it is closed, gone or empty.
    fn is_due(&self, node: &OldNode, old: &[OldNode]) -> bool {
        let has_begun = |node: &OldNode| node.is_cordoned || node.is_gone || node.left.is_empty();
        let closes =
            |step: &&Step| step.kind == StepKind::Cordon && step.nodes.contains(&node.name);
        let step = self.plan.steps.iter().find(closes);
        let with_it = |other: &&OldNode| step.is_some_and(|step| step.nodes.contains(&other.name));
        old.iter().filter(with_it).any(has_begun)
    }

    /// A node to go to that was closed while pods moved together, and was forgotten: one that was open before, or was not there.
    pub(super) fn look_at_open_nodes(
        &self,
        new: &[NewNode],
        phase: Phase,
        closed_for_a_while: &BTreeSet<&str>,
        wrong: &mut Vec<Wrong>,
    ) {
        let Some(before) = self.before.filter(|_| phase != Phase::NotBegun) else { return };
        let was_closed =
            |name: &str| before.find_node(name).is_some_and(|node| before.nodes[node].is_cordoned);
        for NewNode { name, .. } in new.iter().filter(|node| node.is_cordoned) {
            if was_closed(name) || closed_for_a_while.contains(name.as_str()) {
                continue;
            }
            let message = format!("{name} is cordoned, and pods are to come to it");
            let fix = command::cordon("uncordon", &[name]);
            let command = Some((format!("uncordon {name}"), fix.clone()));
            wrong.push(Wrong { command, ..Wrong::new("still-cordoned", message, fix) });
        }
    }

    /// Workloads with fewer ready pods than they are asked for, and those that are gone.
    pub(super) fn look_at_workloads(&self, wrong: &mut Vec<Wrong>, as_before: &mut Vec<String>) {
        let is_judged = |id: &&WorkloadId| id.kind != "Cluster";
        for id in self.now.scales.keys().filter(is_judged) {
            let Some(Shortage { ready, wanted }) = self.now.shortage(id) else { continue };
            let message = format!("{id}: {ready} of {wanted} replicas are ready");
            if self.before.is_some_and(|before| before.shortage(id).is_some()) {
                as_before.push(message);
                continue;
            }
            let kind = if ready == 0 && wanted > 1 { "pair-down" } else { "workload-not-ready" };
            let fix = "wait until they are ready before anything else moves".to_owned();
            let command = self.wait_for(id, wanted);
            wrong.push(Wrong { command, ..Wrong::new(kind, message, fix) });
        }
        let Some(before) = self.before else { return };
        let pods = before.pods.iter().filter(|pod| !pod.is_over());
        let named = before.scales.keys().chain(pods.filter_map(Pod::workload));
        let lasts = |id: &&WorkloadId| LASTING.contains(&id.kind.as_str());
        let known: BTreeSet<&WorkloadId> = named.filter(lasts).collect();
        let fix = "look in git whether that is meant; the rest waits until it is known";
        for id in known.into_iter().filter(|id| before.has(id) && !self.now.has(id)) {
            let (kind, message) = match self.now.scales.contains_key(id) {
                true => ("workload-at-zero", format!("{id} is scaled to 0, and was not before")),
                false => ("workload-gone", format!("{id} was there before, and is not now")),
            };
            wrong.push(Wrong::new(kind, message, fix.to_owned()));
        }
        self.look_at_pods_of_nobody(before, wrong);
    }

    /// Pods that nothing makes anew: whoever deleted one has to make it again.
    fn look_at_pods_of_nobody(&self, before: &State, wrong: &mut Vec<Wrong>) {
        let there: BTreeSet<String> = self.now.pods.iter().map(Pod::shown).collect();
        let is_bare = |pod: &&Pod| pod.owner == Owner::Nobody && !pod.is_over();
        for pod in before.pods.iter().filter(is_bare) {
            let shown = pod.shown();
            if !there.contains(&shown) {
                let message = format!("{shown} was there before, and nothing makes it anew");
                let fix = "make it again from its manifest, under the same name".to_owned();
                wrong.push(Wrong::new("pod-gone", message, fix));
            }
        }
    }

    fn wait_for(&self, id: &WorkloadId, ready: i64) -> Option<NextStep> {
        let ready = usize::try_from(ready).ok()?;
        let command = command::wait_workload(id, ready, self.wait_timeout)?;
        Some((format!("wait until {ready} of {id} are ready"), command))
    }

    /// Pods in trouble, and beside them those whose workload was in the same trouble before.
    pub(super) fn look_at_pods(&self, wrong: &mut Vec<Wrong>, as_before: &mut Vec<String>) {
        let trouble = |pod: &Pod| match pod.status.as_str() {
            "Completed" => None,
            "Running" if pod.is_ready => None,
            "Running" => Some("not ready".to_owned()),
            status => Some(status.to_owned()),
        };
        let key = |pod: &Pod| match pod.workload() {
            Some(id) => id.to_string(),
            None => pod.shown(),
        };
        let earlier: BTreeSet<String> = self
            .before
            .iter()
            .flat_map(|before| &before.pods)
            .filter(|pod| trouble(pod).is_some())
            .map(key)
            .collect();
        for pod in &self.now.pods {
            let Some(what) = trouble(pod) else { continue };
            let message = format!("{} is {what}", pod.shown());
            if earlier.contains(&key(pod)) {
                as_before.push(message);
                continue;
            }
            let fix = format!(
                "kubectl describe pod -n {} {}",
                shell::word(&pod.namespace),
                shell::word(&pod.name)
            );
            let is_waited = pod.workload().is_some_and(|id| self.now.scales.contains_key(id));
            let command = self.wait_for_pod(pod).filter(|_| !is_waited);
            wrong.push(Wrong { command, ..Wrong::new("pod-not-running", message, fix) });
        }
        self.look_at_pairs(wrong, as_before);
    }

    fn wait_for_pod(&self, pod: &Pod) -> Option<NextStep> {
        let command = format!(
            "kubectl wait -n {} --for=condition=Ready pod/{} --timeout={}",
            shell::word(&pod.namespace),
            shell::word(&pod.name),
            self.wait_timeout
        );
        Some((format!("wait until {} is ready", pod.shown()), command))
    }

    /// Every volume is attached where its pods are, and nowhere else.
    pub(super) fn look_at_volumes(&self, wrong: &mut Vec<Wrong>) {
        let mut told: BTreeSet<(usize, String)> = BTreeSet::new();
        for pod in self.now.pods.iter().filter(|pod| !pod.is_over()) {
            let Some(node) = pod.node.map(|node| &self.now.nodes[node].face.name) else { continue };
            for at in &pod.claims {
                let claim = &self.now.claims[*at];
                let Some(volume) = claim.volume.as_ref().filter(|_| claim.is_for_one_node) else {
                    continue;
                };
                let attached = self.now.attachments.iter().filter(|a| a.volume == *volume);
                for other in attached.filter(|attachment| attachment.node != *node) {
                    if told.insert((*at, other.node.clone())) {
                        let message = format!(
                            "{volume} (claim {} in {}) is attached to {}, and {} is on {node}",
                            claim.name,
                            claim.namespace,
                            other.node,
                            pod.shown()
                        );
                        let fix = "pods that share it have to be on one node: cordon the other, delete the pod that is apart".to_owned();
                        wrong.push(Wrong::new("attached-elsewhere", message, fix));
                    }
                }
            }
        }
        for attachment in &self.now.attachments {
            if let Some(error) = &attachment.error {
                let message = format!("{} on {}: {error}", attachment.volume, attachment.node);
                let fix = "is the controller of the volumes up? nothing is attached without it"
                    .to_owned();
                wrong.push(Wrong::new("attach-error", message, fix));
            }
        }
    }

    /// Pods that a rule brings together, and those of workloads whose number is not known: one of them has to be ready.
    fn look_at_pairs(&self, wrong: &mut Vec<Wrong>, as_before: &mut Vec<String>) {
        let is_unknown =
            |pair: &Pair| pair.workload.as_ref().is_none_or(|id| !self.now.scales.contains_key(id));
        let is_up = |state: &State, pods: &[usize]| {
            pods.iter().any(|pod| state.pods[*pod].is_ready && !state.pods[*pod].is_terminating)
        };
        let before = self.before.map(|before| (before, pairs(before, self.rules)));
        let earlier =
            before.iter().flat_map(|(state, pairs)| pairs.iter().map(|pair| (*state, pair)));
        let earlier: Vec<(&State, &Pair)> = earlier.collect();
        let mut now = pairs(self.now, self.rules);
        // Of a pair that was there before, none may be left.
        for (_, pair) in earlier.iter().filter(|(_, pair)| is_unknown(pair)) {
            let is_it = |other: &Pair| other.name == pair.name;
            if !now.iter().any(is_it) {
                let pods = match &pair.selector {
                    Some(_) => self.rules.pods_of(&pair.name, self.now),
                    None => {
                        pair.workload.as_ref().map(|id| self.now.pods_of(id)).unwrap_or_default()
                    }
                };
                now.push(Pair { pods, ..(*pair).clone() });
            }
        }
        for pair in now.iter().filter(|pair| is_unknown(pair) && !is_up(self.now, &pair.pods)) {
            let was = earlier.iter().find(|(_, known)| known.name == pair.name);
            let message = match pair.pods.len() {
                // That their workloads are scaled to 0 is told.
                0 if was.is_some_and(|(state, known)| self.is_at_zero(state, known)) => continue,
                0 => format!("{}: none of its pods is there", pair.name),
                count => format!("{}: none of {count} is ready", pair.name),
            };
            if was.is_some_and(|(state, known)| !is_up(state, &known.pods)) {
                as_before.push(message);
                continue;
            }
            let fix = "wait until one is ready before anything else moves".to_owned();
            let wait = pair.selector.as_ref().map(|(namespace, selector)| {
                let count = pair.pods.len().max(1);
                let command = command::wait_pods(namespace, selector, count, self.wait_timeout);
                (format!("wait until {} are ready", pair.name), command)
            });
            wrong.push(Wrong { command: wait, ..Wrong::new("pair-down", message, fix) });
        }
    }

    /// Whether all workloads of a pair are scaled to 0 now.
    fn is_at_zero(&self, before: &State, pair: &Pair) -> bool {
        let wanted = |pod: &usize| Some(self.now.scales.get(before.pods[*pod].workload()?)?.wanted);
        pair.pods.iter().all(|pod| wanted(pod) == Some(0))
    }

    pub(super) fn look_at_databases(&self, wrong: &mut Vec<Wrong>, as_before: &mut Vec<String>) {
        for database in &self.now.databases {
            let id = WorkloadId {
                namespace: database.namespace.clone(),
                kind: "Cluster".to_owned(),
                name: database.name.clone(),
            };
            let Some(Shortage { ready, wanted }) = self.now.shortage(&id) else { continue };
            let message = format!("{id}: {ready} of {wanted} instances are ready");
            if self.before.is_some_and(|before| before.shortage(&id).is_some()) {
                as_before.push(message);
                continue;
            }
            let fix = "wait; a stop in order may take its whole grace".to_owned();
            let command = self.wait_for(&id, wanted);
            wrong.push(Wrong { command, ..Wrong::new("database-not-ready", message, fix) });
        }
    }

    /// What a rule puts later has moved, and what it puts before has not.
    pub(super) fn look_at_order(&self, wrong: &mut Vec<Wrong>) {
        let is_old = |pod: &Pod| {
            pod.node.is_some_and(|node| self.old.contains(&self.now.nodes[node].face.name))
        };
        let Some(before) = self.before else { return };
        for rule in &self.rules.order {
            let of = |state: &State, named: &super::rules::Named| -> Vec<usize> {
                let is_it = |id: &WorkloadId| named.is(id);
                let fits = |at: &usize| state.pods[*at].workload().is_some_and(is_it);
                (0..state.pods.len()).filter(fits).collect()
            };
            let stood = |named| {
                of(before, named).iter().any(|pod| {
                    let node = before.pods[*pod].node;
                    node.is_some_and(|node| self.old.contains(&before.nodes[node].face.name))
                })
            };
            let stands = |named| of(self.now, named).iter().any(|pod| is_old(&self.now.pods[*pod]));
            if stands(&rule.before) && stood(&rule.after) && !stands(&rule.after) {
                let message = format!(
                    "{} has moved, and {} has not: {}",
                    rule.after,
                    rule.before,
                    rule.shown()
                );
                let fix = format!("move {}, then restart {}", rule.before, rule.after);
                wrong.push(Wrong::new("out-of-order", message, fix));
            }
        }
    }
}
