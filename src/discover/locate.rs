//! From what the user typed to overlays below one boundary.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::boundary::find_work_tree;
use super::disk::{DiskFiles, slash_path};
use super::{DiscoverError, pattern};

/// The names of a kustomization file, in kustomize's order (api/konfig `RecognizedKustomizationFileNames`).
pub const KUSTOMIZATION_NAMES: [&str; 3] =
    ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Where the user stands, and the boundary they named.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The current directory, absolute.
    pub cwd: &'a Path,
    /// `--root`, relative to `cwd` or absolute.
    pub root: Option<&'a Path>,
}

/// An overlay on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// What the user typed (one match of it, for a pattern), fit to be shown.
    pub typed: String,
    /// Its directory relative to the boundary, links resolved; empty for the boundary itself.
    pub directory: String,
    /// The name of its kustomization file.
    pub file: String,
}

/// Finds every overlay that `typed` names, each once, in the order typed (matches of a pattern by name).
///
/// # Errors
/// [`DiscoverError`] for the first that names none, and where they have no boundary in common.
pub fn locate(
    place: Place<'_>,
    typed: &[OsString],
) -> Result<(DiskFiles, Vec<Located>), DiscoverError> {
    let mut boundary: Option<(PathBuf, String)> = None;
    let mut found: Vec<Located> = Vec::new();
    for candidate in expand(place.cwd, typed)? {
        let (root, located) = locate_one(place, &candidate)?;
        merge_boundary(&mut boundary, root, located.typed.clone())?;
        if found.iter().all(|other| other.directory != located.directory) {
            found.push(located);
        }
    }
    Ok((open_boundary(boundary)?, found))
}

/// The first boundary, which every other must be.
fn merge_boundary(
    boundary: &mut Option<(PathBuf, String)>,
    root: PathBuf,
    typed: String,
) -> Result<(), DiscoverError> {
    match boundary {
        Some((first_root, first)) if *first_root != root => {
            Err(DiscoverError::SeveralBoundaries { first: first.clone(), second: typed })
        }
        Some(_) => Ok(()),
        None => {
            *boundary = Some((root, typed));
            Ok(())
        }
    }
}

fn open_boundary(boundary: Option<(PathBuf, String)>) -> Result<DiskFiles, DiscoverError> {
    let Some((root, typed)) = boundary else {
        return Err(DiscoverError::NoMatch { pattern: String::new() });
    };
    DiskFiles::new(&root).map_err(|source| DiscoverError::Io { path: typed, source })
}

impl Located {
    /// Its directory fit to be shown: `.` for the boundary itself.
    pub fn shown(&self) -> String {
        shown_directory(&self.directory)
    }
}

/// A directory relative to the boundary, fit to be shown: `.` for the boundary itself.
pub fn shown_directory(directory: &str) -> String {
    if directory.is_empty() { ".".to_owned() } else { directory.to_owned() }
}

/// As [`locate`], for directories that need hold no kustomization file; relative to the boundary.
///
/// # Errors
/// As [`locate`].
pub fn locate_directories(
    place: Place<'_>,
    typed: &[OsString],
) -> Result<(DiskFiles, Vec<String>), DiscoverError> {
    let mut boundary: Option<(PathBuf, String)> = None;
    let mut found = Vec::new();
    for path in typed.iter().map(Path::new) {
        let typed = shown(path);
        let absolute = place.cwd.join(path);
        let real = resolve(&absolute, path)?;
        if !real.is_dir() {
            return Err(DiscoverError::NoDirectory { path: path.to_path_buf() });
        }
        let root = find_boundary(place, &absolute, &real, &typed)?;
        found.push(below_boundary(&root, &real, &typed)?);
        merge_boundary(&mut boundary, root, typed)?;
    }
    Ok((open_boundary(boundary)?, found))
}

/// Patterns replaced by what they match; a name that exists as it is typed is no pattern.
fn expand(cwd: &Path, typed: &[OsString]) -> Result<Vec<PathBuf>, DiscoverError> {
    let mut candidates = Vec::new();
    for typed in typed {
        let path = Path::new(typed);
        if pattern::is_pattern(typed) && cwd.join(path).symlink_metadata().is_err() {
            candidates.extend(pattern::expand(cwd, path)?);
        } else {
            candidates.push(path.to_path_buf());
        }
    }
    Ok(candidates)
}

