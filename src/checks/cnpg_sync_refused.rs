//! `cnpg-sync-refused`: synchronous settings that the webhook of CloudNativePG refuses.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::admission::number_refusals;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("cnpg-sync-refused"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let clusters = context.clusters.iter();
    let refusals = clusters.flat_map(|cluster| number_refusals(cluster, cluster.instances()));
    refusals.map(|refusal| context.refused(&CHECK, &refusal)).collect()
}
