//! `argocd-paths-miss-base`: Argo CD does not look at a directory that this overlay is built from.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::application::is_covered;
use super::{Check, CheckId};
use std::collections::BTreeSet;

pub(super) const CHECK: Check =
    Check { id: CheckId("argocd-paths-miss-base"), severity: Severity::Warning, run };

/// The annotation that says which changed files matter.
const ANNOTATION: &str = "argocd.argoproj.io/manifest-generate-paths";

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let source = context.overlay.directory;
    for application in context.applications() {
        let Some(node) = application.annotation(ANNOTATION) else { continue };
        let paths = node.as_str().unwrap_or_default();
        let missed: BTreeSet<&str> = context
            .overlay
            .tree
            .files()
            .map(|file| &*file.path)
            .filter(|path| !is_covered(paths, source, path))
            .map(|path| path.rsplit_once('/').map_or(".", |(directory, _)| directory))
            .collect();
        if missed.is_empty() {
            continue;
        }
        let missed: Vec<&str> = missed.into_iter().collect();
        let message = format!(
            "manifest-generate-paths of Application/{} leaves out {}: after a change there Argo CD says Synced and still runs what was before",
            application.name(),
            missed.join(", "),
        );
        let finding =
            Context::finding_at(&CHECK, application.subject(), application.place(node), message);
        found.push(finding.about(ANNOTATION));
    }
    found
}
