//! Where pods would go: a scheduler in small, over what is known of nodes, volumes and requests.
//!
//! It prefers the node with the largest share left (`LeastAllocated`, the default); the real one weighs more than that. What
//! fits nowhere here fits nowhere there.

use std::cell::Cell;

use super::apart::{Around, is_follower, is_repeller};
use super::pod::Pod;
use super::state::{ClusterNode, State};
use crate::capacity::amounts::Amounts;
use crate::capacity::eligible::{Unfit, terms_match, terms_shown, unfit};
use crate::capacity::extras::{Extras, HostPort, give, lacking, take};

/// How much the searches for layouts that leave a pod no place may look at, for all pods together.
const MOST_EFFORT: u64 = 30_000_000;

/// Why a node does not take a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is cordoned, is not ready, or is one of those to be emptied.
    Closed,
    /// Labels, affinity or taints.
    Unfit(Unfit),
    /// A volume that the node cannot reach: its claim and where it can be.
    Volume(String, String),
    /// Another pod keeps it away, or it keeps away from one.
    Apart,
    /// None of the pods is there that it has to be near.
    Far,
    /// The pods of its workload would lie too unevenly.
    Uneven,
    /// It is too large for what is left there.
    Full,
    /// The node has as many pods as it takes.
    Crowded,
    /// The node has not, or has no more, what it asks for beside processor and memory.
    Lacks(String),
    /// A host port that another pod of the node has.
    Port(i64),
}

/// One node of the board.
#[derive(Clone, Debug)]
struct Slot {
    /// What it has for pods.
    all: Amounts,
    /// What its pods ask for: more than it has, where it was made smaller under them.
    used: Amounts,
    extras: Extras,
    /// The host ports that are taken, each with its pod.
    ports: Vec<(usize, HostPort)>,
    /// How many pods it takes.
    most_pods: u64,
    /// How many it has.
    pods: u64,
    is_open: bool,
    /// Whether it is taken to be no part of the cluster any more.
    is_gone: bool,
}

impl Slot {
    fn new(node: &ClusterNode) -> Self {
        Self {
            all: node.allocatable,
            used: Amounts::default(),
            extras: node.extras.clone(),
            ports: Vec::new(),
            most_pods: node.pods,
            pods: 0,
            is_open: node.is_ready && !node.is_cordoned,
            is_gone: false,
        }
    }

    fn free(&self) -> Amounts {
        self.all - self.used
    }
}

/// A state in which pods move.
#[derive(Clone, Debug)]
pub struct Board {
    /// The state; `pods` may have grown by pods that come.
    pub state: State,
    slots: Vec<Slot>,
    /// Which pods want others away, by pod and as a list.
    pub(super) is_repeller: Vec<bool>,
    pub(super) repellers: Vec<usize>,
    /// How much the searches of [`Self::is_sure`] may still look at.
    effort: Cell<u64>,
}

impl Board {
    /// The board of a state: nodes that are ready and not cordoned are open.
    #[must_use]
    pub fn new(state: State) -> Self {
        let is_repeller: Vec<bool> = state.pods.iter().map(is_repeller).collect();
        let repellers = (0..is_repeller.len()).filter(|pod| is_repeller[*pod]).collect();
        let slots = state.nodes.iter().map(Slot::new).collect();
        let mut board =
            Self { slots, state, is_repeller, repellers, effort: Cell::new(MOST_EFFORT) };
        for at in 0..board.state.pods.len() {
            if let Some(node) =
                board.state.pods[at].node.filter(|_| !board.state.pods[at].is_over())
            {
                board.occupy(node, at);
            }
        }
        board
    }

    /// Lets no pod come to a node any more.
    pub fn close(&mut self, node: usize) {
        self.slots[node].is_open = false;
    }

    /// Whether pods may come to a node.
    #[must_use]
    pub fn is_open(&self, node: usize) -> bool {
        self.slots[node].is_open
    }

    /// Takes some of the effort that is left for searches; whether there was as much.
    pub(super) fn spend(&self, effort: u64) -> bool {
        let left = self.effort.get();
        self.effort.set(left.saturating_sub(effort));
        left >= effort
    }

