//! `cnpg-refused`: values of a Cluster that CloudNativePG does not take, and fields that exclude each other.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::admission::value_refusals;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("cnpg-refused"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let refusals = context.clusters.iter().flat_map(value_refusals);
    refusals.map(|refusal| context.refused(&CHECK, &refusal)).collect()
}
