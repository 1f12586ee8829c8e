//! `argocd-selfheal-autoscaler`: Argo CD sets back the number of replicas that an autoscaler chose.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::application::Application;
use super::model::workload::Workload;
use super::model::{items_at, text_at};
use super::{Check, CheckId};
use crate::kustomize::node::Node;

pub(super) const CHECK: Check =
    Check { id: CheckId("argocd-selfheal-autoscaler"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for application in context.applications().into_iter().filter(|app| app.automated("selfHeal")) {
        for workload in context.workloads.iter().filter(|workload| workload.is_scaled()) {
            let Some(scaler) = context.autoscaler(workload) else { continue };
            let states_it = workload.resource.node.lookup(&["spec", "replicas"]).is_some();
            if !states_it || ignores_replicas(application, workload) {
                continue;
            }
            let message = format!(
                "Application/{} heals itself to the {} replicas of {}, which {}/{} scales between {} and {}, and no ignoreDifferences leaves them alone",
                application.name(),
                workload.replicas(),
                workload.shown(),
                scaler.resource.kind(),
                scaler.resource.name(),
                scaler.min,
                scaler.max,
            );
            let finding = context.finding(&CHECK, &workload.replicas_spot(), message);
            found.push(finding.about(&format!("spec.replicas by {}", application.name())));
        }
    }
    found
}

fn ignores_replicas(application: &Application, workload: &Workload<'_>) -> bool {
    items_at(application.node(), &["spec", "ignoreDifferences"]).iter().any(|ignored| {
        let fits = |field: &str, value: &str| {
            text_at(ignored, &[field]).is_none_or(|text| text == value || text == "*")
        };
        let has = |list: &str, value: &str| {
            items_at(ignored, &[list]).iter().filter_map(Node::as_str).any(|text| text == value)
        };
        fits("kind", workload.resource.kind())
            && fits("name", workload.name())
            && (has("jsonPointers", "/spec/replicas") || has("jqPathExpressions", ".spec.replicas"))
    })
}
