//! Counting what of an endpoint's answers is no success: what was expected, why a try failed, and what many tries come to.
//!
//! Must not send anything, nor know the time: `ops::probe` does.

mod expect;
mod tally;
mod timeline;
mod times;
mod words;

pub use expect::Expect;
pub use tally::Tally;
pub use timeline::Bucket;
pub use times::Latency;
pub use words::split_words;

use std::time::Duration;

use crate::http::{HttpError, NOBODY_LISTENS};

/// One try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Try {
    /// Which of the tries, from 0: it was due at this many intervals after the start.
    pub number: u64,
    /// When it began, after the start.
    pub at: Duration,
    /// How long it took.
    pub took: Duration,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// An answer with a status that was expected.
    Success {
        /// The status.
        status: u16,
    },
    /// Anything else.
    Failure {
        /// Of which kind.
        cause: Cause,
        /// In words.
        message: String,
    },
}

impl Outcome {
    /// Judges an answer.
    pub fn of(answer: Result<u16, HttpError>, expect: &Expect) -> Self {
        match answer {
            Ok(status) if expect.holds(status) => Self::Success { status },
            Ok(status) => {
                let message = format!("status {status}, expected {expect}");
                Self::Failure { cause: Cause::Status(status), message }
            }
            Err(error) => Self::Failure { cause: Cause::of(&error), message: error.to_string() },
        }
    }

    /// Whether it is a success.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Success { .. })
    }
}

/// Why a try failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The host's name was not found.
    Dns,
    /// Nobody listens there.
    Refused,
    /// There is no way there.
    Unreachable,
    /// The connection broke, before the answer or in it.
    Reset,
    /// No whole answer in time.
    Timeout,
    /// No secure connection: the certificate, or no TLS at all.
    Tls,
    /// An answer that is no HTTP, or too large.
    Protocol,
    /// A status that was not expected.
    Status(u16),
}

impl Cause {
    fn of(error: &HttpError) -> Self {
        match error {
            HttpError::NoHost { .. } => Self::Dns,
            HttpError::Unreachable { why, .. } if why == NOBODY_LISTENS => Self::Refused,
            HttpError::Unreachable { .. } => Self::Unreachable,
            HttpError::Broken { .. } => Self::Reset,
            HttpError::TimedOut { .. } => Self::Timeout,
            HttpError::Tls { .. } | HttpError::Roots { .. } => Self::Tls,
            _ => Self::Protocol,
        }
    }

    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Refused => "refused",
            Self::Unreachable => "unreachable",
            Self::Reset => "reset",
            Self::Timeout => "timeout",
            Self::Tls => "tls",
            Self::Protocol => "protocol",
            Self::Status(_) => "status",
        }
    }

    /// The status, where that is the cause.
    pub fn status(self) -> Option<u16> {
        match self {
            Self::Status(status) => Some(status),
            _ => None,
        }
    }
}