    pub(super) fn is_gone(&self, node: usize) -> bool {
        self.slots[node].is_gone
    }

    /// What is free on a node.
    #[must_use]
    pub fn free(&self, node: usize) -> Amounts {
        self.slots[node].free()
    }

    fn occupy(&mut self, node: usize, pod: usize) {
        let (slot, who) = (&mut self.slots[node], &self.state.pods[pod]);
        slot.used += who.request;
        slot.pods += 1;
        take(&mut slot.extras, &who.extras);
        slot.ports.extend(who.ports.iter().map(|port| (pod, port.clone())));
    }

    /// Adds a pod that is to come, without a place.
    pub fn add(&mut self, pod: Pod) -> usize {
        let keeps_off = is_repeller(&pod);
        let at = self.state.add_pod(Pod { node: None, ..pod });
        self.is_repeller.push(keeps_off);
        self.repellers.extend(keeps_off.then_some(at));
        at
    }

    /// Adds an empty node that is to come.
    pub fn add_node(&mut self, node: ClusterNode) -> usize {
        self.slots.push(Slot::new(&node));
        self.state.nodes.push(node);
        self.slots.len() - 1
    }

    /// Takes a pod off its node.
    pub fn lift(&mut self, pod: usize) {
        if let Some(node) = self.state.pods[pod].node.take() {
            let (slot, who) = (&mut self.slots[node], &self.state.pods[pod]);
            slot.used -= who.request;
            slot.pods -= 1;
            give(&mut slot.extras, &who.extras);
            slot.ports.retain(|(of, _)| *of != pod);
        }
    }

    /// Puts a pod on a node.
    pub fn put(&mut self, pod: usize, node: usize) {
        self.occupy(node, pod);
        self.state.pods[pod].node = Some(node);
    }

    /// The node that a pod without one would come to.
    #[must_use]
    pub fn choose(&self, pod: usize) -> Option<usize> {
        let around = self.around(pod);
        let takes = |node: &usize| self.refusal_beside(pod, *node, &around).is_none();
        let by_left = |a: &usize, b: &usize| {
            let left = |node: usize| self.share_left(pod, node);
            left(*a).total_cmp(&left(*b)).then(b.cmp(a))
        };
        (0..self.slots.len()).filter(takes).max_by(by_left)
    }

    /// Puts a pod where the scheduler would; returns that node.
    pub fn place(&mut self, pod: usize) -> Option<usize> {
        let node = self.choose(pod)?;
        self.put(pod, node);
        Some(node)
    }

    /// Puts pods, one after another, where the scheduler would, those that have to be near others last; where one of them finds no
    /// place, none is put.
    pub fn place_all(&mut self, pods: &[usize]) -> bool {
        let mut pods = pods.to_vec();
        pods.sort_by_key(|pod| is_follower(&self.state.pods[*pod]));
        for (at, pod) in pods.iter().enumerate() {
            if self.place(*pod).is_none() {
                pods[..at].iter().for_each(|placed| self.lift(*placed));
                return false;
            }
        }
        true
    }

    /// Those of the pods of a node that would find no place on the others if it were lost, the largest placed first, and what has
    /// to be near others last. The board is afterwards as it was.
    pub fn homeless_without(
        &mut self,
        lost: usize,
        comes_back: impl Fn(&Pod) -> bool,
    ) -> Vec<usize> {
        let was_open = std::mem::replace(&mut self.slots[lost].is_open, false);
        self.slots[lost].is_gone = true;
        let is_there = |at: &usize| {
            let pod = &self.state.pods[*at];
            pod.node == Some(lost) && pod.moves() && comes_back(pod)
        };
        let mut pods: Vec<usize> = (0..self.state.pods.len()).filter(is_there).collect();
        pods.iter().for_each(|pod| self.lift(*pod));
        pods.sort_by_key(|pod| {
            let pod = &self.state.pods[*pod];
            (is_follower(pod), std::cmp::Reverse(pod.request))
        });
        let homeless = pods.iter().copied().filter(|pod| self.place(*pod).is_none()).collect();
        for pod in pods {
            self.lift(pod);
            self.put(pod, lost);
        }
        (self.slots[lost].is_open, self.slots[lost].is_gone) = (was_open, false);
        homeless
    }

