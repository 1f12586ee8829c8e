//! In which order nodes are emptied: rules first, then the least loaded, replicas of a pair apart.

use std::collections::{BTreeMap, BTreeSet};

use super::pod::{Pod, WorkloadId};
use super::rules::{BuiltIn, OrderRule, Rules};
use super::state::State;

/// What is moved in one go: the pods of a node, or some of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The node, by position.
    pub node: usize,
    /// The pods, by position.
    pub pods: Vec<usize>,
    /// Which part of the node it is.
    pub part: Part,
}

/// Which part of a node is moved in one go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A workload that a rule puts before others of the node.
    Picked(WorkloadId),
    /// All that is not picked.
    Rest,
    /// A database of one instance, after all else.
    Database(WorkloadId),
}

/// Pods that serve in each other's stead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// What they are called.
    pub name: String,
    /// Their workload; `None` for what only a rule brings together.
    pub workload: Option<WorkloadId>,
    /// Their namespace and selector, where a rule says so.
    pub selector: Option<(String, String)>,
    /// The pods, by position.
    pub pods: Vec<usize>,
}

/// Rules that contradict each other: going round in a circle, each is the reason for the next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these rules cannot all be obeyed: {}", .rules.join("; "))]
pub struct Cycle {
    /// The rules.
    pub rules: Vec<String>,
}

/// One unit has to be done before another one.
struct Link {
    before: usize,
    after: usize,
    rule: String,
}

/// What a sweep over some nodes is arranged from.
pub struct Arrangement<'a> {
    /// The cluster.
    pub state: &'a State,
    /// The nodes to empty, by position.
    pub nodes: &'a [usize],
    /// Pods that are moved after all else.
    pub databases: &'a BTreeSet<usize>,
    /// The rules.
    pub rules: &'a Rules,
    /// What may not be down together.
    pub pairs: &'a [Pair],
}

/// How much runs on a node that a drain moves: memory, processor, pods.
#[must_use]
pub fn load(state: &State, node: usize) -> (u64, u64, usize) {
    let here = state.pods.iter().filter(|pod| pod.node == Some(node) && pod.moves());
    let (mut bytes, mut millicores, mut count) = (0, 0, 0);
    for pod in here {
        bytes += pod.request.bytes;
        millicores += pod.request.millicores;
        count += 1;
    }
    (bytes, millicores, count)
}

/// The pairs of a cluster: those of rules, and the replicas of each workload.
#[must_use]
pub fn pairs(state: &State, rules: &Rules) -> Vec<Pair> {
    let runs = |pod: &&usize| !state.pods[**pod].is_over() && !state.pods[**pod].stays();
    let all: Vec<usize> = (0..state.pods.len()).collect();
    let mut pairs: Vec<Pair> = rules
        .pairs
        .iter()
        .map(|rule| Pair {
            name: rule.name.clone(),
            workload: None,
            selector: Some((rule.namespace.clone(), rule.selector.clone())),
            pods: all
                .iter()
                .filter(runs)
                .copied()
                .filter(|pod| rule.selects(&state.pods[*pod]))
                .collect(),
        })
        .collect();
    if rules.has(BuiltIn::PairsApart) {
        let ids: BTreeSet<&WorkloadId> = state.pods.iter().filter_map(Pod::workload).collect();
        for id in ids {
            let pods = state.pods_of(id);
            let is_named = pairs[..rules.pairs.len()]
                .iter()
                .any(|pair| pods.iter().all(|pod| pair.pods.contains(pod)));
            if pods.len() > 1 && id.kind != "Job" && !is_named {
                let workload = Some(id.clone());
                pairs.push(Pair { name: id.to_string(), workload, selector: None, pods });
            }
        }
    }
    pairs.retain(|pair| pair.pods.len() > 1);
    pairs
}

