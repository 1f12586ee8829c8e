//! Whether there is a placement at all: a bounded search through those of the pods that have moved.

use std::collections::{HashMap, HashSet};

use super::board::Board;

/// Which nodes are alike.
struct Classes {
    /// By node.
    of: Vec<usize>,
    /// Whether it matters which pods a node has, and not only what is left of it.
    by_pods: bool,
}

/// The class of a node, what is left of it, and the pods that were put there where that matters.
type Likeness = (usize, Vec<u64>, Vec<usize>);

impl Board {
    /// Finds a node for each of the `items`, pods that go to one node together, by moving those that have one; the largest first.
    /// `steps` is how many tries are left. Where none is found the board is as it was.
    pub(super) fn rearrange(&mut self, items: &[Vec<usize>], steps: &mut usize) -> bool {
        let mut items = items.to_vec();
        let before: Vec<(usize, usize)> = items
            .iter()
            .flatten()
            .filter_map(|pod| Some((*pod, self.state.pods[*pod].node?)))
            .collect();
        items.iter().flatten().for_each(|pod| self.lift(*pod));
        let size = |item: &Vec<usize>| {
            let requests = item.iter().map(|pod| self.state.pods[*pod].request);
            let sum: crate::capacity::amounts::Amounts = requests.sum();
            (std::cmp::Reverse((sum.bytes, sum.millicores)), item.clone())
        };
        items.sort_by_cached_key(size);
        if self.has_each_alone(&items) && self.search(&items, steps) {
            return true;
        }
        before.into_iter().for_each(|(pod, node)| self.put(pod, node));
        false
    }

    /// Whether each would find a place if there were no others.
    fn has_each_alone(&mut self, items: &[Vec<usize>]) -> bool {
        items.iter().all(|item| {
            let fits = self.put_first(item, 0).is_some();
            item.iter().for_each(|pod| self.lift(*pod));
            fits
        })
    }

    fn search(&mut self, items: &[Vec<usize>], steps: &mut usize) -> bool {
        let classes = self.classes(items);
        let mut failed: HashSet<(usize, Vec<Likeness>)> = HashSet::new();
        let mut chosen: Vec<usize> = Vec::new();
        let mut from = 0;
        while let Some(item) = items.get(chosen.len()) {
            let likeness = (from == 0).then(|| self.likeness(&classes, items, &chosen));
            let is_known = likeness.is_some_and(|like| failed.contains(&(chosen.len(), like)));
            let taker = if is_known { None } else { self.put_first(item, from) };
            *steps = steps.saturating_sub(taker.map_or(self.state.nodes.len(), |at| at + 1 - from));
            if let Some(node) = taker {
                chosen.push(node);
                from = 0;
                continue;
            }
            failed.insert((chosen.len(), self.likeness(&classes, items, &chosen)));
            let Some(last) = chosen.pop().filter(|_| *steps > 0) else {
                items.iter().flatten().for_each(|pod| self.lift(*pod));
                return false;
            };
            items[chosen.len()].iter().for_each(|pod| self.lift(*pod));
            from = last + 1;
        }
        true
    }

    /// The class of each node: those of one class take the same items while they have the same left.
    fn classes(&self, items: &[Vec<usize>]) -> Classes {
        let pods = || items.iter().flatten().map(|pod| (*pod, &self.state.pods[*pod]));
        let looks_at_others = pods().any(|(at, pod)| {
            self.has_spread(at) || !pod.ports.is_empty() || !pod.extras.is_empty()
        });
        if looks_at_others || self.is_repeller.contains(&true) {
            return Classes { of: (0..self.state.nodes.len()).collect(), by_pods: true };
        }
        let mut known: HashMap<Vec<bool>, usize> = HashMap::new();
        let mut class = |node: usize| {
            let takes = pods().map(|(_, pod)| self.forbids(pod, node).is_none());
            let takes = takes.chain([self.is_open(node)]).collect();
            let next = known.len();
            *known.entry(takes).or_insert(next)
        };
        Classes { of: (0..self.state.nodes.len()).map(&mut class).collect(), by_pods: false }
    }

    /// What of the placement of the first items decides whether the rest can be placed.
    fn likeness(&self, classes: &Classes, items: &[Vec<usize>], chosen: &[usize]) -> Vec<Likeness> {
        let on = |node: usize| {
            let here = chosen.iter().zip(items).filter(|(at, _)| **at == node && classes.by_pods);
            here.flat_map(|(_, item)| item).copied().collect::<Vec<usize>>()
        };
        let like = |(node, class): (usize, &usize)| (*class, self.free_of(node, &[]), on(node));
        let mut all: Vec<Likeness> = classes.of.iter().enumerate().map(like).collect();
        all.sort_unstable();
        all
    }

    /// Puts all on the first node, from `from` on, that takes them.
    fn put_first(&mut self, item: &[usize], from: usize) -> Option<usize> {
        let mut nodes = from..self.state.nodes.len();
        let [pod] = item else { return nodes.find(|node| self.put_all(item, *node)) };
        let around = self.around(*pod);
        let node = nodes.find(|node| self.refusal_beside(*pod, *node, &around).is_none())?;
        self.put(*pod, node);
        Some(node)
    }

    /// Whether a node takes all of them, which have none, together.
    pub(super) fn could_have(&mut self, pods: &[usize], node: usize) -> bool {
        let fits = self.put_all(pods, node);
        if fits {
            pods.iter().for_each(|pod| self.lift(*pod));
        }
        fits
    }

    /// Puts all on one node; none where one of them finds no place there.
    fn put_all(&mut self, item: &[usize], node: usize) -> bool {
        for (at, pod) in item.iter().enumerate() {
            if self.refusal(*pod, node).is_some() {
                item[..at].iter().for_each(|pod| self.lift(*pod));
                return false;
            }
            self.put(*pod, node);
        }
        true
    }
}
