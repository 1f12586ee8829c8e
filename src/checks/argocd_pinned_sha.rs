//! `argocd-pinned-sha`: the Application of this overlay is pinned to a commit, so that no later one reaches the cluster.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::text_at;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("argocd-pinned-sha"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for application in context.applications() {
        for source in application.sources().iter().filter(|s| s.path == context.overlay.directory) {
            let Some(revision) = text_at(source.node, &["targetRevision"]) else { continue };
            if revision.len() < 7 || !revision.bytes().all(|b| b.is_ascii_hexdigit()) {
                continue;
            }
            let message = format!(
                "Application/{} is pinned to the commit {revision}: no change of this overlay reaches the cluster",
                application.name(),
            );
            let place = application.place(source.node.get("targetRevision").unwrap_or(source.node));
            found.push(Context::finding_at(&CHECK, application.subject(), place, message));
        }
    }
    found
}
