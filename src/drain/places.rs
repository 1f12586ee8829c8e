//! Where moved pods land, which ones find no place, and which ones may find none.

use super::apart::is_follower;
use super::plan::Planner;
use super::pod::Owner;

/// How many places of pods the searches of one plan may look at.
pub(super) const SEARCH_STEPS: usize = 2_000_000;

impl Planner<'_> {
    /// Lifts pods off their nodes and lets them land; what nothing makes anew is gone.
    pub(super) fn move_pods(&mut self, pods: &[usize]) {
        self.lift(pods);
        let comes_back = |pod: &usize| self.board.state.pods[*pod].owner != Owner::Nobody;
        let pods = pods.iter().copied().filter(comes_back).collect();
        self.land(pods, self.may_wait);
    }

    /// Takes pods off their nodes.
    pub(super) fn lift(&mut self, pods: &[usize]) {
        pods.iter().for_each(|pod| self.board.lift(*pod));
        self.landed.iter_mut().for_each(|item| item.retain(|pod| !pods.contains(pod)));
        self.landed.retain(|item| !item.is_empty());
    }

    /// Lets pods land that have no node; those that find none wait for one, and are told unless they may.
    pub(super) fn land(&mut self, mut pods: Vec<usize>, may_wait: bool) {
        let (nodes, others) = (self.open_nodes(), self.others(&pods));
        let is_unsure = |pod: &usize| !self.board.is_sure(&[*pod], &nodes, &others);
        let unsure: Vec<usize> = pods.iter().copied().filter(is_unsure).collect();
        self.unsure.extend(unsure);
        if self.board.place_all(&pods) {
            self.landed.extend(pods.into_iter().map(|pod| vec![pod]));
            return;
        }
        // The largest first: what finds no place then would find none in most other orders either. What has to be near others
        // waits for them.
        let order = |pod: &usize| {
            let pod = &self.board.state.pods[*pod];
            (is_follower(pod), std::cmp::Reverse(pod.request))
        };
        pods.sort_by_key(order);
        let mut left = pods;
        loop {
            let before = left.len();
            left.retain(|pod| !self.find_place(*pod));
            let followers = left.iter().any(|pod| is_follower(&self.board.state.pods[*pod]));
            if left.len() == before || !followers {
                break;
            }
        }
        for pod in left {
            self.pending.push(pod);
            if !may_wait {
                self.tell_no_place(pod, false);
            }
        }
    }

    /// Puts a pod somewhere, if need be by moving others.
    fn find_place(&mut self, pod: usize) -> bool {
        let is_placed = self.board.place(pod).is_some() || self.make_room(&[pod]);
        if is_placed {
            self.landed.push(vec![pod]);
        }
        is_placed
    }

    /// A node for pods that have none and go to one node together: one where they have a place for sure, else the one with most
    /// left. They are on it then.
    pub(super) fn land_together(&mut self, group: &[usize]) -> Option<usize> {
        let others = self.others(group);
        let fitting: Vec<usize> = self
            .open_nodes()
            .into_iter()
            .filter(|node| self.board.could_have(group, *node))
            .collect();
        let sure: Vec<usize> = fitting
            .iter()
            .copied()
            .filter(|node| self.board.is_sure(group, &[*node], &others))
            .collect();
        if sure.is_empty() {
            self.unsure.extend(group);
        }
        let choice = if sure.is_empty() { fitting } else { sure };
        #[allow(clippy::cast_precision_loss, reason = "only an order is wanted")]
        let left = |node: &usize| {
            let (free, all) = (self.board.free(*node), self.board.state.nodes[*node].allocatable);
            free.bytes as f64 / all.bytes.max(1) as f64
        };
        let most = choice.into_iter().max_by(|a, b| left(a).total_cmp(&left(b)).then(b.cmp(a)));
        match most {
            Some(node) => group.iter().for_each(|pod| self.board.put(*pod, node)),
            None if self.make_room(group) => {}
            None => return None,
        }
        self.landed.push(group.to_vec());
        self.board.state.pods[*group.first()?].node
    }

    fn open_nodes(&self) -> Vec<usize> {
        let nodes = 0..self.board.state.nodes.len();
        nodes.filter(|node| self.board.is_open(*node)).collect()
    }

    /// The pods that have moved or are without a place, and those that come now.
    fn others(&self, now: &[usize]) -> Vec<usize> {
        self.landed.iter().flatten().chain(&self.pending).chain(now).copied().collect()
    }

    /// Places pods that find no place where the others are now, by placing those otherwise that have moved.
    fn make_room(&mut self, pods: &[usize]) -> bool {
        let node_of =
            |item: &Vec<usize>| item.first().and_then(|pod| self.board.state.pods[*pod].node);
        let can_be_elsewhere =
            |item: &&Vec<usize>| node_of(item).is_some_and(|node| self.board.is_open(node));
        let mut items: Vec<Vec<usize>> =
            self.landed.iter().filter(can_be_elsewhere).cloned().collect();
        items.push(pods.to_vec());
        self.board.rearrange(&items, &mut self.search_steps)
    }

    /// Which pods have a place here and may have none in the cluster.
    pub(super) fn note_what_is_unsure(&mut self) {
        let told: std::collections::BTreeSet<&String> =
            self.plan.obstacles.iter().flat_map(|obstacle| &obstacle.pods).collect();
        let unsure: Vec<usize> = self.unsure.iter().copied().collect();
        let mut unsure = self.shown(&unsure);
        unsure.retain(|pod| !told.contains(pod));
        if !unsure.is_empty() {
            self.plan.notes.push(format!(
                "what is free where pods go is in pieces: {} may find no place, where the scheduler chooses otherwise than it is reckoned here",
                unsure.join(", ")
            ));
        }
    }
}
