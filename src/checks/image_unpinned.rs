//! `image-unpinned`: a container runs an image without a digest.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};
use crate::image::Split;

pub(super) const CHECK: Check =
    Check { id: CheckId("image-unpinned"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for image in &context.images {
        let split = Split::parse(image.text);
        if !split.digest.is_empty() {
            continue;
        }
        let how =
            if split.tag.is_empty() { "neither tag nor digest" } else { "a tag and no digest" };
        let message = format!(
            "{} runs {}, {how}: what it runs may change without a commit",
            image.shown(),
            image.text,
        );
        let command = context.command("pin", &[&format!("{}=sha256:…", split.name)]);
        found.push(context.finding(&CHECK, &image.spot, message).mend(command));
    }
    found
}
