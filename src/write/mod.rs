//! Writing files: atomic, all or nothing.
//!
//! Each new text is put whole into a temporary file beside its target, forced to disk, and only when
//! every one is there are they renamed into place; a failure on the way puts back what was. Also
//! makes the temporary copies that an external renderer reads. Must not know what the texts mean.

mod folder;
mod tree;
mod turn;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

pub use folder::{place_folder, write_below};
pub use tree::{Layout, TemporaryTree, copy_to_temporary};
use turn::Turn;

/// One file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewText {
    /// The path relative to the boundary, `/` between its parts, all links resolved.
    pub path: String,
    /// The bytes as they were read, or `None` where the file is created.
    pub before: Option<Vec<u8>>,
    /// The bytes to be, or `None` where the file goes.
    pub after: Option<Vec<u8>>,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The path leads out of the boundary, or to something that is no regular file.
    #[error("{path}: {reason}")]
    NotOurs {
        /// The path relative to the boundary.
        path: String,
        /// In words.
        reason: String,
    },
    /// The file is not what was read.
    #[error("{path}: changed by somebody else since it was read")]
    ChangedMeanwhile {
        /// The path relative to the boundary.
        path: String,
    },
    /// The operating system says no; every file is as it was.
    #[error("{path}: {source}")]
    Failed {
        /// The path relative to the boundary.
        path: String,
        /// What it says.
        source: io::Error,
    },
    /// As [`WriteError::Failed`], and files written before could not be put back.
    #[error("{path}: {source}; not put back: {}", changed.join(", "))]
    Incomplete {
        /// The path that could not be written.
        path: String,
        /// What the operating system says.
        source: io::Error,
        /// The files that hold their new text.
        changed: Vec<String>,
    },
}

/// What [`write_texts`] is about to do: where a test can make it fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Put the new text beside its target.
    Stage,
    /// Rename it into place.
    Rename,
    /// Put back what was.
    Undo,
}

type Fault<'a> = &'a mut dyn FnMut(Step, &str) -> io::Result<()>;

/// Writes every text that differs from what the file holds, all or none, below `root`; returns the
/// paths written. A file whose text is unchanged is not touched.
///
/// # Errors
/// [`WriteError`]; unless it is [`WriteError::Incomplete`], every file is as it was.
pub fn write_texts(root: &Path, texts: &[NewText]) -> Result<Vec<String>, WriteError> {
    write_with(root, texts, &mut |_, _| Ok(()))
}

fn write_with(root: &Path, texts: &[NewText], fault: Fault<'_>) -> Result<Vec<String>, WriteError> {
    let changed: Vec<&NewText> = texts.iter().filter(|text| text.before != text.after).collect();
    let made = NewDirectories::make(root, &changed)?;
    let _turn = take_turn(root, &changed)?;
    let mut staged = Vec::new();
    for text in changed {
        staged.push(Staged::prepare(root, text, fault)?);
    }
    let mut done: Vec<Done> = Vec::new();
    for file in staged {
        let path = file.path.clone();
        match fault(Step::Rename, &path).and_then(|()| file.commit()) {
            Ok(written) => done.push(written),
            Err(source) => return Err(undo(path, source, done, fault)),
        }
    }
    made.keep();
    let directories = done.iter().filter_map(|written| written.target.parent());
    // The names are in place; that the directory is forced to disk too is worth a try, and no more.
    directories.for_each(|directory| drop(File::open(directory).and_then(|d| d.sync_all())));
    let gone = done.iter().filter(|written| written.is_removed);
    let gone: Vec<PathBuf> = gone.map(|written| written.target.clone()).collect();
    // With them go the second names of the old files, which stand in the same directories.
    let paths = done.into_iter().map(|written| written.path).collect();
    gone.iter().for_each(|gone| leave_none_empty(root, gone));
    Ok(paths)
}

/// From here to the end of the write no other run looks at these files and replaces them.
fn take_turn(root: &Path, texts: &[&NewText]) -> Result<Turn, WriteError> {
    let mut directories = BTreeSet::new();
    for text in texts {
        let target = own_target(root, &text.path)?;
        directories.extend(target.parent().map(Path::to_path_buf));
    }
    let path = || texts.first().map(|text| text.path.clone()).unwrap_or_default();
    Turn::take(directories).map_err(|source| WriteError::Failed { path: path(), source })
}

/// Directories that new files need; those that were made go again unless they are kept.
struct NewDirectories(Vec<PathBuf>);

