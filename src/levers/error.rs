//! Why a change of a lever is not made.

use crate::change::Wish;

/// The kinds of refusals; each has its own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeverErrorKind {
    /// A name that nothing rendered has.
    NoSuchResource,
    /// A group that the repository does not have.
    NoSuchGroup,
    /// A name that several have.
    Ambiguous,
    /// Something of that name which the command does not act on.
    WrongKind,
    /// A path that leads nowhere, or is none.
    NoSuchField,
    /// A number that an autoscaler owns.
    OwnedByAutoscaler,
    /// A workload that is held at 0.
    HeldOff,
    /// An image that is not pinned.
    Unpinned,
    /// A value that is well formed and not allowed.
    NotAllowed,
    /// A malformed value.
    Malformed,
    /// A drain that nothing states.
    DrainUnknown,
    /// Several places that state the drain.
    DrainAmbiguous,
    /// A drain that would become shorter.
    Shortens,
    /// A grace below the drain.
    GraceTooShort,
    /// Two values for one field.
    Contradiction,
}

/// One refusal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LeverError {
    /// Its kind.
    pub kind: LeverErrorKind,
    /// One sentence.
    pub message: String,
    /// Advice.
    pub hints: Vec<String>,
}

impl LeverError {
    pub(super) fn contradiction(one: &Wish, other: &Wish) -> Self {
        let value = |wish: &Wish| match &wish.value {
            Some(_) if wish.resource.is_secret() => "a secret".to_owned(),
            Some(value) => value.to_string(),
            None => "nothing".to_owned(),
        };
        let message =
            format!("{}: both {} and {} are asked for", one.shown(), value(one), value(other));
        Self::new(LeverErrorKind::Contradiction, message)
    }

    pub(super) fn new(kind: LeverErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new() }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}
