//! One wave or two: whether new nodes can be there before old ones are given back.

use super::means::Means;
use super::order::load;
use super::plan::{Obstacle, PlanError, Planner, StepKind, TO_COME};
use super::pod::{Owner, WorkloadId};
use super::state::ClusterNode;
use crate::capacity::amounts::Amounts;
use crate::capacity::eligible::{Face, terms_shown};
use crate::capacity::quota::Quota;
use crate::shell;

/// What a provider grants, and what a new node takes of it.
#[derive(Clone)]
struct Grant {
    quota: Quota,
    taken_by_new: u64,
}

impl Grant {
    fn new(quota: &Quota, size: Option<Amounts>) -> Self {
        Self { quota: quota.clone(), taken_by_new: quota.taken_by(size) }
    }

    /// How many new nodes it lets come as it is.
    fn more(&self) -> u64 {
        self.quota.more_of(self.taken_by_new)
    }

    /// Whether it lets so many new nodes come, once old ones of these sizes are given back.
    fn lets_come(&self, count: u64, given_back: &[Amounts]) -> bool {
        let back = given_back.iter().map(|size| i128::from(self.quota.taken_by(Some(*size))));
        let left = i128::from(self.quota.left()) + back.sum::<i128>();
        left >= i128::from(count) * i128::from(self.taken_by_new)
    }
}

