//! What pods have to do with each other: the terms of their affinity, and anti-affinity that must hold.
//!
//! Sources: Kubernetes `pkg/scheduler/framework/types.go` (`AffinityTerm`: namespaces and those that the selector of
//! namespaces selects are counted together; with neither it is the pod's own) and `plugins/interpodaffinity/filtering.go`.

use super::board::Board;
use super::near::Near;
use super::pod::Pod;
use super::spread::Spread;
use super::state::{NAME_OF_NAMESPACE, State};
use crate::checks::model::selector::Selector;
use crate::checks::model::{items_at, text_at, texts_at};
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
        Around {
            apart: self.apart_from(pod),
            near: self.near(pod, |_| false),
            spreads: self.spreads(pod),
        }
    }

    /// Required anti-affinity, in both directions: the pods that keep `pod` away or that it keeps away from, where they are,
    /// and the topology key of each.
    pub(super) fn apart_from(&self, pod: usize) -> Vec<(usize, usize, &str)> {
        let all: Vec<usize>;
        let others = match self.is_repeller[pod] {
            true => {
                all = (0..self.state.pods.len()).collect();
                &all
            }
            false => &self.repellers,
        };
        let placed = |(other, key): (usize, _)| {
            let one = &self.state.pods[other];
            Some((other, one.node.filter(|_| !one.is_over())?, key))
        };
        self.kept_apart(pod, others).into_iter().filter_map(placed).collect()
    }

    /// Those of `others` that may not be where `pod` is, in either direction, and the topology key of each reason.
    pub(super) fn kept_apart(&self, pod: usize, others: &[usize]) -> Vec<(usize, &str)> {
        let (state, who) = (&self.state, &self.state.pods[pod]);
        let own = terms(&who.spec, ANTI_AFFINITY);
        let mut apart: Vec<(usize, &str)> = Vec::new();
        for at in others.iter().filter(|at| **at != pod) {
            let other = &state.pods[*at];
            let here = own.iter().filter(|term| term.selects(state, who, other));
            apart.extend(here.map(|term| (*at, term.key)));
            if self.is_repeller[*at] {
                let theirs = terms(&other.spec, ANTI_AFFINITY).into_iter();
                let back = theirs.filter(|term| term.selects(state, other, who));
                apart.extend(back.map(|term| (*at, term.key)));
            }
        }
        apart
    }

    /// Whether a node is where a pod is that keeps others off, by the topology key.
    pub(super) fn is_near(&self, node: usize, (_, there, key): &(usize, usize, &str)) -> bool {
        let here = self.topology(node, key);
        here.is_some() && here == self.topology(*there, key)
    }
}

impl State {
    /// The pods some term of which tells namespaces by labels that were not read.
    pub(super) fn pods_by_unknown_namespaces(&self) -> Vec<usize> {
        let is_unknown = |pod: &usize| {
            let spec = &self.pods[*pod].spec;
            [AFFINITY, ANTI_AFFINITY]
                .into_iter()
                .flat_map(|kind| terms(spec, kind))
                .any(|term| term.needs_labels_of_namespaces())
        };
        match self.namespaces.is_empty() {
            true => (0..self.pods.len()).filter(is_unknown).collect(),
            false => Vec::new(),
        }
    }
}

/// What of the pods that are placed matters to where a pod may go.
pub(super) struct Around<'a> {
    /// Pods that it is kept apart from, the node of each, and the topology key by which.
    pub(super) apart: Vec<(usize, usize, &'a str)>,
    /// Where its affinity lets it go, where it has one.
    pub(super) near: Option<Near<'a>>,
    pub(super) spreads: Vec<Spread>,
}

/// The topology key of a node.
pub(super) const HOST: &str = "kubernetes.io/hostname";

/// The two kinds of terms.
pub(super) const AFFINITY: &str = "podAffinity";
const ANTI_AFFINITY: &str = "podAntiAffinity";

/// A term of required affinity or anti-affinity.
pub(super) struct PodTerm<'a> {
    pub(super) key: &'a str,
    namespaces: &'a [Node],
    namespace_selector: Option<&'a Node>,
    pub(super) selector: Selector<'a>,
}

impl PodTerm<'_> {
    /// Whether it, which is a term of `one`, selects `other`.
    pub(super) fn selects(&self, state: &State, one: &Pod, other: &Pod) -> bool {
        let there = other.namespace.as_str();
        let is_named = || self.namespaces.iter().any(|name| name.as_str() == Some(there));
        let is_its = match (self.namespaces, self.namespace_selector) {
            ([], None) => one.namespace == there,
            (_, None) => is_named(),
            (_, by_labels) => {
                is_named() || Selector::new(by_labels).selects(state.namespace_label(there))
            }
        };
        is_its && self.selector.selects(other.label())
    }

    fn needs_labels_of_namespaces(&self) -> bool {
        let Some(selector) = self.namespace_selector else { return false };
        let keys = texts_at(selector, &["matchLabels"]).into_iter().map(|(key, _)| key);
        let wanted = items_at(selector, &["matchExpressions"]).iter();
        let mut keys = keys.chain(wanted.filter_map(|wanted| text_at(wanted, &["key"])));
        keys.any(|key| key != NAME_OF_NAMESPACE)
    }
}

/// The required terms of a kind.
pub(super) fn terms<'a>(spec: &'a Node, kind: &str) -> Vec<PodTerm<'a>> {
    let term = |term: &'a Node| PodTerm {
        key: text_at(term, &["topologyKey"]).unwrap_or(HOST),
        namespaces: items_at(term, &["namespaces"]),
        namespace_selector: term.get("namespaceSelector").filter(|node| !node.is_null()),
        selector: Selector::new(term.get("labelSelector")),
    };
    required(spec, kind).iter().map(term).collect()
}

/// Whether a pod keeps others away.
pub(super) fn is_repeller(pod: &Pod) -> bool {
    !required(&pod.spec, ANTI_AFFINITY).is_empty()
}

/// Whether a pod has to be near others.
pub(super) fn is_follower(pod: &Pod) -> bool {
    !required(&pod.spec, AFFINITY).is_empty()
}

fn required<'a>(spec: &'a Node, kind: &str) -> &'a [Node] {
    items_at(spec, &["affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution"])
}
