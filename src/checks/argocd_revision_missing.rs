//! `argocd-revision-missing`: an Argo CD Application follows a branch or tag that is not there.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::text_at;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("argocd-revision-missing"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let Some(refs) = context.repository.refs.as_ref().filter(|_| context.is_first()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for application in &context.repository.applications {
        for source in application.sources() {
            let Some(revision) = text_at(source.node, &["targetRevision"]) else { continue };
            let short = ["refs/heads/", "refs/tags/"]
                .iter()
                .find_map(|prefix| revision.strip_prefix(prefix))
                .unwrap_or(revision);
            if !is_name(revision)
                || refs.iter().any(|known| known == short)
                || !context.repository.is_own(source.repository)
            {
                continue;
            }
            let message = format!(
                "Application/{} follows {revision}, and this repository has no branch or tag of that name",
                application.name(),
            );
            let place = application.place(source.node.get("targetRevision").unwrap_or(source.node));
            let finding = Context::finding_at(&CHECK, application.subject(), place, message);
            found.push(finding.about(&format!("targetRevision {revision}")));
        }
    }
    found
}

/// Whether it names a ref: no commit, no `HEAD`, no constraint over versions, no template.
fn is_name(revision: &str) -> bool {
    let is_commit = revision.len() >= 7 && revision.bytes().all(|b| b.is_ascii_hexdigit());
    let is_special = revision.is_empty() || revision == "HEAD";
    !is_commit && !is_special && !revision.contains(['*', '>', '<', '~', '^', '|', ' ', '{', '$'])
}
