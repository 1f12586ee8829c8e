//! `grace-below-drain`: pods are killed before their drain is over.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::drain::{Drain, grace_spot, longest};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("grace-below-drain"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for workload in context.running() {
        let drains = Drain::of(context, workload);
        let Some(drain) = longest(&drains) else { continue };
        let (grace, seconds) = (workload.grace_seconds(), drain.seconds());
        if grace >= seconds {
            continue;
        }
        let message = format!(
            "{} gives its pods {grace}s to end, and container {} takes {seconds}s ({}): the drain is cut short",
            workload.shown(),
            drain.container.name(),
            drain.shown(),
        );
        let command = format!("overlay set drain {} {} --align", context.shown(), workload.name());
        found.push(context.finding(&CHECK, &grace_spot(workload), message).mend(command));
    }
    found
}
