//! Where pods would go: a scheduler in small, over what is known of nodes, volumes and requests.
//!
//! The real one weighs more than a [`Preference`]; what fits nowhere here fits nowhere there.

use super::pod::Pod;
use super::state::State;
use crate::capacity::amounts::Amounts;
use crate::capacity::eligible::{Unfit, terms_match, terms_shown, unfit};
use crate::capacity::extras::{Extras, HostPort, give, lacking, take};
use crate::checks::model::selector::Selector;
use crate::checks::model::{int_at, items_at, text_at};
use crate::kustomize::node::Node;

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
    /// The pods of its workload would lie too unevenly.
    Uneven,
    /// It is too large for what is left there.
    Full,
    /// The node has not, or has no more, what it asks for beside processor and memory.
    Lacks(String),
    /// A host port that another pod of the node has.
    Port(i64),
}

/// Which of the nodes that may take a pod gets it: what a scheduler is set up to prefer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// The one with the largest share left: `LeastAllocated`, the default.
    #[default]
    MostLeft,
    /// The one with the smallest share left: `MostAllocated`.
    LeastLeft,
    /// The first by name: as chance may have it.
    First,
}

/// One node of the board.
#[derive(Clone, Debug)]
struct Slot {
    free: Amounts,
    extras: Extras,
    /// The host ports that are taken, each with its pod.
    ports: Vec<(usize, HostPort)>,
    pods_left: u64,
    is_open: bool,
}

/// A state in which pods move.
#[derive(Clone, Debug)]
pub struct Board {
    /// The state; `pods` may have grown by pods that come.
    pub state: State,
    slots: Vec<Slot>,
    preference: Preference,
    /// The pods that want others away.
    repellers: Vec<usize>,
}

