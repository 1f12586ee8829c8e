//! Where a value comes from: the file and line that decided it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A file of a source tree, as a small number; [`FileTable`] has its path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

impl FileId {
    /// No file: a value that kustomize itself made up.
    pub const NONE: Self = Self(0);
}

/// The file and the line (counted from 1; 0 is unknown) that decided a value.
///
/// A value read from a resource file points there; a value that a patch or a transformer wrote
/// points at the patch, or at the entry of the kustomization that asked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The file.
    pub file: FileId,
    /// The line, from 1; 0 where it is not known.
    pub line: u32,
}

impl Origin {
    /// A value of no file.
    pub const NONE: Self = Self { file: FileId::NONE, line: 0 };

    /// The place `line` of `file`.
    #[must_use]
    pub fn new(file: FileId, line: u32) -> Self {
        Self { file, line }
    }
}

/// The paths of the files that [`FileId`]s stand for. Identity 0 is no file.
#[derive(Clone, Debug, Default)]
pub struct FileTable {
    paths: HashMap<FileId, Arc<str>>,
    numbers: FileNumbers,
}

/// Gives files their numbers; copies go on where the others stopped, so that no number is given twice.
#[derive(Clone, Debug, Default)]
pub struct FileNumbers {
    given: Arc<AtomicU32>,
}

impl FileNumbers {
    fn next(&self) -> FileId {
        FileId(self.given.fetch_add(1, Ordering::Relaxed).saturating_add(1))
    }
}

impl FileTable {
    /// No files yet; those to come are numbered by `numbers`.
    #[must_use]
    pub fn numbered_by(numbers: FileNumbers) -> Self {
        Self { paths: HashMap::new(), numbers }
    }

    /// Adds `path` as a new file.
    pub fn add(&mut self, path: Arc<str>) -> FileId {
        let id = self.numbers.next();
        self.adopt(id, path);
        id
    }

    /// Adds a file that has its number from the same [`FileNumbers`].
    pub fn adopt(&mut self, id: FileId, path: Arc<str>) {
        self.paths.insert(id, path);
    }

    /// The path of `file`, relative to the boundary; empty for [`FileId::NONE`].
    #[must_use]
    pub fn path(&self, file: FileId) -> &str {
        self.paths.get(&file).map_or("", |path| path)
    }
}
