//! `argocd-path-missing`: an Argo CD Application names a directory that is not there.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("argocd-path-missing"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    if !context.is_first() {
        return Vec::new();
    }
    let repository = context.repository;
    let mut found = Vec::new();
    for application in &repository.applications {
        for source in application.sources() {
            let is_there = source.path.is_empty()
                || repository.directories.iter().any(|directory| directory == source.path);
            if is_there || !repository.is_own(source.repository) || source.path.contains(['{', '$'])
            {
                continue;
            }
            let message = format!(
                "Application/{} deploys {} of this repository, and there is no such directory",
                application.name(),
                source.path,
            );
            let place = application.place(source.node.get("path").unwrap_or(source.node));
            let finding = Context::finding_at(&CHECK, application.subject(), place, message);
            found.push(finding.about(&format!("path {}", source.path)));
        }
    }
    found
}
