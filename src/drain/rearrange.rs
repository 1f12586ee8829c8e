//! Whether there is a placement at all: a bounded search through those of the pods that have moved.

use std::collections::{HashMap, HashSet};

use super::apart::{Around, HOST, is_follower};
use super::board::Board;
use super::spread::Spread;
use crate::capacity::amounts::Amounts;

/// What makes two placements alike.
struct Alike {
    /// By node: those of one class take the same items while they have the same left.
    classes: Vec<usize>,
    /// By pod, where it matters to others on which node it is: the first pod that is like it.
    kin: Vec<Option<usize>>,
}

/// The class of a node, what is left of it, and the pods that were put there as far as they matter.
type Likeness = (usize, Vec<u64>, Vec<usize>);

fn is_wide((_, _, key): &(usize, usize, &str)) -> bool {
    *key != HOST
}

impl Board {
    /// Finds a node for each of the `items`, pods that go to one node together, by moving those that have one; the largest first, and
    /// those that have to be near others after all.
    /// `steps` is how many tries are left. Where none is found the board is as it was.
    pub(super) fn rearrange(&mut self, items: &[Vec<usize>], steps: &mut usize) -> bool {
        // To begin with, each is held against each node, twice: alone, and for what nodes have in common.
        let beginning = 2 * items.len() * self.state.nodes.len();
        *steps = steps.saturating_sub(beginning);
        if *steps == 0 || !self.has_sum(items) {
            return false;
        }
        let mut items = items.to_vec();
        let before: Vec<(usize, usize)> = items
            .iter()
            .flatten()
            .filter_map(|pod| Some((*pod, self.state.pods[*pod].node?)))
            .collect();
        items.iter().flatten().for_each(|pod| self.lift(*pod));
        let size = |item: &Vec<usize>| {
            let requests = item.iter().map(|pod| self.state.pods[*pod].request);
            let sum: Amounts = requests.sum();
            let follows = item.iter().any(|pod| is_follower(&self.state.pods[*pod]));
            (follows, std::cmp::Reverse((sum.bytes, sum.millicores)), item.clone())
        };
        items.sort_by_cached_key(size);
        if self.has_each_alone(&items) && self.search(&items, steps) {
            return true;
        }
        before.into_iter().for_each(|(pod, node)| self.put(pod, node));
        false
    }

    /// Whether what those ask for that have no node is free at all, on all open nodes together.
    fn has_sum(&self, items: &[Vec<usize>]) -> bool {
        let homeless = items.iter().flatten().filter(|pod| self.state.pods[**pod].node.is_none());
        let asked: Amounts = homeless.map(|pod| self.state.pods[*pod].request).sum();
        let open = (0..self.state.nodes.len()).filter(|node| self.is_open(*node));
        asked.fits(open.map(|node| self.free(node)).sum())
    }

    /// Whether each would find a place if there were no others, but for those that have to be near others.
    fn has_each_alone(&mut self, items: &[Vec<usize>]) -> bool {
        let alone =
            |item: &&Vec<usize>| !item.iter().any(|pod| is_follower(&self.state.pods[*pod]));
        let items: Vec<&Vec<usize>> = items.iter().filter(alone).collect();
        items.into_iter().all(|item| {
            let fits = self.put_first(item, 0).is_some();
            item.iter().for_each(|pod| self.lift(*pod));
            fits
        })
    }

