//! What a cluster may do in one way or another while it is drained.

use crate::support::random::Random;

/// Which of the nodes that fit a pod gets it, and in which order a drain evicts.
#[derive(Clone)]
pub(crate) enum Scheduler {
    /// The node with most left; pods in the order in which they are.
    MostLeft,
    /// The node with least left; the last pods first.
    LeastLeft,
    /// As chance has it.
    ByChance(Random),
}

impl Scheduler {
    pub(super) fn choose(
        &mut self,
        nodes: &[usize],
        left: impl Fn(&usize) -> i64,
    ) -> Option<usize> {
        match self {
            Self::MostLeft => nodes.iter().copied().max_by_key(left),
            Self::LeastLeft => nodes.iter().copied().min_by_key(left),
            Self::ByChance(random) => random.choose(nodes).copied(),
        }
    }

    pub(super) fn arrange<T>(&mut self, all: &mut [T]) {
        match self {
            Self::MostLeft => {}
            Self::LeastLeft => all.reverse(),
            Self::ByChance(random) => {
                for last in (1..all.len()).rev() {
                    all.swap(last, random.below(last + 1));
                }
            }
        }
    }
}
