//! Whether a pod has a place for sure: in whatever order others come, and whatever a scheduler prefers.
//!
//! Others may take room from a pod only by being where it could be. So the question is whether they can be laid out such
//! that no node has room for it any more. Where a search cannot tell, the pod has no place for sure.

use super::apart::HOST;
use super::board::Board;
use crate::capacity::extras::clash;

/// How many layouts the search may try for one pod.
const SEARCH_STEPS: usize = 20_000;
/// With more nodes than these only sums are compared.
const MOST_SPOTS: usize = 24;

/// A node that could have the pod. Each number is of processor, memory, pods, whatever else the pod asks for, and last of
/// pods that it is kept apart from.
#[derive(Clone, Debug)]
struct Spot {
    node: usize,
    /// What is free while none of the others is there.
    free: Vec<u64>,
    /// How much others have to take of one of them so that the pod fits no more.
    need: Vec<u64>,
}

/// What another pod takes of a node, in the numbers of a [`Spot`].
#[derive(Clone, Debug)]
struct Rival {
    pod: usize,
    takes: Vec<u64>,
}

struct Contest<'a> {
    board: &'a Board,
    spots: Vec<Spot>,
    rivals: Vec<Rival>,
    is_used: Vec<bool>,
    steps: usize,
}

impl Board {
    /// Whether the pods `who`, which have no node, find a place together on one of `nodes` whatever `others` do: those that have
    /// come already may have come to other nodes than is thought, and those without a node may come before.
    #[must_use]
    pub(super) fn is_sure(&self, who: &[usize], nodes: &[usize], others: &[usize]) -> bool {
        let others: Vec<usize> =
            others.iter().copied().filter(|other| !who.contains(other)).collect();
        let apart: Vec<(usize, &str)> =
            who.iter().flat_map(|pod| self.kept_apart(*pod, &others)).collect();
        let spots = self.spots(who, nodes, &others);
        let contest = Contest {
            board: self,
            rivals: self.rivals(who, &others, &apart),
            is_used: vec![false; others.len()],
            spots,
            steps: SEARCH_STEPS,
        };
        let mut wide = apart.iter().filter(|(_, key)| *key != HOST).peekable();
        if let Some((_, key)) = wide.peek() {
            let places = contest.spots.iter().filter_map(|spot| self.topology(spot.node, key));
            let places: std::collections::BTreeSet<&str> = places.collect();
            if apart.len() >= places.len() {
                return false;
            }
        }
        // An uneven spread leaves the pod the node with the fewest alone: one that others fill is enough. So it is where one
        // pod keeps it off a whole zone.
        let is_one_enough = wide.peek().is_some() || who.iter().any(|pod| self.has_spread(*pod));
        !contest.is_lost(is_one_enough)
    }

    /// The nodes that could have `who` if none of `others` were there.
    fn spots(&self, who: &[usize], nodes: &[usize], others: &[usize]) -> Vec<Spot> {
        let names = self.names_asked(who);
        let asked = self.sum(who, &names);
        let mut given: Vec<Vec<u64>> = vec![vec![0; asked.len()]; self.state.nodes.len()];
        for other in others {
            if let Some(node) = self.state.pods[*other].node {
                add(&mut given[node], &self.sum(&[*other], &names));
            }
        }
        let spot = |node: &usize| {
            let may = |pod: &usize| self.forbids(&self.state.pods[*pod], *node).is_none();
            let mut free = self.free_of(*node, &names);
            add(&mut free, &given[*node]);
            let fits = free.iter().zip(&asked).all(|(free, asked)| asked <= free);
            if !fits || !who.iter().all(may) || self.is_barred(who, *node, others) {
                return None;
            }
            // Of what the pod does not ask for, others may take all.
            let need = free.iter().zip(&asked).map(|(free, asked)| match asked {
                0 => u64::MAX,
                _ => free - asked + 1,
            });
            Some(Spot { node: *node, need: need.chain([1]).collect(), free })
        };
        nodes.iter().filter_map(spot).collect()
    }

    /// Whether one of `who` is kept off a node by a pod that is none of `others`.
    fn is_barred(&self, who: &[usize], node: usize, others: &[usize]) -> bool {
        who.iter().any(|pod| {
            let apart = self.apart_from(*pod);
            let is_fixed = |(other, ..): &&(usize, usize, &str)| !others.contains(other);
            apart.iter().filter(is_fixed).any(|apart| self.is_near(node, apart))
                || self.taken_port(*pod, node, |other| others.contains(&other)).is_some()
        })
    }

    fn rivals(&self, who: &[usize], others: &[usize], apart: &[(usize, &str)]) -> Vec<Rival> {
        let names = self.names_asked(who);
        let clashes = |other: usize| {
            let ports = &self.state.pods[other].ports;
            who.iter().any(|pod| clash(&self.state.pods[*pod].ports, ports).is_some())
        };
        let rival = |other: &usize| {
            let mut takes = self.sum(&[*other], &names);
            let is_apart = apart.iter().any(|(one, _)| one == other) || clashes(*other);
            takes.push(u64::from(is_apart));
            Rival { pod: *other, takes }
        };
        let mut rivals: Vec<Rival> = others.iter().map(rival).collect();
        rivals.sort_by(|a, b| (b.takes[1], &b.takes).cmp(&(a.takes[1], &a.takes)));
        rivals
    }

