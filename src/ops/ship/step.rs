//! What a step came to.

use serde_json::Value as Json;

use crate::error::{Error, codes};
use crate::ship::{Blame, Ending, blame};

/// A step that was taken.
pub(super) struct Done {
    pub(super) ending: Ending,
    /// What a person reads.
    pub(super) summary: String,
    /// What it came to, in the form of the command that does the same.
    pub(super) detail: Json,
}

impl Done {
    pub(super) fn new(ending: Ending, summary: impl Into<String>, detail: Json) -> Self {
        Self { ending, summary: summary.into(), detail }
    }

    pub(super) fn skipped(summary: &str) -> Self {
        Self::new(Ending::Skipped, summary, Json::Null)
    }
}

/// A step that failed, with what it came to by then.
pub(super) struct Failed {
    pub(super) error: Error,
    pub(super) detail: Json,
    pub(super) blame: Blame,
}

impl Failed {
    pub(super) fn new(error: Error, detail: Json) -> Self {
        let blame = blame(error.code().name());
        Self { error, detail, blame }
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::new(error, Json::Null)
    }
}

impl From<crate::git::GitError> for Failed {
    fn from(error: crate::git::GitError) -> Self {
        Error::from(error).into()
    }
}

/// What cannot be: a step whose predecessor left nothing to go on with.
pub(super) fn nothing_found() -> Failed {
    Error::new(codes::INTERNAL, "internal error: a step without the one before it").into()
}
