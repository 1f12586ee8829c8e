//! `reference-missing`: a workload needs a ConfigMap or Secret that nothing in this render makes.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::reference::{Referent, references};
use super::secret_source_removed::is_removed;
use super::{Check, CheckId};
use std::collections::BTreeSet;

pub(super) const CHECK: Check =
    Check { id: CheckId("reference-missing"), severity: Severity::Note, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for workload in context.workloads.iter().filter(|workload| workload.replicas() > 0) {
        let mut seen = BTreeSet::new();
        for reference in references(workload) {
            let is_new = seen.insert((reference.referent, reference.name));
            if !is_new || context.makers.make(workload, &reference) {
                continue;
            }
            if reference.referent == Referent::Secret && is_removed(context, reference.name) {
                continue;
            }
            let message = format!(
                "{} needs {} {}, which nothing in this render makes: it has to come from elsewhere",
                workload.shown(),
                reference.referent.kind(),
                reference.name,
            );
            found.push(context.finding(&CHECK, &reference.spot, message));
        }
    }
    found
}
