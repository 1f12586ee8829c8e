//! Why a registry gave no digest. No sentence holds a credential, nor what a server says beyond its error's code.

use std::time::Duration;

use crate::clock;
use crate::http::{HttpError, Response, retry_after};

/// Why an image has no digest that may be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// No such tag, digest or repository, or none for this user: registries do not tell these apart.
    #[error("{reference}: {host} has no such image")]
    NotFound {
        /// What was asked for.
        reference: String,
        /// Who answered.
        host: String,
    },
    /// An image for other platforms.
    #[error("{reference}: no image for {wanted}; there is {}", among(.available))]
    NoPlatform {
        /// What was asked for.
        reference: String,
        /// The platform.
        wanted: String,
        /// Those that it has.
        available: Vec<String>,
    },
    /// Several images for one platform, told apart by their variants.
    #[error("{reference}: several images for {wanted}: {}", .available.join(", "))]
    SeveralPlatforms {
        /// What was asked for.
        reference: String,
        /// The platform.
        wanted: String,
        /// Those that fit.
        available: Vec<String>,
    },
    /// What stands there is no image that can be pinned.
    #[error("{reference}: {what}, which is no image that can be pinned")]
    NotAnImage {
        /// What was asked for.
        reference: String,
        /// What it is.
        what: String,
    },
    /// The registry wants to know who asks, and nothing says.
    #[error("{reference}: {host} asks for a login, and there is none for it ({looked})")]
    LoginNeeded {
        /// What was asked for.
        reference: String,
        /// Who asks.
        host: String,
        /// Where a credential was looked for.
        looked: String,
    },
    /// The credential is wrong or has expired.
    #[error("{reference}: {host} does not accept the login from {origin}")]
    LoginRefused {
        /// What was asked for.
        reference: String,
        /// Who refuses.
        host: String,
        /// Where the credential comes from.
        origin: String,
    },
    /// The one who asks may not read it.
    #[error("{reference}: {host} does not let {who} read it")]
    Denied {
        /// What was asked for.
        reference: String,
        /// Who refuses.
        host: String,
        /// `anybody`, or where the credential comes from.
        who: String,
    },
    /// The user's configuration of registries, or one of its helpers, cannot be used.
    #[error("{origin}: {why}")]
    Credentials {
        /// The file or program.
        origin: String,
        /// What is wrong.
        why: String,
    },
    /// What was read is not what it is said to be.
    #[error("{reference}: {host} contradicts itself: {why}")]
    Contradiction {
        /// What was asked for.
        reference: String,
        /// Who answered.
        host: String,
        /// What does not fit.
        why: String,
    },
    /// Too many requests.
    #[error("{reference}: {host} is asked too often (status 429){}", wait(.retry_after))]
    Busy {
        /// What was asked for.
        reference: String,
        /// Who says so.
        host: String,
        /// How many seconds it asks to wait.
        retry_after: Option<u64>,
    },
    /// Any other answer.
    #[error("{reference}: {host} answers with {what}")]
    Unusual {
        /// What was asked for.
        reference: String,
        /// Who answered.
        host: String,
        /// Status and error code.
        what: String,
    },
    /// No answer.
    #[error("{reference}: {source}")]
    NoAnswer {
        /// What was asked for.
        reference: String,
        /// Why not.
        source: HttpError,
    },
    /// The lock file has no such image.
    #[error("{reference}: {file} has no digest for it")]
    NotLocked {
        /// What was asked for.
        reference: String,
        /// The lock file.
        file: String,
    },
    /// A signature is missing or wrong.
    #[error("{reference}: {why}")]
    Signature {
        /// The image.
        reference: String,
        /// What is wrong.
        why: String,
    },
}

impl RegistryError {
    /// No answer; a host that was not asked because it wants to be left alone is busy.
    pub(super) fn unanswered(reference: &str, host: &str, source: HttpError) -> Self {
        let reference = reference.to_owned();
        match source {
            HttpError::Paused { left, .. } => {
                let retry_after = Some(left.as_secs().max(1));
                Self::Busy { reference, host: host.to_owned(), retry_after }
            }
            source => Self::NoAnswer { reference, source },
        }
    }

    /// An answer of `host` that asks for fewer requests.
    pub(super) fn busy(reference: &str, host: &str, response: &Response) -> Self {
        let wait = retry_after(response, clock::now_unix());
        Self::Busy {
            reference: reference.to_owned(),
            host: host.to_owned(),
            retry_after: wait.as_ref().map(Duration::as_secs),
        }
    }
}

fn among(available: &[String]) -> String {
    if available.is_empty() { "none".to_owned() } else { available.join(", ") }
}

fn wait(seconds: &Option<u64>) -> String {
    seconds.map(|seconds| format!(" and asks to wait {seconds} s")).unwrap_or_default()
}
