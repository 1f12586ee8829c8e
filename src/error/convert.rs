//! From the error of each module to the one that users meet: its code and its hints.

use super::{Code, Error, Location, codes};
use crate::discover::DiscoverError;
use crate::hint;
use crate::kustomize::FilesError;
use crate::write::WriteError;

impl From<DiscoverError> for Error {
    fn from(error: DiscoverError) -> Self {
        let plain = Self::new(discover_code(&error), error.to_string());
        match error {
            DiscoverError::NothingThere { typed, siblings } => {
                let name = typed.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                let names = siblings.iter().map(String::as_str);
                with_hint(plain, hint::did_you_mean(name, names))
            }
            DiscoverError::NoKustomization { below, .. } if !below.is_empty() => {
                let shown: Vec<&str> = below.iter().take(5).map(String::as_str).collect();
                plain.hint(format!("overlays below it: {}", shown.join(", ")))
            }
            DiscoverError::NoBoundary { .. } => {
                plain.hint("name the directory that nothing may reach beyond with --root DIR")
            }
            _ => plain,
        }
    }
}

fn discover_code(error: &DiscoverError) -> Code {
    match error {
        DiscoverError::NothingThere { .. }
        | DiscoverError::NoKustomization { .. }
        | DiscoverError::NotAKustomization { .. }
        | DiscoverError::NoMatch { .. } => codes::NO_SUCH_OVERLAY,
        DiscoverError::SeveralKustomizations { .. } => codes::BUILD_BROKEN,
        DiscoverError::BadPattern { .. } => codes::USAGE,
        DiscoverError::NoBoundary { .. } => codes::NO_BOUNDARY,
        DiscoverError::LeavesBoundary { .. } => codes::OUTSIDE_BOUNDARY,
        DiscoverError::SeveralBoundaries { .. } => codes::SEVERAL_BOUNDARIES,
        DiscoverError::NoDirectory { .. } => codes::NO_SUCH_DIRECTORY,
        DiscoverError::NotUtf8 { .. } | DiscoverError::Io { .. } => codes::UNREADABLE_FILE,
    }
}

impl From<FilesError> for Error {
    fn from(error: FilesError) -> Self {
        match error {
            FilesError::Outside { path } => {
                let message = "leaves the repository, which nothing may";
                Self::new(codes::OUTSIDE_BOUNDARY, message).at(Location::file(path))
            }
            FilesError::Unreadable { path, reason } => {
                Self::new(codes::UNREADABLE_FILE, reason).at(Location::file(path))
            }
            FilesError::TooLarge { path, bytes, limit } => {
                let message = format!("{bytes} bytes are more than the {limit} of a source file");
                Self::new(codes::FILE_TOO_LARGE, message).at(Location::file(path))
            }
        }
    }
}

impl From<WriteError> for Error {
    fn from(error: WriteError) -> Self {
        let message = error.to_string();
        match error {
            WriteError::NotOurs { path, reason } => {
                Self::new(codes::OUTSIDE_BOUNDARY, reason).at(Location::file(path))
            }
            WriteError::ChangedMeanwhile { .. } => {
                Self::new(codes::CHANGED_MEANWHILE, message).hint("run the command again")
            }
            WriteError::Failed { .. } => Self::new(codes::WRITE_FAILED, message),
            WriteError::Incomplete { .. } => Self::new(codes::WRITE_INCOMPLETE, message),
        }
    }
}

fn with_hint(error: Error, hint: Option<String>) -> Error {
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
