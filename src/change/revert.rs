//! The intent to go back to what an overlay was.

use super::Hold;
use super::components::allows_removal;
use crate::kustomize::{ResourceId, ResourceName};

/// Overlays become again what they were at a commit, by a change of now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revert {
    /// Where each overlay goes back to.
    pub targets: Vec<RevertTarget>,
    /// What of it comes back.
    pub restored: Restored,
    /// `KIND/NAME` of objects with data that may leave the render.
    pub allowed_removals: Vec<String>,
    /// What is there only then or only now may be left as it is.
    pub allow_missing: bool,
    /// A database may get an older major version.
    pub allow_downgrade: bool,
    /// A digest of all zeros may be replaced.
    pub replace_placeholder: bool,
    /// A digest of all zeros may come back.
    pub allow_placeholder: bool,
    /// An image may come back that the registry no longer has.
    pub allow_gone: bool,
    /// What is not committed may be written over.
    pub overwrite: bool,
    /// A hold that is put along with it.
    pub hold: Option<Hold>,
}

/// Where one overlay goes back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevertTarget {
    /// Its directory relative to the boundary.
    pub directory: String,
    /// The full name of the commit.
    pub commit: String,
}

/// What comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restored {
    /// The overlay's own files, whole.
    Files,
    /// Image pins alone.
    Pins,
    /// Fields of one resource: paths as typed.
    Fields(ResourceName, Vec<String>),
}

impl Restored {
    /// The word in the record of a commit.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Pins => "pins",
            Self::Fields(..) => "fields",
        }
    }
}

impl Revert {
    /// Where the overlay at `directory` goes back to.
    #[must_use]
    pub fn target(&self, directory: &str) -> Option<&RevertTarget> {
        self.targets.iter().find(|target| target.directory == directory)
    }

    /// Whether the object may leave the render.
    #[must_use]
    pub fn allows_removal(&self, id: &ResourceId) -> bool {
        allows_removal(&self.allowed_removals, id)
    }
}