    /// The names of what the pods ask for beside processor and memory.
    fn names_asked(&self, who: &[usize]) -> Vec<&str> {
        let names = who.iter().flat_map(|pod| self.state.pods[*pod].extras.keys());
        let mut names: Vec<&str> = names.map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn sum(&self, pods: &[usize], names: &[&str]) -> Vec<u64> {
        let mut sum = vec![0; 3 + names.len()];
        for pod in pods.iter().map(|pod| &self.state.pods[*pod]) {
            let extras = names.iter().map(|name| pod.extras.get(*name).copied().unwrap_or(0));
            let own = [pod.request.millicores, pod.request.bytes, 1].into_iter().chain(extras);
            add(&mut sum, &own.collect::<Vec<_>>());
        }
        sum
    }
}

/// The least share of what all take of one thing that blocks the spot; more than 1 where nothing does.
#[allow(clippy::cast_precision_loss, reason = "a bound with room to spare")]
fn least_share(spot: &Spot, all: &[u64]) -> f64 {
    let shares = spot.need.iter().zip(all).filter(|(_, all)| **all > 0);
    shares.map(|(need, all)| *need as f64 / *all as f64).fold(f64::MAX, f64::min)
}

fn add(sum: &mut [u64], more: &[u64]) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
}

impl Contest<'_> {
    /// Whether the others can be laid out such that every spot is blocked, or one where that is enough.
    fn is_lost(mut self, is_one_enough: bool) -> bool {
        if is_one_enough {
            let all = self.unused();
            return self.spots.iter().any(|spot| least_share(spot, &all) <= 1.0);
        }
        self.block_from(0)
    }

    /// What the others that are not used yet take together.
    fn unused(&self) -> Vec<u64> {
        let mut all = vec![0; self.spots.first().map_or(0, |spot| spot.need.len())];
        let unused = self.rivals.iter().zip(&self.is_used).filter(|(_, is_used)| !**is_used);
        unused.for_each(|(rival, _)| add(&mut all, &rival.takes));
        all
    }

    /// Blocking a node takes some share of what the others take of one thing, and of each thing there is one whole.
    fn sums_exclude_it(&self, spots: &[Spot]) -> bool {
        let all = self.unused();
        let is_possible = |number: usize| spots.iter().any(|spot| spot.need[number] <= all[number]);
        let things = (0..all.len()).filter(|number| is_possible(*number)).count();
        let shares = spots.iter().map(|spot| least_share(spot, &all));
        let (sum, most) = shares
            .fold((0.0, 0.0), |(sum, most): (f64, f64), share| (sum + share, most.max(share)));
        #[allow(clippy::cast_precision_loss, reason = "a bound with room to spare")]
        let wholes = things as f64 * 1.000_001;
        !spots.is_empty() && (sum > wholes || most > 1.0)
    }

    /// Whether the spots from `at` on can be blocked by those that are not used yet. Where the steps are used up it is taken
    /// to be so.
    fn block_from(&mut self, at: usize) -> bool {
        if self.sums_exclude_it(&self.spots[at..]) {
            return false;
        }
        let Some(spot) = self.spots.get(at).filter(|_| self.spots.len() <= MOST_SPOTS) else {
            return true;
        };
        let (numbers, free) = (spot.need.len(), spot.free.len());
        (0..numbers).any(|number| self.fill(at, number, 0, &vec![0; free + 1]))
    }

    /// Whether the spot `at` can be blocked by its `number`, given what is there, and all later ones.
    fn fill(&mut self, at: usize, number: usize, from: usize, there: &[u64]) -> bool {
        if self.steps == 0 {
            return true;
        }
        self.steps -= 1;
        if there[number] >= self.spots[at].need[number] {
            return self.block_from(at + 1);
        }
        for next in from..self.rivals.len() {
            let is_repeated = next > from && !self.is_used[next - 1] && self.is_alike(next);
            if self.is_used[next] || is_repeated || self.rivals[next].takes[number] == 0 {
                continue;
            }
            let mut with = there.to_vec();
            add(&mut with, &self.rivals[next].takes);
            let spot = &self.spots[at];
            let fits = spot.free.iter().zip(&with).all(|(free, with)| with <= free);
            let other = &self.board.state.pods[self.rivals[next].pod];
            if !fits || self.board.forbids(other, spot.node).is_some() {
                continue;
            }
            self.is_used[next] = true;
            let is_blocked = self.fill(at, number, next + 1, &with);
            self.is_used[next] = false;
            if is_blocked {
                return true;
            }
        }
        false
    }

    /// Whether a rival is like the one before it, so that trying it in its stead leads nowhere.
    fn is_alike(&self, at: usize) -> bool {
        let (one, other) = (&self.rivals[at], &self.rivals[at - 1]);
        let (first, second) = (&self.board.state.pods[one.pod], &self.board.state.pods[other.pod]);
        one.takes == other.takes
            && first.owner == second.owner
            && first.claims.is_empty()
            && second.claims.is_empty()
    }
}
