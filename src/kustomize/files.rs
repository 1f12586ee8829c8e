//! The port through which a build reads: one version of a repository below its boundary.
//!
//! Implemented by `discover` (a directory on disk) and by `git` (any revision). Paths are relative
//! to the boundary, separated by `/`, normalised, without a leading `./`; the boundary itself is
//! the empty string.

use std::sync::Arc;

/// What stands at a path, with symbolic links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A regular file; `real` is its path after all links.
    File {
        /// The path after all symbolic links.
        real: String,
    },
    /// A directory; `real` is its path after all links.
    Directory {
        /// The path after all symbolic links.
        real: String,
    },
}

/// What is said of a path or link that leads out of the boundary.
pub const LEADS_OUT: &str = "leads out of the boundary, beyond which nothing is read or written";

/// Why a path could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    /// The path, or a link on the way, leaves the boundary.
    #[error("{path}: {LEADS_OUT}")]
    Outside {
        /// The path as asked for.
        path: String,
    },
    /// A loop of links, a device, a socket, or a link that leads nowhere.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The path as asked for.
        path: String,
        /// In words.
        reason: String,
    },
    /// Larger than a source file may be.
    #[error("{path}: {bytes} bytes are more than the {limit} that a source file may have")]
    TooLarge {
        /// The path as asked for.
        path: String,
        /// Its size.
        bytes: u64,
        /// The limit, in bytes.
        limit: u64,
    },
}

/// Read access to one version of a repository.
pub trait Files: Sync {
    /// What stands at `path` after all symbolic links, or `None`.
    ///
    /// # Errors
    /// [`FilesError`] where the path leaves the boundary or cannot be followed.
    fn entry(&self, path: &str) -> Result<Option<Entry>, FilesError>;

    /// The bytes of the file at `path`, links followed.
    ///
    /// # Errors
    /// [`FilesError`] as for [`Files::entry`]; a missing file is [`FilesError::Unreadable`].
    fn read(&self, path: &str) -> Result<Arc<[u8]>, FilesError>;

    /// The names of what stands in the directory at `path`, links to it followed, in order.
    ///
    /// # Errors
    /// [`FilesError`] as for [`Files::entry`]; what is no directory is [`FilesError::Unreadable`], and so
    /// is one that holds a name that is not UTF-8.
    fn list(&self, path: &str) -> Result<Vec<String>, FilesError>;
}
