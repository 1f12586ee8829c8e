//! `deprecated-field`: a field that kustomize will drop.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};
use crate::kustomize::WarningKind;

pub(super) const CHECK: Check =
    Check { id: CheckId("deprecated-field"), severity: Severity::Note, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let warnings = context.overlay.rendered.warnings.iter();
    warnings
        .filter(|warning| warning.kind == WarningKind::DeprecatedField)
        .map(|warning| {
            let message = warning.message.clone();
            context.source_finding(&CHECK, warning.origin, message.clone()).about(&message)
        })
        .collect()
}
