//! `progress-deadline-short`: a roll is declared failed before its pods can be ready.

use super::context::Context;
use super::finding::{Finding, Severity, Spot};
use super::model::container::Container;
use super::model::int_at;
use super::model::workload::{Workload, WorkloadKind};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("progress-deadline-short"), severity: Severity::Warning, run };

/// `progressDeadlineSeconds` where nothing states it (`apps/v1` defaults).
const DEFAULT_DEADLINE: i64 = 600;

fn run(context: &Context<'_>) -> Vec<Finding> {
    let deployments = context.workloads.iter().filter(|w| w.kind == WorkloadKind::Deployment);
    deployments.filter_map(|deployment| judge(context, deployment)).collect()
}

fn judge(context: &Context<'_>, deployment: &Workload<'_>) -> Option<Finding> {
    let number = |field: &str| int_at(&deployment.resource.node, &["spec", field]);
    let deadline = number("progressDeadlineSeconds").unwrap_or(DEFAULT_DEADLINE);
    let min_ready = number("minReadySeconds").unwrap_or(0);
    let startup = deployment.containers().iter().map(startup_seconds).max().unwrap_or(0);
    let spot = Spot::at(deployment.resource, &["spec", "progressDeadlineSeconds"]);
    let name = deployment.shown();
    if deadline <= min_ready {
        let message = format!(
            "{name} has progressDeadlineSeconds {deadline}, not more than its minReadySeconds {min_ready}, which the API refuses"
        );
        return Some(context.finding(&CHECK, &spot, message).graded(Severity::Error));
    }
    (startup + min_ready > deadline).then(|| {
        let message = format!(
            "{name} allows its pods {startup}s to start and {min_ready}s to settle, and a roll is declared failed after {deadline}s without progress"
        );
        context.finding(&CHECK, &spot, message)
    })
}

/// The seconds that the startup probe grants.
fn startup_seconds(container: &Container<'_>) -> i64 {
    let Some(probe) = container.node.get("startupProbe") else { return 0 };
    let number = |field: &str, default| int_at(probe, &[field]).unwrap_or(default);
    number("initialDelaySeconds", 0)
        .saturating_add(number("failureThreshold", 3).saturating_mul(number("periodSeconds", 10)))
}
