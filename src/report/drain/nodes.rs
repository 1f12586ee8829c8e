//! Nodes of a cluster as bars: what moves in the colour of its workload, the same on every node, and what stays in one.

use std::collections::BTreeMap;

use crate::capacity::amounts::Amounts;
use crate::drain::Held;
use crate::report::page::node::{Node, Pods, colours};

/// The colour of what stays on its node.
pub(in crate::report) const STAYS: &str = "kept";

/// Which colour each workload has.
pub(in crate::report) struct Palette(BTreeMap<String, String>);

impl Palette {
    /// Colours for what moves among these pods.
    pub(in crate::report) fn of<'a>(pods: impl Iterator<Item = &'a Held>) -> Self {
        let mut asked: BTreeMap<String, Amounts> = BTreeMap::new();
        for pod in pods.filter(|pod| pod.moves) {
            *asked.entry(name(pod)).or_default() += pod.request;
        }
        let amounts: Vec<Amounts> = asked.values().copied().collect();
        Self(asked.into_keys().zip(colours(&amounts)).collect())
    }

    /// A node with what it has for pods and those that it holds: what stays first, then by name.
    pub(in crate::report) fn node(
        &self,
        title: String,
        whole: Amounts,
        held: &[Held],
        remarks: Vec<String>,
    ) -> Node {
        let mut alike: BTreeMap<(bool, String, Amounts), Pods> = BTreeMap::new();
        for pod in held {
            let own = if pod.moves { name(pod) } else { pod.name.clone() };
            let key = (pod.moves, own, pod.request);
            alike.entry(key).or_insert_with(|| self.pods(pod)).count += 1;
        }
        let pods: Vec<Pods> = alike.into_values().collect();
        Node::new(title, whole, &pods, remarks)
    }

    fn pods(&self, pod: &Held) -> Pods {
        let name = name(pod);
        let colour = match (pod.moves, self.0.get(&name)) {
            (true, Some(colour)) if pod.request != Amounts::default() => colour.clone(),
            (false, _) if pod.request != Amounts::default() => STAYS.to_owned(),
            _ => String::new(),
        };
        let own = || pod.name.rsplit('/').next().unwrap_or_default().to_owned();
        let short = pod.workload.as_ref().map_or_else(own, |id| id.name.clone());
        let name = if pod.moves { name } else { "what stays".to_owned() };
        Pods { name, short, colour, request: pod.request, count: 0 }
    }
}

fn name(pod: &Held) -> String {
    pod.workload.as_ref().map_or_else(|| pod.name.clone(), ToString::to_string)
}
