//! The plan: what it is asked from, what it consists of, and how it is put together.

use std::collections::BTreeSet;

use super::board::Board;
use super::described::{Guard, PlannedNode};
use super::dump::dump_command;
use super::means::{Means, Raise, means_of};
use super::order::{Cycle, Pair, pairs};
use super::places::SEARCH_STEPS;
use super::pod::WorkloadId;
use super::rules::{Named, Rules};
use super::state::State;
use crate::capacity::amounts::Amounts;
use crate::capacity::quota::Quota;

/// How a database of one instance is moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Databases {
    /// Its pod is deleted by hand, after all else.
    #[default]
    ByHand,
    /// A second instance is added in git before, and taken away after.
    ByReplica,
}

/// What the user asks.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the provider grants.
    pub quotas: Vec<Quota>,
    /// What a new node takes of quotas for processors and memory, where it is told.
    pub bought: Option<Amounts>,
    /// How many new nodes there are to be in the end.
    pub new_nodes: Option<u64>,
    /// What a new node has for pods, for those that have not joined.
    pub new_node: Option<(Amounts, u64)>,
    /// The overlay that commands of ours name.
    pub overlay: String,
    /// How many seconds one drain may take, unless its pods may take longer to end.
    pub drain_timeout: u64,
    /// How long one wait may take, as kubectl reads it.
    pub wait_timeout: String,
    /// How databases of one instance are moved.
    pub databases: Databases,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// No node is named.
    #[error("no node is named that is to be emptied")]
    NothingAsked,
    /// A name that no node has.
    #[error("there is no node `{0}`")]
    NoSuchNode(String),
    /// A selector that no node fits.
    #[error("no node has the labels `{0}`")]
    NothingSelected(String),
    /// A selector that is none.
    #[error("{0}")]
    BadSelector(String),
    /// A rule speaks of something that there is not.
    #[error("the rule `{rule}` speaks of {name}, which the cluster does not have")]
    UnknownInRule {
        /// The rule.
        rule: String,
        /// The name in it.
        name: String,
        /// Names that may have been meant.
        known: Vec<String>,
    },
    /// Rules that contradict each other.
    #[error(transparent)]
    Cycle(#[from] Cycle),
}

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// A person does something at the provider.
    Provider,
    /// Nodes take no more pods.
    Cordon,
    /// Nodes take pods again.
    Uncordon,
    /// A change in git before pods move.
    Raise,
    /// The same change taken back.
    Lower,
    /// A drain of a node, or of some of its pods.
    Drain,
    /// Pods are deleted, past their budgets.
    Delete,
    /// A database of one instance is stopped; it comes back elsewhere.
    Database,
    /// A wait for what has moved.
    Wait,
    /// A look at what should be so.
    Check,
}

impl StepKind {
    /// Its word in results.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Cordon => "cordon",
            Self::Uncordon => "uncordon",
            Self::Raise => "raise",
            Self::Lower => "lower",
            Self::Drain => "drain",
            Self::Delete => "delete",
            Self::Database => "database",
            Self::Wait => "wait",
            Self::Check => "check",
        }
    }
}

/// One step, for a person to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it is.
    pub kind: StepKind,
    /// The node that it is about.
    pub node: Option<String>,
    /// The nodes that it closes or opens.
    pub nodes: Vec<String>,
    /// What it raises, lowers or waits for, and how many there are then.
    pub replicas: Option<Replicas>,
    /// The pods that it moves, `namespace/name`.
    pub pods: Vec<String>,
    /// The commands, in order.
    pub commands: Vec<String>,
    /// What happens and why, in a sentence or two.
    pub text: String,
}

/// A number of pods of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replicas {
    /// The workload.
    pub workload: WorkloadId,
    /// How many: of replicas that an autoscaler decides, the least.
    pub count: i64,
}

/// Something that the plan cannot solve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Which kind.
    pub id: &'static str,
    /// What is the matter.
    pub message: String,
    /// The pods that it concerns.
    pub pods: Vec<String>,
    /// What to do about it.
    pub fix: String,
}

