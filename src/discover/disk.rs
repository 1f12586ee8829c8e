//! The [`Files`] port over a directory: links resolved one by one, so that none is followed out of the boundary.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use crate::kustomize::{Entry, Files, FilesError};

/// Largest source file, in bytes.
pub const FILE_LIMIT: u64 = 64 * 1024 * 1024;
/// Most symbolic links on the way to one file, as Linux has it (path_resolution(7)).
const LINK_LIMIT: usize = 40;

/// One directory tree; nothing outside of it is ever read, wherever a link leads.
#[derive(Clone, Debug)]
pub struct DiskFiles {
    root: PathBuf,
    limit: u64,
    /// Directories, no links, that a path led through before: most files of a tree stand below the same few.
    directories: Arc<RwLock<HashMap<PathBuf, FileType>>>,
}

/// What a path comes to once its links are followed.
struct Resolved {
    /// The absolute path, below the root.
    path: PathBuf,
    kind: Option<FileType>,
}

impl DiskFiles {
    /// The tree below `root`.
    ///
    /// # Errors
    /// Where `root` does not exist or is no directory.
    pub fn new(root: &Path) -> io::Result<Self> {
        let root = fs::canonicalize(root)?;
        if !root.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "not a directory"));
        }
        Ok(Self { root, limit: FILE_LIMIT, directories: Arc::default() })
    }

    /// The absolute path of the boundary, links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn resolve(&self, path: &str) -> Result<Resolved, FilesError> {
        let outside = || FilesError::Outside { path: path.to_owned() };
        let failed = |e: io::Error| unreadable(path, e.to_string());
        let mut pending: Vec<OsString> = steps(Path::new(path)).ok_or_else(outside)?;
        pending.reverse();
        let mut here = self.root.clone();
        let mut kind = None;
        let mut links = 0usize;
        while let Some(step) = pending.pop() {
            if step == ".." {
                if here == self.root {
                    return Err(outside());
                }
                here.pop();
                kind = None;
                continue;
            }
            here.push(&step);
            let Some(found) = self.kind_of(&here).map_err(failed)? else {
                return match links {
                    0 => Ok(Resolved { path: here, kind: None }),
                    _ => Err(unreadable(path, "a link on the way leads nowhere")),
                };
            };
            if !found.is_symlink() {
                kind = Some(found);
                continue;
            }
            links += 1;
            if links > LINK_LIMIT {
                return Err(unreadable(path, "a loop of symbolic links"));
            }
            let target = fs::read_link(&here).map_err(failed)?;
            here.pop();
            let target = if target.is_absolute() {
                here.clone_from(&self.root);
                target.strip_prefix(&self.root).map_err(|_| outside())?.to_path_buf()
            } else {
                target
            };
            let mut target = steps(&target).ok_or_else(outside)?;
            target.reverse();
            pending.append(&mut target);
            kind = None;
        }
        if kind.is_none() {
            kind = self.kind_of(&here).map_err(failed)?;
        }
        Ok(Resolved { path: here, kind })
    }

    /// As [`file_type`], without asking again for a directory.
    fn kind_of(&self, path: &Path) -> io::Result<Option<FileType>> {
        let known = self.directories.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(kind) = known.get(path) {
            return Ok(Some(*kind));
        }
        drop(known);
        let kind = file_type(path)?;
        if let Some(directory) = kind.filter(FileType::is_dir) {
            let mut known = self.directories.write().unwrap_or_else(PoisonError::into_inner);
            known.insert(path.to_owned(), directory);
        }
        Ok(kind)
    }

    /// The path below the root, with `/`, or `None` where it is not UTF-8.
    fn below_root(&self, resolved: &Resolved) -> Option<String> {
        let below = resolved.path.strip_prefix(&self.root).ok()?;
        slash_path(&below.components().map(Component::as_os_str).collect::<Vec<_>>())
    }

    fn read_limited(&self, path: &str, file: &Path) -> Result<Vec<u8>, FilesError> {
        let failed = |e: io::Error| unreadable(path, e.to_string());
        let file = fs::File::open(file).map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        if !meta.is_file() {
            return Err(unreadable(path, "not a regular file"));
        }
        let too_large =
            |bytes| FilesError::TooLarge { path: path.to_owned(), bytes, limit: self.limit };
        if meta.len() > self.limit {
            return Err(too_large(meta.len()));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0));
        file.take(self.limit + 1).read_to_end(&mut bytes).map_err(failed)?;
        match bytes.len() as u64 {
            length if length > self.limit => Err(too_large(length)),
            _ => Ok(bytes),
        }
    }
}

impl Files for DiskFiles {
    fn entry(&self, path: &str) -> Result<Option<Entry>, FilesError> {
        let resolved = self.resolve(path)?;
        let Some(kind) = resolved.kind else { return Ok(None) };
        let real = self
            .below_root(&resolved)
            .ok_or_else(|| unreadable(path, "a link leads to a name that is not UTF-8"))?;
        if kind.is_dir() {
            Ok(Some(Entry::Directory { real }))
        } else if kind.is_file() {
            Ok(Some(Entry::File { real }))
        } else {
            Err(unreadable(path, "neither a file nor a directory"))
        }
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, FilesError> {
        let resolved = self.resolve(path)?;
        match resolved.kind {
            Some(kind) if kind.is_file() => Ok(self.read_limited(path, &resolved.path)?.into()),
            Some(_) => Err(unreadable(path, "not a regular file")),
            None => Err(unreadable(path, "no such file")),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<String>, FilesError> {
        let resolved = self.resolve(path)?;
        if !resolved.kind.is_some_and(|kind| kind.is_dir()) {
            return Err(unreadable(path, "not a directory"));
        }
        let failed = |e: io::Error| unreadable(path, e.to_string());
        let mut names = Vec::new();
        for entry in fs::read_dir(&resolved.path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().into_string();
            names.push(name.map_err(|_| unreadable(path, "holds a name that is not UTF-8"))?);
        }
        names.sort_unstable();
        Ok(names)
    }
}

fn unreadable(path: &str, reason: impl Into<String>) -> FilesError {
    FilesError::Unreadable { path: path.to_owned(), reason: reason.into() }
}

/// The steps of a relative path, `.` left out; `None` for an absolute one.
fn steps(path: &Path) -> Option<Vec<OsString>> {
    path.components()
        .filter(|component| *component != Component::CurDir)
        .map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsString::from("..")),
            _ => None,
        })
        .collect()
}

