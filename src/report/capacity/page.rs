//! A sizing as a page: how many nodes of each kind, what one keeps for itself, and a node as a bar with its pods on it.

use serde::Serialize;

use super::{Capacity, Offer, percent_shown, reason};
use crate::capacity::amounts::Amounts;
use crate::capacity::demand::PodSet;
use crate::capacity::pack::Filled;
use crate::error::Error;
use crate::report::page::{COLOURS, Head, Part, cores, counted, gibibytes, page};

const TEMPLATE: &str = include_str!("../../../templates/pages/capacity.html");

/// The most pods of a node that are drawn one by one; beyond it those of a workload are drawn together.
const MOST_PODS_DRAWN: u64 = 40;

#[derive(Serialize)]
struct View<'a> {
    asked: Asked,
    has_prices: bool,
    kinds: Vec<Kind<'a>>,
    sets: Vec<Set>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Asked {
    pods: u64,
    daemon_pods: u64,
    cpu: String,
    memory: String,
}

#[derive(Serialize)]
struct Kind<'a> {
    name: &'a str,
    /// `3 nodes`; none where no number will do.
    count: Option<String>,
    reason: String,
    seen: Shown,
    usable: Shown,
    share: String,
    cost: String,
    parts: Vec<Part>,
    quotas: Vec<Quota<'a>>,
    nodes: Vec<Node>,
}

#[derive(Serialize)]
struct Shown {
    cpu: String,
    memory: String,
}

#[derive(Serialize)]
struct Quota<'a> {
    name: &'a str,
    more: u64,
    is_short: bool,
}

/// A node, or several that are alike.
#[derive(Serialize)]
struct Node {
    title: String,
    pods: String,
    bars: Vec<Bar>,
    contents: Vec<Content>,
}

#[derive(Serialize)]
struct Bar {
    name: &'static str,
    label: String,
    used: String,
    pods: Vec<Part>,
}

#[derive(Serialize)]
struct Content {
    name: String,
    class: String,
    count: String,
}

#[derive(Serialize)]
struct Set {
    name: String,
    pods: String,
    surge: u64,
    cpu: String,
    memory: String,
}

/// The page.
///
/// # Errors
/// Where the template and the view disagree.
pub(super) fn to_page(capacity: &Capacity) -> Result<Vec<u8>, Error> {
    let title = match &*capacity.overlays {
        [one] => format!("Nodes for {one}"),
        many => format!("Nodes for {}", counted(many.len(), "overlay")),
    };
    let answer = |offer: &Offer| match &offer.sized {
        Ok(sized) => format!("{} of {}", counted(sized.nodes, "node"), offer.kind.name),
        Err(_) => format!("no number of {}", offer.kind.name),
    };
    let answers: Vec<String> = capacity.offers.iter().map(answer).collect();
    let lead = format!("{}.", answers.join(", or "));
    let head = Head { command: "capacity", title, lead, basis: "what the overlays render" };
    page(&head, TEMPLATE, &view(capacity))
}

fn view(capacity: &Capacity) -> View<'_> {
    let (pods, asked) = capacity.demand.total();
    let packed = packed(capacity);
    View {
        asked: Asked {
            pods,
            daemon_pods: capacity.demand.daemon_pods,
            cpu: cores(asked.millicores),
            memory: gibibytes(asked.bytes),
        },
        has_prices: capacity.offers.iter().any(|offer| offer.kind.price.is_some()),
        kinds: capacity.offers.iter().map(|offer| kind(offer, &packed)).collect(),
        sets: capacity.demand.sets.iter().map(|one| set(one, shows_namespaces(capacity))).collect(),
        notes: &capacity.notes,
    }
}

fn kind<'a>(offer: &'a Offer, packed: &[Packed]) -> Kind<'a> {
    let kind = &offer.kind;
    let sized = offer.sized.as_ref();
    let needed = sized.map_or(0, |sized| sized.nodes as u64);
    let quotas = offer.quotas.iter();
    Kind {
        name: &kind.name,
        count: sized.ok().map(|sized| counted(sized.nodes, "node")),
        reason: sized.map_or_else(Clone::clone, reason),
        seen: shown(kind.seen),
        usable: shown(offer.usable),
        share: percent_shown(offer.usable.bytes, kind.seen.bytes),
        cost: offer.cost().map_or_else(String::new, |cost| format!("{cost:.2}")),
        parts: parts(offer),
        quotas: quotas
            .map(|(name, more)| Quota { name, more: *more, is_short: *more < needed })
            .collect(),
        nodes: sized.map_or_else(|_| Vec::new(), |sized| nodes(&sized.arrangement, offer, packed)),
    }
}

/// What becomes of a node's memory.
fn parts(offer: &Offer) -> Vec<Part> {
    let seen = offer.kind.seen.bytes;
    let kept = offer.kind.reserved().bytes.min(seen);
    let daemons = seen - kept - offer.usable.bytes.min(seen - kept);
    let part = |name: &str, class: &str, bytes: u64| {
        Part::new(name, class, (bytes, seen), format!("{} GiB", gibibytes(bytes)))
    };
    [
        part("kept by the node", "kept", kept),
        part("daemons", "c7", daemons),
        part("usable", "c2", offer.usable.bytes),
    ]
    .into()
}

