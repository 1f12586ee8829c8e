//! `remote-base-unpinned`: a remote base is taken from a branch, whose content may change without a commit.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};
use crate::kustomize::remote::{is_remote, without_credentials};

pub(super) const CHECK: Check =
    Check { id: CheckId("remote-base-unpinned"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (_, file) in context.overlay.tree.kustomizations() {
        let fields = &file.kustomization;
        for reference in fields.resources.iter().chain(&fields.components) {
            if !is_remote(reference) {
                continue;
            }
            let Some(why) = movable(reference) else { continue };
            let shown = without_credentials(reference);
            let message = format!(
                "the remote base {shown} {why}: what it brings may change without a commit"
            );
            let finding = context.source_finding(&CHECK, reference.origin, message);
            let command = context.command("bump", &["--ref", "TAG"]);
            found.push(finding.about(&shown).mend(command));
        }
    }
    found
}

/// Why the content of a reference may change; `None` for a version or a commit.
fn movable(reference: &str) -> Option<String> {
    let query = reference.split_once('?').map(|(_, query)| query);
    let named = query.and_then(|query| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| matches!(*key, "ref" | "version")).map(|(_, value)| value)
    });
    match named.filter(|name| !name.is_empty()) {
        None if is_release_file(reference) => None,
        None => Some("names no ref".to_owned()),
        Some(name) if is_fixed(name) => None,
        Some(name) => {
            Some(format!("is taken from {name}, which is neither a version nor a commit"))
        }
    }
}

/// A file of a release, or at a commit or tag, has its version in the path.
fn is_release_file(reference: &str) -> bool {
    let is_file = reference.ends_with(".yaml") || reference.ends_with(".yml");
    is_file && reference.split('/').any(is_fixed)
}

/// A commit, or a name with a number of a version in it (`v1.2`, `release-1.2.3`, `2024-05-01`).
fn is_fixed(name: &str) -> bool {
    let is_commit = name.len() >= 7
        && name.bytes().all(|b| b.is_ascii_hexdigit())
        && name.bytes().any(|b| b.is_ascii_digit());
    let has_digit = name.bytes().any(|b| b.is_ascii_digit());
    let is_version =
        has_digit && (name.contains('.') || name.starts_with('v') || name.contains('-'));
    is_commit || is_version
}

#[cfg(test)]
mod tests {
    use super::movable;

    #[test]
    fn versions_and_commits_are_fixed_and_branches_are_not() {
        for reference in [
            "https://example.test/a/b//c?ref=v1.2.3",
            "https://example.test/a/b?ref=0123456789abcdef0123456789abcdef01234567",
            "https://example.test/a/b/releases/download/v1.0/install.yaml",
            "https://example.test/a/b?timeout=90s&ref=release-1.4",
        ] {
            assert_eq!(movable(reference), None, "{reference}");
        }
        for reference in ["https://example.test/a/b", "https://example.test/a/b//c?ref=main"] {
            assert!(movable(reference).is_some(), "{reference}");
        }
    }
}
