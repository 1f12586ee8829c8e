//! `grace-equals-drain`: no time is left between the end of the drain and the kill.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::drain::{Drain, grace_spot, longest};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("grace-equals-drain"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for workload in context.running() {
        let drains = Drain::of(context, workload);
        let Some(drain) = longest(&drains) else { continue };
        let (grace, seconds) = (workload.grace_seconds(), drain.seconds());
        if grace != seconds {
            continue;
        }
        let message = format!(
            "{} gives its pods {grace}s to end, exactly what the drain of container {} takes ({}): nothing is left for the program to shut down",
            workload.shown(),
            drain.container.name(),
            drain.shown(),
        );
        let command = context.command("set drain", &[workload.name(), "--align"]);
        found.push(context.finding(&CHECK, &grace_spot(workload), message).mend(command));
    }
    found
}
