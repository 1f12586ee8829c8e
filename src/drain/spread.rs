//! Topology spreads that must hold.
//!
//! Source: Kubernetes `pkg/scheduler/framework/plugins/podtopologyspread` (`filtering.go`, `common.go`): a node counts that has
//! the keys of all spreads of the pod and that `nodeAffinityPolicy` (by default honored) and `nodeTaintsPolicy` (by default
//! ignored, so that closed nodes count) let count; the fewest are none where there are fewer places than `minDomains`.

use std::collections::{BTreeMap, BTreeSet};

use super::apart::HOST;
use super::board::Board;
use super::pod::Pod;
use super::state::State;
use crate::capacity::eligible::{intolerable, lacking_label};
use crate::checks::model::selector::Selector;
use crate::checks::model::{int_at, items_at, text_at};
use crate::kustomize::node::Node;

/// A topology spread that must hold.
#[derive(Clone)]
pub(super) struct Spread {
    /// Of each node its place among those that pods are spread over; none where it lacks the key.
    place_of: Vec<Option<usize>>,
    /// The nodes that count.
    nodes: BTreeSet<usize>,
    /// The places with a node that counts.
    counted: BTreeSet<usize>,
    /// How many pods that count are in each place.
    counts: Vec<u64>,
    /// The fewest in a place that counts.
    least: u64,
    /// Whether there are fewer places than there have to be.
    pub(super) lacks_places: bool,
    skew: u64,
    /// Whether the pod counts itself: 1 or 0.
    own: u64,
    /// The pods that count, with a node or without.
    pub(super) peers: Vec<usize>,
    /// Whether each node is a place of its own.
    pub(super) is_by_host: bool,
}

impl Spread {
    pub(super) fn is_uneven(&self, node: usize) -> bool {
        let Some(place) = self.place_of[node] else { return true };
        (self.counts[place] + self.own).saturating_sub(self.least) > self.skew
    }

    /// How many pods that count are where a node is; none for a node without such a place.
    pub(super) fn count(&self, node: usize) -> Option<u64> {
        self.place_of[node].map(|place| self.counts[place])
    }

    /// How many pods that count a place has to have at least so that it may be uneven to put one more there, wherever `others` are;
    /// and how many of those are there without them, for each node.
    pub(super) fn bounds(&self, state: &State, others: &[usize]) -> (u64, Vec<u64>) {
        let mut counts = vec![0; self.counts.len()];
        let stay = self.peers.iter().filter(|peer| !others.contains(peer));
        stay.filter_map(|peer| state.pods[*peer].node)
            .filter(|node| self.nodes.contains(node))
            .filter_map(|node| self.place_of[node])
            .for_each(|place| counts[place] += 1);
        let fewest = self.counted.iter().map(|place| counts[*place]).min().unwrap_or(0);
        let least = if self.lacks_places { 0 } else { fewest };
        let there = |place: &Option<usize>| place.map_or(0, |place| counts[place]);
        (self.skew + 1 - self.own + least, self.place_of.iter().map(there).collect())
    }

    /// The places that count, each as those of `nodes` that are in it; none where the one with the fewest pods may be uneven.
    pub(super) fn places(&self, nodes: &[usize]) -> Vec<Vec<usize>> {
        let within = |place: &usize| {
            let is_in = |node: &&usize| self.place_of[**node] == Some(*place);
            nodes.iter().filter(is_in).copied().collect()
        };
        match self.lacks_places {
            true => Vec::new(),
            false => self.counted.iter().map(within).collect(),
        }
    }
}

