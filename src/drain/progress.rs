//! How far a drain has come: what a cluster shows now, against what the plan says comes next.

use super::means::is_single_database;
use super::pending::Walk;
use super::plan::{Plan, Step, StepKind};
use super::pod::Pod;
use super::rules::Rules;
use super::state::State;

/// How far it is as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No old node is cordoned.
    NotBegun,
    /// Old nodes are being emptied.
    Draining,
    /// Only databases of one instance are left.
    Databases,
    /// All has moved; what was changed for the while is to be taken back.
    TakingBack,
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
            Self::TakingBack => "taking-back",
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
    /// What mends it or waits until it is mended, in words and as a command, where one command does.
    pub command: Option<NextStep>,
}

/// What comes next, in words, and the command for it.
pub type NextStep = (String, String);

/// A node that is none of those to be emptied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNode {
    /// Its name.
    pub name: String,
    /// Whether its kubelet says that it is ready.
    pub is_ready: bool,
    /// Whether it takes no pods.
    pub is_cordoned: bool,
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
    /// How long one wait may take, as kubectl reads it.
    pub wait_timeout: &'a str,
}

/// How far it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The whole.
    pub phase: Phase,
    /// What comes next: while anything is not as it should be, what mends it.
    pub next: Option<NextStep>,
    /// The old nodes, in the order of the plan.
    pub old: Vec<OldNode>,
    /// The other nodes.
    pub new: Vec<NewNode>,
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
        let new = new.map(|node| NewNode {
            name: node.face.name.clone(),
            is_ready: node.is_ready,
            is_cordoned: node.is_cordoned,
        });
        let new: Vec<NewNode> = new.collect();
        let walk = Walk::new(self);
        let pending = walk.first_pending();
        let phase = self.phase(&old, pending);
        let (mut wrong, mut as_before) = (Vec::new(), Vec::new());
        self.look_at_nodes(&old, &new, phase, &mut wrong);
        self.look_at_open_nodes(&new, phase, &walk.closed_for_a_while(pending), &mut wrong);
        self.look_at_workloads(&mut wrong, &mut as_before);
        self.look_at_pods(&mut wrong, &mut as_before);
        self.look_at_volumes(&mut wrong);
        self.look_at_databases(&mut wrong, &mut as_before);
        self.look_at_order(&mut wrong);
        let next = match wrong.is_empty() {
            true => self.next(&old, pending).filter(|_| phase != Phase::Done),
            false => wrong.iter().find_map(|wrong| wrong.command.clone()),
        };
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

    fn phase(&self, old: &[OldNode], pending: Option<usize>) -> Phase {
        let mut left = old.iter().flat_map(|node| &node.left).peekable();
        if left.peek().is_none() {
            let kind = pending.map(|at| self.plan.steps[at].kind);
            let is_back = |kind| matches!(kind, StepKind::Lower | StepKind::Uncordon);
            return if kind.is_some_and(is_back) { Phase::TakingBack } else { Phase::Done };
        }
        let has_begun = old.iter().any(|node| node.is_cordoned || node.is_gone);
        match has_begun {
            false => Phase::NotBegun,
            true if left.all(|pod| self.is_database(pod)) => Phase::Databases,
            true => Phase::Draining,
        }
    }

    /// What comes next by the plan; a node that holds pods which no step names is drained as a whole.
    fn next(&self, old: &[OldNode], pending: Option<usize>) -> Option<NextStep> {
        if let Some(step) = pending.map(|at| &self.plan.steps[at]) {
            return Some((self.in_words(step), step.commands.first()?.clone()));
        }
        let node = old.iter().find(|node| !node.left.is_empty())?;
        let is_its = |step: &&Step| {
            step.kind == StepKind::Drain && step.node.as_deref() == Some(node.name.as_str())
        };
        let drain = self.plan.steps.iter().rfind(is_its)?;
        Some((format!("drain {}", node.name), drain.commands.first()?.clone()))
    }

    fn in_words(&self, step: &Step) -> String {
        let node = step.node.as_deref().unwrap_or_default();
        let replicas = || {
            let replicas = step.replicas.as_ref();
            replicas.map(|to| format!("{} to {}", to.workload, to.count)).unwrap_or_default()
        };
        match step.kind {
            StepKind::Cordon if step.nodes.iter().all(|node| self.old.contains(node)) => {
                "cordon the old nodes".to_owned()
            }
            StepKind::Cordon => "cordon the nodes that the next pods may not go to".to_owned(),
            StepKind::Uncordon => format!("uncordon {}", step.nodes.join(", ")),
            StepKind::Raise => format!("raise {}, and merge that", replicas()),
            StepKind::Lower => format!("take {} back, and merge that", replicas()),
            StepKind::Delete => format!("delete {}", step.pods.join(", ")),
            _ => match step.pods.first().filter(|pod| self.is_database(pod)) {
                Some(pod) if step.pods.len() == 1 => format!("move the database {pod}"),
                _ => format!("drain {node}"),
            },
        }
    }
}
