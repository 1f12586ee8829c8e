//! `overlay promote`: the pins of one overlay into another that renders the same images.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::Context;
use super::edit::{EditRequest, run_as};
use super::overlay::LoadedOverlay;
use super::preflight::Editable;
use crate::change::{Change, Key, Pin, PinImages, PinValue};
use crate::error::{Error, codes};
use crate::image::{Digest, Split, is_same_name, last_segments_match};
use crate::kustomize::{UseKind, find_image_uses};
use crate::ops::deliver::Delivery;
use crate::report::Report;

/// What the user asks of `overlay promote`.
#[derive(Clone, Debug)]
pub struct PromoteRequest {
    /// The overlay that has the pins.
    pub from: OsString,
    /// The overlay that gets them.
    pub to: OsString,
    /// The images that are meant; all where empty.
    pub only: Vec<String>,
    /// Images that one of the two lacks are left out.
    pub allow_missing: bool,
    /// A digest of all zeros may be replaced.
    pub replace_placeholder: bool,
    /// Plan, prove and show; write nothing.
    pub dry_run: bool,
    /// How the edit is delivered; `None` leaves it in the files.
    pub delivery: Option<Delivery>,
}

/// Image names and the references that are rendered with them.
type Images = BTreeMap<String, Vec<String>>;

/// Promotes the pins, all or nothing.
///
/// # Errors
/// Where the two do not render the same images, a source is not pinned, or as pinning.
pub fn run(context: &Context, request: &PromoteRequest) -> Result<Report, Error> {
    run_as(context, &to_edit(context, request)?, "promote")
}

/// The pins of the one as an edit of the other.
///
/// # Errors
/// As [`run`], before anything is planned.
pub fn to_edit(context: &Context, request: &PromoteRequest) -> Result<EditRequest, Error> {
    let directory = |overlay: &OsString| -> Result<String, Error> {
        let (_, located) = context.locate(std::slice::from_ref(overlay))?;
        Ok(located.into_iter().next().map(|located| located.directory).unwrap_or_default())
    };
    if directory(&request.from)? == directory(&request.to)? {
        let message = format!("--from and --to are both {}", request.to.display());
        return Err(Error::new(codes::USAGE, message));
    }
    let from = images(context, &request.from)?;
    let to = images(context, &request.to)?;
    let pins = pins(request, &from, &to)?;
    Ok(EditRequest {
        overlays: vec![request.to.clone()],
        change: Change::PinImages(PinImages {
            pins,
            replace_placeholder: request.replace_placeholder,
            ..PinImages::default()
        }),
        dry_run: request.dry_run,
        no_proof: false,
        delivery: request.delivery.clone(),
    })
}

fn images(context: &Context, overlay: &OsString) -> Result<Images, Error> {
    let (files, located) = context.locate(std::slice::from_ref(overlay))?;
    let mut images = Images::new();
    for located in located {
        let editable = Editable::load(context, &files, located)?;
        let overlay = LoadedOverlay::load(&files, &editable, context)?;
        for found in find_image_uses(&overlay.before.resources, &[]) {
            if found.kind == UseKind::Ephemeral {
                continue;
            }
            let reference = found.reference.to_string();
            let references = images.entry(Split::parse(&reference).name.to_owned()).or_default();
            if !references.contains(&reference) {
                references.push(reference);
            }
        }
    }
    Ok(images)
}

fn pins(request: &PromoteRequest, from: &Images, to: &Images) -> Result<Vec<Pin>, Error> {
    let is_meant = |name: &&String| {
        let names =
            |wanted: &String| is_same_name(name, wanted) || last_segments_match(name, wanted);
        request.only.is_empty() || request.only.iter().any(names)
    };
    if let Some(unknown) = request.only.iter().find(|wanted| {
        !from.keys().any(|name| is_same_name(name, wanted) || last_segments_match(name, wanted))
    }) {
        let message = format!("--only {unknown}: the source renders no such image");
        return Err(Error::new(codes::NO_SUCH_IMAGE, message));
    }
    refuse_asymmetry(request, from, to, &is_meant)?;
    let mut pins = Vec::new();
    for (name, references) in from.iter().filter(|(name, _)| is_meant(name)) {
        let Some(targets) = to.get(name).filter(|targets| *targets != references) else { continue };
        let [reference] = references.as_slice() else {
            let message =
                format!("{name} is rendered in several versions: {}", references.join(", "));
            return Err(Error::new(codes::AMBIGUOUS_IMAGE, message));
        };
        pins.push(pin(name, reference, targets)?);
    }
    Ok(pins)
}

/// Both lists of what one of the two lacks.
fn refuse_asymmetry(
    request: &PromoteRequest,
    from: &Images,
    to: &Images,
    is_meant: &dyn Fn(&&String) -> bool,
) -> Result<(), Error> {
    let lacking = |a: &Images, b: &Images| -> Vec<String> {
        a.keys().filter(|name| is_meant(name) && !b.contains_key(*name)).cloned().collect()
    };
    let (only_from, only_to) = (lacking(from, to), lacking(to, from));
    if request.allow_missing || (only_from.is_empty() && only_to.is_empty()) {
        return Ok(());
    }
    let list = |names: &[String]| match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    };
    let message = format!(
        "the two do not render the same images; only the source: {}; only the target: {}",
        list(&only_from),
        list(&only_to)
    );
    Err(Error::new(codes::ASYMMETRIC, message)
        .hint("--allow-missing promotes what both render")
        .hint("--only NAME promotes one image"))
}

fn pin(name: &str, reference: &str, targets: &[String]) -> Result<Pin, Error> {
    let digest = Split::parse(reference).digest;
    if Digest::parse(digest).is_err() {
        let what = if Digest::is_placeholder(digest) { "a placeholder" } else { "not pinned" };
        let message = format!(
            "{name}: the source is {what} ({reference}), and the target has {}",
            targets.join(", ")
        );
        return Err(Error::new(codes::UNPINNED_SOURCE, message)
            .hint("pin it in the source first, or leave it out with --only"));
    }
    let value = PinValue::parse(reference)
        .map_err(|error| Error::new(codes::INVALID_DIGEST, error.to_string()))?;
    Ok(Pin { key: Key::parse(name), value })
}
