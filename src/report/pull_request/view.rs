//! What a template sees.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value as Json;

use super::Proposal;
use crate::checks::Finding;
use crate::image::Reference;
use crate::report::change::{OverlayReport, Status};
use crate::verify::FieldChange;

/// The digits of a digest that people compare.
const SHORT_DIGEST: usize = 12;

/// The variables of a template. Lists have at most so many items; `…_left` says how many more there are.
#[derive(Serialize)]
pub(super) struct View {
    title: String,
    summary: String,
    base: String,
    branch: String,
    overlays: Vec<String>,
    overlays_total: usize,
    images: Vec<Image>,
    images_left: usize,
    effect: Vec<Row>,
    effect_total: usize,
    effect_left: usize,
    findings_added: Vec<FindingRow>,
    findings_removed: Vec<FindingRow>,
    notes: Vec<NoteRow>,
    unknown: Vec<String>,
}

/// An image that goes from one reference to another, wherever it is used.
#[derive(Serialize)]
struct Image {
    name: String,
    before: String,
    after: String,
    places: usize,
}

/// A field that changes.
#[derive(Serialize)]
struct Row {
    overlay: String,
    object: String,
    field: String,
    before: String,
    after: String,
}

#[derive(Serialize)]
struct FindingRow {
    overlay: String,
    severity: &'static str,
    id: String,
    message: String,
}

#[derive(Serialize)]
struct NoteRow {
    overlay: String,
    message: String,
}

impl View {
    pub(super) fn of(proposal: &Proposal<'_>, most: usize) -> Self {
        let changed: Vec<&OverlayReport> =
            proposal.overlays.iter().filter(|o| o.status == Status::Changed).collect();
        let effect_total = changed.iter().map(|o| o.effect.changes.len()).sum();
        let images = images(&changed);
        let findings = |of: fn(&OverlayReport) -> &[Finding]| {
            let rows = changed.iter().flat_map(|o| of(o).iter().map(|f| finding(o, f)));
            rows.take(most).collect()
        };
        let notes = changed.iter().flat_map(|overlay| {
            let row = |message: &str| NoteRow {
                overlay: overlay.path.clone(),
                message: message.to_owned(),
            };
            overlay.notes.iter().map(move |note| row(&note.message))
        });
        let mut unknown: Vec<String> = changed.iter().flat_map(|o| o.unknown.clone()).collect();
        unknown.dedup();
        unknown.truncate(most);
        Self {
            title: proposal.title.to_owned(),
            summary: summary(effect_total, images.len(), changed.len(), &changed),
            base: proposal.base.to_owned(),
            branch: proposal.branch.to_owned(),
            overlays: changed.iter().take(most).map(|o| o.path.clone()).collect(),
            overlays_total: changed.len(),
            images_left: images.len().saturating_sub(most),
            images: images.into_iter().take(most).collect(),
            effect: changed.iter().flat_map(|o| rows(o)).take(most).collect(),
            effect_total,
            effect_left: effect_total.saturating_sub(most),
            findings_added: findings(|o| &o.findings.added),
            findings_removed: findings(|o| &o.findings.removed),
            notes: notes.take(most).collect(),
            unknown,
        }
    }
}

fn summary(fields: usize, images: usize, overlays: usize, changed: &[&OverlayReport]) -> String {
    let count = |n: usize, what: &str| match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    };
    let places = match changed {
        [one] => one.path.clone(),
        _ => count(overlays, "overlay"),
    };
    let what = match images {
        0 => count(fields, "field"),
        n => count(n, "image"),
    };
    format!("Changes {what} in {places}.")
}

fn rows(overlay: &OverlayReport) -> impl Iterator<Item = Row> + '_ {
    overlay.effect.changes.iter().map(FieldChange::shown).map(|change| Row {
        overlay: overlay.path.clone(),
        object: format!("{}/{}", change.resource.kind, change.resource.name),
        field: change.path.to_string(),
        before: shown(change.before.as_ref()),
        after: shown(change.after.as_ref()),
    })
}

fn shown(value: Option<&Json>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Json::String(text)) => short_digest(text),
        Some(other) => other.to_string(),
    }
}

/// A reference with a digest that people can compare; any other text as it is.
fn short_digest(text: &str) -> String {
    match text.split_once("@sha256:") {
        Some((name, hex)) if hex.len() == 64 && hex.is_ascii() => {
            format!("{name}@sha256:{}…", &hex[..SHORT_DIGEST])
        }
        _ => text.to_owned(),
    }
}

/// The images that move, each pair of references once, by name.
fn images(changed: &[&OverlayReport]) -> Vec<Image> {
    let mut moved: BTreeMap<(String, String, String), usize> = BTreeMap::new();
    for change in changed.iter().flat_map(|o| &o.effect.changes) {
        let parse = |value: &Option<Json>| Reference::parse(value.as_ref()?.as_str()?).ok();
        let (Some(old), Some(new)) = (parse(&change.before), parse(&change.after)) else {
            continue;
        };
        if new.digest().is_none() {
            continue;
        }
        let before = match old.name() == new.name() {
            true => version(&old),
            false => short_digest(&old.to_string()),
        };
        *moved.entry((new.name().to_owned(), before, version(&new))).or_default() += 1;
    }
    let image = |((name, before, after), places)| Image { name, before, after, places };
    moved.into_iter().map(image).collect()
}

/// Tag and short digest.
fn version(reference: &Reference) -> String {
    let digest = reference.digest().map(|digest| short_digest(&format!("@{digest}")));
    match (reference.tag(), digest) {
        (Some(tag), digest) => format!("{tag}{}", digest.unwrap_or_default()),
        (None, Some(digest)) => digest.trim_start_matches('@').to_owned(),
        (None, None) => "latest".to_owned(),
    }
}

fn finding(overlay: &OverlayReport, finding: &Finding) -> FindingRow {
    FindingRow {
        overlay: overlay.path.clone(),
        severity: finding.severity.as_str(),
        id: finding.id.to_string(),
        message: finding.message.clone(),
    }
}
