//! `images-entry-duplicate`: two `images` entries of one kustomization for one name.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("images-entry-duplicate"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (_, file) in context.overlay.tree.kustomizations() {
        let images = &file.kustomization.images;
        for (index, image) in images.iter().enumerate() {
            let Some(first) = images[..index].iter().find(|other| *other.name == *image.name)
            else {
                continue;
            };
            let message = format!(
                "two images entries are named {}, on lines {} and {}: they are applied one after the other, and what both set is as the second has it",
                &*image.name, first.origin.line, image.origin.line,
            );
            let finding = context.source_finding(&CHECK, image.origin, message);
            found.push(finding.about(&format!("images.[name={}]", &*image.name)));
        }
    }
    found
}
