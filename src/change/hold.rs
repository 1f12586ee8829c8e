//! The intent to refuse edits of an overlay for a time.

/// The name of the file that says so, beside the kustomization.
pub const HOLD_FILE: &str = "overlay-hold.yaml";

/// The form of the file that this version reads and writes.
pub const HOLD_VERSION: u32 = 1;

/// Edits that a hold refuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HoldScope {
    /// All.
    #[default]
    All,
    /// Those that move an image.
    Pins,
}

impl HoldScope {
    /// Every scope.
    pub const ALL: [Self; 2] = [Self::All, Self::Pins];

    /// The word in the file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Pins => "pins",
        }
    }

    /// The scope of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.word() == word)
    }
}

/// A hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// When it ends, RFC 3339.
    pub until: String,
    /// Why it stands.
    pub reason: String,
    /// Who put it.
    pub by: String,
    /// What it refuses.
    pub scope: HoldScope,
}

/// A hold is put, or taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetHold {
    /// It stands from now on, in place of one that stood.
    Put(Hold),
    /// None stands from now on.
    Release,
}