impl Board {
    /// The board of a state: nodes that are ready and not cordoned are open.
    #[must_use]
    pub fn new(state: State, preference: Preference) -> Self {
        let slot = |node: &super::state::ClusterNode| Slot {
            free: node.allocatable,
            extras: node.extras.clone(),
            ports: Vec::new(),
            pods_left: node.pods,
            is_open: node.is_ready && !node.is_cordoned,
        };
        let is_repeller = |at: &usize| !anti_affinity(&state.pods[*at].spec).is_empty();
        let repellers = (0..state.pods.len()).filter(is_repeller).collect();
        let slots = state.nodes.iter().map(slot).collect();
        let mut board = Self { slots, state, preference, repellers };
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

    /// What is free on a node.
    #[must_use]
    pub fn free(&self, node: usize) -> Amounts {
        self.slots[node].free
    }

    fn occupy(&mut self, node: usize, pod: usize) {
        let (slot, who) = (&mut self.slots[node], &self.state.pods[pod]);
        slot.free -= who.request;
        slot.pods_left = slot.pods_left.saturating_sub(1);
        take(&mut slot.extras, &who.extras);
        slot.ports.extend(who.ports.iter().map(|port| (pod, port.clone())));
    }

    /// Adds a pod that is to come, without a place.
    pub fn add(&mut self, pod: Pod) -> usize {
        let at = self.state.pods.len();
        if !anti_affinity(&pod.spec).is_empty() {
            self.repellers.push(at);
        }
        self.state.pods.push(Pod { node: None, ..pod });
        at
    }

    /// Adds an empty node that is to come.
    pub fn add_node(&mut self, node: super::state::ClusterNode) -> usize {
        self.slots.push(Slot {
            free: node.allocatable,
            extras: node.extras.clone(),
            ports: Vec::new(),
            pods_left: node.pods,
            is_open: true,
        });
        self.state.nodes.push(node);
        self.slots.len() - 1
    }

    /// Takes a pod off its node.
    pub fn lift(&mut self, pod: usize) {
        if let Some(node) = self.state.pods[pod].node.take() {
            let (slot, who) = (&mut self.slots[node], &self.state.pods[pod]);
            slot.free += who.request;
            slot.pods_left += 1;
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
        let mut takers = (0..self.slots.len()).filter(takes);
        let by_left = |a: &usize, b: &usize| {
            let left = |node: usize| self.share_left(pod, node);
            left(*a).total_cmp(&left(*b)).then(b.cmp(a))
        };
        match self.preference {
            Preference::MostLeft => takers.max_by(by_left),
            Preference::LeastLeft => takers.min_by(by_left),
            Preference::First => takers.next(),
        }
    }

    /// Puts a pod where the scheduler would; returns that node.
    pub fn place(&mut self, pod: usize) -> Option<usize> {
        let node = self.choose(pod)?;
        self.put(pod, node);
        Some(node)
    }

    /// Puts pods, one after another, where the scheduler would; where one of them finds no place, none is put.
    pub fn place_all(&mut self, pods: &[usize]) -> bool {
        for (at, pod) in pods.iter().enumerate() {
            if self.place(*pod).is_none() {
                pods[..at].iter().for_each(|placed| self.lift(*placed));
                return false;
            }
        }
        true
    }

    /// Those of the pods of a node that would find no place on the others if it were lost, the largest placed first. The board
    /// is afterwards as it was.
    pub fn homeless_without(
        &mut self,
        lost: usize,
        comes_back: impl Fn(&Pod) -> bool,
    ) -> Vec<usize> {
        let was_open = std::mem::replace(&mut self.slots[lost].is_open, false);
        let is_there = |at: &usize| {
            let pod = &self.state.pods[*at];
            pod.node == Some(lost) && pod.moves() && comes_back(pod)
        };
        let mut pods: Vec<usize> = (0..self.state.pods.len()).filter(is_there).collect();
        pods.iter().for_each(|pod| self.lift(*pod));
        pods.sort_by_key(|pod| std::cmp::Reverse(self.state.pods[*pod].request));
        let homeless = pods.iter().copied().filter(|pod| self.place(*pod).is_none()).collect();
        for pod in pods {
            self.lift(pod);
            self.put(pod, lost);
        }
        self.slots[lost].is_open = was_open;
        homeless
    }

    /// The mean of what would be left of processor and memory, as shares.
    #[allow(clippy::cast_precision_loss, reason = "only an order is wanted")]
    fn share_left(&self, pod: usize, node: usize) -> f64 {
        let left = self.slots[node].free - self.state.pods[pod].request;
        let all = self.state.nodes[node].allocatable;
        let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
        (share(left.millicores, all.millicores) + share(left.bytes, all.bytes)) / 2.0
    }

    /// Why a node does not take a pod; `None` where it does.
    #[must_use]
    pub fn refusal(&self, pod: usize, node: usize) -> Option<Refusal> {
        self.refusal_beside(pod, node, &self.around(pod))
    }

    fn refusal_beside(&self, pod: usize, node: usize, around: &Around<'_>) -> Option<Refusal> {
        let (slot, who) = (&self.slots[node], &self.state.pods[pod]);
        if !slot.is_open {
            return Some(Refusal::Closed);
        }
        if let Some(why) = self.forbids(who, node) {
            return Some(why);
        }
        if slot.pods_left == 0 || !who.request.fits(slot.free) {
            return Some(Refusal::Full);
        }
        if let Some(name) = lacking(&who.extras, &slot.extras) {
            return Some(Refusal::Lacks(name.to_owned()));
        }
        let taken = |port: &&HostPort| slot.ports.iter().any(|(_, other)| port.excludes(other));
        if let Some(port) = who.ports.iter().find(taken) {
            return Some(Refusal::Port(port.port));
        }
        let is_near = |(there, key): &(usize, &str)| {
            let here = self.topology(node, key);
            here.is_some() && here == self.topology(*there, key)
        };
        if around.apart.iter().any(is_near) {
            return Some(Refusal::Apart);
        }
        around.spreads.iter().any(|spread| spread.is_uneven(node)).then_some(Refusal::Uneven)
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
            let place = terms_shown(terms);
            (!terms_match(terms, face)).then(|| Refusal::Volume(claim.name.clone(), place))
        })
    }

    /// The value of a topology key; the host name is the node's own even where no label says so.
    fn topology(&self, node: usize, key: &str) -> Option<&str> {
        let face = &self.state.nodes[node].face;
        let label = face.labels.get(key).map(String::as_str);
        label.or((key == HOST).then_some(face.name.as_str()))
    }

