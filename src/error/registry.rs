//! From the errors of registries to the ones that users meet.

use super::{Code, Error, codes};
use crate::registry::RegistryError;
use crate::shell;

impl From<RegistryError> for Error {
    fn from(error: RegistryError) -> Self {
        let plain = Self::new(code(&error), error.to_string());
        match hint(&error) {
            Some(hint) => plain.hint(hint),
            None => plain,
        }
    }
}

fn code(error: &RegistryError) -> Code {
    match error {
        RegistryError::NotFound { .. } => codes::IMAGE_NOT_FOUND,
        RegistryError::NoPlatform { .. } | RegistryError::SeveralPlatforms { .. } => {
            codes::NO_SUCH_PLATFORM
        }
        RegistryError::NotAnImage { .. } => codes::NOT_AN_IMAGE,
        RegistryError::LoginNeeded { .. } => codes::LOGIN_NEEDED,
        RegistryError::LoginRefused { .. } => codes::LOGIN_REFUSED,
        RegistryError::Denied { .. } => codes::IMAGE_DENIED,
        RegistryError::Credentials { .. } => codes::REGISTRY_CREDENTIALS,
        RegistryError::Contradiction { .. } => codes::REGISTRY_CONTRADICTION,
        RegistryError::Busy { .. } => codes::REGISTRY_BUSY,
        RegistryError::Unusual { .. } => codes::REGISTRY_FAILED,
        RegistryError::NoAnswer { .. } => codes::REGISTRY_UNREACHABLE,
        RegistryError::NotLocked { .. } => codes::IMAGE_NOT_LOCKED,
        RegistryError::Signature { .. } => codes::SIGNATURE_REFUSED,
    }
}

fn hint(error: &RegistryError) -> Option<String> {
    match error {
        RegistryError::LoginNeeded { host, .. } => Some(format!(
            "`docker login {0}` or `podman login {0}`; registries also ask for a login where there is no such repository",
            shell::word(host)
        )),
        RegistryError::LoginRefused { host, .. } => {
            Some(format!("`docker login {}` again", shell::word(host)))
        }
        RegistryError::Busy { .. } => Some(
            "wait, log in (most registries allow more then), or name a mirror with --mirror"
                .to_owned(),
        ),
        RegistryError::NotLocked { .. } => {
            Some("resolve it once with --write-lock, where there is network".to_owned())
        }
        RegistryError::SeveralPlatforms { .. } => Some("name the variant too".to_owned()),
        _ => None,
    }
}
