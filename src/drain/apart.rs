//! What pods have to do with each other: anti-affinity and spreads that must hold.

use super::board::Board;
use super::pod::Pod;
use crate::checks::model::selector::Selector;
use crate::checks::model::{int_at, items_at, text_at};
use crate::kustomize::node::Node;

impl Board {
    /// The value of a topology key; the host name is the node's own even where no label says so.
    pub(super) fn topology(&self, node: usize, key: &str) -> Option<&str> {
        let face = &self.state.nodes[node].face;
        let label = face.labels.get(key).map(String::as_str);
        label.or((key == HOST).then_some(face.name.as_str()))
    }

    /// What of the pods that are placed matters to where `pod` may go, whichever node is looked at.
    pub(super) fn around(&self, pod: usize) -> Around<'_> {
        Around { apart: self.apart_from(pod), spreads: self.spreads(pod) }
    }

    /// Required anti-affinity, in both directions: the pods that keep `pod` away or that it keeps away from, where they are,
    /// and the topology key of each.
    pub(super) fn apart_from(&self, pod: usize) -> Vec<(usize, usize, &str)> {
        let is_alone = anti_affinity(&self.state.pods[pod].spec).is_empty();
        let others: Vec<usize> = match is_alone {
            true => self.repellers.clone(),
            false => (0..self.state.pods.len()).collect(),
        };
        let placed = |(other, key): (usize, _)| {
            let one = &self.state.pods[other];
            Some((other, one.node.filter(|_| !one.is_over())?, key))
        };
        self.kept_apart(pod, &others).into_iter().filter_map(placed).collect()
    }

    /// Those of `others` that may not be where `pod` is, in either direction, and the topology key of each reason.
    pub(super) fn kept_apart(&self, pod: usize, others: &[usize]) -> Vec<(usize, &str)> {
        let who = &self.state.pods[pod];
        let own = anti_affinity(&who.spec);
        let key = |term| text_at(term, &["topologyKey"]).unwrap_or(HOST);
        let mut apart: Vec<(usize, &str)> = Vec::new();
        for at in others.iter().filter(|at| **at != pod) {
            let other = &self.state.pods[*at];
            let away = own.iter().filter(|term| repels(who, other, term));
            let theirs = anti_affinity(&other.spec).iter();
            let back = theirs.filter(|term| repels(other, who, term));
            apart.extend(away.chain(back).map(|term| (*at, key(term))));
        }
        apart
    }

    /// Whether a node is where a pod is that keeps others off, by the topology key.
    pub(super) fn is_near(&self, node: usize, (_, there, key): &(usize, usize, &str)) -> bool {
        let here = self.topology(node, key);
        here.is_some() && here == self.topology(*there, key)
    }

    /// Whether the pods of a workload may not lie too unevenly.
    pub(super) fn has_spread(&self, pod: usize) -> bool {
        must_spread(&self.state.pods[pod].spec).next().is_some()
    }

    /// Topology spreads by host that must hold, over the open nodes.
    fn spreads(&self, pod: usize) -> Vec<Spread> {
        let who = &self.state.pods[pod];
        let read = |spread: &Node| {
            let selector = Selector::new(spread.get("labelSelector"));
            let mut counts = vec![0u64; self.state.nodes.len()];
            for other in self.state.pods.iter().filter(|other| other.namespace == who.namespace) {
                let Some(node) = other.node else { continue };
                counts[node] += u64::from(selector.matches(&other.labels()));
            }
            let is_one = |node: &usize| self.is_open(*node) && self.forbids(who, *node).is_none();
            let least =
                (0..counts.len()).filter(is_one).map(|node| counts[node]).min().unwrap_or(0);
            let skew = int_at(spread, &["maxSkew"]).unwrap_or(1).max(1).unsigned_abs();
            Spread { counts, least, skew }
        };
        must_spread(&who.spec).map(read).collect()
    }
}

/// What of the pods that are placed matters to where a pod may go.
pub(super) struct Around<'a> {
    /// Pods that it is kept apart from, the node of each, and the topology key by which.
    pub(super) apart: Vec<(usize, usize, &'a str)>,
    pub(super) spreads: Vec<Spread>,
}

/// A topology spread by host.
pub(super) struct Spread {
    /// How many pods that count are on each node.
    counts: Vec<u64>,
    /// The fewest on a node that may have the pod.
    least: u64,
    skew: u64,
}

impl Spread {
    pub(super) fn is_uneven(&self, node: usize) -> bool {
        (self.counts[node] + 1).saturating_sub(self.least) > self.skew
    }
}

/// The topology key of a node.
pub(super) const HOST: &str = "kubernetes.io/hostname";

/// The topology spreads by host that must hold.
fn must_spread(spec: &Node) -> impl Iterator<Item = &Node> {
    items_at(spec, &["topologySpreadConstraints"]).iter().filter(|spread| {
        let must = text_at(spread, &["whenUnsatisfiable"]).unwrap_or("DoNotSchedule");
        must == "DoNotSchedule" && text_at(spread, &["topologyKey"]) == Some(HOST)
    })
}

/// Whether a term of `one` wants `other` away.
fn repels(one: &Pod, other: &Pod, term: &Node) -> bool {
    let is_near = match items_at(term, &["namespaces"]) {
        [] => one.namespace == other.namespace,
        named => named.iter().any(|name| name.as_str() == Some(other.namespace.as_str())),
    };
    is_near && Selector::new(term.get("labelSelector")).matches(&other.labels())
}

pub(super) fn anti_affinity(spec: &Node) -> &[Node] {
    let path = ["affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
    items_at(spec, &path)
}