impl Arrangement<'_> {
    /// The units in the order in which they are moved.
    ///
    /// # Errors
    /// [`Cycle`] where rules contradict each other.
    pub fn arrange(&self) -> Result<Vec<Unit>, Cycle> {
        let mut picked = self.picked_beside_their_successors();
        let mut units = self.units(&picked);
        let mut links = self.links(&units);
        if let Some(cycle) = find_cycle(units.len(), &links) {
            // Nodes that wait for each other may be taken apart: workload by workload.
            let nodes: BTreeSet<usize> =
                cycle.iter().flat_map(|at| [links[*at].before, links[*at].after]).collect();
            let nodes: BTreeSet<usize> = nodes.iter().map(|unit| units[*unit].node).collect();
            picked.extend(self.to_take_apart(&nodes));
            units = self.units(&picked);
            links = self.links(&units);
        }
        if let Some(cycle) = find_cycle(units.len(), &links) {
            let rules = cycle.iter().map(|at| links[*at].rule.clone()).collect();
            return Err(Cycle { rules: without_repeats(rules) });
        }
        let order = self.search(&units, &links).unwrap_or_else(|| self.greedy(&units, &links));
        let mut units: Vec<Option<Unit>> = units.into_iter().map(Some).collect();
        Ok(order.into_iter().filter_map(|at| units[at].take()).collect())
    }

    fn moving(&self, node: usize) -> impl Iterator<Item = usize> {
        let state = self.state;
        let is_here =
            move |at: &usize| state.pods[*at].node == Some(node) && state.pods[*at].moves();
        (0..state.pods.len()).filter(is_here)
    }

    fn is_of(&self, pod: usize, named: &super::rules::Named) -> bool {
        self.state.pods[pod].workload().is_some_and(|id| named.is(id))
    }

    /// Workloads of a node that a rule puts before another one of the same node.
    fn picked_beside_their_successors(&self) -> BTreeSet<(usize, WorkloadId)> {
        let mut picked = BTreeSet::new();
        for node in self.nodes {
            let pods: Vec<usize> =
                self.moving(*node).filter(|pod| !self.databases.contains(pod)).collect();
            for rule in &self.rules.order {
                if pods.iter().any(|pod| self.is_of(*pod, &rule.after)) {
                    let first = pods.iter().filter(|pod| self.is_of(**pod, &rule.before));
                    let ids = first.filter_map(|pod| self.state.pods[*pod].workload());
                    picked.extend(ids.map(|id| (*node, id.clone())));
                }
            }
        }
        picked
    }

    /// Workloads of these nodes that rules speak of, and databases whose primary goes last.
    fn to_take_apart(&self, nodes: &BTreeSet<usize>) -> BTreeSet<(usize, WorkloadId)> {
        let is_in_rule = |id: &WorkloadId| {
            self.rules.order.iter().any(|rule| rule.before.is(id) || rule.after.is(id))
        };
        let is_named = |id: &WorkloadId| id.kind == "Cluster" || is_in_rule(id);
        let pods = self.state.pods.iter().filter(|pod| pod.moves());
        let here = pods.filter_map(|pod| Some((pod.node?, pod.workload()?)));
        let named = here.filter(|(node, id)| nodes.contains(node) && is_named(id));
        named.map(|(node, id)| (node, id.clone())).collect()
    }

    fn units(&self, picked: &BTreeSet<(usize, WorkloadId)>) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::new();
        for node in self.nodes {
            let mut add = |part: Part, pod: Option<usize>| {
                let known = units.iter_mut().find(|unit| unit.node == *node && unit.part == part);
                match known {
                    Some(unit) => unit.pods.extend(pod),
                    None => {
                        let pods = pod.into_iter().collect();
                        units.push(Unit { node: *node, pods, part });
                    }
                }
            };
            // A node with nothing to move is drained too: it is done when its drain says so.
            add(Part::Rest, None);
            for pod in self.moving(*node) {
                let id = self.state.pods[pod].workload().cloned();
                let part = match id {
                    Some(id) if self.databases.contains(&pod) => Part::Database(id),
                    Some(id) if picked.contains(&(*node, id.clone())) => Part::Picked(id),
                    _ => Part::Rest,
                };
                add(part, Some(pod));
            }
        }
        units
    }

    fn links(&self, units: &[Unit]) -> Vec<Link> {
        let mut links = Vec::new();
        for rule in &self.rules.order {
            self.link_rule(rule, units, &mut links);
        }
        let is_database = |unit: &Unit| matches!(unit.part, Part::Database(_));
        for (after, last) in units.iter().enumerate().filter(|(_, unit)| is_database(unit)) {
            for (before, _) in units.iter().enumerate().filter(|(_, unit)| !is_database(unit)) {
                let name = last.pods.first().map(|pod| self.state.pods[*pod].shown());
                let rule = format!(
                    "{}: all else before {}",
                    BuiltIn::DatabasesLast.word(),
                    name.unwrap_or_default()
                );
                links.push(Link { before, after, rule });
            }
        }
        self.link_switchovers(units, &mut links);
        links
    }

    fn link_rule(&self, rule: &OrderRule, units: &[Unit], links: &mut Vec<Link>) {
        let holds = |named| {
            let has = move |unit: &Unit| unit.pods.iter().any(|pod| self.is_of(*pod, named));
            let numbered = units.iter().enumerate();
            numbered.filter(move |(_, unit)| has(unit)).map(|(at, _)| at).collect::<Vec<_>>()
        };
        for before in holds(&rule.before) {
            for after in holds(&rule.after) {
                if before != after {
                    links.push(Link { before, after, rule: rule.shown() });
                }
            }
        }
    }

    /// The operator moves a primary away when a replica runs on a node that is not cordoned: where none does, the
    /// replicas have to be moved first.
    fn link_switchovers(&self, units: &[Unit], links: &mut Vec<Link>) {
        for database in self.state.databases.iter().filter(|database| database.instances > 1) {
            let is_instance =
                |pod: &Pod| self.state.database_of(pod).is_some_and(|known| known == database);
            let is_primary = |pod: &Pod| database.primary.as_deref() == Some(pod.name.as_str());
            let mut instances = self.state.pods.iter().filter(|pod| is_instance(pod));
            let is_held = |pod: &Pod| pod.node.is_some_and(|node| self.nodes.contains(&node));
            if instances.any(|pod| !is_primary(pod) && !is_held(pod)) {
                continue;
            }
            let find = |wanted: &dyn Fn(&Pod) -> bool| -> Vec<usize> {
                let has = |unit: &Unit| {
                    let mut pods = unit.pods.iter().map(|pod| &self.state.pods[*pod]);
                    pods.any(|pod| is_instance(pod) && wanted(pod))
                };
                (0..units.len()).filter(|at| has(&units[*at])).collect()
            };
            for before in find(&|pod| !is_primary(pod)) {
                for after in find(&is_primary) {
                    let name = &database.name;
                    let rule = format!("the replicas of Cluster/{name} before its primary");
                    if before != after {
                        links.push(Link { before, after, rule });
                    }
                }
            }
        }
    }

    /// What decides among units that may be next: databases' nodes later, then by load.
    fn rank<'b>(&'b self, unit: &'b Unit) -> (bool, (u64, u64, usize), &'b str, &'b Part) {
        let holds = |pod: &usize| self.state.pods[*pod].node == Some(unit.node);
        let is_late = self.databases.iter().any(holds);
        let by_load = self.rules.has(BuiltIn::LeastLoadedFirst);
        let load = if by_load { load(self.state, unit.node) } else { (0, 0, 0) };
        (is_late, load, self.state.nodes[unit.node].face.name.as_str(), &unit.part)
    }

    /// Which units hold replicas of a pair of two on different nodes, for each unit.
    fn near(&self, units: &[Unit]) -> Vec<BTreeSet<usize>> {
        let mut near = vec![BTreeSet::new(); units.len()];
        let mut holder: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, unit) in units.iter().enumerate() {
            holder.extend(unit.pods.iter().map(|pod| (*pod, at)));
        }
        let is_pair = |pair: &&Pair| pair.pods.len() == 2 || pair.selector.is_some();
        for pair in self.pairs.iter().filter(is_pair) {
            let holders: BTreeSet<usize> =
                pair.pods.iter().filter_map(|pod| holder.get(pod).copied()).collect();
            for one in &holders {
                let apart = holders.iter().filter(|other| units[**other].node != units[*one].node);
                near[*one].extend(apart);
            }
        }
        near
    }

    /// The first order by rank in which no two neighbours share a pair, if one is found in time.
    fn search(&self, units: &[Unit], links: &[Link]) -> Option<Vec<usize>> {
        let mut search = Search {
            near: self.near(units),
            earlier: earlier(units.len(), links),
            ranked: self.ranked(units),
            is_done: vec![false; units.len()],
            steps: SEARCH_STEPS,
        };
        let mut order = Vec::new();
        search.extend(&mut order).then_some(order)
    }

    fn ranked(&self, units: &[Unit]) -> Vec<usize> {
        let mut ranked: Vec<usize> = (0..units.len()).collect();
        ranked.sort_by_cached_key(|at| self.rank(&units[*at]));
        ranked
    }

    /// By rank, neighbours of a pair only where nothing else is left.
    fn greedy(&self, units: &[Unit], links: &[Link]) -> Vec<usize> {
        let (ranked, near) = (self.ranked(units), self.near(units));
        let (earlier, mut is_done) = (earlier(units.len(), links), vec![false; units.len()]);
        let mut order: Vec<usize> = Vec::new();
        while order.len() < units.len() {
            let is_next = |at: &usize| is_ready(*at, &is_done, &earlier);
            let ready = || ranked.iter().copied().filter(is_next);
            let last = order.last();
            let is_apart = |at: &usize| last.is_none_or(|last| !near[*last].contains(at));
            let Some(next) = ready().find(is_apart).or_else(|| ready().next()) else { break };
            is_done[next] = true;
            order.push(next);
        }
        order
    }
}

