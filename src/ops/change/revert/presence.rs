//! Whether the images that come back are still to be had: registries forget what nobody uses.

use std::collections::BTreeSet;

use super::guards::same_place;
use super::note;
use crate::change::Revert;
use crate::error::Error;
use crate::image::{Digest, Split};
use crate::kustomize::ImageUse;
use crate::ops::Context;
use crate::plan::Note;

/// Asks for the digests that come back. A registry that does not answer stops nobody: that is said.
///
/// # Errors
/// Where one is gone and that is not allowed.
pub(super) fn check(
    context: &Context,
    revert: &Revert,
    old: &[ImageUse],
    new: &[ImageUse],
) -> Result<Option<Note>, Error> {
    let images: BTreeSet<String> = new
        .iter()
        .filter(|used| same_place(old, used).is_none_or(|was| was.reference != used.reference))
        .filter_map(|used| {
            let split = Split::parse(&used.reference);
            Digest::parse(split.digest).ok().map(|digest| format!("{}@{digest}", split.name))
        })
        .collect();
    if images.is_empty() {
        return Ok(None);
    }
    let images: Vec<String> = images.into_iter().collect();
    let unanswered = ask(context, revert, &images)?;
    Ok(unanswered.map(|reason| unchecked(images.len(), &reason)))
}

fn unchecked(count: usize, reason: &str) -> Note {
    let images = match count {
        1 => "the image that comes back".to_owned(),
        many => format!("the {many} images that come back"),
    };
    let message = format!("whether the registry still has {images} is not checked: {reason}");
    note("registry-not-checked", message)
}

/// Why not all could be asked for; nothing where all are there.
#[cfg(feature = "registry")]
fn ask(context: &Context, revert: &Revert, images: &[String]) -> Result<Option<String>, Error> {
    use crate::error::codes;
    use crate::image::Reference;
    use crate::registry::{Proof, RegistryError, Wanted};

    let Some(digests) = context.digests().filter(|_| !revert.allow_gone) else {
        let reason = if revert.allow_gone { "--allow-gone" } else { "no registry is asked" };
        return Ok(Some(reason.to_owned()));
    };
    let read = |image: &String| Reference::parse(image).ok();
    let wanted: Vec<Wanted> = images
        .iter()
        .filter_map(read)
        .map(|reference| Wanted { reference, proof: Proof::Claim })
        .collect();
    let (mut gone, mut unanswered) = (Vec::new(), None);
    for (wanted, answer) in wanted.iter().zip(digests.resolve(context, &wanted)) {
        match answer {
            Ok(_) => {}
            Err(RegistryError::NotFound { .. }) => gone.push(wanted.reference.to_string()),
            Err(error) => unanswered = unanswered.or(Some(error.to_string())),
        }
    }
    if gone.is_empty() {
        return Ok(unanswered);
    }
    let message = format!("the registry no longer has what would come back: {}", gone.join(", "));
    Err(Error::new(codes::IMAGE_GONE, message)
        .hint("--allow-gone goes back all the same; a registry may say so too of what its login may not read"))
}

/// A program that was built without registries asks none.
#[cfg(not(feature = "registry"))]
fn ask(_: &Context, _: &Revert, _: &[String]) -> Result<Option<String>, Error> {
    Ok(Some("this program was built without registries".to_owned()))
}