/// What is away for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Downtime {
    /// Whose pods.
    pub workload: String,
    /// The node that they leave.
    pub node: String,
    /// How long its pods may take to end, in seconds.
    pub stops_within: u64,
    /// How long they took to be ready the last time, in seconds.
    pub started_in: Option<u64>,
    /// Whether volumes have to follow.
    pub has_volume: bool,
}

/// The whole plan.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The nodes to empty, in the order in which they are.
    pub old: Vec<PlannedNode>,
    /// The nodes that pods go to, as they are at the end.
    pub new: Vec<PlannedNode>,
    /// The budgets of what moves, as they are before anything does.
    pub guards: Vec<Guard>,
    /// The steps.
    pub steps: Vec<Step>,
    /// What the plan cannot solve.
    pub obstacles: Vec<Obstacle>,
    /// What is good to know.
    pub notes: Vec<String>,
    /// What is away for a while.
    pub downtimes: Vec<Downtime>,
    /// How many waves there are.
    pub waves: usize,
    /// Whether the pods of any one new node find a place on the others at the end.
    pub survives_loss: bool,
}

/// The positions of the nodes that are to be emptied.
///
/// # Errors
/// [`PlanError`] where none is named, or one that there is not.
pub fn old_nodes(
    state: &State,
    names: &[String],
    selector: Option<&str>,
) -> Result<Vec<usize>, PlanError> {
    let mut old = BTreeSet::new();
    for name in names {
        old.insert(state.find_node(name).ok_or_else(|| PlanError::NoSuchNode(name.clone()))?);
    }
    if let Some(text) = selector {
        if text.trim().is_empty() {
            let message = "the label selector is empty, and would choose every node";
            return Err(PlanError::BadSelector(message.to_owned()));
        }
        let selector = crate::kustomize::build::label_selector::LabelSelector::parse(text)
            .map_err(|error| PlanError::BadSelector(error.to_string()))?;
        let fits = |at: &usize| {
            let labels = &state.nodes[*at].face.labels;
            selector.matches(|key| labels.get(key).map(String::as_str))
        };
        let before = old.len();
        old.extend((0..state.nodes.len()).filter(fits));
        if old.len() == before && names.is_empty() {
            return Err(PlanError::NothingSelected(text.to_owned()));
        }
    }
    match old.is_empty() {
        true => Err(PlanError::NothingAsked),
        false => Ok(old.into_iter().collect()),
    }
}

/// What is put together while a plan is made.
pub struct Planner<'a> {
    pub(super) board: Board,
    pub(super) rules: &'a Rules,
    pub(super) options: &'a Options,
    pub(super) old: Vec<usize>,
    pub(super) pairs: Vec<Pair>,
    pub(super) means: Vec<Means>,
    pub(super) raises: Vec<Raise>,
    pub(super) plan: Plan,
    /// Pods that have no place now.
    pub(super) pending: Vec<usize>,
    /// Pods that have moved and have a place, those together that go to one node.
    pub(super) landed: Vec<Vec<usize>>,
    /// Pods that others may leave without a place.
    pub(super) unsure: BTreeSet<usize>,
    /// How many tries are left to place those otherwise that have moved.
    pub(super) search_steps: usize,
    /// Whether pods may be without a place until more nodes come.
    pub(super) may_wait: bool,
    /// Pods that lose what they keep on their node.
    pub(super) scratch: Vec<String>,
    /// How many nodes were added that are still to come.
    pub(super) to_come: usize,
    /// What has been raised by now.
    pub(super) raised: BTreeSet<WorkloadId>,
    /// The old nodes that are deleted at the provider on the way.
    pub(super) given_back: Vec<usize>,
}

/// The plan that empties `old`.
///
/// # Errors
/// [`PlanError`] where rules contradict each other or speak of what is not there.
pub fn plan(
    state: State,
    old: &[usize],
    rules: &Rules,
    options: &Options,
) -> Result<Plan, PlanError> {
    check_names(&state, rules)?;
    let (means, raises) = means_of(&state, old, rules, options.databases);
    let mut planner = Planner {
        pairs: pairs(&state, rules),
        means,
        raises,
        board: Board::new(state),
        rules,
        options,
        old: old.to_vec(),
        plan: Plan::default(),
        pending: Vec::new(),
        landed: Vec::new(),
        unsure: BTreeSet::new(),
        search_steps: SEARCH_STEPS,
        may_wait: false,
        scratch: Vec::new(),
        to_come: 0,
        raised: BTreeSet::new(),
        given_back: Vec::new(),
    };
    planner.note_what_is_unknown();
    planner.tell_obstacles_of_nodes();
    planner.tell_obstacles_of_pods();
    planner.describe_old();
    planner.describe_guards();
    planner.run()?;
    planner.note_what_is_unsure();
    planner.describe_new();
    Ok(planner.plan)
}