impl Planner<'_> {
    /// All steps: new nodes, then one sweep or two.
    ///
    /// # Errors
    /// [`PlanError::Cycle`].
    pub(super) fn run(&mut self) -> Result<(), PlanError> {
        let there = self.targets().len() as u64;
        let missing = self.options.new_nodes.unwrap_or(there).saturating_sub(there);
        let size = self.options.bought.or_else(|| {
            let first = self.targets().first().copied();
            first.map(|node| self.board.state.nodes[node].seen)
        });
        let grants: Vec<Grant> =
            self.options.quotas.iter().map(|quota| Grant::new(quota, size)).collect();
        let least = grants.iter().min_by_key(|grant| grant.more()).cloned();
        let old = self.old.clone();
        self.plan.waves = 1;
        match least {
            Some(least) if least.more() < missing => {
                self.plan.waves = 2;
                self.two_waves(&grants, &least, missing)?;
            }
            _ => {
                if missing > 0 {
                    self.new_nodes(missing);
                }
                self.sweep(&old)?;
            }
        }
        self.lower();
        self.finish();
        Ok(())
    }

    fn two_waves(
        &mut self,
        grants: &[Grant],
        least: &Grant,
        missing: u64,
    ) -> Result<(), PlanError> {
        let (quota, more) = (&least.quota.name, least.more());
        let (first, rest) = self.first_wave(grants, missing);
        let cap = match rest.len() {
            0 => "Turn off the autoscaler of the old pool".to_owned(),
            left => format!("Cap the old pool at {left} nodes, least and most,"),
        };
        let text = format!(
            "The quota {quota} lets {more} of {missing} new nodes come. {cap} before anything is deleted: else it takes what is freed for the old kind."
        );
        self.step(StepKind::Provider, text, Vec::new());
        if more > 0 {
            self.new_nodes(more);
        }
        self.may_wait = true;
        self.sweep(&first)?;
        self.may_wait = false;
        self.tell_pending();
        self.give_back(&first);
        self.new_nodes(missing - more);
        self.land_what_waited();
        if !rest.is_empty() {
            let text = "The second wave is reckoned from where pods are thought to be by now: make the plan anew from the cluster as it is (the same command), and go on by that.";
            self.step(StepKind::Check, text, Vec::new());
            self.sweep(&rest)?;
        }
        Ok(())
    }

    /// Lets what had no place on old nodes land on new ones, and waits for it.
    fn land_what_waited(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        let mut ids: Vec<WorkloadId> = Vec::new();
        for pod in &pending {
            ids.extend(self.board.state.pods[*pod].workload().cloned());
        }
        for group in self.groups_on_one_volume(&pending) {
            if self.land_together(&group).is_some() {
                pending.retain(|pod| !group.contains(pod));
            }
        }
        self.land(pending, false);
        ids.sort();
        ids.dedup();
        for id in ids {
            let ready = self.full_count(&id);
            self.wait_for_workload(&id, ready, "ready, now that there is room");
        }
    }

    /// The nodes of the first wave and the others: those that carry nothing protected, the least loaded first, and so many of them
    /// that what they give back lets all `missing` nodes come.
    fn first_wave(&mut self, grants: &[Grant], missing: u64) -> (Vec<usize>, Vec<usize>) {
        let mut nodes = self.old.clone();
        nodes.sort_by_key(|node| (self.carries_protected(*node), load(&self.board.state, *node)));
        let free = nodes.iter().filter(|node| !self.carries_protected(**node)).count();
        let sizes: Vec<Amounts> =
            nodes.iter().map(|node| self.board.state.nodes[*node].seen).collect();
        let lacking =
            |count: usize| grants.iter().find(|grant| !grant.lets_come(missing, &sizes[..count]));
        let needed = (0..=nodes.len()).find(|count| lacking(*count).is_none());
        let told = match (needed, lacking(nodes.len())) {
            (Some(needed), _) if free < needed => Some(format!(
                "{needed} nodes have to be given back before the new ones can come, and only {free} carry nothing that is protected"
            )),
            (None, Some(Grant { quota, .. })) => Some(format!(
                "the quota {} does not let {missing} new nodes come though all {} old ones are given back",
                quota.name,
                nodes.len()
            )),
            _ => None,
        };
        if let Some(message) = told {
            let fix = "raise the quota: then one wave will do".to_owned();
            self.plan.obstacles.push(Obstacle { id: "quota", message, pods: Vec::new(), fix });
        }
        let rest = nodes.split_off(needed.unwrap_or(nodes.len()));
        (nodes, rest)
    }

    /// Whether a node carries what must never be without a place: named as protected or in a rule of order, a database
    /// of one instance, or the one replica of a StatefulSet.
    fn carries_protected(&self, node: usize) -> bool {
        (0..self.board.state.pods.len()).any(|at| {
            let pod = &self.board.state.pods[at];
            pod.node == Some(node) && pod.moves() && self.is_protected(at)
        })
    }

    fn is_protected(&self, at: usize) -> bool {
        let state = &self.board.state;
        let Some(id) = state.pods[at].workload() else { return false };
        let in_order = self.rules.order.iter().any(|rule| rule.before.is(id) || rule.after.is(id));
        self.means[at] == Means::Database
            || in_order
            || self.rules.protected.iter().any(|named| named.is(id))
            || id.kind == "StatefulSet" && state.pods_of(id).len() == 1
    }

    fn tell_pending(&mut self) {
        for pod in self.pending.clone() {
            let shown = self.board.state.pods[pod].shown();
            match self.is_protected(pod) {
                true => self.tell_no_place(pod, true),
                false => self.plan.notes.push(format!(
                    "{shown} is larger than what the remaining old nodes have free: it is Pending until the new nodes are there"
                )),
            }
        }
    }

    fn give_back(&mut self, nodes: &[usize]) {
        let known = |node: &usize| {
            let node = &self.board.state.nodes[*node];
            let id = node.provider_id.clone().unwrap_or_else(|| "no provider id".to_owned());
            format!("{} ({id})", node.face.name)
        };
        let shown: Vec<String> = nodes.iter().map(known).collect();
        let text = format!(
            "Delete these instances at the provider, by their identity: {}. A drain gives nothing back, only that does.",
            shown.join(", ")
        );
        let names: Vec<String> = nodes.iter().map(|node| self.name(*node).to_owned()).collect();
        let commands =
            names.iter().map(|name| format!("kubectl delete node {}", shell::word(name)));
        let commands = commands.collect();
        self.step(StepKind::Provider, text, commands);
        self.given_back.extend(nodes);
    }

    /// New nodes join.
    fn new_nodes(&mut self, count: u64) {
        let zones = self.zones_of_volumes();
        let s = if count == 1 { "" } else { "s" };
        let place = match zones.as_slice() {
            [] => String::new(),
            zones => format!(", where the volumes are: {}", zones.join(", ")),
        };
        let text = format!(
            "{count} new node{s} from the provider{place}. They are there when kubectl says so, and not before: no request for a certificate means that no kubelet has reached the API server."
        );
        let commands = ["kubectl get csr", "kubectl get nodes -L node.kubernetes.io/instance-type"];
        let commands = commands.map(str::to_owned).to_vec();
        self.step(StepKind::Provider, text, commands);
        let Some(pattern) = self.pattern() else {
            self.tell_no_pattern();
            return;
        };
        for _ in 0..count {
            self.to_come += 1;
            let name = format!("new-{}", self.to_come);
            let face = Face { name, ..pattern.face.clone() };
            self.board.add_node(ClusterNode { face, ..pattern.clone() });
        }
    }

    /// What a node that is to come looks like: one of those that are there, else as it is told, in the zone of the old.
    fn pattern(&self) -> Option<ClusterNode> {
        let state = &self.board.state;
        let (there, old) = (self.targets(), self.old.first()?);
        let like = &state.nodes[*there.first().unwrap_or(old)];
        let daemons: Amounts = state
            .pods
            .iter()
            .filter(|pod| pod.owner == Owner::Daemon && pod.node == Some(*old))
            .map(|pod| pod.request)
            .sum();
        let (allocatable, pods) = match (self.options.new_node, there.first()) {
            (Some(told), _) => told,
            (None, Some(node)) => (state.nodes[*node].allocatable, state.nodes[*node].pods),
            (None, None) => return None,
        };
        let mut face = like.face.clone();
        face.labels.remove("kubernetes.io/hostname");
        face.taints.clear();
        Some(ClusterNode {
            face,
            seen: allocatable,
            allocatable: allocatable - daemons,
            pods,
            extras: like.extras.clone(),
            is_cordoned: false,
            is_ready: true,
            provider_id: Some(TO_COME.to_owned()),
        })
    }

    /// The zones that volumes of moved pods are bound to.
    fn zones_of_volumes(&self) -> Vec<String> {
        let state = &self.board.state;
        let moved = (0..self.means.len()).filter(|at| self.means[*at] != Means::None);
        let claims = moved.flat_map(|at| &state.pods[at].claims);
        let terms = claims.filter_map(|claim| state.claims[*claim].terms.as_ref());
        let mut zones: Vec<String> = terms.map(|terms| terms_shown(terms)).collect();
        zones.sort();
        zones.dedup();
        zones
    }

    fn finish(&mut self) {
        let is_left = |node: &&usize| !self.given_back.contains(*node);
        let left: Vec<usize> = self.old.iter().filter(is_left).copied().collect();
        let commands = left.iter().map(|node| {
            let selector = format!("spec.nodeName={}", self.name(*node));
            format!("kubectl get pods -A --field-selector {} --no-headers", shell::word(&selector))
        });
        let mut commands: Vec<String> = commands.collect();
        commands.push("kubectl get pvc -A".to_owned());
        if left.is_empty() {
            self.step(StepKind::Check, "Every claim is Bound.", commands);
            return;
        }
        let text = "Only DaemonSets are left on the old nodes, every claim is Bound. The old nodes are the way back until the platform is proven: `kubectl uncordon` them.";
        self.step(StepKind::Check, text, commands);
        let text = "Delete the old nodes at the provider, when nobody wants to go back any more.";
        self.step(StepKind::Provider, text, Vec::new());
    }
}
