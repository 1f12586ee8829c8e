//! Packing beside brute force and first-fit-decreasing, both written here; sizes that can be reckoned by hand.

use std::time::{Duration, Instant};

use super::amounts::{Amounts, MIB};
use super::pack::{Group, Room, TooBig, pack};
use super::resilience::{Because, Demands, Surge, size, survives};

fn ask(millicores: u64, mebibytes: u64) -> Amounts {
    Amounts { millicores, bytes: mebibytes * MIB }
}

fn group(count: u64, millicores: u64, mebibytes: u64) -> Group {
    Group { request: ask(millicores, mebibytes), count, ..Group::default() }
}

fn room(millicores: u64, mebibytes: u64, pods: u64) -> Room {
    Room { free: ask(millicores, mebibytes), pods }
}

/// A generator of its own, so that a failure can be repeated (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }
}

/// Whether pods (as groups of one) can share a node, straight from the rules.
fn can_share(groups: &[Group], pods: &[usize], room: Room) -> bool {
    let sum: Amounts = pods.iter().map(|number| groups[*number].request).sum();
    let apart = |a: usize, b: usize| groups[pods[a]].apart_from.contains(&pods[b]);
    let all = 0..pods.len();
    sum.fits(room.free)
        && pods.len() as u64 <= room.pods
        && all.clone().all(|a| all.clone().all(|b| a == b || !apart(a, b)))
}

/// The fewest nodes by trying every partition of the pods.
fn brute_force(groups: &[Group], room: Room) -> usize {
    fn go(
        groups: &[Group],
        room: Room,
        left: &[usize],
        nodes: &mut Vec<Vec<usize>>,
        best: &mut usize,
    ) {
        if nodes.len() >= *best {
            return;
        }
        let Some((first, rest)) = left.split_first() else {
            *best = nodes.len();
            return;
        };
        for at in 0..nodes.len() {
            nodes[at].push(*first);
            if can_share(groups, &nodes[at], room) {
                go(groups, room, rest, nodes, best);
            }
            nodes[at].pop();
        }
        nodes.push(vec![*first]);
        go(groups, room, rest, nodes, best);
        nodes.pop();
    }
    let pods: Vec<usize> = groups
        .iter()
        .enumerate()
        .flat_map(|(number, group)| std::iter::repeat_n(number, group.count as usize))
        .collect();
    let mut best = pods.len() + 1;
    go(groups, room, &pods, &mut Vec::new(), &mut best);
    best
}

/// First-fit-decreasing by memory, the textbook's, for groups without rules.
fn first_fit_decreasing(groups: &[Group], room: Room) -> usize {
    let mut pods: Vec<Amounts> = groups
        .iter()
        .flat_map(|group| std::iter::repeat_n(group.request, group.count as usize))
        .collect();
    pods.sort_by_key(|request| std::cmp::Reverse((request.bytes, request.millicores)));
    let mut nodes: Vec<(Amounts, u64)> = Vec::new();
    for pod in pods {
        match nodes.iter_mut().find(|(free, places)| *places > 0 && pod.fits(*free)) {
            Some((free, places)) => {
                *free -= pod;
                *places -= 1;
            }
            None => nodes.push((room.free - pod, room.pods - 1)),
        }
    }
    nodes.len()
}

#[test]
fn packing_is_optimal_on_small_cases() {
    let mut random = Random(7);
    for case in 0..500 {
        let kinds = 1 + random.below(5) as usize;
        let mut left = 8;
        let mut groups = Vec::new();
        for number in 0..kinds {
            let count = 1 + random.below(3).min(left - 1);
            left -= count;
            let mut one = group(count, 50 + 50 * random.below(18), 100 + 100 * random.below(9));
            if random.below(4) == 0 {
                one.apart_from.push(random.below(number as u64 + 1) as usize);
            }
            groups.push(one);
            if left <= 1 {
                break;
            }
        }
        let room = room(1000, 1000, 2 + random.below(4));
        let packing = pack(&groups, room).unwrap();
        assert!(packing.is_proven, "case {case}");
        assert_eq!(
            packing.nodes.len(),
            brute_force(&groups, room),
            "case {case}: {groups:?} {room:?}"
        );
    }
}

#[test]
fn packing_is_never_worse_than_first_fit_decreasing() {
    let mut random = Random(11);
    for case in 0..60 {
        let groups: Vec<Group> = (0..20)
            .map(|_| group(1 + random.below(6), 10 + random.below(900), 10 + random.below(900)))
            .collect();
        let room = room(1000, 1000, 30);
        let packing = pack(&groups, room).unwrap();
        let plain = first_fit_decreasing(&groups, room);
        assert!(packing.nodes.len() <= plain, "case {case}: {} > {plain}", packing.nodes.len());
        let placed: u64 = packing.nodes.iter().flat_map(|node| &node.counts).sum();
        assert_eq!(placed, groups.iter().map(|group| group.count).sum::<u64>());
    }
}

