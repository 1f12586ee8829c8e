//! From the errors of forges and of the bodies of pull requests to the ones that users meet.

use super::{Code, Error, Location, codes};
use crate::forge::ForgeError;

impl From<ForgeError> for Error {
    fn from(error: ForgeError) -> Self {
        let plain = Self::new(code(&error), error.to_string());
        match hint(&error) {
            Some(hint) => plain.hint(hint),
            None => plain,
        }
    }
}

impl Error {
    /// The template of a body that gives none; `file` is where it stands.
    pub fn from_template(file: &str, message: String, line: Option<usize>) -> Self {
        let location = Location { line, ..Location::file(file) };
        Self::new(codes::TEMPLATE_INVALID, message).at(location)
    }
}

fn code(error: &ForgeError) -> Code {
    match error {
        ForgeError::UnknownForge { .. } | ForgeError::Unsupported { .. } => codes::FORGE_UNKNOWN,
        ForgeError::NoRepository { .. } => codes::FORGE_REPOSITORY,
        ForgeError::Malformed { .. } => codes::USAGE,
        ForgeError::NoCredential { .. } | ForgeError::BadKey { .. } => codes::FORGE_CREDENTIAL,
        ForgeError::Unauthorized { .. } => codes::FORGE_AUTHENTICATION,
        ForgeError::Forbidden { .. }
        | ForgeError::NotFound { .. }
        | ForgeError::Refused { .. }
        | ForgeError::NothingBetween { .. } => codes::FORGE_REFUSED,
        ForgeError::RateLimited { .. } => codes::FORGE_RATE_LIMITED,
        ForgeError::Unreachable { .. } | ForgeError::TimedOut { .. } => codes::FORGE_UNREACHABLE,
        ForgeError::Failed { .. } | ForgeError::Unexpected { .. } => codes::FORGE_FAILED,
    }
}

fn hint(error: &ForgeError) -> Option<String> {
    Some(match error {
        ForgeError::UnknownForge { .. } => {
            "name it with --forge KIND --forge-url URL --repo OWNER/NAME".to_owned()
        }
        ForgeError::NoRepository { .. } => "name it with --repo OWNER/NAME".to_owned(),
        ForgeError::NoCredential { variables, .. } => format!("set {variables}"),
        ForgeError::Unauthorized { .. } => "check that the token has not expired".to_owned(),
        ForgeError::Forbidden { .. } => {
            "the token needs the right to write contents and pull requests".to_owned()
        }
        ForgeError::NotFound { .. } => {
            "check the name of the repository, and that the token may see it".to_owned()
        }
        ForgeError::RateLimited { .. } => "allow more with --timeout, or run it later".to_owned(),
        ForgeError::Unreachable { .. } => "check the network and the host name".to_owned(),
        ForgeError::TimedOut { .. } => "allow more with --timeout".to_owned(),
        _ => return None,
    })
}
