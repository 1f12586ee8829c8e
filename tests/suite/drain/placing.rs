//! Whether pods can be placed at all: every way is tried, by the rules of the world.

use std::collections::HashSet;

use overlay::drain::Plan;

use super::world::{Pod, World};

/// How many tries are made before nothing is said.
const MOST_TRIES: usize = 200_000;

/// What is free on a node, its zone, and the labels of what is there: nodes with the same are the same.
type Likeness = ((i64, i64, i64), Option<String>, Vec<String>);

/// All that leaves some nodes, and the nodes that it can go to.
pub(crate) struct Placing {
    world: World,
    /// The pods, those that go to one node together in one.
    items: Vec<Vec<usize>>,
    failed: HashSet<(usize, Vec<Likeness>)>,
    tries: usize,
    /// Whether there were more ways than are tried.
    pub(crate) gave_up: bool,
}

impl Placing {
    /// What leaves `old` and comes back, and what the plan adds for the while.
    pub(crate) fn new(world: &World, old: &[String], plan: &Plan) -> Self {
        let mut world = world.clone();
        for node in &mut world.nodes {
            node.is_open = !old.contains(&node.name);
        }
        let is_old = |pod: &Pod| pod.node.is_some_and(|node| !world.nodes[node].is_open);
        let moves = |pod: &Pod| is_old(pod) && pod.owner.is_some() && !pod.over;
        let mut items: Vec<Vec<usize>> = Vec::new();
        for at in (0..world.pods.len()).filter(|at| moves(&world.pods[*at])) {
            let shares = |item: &&mut Vec<usize>| world.pods[item[0]].shares(&world.pods[at]);
            match items.iter_mut().find(shares) {
                Some(item) => item.push(at),
                None => items.push(vec![at]),
            }
        }
        for raised in plan.steps.iter().filter(|step| step.kind.word() == "raise") {
            let raised = raised.replicas.as_ref().unwrap();
            let id = &raised.workload;
            let id = (id.namespace.clone(), id.kind.to_ascii_lowercase(), id.name.clone());
            let like = (0..world.pods.len()).find(|at| world.is_of(*at, &id)).unwrap();
            for number in world.scales[&id]..usize::try_from(raised.count).unwrap() {
                items.push(vec![world.pods.len()]);
                let name = format!("{}-more-{number}", id.2);
                let like = world.pods[like].clone();
                let more = Pod { name, node: None, claims: Vec::new(), zone: None, ..like };
                world.pods.push(more);
            }
        }
        items.iter().flatten().for_each(|at| world.lift(*at));
        items.sort_by_key(|item| {
            let sum: i64 = item.iter().map(|at| world.pods[*at].request.1).sum();
            (std::cmp::Reverse(sum), item.clone())
        });
        Self { world, items, failed: HashSet::new(), tries: 0, gave_up: false }
    }

    /// One of the pods that are told to have no place, where all that are not told can be placed and it beside them.
    pub(crate) fn told_in_vain(&mut self, told: &[String]) -> Option<String> {
        let is_told =
            |item: &Vec<usize>| item.iter().any(|at| told.contains(&self.world.pods[*at].shown()));
        let (without, rest): (Vec<_>, Vec<_>) = self.items.clone().into_iter().partition(is_told);
        without.into_iter().find_map(|item| {
            (self.failed, self.tries) = (HashSet::new(), 0);
            let name = self.world.pods[item[0]].shown();
            let all: Vec<Vec<usize>> = [item].into_iter().chain(rest.clone()).collect();
            let can = self.place(&all, 0);
            self.gave_up |= !can && self.tries >= MOST_TRIES;
            can.then_some(name)
        })
    }

    fn place(&mut self, items: &[Vec<usize>], at: usize) -> bool {
        self.tries += 1;
        let Some(item) = items.get(at) else { return true };
        let likeness: Vec<Likeness> =
            (0..self.world.nodes.len()).map(|node| self.like(node)).collect();
        let mut sorted = likeness.clone();
        sorted.sort();
        if self.tries >= MOST_TRIES || self.failed.contains(&(at, sorted.clone())) {
            return false;
        }
        for node in (0..likeness.len()).filter(|node| !likeness[..*node].contains(&likeness[*node]))
        {
            let mut put = 0;
            while put < item.len() && self.world.fits(&self.world.pods[item[put]], node) {
                self.world.put(item[put], node);
                put += 1;
            }
            if put == item.len() && self.place(items, at + 1) {
                item.iter().for_each(|pod| self.world.lift(*pod));
                return true;
            }
            item[..put].iter().for_each(|pod| self.world.lift(*pod));
        }
        self.failed.insert((at, sorted));
        false
    }

    fn like(&self, node: usize) -> Likeness {
        let world = &self.world;
        let here = world.pods.iter().filter(|pod| pod.node == Some(node) && !pod.over);
        // Only labels that somebody shuns matter, and who shuns.
        let shunned: Vec<_> = world.pods.iter().filter_map(|pod| pod.apart.as_ref()).collect();
        let mut labels: Vec<String> = here
            .filter(|pod| shunned.iter().any(|(key, value)| pod.labels.get(key) == Some(value)))
            .map(|pod| format!("{} {:?}", pod.namespace, pod.labels.get("app")))
            .collect();
        labels.sort();
        let zone = world.nodes[node].labels.get("topology.kubernetes.io/zone").cloned();
        let open = if world.nodes[node].is_open { zone } else { Some(format!("closed {node}")) };
        (world.nodes[node].free, open, labels)
    }
}
