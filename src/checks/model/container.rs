//! A container of a pod: its image, environment, arguments, probes and hooks.

use super::{int_at, items_at, text_at};
use crate::checks::finding::Spot;
use crate::kustomize::Resource;
use crate::kustomize::node::Node;

/// One container.
#[derive(Clone, Debug)]
pub struct Container<'a> {
    /// The resource it is in.
    pub resource: &'a Resource,
    /// Its value.
    pub node: &'a Node,
    /// Its path, such as `spec.template.spec.containers.[name=web]`.
    pub path: String,
}

impl<'a> Container<'a> {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        text_at(self.node, &["name"]).unwrap_or_default()
    }

    /// The value of its image.
    #[must_use]
    pub fn image(&self) -> Option<&'a Node> {
        self.node.get("image").filter(|node| node.as_str().is_some_and(|text| !text.is_empty()))
    }

    /// Its field `path`, or the nearest object above.
    #[must_use]
    pub fn spot(&self, path: &[&str]) -> Spot<'a> {
        let mut node = self.node;
        for key in path {
            match node.get(key) {
                Some(next) => node = next,
                None => break,
            }
        }
        Spot::of(self.resource, node, format!("{}.{}", self.path, path.join(".")))
    }

    /// The words of `command` and `args`, in the order the program gets them, with their fields.
    pub fn words(&self) -> impl Iterator<Item = (&'a Node, String)> + '_ {
        ["command", "args"].into_iter().flat_map(move |field| {
            let items = items_at(self.node, &[field]).iter().enumerate();
            items.map(move |(index, item)| (item, format!("{}.{field}.{index}", self.path)))
        })
    }

    /// The flags among its words and their values, whether `--flag=value` or two words: name
    /// without dashes, value, node of the value, field.
    #[must_use]
    pub fn flags(&self) -> Vec<(&'a str, &'a str, &'a Node, String)> {
        let words: Vec<_> = self.words().collect();
        let mut flags = Vec::new();
        for (index, (node, field)) in words.iter().enumerate() {
            let Some(text) = node.as_str().filter(|text| text.starts_with('-')) else { continue };
            let name = text.trim_start_matches('-');
            if let Some((name, value)) = name.split_once('=') {
                flags.push((name, value, *node, field.clone()));
            } else if let Some((next, field)) = words.get(index + 1)
                && let Some(value) = next.as_str().filter(|value| !value.starts_with('-'))
            {
                flags.push((name, value, *next, field.clone()));
            }
        }
        flags
    }

    /// Its variables that have a value outright: name, value.
    pub fn variables(&self) -> impl Iterator<Item = (&'a str, &'a Node)> {
        items_at(self.node, &["env"])
            .iter()
            .filter_map(|item| Some((text_at(item, &["name"])?, item.get("value")?)))
    }

    /// The seconds that its `preStop` hook takes, as far as they are stated (`sleep`, or a command
    /// that sleeps).
    #[must_use]
    pub fn pre_stop_seconds(&self) -> i64 {
        let Some(hook) = self.node.lookup(&["lifecycle", "preStop"]) else { return 0 };
        if let Some(seconds) = int_at(hook, &["sleep", "seconds"]) {
            return seconds.max(0);
        }
        let command = items_at(hook, &["exec", "command"]).iter().filter_map(Node::as_str);
        let words: Vec<&str> = command.flat_map(|text| text.split([' ', ';', '&', '\n'])).collect();
        let after_sleep = |pair: &[&str]| (pair[0].ends_with("sleep")).then(|| seconds_of(pair[1]));
        words.windows(2).filter_map(after_sleep).flatten().sum()
    }

    /// Whether it has a `preStop` hook whose length nothing states.
    #[must_use]
    pub fn has_unknown_pre_stop(&self) -> bool {
        self.node.lookup(&["lifecycle", "preStop"]).is_some() && self.pre_stop_seconds() == 0
    }
}

/// `5`, `5s`, `2m` of the `sleep` program.
fn seconds_of(word: &str) -> Option<i64> {
    let word = word.trim_matches(['"', '\'']);
    let (digits, factor) = match word.strip_suffix('m') {
        Some(digits) => (digits, 60),
        None => (word.strip_suffix('s').unwrap_or(word), 1),
    };
    digits.parse::<u32>().ok().map(|number| i64::from(number) * factor)
}

/// The containers of `pod`, the pod's specification at `path`, of the lists named `lists`.
#[must_use]
pub fn containers<'a>(
    resource: &'a Resource,
    pod: &'a Node,
    path: &str,
    lists: &[&str],
) -> Vec<Container<'a>> {
    let mut found = Vec::new();
    for list in lists {
        for node in items_at(pod, &[list]) {
            let name = text_at(node, &["name"]).unwrap_or_default();
            let path = format!("{path}.{list}.[name={name}]");
            found.push(Container { resource, node, path });
        }
    }
    found
}
