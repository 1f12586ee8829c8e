//! `image-argument-floating`: an argument of a container names an image without a digest, where `images` does not reach.

use super::context::Context;
use super::finding::{Finding, Severity, Spot};
use super::settings::matches_pattern;
use super::{Check, CheckId};
use crate::image::Split;

pub(super) const CHECK: Check =
    Check { id: CheckId("image-argument-floating"), severity: Severity::Warning, run };

/// Flags that hold an image where the repository says nothing else.
const DEFAULT_PATTERNS: [&str; 2] = ["image", "*-image"];

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for workload in &context.workloads {
        for container in workload.all_containers() {
            for (flag, value, node, field) in container.flags() {
                if !is_image_flag(context, flag) || !looks_like_image(value) {
                    continue;
                }
                let message = format!(
                    "argument --{flag} of container {} of {} names {value}, which has no digest and which images entries do not reach",
                    container.name(),
                    workload.shown(),
                );
                let spot = Spot::of(workload.resource, node, field);
                let image = Split::parse(value).name;
                let (flag, pin) = (format!("--{flag}"), format!("{image}=sha256:…"));
                let command = context.command("pin", &["--image-arg", &flag, &pin]);
                found.push(context.finding(&CHECK, &spot, message).mend(command));
            }
        }
    }
    found
}

fn is_image_flag(context: &Context<'_>, flag: &str) -> bool {
    let configured = &context.settings.image_arguments;
    let fits = |pattern: &str| matches_pattern(pattern.trim_start_matches('-'), flag);
    match configured.is_empty() {
        true => DEFAULT_PATTERNS.iter().any(|pattern| fits(pattern)),
        false => configured.iter().any(|pattern| fits(pattern)),
    }
}

/// A reference with a tag or a path and no digest; `$(VAR)` and words are none.
fn looks_like_image(value: &str) -> bool {
    let split = Split::parse(value);
    let is_text =
        !value.is_empty() && !value.contains(['$', ' ', '{', ',']) && !value.contains("://");
    is_text && split.digest.is_empty() && (!split.tag.is_empty() || split.name.contains('/'))
}
