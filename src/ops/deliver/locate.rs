//! Overlays in a revision, where there is no checkout to look at.

use std::ffi::OsString;

use crate::discover::{KUSTOMIZATION_NAMES, Located};
use crate::error::{Error, Location, codes};
use crate::git::RevisionFiles;
use crate::kustomize::{Entry, Files};

/// The name of the kustomization file of a directory, or `None` where the revision has none.
///
/// # Errors
/// Where there are several, as for kustomize.
pub(super) fn find_kustomization(
    files: &RevisionFiles,
    directory: &str,
) -> Result<Option<String>, Error> {
    let mut found = Vec::new();
    for name in KUSTOMIZATION_NAMES {
        let path =
            if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
        if let Some(Entry::File { .. }) = files.entry(&path)? {
            found.push(name.to_owned());
        }
    }
    match found.len() {
        0 | 1 => Ok(found.pop()),
        _ => {
            let message =
                format!("{directory} has several kustomization files: {}", found.join(", "));
            Err(Error::new(codes::BUILD_BROKEN, message).at(Location::file(directory)))
        }
    }
}

/// The overlays that `typed` names, relative to the top of the repository.
///
/// # Errors
/// Where one names no overlay of the revision.
pub(super) fn locate(files: &RevisionFiles, typed: &[OsString]) -> Result<Vec<Located>, Error> {
    let mut located: Vec<Located> = Vec::new();
    for typed in typed {
        let one = locate_one(files, &typed.to_string_lossy())?;
        if located.iter().all(|other| other.directory != one.directory) {
            located.push(one);
        }
    }
    Ok(located)
}

fn locate_one(files: &RevisionFiles, typed: &str) -> Result<Located, Error> {
    let parts: Vec<&str> =
        typed.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let missing = || {
        let message = format!("{typed}: no overlay of the remote repository");
        Error::new(codes::NO_SUCH_OVERLAY, message)
            .hint("the path is relative to the top of the repository")
    };
    let (directory, name) = match parts.split_last() {
        Some((last, rest)) if KUSTOMIZATION_NAMES.contains(last) => (rest.join("/"), Some(*last)),
        _ => (parts.join("/"), None),
    };
    let Some(Entry::Directory { real }) = files.entry(&directory)? else { return Err(missing()) };
    let file = find_kustomization(files, &real)?.ok_or_else(missing)?;
    if name.is_some_and(|name| name != file) {
        return Err(missing());
    }
    Ok(Located { typed: typed.to_owned(), directory: real, file })
}
