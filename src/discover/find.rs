//! Every directory with a kustomization file below a boundary.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use super::DiscoverError;
use super::disk::slash_path;
use super::locate::{KUSTOMIZATION_NAMES, kustomization_names};

/// Longest kustomization file that is read as a text, in bytes.
const TEXT_LIMIT: u64 = 1024 * 1024;
/// Most directories that are looked into.
const DIRECTORY_LIMIT: usize = 200_000;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundKustomizations {
    /// The directories, relative to the boundary, by path; the boundary itself is empty.
    pub directories: Vec<String>,
    /// Directories that were not looked into, with the reason.
    pub skipped: Vec<String>,
    /// The names of symbolic links that lead to a directory, each once, by name: by them a directory may be
    /// meant that has another name.
    pub links: Vec<String>,
}

/// Finds every directory below `root` that holds a kustomization file. Links are not followed, and
/// neither `.git` nor another repository inside this one (a submodule, a linked work tree) is entered.
///
/// # Errors
/// Where there are more directories than can be looked into.
pub fn find_kustomizations(root: &Path) -> Result<FoundKustomizations, DiscoverError> {
    let mut found = FoundKustomizations::default();
    let mut pending: Vec<PathBuf> = vec![PathBuf::new()];
    let mut seen = 0usize;
    while let Some(below) = pending.pop() {
        seen += 1;
        if seen > DIRECTORY_LIMIT {
            return Err(DiscoverError::TooMany { limit: DIRECTORY_LIMIT });
        }
        let absolute = root.join(&below);
        let listed = match fs::read_dir(&absolute) {
            Ok(entries) => Listed::read(entries, &absolute),
            Err(error) => {
                found.skipped.push(format!("{}: {error}", below.display()));
                Listed { may_hold: true, ..Listed::default() }
            }
        };
        if listed.is_repository && !below.as_os_str().is_empty() {
            found.skipped.push(format!("{}: another repository", below.display()));
            continue;
        }
        if listed.may_hold && !kustomization_names(&absolute).is_empty() {
            let parts: Vec<&OsStr> = below.iter().collect();
            match slash_path(&parts) {
                Some(path) => found.directories.push(path),
                None => found.skipped.push(format!("{}: the name is not UTF-8", below.display())),
            }
        }
        found.links.extend(listed.links);
        pending.extend(listed.directories.into_iter().map(|name| below.join(name)));
    }
    found.directories.sort();
    found.skipped.sort();
    found.links.sort();
    found.links.dedup();
    Ok(found)
}

/// The text of the one kustomization file of `directory` below `root`; `None` where there is another number of
/// them, or it is a link, too large to be one, or no UTF-8.
#[must_use]
pub fn kustomization_text(root: &Path, directory: &str) -> Option<String> {
    let directory = root.join(directory);
    let mut found = KUSTOMIZATION_NAMES.iter().filter_map(|name| {
        let path = directory.join(name);
        path.symlink_metadata().ok().map(|meta| (path, meta))
    });
    let (path, meta) = found.next()?;
    let is_plain = meta.is_file() && meta.len() <= TEXT_LIMIT && found.next().is_none();
    is_plain.then(|| fs::read_to_string(path).ok())?
}

/// What a directory holds, as far as it matters here.
#[derive(Default)]
struct Listed {
    /// There is a `.git`.
    is_repository: bool,
    /// Something has the name of a kustomization file, whatever the case: it may be one.
    may_hold: bool,
    directories: Vec<OsString>,
    links: Vec<String>,
}

impl Listed {
    fn read(entries: fs::ReadDir, absolute: &Path) -> Self {
        let mut listed = Self::default();
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name();
            if name == ".git" {
                listed.is_repository = true;
                continue;
            }
            listed.may_hold |= KUSTOMIZATION_NAMES.iter().any(|k| name.eq_ignore_ascii_case(k));
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                listed.directories.push(name);
            } else if kind.is_symlink() && absolute.join(&name).is_dir() {
                listed.links.extend(name.into_string());
            }
        }
        listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_other_repositories_are_not_entered() {
        let dir = tempfile::tempdir().unwrap();
        for path in [
            "kustomization.yaml",
            "a/b/kustomization.yml",
            "a/.git/x/kustomization.yaml",
            "sub/.git",
            "sub/o/kustomization.yaml",
            ".github/o/Kustomization",
        ] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::remove_dir_all(dir.path().join("a/.git")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("a", dir.path().join("link")).unwrap();
        let found = find_kustomizations(dir.path()).unwrap();
        assert_eq!(found.directories, ["", ".github/o", "a/b"]);
        assert_eq!(found.skipped, ["sub: another repository"]);
        #[cfg(unix)]
        assert_eq!(found.links, ["link"]);
    }
}
