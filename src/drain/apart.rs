//! What pods have to do with each other: anti-affinity and spreads that must hold.

use super::board::Board;
use super::pod::Pod;
use crate::capacity::eligible::{Unfit, unfit};
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
        let is_repeller = self.is_repeller[pod];
        let others = 0..self.state.pods.len();
        let others: Vec<usize> =
            others.filter(|other| is_repeller || self.is_repeller[*other]).collect();
        let placed = |(other, key): (usize, _)| {
            let one = &self.state.pods[other];
            Some((other, one.node.filter(|_| !one.is_over())?, key))
        };
        self.kept_apart(pod, &others).into_iter().filter_map(placed).collect()
    }

    /// Those of `others` that may not be where `pod` is, in either direction, and the topology key of each reason.
    pub(super) fn kept_apart(&self, pod: usize, others: &[usize]) -> Vec<(usize, &str)> {
        let who = &self.state.pods[pod];
        let own: Vec<Away<'_>> = aways(&who.spec);
        let mut apart: Vec<(usize, &str)> = Vec::new();
        for at in others.iter().filter(|at| **at != pod) {
            let other = &self.state.pods[*at];
            let here = own.iter().filter(|away| away.is_from(who, other));
            apart.extend(here.map(|away| (*at, away.key)));
            if self.is_repeller[*at] {
                let theirs = aways(&other.spec).into_iter();
                let back = theirs.filter(|away| away.is_from(other, who));
                apart.extend(back.map(|away| (*at, away.key)));
            }
        }
        apart
    }

    /// Whether a node is where a pod is that keeps others off, by the topology key.
    pub(super) fn is_near(&self, node: usize, (_, there, key): &(usize, usize, &str)) -> bool {
        let here = self.topology(node, key);
        here.is_some() && here == self.topology(*there, key)
    }

    /// Topology spreads by host that must hold, over all nodes that the pod's affinity allows: closed ones count too, unless
    /// the spread says otherwise (Kubernetes `plugins/podtopologyspread`, `nodeTaintsPolicy`).
    pub(super) fn spreads(&self, pod: usize) -> Vec<Spread> {
        let who = &self.state.pods[pod];
        let read = |spread: &Node| {
            let selector = Selector::new(spread.get("labelSelector"));
            let peers: Vec<usize> = self.peers(who, &selector);
            let mut counts = vec![0u64; self.state.nodes.len()];
            peers
                .iter()
                .filter_map(|peer| self.state.pods[*peer].node)
                .for_each(|node| counts[node] += 1);
            let honors_taints = text_at(spread, &["nodeTaintsPolicy"]) == Some("Honor");
            let is_counted = |node: &usize| {
                let unfit = unfit(&who.spec, &self.state.nodes[*node].face);
                let is_barred = unfit.is_some() || !self.is_open(*node);
                match honors_taints {
                    true => !is_barred,
                    false => !self.is_gone(*node) && !matches!(unfit, Some(Unfit::Labels(_))),
                }
            };
            let least =
                (0..counts.len()).filter(is_counted).map(|node| counts[node]).min().unwrap_or(0);
            let skew = int_at(spread, &["maxSkew"]).unwrap_or(1).max(1).unsigned_abs();
            let own = u64::from(selector.selects(who.label()));
            Spread { counts, least, skew, own, peers }
        };
        must_spread(&who.spec).map(read).collect()
    }

    /// The pods of the same namespace that a selector of a spread counts.
    fn peers(&self, who: &Pod, selector: &Selector<'_>) -> Vec<usize> {
        let is_peer = |at: &usize| {
            let other = &self.state.pods[*at];
            let counts = !other.is_over() && !other.is_terminating;
            other.namespace == who.namespace && counts && selector.selects(other.label())
        };
        (0..self.state.pods.len()).filter(is_peer).collect()
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
    /// The fewest on a node that counts.
    least: u64,
    skew: u64,
    /// Whether the pod counts itself: 1 or 0.
    own: u64,
    /// The pods that count, with a node or without.
    pub(super) peers: Vec<usize>,
}

impl Spread {
    pub(super) fn is_uneven(&self, node: usize) -> bool {
        (self.counts[node] + self.own).saturating_sub(self.least) > self.skew
    }

    /// How many pods that count are on a node.
    pub(super) fn count(&self, node: usize) -> u64 {
        self.counts[node]
    }

    /// How many pods that count a node has to have so that it may be uneven to put one more on it.
    pub(super) fn most(&self) -> u64 {
        self.skew + 1 - self.own
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

/// A term of required anti-affinity.
struct Away<'a> {
    key: &'a str,
    namespaces: &'a [Node],
    selector: Selector<'a>,
}

impl Away<'_> {
    /// Whether it keeps `one`, whose it is, away from `other`.
    fn is_from(&self, one: &Pod, other: &Pod) -> bool {
        let is_near = match self.namespaces {
            [] => one.namespace == other.namespace,
            named => named.iter().any(|name| name.as_str() == Some(other.namespace.as_str())),
        };
        is_near && self.selector.selects(other.label())
    }
}

fn aways(spec: &Node) -> Vec<Away<'_>> {
    let away = |term| Away {
        key: text_at(term, &["topologyKey"]).unwrap_or(HOST),
        namespaces: items_at(term, &["namespaces"]),
        selector: Selector::new(term.get("labelSelector")),
    };
    anti_affinity(spec).iter().map(away).collect()
}

/// Whether a pod keeps others away.
pub(super) fn is_repeller(pod: &Pod) -> bool {
    !anti_affinity(&pod.spec).is_empty()
}

fn anti_affinity(spec: &Node) -> &[Node] {
    let path = ["affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
    items_at(spec, &path)
}
