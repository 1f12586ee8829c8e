//! Temporary copies of a tree held in memory, for programs that only read directories.

use std::fs;
use std::io;
use std::path::{Component, Path};

/// A directory that is removed when this is dropped.
#[derive(Debug)]
pub struct TemporaryTree(tempfile::TempDir);

impl TemporaryTree {
    /// The absolute path of its top, links resolved.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Writes `files` (relative paths and their bytes) and the empty `directories` below a new temporary directory.
///
/// # Errors
/// Where a path is not relative and normal, or the operating system says no.
pub fn copy_to_temporary<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    directories: impl IntoIterator<Item = &'a str>,
) -> io::Result<TemporaryTree> {
    let parent = fs::canonicalize(std::env::temp_dir())?;
    let tree = tempfile::Builder::new().prefix("overlay-").tempdir_in(parent)?;
    for directory in directories {
        fs::create_dir_all(tree.path().join(own_path(directory)?))?;
    }
    for (path, bytes) in files {
        let path = tree.path().join(own_path(path)?);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        write(&path, bytes)?;
    }
    Ok(TemporaryTree(tree))
}

/// `path` where it stays below what it is joined to.
fn own_path(path: &str) -> io::Result<&Path> {
    let own = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    match own {
        true => Ok(Path::new(path)),
        false => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{path}: not below the top")))
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "`write` is the one place")]
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::write(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_holds_the_files_and_goes_away() {
        let files = [("a/b", b"text".as_slice()), ("c", b"")];
        let tree = copy_to_temporary(files, ["empty/dir"]).unwrap();
        let top = tree.path().to_path_buf();
        assert_eq!(fs::read(top.join("a/b")).unwrap(), b"text");
        assert!(top.join("empty/dir").is_dir());
        drop(tree);
        assert!(!top.exists());
    }

    #[test]
    fn no_path_leaves_the_copy() {
        for path in ["../x", "/x", "a/../../x"] {
            assert!(copy_to_temporary([(path, b"".as_slice())], []).is_err(), "{path}");
        }
    }
}
