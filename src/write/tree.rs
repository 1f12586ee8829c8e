//! Temporary copies of a tree held in memory, for programs that only read directories.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// What stands in a temporary tree; all paths are relative to its top, `/` between their parts.
#[derive(Clone, Debug, Default)]
pub struct Layout<'a> {
    /// Files and their bytes.
    pub files: Vec<(&'a str, &'a [u8])>,
    /// Directories that are there even if they are empty.
    pub directories: Vec<&'a str>,
    /// Links and what they lead to; one whose place is taken is left out.
    pub links: Vec<(&'a str, &'a str)>,
}

/// A directory that is removed when this is dropped.
#[derive(Debug)]
pub struct TemporaryTree(tempfile::TempDir);

impl TemporaryTree {
    /// The absolute path of its top, links resolved.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Makes a new temporary directory that holds `layout`.
///
/// # Errors
/// Where a path is not relative and normal, or the operating system says no.
pub fn copy_to_temporary(layout: &Layout<'_>) -> io::Result<TemporaryTree> {
    let parent = fs::canonicalize(std::env::temp_dir())?;
    let tree = tempfile::Builder::new().prefix("overlay-").tempdir_in(parent)?;
    let top = tree.path();
    for directory in &layout.directories {
        fs::create_dir_all(own_path(top, directory)?)?;
    }
    for (path, bytes) in &layout.files {
        let path = own_path(top, path)?;
        create_parent(&path)?;
        write(&path, bytes)?;
    }
    let mut links = layout.links.clone();
    links.sort_unstable();
    for (path, target) in links {
        let (path, target) = (own_path(top, path)?, own_path(top, target)?);
        if path.symlink_metadata().is_err() {
            create_parent(&path)?;
            link(&target, &path)?;
        }
    }
    Ok(TemporaryTree(tree))
}

/// `path` below `top`, where it stays there.
pub(super) fn own_path(top: &Path, path: &str) -> io::Result<PathBuf> {
    let own = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let outside =
        || io::Error::new(io::ErrorKind::InvalidInput, format!("{path}: not below the top"));
    own.then(|| top.join(path)).ok_or_else(outside)
}

fn create_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(_: &Path, path: &Path) -> io::Result<()> {
    let message = format!("{}: symbolic links need Unix", path.display());
    Err(io::Error::new(io::ErrorKind::Unsupported, message))
}

#[allow(clippy::disallowed_methods, reason = "`write` is the one place")]
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::write(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_holds_the_layout_and_goes_away() {
        let layout = Layout {
            files: vec![("a/b", b"text"), ("c", b"")],
            directories: vec!["empty/dir"],
            links: vec![("link", "a"), ("link/b", "c"), ("d/b", "a/b")],
        };
        let tree = copy_to_temporary(&layout).unwrap();
        let top = tree.path().to_path_buf();
        assert_eq!(fs::read(top.join("a/b")).unwrap(), b"text");
        assert_eq!(fs::read(top.join("link/b")).unwrap(), b"text");
        assert_eq!(fs::read(top.join("d/b")).unwrap(), b"text");
        assert!(top.join("empty/dir").is_dir());
        drop(tree);
        assert!(!top.exists());
    }

    #[test]
    fn no_path_leaves_the_copy() {
        for path in ["../x", "/x", "a/../../x"] {
            let file = Layout { files: vec![(path, b"")], ..Layout::default() };
            assert!(copy_to_temporary(&file).is_err(), "{path}");
            let link = Layout { links: vec![("l", path)], ..Layout::default() };
            assert!(copy_to_temporary(&link).is_err(), "{path}");
        }
    }
}
