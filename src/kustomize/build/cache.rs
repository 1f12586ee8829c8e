//! What was built of directories that several overlays use, kept for a run.
//!
//! What a directory builds to depends on its files, on those of the directories that it enters, and
//! on the schema and the provenance of the root; it is kept for the built-in schema without
//! provenance, and used by trees in which none of those files is edited. A directory is kept when it
//! is built for the second time: most are built once.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::accumulate::Accumulator;
use super::diagnostics::Said;

/// What a directory built to.
pub(super) struct BuiltDirectory {
    /// Its resources and rules.
    pub(super) accumulated: Accumulator,
    /// What was said of it.
    pub(super) said: Said,
    /// The directories that were entered, itself among them, by real path.
    pub(super) directories: Vec<String>,
}

/// Built directories by real path.
#[derive(Default)]
pub(crate) struct BuildCache {
    built_once: Mutex<HashSet<String>>,
    kept: RwLock<HashMap<String, Arc<BuiltDirectory>>>,
}

impl BuildCache {
    pub(super) fn find(&self, directory: &str) -> Option<Arc<BuiltDirectory>> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner).get(directory).cloned()
    }

    /// Whether what `directory` builds to is worth keeping; the first time it is not.
    pub(super) fn is_wanted(&self, directory: &str) -> bool {
        let mut built_once = self.built_once.lock().unwrap_or_else(PoisonError::into_inner);
        !built_once.insert(directory.to_owned())
    }

    pub(super) fn keep(&self, directory: &str, built: BuiltDirectory) {
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        kept.insert(directory.to_owned(), Arc::new(built));
    }
}
