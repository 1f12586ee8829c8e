//! When a base is not moved.

use std::collections::BTreeSet;

use super::{Moved, shown_kind};
use crate::change::BumpBase;
use crate::error::{Error, Location, codes};
use crate::kustomize::ResourceId;
use crate::kustomize::remote::mount_of;
use crate::ops::change::removals;
use crate::plan::{BaseReference, find_base_references};
use crate::shell;
use crate::verify::ObjectDiff;

/// The one repository that is meant, by its address.
pub(super) fn choose(
    found: &[BaseReference],
    file: &str,
    bump: &BumpBase,
) -> Result<String, Error> {
    let addresses: BTreeSet<&str> = found.iter().map(|base| &*base.address).collect();
    let is_meant =
        |address: &&&str| bump.repository.as_ref().is_none_or(|part| address.contains(&**part));
    let meant: Vec<&str> = addresses.iter().filter(is_meant).copied().collect();
    let all = addresses.iter().copied().collect::<Vec<_>>().join(", ");
    let refuse = |code, message: String| Error::new(code, message).at(Location::file(file));
    match &meant[..] {
        [one] => Ok((*one).to_owned()),
        [] if addresses.is_empty() => {
            let message = "the overlay names no remote base, so there is none to move";
            Err(refuse(codes::NO_REMOTE_BASE, message.to_owned()))
        }
        [] => {
            let message = format!("no remote base has that address; there are: {all}");
            Err(refuse(codes::NO_REMOTE_BASE, message))
        }
        _ => {
            let message = format!("the overlay stands on several repositories: {all}");
            Err(refuse(codes::SEVERAL_BASES, message)
                .hint("--repository TEXT names one by a part of its address"))
        }
    }
}

/// References of the same repository in files that this command does not edit would stay behind.
pub(super) fn refuse_left_behind(moved: &[Moved<'_>], bump: &BumpBase) -> Result<(), Error> {
    let edited: BTreeSet<&str> = moved.iter().map(|moved| &*moved.file).collect();
    let mut left: BTreeSet<(String, usize)> = BTreeSet::new();
    for one in moved {
        for (directory, read) in one.overlay.tree.kustomizations() {
            let path = &*read.file.path;
            if edited.contains(path) || mount_of(directory).is_some() {
                continue;
            }
            let text = std::str::from_utf8(&read.file.bytes).unwrap_or_default();
            let stays = |base: &BaseReference| {
                base.address == one.address && base.reference.as_ref() != Some(&bump.reference)
            };
            let found = find_base_references(path, text)?.into_iter().filter(stays);
            left.extend(found.map(|base| (path.to_owned(), base.line as usize)));
        }
    }
    let Some((file, line)) = left.first().cloned() else { return Ok(()) };
    let places: Vec<String> = left.iter().map(|(file, line)| format!("{file}:{line}")).collect();
    let message =
        format!("references of the same base would be left behind: {}", places.join(", "));
    let place = Location { file, line: Some(line), column: None };
    Err(Error::new(codes::REFS_LEFT_BEHIND, message)
        .at(place)
        .hint("name the overlays that those files belong to as well, with --overlay"))
}

/// The new version takes away what a patch of the overlay speaks of, or the like.
pub(super) fn breaks_build(error: Error, bump: &BumpBase) -> Error {
    if error.code() != codes::BUILD_BROKEN {
        return error;
    }
    let message = format!("the overlay does not build on {}", bump.reference);
    let wrapped = Error::new(codes::EDIT_BREAKS_BUILD, message).cause(error.to_string());
    let wrapped = error.causes().iter().fold(wrapped, |whole, cause| whole.cause(cause.clone()));
    match error.location() {
        Some(place) => wrapped.at(place.clone()),
        None => wrapped,
    }
}

pub(super) fn refuse_kinds(new: &BTreeSet<(String, String)>, bump: &BumpBase) -> Result<(), Error> {
    let is_refused = |(kind, group): &&(String, String)| !bump.accepts_kind(kind, group);
    let refused: Vec<&(String, String)> = new.iter().filter(is_refused).collect();
    if refused.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = refused.iter().map(|(kind, group)| shown_kind(kind, group)).collect();
    let flags: Vec<String> =
        refused.iter().map(|(kind, _)| format!("--accept-kind {}", shell::word(kind))).collect();
    let message = format!("{} brings kinds that are new: {}", bump.reference, shown.join(", "));
    let hint = format!("where the cluster is ready for them: {}", flags.join(" "));
    Err(Error::new(codes::NEW_KINDS, message).hint(hint))
}

pub(super) fn refuse_removals(objects: &ObjectDiff, bump: &BumpBase) -> Result<(), Error> {
    let is_allowed = |id: &ResourceId| bump.allows_removal(id);
    removals::refuse_removals(objects, &format!("on {}", bump.reference), is_allowed)
}
