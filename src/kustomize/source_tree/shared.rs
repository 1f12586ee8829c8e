//! What the trees of one version of a repository share, so that each file is read once however many
//! overlays reach it, and each base is built once. Used from any thread; knows no edits: a tree
//! with edited texts takes from here only what the edits do not touch.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::{Found, ReadKustomization, SourceFile};
use crate::kustomize::build::cache::BuildCache;
use crate::kustomize::origin::{FileNumbers, FileTable};

/// Files, kustomizations and built bases of one version, by their real paths.
#[derive(Default)]
pub struct SharedSources {
    found: Kept<Found>,
    files: Kept<Arc<SourceFile>>,
    kustomizations: Kept<ReadKustomization>,
    numbers: FileNumbers,
    bytes: AtomicUsize,
    builds: BuildCache,
}

/// Values that never change once they are there.
struct Kept<T>(RwLock<HashMap<String, T>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T: Clone> Kept<T> {
    fn find(&self, key: &str) -> Option<T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Keeps `value`, unless another thread was faster; what is kept, and whether it is this one.
    fn keep(&self, key: &str, value: &T) -> (T, bool) {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        match kept.get(key) {
            Some(first) => (first.clone(), false),
            None => {
                kept.insert(key.to_owned(), value.clone());
                (value.clone(), true)
            }
        }
    }
}

impl fmt::Debug for SharedSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedSources").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl SharedSources {
    /// How many bytes of files are kept.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// An empty table for one more tree.
    pub(super) fn file_table(&self) -> FileTable {
        FileTable::numbered_by(self.numbers.clone())
    }

    pub(super) fn found(&self, path: &str) -> Option<Found> {
        self.found.find(path)
    }

    pub(super) fn keep_found(&self, path: &str, found: &Found) {
        let _ = self.found.keep(path, found);
    }

    pub(super) fn file(&self, real: &str) -> Option<Arc<SourceFile>> {
        self.files.find(real)
    }

    /// Keeps a file that was read; the one that all trees use.
    pub(super) fn keep_file(&self, file: Arc<SourceFile>) -> Arc<SourceFile> {
        let (kept, is_new) = self.files.keep(&file.path, &file);
        if is_new {
            self.bytes.fetch_add(file.bytes.len(), Ordering::Relaxed);
        }
        kept
    }

    pub(super) fn kustomization(&self, directory: &str) -> Option<ReadKustomization> {
        self.kustomizations.find(directory)
    }

    pub(super) fn keep_kustomization(&self, directory: &str, read: &ReadKustomization) {
        let _ = self.kustomizations.keep(directory, read);
    }

    /// What was built of directories that several overlays use.
    pub(crate) fn builds(&self) -> &BuildCache {
        &self.builds
    }
}
