//! `overlay images`: every rendered image, whether it is pinned, who uses it and who decides it.

use std::ffi::OsString;

use serde_json::json;

use super::Context;
use super::overlay::LoadedOverlay;
use super::preflight::Editable;
use crate::error::Error;
use crate::kustomize::{Resource, find_image_uses};
use crate::report::look::{Use, UsedImage};
use crate::report::{Report, Style, Text};

/// The images of every overlay named; `flags` are container arguments whose values are images.
///
/// # Errors
/// Where an overlay is not found or does not build.
pub fn run(context: &Context, overlays: &[OsString], flags: &[String]) -> Result<Report, Error> {
    let (files, located) = context.locate(overlays)?;
    let mut entries = Vec::new();
    let mut text = Text::default();
    for overlay in located {
        let overlay = Editable::load(context, &files, overlay)?;
        let overlay = LoadedOverlay::load(&files, &overlay, context)?;
        let images = used_images(&overlay, flags);
        text.styled_line(Style::Heading, &overlay.path);
        for image in &images {
            text.append(image.to_text());
        }
        for unknown in &overlay.unknown {
            text.styled_line(Style::Warning, format!("  unknown: what {unknown} brings"));
        }
        let images: Vec<_> = images.iter().map(UsedImage::to_json).collect();
        let unknown = &overlay.unknown;
        entries.push(json!({ "path": overlay.path, "images": images, "unknown": unknown }));
    }
    Ok(Report::unchanged("images", json!({ "overlays": entries }), text))
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
                images.push(UsedImage { reference, decided_by, uses: vec![place] });
            }
        }
    }
    images
}
