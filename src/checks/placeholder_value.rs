//! `placeholder-value`: a value that somebody still has to fill in.

use super::context::Context;
use super::finding::{Finding, Severity, Spot};
use super::{Check, CheckId};
use crate::kustomize::Resource;
use crate::kustomize::node::{Node, Value};

pub(super) const CHECK: Check =
    Check { id: CheckId("placeholder-value"), severity: Severity::Warning, run };

/// Longest text that is looked at, in bytes: a placeholder is a value, not a document.
const LONGEST: usize = 512;

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for resource in &context.overlay.rendered.resources {
        if resource.kind() != "CustomResourceDefinition" {
            walk(context, resource, &resource.node, String::new(), &mut found);
        }
    }
    found
}

fn walk(
    context: &Context<'_>,
    resource: &Resource,
    node: &Node,
    path: String,
    found: &mut Vec<Finding>,
) {
    match &node.value {
        Value::Map(map) => {
            for entry in map.entries() {
                let key = &*entry.key.text;
                let below = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                walk(context, resource, &entry.value, below, found);
            }
        }
        Value::Seq(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(context, resource, item, format!("{path}.{index}"), found);
            }
        }
        Value::Scalar(scalar) => {
            let Some(placeholder) = find_placeholder(&scalar.text) else { return };
            let message = format!(
                "{}/{} still has the placeholder {placeholder} in {path}",
                resource.kind(),
                resource.name(),
            );
            found.push(context.finding(&CHECK, &Spot::of(resource, node, path), message));
        }
    }
}

/// The word of `text` that asks to be replaced: `REPLACE-WITH-…`, `CHANGE_ME`, `PATCH-ME-…`,
/// `YOUR-…-HERE`.
fn find_placeholder(text: &str) -> Option<&str> {
    if text.len() > LONGEST || text.contains('\n') {
        return None;
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    text.split(|c| !is_word(c)).find(|word| is_placeholder(word))
}

fn is_placeholder(word: &str) -> bool {
    let plain = word.replace('_', "-").to_ascii_uppercase();
    let begins = [
        "REPLACE-ME",
        "REPLACE-WITH-",
        "REPLACE-THIS",
        "CHANGE-ME",
        "CHANGE-THIS",
        "PATCH-ME",
        "FILL-ME",
    ];
    let is_shouted =
        word.chars().any(|c| c.is_ascii_uppercase()) && word.to_ascii_uppercase() == word;
    begins
        .iter()
        .any(|begin| plain.starts_with(begin) && (is_shouted || plain.len() == begin.len()))
        || matches!(&*plain, "CHANGEME" | "REPLACEME")
        || (is_shouted && plain.starts_with("YOUR-") && plain.ends_with("-HERE"))
}

#[cfg(test)]
mod tests {
    use super::find_placeholder;

    #[test]
    fn words_that_ask_to_be_replaced_are_found() {
        for text in [
            "REPLACE-WITH-BUCKET",
            "s3://CHANGE_ME/x",
            "PATCH-ME-IN-THE-OVERLAY",
            "changeme",
            "change-me",
        ] {
            assert!(find_placeholder(text).is_some(), "{text}");
        }
        for text in ["replace-with-regex", "patch-merge", "exchange-me-not", "", "changemeter"] {
            assert_eq!(find_placeholder(text), None, "{text}");
        }
    }
}