/// Ten pods a node, by their processors: with the loss of a node and the rolls of all workloads in two seconds, without
/// optimisation by the compiler too.
#[test]
fn two_thousand_pods_are_packed_on_two_hundred_nodes_in_two_seconds() {
    let mut random = Random(3);
    let groups: Vec<Group> = (0..400)
        .map(|_| group(5, 250 + 10 * random.below(30), 128 + 16 * random.below(60)))
        .collect();
    let room = room(4000, 16000, 110);
    let surges = (0..groups.len()).map(|group| Surge { group, pods: 1 }).collect();
    let begin = Instant::now();
    let sized = size(&groups, room, &Demands { floor: 3, survives_loss: true, surges }).unwrap();
    let took = begin.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?}");
    let placed: u64 = sized.arrangement.iter().flat_map(|node| &node.counts).sum();
    assert_eq!(placed, 2000);
    let asked: u64 = groups.iter().map(|group| group.request.millicores * group.count).sum();
    let least = usize::try_from(asked.div_ceil(4000)).unwrap();
    assert!((190..=210).contains(&least) && sized.packed >= least, "{least} {}", sized.packed);
    assert!(sized.packed <= first_fit_decreasing(&groups, room), "{}", sized.packed);
    for node in &sized.arrangement {
        let held =
            node.counts.iter().zip(&groups).map(|(count, group)| group.request.times(*count));
        assert!(held.sum::<Amounts>().fits(room.free));
    }
}

#[test]
fn a_pod_larger_than_a_node_is_told() {
    let groups = [group(1, 100, 100), group(1, 100, 2000)];
    assert_eq!(pack(&groups, room(1000, 1000, 10)), Err(TooBig { group: 1 }));
}

#[test]
fn anti_affinity_and_spread_need_their_nodes() {
    let alone = Group { apart_from: vec![0], ..group(4, 10, 10) };
    assert_eq!(pack(&[alone], room(1000, 1000, 110)).unwrap().nodes.len(), 4);
    let other = Group { apart_from: vec![1], ..group(1, 10, 10) };
    assert_eq!(pack(&[other, group(3, 10, 10)], room(1000, 1000, 110)).unwrap().nodes.len(), 2);
    // A spread alone opens no node: on one node it holds.
    let spread = Group { max_skew: Some(1), ..group(4, 10, 10) };
    assert_eq!(pack(std::slice::from_ref(&spread), room(1000, 1000, 110)).unwrap().nodes.len(), 1);
    // Beside pods that need two nodes, it lies evenly.
    let packing = pack(&[spread, group(2, 10, 900)], room(1000, 1000, 110)).unwrap();
    let counts: Vec<u64> = packing.nodes.iter().map(|node| node.counts[0]).collect();
    assert_eq!(counts, [2, 2]);
}

#[test]
fn the_loss_of_a_node_needs_room_on_the_others() {
    let demands = |survives_loss| Demands { floor: 1, survives_loss, surges: Vec::new() };
    let groups = [group(6, 100, 300)];
    let plain = size(&groups, room(1000, 1000, 110), &demands(false)).unwrap();
    assert_eq!((plain.nodes, plain.because), (2, Because::Packing));
    let safe = size(&groups, room(1000, 1000, 110), &demands(true)).unwrap();
    assert_eq!((safe.nodes, safe.because), (3, Because::Loss));
}

/// What any node held goes to an empty one: a packing and one node more always do, whatever the sizes of pods.
#[test]
fn one_spare_node_survives_the_loss_of_any() {
    let mut random = Random(23);
    let demands = Demands { floor: 1, survives_loss: true, surges: Vec::new() };
    for case in 0..200 {
        let groups: Vec<Group> = (0..1 + random.below(8))
            .map(|_| group(1 + random.below(4), 10 + random.below(900), 10 + random.below(980)))
            .collect();
        let room = room(1000, 1000, 30);
        let sized = size(&groups, room, &demands).unwrap();
        assert!(sized.nodes <= sized.packed + 1, "case {case}: {sized:?} {groups:?}");
        for lost in 0..sized.nodes {
            assert!(survives(&groups, &sized.arrangement, lost), "case {case}: {lost}");
        }
    }
    // Pods of four fifths of a node: spread evenly, none has room for one more.
    let large = [group(4, 100, 800), group(8, 100, 300)];
    let sized = size(&large, room(1000, 1000, 30), &demands).unwrap();
    assert_eq!((sized.packed, sized.nodes, sized.is_spread), (7, 8, false));
}

#[test]
fn the_floor_is_a_reason_of_its_own() {
    let demands = Demands { floor: 3, survives_loss: true, surges: Vec::new() };
    let one = size(&[group(1, 100, 100)], room(1000, 1000, 110), &demands).unwrap();
    assert_eq!((one.packed, one.nodes, one.because), (1, 3, Because::Floor));
}

#[test]
fn surge_pods_need_room_too() {
    let groups = [group(2, 100, 900)];
    let surges = vec![Surge { group: 0, pods: 1 }];
    let demands = Demands { floor: 1, survives_loss: false, surges };
    let rolled = size(&groups, room(1000, 1000, 110), &demands).unwrap();
    assert_eq!((rolled.packed, rolled.nodes, rolled.because), (2, 3, Because::Roll));
}
