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
        let possible = seconds + drain.possible_seconds();
        if grace >= possible {
            continue;
        }
        let (severity, fate) = match grace >= seconds {
            true => (Severity::Warning, "and up to twice the drain if the hook waits for it"),
            false => (CHECK.severity, "the drain is cut short"),
        };
        let message = format!(
            "{} gives its pods {grace}s to end, and container {} takes {seconds}s ({}): {fate}",
            workload.shown(),
            drain.container.name(),
            drain.shown(),
        );
        let command = context.command("set drain", &[workload.name(), "--align"]);
        let finding = context.finding(&CHECK, &grace_spot(workload), message);
        found.push(finding.mend(command).graded(severity));
    }
    found
}