/// The nodes of an arrangement; those that are alike once.
fn nodes(arrangement: &[Filled], offer: &Offer, packed: &[Packed]) -> Vec<Node> {
    let mut alike: Vec<(&Filled, Vec<usize>)> = Vec::new();
    for (number, node) in arrangement.iter().enumerate() {
        match alike.iter_mut().find(|(known, _)| known.counts == node.counts) {
            Some((_, numbers)) => numbers.push(number + 1),
            None => alike.push((node, vec![number + 1])),
        }
    }
    let titled = alike.into_iter().map(|(node, numbers)| {
        let title = match &*numbers {
            [one] => format!("Node {one}"),
            all => format!("{} alike: {}", counted(all.len(), "node"), ranges(all)),
        };
        (node, title)
    });
    titled.map(|(node, title)| node_view(node, title, offer, packed)).collect()
}

fn node_view(node: &Filled, title: String, offer: &Offer, packed: &[Packed]) -> Node {
    let here = || {
        let counts = node.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counts.filter_map(|(group, count)| packed.get(group).map(|packed| (packed, *count)))
    };
    let pods: u64 = node.counts.iter().sum();
    let bars = [
        ("memory", (|amounts| amounts.bytes) as fn(Amounts) -> u64),
        ("processor", |amounts| amounts.millicores),
    ];
    let bars = bars.map(|(name, of)| {
        let whole = of(offer.usable);
        let amount = |part: u64| match name {
            "memory" => format!("{} GiB", gibibytes(part)),
            _ => format!("{} cores", cores(part)),
        };
        let used: u64 =
            here().map(|(packed, count)| of(packed.request).saturating_mul(count)).sum();
        let mut drawn: Vec<Part> = Vec::new();
        for (packed, count) in here().filter(|(packed, _)| of(packed.request) > 0) {
            let (each, times) = if pods <= MOST_PODS_DRAWN { (1, count) } else { (count, 1) };
            let part = of(packed.request).saturating_mul(each);
            let name = match each {
                1 => packed.short.clone(),
                _ => format!("{} × {each}", packed.short),
            };
            let draw = || Part::new(&name, &packed.colour, (part, whole), amount(part));
            drawn.extend((0..times).map(|_| draw()));
        }
        let of_whole = format!("{} of {}", amount(used), amount(whole));
        Bar { name, label: format!("{title}, {name}: {of_whole}"), used: of_whole, pods: drawn }
    });
    let content = |(packed, count): (&Packed, u64)| Content {
        name: packed.name.clone(),
        class: packed.colour.clone(),
        count: format!("× {count}"),
    };
    Node {
        pods: counted(usize::try_from(pods).unwrap_or(usize::MAX), "pod"),
        bars: bars.into(),
        contents: here().map(content).collect(),
        title,
    }
}

/// `1–3, 7`, for numbers in order.
fn ranges(numbers: &[usize]) -> String {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => spans.push((*number, *number)),
        }
    }
    let span = |(first, last): (usize, usize)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}–{last}"),
    };
    spans.into_iter().map(span).collect::<Vec<_>>().join(", ")
}

/// The pods of a workload as they are drawn.
struct Packed {
    name: String,
    short: String,
    request: Amounts,
    /// Empty for pods that weigh nothing, which are not drawn.
    colour: String,
}

/// By the number of the group. What weighs most gets its colour first, so that colours repeat only among what weighs less.
fn packed(capacity: &Capacity) -> Vec<Packed> {
    let sets: Vec<&PodSet> = capacity.demand.sets.iter().filter(|set| !set.is_daemon).collect();
    let weight = |number: &usize| {
        let asked = sets[*number].request.times(sets[*number].count);
        std::cmp::Reverse((asked.bytes, asked.millicores))
    };
    let mut order: Vec<usize> = (0..sets.len()).collect();
    order.sort_by_key(weight);
    let rank = |number| order.iter().position(|other| *other == number).unwrap_or_default();
    let shows_namespace = shows_namespaces(capacity);
    let view = |(number, set): (usize, &&PodSet)| Packed {
        name: shown_name(set, shows_namespace),
        short: set.owner.name.to_string(),
        request: set.request,
        colour: match set.request == Amounts::default() {
            true => String::new(),
            false => format!("c{}", rank(number) % COLOURS),
        },
    };
    sets.iter().enumerate().map(view).collect()
}

fn set(set: &PodSet, shows_namespace: bool) -> Set {
    Set {
        name: shown_name(set, shows_namespace),
        pods: if set.is_daemon { "every node".to_owned() } else { set.count.to_string() },
        surge: set.surge,
        cpu: cores(set.request.millicores),
        memory: format!("{:.0}", set.request.mebibytes()),
    }
}

/// Whether namespaces are needed to tell workloads from each other.
fn shows_namespaces(capacity: &Capacity) -> bool {
    let mut namespaces = capacity.demand.sets.iter().map(|set| &set.owner.namespace);
    namespaces.next().is_some_and(|first| namespaces.any(|other| other != first))
}

fn shown_name(set: &PodSet, shows_namespace: bool) -> String {
    let owner = &set.owner;
    match shows_namespace && !owner.namespace.is_empty() {
        true => format!("{}/{} in {}", owner.kind, owner.name, owner.namespace),
        false => format!("{}/{}", owner.kind, owner.name),
    }
}

fn shown(amounts: Amounts) -> Shown {
    Shown { cpu: cores(amounts.millicores), memory: gibibytes(amounts.bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_order_are_told_as_ranges() {
        for (numbers, told) in [(&[1, 2, 3, 7][..], "1–3, 7"), (&[2, 4], "2, 4"), (&[1, 2], "1–2")]
        {
            assert_eq!(ranges(numbers), told);
        }
    }
}
