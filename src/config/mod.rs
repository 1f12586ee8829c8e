//! Settings: environment, `.overlay.yaml` and defaults, in that order below the flags. The only reader of the environment.

mod checks;
mod drain;
mod groups;
mod settings;
mod verify;
mod waves;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

pub use checks::CHECK_KEYS;
pub use drain::{DRAIN_KEYS, ORDER_KEYS, PAIR_KEYS};
pub use groups::{GROUP_KEYS, GroupSetting};
pub use settings::{FILE_NAME, KEYS, Settings, SettingsError};
pub use verify::{LOG_KEYS, QUERY_KEYS, VERIFY_KEYS};
pub use waves::WaveSetting;

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
    /// Every variable, for programs that the user configures by them (git, SSH, proxies).
    pub variables: Vec<(OsString, OsString)>,
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
            variables: all_variables(),
        }
    }

    /// The value of the variable `name`, where it is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        let mut all = self.variables.iter();
        let found = all.find(|(known, value)| known == name && !value.is_empty());
        found.map(|(_, value)| value.as_os_str())
    }

    /// The directory for what may be fetched again: `OVERLAY_CACHE_DIR`, else `overlay` in `XDG_CACHE_HOME` or `~/.cache`.
    pub fn cache_dir(&self) -> Option<PathBuf> {
        let find = |wanted| self.variable(wanted).map(PathBuf::from);
        let xdg = || find("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        let home = || self.home.as_ref().map(|home| home.join(".cache"));
        find("OVERLAY_CACHE_DIR").or_else(|| Some(xdg().or_else(home)?.join("overlay")))
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the one place")]
fn all_variables() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

#[allow(clippy::disallowed_methods, reason = "this is the one place")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
