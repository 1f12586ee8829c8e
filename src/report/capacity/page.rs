//! A sizing as a page: how many nodes of each kind, what one keeps for itself, and a node as a bar with its pods on it.

use serde::Serialize;

use super::{Capacity, Offer, percent_shown, reason};
use crate::capacity::amounts::Amounts;
use crate::capacity::demand::PodSet;
use crate::capacity::pack::Filled;
use crate::drain::Holding;
use crate::error::Error;
use crate::report::counted;
use crate::report::drain::nodes::Palette;
use crate::report::page::node::{Node, Pods, colours};
use crate::report::page::{Head, Part, cores, gibibytes, page};

const TEMPLATE: &str = include_str!("../../../templates/pages/capacity.html");

#[derive(Serialize)]
struct View<'a> {
    asked: Asked,
    has_prices: bool,
    live: Vec<Node>,
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
        [] => "Nodes for what runs".to_owned(),
        [one] => format!("Nodes for {one}"),
        many => format!("Nodes for {}", counted(many.len(), "overlay")),
    };
    let basis = match (capacity.overlays.is_empty(), capacity.holdings.is_empty()) {
        (false, true) => "what the overlays render",
        (false, false) => "what the overlays render and the state of a cluster",
        (true, _) => "the state of a cluster",
    };
    let head = Head { command: "capacity", title, lead: lead(capacity), basis };
    page(&head, TEMPLATE, &view(capacity))
}

/// The answers, in one sentence.
fn lead(capacity: &Capacity) -> String {
    let answer = |offer: &Offer| match &offer.sized {
        Ok(sized) => format!("{} of {}", counted(sized.nodes, "node"), offer.kind.name),
        Err(_) => format!("no number of {}", offer.kind.name),
    };
    let answers: Vec<String> = capacity.offers.iter().map(answer).collect();
    let needed = answers.join(", or ");
    let holdings = &capacity.holdings;
    if holdings.is_empty() {
        return format!("{needed}.");
    }
    let critical = holdings.iter().filter(|holding| !holding.homeless.is_empty()).count();
    let loss = match critical {
        0 => "any one of them can be lost".to_owned(),
        count => format!("the loss of any of {count} leaves pods without a place"),
    };
    let there = format!("{} that run, and {loss}", counted(holdings.len(), "node"));
    if answers.is_empty() { format!("{there}.") } else { format!("{there}; {needed}.") }
}

/// The nodes of a cluster with what they hold.
fn live(holdings: &[Holding]) -> Vec<Node> {
    let palette = Palette::of(holdings.iter().flat_map(|holding| &holding.pods));
    let node = |holding: &Holding| {
        let mut remarks = Vec::new();
        if !holding.is_open {
            remarks.push("Takes no pods.".to_owned());
        }
        if !holding.homeless.is_empty() {
            let homeless = holding.homeless.join(", ");
            remarks.push(format!("If it is lost, these find no place: {homeless}."));
        }
        palette.node(holding.name.clone(), holding.allocatable, &holding.pods, remarks)
    };
    holdings.iter().map(node).collect()
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
        live: live(&capacity.holdings),
        kinds: capacity.offers.iter().map(|offer| kind(offer, &packed)).collect(),
        sets: capacity.demand.sets.iter().map(|one| set(one, shows_namespaces(capacity))).collect(),
        notes: &capacity.notes,
    }
}

fn kind<'a>(offer: &'a Offer, packed: &[Pods]) -> Kind<'a> {
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
fn nodes(arrangement: &[Filled], offer: &Offer, packed: &[Pods]) -> Vec<Node> {
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

fn node_view(node: &Filled, title: String, offer: &Offer, packed: &[Pods]) -> Node {
    let counts = node.counts.iter().zip(packed).filter(|(count, _)| **count > 0);
    let here: Vec<Pods> =
        counts.map(|(count, pods)| Pods { count: *count, ..pods.clone() }).collect();
    Node::new(title, offer.usable, &here, Vec::new())
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

/// The workloads as they are drawn, by the number of the group.
fn packed(capacity: &Capacity) -> Vec<Pods> {
    let sets: Vec<&PodSet> = capacity.demand.sets.iter().filter(|set| !set.is_daemon).collect();
    let asked: Vec<Amounts> = sets.iter().map(|set| set.request.times(set.count)).collect();
    let shows_namespace = shows_namespaces(capacity);
    let view = |(set, colour): (&&PodSet, String)| Pods {
        name: shown_name(set, shows_namespace),
        short: set.owner.name.to_string(),
        request: set.request,
        colour,
        count: set.count,
    };
    sets.iter().zip(colours(&asked)).map(view).collect()
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