impl NewDirectories {
    fn make(root: &Path, texts: &[&NewText]) -> Result<Self, WriteError> {
        let mut made = Self(Vec::new());
        for text in texts.iter().filter(|text| text.before.is_none()) {
            let failed = |source| WriteError::Failed { path: text.path.clone(), source };
            let target = tree::own_path(root, &text.path).map_err(failed)?;
            let missing = target.ancestors().skip(1).take_while(|directory| !directory.exists());
            let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
            while let Some(directory) = missing.pop() {
                fs::create_dir(&directory).map_err(failed)?;
                made.0.push(directory);
            }
        }
        Ok(made)
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for NewDirectories {
    fn drop(&mut self) {
        // One that holds something by now is not ours to remove.
        self.0.iter().rev().for_each(|directory| drop(fs::remove_dir(directory)));
    }
}

/// As git does, no directory stays that a file left empty.
fn leave_none_empty(root: &Path, gone: &Path) {
    let Ok(root) = fs::canonicalize(root) else { return };
    let above = gone.ancestors().skip(1).take_while(|directory| **directory != root);
    for directory in above {
        if fs::remove_dir(directory).is_err() {
            return;
        }
    }
}

/// A new text on disk beside its target.
struct Staged {
    path: String,
    target: PathBuf,
    /// `None` where the file goes.
    new: Option<NamedTempFile>,
    /// A second name of the old file, which is what an undo renames back.
    old: Option<TempPath>,
}

/// A file in its new state.
struct Done {
    path: String,
    target: PathBuf,
    old: Option<TempPath>,
    is_removed: bool,
}

impl Staged {
    fn prepare(root: &Path, text: &NewText, fault: Fault<'_>) -> Result<Self, WriteError> {
        let failed = |source| WriteError::Failed { path: text.path.clone(), source };
        let target = own_target(root, &text.path)?;
        let directory = target.parent().unwrap_or(root).to_path_buf();
        check_unchanged(&target, text)?;
        fault(Step::Stage, &text.path).map_err(failed)?;
        let after = text.after.as_deref();
        let new = after.map(|after| stage(&directory, &target, after)).transpose();
        let new = new.map_err(failed)?;
        let old = match text.before {
            Some(_) => Some(second_name(&directory, &target).map_err(failed)?),
            None => None,
        };
        Ok(Self { path: text.path.clone(), target, new, old })
    }

    fn commit(self) -> io::Result<Done> {
        let is_removed = self.new.is_none();
        match (self.new, &self.old) {
            (Some(new), Some(_)) => drop(new.persist(&self.target).map_err(|e| e.error)?),
            (Some(new), None) => drop(new.persist_noclobber(&self.target).map_err(|e| e.error)?),
            (None, _) => remove(&self.target)?,
        }
        Ok(Done { path: self.path, target: self.target, old: self.old, is_removed })
    }
}

/// The absolute path of `path`, whose directory is below `root` once links are resolved, and which is no link itself.
fn own_target(root: &Path, path: &str) -> Result<PathBuf, WriteError> {
    let not_ours =
        |reason: &str| WriteError::NotOurs { path: path.to_owned(), reason: reason.to_owned() };
    let failed = |source| WriteError::Failed { path: path.to_owned(), source };
    let joined = root.join(path);
    let (Some(parent), Some(name)) = (joined.parent(), joined.file_name()) else {
        return Err(not_ours("names no file"));
    };
    let root = fs::canonicalize(root).map_err(failed)?;
    let parent = fs::canonicalize(parent).map_err(failed)?;
    if !parent.starts_with(&root) {
        return Err(not_ours("leads out of the boundary, beyond which nothing is read or written"));
    }
    let target = parent.join(name);
    match target.symlink_metadata() {
        Ok(meta) if !meta.is_file() => Err(not_ours("is no regular file")),
        _ => Ok(target),
    }
}

fn check_unchanged(target: &Path, text: &NewText) -> Result<(), WriteError> {
    let now = match fs::read(target) {
        Ok(now) => Some(now),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(source) => return Err(WriteError::Failed { path: text.path.clone(), source }),
    };
    match now == text.before {
        true => Ok(()),
        false => Err(WriteError::ChangedMeanwhile { path: text.path.clone() }),
    }
}

/// A temporary file in `directory` with the text and the target's permissions, on disk.
fn stage(directory: &Path, target: &Path, text: &[u8]) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".overlay-").suffix(".tmp");
    let permissions = match target.metadata() {
        Ok(meta) => Some(meta.permissions()),
        Err(_) => new_file_permissions(),
    };
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(text)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    Ok(file)
}

