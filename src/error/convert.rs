//! From the error of each module to the one that users meet: its code and its hints.

use super::{Code, Error, Location, codes};
use crate::config::{KEYS, SettingsError};
use crate::discover::DiscoverError;
use crate::helm::HelmError;
use crate::hint;
use crate::kustomize::{
    BuildError, BuildErrorKind, FilesError, LEADS_OUT, LoadError, NEVER_FOLLOWED,
};
use crate::process::ProcessError;
use crate::render::RenderError;
use crate::write::WriteError;

impl From<DiscoverError> for Error {
    fn from(error: DiscoverError) -> Self {
        let plain = Self::new(discover_code(&error), error.to_string());
        match error {
            DiscoverError::NothingThere { typed, siblings } => {
                let typed = typed.trim_end_matches('/');
                let (beside, name) = typed.split_at(typed.rfind('/').map_or(0, |at| at + 1));
                let near = hint::nearest(name, siblings.iter().map(String::as_str), 3);
                let paths: Vec<String> = near.iter().map(|n| format!("{beside}{n}")).collect();
                with_hint(plain, hint::question(&paths))
            }
            DiscoverError::NoKustomization { typed, below } if !below.is_empty() => {
                let top = typed.trim_end_matches('/');
                let paths: Vec<String> =
                    below.iter().take(5).map(|name| format!("{top}/{name}")).collect();
                plain.hint(format!("overlays below it: {}", paths.join(", ")))
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
        DiscoverError::NotUtf8 { .. }
        | DiscoverError::Io { .. }
        | DiscoverError::TooMany { .. } => codes::UNREADABLE_FILE,
    }
}

impl From<FilesError> for Error {
    fn from(error: FilesError) -> Self {
        match error {
            FilesError::Outside { path } => {
                Self::new(codes::OUTSIDE_BOUNDARY, LEADS_OUT).at(Location::file(path))
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

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Self {
        let message = error.to_string();
        match error {
            LoadError::Files(error) => error.into(),
            LoadError::NotADirectory { .. } => Self::new(codes::NO_SUCH_OVERLAY, message),
            LoadError::TooMuch { .. } => Self::new(codes::BUILD_BROKEN, message),
        }
    }
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        let plain = match &error.kind {
            BuildErrorKind::Unsupported { field } if CHART_FIELDS.contains(&&**field) => {
                let message = format!("{field}: charts are inflated only where that is asked for");
                Self::new(codes::NOT_BUILDABLE, message)
                    .hint("--enable-helm lets the program helm inflate them")
            }
            BuildErrorKind::Unsupported { field } if is_of_charts(field) => {
                Self::new(codes::NOT_BUILDABLE, &*error.message)
            }
            BuildErrorKind::Unsupported { field } => {
                let message = format!("{field}: the built-in build does not do this");
                Self::new(codes::NOT_BUILDABLE, message)
                    .hint("install kustomize 5, or name one with --kustomize PATH")
            }
            BuildErrorKind::Charts(_) => Self::new(codes::NOT_BUILDABLE, &*error.message),
            _ => Self::new(codes::BUILD_BROKEN, &*error.message),
        };
        let placed = match (error.file.is_empty(), error.line) {
            (true, _) => plain,
            (false, 0) => plain.at(Location::file(error.file)),
            (false, line) => plain.at(Location {
                file: error.file,
                line: usize::try_from(line).ok(),
                column: usize::try_from(error.column).ok().filter(|column| *column > 0),
            }),
        };
        error.context.into_iter().rev().fold(placed, Self::cause)
    }
}

/// The fields and the kind of generator that name charts.
const CHART_FIELDS: [&str; 3] =
    ["helmCharts", "helmChartInflationGenerator", "HelmChartInflationGenerator"];

/// Whether what cannot be built is there for charts: no other program is ever asked to do it.
pub(crate) fn is_of_charts(field: &str) -> bool {
    CHART_FIELDS.contains(&field) || NEVER_FOLLOWED.contains(&field)
}

impl From<HelmError> for Error {
    fn from(error: HelmError) -> Self {
        let message = error.to_string();
        match error {
            HelmError::NoProgram { .. } | HelmError::OtherVersion { .. } => {
                Self::new(codes::HELM_MISSING, message)
            }
            HelmError::Failed { details, .. } => {
                details.into_iter().fold(Self::new(codes::BUILD_BROKEN, message), Self::cause)
            }
            HelmError::Offline | HelmError::BadChart { .. } => {
                Self::new(codes::REMOTE_BASE, message)
            }
            HelmError::Process(_) | HelmError::Ended { .. } | HelmError::Io { .. } => {
                Self::new(codes::RENDERER_FAILED, message)
            }
        }
    }
}

impl From<RenderError> for Error {
    fn from(error: RenderError) -> Self {
        let message = error.to_string();
        match error {
            RenderError::NoProgram
            | RenderError::NotKustomize { .. }
            | RenderError::TooOld { .. }
            | RenderError::Process(ProcessError::NotStarted { .. }) => {
                Self::new(codes::RENDERER_MISSING, message)
            }
            RenderError::NotAllowed => Self::new(codes::NOT_BUILDABLE, message),
            RenderError::Remote { file, line, .. } => {
                let line = usize::try_from(line).ok().filter(|line| *line > 0);
                let location = Location { file, line, column: None };
                Self::new(codes::REMOTE_BASE, message).at(location)
            }
            RenderError::Refused { details, file, line, .. } => {
                let plain = Self::new(codes::BUILD_BROKEN, message);
                let placed = match file {
                    Some(file) => plain.at(Location { file, line, column: None }),
                    None => plain,
                };
                details.into_iter().fold(placed, Self::cause)
            }
            RenderError::Process(_) | RenderError::Copy(_) => {
                Self::new(codes::RENDERER_FAILED, message)
            }
        }
    }
}

impl Error {
    /// What is wrong with the settings file `name`.
    pub fn from_settings(name: &str, error: SettingsError) -> Self {
        let location = Location::at(name, error.line, error.column);
        let plain = Self::new(codes::CONFIG_INVALID, error.message).at(location);
        let suggestion = error.unknown_key.and_then(|key| hint::did_you_mean(&key, KEYS));
        with_hint(plain, suggestion)
    }
}

fn with_hint(error: Error, hint: Option<String>) -> Error {
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
