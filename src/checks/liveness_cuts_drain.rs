//! `liveness-cuts-drain`: the liveness probe asks what a draining pod answers with no.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::container::Container;
use super::model::drain::Drain;
use super::model::int_at;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("liveness-cuts-drain"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for workload in context.running() {
        for drain in Drain::of(context, workload) {
            let container = &drain.container;
            let Some(patience) = patience_of_shared_probe(container) else { continue };
            let seconds = drain.seconds();
            if seconds <= patience {
                continue;
            }
            let message = format!(
                "the liveness probe of container {} of {} asks the same as its readiness probe and restarts it after {patience}s, while the drain takes {seconds}s: a pod that fails readiness to drain may be restarted",
                container.name(),
                workload.shown(),
            );
            found.push(context.finding(&CHECK, &container.spot(&["livenessProbe"]), message));
        }
    }
    found
}

/// The seconds until the liveness probe restarts, where it asks what the readiness probe asks.
fn patience_of_shared_probe(container: &Container<'_>) -> Option<i64> {
    let liveness = container.node.get("livenessProbe")?;
    let readiness = container.node.get("readinessProbe")?;
    let is_shared = liveness.get("httpGet").is_some_and(|asks| {
        let same = |field: &str| {
            let text = |node: &crate::kustomize::node::Node| {
                node.get(field).and_then(|n| n.as_text().cloned())
            };
            text(asks) == readiness.get("httpGet").and_then(text)
        };
        readiness.get("httpGet").is_some() && same("path") && same("port")
    });
    let number = |field: &str, default| int_at(liveness, &[field]).unwrap_or(default);
    is_shared.then(|| number("failureThreshold", 3).saturating_mul(number("periodSeconds", 10)))
}
