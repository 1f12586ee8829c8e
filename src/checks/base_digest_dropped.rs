//! `base-digest-dropped`: an `images` entry with a tag alone takes away the digest that a base had pinned.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};
use crate::kustomize::WarningKind;

pub(super) const CHECK: Check =
    Check { id: CheckId("base-digest-dropped"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let warnings = context.overlay.rendered.warnings.iter();
    warnings
        .filter(|warning| warning.kind == WarningKind::DigestDropped)
        .map(|warning| {
            let message = warning.message.clone();
            let finding = context.source_finding(&CHECK, warning.origin, message.clone());
            finding.about(&message).mend(context.command("pin", &["NAME=sha256:…"]))
        })
        .collect()
}