fn locate_one(place: Place<'_>, path: &Path) -> Result<(PathBuf, Located), DiscoverError> {
    let typed = shown(path);
    let absolute = place.cwd.join(path);
    let real = resolve(&absolute, path)?;
    let (directory, file) = split_kustomization(&real, &typed)?;
    let root = find_boundary(place, &absolute, &directory, &typed)?;
    let directory = below_boundary(&root, &directory, &typed)?;
    Ok((root, Located { typed, directory, file }))
}

/// The path after all links of what was typed as `path`.
fn resolve(absolute: &Path, path: &Path) -> Result<PathBuf, DiscoverError> {
    let typed = shown(path);
    match fs::canonicalize(absolute) {
        Ok(real) if !path.as_os_str().is_empty() => Ok(real),
        Err(e) if !is_absence(&e) => Err(DiscoverError::Io { path: typed, source: e }),
        _ => {
            let siblings = absolute.parent().map(overlays_below).unwrap_or_default();
            Err(DiscoverError::NothingThere { typed, siblings })
        }
    }
}

/// `directory` relative to its boundary `root`.
fn below_boundary(root: &Path, directory: &Path, typed: &str) -> Result<String, DiscoverError> {
    let below = directory.strip_prefix(root).unwrap_or(Path::new(""));
    let parts: Vec<&OsStr> = below.iter().collect();
    slash_path(&parts).ok_or(DiscoverError::NotUtf8 { shown: typed.to_owned() })
}

fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidInput | InvalidFilename)
}

/// The directory and the name of its one kustomization file, from either of the two.
fn split_kustomization(real: &Path, typed: &str) -> Result<(PathBuf, String), DiscoverError> {
    let typed = || typed.to_owned();
    let directory = if real.is_dir() {
        real
    } else {
        let name = real.file_name().and_then(OsStr::to_str).unwrap_or_default();
        match real.parent() {
            Some(parent) if KUSTOMIZATION_NAMES.contains(&name) => parent,
            _ => return Err(DiscoverError::NotAKustomization { typed: typed() }),
        }
    };
    let mut names = kustomization_names(directory);
    match names.len() {
        1 => Ok((directory.to_path_buf(), names.remove(0))),
        0 => {
            let below = overlays_below(directory);
            Err(DiscoverError::NoKustomization { typed: typed(), below })
        }
        _ => Err(DiscoverError::SeveralKustomizations { typed: typed(), names }),
    }
}

/// The kustomization files in `directory`.
pub(super) fn kustomization_names(directory: &Path) -> Vec<String> {
    let names = KUSTOMIZATION_NAMES.iter();
    names.filter(|name| directory.join(name).is_file()).map(|&name| name.to_owned()).collect()
}

/// Names of overlays directly below `directory`, a few of them, for a hint.
fn overlays_below(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .take(1000)
        .filter_map(Result::ok)
        .filter(|entry| !kustomization_names(&entry.path()).is_empty())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// The git work tree, else `--root`, else the current directory, whichever first holds the overlay.
fn find_boundary(
    place: Place<'_>,
    absolute: &Path,
    directory: &Path,
    typed: &str,
) -> Result<PathBuf, DiscoverError> {
    let as_typed = find_work_tree(&without_dots(absolute));
    if let Some(tree) = as_typed.and_then(|tree| fs::canonicalize(tree).ok())
        && !directory.starts_with(tree)
    {
        return Err(DiscoverError::LeavesBoundary { typed: typed.to_owned() });
    }
    if let Some(tree) = find_work_tree(directory) {
        return Ok(tree);
    }
    let base = place.cwd.join(place.root.unwrap_or(Path::new("")));
    let root = fs::canonicalize(&base)
        .ok()
        .filter(|root| root.is_dir())
        .ok_or(DiscoverError::NoDirectory { path: base })?;
    if directory.starts_with(&root) {
        return Ok(root);
    }
    let base = match place.root {
        Some(root) => format!("--root {}", shown(root)),
        None => "the current directory".to_owned(),
    };
    Err(DiscoverError::NoBoundary { typed: typed.to_owned(), base })
}

/// `path` with `.` and `..` taken out by name alone, as a person reads it.
fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            _ => clean.push(component),
        }
    }
    clean
}

