//! `images-entry-overmatch`: an `images` entry that also changes an image of another name.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};
use crate::kustomize::WarningKind;

pub(super) const CHECK: Check =
    Check { id: CheckId("images-entry-overmatch"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let warnings = context.overlay.rendered.warnings.iter();
    warnings
        .filter(|warning| warning.kind == WarningKind::ImageOvermatched)
        .map(|warning| {
            let message = warning.message.clone();
            context.source_finding(&CHECK, warning.origin, message.clone()).about(&message)
        })
        .collect()
}
