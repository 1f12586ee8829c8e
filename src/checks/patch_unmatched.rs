//! `patch-unmatched`: a patch whose target selects nothing.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::patch_before_target::{comes_later, names_one, target_at};
use super::{Check, CheckId};
use crate::kustomize::WarningKind;

pub(super) const CHECK: Check =
    Check { id: CheckId("patch-unmatched"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let warnings = context.overlay.rendered.warnings.iter();
    warnings
        .filter(|warning| warning.kind == WarningKind::PatchUnmatched)
        .filter(|warning| comes_later(context, warning.origin).is_none())
        .map(|warning| {
            let message = warning.message.clone();
            let finding = context.source_finding(&CHECK, warning.origin, message.clone());
            let is_for_one = target_at(context, warning.origin).is_none_or(names_one);
            let severity = if is_for_one { CHECK.severity } else { Severity::Note };
            finding.about(&message).graded(severity)
        })
        .collect()
}
