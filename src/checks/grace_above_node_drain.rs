//! `grace-above-node-drain`: a node drain gives up on pods before they may end.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::drain::grace_spot;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("grace-above-node-drain"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let Some(limit) = context.settings.node_drain else { return Vec::new() };
    let limit = i64::try_from(limit.as_secs()).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    for workload in context.running() {
        let grace = workload.grace_seconds();
        if grace < limit {
            continue;
        }
        let (severity, how) = match grace == limit {
            true => (Severity::Warning, "exactly as long as: nothing is left for traffic to move"),
            false => (Severity::Error, "longer than: the drain gives up first"),
        };
        let (how, why) = how.split_once(": ").unwrap_or((how, ""));
        let message = format!(
            "{} may take {grace}s to end, {how} the {limit}s that a node drain waits: {why}",
            workload.shown(),
        );
        found.push(context.finding(&CHECK, &grace_spot(workload), message).graded(severity));
    }
    found
}
