//! Registries: which images an index has.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Error;
use crate::image::{Digest, Reference};
use crate::ops::Context;
use crate::ops::digests::{DigestRequest, registries};
use crate::rollout::{Indexes, Question};

/// Asks for the images of every digest in `questions`. What a registry does not say stays unknown.
///
/// # Errors
/// Where no registry can be asked at all.
pub(super) fn ask(context: &Context, questions: &BTreeSet<Question>) -> Result<Indexes, Error> {
    let mut indexes = Indexes::default();
    if questions.is_empty() {
        return Ok(indexes);
    }
    let mut wanted: BTreeMap<(&str, &Digest), ()> = BTreeMap::new();
    for question in questions {
        for digest in [&question.pinned, &question.running] {
            wanted.insert((&question.repository, digest), ());
        }
    }
    let registries = registries(context, &DigestRequest::default())?;
    for (repository, digest) in wanted.into_keys() {
        let Ok(reference) = Reference::parse(&format!("{repository}@{digest}")) else { continue };
        if let Ok(images) = registries.images_of(&reference) {
            indexes.insert(repository, digest.clone(), images);
        }
    }
    Ok(indexes)
}
