//! `overlay images`: every rendered image, whether it is pinned, who uses it and who decides it.

use std::ffi::OsString;

use serde_json::json;

use super::Context;
use crate::error::Error;
use crate::kustomize::{self, Owner, Rendered, SourceTree, find_image_uses};
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
    for overlay in &located {
        let tree = context.load(&files, &overlay.directory)?;
        let rendered = context.render(&tree, &overlay.directory)?.rendered;
        let images = used_images(&tree, &rendered, flags);
        text.styled_line(Style::Heading, overlay.shown());
        images.iter().for_each(|image| {
            text.append(image.to_text());
        });
        let images: Vec<_> = images.iter().map(UsedImage::to_json).collect();
        entries.push(json!({ "path": overlay.shown(), "images": images }));
    }
    Ok(Report::unchanged("images", json!({ "overlays": entries }), text))
}

/// By reference and decider, in the order of the render.
fn used_images(tree: &SourceTree, rendered: &Rendered, flags: &[String]) -> Vec<UsedImage> {
    let mut images: Vec<UsedImage> = Vec::new();
    for found in find_image_uses(&rendered.resources, flags) {
        let decided_by = decider(tree, rendered, &found);
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

fn decider(tree: &SourceTree, rendered: &Rendered, found: &kustomize::ImageUse) -> Option<Owner> {
    let is_it = |resource: &&kustomize::Resource| resource.current_id() == found.resource;
    let resource = rendered.resources.iter().find(is_it)?;
    kustomize::owner_of(tree, rendered, found.path.find(&resource.node)?.origin)
}