    /// The mean of what would be left of processor and memory, as shares.
    #[allow(clippy::cast_precision_loss, reason = "only an order is wanted")]
    fn share_left(&self, pod: usize, node: usize) -> f64 {
        let left = self.slots[node].free() - self.state.pods[pod].request;
        let all = self.state.nodes[node].allocatable;
        let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
        (share(left.millicores, all.millicores) + share(left.bytes, all.bytes)) / 2.0
    }

    /// Why a node does not take a pod; `None` where it does.
    #[must_use]
    pub fn refusal(&self, pod: usize, node: usize) -> Option<Refusal> {
        self.refusal_beside(pod, node, &self.around(pod))
    }

    /// The same, with what of the other pods matters told.
    pub(super) fn refusal_beside(
        &self,
        pod: usize,
        node: usize,
        around: &Around<'_>,
    ) -> Option<Refusal> {
        let (slot, who) = (&self.slots[node], &self.state.pods[pod]);
        if !slot.is_open {
            return Some(Refusal::Closed);
        }
        if let Some(why) = self.forbids(who, node) {
            return Some(why);
        }
        if slot.pods >= slot.most_pods {
            return Some(Refusal::Crowded);
        }
        if !who.request.fits(slot.free()) {
            return Some(Refusal::Full);
        }
        if let Some(name) = lacking(&who.extras, &slot.extras) {
            return Some(Refusal::Lacks(name.to_owned()));
        }
        if let Some(port) = self.taken_port(pod, node, |_| false) {
            return Some(Refusal::Port(port));
        }
        if around.apart.iter().any(|apart| self.is_near(node, apart)) {
            return Some(Refusal::Apart);
        }
        if around.near.as_ref().is_some_and(|near| self.is_far(node, near)) {
            return Some(Refusal::Far);
        }
        around.spreads.iter().any(|spread| spread.is_uneven(node)).then_some(Refusal::Uneven)
    }

    /// A host port of the pod that a pod of the node has, one that is not `passed_over`.
    pub(super) fn taken_port(
        &self,
        pod: usize,
        node: usize,
        passed_over: impl Fn(usize) -> bool,
    ) -> Option<i64> {
        let there = self.slots[node].ports.iter().filter(|(of, _)| !passed_over(*of));
        let taken = |port: &&HostPort| there.clone().any(|(_, other)| port.excludes(other));
        self.state.pods[pod].ports.iter().find(taken).map(|port| port.port)
    }

    /// What is free on a node: millicores, bytes, pods, and of each of `names`.
    pub(super) fn free_of(&self, node: usize, names: &[&str]) -> Vec<u64> {
        let slot = &self.slots[node];
        // What a node does not state, and still has, it has enough of.
        let extra = |name: &&str| slot.extras.get(*name).copied().unwrap_or(u64::MAX / 2);
        let (free, pods) = (slot.free(), slot.most_pods.saturating_sub(slot.pods));
        let own = [free.millicores, free.bytes, pods];
        own.into_iter().chain(names.iter().map(extra)).collect()
    }

    /// What keeps a pod off a node however empty it is.
    #[must_use]
    pub fn forbids(&self, pod: &Pod, node: usize) -> Option<Refusal> {
        let face = &self.state.nodes[node].face;
        if let Some(unfit) = unfit(&pod.spec, face) {
            return Some(Refusal::Unfit(unfit));
        }
        if let Some(name) = lacking(&pod.extras, &self.state.nodes[node].extras) {
            return Some(Refusal::Lacks(name.to_owned()));
        }
        let claims = pod.claims.iter().map(|claim| &self.state.claims[*claim]);
        claims.into_iter().find_map(|claim| {
            let terms = claim.terms.as_ref()?;
            let refusal = || Refusal::Volume(claim.name.clone(), terms_shown(terms));
            (!terms_match(terms, face)).then(refusal)
        })
    }
}
