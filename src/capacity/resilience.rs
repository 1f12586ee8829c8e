//! How many nodes hold the pods also when one node is lost, and while one workload rolls.
//!
//! Pods that run stay where they are: only those of the lost node look for a place, and only the surge pods of the workload
//! that rolls come beside the others.

use super::pack::{
    Filled, Group, Room, TooBig, both_ways, by_size, most_on_one, pack, spreads_hold,
};

/// A workload's group and the pods that come beside it during a roll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surge {
    /// The group, by number.
    pub group: usize,
    /// The pods.
    pub pods: u64,
}

/// What is asked of an arrangement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// The fewest nodes, whatever is packed on them.
    pub floor: usize,
    /// Whether the pods of any one node must find a place on the others.
    pub survives_loss: bool,
    /// The rolls that must find room, one at a time.
    pub surges: Vec<Surge>,
}

/// Why the number of nodes is what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// The pods need them.
    Packing,
    /// Fewer would be below the floor.
    Floor,
    /// One fewer would not survive the loss of a node.
    Loss,
    /// One fewer would leave no room for a roll.
    Roll,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sized {
    /// Nodes that the pods alone need.
    pub packed: usize,
    /// Whether fewer nodes are proven not to hold the pods.
    pub is_proven: bool,
    /// Nodes that meet every demand.
    pub nodes: usize,
    /// What makes it so many.
    pub because: Because,
    /// An arrangement that meets every demand.
    pub arrangement: Vec<Filled>,
    /// Whether the pods lie evenly in it, as a scheduler lays them by itself; else they lie tightly, and what is spare is
    /// kept free.
    pub is_spread: bool,
}

/// What fails on some number of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    Arrangement,
    Loss,
    Roll,
}

/// The fewest nodes for which an arrangement was found that meets `demands`.
///
/// # Errors
/// [`TooBig`] where a pod fits on no node.
pub fn size(groups: &[Group], room: Room, demands: &Demands) -> Result<Sized, TooBig> {
    let packing = pack(groups, room)?;
    let groups = &*both_ways(groups);
    let packed = packing.nodes.len();
    let mut because = if packed >= demands.floor { Because::Packing } else { Because::Floor };
    let mut count = packed.max(demands.floor);
    loop {
        let tried = [
            (true, spread_out(groups, room, count)),
            (false, with_spares(groups, room, &packing.nodes, count)),
        ];
        let mut failure = Failure::Arrangement;
        for (is_spread, arrangement) in tried {
            let Some(arrangement) = arrangement else { continue };
            match check(groups, &arrangement, demands) {
                Ok(()) => {
                    let is_proven = packing.is_proven;
                    let nodes = count;
                    return Ok(Sized { packed, is_proven, nodes, because, arrangement, is_spread });
                }
                Err(found) => failure = found,
            }
        }
        because = match failure {
            Failure::Roll => Because::Roll,
            Failure::Loss => Because::Loss,
            Failure::Arrangement => because,
        };
        count += 1;
    }
}

/// The pods on exactly `count` nodes, the largest first, each where most is free.
fn spread_out(groups: &[Group], room: Room, count: usize) -> Option<Vec<Filled>> {
    let mut nodes = vec![Filled::empty(room, groups.len()); count];
    for number in by_size(groups, room) {
        place_widest(groups, &mut nodes, number)?;
    }
    Some(nodes)
}

/// The tightest packing with empty nodes beside it: what a lost node held goes to one of them.
fn with_spares(
    groups: &[Group],
    room: Room,
    packed: &[Filled],
    count: usize,
) -> Option<Vec<Filled>> {
    let mut nodes = packed.to_vec();
    nodes.resize(count.max(packed.len()), Filled::empty(room, groups.len()));
    spreads_hold(groups, &nodes).then_some(nodes)
}

/// Puts one pod where fewest of its group are and, among those, most is free.
fn place_widest(groups: &[Group], nodes: &mut [Filled], number: usize) -> Option<()> {
    let most = most_on_one(&groups[number], nodes.len());
    let takers = nodes.iter_mut().filter(|node| node.takes(groups, number, most));
    let widest = takers.min_by_key(|node| {
        let free = node.room.free;
        (node.counts[number], std::cmp::Reverse((free.bytes, free.millicores)))
    })?;
    widest.put(groups, number);
    Some(())
}

fn check(groups: &[Group], nodes: &[Filled], demands: &Demands) -> Result<(), Failure> {
    if demands.survives_loss && !(0..nodes.len()).all(|lost| finds_places(groups, nodes, lost)) {
        return Err(Failure::Loss);
    }
    let rolls = demands.surges.iter().all(|surge| rolls(groups, nodes, *surge));
    if rolls { Ok(()) } else { Err(Failure::Roll) }
}

/// Whether the pods of node `lost` find a place on the others, where those stay as they are.
#[must_use]
pub fn survives(groups: &[Group], nodes: &[Filled], lost: usize) -> bool {
    finds_places(&both_ways(groups), nodes, lost)
}

fn finds_places(groups: &[Group], nodes: &[Filled], lost: usize) -> bool {
    let mut left: Vec<Filled> = nodes.to_vec();
    let gone = left.remove(lost);
    let homeless: Vec<Group> = groups
        .iter()
        .zip(&gone.counts)
        .map(|(group, count)| Group { count: *count, ..group.clone() })
        .collect();
    let Some(room) = left.first().map(|node| node.room) else {
        return gone.counts.iter().all(|count| *count == 0);
    };
    // The spread counts nodes that are there; the lost one is not. Tightest fit keeps the large holes.
    by_size(&homeless, room).into_iter().all(|number| place_tightest(groups, &mut left, number))
}

fn place_tightest(groups: &[Group], nodes: &mut [Filled], number: usize) -> bool {
    let most = most_on_one(&groups[number], nodes.len());
    let takers = nodes.iter_mut().filter(|node| node.takes(groups, number, most));
    let free = |node: &&mut Filled| (node.room.free.bytes, node.room.free.millicores);
    takers.min_by_key(free).map(|node| node.put(groups, number)).is_some()
}

/// Whether the surge pods of one workload find a place beside all others.
fn rolls(groups: &[Group], nodes: &[Filled], surge: Surge) -> bool {
    let mut nodes = nodes.to_vec();
    let mut groups = groups.to_vec();
    // With the pods that come, the group is larger, and so is the share of each node.
    groups[surge.group].count += surge.pods;
    (0..surge.pods).all(|_| place_tightest(&groups, &mut nodes, surge.group))
}
