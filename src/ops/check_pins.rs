//! `overlay pin --check`: is everything that is rendered pinned to a digest?

use serde_json::json;

use super::Context;
use super::change::{find_uses, read_entries};
use super::overlay::LoadedOverlay;
use super::preflight::Editable;
use crate::discover::DiskFiles;
use crate::error::{Error, codes};
use crate::image::{Digest, Split};
use crate::kustomize::{ImageUse, UseKind};
use crate::report::change::resource_to_json;
use crate::report::{Report, Style, Text};

/// What `pin --check` saw, over all overlays.
#[derive(Default)]
struct Seen {
    floating: usize,
    unknown: Vec<String>,
}

/// Lists every place that names an image without a digest.
///
/// # Errors
/// Where an overlay cannot be loaded or rendered; an image that is not pinned, or a base that was not
/// seen, is no such error but the `error` of the report.
pub(crate) fn check_pins(
    context: &Context,
    files: &DiskFiles,
    editable: &[Editable],
    flags: &[String],
) -> Result<Report, Error> {
    let all = context.for_each_of(editable, |overlay| check_one(context, files, overlay, flags))?;
    let mut overlays = Vec::with_capacity(all.len());
    let mut text = Text::default();
    let mut seen = Seen::default();
    for one in all {
        overlays.push(one.entry);
        text.append(one.text);
        seen.floating += one.seen.floating;
        seen.unknown.extend(one.seen.unknown);
    }
    let mut report = Report::unchanged("pin", json!({ "overlays": overlays }), text);
    report.error = seen.verdict();
    Ok(report)
}

/// One overlay.
struct Checked {
    seen: Seen,
    entry: serde_json::Value,
    text: Text,
}

fn check_one(
    context: &Context,
    files: &DiskFiles,
    overlay: &Editable,
    flags: &[String],
) -> Result<Checked, Error> {
    let overlay = LoadedOverlay::load(files, overlay, context)?;
    let uses = find_uses(&overlay, &read_entries(&overlay)?, flags)?;
    let unpinned: Vec<&ImageUse> = uses.iter().filter(|place| is_floating(place)).collect();
    let mut text = Text::default();
    describe(&overlay, &unpinned, uses.len(), &mut text);
    let entry = json!({
        "path": overlay.path,
        "status": status(&overlay, &unpinned),
        "unknown": overlay.unknown,
        "unpinned": unpinned.iter().map(|place| to_json(place)).collect::<Vec<_>>(),
    });
    let seen = Seen { floating: unpinned.len(), unknown: overlay.unknown.clone() };
    Ok(Checked { seen, entry, text })
}

impl Seen {
    /// What is known to float comes first; what was not seen may float.
    fn verdict(&self) -> Option<Error> {
        if self.floating > 0 {
            let message = match self.floating {
                1 => "1 place names an image without a digest".to_owned(),
                many => format!("{many} places name an image without a digest"),
            };
            return Some(Error::new(codes::UNPINNED, message));
        }
        if self.unknown.is_empty() {
            return None;
        }
        let unknown = self.unknown.join(", ");
        let message = format!("whether everything is pinned is not known; not seen: {unknown}");
        Some(Error::new(codes::REMOTE_BASE, message))
    }
}

fn status(overlay: &LoadedOverlay<'_>, unpinned: &[&ImageUse]) -> &'static str {
    match (unpinned.is_empty(), overlay.unknown.is_empty()) {
        (false, _) => "unpinned",
        (true, true) => "pinned",
        (true, false) => "unknown",
    }
}

fn describe(overlay: &LoadedOverlay<'_>, unpinned: &[&ImageUse], all: usize, text: &mut Text) {
    let partly = if overlay.unknown.is_empty() { "" } else { ", of those that were seen" };
    text.push(Style::Heading, overlay.path.clone());
    text.line(format!(": {} of {all} places unpinned{partly}", unpinned.len()));
    for reference in &overlay.unknown {
        text.styled_line(Style::Warning, format!("  not seen: {reference}"));
    }
    for place in unpinned {
        text.line(line(place));
    }
}

/// Whether the place names an image by anything else than a digest that pins. A field that the images
/// transformer does not reach counts where its value has a path, a tag or an operator that reads it.
pub(super) fn is_floating(place: &ImageUse) -> bool {
    let is_image = place.kind != UseKind::Field
        || place.arriving.is_some()
        || place.needs_tag()
        || place.reference.contains(['/', ':']);
    is_image && Digest::parse(Split::parse(&place.reference).digest).is_err()
}

fn reason(place: &ImageUse) -> &'static str {
    match &place.kind {
        _ if Digest::is_placeholder(Split::parse(&place.reference).digest) => "placeholder",
        UseKind::Argument { .. } => "argument",
        UseKind::Ephemeral => "ephemeral container",
        _ => "no digest",
    }
}

fn line(place: &ImageUse) -> String {
    let flag = match &place.kind {
        UseKind::Argument { flag, .. } => format!("{flag} "),
        _ => String::new(),
    };
    let (kind, name) = (&place.resource.kind, &place.resource.name);
    format!("  {kind}/{name} {}: {flag}{} ({})", place.path, place.reference, reason(place))
}

fn to_json(place: &ImageUse) -> serde_json::Value {
    let flag = match &place.kind {
        UseKind::Argument { flag, .. } => Some(flag.to_string()),
        _ => None,
    };
    json!({
        "reference": &*place.reference,
        "resource": resource_to_json(&place.resource),
        "path": place.path.to_string(),
        "container": place.container.as_deref(),
        "flag": flag,
        "reason": reason(place),
    })
}
