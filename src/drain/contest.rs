//! Whether a pod has a place for sure: in whatever order others come, and whatever a scheduler prefers.
//!
//! Others may take room from a pod only by being where it could be. So the question is whether they can be laid out such
//! that no node has room for it any more. Where a search cannot tell, the pod has no place for sure.

use super::apart::HOST;
use super::board::Board;
use super::near::Near;
use super::spread::Spread;
use crate::capacity::extras::clash;

/// How many layouts the search may try for one pod.
const SEARCH_STEPS: usize = 20_000;
/// With more nodes than these only sums are compared.
const MOST_SPOTS: usize = 24;

/// A node that could have the pod. Each number is of processor, memory, pods, whatever else the pod asks for; of pods that it
/// is kept apart from; and of pods that each of its spreads counts.
#[derive(Clone, Debug)]
struct Spot {
    node: usize,
    /// What is free while none of the others is there, of what a node has so much of.
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
    /// How many of the numbers are no spread's.
    plain: usize,
    steps: usize,
}

/// What pods without a node ask for, and what stands in their way.
struct Claimants<'a> {
    who: &'a [usize],
    others: Vec<usize>,
    /// The names of what they ask for beside processor and memory.
    names: Vec<&'a str>,
    /// Those of the others that they are kept apart from, with the topology key.
    apart: Vec<(usize, &'a str)>,
    /// The pods beside them that keep the pods off, where they are, and the topology key.
    barriers: Vec<(usize, usize, &'a str)>,
    /// Where their affinity lets them go, wherever the others are.
    near: Vec<Near<'a>>,
    spreads: Vec<Spread>,
}

impl Board {
    /// Whether the pods `who`, which have no node, find a place together on one of `nodes` whatever `others` do: those that have
    /// come already may have come to other nodes than is thought, and those without a node may come before.
    #[must_use]
    pub(super) fn is_sure(&self, who: &[usize], nodes: &[usize], others: &[usize]) -> bool {
        let others: Vec<usize> =
            others.iter().copied().filter(|other| !who.contains(other)).collect();
        let spreads = who.iter().flat_map(|pod| self.spreads(*pod));
        let (by_host, wide): (Vec<Spread>, Vec<Spread>) =
            spreads.partition(|spread| spread.is_by_host);
        if by_host.iter().any(|spread| spread.lacks_places) {
            return false;
        }
        match wide.as_slice() {
            [] => !self.contest(who, nodes, others, by_host, |contest| contest.can_be_lost()),
            // The place with the fewest pods is never uneven, whichever that is then: there has to be room in each for sure.
            [one] => {
                let places = one.places(nodes);
                let is_lost = |within: &Vec<usize>| {
                    let (others, by_host) = (others.clone(), by_host.clone());
                    self.contest(who, within, others, by_host, |contest| contest.can_be_blocked())
                };
                !places.is_empty() && !places.iter().any(is_lost)
            }
            _ => false,
        }
    }

    /// Whether the pods `who` can be left without a place among `nodes`, as `by_search` finds out where nothing keeps them off
    /// whole places.
    fn contest(
        &self,
        who: &[usize],
        nodes: &[usize],
        others: Vec<usize>,
        spreads: Vec<Spread>,
        by_search: impl Fn(Contest<'_>) -> bool,
    ) -> bool {
        let names = who.iter().flat_map(|pod| self.state.pods[*pod].extras.keys());
        let names: std::collections::BTreeSet<&str> = names.map(String::as_str).collect();
        let claimants = Claimants {
            who,
            names: names.into_iter().collect(),
            apart: who.iter().flat_map(|pod| self.kept_apart(*pod, &others)).collect(),
            barriers: who
                .iter()
                .flat_map(|pod| self.apart_from(*pod))
                .filter(|(other, ..)| !others.contains(other))
                .collect(),
            near: who.iter().filter_map(|pod| self.near_whatever(*pod, &others)).collect(),
            spreads,
            others,
        };
        let contest = Contest {
            board: self,
            spots: self.spots(nodes, &claimants),
            rivals: self.rivals(&claimants),
            is_used: vec![false; claimants.others.len()],
            plain: 4 + claimants.names.len(),
            steps: SEARCH_STEPS,
        };
        let is_wide = |(_, key): &&(usize, &str)| *key != HOST;
        match claimants.apart.iter().find(is_wide) {
            Some((_, key)) => !contest.excludes_whole_places(key, claimants.apart.len()),
            None => by_search(contest),
        }
    }

    /// The nodes that could have the pods if none of the others were there.
    fn spots(&self, nodes: &[usize], claimants: &Claimants<'_>) -> Vec<Spot> {
        let Claimants { who, others, names, spreads, .. } = claimants;
        let asked = self.sum(who, names);
        let mut given: Vec<Vec<u64>> = vec![vec![0; asked.len()]; self.state.nodes.len()];
        for other in others {
            if let Some(node) = self.state.pods[*other].node {
                add(&mut given[node], &self.sum(&[*other], names));
            }
        }
        let bounds: Vec<(u64, Vec<u64>)> =
            spreads.iter().map(|spread| spread.bounds(&self.state, others)).collect();
        let spot = |node: &usize| {
            let may = |pod: &usize| self.forbids(&self.state.pods[*pod], *node).is_none();
            let mut free = self.free_of(*node, names);
            add(&mut free, &given[*node]);
            let fits = free.iter().zip(&asked).all(|(free, asked)| asked <= free);
            // Those that stay where they are count for a spread already.
            let missing = bounds.iter().map(|(most, there)| most.saturating_sub(there[*node]));
            let missing: Vec<u64> = missing.collect();
            let can_be_even = missing.iter().all(|missing| *missing > 0);
            if !fits || !can_be_even || !who.iter().all(may) || self.is_barred(*node, claimants) {
                return None;
            }
            // Of what the pod does not ask for, others may take all.
            let need = free.iter().zip(&asked).map(|(free, asked)| match asked {
                0 => u64::MAX,
                _ => free - asked + 1,
            });
            Some(Spot { node: *node, need: need.chain([1]).chain(missing).collect(), free })
        };
        nodes.iter().filter_map(spot).collect()
    }

    /// Whether one of the pods is kept off a node by a pod that is none of the others.
    fn is_barred(&self, node: usize, claimants: &Claimants<'_>) -> bool {
        let is_other = |pod: usize| claimants.others.contains(&pod);
        let is_taken = |pod: &usize| self.taken_port(*pod, node, is_other).is_some();
        claimants.barriers.iter().any(|apart| self.is_near(node, apart))
            || claimants.near.iter().any(|near| self.is_far(node, near))
            || claimants.who.iter().any(is_taken)
    }

    fn rivals(&self, claimants: &Claimants<'_>) -> Vec<Rival> {
        let Claimants { who, others, names, apart, spreads, .. } = claimants;
        let clashes = |other: usize| {
            let ports = &self.state.pods[other].ports;
            who.iter().any(|pod| clash(&self.state.pods[*pod].ports, ports).is_some())
        };
        let rival = |other: &usize| {
            let mut takes = self.sum(&[*other], names);
            let is_apart = apart.iter().any(|(one, _)| one == other) || clashes(*other);
            takes.push(u64::from(is_apart));
            takes.extend(spreads.iter().map(|spread| u64::from(spread.peers.contains(other))));
            Rival { pod: *other, takes }
        };
        let mut rivals: Vec<Rival> = others.iter().map(rival).collect();
        rivals.sort_by(|a, b| (b.takes[1], &b.takes).cmp(&(a.takes[1], &a.takes)));
        rivals
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
fn least_share(need: &[u64], all: &[u64]) -> f64 {
    let shares = need.iter().zip(all).filter(|(_, all)| **all > 0);
    shares.map(|(need, all)| *need as f64 / *all as f64).fold(f64::MAX, f64::min)
}

fn add(sum: &mut [u64], more: &[u64]) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
}

impl Contest<'_> {
    /// Whether the others can be laid out such that every spot is blocked, where the spots are on nodes of which none is uneven by
    /// whatever other nodes have.
    fn can_be_blocked(mut self) -> bool {
        self.spots.is_empty() || self.block_from(0)
    }

    /// Whether the others can be laid out such that every spot is blocked.
    fn can_be_lost(mut self) -> bool {
        // The node with the fewest pods is never uneven: that one is blocked by something else.
        let all = self.taken_by_unused();
        let plain = self.plain;
        let is_blockable = |spot: &Spot| least_share(&spot.need[..plain], &all[..plain]) <= 1.0;
        self.spots.is_empty() || self.spots.iter().any(is_blockable) && self.block_from(0)
    }

    /// Whether room is left for sure where pods keep the claimants off whole places, such as zones, each off one of them.
    fn excludes_whole_places(&self, key: &str, times: usize) -> bool {
        let mut places: std::collections::BTreeMap<Option<&str>, Vec<Spot>> = Default::default();
        for spot in &self.spots {
            places.entry(self.board.topology(spot.node, key)).or_default().push(spot.clone());
        }
        let all = self.taken_by_unused();
        let effort = |spots: &Vec<Spot>| -> f64 {
            spots.iter().map(|spot| least_share(&spot.need, &all)).sum()
        };
        let mut places: Vec<Vec<Spot>> = places.into_values().collect();
        places.sort_by(|a, b| effort(a).total_cmp(&effort(b)));
        places.truncate(places.len().saturating_sub(times));
        let left: Vec<Spot> = places.into_iter().flatten().collect();
        !left.is_empty() && self.sums_exclude_it(&left)
    }

    /// The others that are not used yet.
    fn unused(&self) -> impl Iterator<Item = &Rival> {
        self.rivals
            .iter()
            .zip(&self.is_used)
            .filter(|(_, is_used)| !**is_used)
            .map(|(rival, _)| rival)
    }

    /// What they take together.
    fn taken_by_unused(&self) -> Vec<u64> {
        let mut all = vec![0; self.spots.first().map_or(0, |spot| spot.need.len())];
        self.unused().for_each(|rival| add(&mut all, &rival.takes));
        all
    }

    /// Blocking a node takes some share of what the others take of one thing, and of each thing there is one whole. Things are
    /// weighed such that blocking by each is about as dear; any weights would do.
    #[allow(clippy::cast_precision_loss, reason = "a bound with room to spare")]
    fn sums_exclude_it(&self, spots: &[Spot]) -> bool {
        let all = self.taken_by_unused();
        let share = |spot: &Spot, thing: usize| {
            (spot.need[thing] <= all[thing]).then(|| spot.need[thing] as f64 / all[thing] as f64)
        };
        let mean = |thing: usize| {
            let shares: Vec<f64> = spots.iter().filter_map(|spot| share(spot, thing)).collect();
            (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
        };
        let means: Vec<Option<f64>> = (0..all.len()).map(mean).collect();
        let wholes: f64 = means.iter().flatten().map(|mean| 1.0 / mean).sum();
        let effort = |spot: &Spot| {
            let by = (0..all.len()).filter_map(|thing| Some(share(spot, thing)? / means[thing]?));
            by.fold(f64::MAX, f64::min)
        };
        !spots.is_empty() && spots.iter().map(effort).sum::<f64>() > wholes * 1.000_001
    }

    /// Blocking a node by one thing takes others that have all of it together there. So each of them counts for no more than the
    /// largest part that it has of what blocks a node, and all together for no more nodes than these parts add up to.
    #[allow(clippy::cast_precision_loss, reason = "a bound with room to spare")]
    fn parts_exclude_it(&self, spots: &[Spot]) -> bool {
        let Some(first) = spots.first() else { return false };
        let least_need =
            |thing: usize| spots.iter().map(|spot| spot.need[thing]).min().unwrap_or(0);
        let needs: Vec<u64> = (0..first.need.len()).map(least_need).collect();
        let part = |rival: &Rival| {
            let parts =
                rival.takes.iter().zip(&needs).map(|(takes, need)| *takes as f64 / *need as f64);
            parts.fold(0.0, f64::max)
        };
        self.unused().map(part).sum::<f64>() < spots.len() as f64 * 0.999_999
    }

    /// Whether the spots from `at` on can be blocked by those that are not used yet. Where the steps are used up it is taken
    /// to be so.
    fn block_from(&mut self, at: usize) -> bool {
        let left = &self.spots[at..];
        if !self.board.spend(self.rivals.len() as u64) {
            return true;
        }
        if self.sums_exclude_it(left) || self.parts_exclude_it(left) {
            return false;
        }
        let Some(spot) = self.spots.get(at).filter(|_| self.spots.len() <= MOST_SPOTS) else {
            return true;
        };
        let numbers = spot.need.len();
        (0..numbers).any(|number| self.fill(at, number, 0, &vec![0; numbers]))
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
        if !self.board.spend((self.rivals.len() - from) as u64) {
            return true;
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
