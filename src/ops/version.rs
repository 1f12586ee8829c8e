//! One version of a repository, and what many overlays of it share while they are loaded and rendered.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use super::Context;
use super::render::Built;
use crate::error::Error;
use crate::kustomize::{Files, SharedSources, SourceTree};

/// The most bytes of files that are kept for the overlays to come. What is made of them takes a
/// multiple of that; a run that reads more starts afresh, with the bases that are then in use.
const MOST_BYTES: usize = 32 << 20;

/// The files on disk or of a revision.
pub(crate) struct Version<'a> {
    context: &'a Context,
    files: &'a dyn Files,
    shared: Mutex<Arc<SharedSources>>,
}

impl<'a> Version<'a> {
    /// The version that `files` is.
    pub(crate) fn new(context: &'a Context, files: &'a dyn Files) -> Self {
        Self { context, files, shared: Mutex::default() }
    }

    /// Everything that the overlay at `directory` reaches, see [`Context::load`].
    ///
    /// # Errors
    /// As [`Context::load`].
    pub(crate) fn load(&self, directory: &str) -> Result<SourceTree, Error> {
        self.context.load_sharing(self.files, directory, &self.shared())
    }

    /// What the overlay at `directory` renders.
    ///
    /// # Errors
    /// As [`Context::load`] and [`Context::render`].
    pub(crate) fn build(&self, directory: &str) -> Result<Built, Error> {
        let tree = self.load(directory)?;
        self.context.render(&tree, directory)
    }

    fn shared(&self) -> Arc<SharedSources> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.bytes() > MOST_BYTES {
            mem::take(&mut *shared);
        }
        Arc::clone(&shared)
    }
}
