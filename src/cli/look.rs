//! The commands that look and change nothing: `list`, `build`.

use std::ffi::OsString;

use clap::Args;

use super::options::OverlayArgs;

/// List every overlay, base and component, with who uses whom.
#[derive(Clone, Debug, Args)]
pub(crate) struct ListArgs {
    /// List what is below DIR; the current directory if none is given.
    #[arg(value_name = "DIR")]
    directories: Vec<OsString>,
}

impl ListArgs {
    /// Where to look.
    pub(crate) fn directories(&self) -> Vec<OsString> {
        match self.directories.is_empty() {
            true => vec![".".into()],
            false => self.directories.clone(),
        }
    }
}

/// Print the rendered resources, byte for byte what kustomize prints.
#[derive(Clone, Debug, Args)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    overlays: OverlayArgs,
}

impl BuildArgs {
    /// What to build.
    pub(crate) fn overlays(&self) -> Vec<OsString> {
        self.overlays.all()
    }
}