/// Every name of a rule is that of something.
fn check_names(state: &State, rules: &Rules) -> Result<(), PlanError> {
    let ids: BTreeSet<&WorkloadId> = state
        .pods
        .iter()
        .filter_map(super::pod::Pod::workload)
        .chain(state.scales.keys())
        .collect();
    let is_known = |named: &Named| ids.iter().any(|id| named.is(id));
    let all = rules.order.iter().filter(|rule| !rule.is_optional);
    let named = all.flat_map(|rule| [(rule.shown(), &rule.before), (rule.shown(), &rule.after)]);
    let protected = rules.protected.iter().map(|named| (format!("protected {named}"), named));
    for (rule, named) in named.chain(protected) {
        if !is_known(named) {
            let known = ids.iter().map(|id| format!("{}/{}", id.namespace, id.name)).collect();
            return Err(PlanError::UnknownInRule { rule, name: named.to_string(), known });
        }
    }
    for pair in rules.pairs.iter().filter(|pair| !pair.is_optional) {
        if !state.pods.iter().any(|pod| pair.selects(pod)) {
            let name = format!("pods with {} in {}", pair.selector, pair.namespace);
            let rule = format!("pair {}", pair.name);
            return Err(PlanError::UnknownInRule { rule, name, known: Vec::new() });
        }
    }
    Ok(())
}

impl Planner<'_> {
    /// Adds a step.
    pub(super) fn step(
        &mut self,
        kind: StepKind,
        text: impl Into<String>,
        commands: Vec<String>,
    ) -> &mut Step {
        let step = Step {
            kind,
            node: None,
            nodes: Vec::new(),
            replicas: None,
            pods: Vec::new(),
            commands,
            text: text.into(),
        };
        self.plan.steps.push(step);
        let last = self.plan.steps.len() - 1;
        &mut self.plan.steps[last]
    }

    pub(super) fn name(&self, node: usize) -> &str {
        &self.board.state.nodes[node].face.name
    }

    pub(super) fn shown(&self, pods: &[usize]) -> Vec<String> {
        pods.iter().map(|pod| self.board.state.pods[*pod].shown()).collect()
    }

    /// The nodes that pods go to: open, and none of those to be emptied.
    pub(super) fn targets(&self) -> Vec<usize> {
        let is_target = |node: &usize| !self.old.contains(node) && self.board.is_open(*node);
        (0..self.board.state.nodes.len()).filter(is_target).collect()
    }

    fn note_what_is_unknown(&mut self) {
        let unseen = &self.board.state.unseen;
        if !unseen.is_empty() {
            self.plan.notes.push(format!(
                "what was read has no {}: if the cluster has some, read them too ({}), for the plan depends on them",
                unseen.join(", no "),
                dump_command()
            ));
        }
        let unknown = self.shown(&self.board.state.pods_by_unknown_namespaces());
        if !unknown.is_empty() {
            self.plan.notes.push(format!(
                "labels of namespaces were not read, and by them is told which pods these keep apart from or have to be near: {} (read them too: {})",
                unknown.join(", "),
                dump_command()
            ));
        }
        let pods = &self.board.state.pods;
        let waits = |pod: &&super::pod::Pod| {
            pod.node.is_none() && pod.phase == "Pending" && !pod.is_terminating
        };
        let waiting: Vec<String> = pods.iter().filter(waits).map(super::pod::Pod::shown).collect();
        if !waiting.is_empty() {
            self.plan.notes.push(format!(
                "on no node now, and reckoned with on none: {} (they take room as soon as they find some)",
                waiting.join(", ")
            ));
        }
    }
}

/// The provider's name of a node that is still to come.
pub(super) const TO_COME: &str = "to come";
