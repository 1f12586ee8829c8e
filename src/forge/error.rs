//! Why a forge does not do what is asked.

use std::time::Duration;

/// Why a forge does not do what is asked. No text of it holds a credential.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForgeError {
    /// Neither flags nor environment nor the remote say which forge it is.
    #[error("which forge has the pull requests of {remote} is not known")]
    UnknownForge {
        /// The remote, without credentials.
        remote: String,
    },
    /// This program does not speak to forges of that kind.
    #[error("pull requests on {kind} are not supported")]
    Unsupported {
        /// The kind.
        kind: &'static str,
    },
    /// The repository is named neither by a flag nor by the remote.
    #[error("which repository of {host} is meant is not known: {remote} does not say")]
    NoRepository {
        /// The forge.
        host: String,
        /// The remote, without credentials.
        remote: String,
    },
    /// A text that is not of the form that it must have.
    #[error("{what} is not {wanted}: `{given}`")]
    Malformed {
        /// What it is for: a flag or a variable.
        what: &'static str,
        /// What it has to be.
        wanted: &'static str,
        /// What it is; never a secret.
        given: String,
    },
    /// No variable holds a credential.
    #[error("there is no credential for {host}")]
    NoCredential {
        /// The forge.
        host: String,
        /// The variables that may hold one.
        variables: &'static str,
    },
    /// The private key of an App cannot be used.
    #[error("GITHUB_APP_PRIVATE_KEY is no RSA private key in PEM form: {reason}")]
    BadKey {
        /// Why.
        reason: String,
    },
    /// The credential is not taken.
    #[error("{host} does not take the credential: {message}")]
    Unauthorized {
        /// The forge.
        host: String,
        /// Its words.
        message: String,
    },
    /// The credential may not do that.
    #[error("{host} does not allow to {action}: {message}")]
    Forbidden {
        /// The forge.
        host: String,
        /// What was tried.
        action: String,
        /// Its words.
        message: String,
    },
    /// There is no such thing, or it is hidden from this account.
    #[error("{host} does not know {what}, or hides it from this account")]
    NotFound {
        /// The forge.
        host: String,
        /// What was asked for.
        what: String,
    },
    /// The forge understands and refuses.
    #[error("{host} refuses to {action}: {message}")]
    Refused {
        /// The forge.
        host: String,
        /// What was tried.
        action: String,
        /// Its words.
        message: String,
    },
    /// The branch has nothing that its base has not.
    #[error("`{head}` has no commit that `{base}` has not")]
    NothingBetween {
        /// The branch.
        head: String,
        /// The base branch.
        base: String,
    },
    /// The limit of requests is reached, and it ends later than the command may wait.
    #[error("the limit of requests to {host} is reached; it ends in {} s", wait.as_secs())]
    RateLimited {
        /// The forge.
        host: String,
        /// How long from now.
        wait: Duration,
    },
    /// Nobody answers.
    #[error("{host} cannot be reached: {message}")]
    Unreachable {
        /// The forge.
        host: String,
        /// Why.
        message: String,
    },
    /// The forge is at fault.
    #[error("{host} failed to {action}: status {status}")]
    Failed {
        /// The forge.
        host: String,
        /// What was tried.
        action: String,
        /// The status of HTTP.
        status: u16,
    },
    /// The answer is none that the forge's own description knows.
    #[error("the answer of {host} to {action} cannot be read: {reason}")]
    Unexpected {
        /// The forge.
        host: String,
        /// What was tried.
        action: String,
        /// Why.
        reason: String,
    },
    /// The time allowed is over.
    #[error("{host} did not answer in the time allowed")]
    TimedOut {
        /// The forge.
        host: String,
    },
}

impl ForgeError {
    /// Whether the request may have been carried out all the same.
    pub fn is_ambiguous(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Failed { .. } | Self::Unexpected { .. })
    }
}
