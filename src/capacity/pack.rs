//! How few nodes of one size hold a set of pods: first fit, then a search that proves or betters it.
//!
//! The rules are the scheduler's: a pod needs its requests free and a place among the pods that the node takes; required
//! anti-affinity by host keeps groups apart; a topology spread by host that must hold bounds how uneven a group may lie.

use super::amounts::Amounts;

/// How many placements the search may try; then the best that was found stands.
const SEARCH_STEPS: u64 = 400_000;

/// Pods that are alike: the replicas of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// What one pod asks for.
    pub request: Amounts,
    /// How many there are.
    pub count: u64,
    /// The groups (by number, its own too) of which no pod may be on a node with one of these.
    pub apart_from: Vec<usize>,
    /// How many more of these than on any other node may be on one.
    pub max_skew: Option<u64>,
}

/// What one node has for pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// What is free.
    pub free: Amounts,
    /// How many pods find a place.
    pub pods: u64,
}

/// A node while it is being filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// What is left.
    pub room: Room,
    /// How many of each group are on it.
    pub counts: Vec<u64>,
}

impl Filled {
    /// An empty node for this many groups.
    #[must_use]
    pub fn empty(room: Room, groups: usize) -> Self {
        Self { room, counts: vec![0; groups] }
    }

    /// Whether one pod more of group `number` may come; `groups` are [`both_ways`].
    #[must_use]
    pub fn takes(&self, groups: &[Group], number: usize, most: u64) -> bool {
        let group = &groups[number];
        self.room.pods > 0
            && group.request.fits(self.room.free)
            && self.counts[number] < most
            && group.apart_from.iter().all(|other| self.counts[*other] == 0)
    }

    /// Puts one pod of group `number` on it.
    pub fn put(&mut self, groups: &[Group], number: usize) {
        self.room.free -= groups[number].request;
        self.room.pods -= 1;
        self.counts[number] += 1;
    }

    /// Takes one pod of group `number` off it.
    pub fn take(&mut self, groups: &[Group], number: usize) {
        self.room.free += groups[number].request;
        self.room.pods += 1;
        self.counts[number] -= 1;
    }
}

/// Nodes with the pods on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packing {
    /// The nodes, none empty unless the spread asks for it.
    pub nodes: Vec<Filled>,
    /// Whether it is proven that fewer nodes do not do.
    pub is_proven: bool,
}

/// The groups, each apart from those too that want to be apart from it: anti-affinity holds in both directions.
#[must_use]
pub fn both_ways(groups: &[Group]) -> Vec<Group> {
    let mut all = groups.to_vec();
    for (number, group) in groups.iter().enumerate() {
        for other in &group.apart_from {
            if !all[*other].apart_from.contains(&number) {
                all[*other].apart_from.push(number);
            }
        }
    }
    all
}

/// Why pods can be packed on no number of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooBig {
    /// The group whose pod fits on no node.
    pub group: usize,
}

/// The fewest nodes of `room` that hold all `groups`.
///
/// # Errors
/// [`TooBig`] where a pod is larger than a whole node.
pub fn pack(groups: &[Group], room: Room) -> Result<Packing, TooBig> {
    let fits = |group: &Group| group.count == 0 || room.pods > 0 && group.request.fits(room.free);
    if let Some(group) = groups.iter().position(|group| !fits(group)) {
        return Err(TooBig { group });
    }
    let groups = &*both_ways(groups);
    let items = by_size(groups, room);
    let least = lower_bound(groups, room);
    let mut first = least;
    let fitted = loop {
        if let Some(nodes) = first_fit(groups, &items, room, first) {
            break nodes;
        }
        first += 1;
    };
    let mut search = Search { groups, items: &items, room, steps: SEARCH_STEPS };
    for count in least..first {
        match search.fill(count) {
            Some(nodes) => {
                return Ok(Packing { nodes, is_proven: search.steps > 0 || count == least });
            }
            None if search.steps == 0 => return Ok(Packing { nodes: fitted, is_proven: false }),
            None => {}
        }
    }
    Ok(Packing { nodes: fitted, is_proven: true })
}

/// The group of each pod, the largest pods first, those of one group together.
#[must_use]
pub fn by_size(groups: &[Group], room: Room) -> Vec<usize> {
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by(|a, b| {
        let share = |number: &usize| share(groups[*number].request, room.free);
        share(b).total_cmp(&share(a)).then(a.cmp(b))
    });
    let count = |number: usize| usize::try_from(groups[number].count).unwrap_or(usize::MAX);
    order.into_iter().flat_map(|number| std::iter::repeat_n(number, count(number))).collect()
}

