//! `cnpg-change-refused`: a Cluster goes from one state to another in a way that CloudNativePG refuses.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::admission::change_refusals;
use super::model::cluster::Cluster;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("cnpg-change-refused"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let Some(earlier) = context.earlier else { return Vec::new() };
    let mut found = Vec::new();
    for after in &context.clusters {
        let is_it =
            |before: &Cluster<'_>| before.resource.current_id() == after.resource.current_id();
        let mut before = earlier.resources.iter().filter_map(Cluster::new);
        let Some(before) = before.find(is_it) else { continue };
        let refusals = change_refusals(&before, after);
        found.extend(refusals.iter().map(|refusal| context.refused(&CHECK, refusal)));
    }
    found
}
