//! `secret-source-removed`: a workload needs a Secret whose source is taken out of this render.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::reference::{Reference, Referent, references};
use super::model::workload::Workload;
use super::{Check, CheckId};
use crate::kustomize::{Rendered, Resource};

pub(super) const CHECK: Check =
    Check { id: CheckId("secret-source-removed"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut missing = Vec::new();
    for workload in context.workloads.iter().filter(|workload| workload.replicas() > 0) {
        for reference in references(workload) {
            let is_secret = reference.referent == Referent::Secret;
            if is_secret && !context.makers.make(workload, &reference) {
                missing.push((workload, reference));
            }
        }
    }
    if missing.is_empty() {
        return Vec::new();
    }
    let removed = sources(context);
    missing
        .iter()
        .filter_map(|(workload, reference)| judge(context, workload, reference, &removed))
        .collect()
}

/// A Secret or a source of one that stands in a file of the tree.
struct Source {
    place: String,
    resource: Resource,
}

/// The Secrets that `workload` needs and whose source is taken out of this render, each in words:
/// `Secret NAME (made by KIND/NAME, FILE:LINE)`.
pub(crate) fn removed_secrets(context: &Context<'_>, workload: &Workload<'_>) -> Vec<String> {
    let is_missing = |reference: &Reference<'_>| {
        reference.referent == Referent::Secret && !context.makers.make(workload, reference)
    };
    let missing: Vec<Reference<'_>> = references(workload).into_iter().filter(is_missing).collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let removed = sources(context);
    let mut shown: Vec<String> = Vec::new();
    for reference in &missing {
        let Some(source) = find_source(&removed, reference.name) else { continue };
        let (kind, name) = (source.resource.kind(), source.resource.name());
        let text = format!("Secret {} (made by {kind}/{name}, {})", reference.name, source.place);
        if !shown.contains(&text) {
            shown.push(text);
        }
    }
    shown
}

fn judge(
    context: &Context<'_>,
    workload: &Workload<'_>,
    reference: &Reference<'_>,
    removed: &[Source],
) -> Option<Finding> {
    let source = find_source(removed, reference.name)?;
    let message = format!(
        "{} needs Secret {}, and {}/{}, which makes it ({}), is taken out of this render",
        workload.shown(),
        reference.name,
        source.resource.kind(),
        source.resource.name(),
        source.place,
    );
    Some(context.finding(&CHECK, &reference.spot, message))
}

/// Whether a Secret of that name has a source in the files, though not in the render.
pub(super) fn is_removed(context: &Context<'_>, name: &str) -> bool {
    find_source(&sources(context), name).is_some()
}

fn find_source<'s>(sources: &'s [Source], name: &str) -> Option<&'s Source> {
    sources.iter().find(|source| {
        let resource = &source.resource;
        let target = resource.node.lookup(&["spec", "target", "name"]);
        let secret_name = resource.node.lookup(&["spec", "secretName"]);
        let stated = target.or(secret_name).and_then(|node| node.as_str());
        stated.unwrap_or(resource.name()) == name
    })
}

fn sources(context: &Context<'_>) -> Vec<Source> {
    let mut found = Vec::new();
    let tree = context.overlay.tree;
    // What a chart does not render is no source: its templates have conditions.
    for file in tree.files().filter(|file| !tree.is_of_chart(&file.path)) {
        let Ok(text) = std::str::from_utf8(&file.bytes) else { continue };
        if !text.contains("Secret") && !text.contains("Certificate") {
            continue;
        }
        let Ok(parsed) = Rendered::parse_with_lines(text) else { continue };
        for resource in parsed.resources {
            if is_source(&resource) {
                let place = format!("{}:{}", file.path, resource.origin.line.max(1));
                found.push(Source { place, resource });
            }
        }
    }
    found.sort_by(|a, b| a.place.cmp(&b.place));
    found
}

/// Whether it is an object that makes a Secret, and no patch.
fn is_source(resource: &Resource) -> bool {
    let is_patch = resource.node.get("$patch").is_some();
    let kinds = ["Secret", "ExternalSecret", "SealedSecret", "Certificate"];
    let has_content =
        ["spec", "data", "stringData"].iter().any(|field| resource.node.get(field).is_some());
    !is_patch && has_content && kinds.contains(&resource.kind())
}
