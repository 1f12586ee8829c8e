//! Overlays in a revision, where there is no checkout to look at.

use std::ffi::OsString;
use std::path::{Component, Path};
use std::sync::Arc;

use globset::GlobBuilder;

use super::Context;
use crate::discover::{KUSTOMIZATION_NAMES, Located};
use crate::error::{Error, Location, codes};
use crate::git::{Repository, RevisionFiles};
use crate::kustomize::{Entry, Files};

/// Overlays at a revision.
pub(crate) struct AtRevision {
    /// The files of the revision.
    pub(crate) files: RevisionFiles,
    /// The overlays, relative to the top of the repository.
    pub(crate) located: Vec<Located>,
}

impl Context {
    /// The overlays that `typed` names, as they are in `revision`; paths are relative to the current directory, which need
    /// not exist there.
    ///
    /// # Errors
    /// Where there is no repository or no such revision, or one names no overlay of it.
    pub(crate) fn locate_at(
        &self,
        revision: &str,
        typed: &[OsString],
    ) -> Result<AtRevision, Error> {
        let repository = Repository::open(&Arc::new(self.git_settings()), &self.cwd)?;
        let files = repository.files_at(revision)?;
        let located = locate(&files, &self.below_top(&repository, typed)?)?;
        Ok(AtRevision { files, located })
    }

    /// What was typed, relative to the top of the repository.
    ///
    /// # Errors
    /// Where it leads out of the repository.
    pub(super) fn below_top(
        &self,
        repository: &Repository,
        typed: &[OsString],
    ) -> Result<Vec<OsString>, Error> {
        let here = repository.relative(&self.cwd).unwrap_or_default();
        let top = repository.work_tree().and_then(|top| top.canonicalize().ok());
        let below_top = |typed: &OsString| {
            let path = Path::new(typed);
            let inside = top.as_deref().and_then(|top| path.strip_prefix(top).ok());
            match inside {
                Some(inside) => clean("", inside),
                None => clean(&here, path),
            }
            .map(OsString::from)
        };
        typed.iter().map(below_top).collect()
    }
}

/// `path` seen from the directory `here`, both below the top of the repository.
fn clean(here: &str, path: &Path) -> Result<String, Error> {
    let outside = || {
        let message = format!("{}: not in the repository", path.display());
        Error::new(codes::OUTSIDE_BOUNDARY, message)
    };
    let mut parts: Vec<&str> = here.split('/').filter(|part| !part.is_empty()).collect();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(parts.pop().ok_or_else(outside)?),
            Component::Normal(part) => parts.push(part.to_str().ok_or_else(outside)?),
            Component::RootDir | Component::Prefix(_) => return Err(outside()),
        }
    }
    Ok(parts.join("/"))
}

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

/// The overlays that `typed` names, relative to the top of the repository: paths, and patterns where nothing has that name.
///
/// # Errors
/// Where one names no overlay of the revision.
pub(super) fn locate(files: &RevisionFiles, typed: &[OsString]) -> Result<Vec<Located>, Error> {
    let mut located: Vec<Located> = Vec::new();
    for typed in typed {
        let typed = typed.to_string_lossy();
        let is_pattern = typed.contains(['*', '?', '[', '{']) && files.entry(&typed)?.is_none();
        let names = if is_pattern { expand(files, &typed)? } else { vec![typed.into_owned()] };
        for name in names {
            let one = locate_one(files, &name)?;
            if located.iter().all(|other| other.directory != one.directory) {
                located.push(one);
            }
        }
    }
    Ok(located)
}

/// The directories with a kustomization file that a pattern matches; `*` stops at `/`.
fn expand(files: &RevisionFiles, pattern: &str) -> Result<Vec<String>, Error> {
    let wrong = |e: globset::Error| Error::new(codes::USAGE, format!("{pattern}: {e}"));
    let glob = GlobBuilder::new(pattern.trim_end_matches('/'))
        .literal_separator(true)
        .build()
        .map_err(wrong)?;
    let matcher = glob.compile_matcher();
    let mut found: Vec<String> = files
        .directories_with(&KUSTOMIZATION_NAMES)?
        .into_iter()
        .filter(|directory| matcher.is_match(directory))
        .collect();
    found.sort();
    if found.is_empty() {
        return Err(Error::new(
            codes::NO_SUCH_OVERLAY,
            format!("{pattern} matches no overlay of this revision"),
        ));
    }
    Ok(found)
}

fn locate_one(files: &RevisionFiles, typed: &str) -> Result<Located, Error> {
    let parts: Vec<&str> =
        typed.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let missing = || {
        let message = format!("{typed}: no overlay of this revision");
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
