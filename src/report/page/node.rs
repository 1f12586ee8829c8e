//! Nodes as bars: what one has in memory and in processor, each pod a part of it.

use std::cmp::Reverse;

use serde::Serialize;

use super::{COLOURS, Part, cores, gibibytes};
use crate::capacity::amounts::Amounts;
use crate::report::counted;

/// The most pods of a node that are drawn one by one; beyond it those of a workload are drawn together.
const MOST_PODS_DRAWN: u64 = 40;

/// A node, or several that are alike, as the template `node` draws it.
#[derive(Serialize)]
pub(in crate::report) struct Node {
    title: String,
    pods: String,
    remarks: Vec<String>,
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

/// Pods of one workload that are on one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::report) struct Pods {
    /// The workload in full.
    pub(in crate::report) name: String,
    /// What is written into the bar.
    pub(in crate::report) short: String,
    /// The class of their colour; empty for pods that weigh nothing, which are not drawn.
    pub(in crate::report) colour: String,
    /// What each asks for.
    pub(in crate::report) request: Amounts,
    /// How many they are.
    pub(in crate::report) count: u64,
}

impl Node {
    /// A node that has `whole` for the pods that are `here`.
    pub(in crate::report) fn new(
        title: String,
        whole: Amounts,
        here: &[Pods],
        remarks: Vec<String>,
    ) -> Self {
        let count: u64 = here.iter().map(|pods| pods.count).sum();
        Self {
            pods: counted(usize::try_from(count).unwrap_or(usize::MAX), "pod"),
            bars: vec![
                bar(
                    "memory",
                    &title,
                    here,
                    |amounts| amounts.bytes,
                    whole,
                    |part| format!("{} GiB", gibibytes(part)),
                ),
                bar(
                    "processor",
                    &title,
                    here,
                    |amounts| amounts.millicores,
                    whole,
                    |part| format!("{} cores", cores(part)),
                ),
            ],
            contents: contents(here),
            title,
            remarks,
        }
    }
}

/// What is on a node, each name once.
fn contents(here: &[Pods]) -> Vec<Content> {
    let mut named: Vec<(&Pods, u64)> = Vec::new();
    for pods in here {
        let is_it =
            |(known, _): &&mut (&Pods, u64)| known.name == pods.name && known.colour == pods.colour;
        match named.iter_mut().find(is_it) {
            Some((_, count)) => *count += pods.count,
            None => named.push((pods, pods.count)),
        }
    }
    let content = |(pods, count): (&Pods, u64)| Content {
        name: pods.name.clone(),
        class: pods.colour.clone(),
        count: format!("× {count}"),
    };
    named.into_iter().map(content).collect()
}

fn bar(
    name: &'static str,
    title: &str,
    here: &[Pods],
    of: impl Fn(Amounts) -> u64,
    whole: Amounts,
    amount: impl Fn(u64) -> String,
) -> Bar {
    let whole = of(whole);
    let count: u64 = here.iter().map(|pods| pods.count).sum();
    let used = here.iter().map(|pods| of(pods.request).saturating_mul(pods.count)).sum();
    let mut drawn: Vec<Part> = Vec::new();
    for pods in here.iter().filter(|pods| of(pods.request) > 0) {
        let (each, times) =
            if count <= MOST_PODS_DRAWN { (1, pods.count) } else { (pods.count, 1) };
        let part = of(pods.request).saturating_mul(each);
        let name = match each {
            1 => pods.short.clone(),
            _ => format!("{} × {each}", pods.short),
        };
        let draw = || Part::new(&name, &pods.colour, (part, whole), amount(part));
        drawn.extend((0..times).map(|_| draw()));
    }
    let of_whole = format!("{} of {}", amount(used), amount(whole));
    Bar { name, label: format!("{title}, {name}: {of_whole}"), used: of_whole, pods: drawn }
}

/// The colours of workloads that ask for so much in all; none for one that asks for nothing. What weighs most gets its
/// colour first, so that colours repeat only among what weighs less.
pub(in crate::report) fn colours(asked: &[Amounts]) -> Vec<String> {
    let mut order: Vec<usize> =
        (0..asked.len()).filter(|number| asked[*number] != Amounts::default()).collect();
    order.sort_by_key(|number| Reverse((asked[*number].bytes, asked[*number].millicores)));
    let mut colours = vec![String::new(); asked.len()];
    for (rank, number) in order.into_iter().enumerate() {
        colours[number] = format!("c{}", rank % COLOURS);
    }
    colours
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(bytes: u64) -> Amounts {
        Amounts { millicores: 0, bytes }
    }

    #[test]
    fn what_weighs_most_is_coloured_first_and_what_weighs_nothing_never() {
        assert_eq!(colours(&[ask(1), ask(0), ask(9), ask(5)]), ["c2", "", "c0", "c1"]);
        let many = colours(&(1..=9).rev().map(ask).collect::<Vec<_>>());
        assert_eq!((many[0].as_str(), many[8].as_str()), ("c0", "c0"));
    }

    #[test]
    fn many_pods_of_a_workload_are_drawn_together() {
        let pods = |count| Pods {
            name: "Deployment/web".to_owned(),
            short: "web".to_owned(),
            colour: "c0".to_owned(),
            request: ask(1),
            count,
        };
        let drawn = |count| {
            let node = Node::new("Node 1".to_owned(), ask(100), &[pods(count)], Vec::new());
            (node.bars[0].pods.len(), node.bars[1].pods.len())
        };
        assert_eq!((drawn(40), drawn(41)), ((40, 0), (1, 0)));
    }
}