/// How many orders the search may try.
const SEARCH_STEPS: usize = 200_000;

struct Search {
    near: Vec<BTreeSet<usize>>,
    earlier: Vec<BTreeSet<usize>>,
    ranked: Vec<usize>,
    is_done: Vec<bool>,
    steps: usize,
}

impl Search {
    fn extend(&mut self, order: &mut Vec<usize>) -> bool {
        if order.len() == self.ranked.len() {
            return true;
        }
        for place in 0..self.ranked.len() {
            if self.steps == 0 {
                return false;
            }
            let at = self.ranked[place];
            let is_near = order.last().is_some_and(|last| self.near[*last].contains(&at));
            self.steps -= 1;
            if is_near || !is_ready(at, &self.is_done, &self.earlier) {
                continue;
            }
            order.push(at);
            self.is_done[at] = true;
            if self.extend(order) {
                return true;
            }
            self.is_done[at] = false;
            order.pop();
        }
        false
    }
}

/// What has to be done before each unit.
fn earlier(count: usize, links: &[Link]) -> Vec<BTreeSet<usize>> {
    let mut earlier = vec![BTreeSet::new(); count];
    for link in links {
        earlier[link.after].insert(link.before);
    }
    earlier
}

fn is_ready(at: usize, is_done: &[bool], earlier: &[BTreeSet<usize>]) -> bool {
    !is_done[at] && earlier[at].iter().all(|before| is_done[*before])
}

/// Links that lead round in a circle, by position; `None` where there is no circle.
fn find_cycle(count: usize, links: &[Link]) -> Option<Vec<usize>> {
    let mut left: BTreeSet<usize> = (0..count).collect();
    loop {
        let is_free = |unit: &usize| {
            !links.iter().any(|link| link.after == *unit && left.contains(&link.before))
        };
        let free: Vec<usize> = left.iter().copied().filter(is_free).collect();
        if free.is_empty() {
            break;
        }
        free.iter().for_each(|unit| {
            left.remove(unit);
        });
    }
    // Every unit that is left has a predecessor that is left: going back from one of them closes a circle.
    let mut path: Vec<usize> = Vec::new();
    let mut seen = vec![*left.first()?];
    loop {
        let here = *seen.last()?;
        let back = |link: &Link| link.after == here && left.contains(&link.before);
        let link = links.iter().position(back)?;
        path.push(link);
        let before = links[link].before;
        if let Some(start) = seen.iter().position(|unit| *unit == before) {
            let mut circle = path.split_off(start);
            circle.reverse();
            return Some(circle);
        }
        seen.push(before);
    }
}

fn without_repeats(all: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    all.into_iter().filter(|one| seen.insert(one.clone())).collect()
}