/// The kind of what stands there, links not followed; `None` where nothing does.
fn file_type(path: &Path) -> io::Result<Option<FileType>> {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    match fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some(meta.file_type())),
        // A name with a NUL byte or one that is too long names nothing, so it cannot be there.
        Err(e) if matches!(e.kind(), NotFound | NotADirectory | InvalidInput | InvalidFilename) => {
            Ok(None)
        }
        Err(e) => Err(e),
    }
}

/// The components joined by `/`, or `None` where one is not UTF-8.
pub(super) fn slash_path<S: AsRef<OsStr>>(components: &[S]) -> Option<String> {
    let parts: Option<Vec<&str>> = components.iter().map(|c| c.as_ref().to_str()).collect();
    Some(parts?.join("/"))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree() -> (tempfile::TempDir, DiskFiles) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("repo");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), "text").unwrap();
        fs::write(dir.path().join("secret"), "secret").unwrap();
        let files = DiskFiles::new(&root).unwrap();
        (dir, files)
    }

    fn file(real: &str) -> Result<Option<Entry>, FilesError> {
        Ok(Some(Entry::File { real: real.to_owned() }))
    }

    #[test]
    fn plain_paths_are_read() {
        let (_dir, files) = tree();
        assert_eq!(files.entry("a/b/file"), file("a/b/file"));
        assert_eq!(files.entry("a/./b/../b/file"), file("a/b/file"));
        assert_eq!(files.entry(""), Ok(Some(Entry::Directory { real: String::new() })));
        assert_eq!(files.entry("a/none"), Ok(None));
        assert_eq!(files.entry("a/b/file/below"), Ok(None));
        assert_eq!(&*files.read("a/b/file").unwrap(), b"text");
        assert!(files.read("a/b").is_err());
    }

    #[test]
    fn links_inside_are_followed_to_their_real_path() {
        let (_dir, files) = tree();
        symlink("b", files.root().join("a/link")).unwrap();
        symlink("../a/link/file", files.root().join("a/far")).unwrap();
        symlink(files.root().join("a/b"), files.root().join("absolute")).unwrap();
        assert_eq!(files.entry("a/link/file"), file("a/b/file"));
        assert_eq!(files.entry("a/far"), file("a/b/file"));
        assert_eq!(files.entry("absolute/file"), file("a/b/file"));
        assert_eq!(files.entry("a/link/.."), Ok(Some(Entry::Directory { real: "a".into() })));
    }

    #[test]
    fn nothing_outside_is_reached() {
        let (dir, files) = tree();
        symlink("../secret", files.root().join("up")).unwrap();
        symlink(dir.path().join("secret"), files.root().join("abs")).unwrap();
        symlink("..", files.root().join("parent")).unwrap();
        symlink("../repo/a", files.root().join("out-and-in")).unwrap();
        for path in ["up", "abs", "parent/secret", "../secret", "/etc/passwd", "out-and-in/b/file"]
        {
            assert_eq!(files.entry(path), Err(FilesError::Outside { path: path.into() }), "{path}");
            assert!(files.read(path).is_err(), "{path}");
        }
    }

    #[test]
    fn loops_dead_links_and_devices_are_errors() {
        let (_dir, files) = tree();
        symlink("loop", files.root().join("loop")).unwrap();
        symlink("nowhere", files.root().join("dead")).unwrap();
        std::os::unix::net::UnixListener::bind(files.root().join("socket")).unwrap();
        for path in ["loop", "dead", "socket"] {
            assert!(matches!(files.entry(path), Err(FilesError::Unreadable { .. })), "{path}");
            assert!(matches!(files.read(path), Err(FilesError::Unreadable { .. })), "{path}");
        }
    }

    #[test]
    fn a_large_file_is_refused_unread() {
        let (_dir, files) = tree();
        let big = fs::File::create(files.root().join("big")).unwrap();
        big.set_len(FILE_LIMIT + 1).unwrap();
        assert_eq!(
            files.read("big"),
            Err(FilesError::TooLarge {
                path: "big".into(),
                bytes: FILE_LIMIT + 1,
                limit: FILE_LIMIT
            })
        );
    }

    #[test]
    fn a_link_to_a_name_that_is_not_utf8_is_an_error() {
        use std::os::unix::ffi::OsStrExt as _;
        let (_dir, files) = tree();
        let name = OsStr::from_bytes(b"bad\xff");
        fs::write(files.root().join(name), "x").unwrap();
        symlink(name, files.root().join("good")).unwrap();
        assert!(matches!(files.entry("good"), Err(FilesError::Unreadable { .. })));
    }
}