impl Board {
    /// The topology spreads of a pod that must hold, over the nodes that count for each.
    pub(super) fn spreads(&self, pod: usize) -> Vec<Spread> {
        let who = &self.state.pods[pod];
        let all: Vec<&Node> = must_spread(&who.spec).collect();
        let keys: Vec<&str> = all.iter().map(|spread| key_of(spread)).collect();
        let has_keys = |node: &usize| keys.iter().all(|key| self.topology(*node, key).is_some());
        let nodes: Vec<usize> = match keys.is_empty() {
            true => Vec::new(),
            false => (0..self.state.nodes.len()).filter(has_keys).collect(),
        };
        all.into_iter().map(|spread| self.read_spread(who, spread, &nodes)).collect()
    }

    fn read_spread(&self, who: &Pod, spread: &Node, nodes: &[usize]) -> Spread {
        let key = key_of(spread);
        let is_counted = |node: &usize| {
            let face = &self.state.nodes[*node].face;
            let honors = |policy, unless: bool| match text_at(spread, &[policy]) {
                Some(told) => told == "Honor",
                None => unless,
            };
            let is_unfit =
                honors("nodeAffinityPolicy", true) && lacking_label(&who.spec, face).is_some();
            let is_barred = honors("nodeTaintsPolicy", false)
                && (!self.is_open(*node) || intolerable(&who.spec, face).is_some());
            !(self.is_gone(*node) || is_unfit || is_barred)
        };
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut place = |node: usize| {
            let (value, next) = (self.topology(node, key)?, places.len());
            Some(*places.entry(value).or_insert(next))
        };
        let place_of: Vec<Option<usize>> = (0..self.state.nodes.len()).map(&mut place).collect();
        let nodes: BTreeSet<usize> = nodes.iter().copied().filter(is_counted).collect();
        let counted: BTreeSet<usize> = nodes.iter().filter_map(|node| place_of[*node]).collect();
        let (selector, peers) = self.peers(who, spread);
        let mut counts = vec![0u64; places.len()];
        let placed = peers.iter().filter_map(|peer| self.state.pods[*peer].node);
        placed
            .filter(|node| nodes.contains(node))
            .filter_map(|node| place_of[node])
            .for_each(|place| counts[place] += 1);
        let fewest = counted.iter().map(|place| counts[*place]).min().unwrap_or(0);
        let number = |field| int_at(spread, &[field]).unwrap_or(1).max(1).unsigned_abs();
        let lacks_places = (counted.len() as u64) < number("minDomains");
        Spread {
            least: if lacks_places { 0 } else { fewest },
            skew: number("maxSkew"),
            own: u64::from(selector.selects(who.label())),
            is_by_host: key == HOST,
            place_of,
            nodes,
            counted,
            counts,
            lacks_places,
            peers,
        }
    }

    /// What a spread selects, and the pods of the same namespace that it counts: with `matchLabelKeys` those alone that have the
    /// pod's values.
    fn peers<'a>(&self, who: &Pod, spread: &'a Node) -> (Selector<'a>, Vec<usize>) {
        let selector = Selector::new(spread.get("labelSelector"));
        let keys = items_at(spread, &["matchLabelKeys"]).iter().filter_map(Node::as_str);
        let keys: Vec<&str> = keys.filter(|key| who.labels.contains_key(*key)).collect();
        let is_peer = |at: &usize| {
            let other = &self.state.pods[*at];
            let counts = !other.is_over() && !other.is_terminating;
            other.namespace == who.namespace
                && counts
                && selector.selects(other.label())
                && keys.iter().all(|key| other.labels.get(*key) == who.labels.get(*key))
        };
        let peers = (0..self.state.pods.len()).filter(is_peer).collect();
        (selector, peers)
    }
}

fn key_of(spread: &Node) -> &str {
    text_at(spread, &["topologyKey"]).unwrap_or(HOST)
}

/// The topology spreads that must hold.
fn must_spread(spec: &Node) -> impl Iterator<Item = &Node> {
    items_at(spec, &["topologySpreadConstraints"]).iter().filter(|spread| {
        let must = text_at(spread, &["whenUnsatisfiable"]).unwrap_or("DoNotSchedule");
        must == "DoNotSchedule"
    })
}
