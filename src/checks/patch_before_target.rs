//! `patch-before-target`: a patch is applied before its target is there.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};
use crate::kustomize::types::Selector;
use crate::kustomize::{Origin, Resource, WarningKind};

pub(super) const CHECK: Check =
    Check { id: CheckId("patch-before-target"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let warnings = context.overlay.rendered.warnings.iter();
    warnings
        .filter(|warning| warning.kind == WarningKind::PatchUnmatched)
        .filter_map(|warning| {
            let target = comes_later(context, warning.origin)?;
            let message = format!(
                "a patch for {}/{} is applied before another component or layer adds it, and is lost: move what adds it before this",
                target.kind(),
                target.name(),
            );
            let subject = format!("{}/{}", target.kind(), target.name());
            Some(context.source_finding(&CHECK, warning.origin, message).about(&subject))
        })
        .collect()
}

/// The rendered resource that the patch whose target is at `origin`, and selected nothing, is for.
pub(super) fn comes_later<'a>(context: &Context<'a>, origin: Origin) -> Option<&'a Resource> {
    let target = target_at(context, origin).filter(|target| names_one(target))?;
    context.overlay.rendered.resources.iter().find(|resource| {
        let is_named = resource.all_ids().iter().any(|id| *id.name == *target.name);
        is_named && (target.kind.is_empty() || resource.kind() == &*target.kind)
    })
}

/// The target at `origin`.
pub(super) fn target_at<'a>(context: &Context<'a>, origin: Origin) -> Option<&'a Selector> {
    let kustomizations = context.overlay.tree.kustomizations();
    kustomizations.into_iter().find_map(|(_, file)| {
        let fields = &file.kustomization;
        let patches = fields.patches.iter().chain(&fields.patches_json_6902);
        patches.filter_map(|patch| patch.target.as_ref()).find(|target| target.origin == origin)
    })
}

/// Whether the target is one object by name; a pattern or a selector is for whatever is there.
pub(super) fn names_one(target: &Selector) -> bool {
    let is_plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "-._".contains(c));
    !target.name.is_empty() && is_plain(&target.name) && is_plain(&target.kind)
}
