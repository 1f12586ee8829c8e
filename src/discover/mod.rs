//! Overlays on disk: the [`crate::kustomize::Files`] port over a directory tree, and the boundary that nothing reaches beyond.
//!
//! [`locate`] turns what the user typed into [`Located`] overlays of one boundary; [`DiskFiles`]
//! reads below that boundary. Must not know what a kustomization means beyond its file names.

mod boundary;
mod disk;
mod find;
mod locate;
mod manifests;
mod pattern;

use std::path::PathBuf;

pub use boundary::find_work_tree;
pub use disk::{DiskFiles, FILE_LIMIT};
pub use find::{FoundKustomizations, find_kustomizations, kustomization_text};
pub use locate::{
    KUSTOMIZATION_NAMES, Located, Place, locate, locate_directories, shown_directory,
};
pub use manifests::find_manifests;

/// What was typed, fit to begin a sentence.
fn named(typed: &str) -> &str {
    if typed.is_empty() { "an empty path" } else { typed }
}

/// Why what the user typed names no overlay.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    /// Nothing stands at that path.
    #[error("{}: there is no such file or directory", named(typed))]
    NothingThere {
        /// As typed.
        typed: String,
        /// Names of overlays beside it.
        siblings: Vec<String>,
    },
    /// A directory without a kustomization file.
    #[error("{typed}: the directory holds no kustomization file")]
    NoKustomization {
        /// As typed.
        typed: String,
        /// Overlays directly below it.
        below: Vec<String>,
    },
    /// A directory with more than one kustomization file.
    #[error("{typed}: the directory holds more than one kustomization file: {}", names.join(", "))]
    SeveralKustomizations {
        /// As typed.
        typed: String,
        /// The files.
        names: Vec<String>,
    },
    /// A file that is no kustomization file.
    #[error("{typed}: no kustomization file; those are named {}", KUSTOMIZATION_NAMES.join(", "))]
    NotAKustomization {
        /// As typed.
        typed: String,
    },
    /// A pattern that matches no overlay.
    #[error("{pattern}: no directory with a kustomization file matches")]
    NoMatch {
        /// As typed.
        pattern: String,
    },
    /// A pattern that cannot be read.
    #[error("{pattern}: {reason}")]
    BadPattern {
        /// As typed.
        pattern: String,
        /// In words.
        reason: String,
    },
    /// In no git work tree, and neither below `--root` nor below the current directory.
    #[error("{typed}: in no git work tree, and not below {base}")]
    NoBoundary {
        /// As typed.
        typed: String,
        /// `--root DIR` or `the current directory`.
        base: String,
    },
    /// A link that leaves the repository it stands in.
    #[error("{typed}: leads out of the boundary, beyond which nothing is read or written")]
    LeavesBoundary {
        /// As typed.
        typed: String,
    },
    /// Overlays of different repositories.
    #[error("{first} and {second} belong to different repositories")]
    SeveralBoundaries {
        /// The first overlay, as typed.
        first: String,
        /// One of another repository, as typed.
        second: String,
    },
    /// A name that is not UTF-8.
    #[error("{shown}: the name is not UTF-8")]
    NotUtf8 {
        /// The name with the wrong bytes replaced.
        shown: String,
    },
    /// A repository with more directories than can be looked into.
    #[error("the repository has more than {limit} directories")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// A directory named by an option does not exist.
    #[error("{}: no such directory", path.display())]
    NoDirectory {
        /// The path.
        path: PathBuf,
    },
    /// The operating system says no.
    #[error("{path}: {source}")]
    Io {
        /// As typed.
        path: String,
        /// What it says.
        source: std::io::Error,
    },
}
