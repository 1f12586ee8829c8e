//! How far a drain has come: what a cluster shows now, against what the plan says comes next.

use std::collections::BTreeSet;

use super::means::is_single_database;
use super::order::pairs;
use super::plan::{Plan, StepKind};
use super::pod::{Pod, WorkloadId};
use super::rules::Rules;
use super::state::State;
use crate::shell;

/// How far it is as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No old node is cordoned.
    NotBegun,
    /// Old nodes are being emptied.
    Draining,
    /// Only databases of one instance are left.
    Databases,
    /// Nothing but daemons is left on the old nodes.
    Done,
}

impl Phase {
    /// Its word in results.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NotBegun => "not-begun",
            Self::Draining => "draining",
            Self::Databases => "databases",
            Self::Done => "done",
        }
    }
}

/// An old node now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldNode {
    /// Its name.
    pub name: String,
    /// Whether it is no part of the cluster any more.
    pub is_gone: bool,
    /// Whether it takes no more pods.
    pub is_cordoned: bool,
    /// The pods that a drain would still move, `namespace/name`.
    pub left: Vec<String>,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Which kind.
    pub id: &'static str,
    /// What is the matter.
    pub message: String,
    /// What to do about it.
    pub fix: String,
}

/// What is asked about.
pub struct Course<'a> {
    /// The cluster now.
    pub now: &'a State,
    /// The cluster before anything moved, where it was kept.
    pub before: Option<&'a State>,
    /// The names of the old nodes.
    pub old: &'a [String],
    /// The plan, which says in which order they are emptied.
    pub plan: &'a Plan,
    /// The rules.
    pub rules: &'a Rules,
    /// How many new nodes there are to be.
    pub new_nodes: Option<u64>,
}

/// How far it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The whole.
    pub phase: Phase,
    /// What comes next, and the command for it.
    pub next: Option<(String, String)>,
    /// The old nodes, in the order of the plan.
    pub old: Vec<OldNode>,
    /// The other nodes, and whether they are ready.
    pub new: Vec<(String, bool)>,
    /// What is not as it should be.
    pub wrong: Vec<Wrong>,
    /// What was not as it should be before anything moved, and still is not.
    pub as_before: Vec<String>,
}

