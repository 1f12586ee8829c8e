//! `cnpg-image-untagged`: the image of a CloudNativePG Cluster has no version tag, which its webhook refuses.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};
use crate::image::Split;

pub(super) const CHECK: Check =
    Check { id: CheckId("cnpg-image-untagged"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for cluster in &context.clusters {
        let spot = cluster.spot(&["imageName"]);
        let Some(image) = spot.node.as_str() else { continue };
        let tag = Split::parse(image).tag;
        let has_version = tag.starts_with(|c: char| c.is_ascii_digit());
        if has_version {
            continue;
        }
        let what = if tag.is_empty() { "no tag".to_owned() } else { format!("the tag {tag}") };
        let message = format!(
            "Cluster/{} has the image {image} with {what}: CloudNativePG reads the PostgreSQL version from the tag and refuses an image without one",
            cluster.name(),
        );
        found.push(context.finding(&CHECK, &spot, message));
    }
    found
}