    fn search(&mut self, items: &[Vec<usize>], steps: &mut usize) -> bool {
        let alike = self.alike(items);
        let mut failed: HashSet<(usize, Vec<Likeness>)> = HashSet::new();
        let mut chosen: Vec<usize> = Vec::new();
        let mut from = 0;
        while let Some(item) = items.get(chosen.len()) {
            let likeness = (from == 0).then(|| self.likeness(&alike, items, &chosen));
            let is_known = likeness.is_some_and(|like| failed.contains(&(chosen.len(), like)));
            let taker = if is_known { None } else { self.put_first(item, from) };
            *steps = steps.saturating_sub(taker.map_or(self.state.nodes.len(), |at| at + 1 - from));
            if let Some(node) = taker {
                chosen.push(node);
                from = 0;
                continue;
            }
            failed.insert((chosen.len(), self.likeness(&alike, items, &chosen)));
            let Some(last) = chosen.pop().filter(|_| *steps > 0) else {
                items.iter().flatten().for_each(|pod| self.lift(*pod));
                return false;
            };
            items[chosen.len()].iter().for_each(|pod| self.lift(*pod));
            from = last + 1;
        }
        true
    }

    /// Which nodes are alike to the items, none of which has a node.
    fn alike(&self, items: &[Vec<usize>]) -> Alike {
        let pods: Vec<usize> = items.iter().flatten().copied().collect();
        let arounds: Vec<Around<'_>> = pods.iter().map(|pod| self.around(*pod)).collect();
        let mut matters = vec![false; self.state.pods.len()];
        let mut has_wide_key = arounds.iter().flat_map(|around| &around.apart).any(is_wide);
        let has_followers = pods.iter().any(|pod| is_follower(&self.state.pods[*pod]));
        has_wide_key |= has_followers;
        for (pod, around) in pods.iter().zip(&arounds) {
            has_wide_key |= around.spreads.iter().any(|spread| !spread.is_by_host);
            matters[*pod] |= has_followers;
            let who = &self.state.pods[*pod];
            let apart = self.kept_apart(*pod, &pods);
            has_wide_key |= apart.iter().any(|(other, key)| is_wide(&(*other, 0, *key)));
            matters[*pod] |= !apart.is_empty() || !who.ports.is_empty() || !who.extras.is_empty();
            let counted = around.spreads.iter().flat_map(|spread| &spread.peers);
            counted.for_each(|peer| matters[*peer] = true);
        }
        let mut known: HashMap<Vec<u64>, usize> = HashMap::new();
        let mut class = |node: usize| {
            let mut marks: Vec<u64> = Vec::new();
            for (pod, around) in pods.iter().zip(&arounds) {
                let is_barred = self.forbids(&self.state.pods[*pod], node).is_some()
                    || around.apart.iter().any(|apart| self.is_near(node, apart))
                    || self.taken_port(*pod, node, |_| false).is_some();
                marks.push(u64::from(is_barred));
                let count = |spread: &Spread| spread.count(node).unwrap_or(u64::MAX);
                marks.extend(around.spreads.iter().map(count));
            }
            // What tells nodes apart by more than themselves, such as zones, is not looked into.
            marks.push(if has_wide_key { node as u64 } else { 0 });
            marks.push(u64::from(self.is_open(node)));
            let next = known.len();
            *known.entry(marks).or_insert(next)
        };
        let classes = (0..self.state.nodes.len()).map(&mut class).collect();
        let first_like = |pod: usize| {
            let is_kin =
                |other: &&usize| self.state.pods[**other].owner == self.state.pods[pod].owner;
            pods.iter().find(is_kin).copied().unwrap_or(pod)
        };
        let kin = (0..self.state.pods.len()).map(|pod| matters[pod].then(|| first_like(pod)));
        Alike { classes, kin: kin.collect() }
    }

    /// What of the placement of the first items decides whether the rest can be placed.
    fn likeness(&self, alike: &Alike, items: &[Vec<usize>], chosen: &[usize]) -> Vec<Likeness> {
        let like = |(node, class): (usize, &usize)| (*class, self.free_of(node, &[]), Vec::new());
        let mut all: Vec<Likeness> = alike.classes.iter().enumerate().map(like).collect();
        for (node, item) in chosen.iter().zip(items) {
            all[*node].2.extend(item.iter().filter_map(|pod| alike.kin[*pod]));
        }
        all.iter_mut().for_each(|(_, _, pods)| pods.sort_unstable());
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
