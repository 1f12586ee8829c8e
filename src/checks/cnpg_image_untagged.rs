//! `cnpg-image-untagged`: the image of a CloudNativePG Cluster has no version tag, which its webhook refuses.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::admission::image_refusal;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("cnpg-image-untagged"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for cluster in &context.clusters {
        let Some(refusal) = image_refusal(cluster) else { continue };
        let message = format!(
            "Cluster/{} has {}: CloudNativePG reads the PostgreSQL version from the tag and refuses an image without one",
            cluster.name(),
            refusal.reason,
        );
        found.push(context.finding(&CHECK, &refusal.spot, message));
    }
    found
}
