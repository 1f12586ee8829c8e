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
            let is_backup = path.ends_with(".destinationPath") || path.ends_with(".endpointURL");
            let host = || reserved_host(&scalar.text).filter(|_| is_backup);
            let Some(placeholder) = find_placeholder(&scalar.text).or_else(host) else { return };
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

/// The host of a URL, where it is one that no server has (RFC 2606, RFC 6761) or the pod itself: a
/// backup that goes there goes nowhere, and the write-ahead log fills the volume.
fn reserved_host(url: &str) -> Option<&str> {
    let rest = url.split_once("://")?.1;
    let host = rest.split(['/', ':', '?']).next()?;
    let ends = ["localhost", "invalid", "example", "example.com", "example.org", "example.net"];
    let is_reserved = ends.iter().any(|end| {
        host.strip_suffix(end).is_some_and(|name| name.is_empty() || name.ends_with('.'))
    });
    (is_reserved || matches!(host, "127.0.0.1" | "0.0.0.0")).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::{find_placeholder, reserved_host};

    #[test]
    fn hosts_that_no_server_has_are_found() {
        for url in
            ["https://backup.localhost/x", "http://127.0.0.1:10000/dev", "https://s3.example.com"]
        {
            assert!(reserved_host(url).is_some(), "{url}");
        }
        for url in ["https://s3.eu.amazonaws.com", "s3://backups/db", "https://myexample.com"] {
            assert_eq!(reserved_host(url), None, "{url}");
        }
    }

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