/// The larger share of a node that a request is.
#[allow(clippy::cast_precision_loss, reason = "only an order is wanted")]
fn share(request: Amounts, of: Amounts) -> f64 {
    let part = |a: u64, b: u64| if a == 0 { 0.0 } else { a as f64 / b.max(1) as f64 };
    part(request.millicores, of.millicores).max(part(request.bytes, of.bytes))
}

/// A number of nodes below which nothing can do: by sums, by pods that fill more than half, by anti-affinity.
#[must_use]
pub fn lower_bound(groups: &[Group], room: Room) -> usize {
    let needed = |sum: u64, of: u64| if sum == 0 { 0 } else { sum.div_ceil(of.max(1)) };
    let total: Amounts = groups.iter().map(|group| group.request.times(group.count)).sum();
    let pods: u64 = groups.iter().map(|group| group.count).sum();
    let is_big = |group: &&Group| {
        2 * group.request.millicores > room.free.millicores
            || 2 * group.request.bytes > room.free.bytes
    };
    // Two pods that each need more than half of one thing may still share a node where the things differ.
    let half = |of: fn(Amounts) -> u64| -> u64 {
        let is_over = |group: &&Group| 2 * of(group.request) > of(room.free);
        groups.iter().filter(is_big).filter(is_over).map(|group| group.count).sum()
    };
    let alone =
        groups.iter().enumerate().filter(|(number, group)| group.apart_from.contains(number));
    let bounds = [
        needed(total.millicores, room.free.millicores),
        needed(total.bytes, room.free.bytes),
        needed(pods, room.pods),
        half(|amounts| amounts.millicores),
        half(|amounts| amounts.bytes),
        alone.map(|(_, group)| group.count).max().unwrap_or(0),
    ];
    usize::try_from(bounds.into_iter().max().unwrap_or(0)).unwrap_or(usize::MAX)
}

/// The most pods of a group that one of `nodes` nodes may hold, by its spread.
#[must_use]
pub fn most_on_one(group: &Group, nodes: usize) -> u64 {
    group.max_skew.map_or(u64::MAX, |skew| group.count / nodes.max(1) as u64 + skew)
}

/// Whether every spread holds over all nodes.
pub(super) fn spreads_hold(groups: &[Group], nodes: &[Filled]) -> bool {
    groups.iter().enumerate().all(|(number, group)| {
        let Some(skew) = group.max_skew.filter(|_| group.count > 0) else { return true };
        let counts = || nodes.iter().map(|node| node.counts[number]);
        let (most, least) = (counts().max().unwrap_or(0), counts().min().unwrap_or(0));
        most - least <= skew
    })
}

/// First fit on exactly `count` nodes; a group with a spread goes where fewest of it are.
fn first_fit(groups: &[Group], items: &[usize], room: Room, count: usize) -> Option<Vec<Filled>> {
    let mut nodes = vec![Filled::empty(room, groups.len()); count];
    for number in items {
        let most = most_on_one(&groups[*number], count);
        let takers = nodes.iter_mut().filter(|node| node.takes(groups, *number, most));
        let node = match groups[*number].max_skew {
            Some(_) => takers.min_by_key(|node| node.counts[*number])?,
            None => takers.into_iter().next()?,
        };
        node.put(groups, *number);
    }
    spreads_hold(groups, &nodes).then_some(nodes)
}

/// A search through all placements on a number of nodes, as far as its steps go.
struct Search<'a> {
    groups: &'a [Group],
    items: &'a [usize],
    room: Room,
    steps: u64,
}

impl Search<'_> {
    fn fill(&mut self, count: usize) -> Option<Vec<Filled>> {
        let mut nodes = vec![Filled::empty(self.room, self.groups.len()); count];
        self.place(&mut nodes, 0, 0).then_some(nodes)
    }

    /// Places the items from `at` on. Pods of one group are alike, so the next of them goes no further to the front than
    /// `from`; nodes that are alike are tried once.
    fn place(&mut self, nodes: &mut [Filled], at: usize, from: usize) -> bool {
        let Some(number) = self.items.get(at).copied() else {
            return spreads_hold(self.groups, nodes);
        };
        let most = most_on_one(&self.groups[number], nodes.len());
        for place in from..nodes.len() {
            if self.steps == 0 {
                return false;
            }
            self.steps -= 1;
            let is_repeated = nodes[from..place].contains(&nodes[place]);
            if is_repeated || !nodes[place].takes(self.groups, number, most) {
                continue;
            }
            nodes[place].put(self.groups, number);
            let next = if self.items.get(at + 1) == Some(&number) { place } else { 0 };
            if self.place(nodes, at + 1, next) {
                return true;
            }
            nodes[place].take(self.groups, number);
        }
        false
    }
}
