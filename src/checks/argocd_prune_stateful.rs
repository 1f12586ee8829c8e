//! `argocd-prune-stateful`: Argo CD deletes data when its object leaves the files.

use super::context::Context;
use super::finding::{Finding, Severity, Spot};
use super::model::cluster::Cluster;
use super::model::items_at;
use super::{Check, CheckId};
use crate::kustomize::Resource;

pub(super) const CHECK: Check =
    Check { id: CheckId("argocd-prune-stateful"), severity: Severity::Warning, run };

/// The annotation with options for one object.
const ANNOTATION: &str = "argocd.argoproj.io/sync-options";

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let pruning = context.applications().into_iter().find(|app| app.automated("prune"));
    let Some(application) = pruning else { return found };
    for resource in &context.overlay.rendered.resources {
        if !holds_data(resource) || is_kept(resource) {
            continue;
        }
        let message = format!(
            "Application/{} prunes by itself, and {}/{} holds data: when it leaves the render, its data goes; the annotation {ANNOTATION}: Prune=false keeps it",
            application.name(),
            resource.kind(),
            resource.name(),
        );
        found.push(context.finding(
            &CHECK,
            &Spot::at(resource, &["metadata", "annotations"]),
            message,
        ));
    }
    found
}

/// A claim, a database, or a StatefulSet that makes claims.
fn holds_data(resource: &Resource) -> bool {
    resource.kind() == "PersistentVolumeClaim"
        || Cluster::new(resource).is_some()
        || !items_at(&resource.node, &["spec", "volumeClaimTemplates"]).is_empty()
}

fn is_kept(resource: &Resource) -> bool {
    let options = resource.annotation(ANNOTATION);
    options.is_some_and(|text| text.split(',').any(|option| option.trim() == "Prune=false"))
}