/// What git gives a file: readable by all, less what no repository needs.
#[cfg(unix)]
fn new_file_permissions() -> Option<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt as _;
    Some(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn new_file_permissions() -> Option<fs::Permissions> {
    None
}

/// A second name for the file itself, so that an undo brings back the very file; a copy where the file system has no links.
fn second_name(directory: &Path, target: &Path) -> io::Result<TempPath> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".overlay-").suffix(".old");
    let linked = builder.make_in(directory, |path| fs::hard_link(target, path));
    match linked {
        Ok(linked) => Ok(linked.into_temp_path()),
        Err(_) => {
            let copy = builder.tempfile_in(directory)?.into_temp_path();
            fs::copy(target, &copy)?;
            Ok(copy)
        }
    }
}

/// Puts back every file written so far, the last first.
fn undo(path: String, source: io::Error, done: Vec<Done>, fault: Fault<'_>) -> WriteError {
    let mut changed = Vec::new();
    for written in done.into_iter().rev() {
        let put_back = fault(Step::Undo, &written.path).and_then(|()| match written.old {
            Some(old) => old.persist(&written.target).map_err(|e| e.error),
            None => remove(&written.target),
        });
        if put_back.is_err() {
            changed.push(written.path);
        }
    }
    match changed.is_empty() {
        true => WriteError::Failed { path, source },
        false => WriteError::Incomplete { path, source, changed },
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the one place")]
fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    use super::*;

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("repo/o")).unwrap();
        fs::write(dir.path().join("repo/o/a"), "a").unwrap();
        fs::write(dir.path().join("repo/o/b"), "b").unwrap();
        fs::write(dir.path().join("outside"), "outside").unwrap();
        dir
    }

    fn text(path: &str, before: Option<&str>, after: &str) -> NewText {
        NewText {
            path: path.into(),
            before: before.map(|text| text.as_bytes().to_vec()),
            after: Some(after.into()),
        }
    }

    fn contents(root: &Path) -> Vec<(String, String)> {
        let mut files: Vec<_> = fs::read_dir(root.join("o"))
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|e| (e.file_name().into_string().unwrap(), fs::read_to_string(e.path()).unwrap()))
            .collect();
        files.sort();
        files
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn texts_are_written_and_modes_kept() {
        let dir = tree();
        let root = dir.path().join("repo");
        fs::set_permissions(root.join("o/a"), fs::Permissions::from_mode(0o750)).unwrap();
        let texts =
            [text("o/a", Some("a"), "A"), text("o/c", None, "C"), text("o/b", Some("b"), "b")];
        assert_eq!(write_texts(&root, &texts).unwrap(), ["o/a", "o/c"]);
        assert_eq!(contents(&root), pairs(&[("a", "A"), ("b", "b"), ("c", "C")]));
        let mode = |path| fs::metadata(root.join(path)).unwrap().mode() & 0o777;
        assert_eq!((mode("o/a"), mode("o/c")), (0o750, 0o644));
    }

    #[test]
    fn an_unchanged_text_leaves_the_file_alone() {
        let dir = tree();
        let root = dir.path().join("repo");
        let before = fs::metadata(root.join("o/a")).unwrap();
        assert_eq!(write_texts(&root, &[text("o/a", Some("a"), "a")]).unwrap(), [""; 0]);
        let after = fs::metadata(root.join("o/a")).unwrap();
        assert_eq!((before.ino(), before.mtime_nsec()), (after.ino(), after.mtime_nsec()));
    }

    #[test]
    fn a_file_that_changed_meanwhile_stops_everything() {
        let dir = tree();
        let root = dir.path().join("repo");
        for wrong in
            [text("o/b", Some("x"), "B"), text("o/b", None, "B"), text("o/c", Some("c"), "C")]
        {
            let result = write_texts(&root, &[text("o/a", Some("a"), "A"), wrong]);
            assert!(matches!(result, Err(WriteError::ChangedMeanwhile { .. })));
            assert_eq!(contents(&root), pairs(&[("a", "a"), ("b", "b")]));
        }
    }

    #[test]
    fn a_second_run_waits_for_the_first_and_then_finds_its_text_changed() {
        let dir = tree();
        let root = dir.path().join("repo");
        let (said, heard) = std::sync::mpsc::channel();
        let mut second = None;
        let mut fault = |at: Step, _: &str| {
            if at == Step::Rename {
                let (root, said) = (root.clone(), said.clone());
                second = Some(std::thread::spawn(move || {
                    let result = write_texts(&root, &[text("o/a", Some("a"), "theirs")]);
                    said.send(()).unwrap();
                    result
                }));
                let waited = heard.recv_timeout(std::time::Duration::from_millis(300));
                assert!(waited.is_err(), "both runs replaced the text that both had read");
            }
            Ok(())
        };
        write_with(&root, &[text("o/a", Some("a"), "ours")], &mut fault).unwrap();
        let result = second.unwrap().join().unwrap();
        assert!(matches!(result, Err(WriteError::ChangedMeanwhile { .. })), "{result:?}");
        assert_eq!(fs::read_to_string(root.join("o/a")).unwrap(), "ours");
    }

    fn gone(path: &str, before: &str) -> NewText {
        NewText { path: path.into(), before: Some(before.into()), after: None }
    }

    #[test]
    fn files_go_and_come_with_their_directories() {
        let dir = tree();
        let root = dir.path().join("repo");
        let texts = [text("o/new/deep/c", None, "C"), gone("o/a", "a")];
        assert_eq!(write_texts(&root, &texts).unwrap(), ["o/new/deep/c", "o/a"]);
        assert_eq!(fs::read_to_string(root.join("o/new/deep/c")).unwrap(), "C");
        assert!(!root.join("o/a").exists());
        write_texts(&root, &[gone("o/new/deep/c", "C")]).unwrap();
        assert!(!root.join("o/new").exists() && root.join("o/b").exists());
        assert!(write_texts(&root, &[gone("o/b", "other")]).is_err());
        assert!(root.join("o/b").exists());
    }

    #[test]
    fn what_went_comes_back_and_what_came_goes_where_a_later_file_fails() {
        let dir = tree();
        let root = dir.path().join("repo");
        let texts = [gone("o/a", "a"), text("o/new/c", None, "C"), text("o/b", Some("b"), "B")];
        let mut fault = |at: Step, path: &str| match (at, path) {
            (Step::Rename, "o/b") => Err(io::Error::other("disk full")),
            _ => Ok(()),
        };
        assert!(write_with(&root, &texts, &mut fault).is_err());
        assert_eq!(contents(&root), pairs(&[("a", "a"), ("b", "b")]));
    }

    #[test]
    fn a_failure_at_any_step_puts_everything_back() {
        for step in [Step::Stage, Step::Rename] {
            let dir = tree();
            let root = dir.path().join("repo");
            let before = fs::metadata(root.join("o/a")).unwrap();
            let texts =
                [text("o/a", Some("a"), "A"), text("o/c", None, "C"), text("o/b", Some("b"), "B")];
            let mut fault = |at: Step, path: &str| match (at == step, path) {
                (true, "o/b") => Err(io::Error::other("disk full")),
                _ => Ok(()),
            };
            let result = write_with(&root, &texts, &mut fault);
            assert!(matches!(result, Err(WriteError::Failed { path, .. }) if path == "o/b"));
            assert_eq!(contents(&root), pairs(&[("a", "a"), ("b", "b")]), "{step:?}");
            let after = fs::metadata(root.join("o/a")).unwrap();
            assert_eq!((before.ino(), before.mtime_nsec()), (after.ino(), after.mtime_nsec()));
        }
    }

    #[test]
    fn what_cannot_be_put_back_is_named() {
        let dir = tree();
        let root = dir.path().join("repo");
        let texts = [text("o/a", Some("a"), "A"), text("o/b", Some("b"), "B")];
        let mut fault = |at: Step, path: &str| match (at, path) {
            (Step::Rename, "o/b") | (Step::Undo, _) => Err(io::Error::other("gone")),
            _ => Ok(()),
        };
        let result = write_with(&root, &texts, &mut fault);
        assert!(
            matches!(result, Err(WriteError::Incomplete { changed, .. }) if changed == ["o/a"])
        );
    }

    #[test]
    fn links_are_not_written_through() {
        let dir = tree();
        let root = dir.path().join("repo");
        symlink("../../outside", root.join("o/link")).unwrap();
        symlink("../..", root.join("o/up")).unwrap();
        for path in ["o/link", "o/up/outside", "../outside", "o"] {
            let result = write_texts(&root, &[text(path, Some("outside"), "mine")]);
            assert!(matches!(result, Err(WriteError::NotOurs { .. })), "{path}: {result:?}");
        }
        assert_eq!(fs::read_to_string(dir.path().join("outside")).unwrap(), "outside");
    }
}
