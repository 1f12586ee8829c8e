//! `node-label-unused`: nothing rendered asks for a node label that somebody relies on.

use super::context::Context;
use super::finding::{Finding, Severity, Subject};
use super::{Check, CheckId};
use crate::kustomize::node::{Node, Value};

pub(super) const CHECK: Check =
    Check { id: CheckId("node-label-unused"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    if !context.is_first() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (label, place) in &context.settings.node_labels {
        let resources = context.all.iter().flat_map(|overlay| &overlay.rendered.resources);
        let is_used = resources.filter(|r| r.kind() != "Node").any(|r| mentions(&r.node, label));
        if is_used {
            continue;
        }
        let message = format!(
            "nothing in the {} overlays checked selects nodes by {label}: the label has no effect",
            context.all.len(),
        );
        let subject = Subject::kustomization(context.overlay.directory);
        let finding = Context::finding_at(&CHECK, subject, place.clone(), message);
        found.push(finding.about(&format!("nodeLabels {label}")));
    }
    found
}

/// Whether `label` is a key or a text anywhere below: a node selector, an affinity's key, a
/// topology key, or the field of a custom resource.
fn mentions(node: &Node, label: &str) -> bool {
    match &node.value {
        Value::Scalar(scalar) => &*scalar.text == label,
        Value::Seq(items) => items.iter().any(|item| mentions(item, label)),
        Value::Map(map) => map
            .entries()
            .iter()
            .any(|entry| &*entry.key.text == label || mentions(&entry.value, label)),
    }
}
