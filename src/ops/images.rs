//! `overlay images`: every rendered image, whether it is pinned, who uses it and who decides it.

use std::ffi::OsString;

use serde_json::json;

use super::Context;
use super::overlay::LoadedOverlay;
use super::preflight::Editable;
#[cfg(feature = "registry")]
use super::registry_checks::ask_about;
use super::version::Version;
use crate::error::Error;
#[cfg(feature = "registry")]
use crate::error::codes;
use crate::kustomize::{Resource, find_image_uses};
#[cfg(feature = "registry")]
use crate::report::look::InRegistry;
use crate::report::look::{Use, UsedImage};
use crate::report::{Report, Style, Text};

/// The images of every overlay named; `flags` are container arguments whose values are images.
///
/// # Errors
/// Where an overlay is not found or does not build.
pub fn run(context: &Context, overlays: &[OsString], flags: &[String]) -> Result<Report, Error> {
    let (files, located) = context.locate(overlays)?;
    let version = Version::new(context, &files);
    let seen = context.for_each_of(&located, |located| {
        let overlay = Editable::of_version(&version, located.clone())?;
        let overlay = LoadedOverlay::load(&files, &overlay, context)?;
        let images = used_images(&overlay, flags);
        Ok((overlay.path.clone(), overlay.unknown.clone(), images))
    })?;
    #[cfg(feature = "registry")]
    let mut seen = seen;
    #[cfg(feature = "registry")]
    let error = ask_registries(context, &mut seen);
    #[cfg(not(feature = "registry"))]
    let error = None;
    let mut entries = Vec::new();
    let mut text = Text::default();
    for (path, unknown, images) in &seen {
        text.styled_line(Style::Heading, path);
        for image in images {
            text.append(image.to_text());
        }
        for unknown in unknown {
            text.styled_line(Style::Warning, format!("  unknown: what {unknown} brings"));
        }
        let images: Vec<_> = images.iter().map(UsedImage::to_json).collect();
        entries.push(json!({ "path": path, "images": images, "unknown": unknown }));
    }
    let mut report = Report::unchanged("images", json!({ "overlays": entries }), text);
    report.error = error;
    Ok(report)
}

/// The path of an overlay, what of it is unknown, and its images.
#[cfg(feature = "registry")]
type Seen = (String, Vec<String>, Vec<UsedImage>);

/// What the registries say of all the images, each asked once; an error where one could not be asked.
#[cfg(feature = "registry")]
fn ask_registries(context: &Context, seen: &mut [Seen]) -> Option<Error> {
    let digests = context.digests()?;
    let images = || seen.iter().flat_map(|(_, _, images)| images);
    let references: Vec<String> = images().map(|image| image.reference.clone()).collect();
    let mut states = ask_about(context, digests, &references).into_iter();
    let mut unknown = Vec::new();
    for image in seen.iter_mut().flat_map(|(_, _, images)| images) {
        image.in_registry = states.next();
        if let Some(InRegistry::Unknown(reason)) = &image.in_registry {
            unknown.push(reason.clone());
        }
    }
    let first = unknown.first()?;
    let message =
        format!("{} of {} images could not be asked for", unknown.len(), references.len());
    Some(Error::new(codes::REGISTRY_FAILED, message).cause(first.clone()))
}

/// By reference and decider, in the order of the render.
fn used_images(overlay: &LoadedOverlay<'_>, flags: &[String]) -> Vec<UsedImage> {
    let resources = &overlay.before.resources;
    let mut images: Vec<UsedImage> = Vec::new();
    for found in find_image_uses(resources, flags) {
        let is_it = |resource: &&Resource| resource.current_id() == found.resource;
        let node = resources.iter().find(is_it).and_then(|r| found.path.find(&r.node));
        let decided_by = node.and_then(|node| overlay.owner_of(node.origin));
        let place = Use {
            resource: found.resource,
            path: found.path.to_string(),
            container: found.container.map(|name| name.to_string()),
        };
        let is_same = |image: &&mut UsedImage| {
            image.reference == *found.reference && image.decided_by == decided_by
        };
        match images.iter_mut().find(is_same) {
            Some(image) => image.uses.push(place),
            None => {
                let reference = found.reference.to_string();
                let uses = vec![place];
                images.push(UsedImage { reference, decided_by, uses, in_registry: None });
            }
        }
    }
    images
}
