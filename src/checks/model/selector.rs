//! Label selectors of objects: `matchLabels` and `matchExpressions`.
//!
//! Source: k8s.io/apimachinery `apis/meta/v1` (`LabelSelectorAsSelector`).

use std::collections::BTreeMap;

use super::{items_at, text_at, texts_at};
use crate::kustomize::node::Node;

/// Labels by key.
pub type Labels<'a> = BTreeMap<&'a str, &'a str>;

/// The labels at `path` below `node`.
#[must_use]
pub fn labels_at<'a>(node: &'a Node, path: &[&str]) -> Labels<'a> {
    texts_at(node, path).into_iter().collect()
}

/// A label selector; `None` (no selector at all) selects nothing, an empty one everything.
#[derive(Clone, Debug)]
pub struct Selector<'a> {
    node: Option<&'a Node>,
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Selector<'a> {
    /// The selector that is `node`.
    #[must_use]
    pub fn new(node: Option<&'a Node>) -> Self {
        let node = node.filter(|node| !node.is_null());
        let pairs = node.map(|node| texts_at(node, &["matchLabels"])).unwrap_or_default();
        Self { node, pairs }
    }

    /// Whether it is there and asks for nothing, so that it selects everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.node.is_some_and(|node| {
            self.pairs.is_empty() && items_at(node, &["matchExpressions"]).is_empty()
        })
    }

    /// A label that everything selected must have, if there is one that is told.
    #[must_use]
    pub fn needed_label(&self) -> Option<(&'a str, &'a str)> {
        self.pairs.first().copied()
    }

    /// Whether `labels` fit.
    #[must_use]
    pub fn matches(&self, labels: &Labels<'_>) -> bool {
        self.selects(|key| labels.get(key).copied())
    }

    /// Whether the labels fit that `label` finds by their keys.
    #[must_use]
    pub fn selects<'b>(&self, label: impl Fn(&str) -> Option<&'b str>) -> bool {
        let Some(node) = self.node else { return false };
        self.pairs.iter().all(|(key, value)| label(key) == Some(value))
            && items_at(node, &["matchExpressions"]).iter().all(|wanted| holds(wanted, &label))
    }

    /// `app=web, tier in (a, b)`, for a message.
    #[must_use]
    pub fn shown(&self) -> String {
        let Some(node) = self.node else { return "none".to_owned() };
        let mut parts: Vec<String> =
            self.pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
        for wanted in items_at(node, &["matchExpressions"]) {
            let field = |name| text_at(wanted, &[name]).unwrap_or_default();
            let values: Vec<&str> = values_of(wanted).collect();
            let part = format!("{} {} ({})", field("key"), field("operator"), values.join(", "));
            parts.push(part);
        }
        if parts.is_empty() { "{}".to_owned() } else { parts.join(", ") }
    }
}

fn values_of(wanted: &Node) -> impl Iterator<Item = &str> {
    items_at(wanted, &["values"]).iter().filter_map(Node::as_str)
}

fn holds<'b>(wanted: &Node, label: impl Fn(&str) -> Option<&'b str>) -> bool {
    let value = text_at(wanted, &["key"]).and_then(label);
    let is_listed = || value.is_some_and(|value| values_of(wanted).any(|v| v == value));
    match text_at(wanted, &["operator"]) {
        Some("In") => is_listed(),
        Some("NotIn") => !is_listed(),
        Some("Exists") => value.is_some(),
        Some("DoesNotExist") => value.is_none(),
        _ => false,
    }
}