impl Course<'_> {
    /// How far it has come.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let old: Vec<OldNode> = self.in_order().iter().map(|name| self.old_node(name)).collect();
        let is_new = |name: &str| !self.old.iter().any(|old| old == name);
        let new = self.now.nodes.iter().filter(|node| is_new(&node.face.name));
        let new: Vec<(String, bool)> =
            new.map(|node| (node.face.name.clone(), node.is_ready)).collect();
        let phase = self.phase(&old);
        let next = self.next(phase, &old);
        let mut wrong = Vec::new();
        self.look_at_nodes(&old, &new, phase, &mut wrong);
        let as_before = self.look_at_pods(&mut wrong);
        self.look_at_volumes(&mut wrong);
        self.look_at_pairs(&mut wrong);
        self.look_at_databases(&mut wrong);
        self.look_at_order(&mut wrong);
        Progress { phase, next, old, new, wrong, as_before }
    }

    /// The old nodes in the order in which the plan drains them.
    fn in_order(&self) -> Vec<String> {
        let drains = self.plan.steps.iter().filter(|step| step.kind == StepKind::Drain);
        let mut names: Vec<String> = Vec::new();
        for name in drains.filter_map(|step| step.node.as_ref()).chain(self.old) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    fn old_node(&self, name: &str) -> OldNode {
        let found = self.now.find_node(name);
        let is_left = |pod: &&Pod| pod.node == found && !pod.stays() && !pod.is_over();
        let left = self.now.pods.iter().filter(|_| found.is_some()).filter(is_left);
        OldNode {
            name: name.to_owned(),
            is_gone: found.is_none(),
            is_cordoned: found.is_some_and(|node| self.now.nodes[node].is_cordoned),
            left: left.map(Pod::shown).collect(),
        }
    }

    fn is_database(&self, shown: &str) -> bool {
        let pod = self.now.pods.iter().find(|pod| pod.shown() == shown);
        pod.is_some_and(|pod| is_single_database(self.now, pod))
    }

    fn phase(&self, old: &[OldNode]) -> Phase {
        let mut left = old.iter().flat_map(|node| &node.left).peekable();
        if left.peek().is_none() {
            return Phase::Done;
        }
        let has_begun = old.iter().any(|node| node.is_cordoned || node.is_gone);
        match has_begun {
            false => Phase::NotBegun,
            true if left.all(|pod| self.is_database(pod)) => Phase::Databases,
            true => Phase::Draining,
        }
    }

    /// What comes next in words, and its first command, by the plan.
    fn next(&self, phase: Phase, old: &[OldNode]) -> Option<(String, String)> {
        let of = |kind: StepKind, fits: &dyn Fn(&super::plan::Step) -> bool| {
            let step = self.plan.steps.iter().find(|step| step.kind == kind && fits(step))?;
            step.commands.first().cloned()
        };
        match phase {
            Phase::Done => None,
            Phase::NotBegun => {
                let command = of(StepKind::Cordon, &|_| true)?;
                Some(("cordon the old nodes".to_owned(), command))
            }
            Phase::Databases => {
                let pod = old.iter().flat_map(|node| &node.left).next()?;
                let holds = |step: &super::plan::Step| step.pods.contains(pod);
                let command =
                    of(StepKind::Database, &holds).or_else(|| of(StepKind::Drain, &holds));
                Some((format!("move the database {pod}"), command?))
            }
            Phase::Draining => {
                let has_more = |node: &&OldNode| node.left.iter().any(|pod| !self.is_database(pod));
                let node = old.iter().find(has_more)?;
                let is_it = |step: &super::plan::Step| step.node.as_ref() == Some(&node.name);
                let command = of(StepKind::Drain, &is_it)?;
                Some((format!("drain {}", node.name), command))
            }
        }
    }

    fn look_at_nodes(
        &self,
        old: &[OldNode],
        new: &[(String, bool)],
        phase: Phase,
        wrong: &mut Vec<Wrong>,
    ) {
        if phase != Phase::NotBegun {
            for node in old.iter().filter(|node| !node.is_cordoned && !node.is_gone) {
                let name = &node.name;
                let message = format!("{name} is not cordoned: what is evicted may come to it");
                wrong.push(Wrong {
                    id: "not-cordoned",
                    message,
                    fix: format!("kubectl cordon {name}"),
                });
            }
        }
        for (name, _) in new.iter().filter(|(_, is_ready)| !is_ready) {
            let fix = format!("kubectl describe node {name}");
            wrong.push(Wrong {
                id: "node-not-ready",
                message: format!("{name} is not ready"),
                fix,
            });
        }
        for request in &self.now.pending_requests {
            let message = format!("the certificate request {request} waits for an answer");
            let fix = "kubectl get csr, and approve it when it is one of the new nodes".to_owned();
            wrong.push(Wrong { id: "request-pending", message, fix });
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
            wrong.push(Wrong { id: "nodes-missing", message, fix });
        }
    }

    /// Pods in trouble; returned are those whose workload was in the same trouble before.
    fn look_at_pods(&self, wrong: &mut Vec<Wrong>) -> Vec<String> {
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
        let mut as_before = Vec::new();
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
            wrong.push(Wrong { id: "pod-not-running", message, fix });
        }
        as_before
    }

    /// Every volume is attached where its pods are, and nowhere else.
    fn look_at_volumes(&self, wrong: &mut Vec<Wrong>) {
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
                        wrong.push(Wrong { id: "attached-elsewhere", message, fix });
                    }
                }
            }
        }
        for attachment in &self.now.attachments {
            if let Some(error) = &attachment.error {
                let message = format!("{} on {}: {error}", attachment.volume, attachment.node);
                let fix = "is the controller of the volumes up? nothing is attached without it"
                    .to_owned();
                wrong.push(Wrong { id: "attach-error", message, fix });
            }
        }
    }

    fn look_at_pairs(&self, wrong: &mut Vec<Wrong>) {
        for pair in pairs(self.now, self.rules) {
            let is_ready = |pod: &usize| self.now.pods[*pod].is_ready;
            if !pair.pods.iter().any(is_ready) {
                let message = format!("{}: none of {} is ready", pair.name, pair.pods.len());
                let fix = "wait until one is ready before anything else moves".to_owned();
                wrong.push(Wrong { id: "pair-down", message, fix });
            }
        }
    }

    fn look_at_databases(&self, wrong: &mut Vec<Wrong>) {
        for database in &self.now.databases {
            let (wanted, ready) =
                (database.instances, database.ready.unwrap_or(database.instances));
            if ready < wanted {
                let message = format!(
                    "Cluster/{} in {}: {ready} of {wanted} instances are ready",
                    database.name, database.namespace
                );
                let fix = "wait; a stop in order may take its whole grace".to_owned();
                wrong.push(Wrong { id: "database-not-ready", message, fix });
            }
        }
    }

    /// What a rule puts later has moved, and what it puts before has not.
    fn look_at_order(&self, wrong: &mut Vec<Wrong>) {
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
                wrong.push(Wrong { id: "out-of-order", message, fix });
            }
        }
    }
}
