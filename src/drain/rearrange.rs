//! Whether there is a placement at all: a bounded search through those of the pods that have moved.

use super::board::Board;

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
        let mut chosen: Vec<usize> = Vec::new();
        let mut from = 0;
        while let Some(item) = items.get(chosen.len()) {
            let taker = self.put_first(item, from);
            *steps = steps.saturating_sub(taker.map_or(self.state.nodes.len(), |at| at + 1 - from));
            if let Some(node) = taker {
                chosen.push(node);
                // Of pods that are alike, a later one goes no further to the front.
                let next = items.get(chosen.len());
                from = if next.is_some_and(|next| self.are_alike(item, next)) { node } else { 0 };
                continue;
            }
            let last = chosen.pop().filter(|_| *steps > 0);
            let Some(last) = last else {
                items.iter().flatten().for_each(|pod| self.lift(*pod));
                return false;
            };
            items[chosen.len()].iter().for_each(|pod| self.lift(*pod));
            from = last + 1;
        }
        true
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

    fn are_alike(&self, one: &[usize], other: &[usize]) -> bool {
        let ([one], [other]) = (one, other) else { return false };
        let (one, other) = (&self.state.pods[*one], &self.state.pods[*other]);
        one.owner == other.owner
            && one.request == other.request
            && one.claims.is_empty()
            && other.claims.is_empty()
    }
}
