//! Every directory with a kustomization file below a boundary.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::DiscoverError;
use super::disk::slash_path;
use super::locate::kustomization_names;

/// Most directories that are looked into.
const DIRECTORY_LIMIT: usize = 200_000;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundKustomizations {
    /// The directories, relative to the boundary, by path; the boundary itself is empty.
    pub directories: Vec<String>,
    /// Directories that were not looked into, with the reason.
    pub skipped: Vec<String>,
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
        if !below.as_os_str().is_empty() && absolute.join(".git").symlink_metadata().is_ok() {
            found.skipped.push(format!("{}: another repository", below.display()));
            continue;
        }
        if !kustomization_names(&absolute).is_empty() {
            let parts: Vec<&OsStr> = below.iter().collect();
            match slash_path(&parts) {
                Some(path) => found.directories.push(path),
                None => found.skipped.push(format!("{}: the name is not UTF-8", below.display())),
            }
        }
        match fs::read_dir(&absolute) {
            Ok(entries) => pending.extend(entries.filter_map(Result::ok).filter_map(|entry| {
                let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
                (is_directory && entry.file_name() != ".git").then(|| below.join(entry.file_name()))
            })),
            Err(error) => found.skipped.push(format!("{}: {error}", below.display())),
        }
    }
    found.directories.sort();
    found.skipped.sort();
    Ok(found)
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
    }
}
