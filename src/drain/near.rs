//! Required affinity to other pods: where those are that a pod has to be near.
//!
//! Source: Kubernetes `pkg/scheduler/framework/plugins/interpodaffinity/filtering.go` (`satisfyPodAffinity`: only pods that
//! all terms select count; where there is none, a pod that all its terms select may go to any node that has the keys).

use std::collections::BTreeSet;

use super::apart::{AFFINITY, PodTerm, terms};
use super::board::Board;

/// Where required affinity lets a pod go.
pub(super) struct Near<'a> {
    /// The topology key of each term, and its values where there are pods that all terms select.
    places: Vec<(&'a str, BTreeSet<&'a str>)>,
    /// Whether there is no such pod and the pod is one itself.
    is_first: bool,
}

impl Board {
    /// Where required affinity lets `pod` go, with no regard to pods that are `passed_over`; `None` where it has none.
    pub(super) fn near(&self, pod: usize, passed_over: impl Fn(usize) -> bool) -> Option<Near<'_>> {
        let who = &self.state.pods[pod];
        let terms = terms(&who.spec, AFFINITY);
        if terms.is_empty() {
            return None;
        }
        let mut places: Vec<(&str, BTreeSet<&str>)> =
            terms.iter().map(|term| (term.key, BTreeSet::new())).collect();
        for (at, other) in self.state.pods.iter().enumerate() {
            let node = other.node.filter(|node| !other.is_over() && !self.is_gone(*node));
            let Some(node) = node.filter(|_| at != pod && !passed_over(at)) else { continue };
            if self.is_selected(&terms, pod, at) {
                for (key, values) in &mut places {
                    values.extend(self.topology(node, key));
                }
            }
        }
        let is_alone = places.iter().all(|(_, values)| values.is_empty());
        let is_first = is_alone && self.is_selected(&terms, pod, pod);
        Some(Near { places, is_first })
    }

    /// The same for wherever `others`, which may be on other nodes than is thought, are: none of them counts, and if one of them
    /// would, the pod is not taken for the first.
    pub(super) fn near_whatever(&self, pod: usize, others: &[usize]) -> Option<Near<'_>> {
        let near = self.near(pod, |other| others.contains(&other))?;
        let terms = terms(&self.state.pods[pod].spec, AFFINITY);
        let is_other = others.iter().any(|other| self.is_selected(&terms, pod, *other));
        Some(Near { is_first: near.is_first && !is_other, ..near })
    }

    /// Whether required affinity keeps a pod off a node.
    pub(super) fn is_far(&self, node: usize, near: &Near<'_>) -> bool {
        let is_there = |(key, values): &(&str, BTreeSet<&str>)| {
            let value = self.topology(node, key);
            value.is_some_and(|value| near.is_first || values.contains(value))
        };
        !near.places.iter().all(is_there)
    }

    /// What required affinity asks for, for a message.
    pub(super) fn companions(&self, pod: usize) -> String {
        let terms = terms(&self.state.pods[pod].spec, AFFINITY);
        let term = |term: &PodTerm<'_>| format!("{} by {}", term.selector.shown(), term.key);
        terms.iter().map(term).collect::<Vec<_>>().join(" and ")
    }

    fn is_selected(&self, terms: &[PodTerm<'_>], pod: usize, other: usize) -> bool {
        let (one, other) = (&self.state.pods[pod], &self.state.pods[other]);
        terms.iter().all(|term| term.selects(&self.state, one, other))
    }
}