    /// What of the pods that are placed matters to where `pod` may go, whichever node is looked at.
    fn around(&self, pod: usize) -> Around<'_> {
        Around { apart: self.apart_from(pod), spreads: self.spreads(pod) }
    }

    /// Required anti-affinity, in both directions: the nodes of pods that keep `pod` away or that it keeps away from, and the
    /// topology key of each.
    fn apart_from(&self, pod: usize) -> Vec<(usize, &str)> {
        let who = &self.state.pods[pod];
        let own = anti_affinity(&who.spec);
        let key = |term| text_at(term, &["topologyKey"]).unwrap_or(HOST);
        let mut apart: Vec<(usize, &str)> = Vec::new();
        let others =
            self.state.pods.iter().enumerate().filter(|(at, _)| *at != pod && !own.is_empty());
        for (_, other) in others.filter(|(_, other)| !other.is_over()) {
            let Some(there) = other.node else { continue };
            let terms = own.iter().filter(|term| repels(who, other, term));
            apart.extend(terms.map(|term| (there, key(term))));
        }
        for at in self.repellers.iter().filter(|at| **at != pod) {
            let other = &self.state.pods[*at];
            let Some(there) = other.node.filter(|_| !other.is_over()) else { continue };
            let terms = anti_affinity(&other.spec).iter().filter(|term| repels(other, who, term));
            apart.extend(terms.map(|term| (there, key(term))));
        }
        apart.sort_unstable();
        apart.dedup();
        apart
    }

    /// Topology spreads by host that must hold, over the open nodes.
    fn spreads(&self, pod: usize) -> Vec<Spread> {
        let who = &self.state.pods[pod];
        let spreads = items_at(&who.spec, &["topologySpreadConstraints"]).iter();
        let must_hold = |spread: &&Node| {
            let must = text_at(spread, &["whenUnsatisfiable"]).unwrap_or("DoNotSchedule");
            must == "DoNotSchedule" && text_at(spread, &["topologyKey"]) == Some(HOST)
        };
        let read = |spread: &Node| {
            let selector = Selector::new(spread.get("labelSelector"));
            let mut counts = vec![0u64; self.slots.len()];
            for other in self.state.pods.iter().filter(|other| other.namespace == who.namespace) {
                let Some(node) = other.node else { continue };
                counts[node] += u64::from(selector.matches(&other.labels()));
            }
            let is_one =
                |node: &usize| self.slots[*node].is_open && self.forbids(who, *node).is_none();
            let least =
                (0..counts.len()).filter(is_one).map(|node| counts[node]).min().unwrap_or(0);
            let skew = int_at(spread, &["maxSkew"]).unwrap_or(1).max(1).unsigned_abs();
            Spread { counts, least, skew }
        };
        spreads.filter(must_hold).map(read).collect()
    }
}

/// What of the pods that are placed matters to where a pod may go.
struct Around<'a> {
    /// Nodes of pods that it is kept apart from, each with the topology key by which.
    apart: Vec<(usize, &'a str)>,
    spreads: Vec<Spread>,
}

/// A topology spread by host.
struct Spread {
    /// How many pods that count are on each node.
    counts: Vec<u64>,
    /// The fewest on a node that may have the pod.
    least: u64,
    skew: u64,
}

impl Spread {
    fn is_uneven(&self, node: usize) -> bool {
        (self.counts[node] + 1).saturating_sub(self.least) > self.skew
    }
}

/// The topology key of a node.
const HOST: &str = "kubernetes.io/hostname";

/// Whether a term of `one` wants `other` away.
fn repels(one: &Pod, other: &Pod, term: &Node) -> bool {
    let is_near = match items_at(term, &["namespaces"]) {
        [] => one.namespace == other.namespace,
        named => named.iter().any(|name| name.as_str() == Some(other.namespace.as_str())),
    };
    is_near && Selector::new(term.get("labelSelector")).matches(&other.labels())
}

fn anti_affinity(spec: &Node) -> &[Node] {
    let path = ["affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
    items_at(spec, &path)
}
