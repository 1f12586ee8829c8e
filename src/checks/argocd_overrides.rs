//! `argocd-overrides`: the Application of this overlay overrides what git says.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("argocd-overrides"), severity: Severity::Warning, run };

/// Fields of `source.kustomize` that win over the files.
const FIELDS: [&str; 5] = ["images", "replicas", "patches", "namePrefix", "nameSuffix"];

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for application in context.applications() {
        for source in application.sources().iter().filter(|s| s.path == context.overlay.directory) {
            for field in FIELDS {
                let Some(node) = source.node.lookup(&["kustomize", field]) else { continue };
                if node.is_nil_or_empty() {
                    continue;
                }
                let message = format!(
                    "Application/{} sets kustomize.{field}, which wins over the {field} of this overlay",
                    application.name(),
                );
                let place = application.place(node);
                let finding = Context::finding_at(&CHECK, application.subject(), place, message);
                found.push(finding.about(&format!("kustomize.{field}")));
            }
        }
    }
    found
}