/// A path fit to be shown.
pub(super) fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        for path in paths {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        (dir, root)
    }

    fn directories(place: Place<'_>, typed: &[&str]) -> Result<Vec<String>, DiscoverError> {
        let typed: Vec<OsString> = typed.iter().map(OsString::from).collect();
        Ok(locate(place, &typed)?.1.into_iter().map(|located| located.directory).collect())
    }

    #[test]
    fn the_git_work_tree_is_the_boundary() {
        let (_dir, root) = tree(&["repo/.git/HEAD", "repo/overlays/prod/kustomization.yml"]);
        let cwd = root.join("repo/overlays/prod");
        let place = Place { cwd: &cwd, root: Some(Path::new(".")) };
        let (files, found) = locate(place, &[".".into()]).unwrap();
        assert_eq!(files.root(), root.join("repo"));
        assert_eq!(found[0].directory, "overlays/prod");
        assert_eq!(found[0].file, "kustomization.yml");
    }

    #[test]
    fn a_linked_work_tree_is_a_boundary_and_an_empty_git_directory_is_none() {
        let (_dir, root) =
            tree(&["a/kustomization.yaml", "b/.git/objects/x", "b/kustomization.yaml"]);
        fs::write(root.join("a/.git"), "gitdir: /elsewhere\n").unwrap();
        assert_eq!(find_work_tree(&root.join("a")), Some(root.join("a")));
        assert_eq!(find_work_tree(&root.join("b")), None);
    }

    #[test]
    fn without_git_it_is_root_or_the_current_directory() {
        let (_dir, root) = tree(&["x/o/kustomization.yaml", "y/z"]);
        let (x, y) = (root.join("x"), root.join("y"));
        assert_eq!(directories(Place { cwd: &x, root: None }, &["o"]).unwrap(), ["o"]);
        assert_eq!(directories(Place { cwd: &x.join("o"), root: None }, &["."]).unwrap(), [""]);
        let up = Some(Path::new(".."));
        assert_eq!(directories(Place { cwd: &y, root: up }, &["../x/o"]).unwrap(), ["x/o"]);
        assert!(matches!(
            directories(Place { cwd: &y, root: None }, &["../x/o"]),
            Err(DiscoverError::NoBoundary { .. })
        ));
    }

    #[test]
    fn the_kustomization_file_names_its_directory() {
        let (_dir, root) = tree(&["o/Kustomization", "o/web.yaml"]);
        let place = Place { cwd: &root, root: None };
        assert_eq!(directories(place, &["o/Kustomization", "o", "./o/"]).unwrap(), ["o"]);
        assert!(matches!(
            directories(place, &["o/web.yaml"]),
            Err(DiscoverError::NotAKustomization { .. })
        ));
    }

    #[test]
    fn what_names_no_overlay_is_said() {
        let (_dir, root) =
            tree(&["o/prod/kustomization.yaml", "two/kustomization.yaml", "two/Kustomization"]);
        let place = Place { cwd: &root, root: None };
        assert!(matches!(
            directories(place, &["o/prd"]),
            Err(DiscoverError::NothingThere { siblings, .. }) if siblings == ["prod"]
        ));
        assert!(matches!(
            directories(place, &["o"]),
            Err(DiscoverError::NoKustomization { below, .. }) if below == ["prod"]
        ));
        assert!(matches!(
            directories(place, &["two"]),
            Err(DiscoverError::SeveralKustomizations { .. })
        ));
        assert!(matches!(directories(place, &[""]), Err(DiscoverError::NothingThere { .. })));
    }

    #[test]
    fn patterns_match_overlays_only() {
        let (_dir, root) = tree(&[
            "o/b/kustomization.yaml",
            "o/a/kustomization.yaml",
            "o/notes/readme",
            "o/.hidden/kustomization.yaml",
            "o/deep/c/kustomization.yaml",
        ]);
        let place = Place { cwd: &root, root: None };
        assert_eq!(directories(place, &["o/*"]).unwrap(), ["o/a", "o/b"]);
        assert_eq!(directories(place, &["o/{b,x}"]).unwrap(), ["o/b"]);
        assert_eq!(directories(place, &["o/**"]).unwrap(), ["o/a", "o/b", "o/deep/c"]);
        assert_eq!(directories(place, &["*/[ab]/kustomization.yaml"]).unwrap(), ["o/a", "o/b"]);
        for none in ["o/n*", "none/*", "o/*/none"] {
            assert!(
                matches!(directories(place, &[none]), Err(DiscoverError::NoMatch { .. })),
                "{none}"
            );
        }
        assert!(matches!(directories(place, &["o/["]), Err(DiscoverError::BadPattern { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_repository_is_refused() {
        let (_dir, root) = tree(&["repo/.git/HEAD", "elsewhere/kustomization.yaml"]);
        std::os::unix::fs::symlink("../elsewhere", root.join("repo/link")).unwrap();
        let cwd = root.join("repo");
        assert!(matches!(
            directories(Place { cwd: &cwd, root: None }, &["link"]),
            Err(DiscoverError::LeavesBoundary { .. })
        ));
    }
}
