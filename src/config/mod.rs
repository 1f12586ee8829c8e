//! Settings: environment, `.overlay.yaml` and defaults, in that order below the flags. The only reader of the environment.

mod settings;

use std::ffi::OsString;
use std::path::PathBuf;

pub use settings::{FILE_NAME, KEYS, Settings, SettingsError};

/// What the program takes from its environment, read once.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// `CLICOLOR_FORCE` is set and neither empty nor `0`.
    pub force_color: bool,
    /// `TERM` is `dumb`.
    pub dumb_terminal: bool,
    /// `PATH`, by which programs are found.
    pub path: Option<OsString>,
    /// `HOME`.
    pub home: Option<PathBuf>,
}

impl Environment {
    /// Reads the process's environment.
    pub fn read() -> Self {
        let filled = |name| variable(name).filter(|value| !value.is_empty());
        Self {
            no_color: filled("NO_COLOR").is_some(),
            force_color: filled("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
            dumb_terminal: filled("TERM").is_some_and(|value| value == "dumb"),
            path: variable("PATH"),
            home: filled("HOME").map(PathBuf::from),
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the one place")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
