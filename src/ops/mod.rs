//! Use cases: one file a command; joins the pure logic and the adapters.
//!
//! A use case takes a [`Context`] and a request and gives a [`crate::report::Report`], or the
//! [`Error`] that ended it. Must not know arguments (`cli`) or terminals (`ui`).

pub mod build;
pub mod input;
pub mod list;
pub mod pin;
pub mod render;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use crate::config::Environment;
use crate::discover::{self, DiskFiles, Located, Place};
use crate::error::Error;
use crate::render::ExternalKustomize;

/// What every use case may need of the world around it.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The directory that paths are relative to, absolute.
    pub cwd: PathBuf,
    /// `--root`: the boundary where there is no git work tree.
    pub root: Option<PathBuf>,
    /// `--kustomize`: the external renderer to use instead of the built-in build.
    pub kustomize: Option<PathBuf>,
    /// `--timeout`: the time that a command may wait for anything outside.
    pub timeout: Option<Duration>,
    /// The process's environment.
    pub environment: Environment,
    external: OnceLock<Result<ExternalKustomize, Error>>,
}

impl Context {
    /// A context that works in `cwd`, an absolute path, with defaults for all else.
    pub fn new(cwd: PathBuf, environment: Environment) -> Self {
        Self { cwd, environment, ..Self::default() }
    }

    /// The directories that the user named, relative to their one boundary, and its files.
    ///
    /// # Errors
    /// Where one of them is not there; see [`discover::locate_directories`].
    pub fn locate_directories(
        &self,
        directories: &[OsString],
    ) -> Result<(DiskFiles, Vec<String>), Error> {
        let place = Place { cwd: &self.cwd, root: self.root.as_deref() };
        Ok(discover::locate_directories(place, directories)?)
    }

    /// The overlays that the user named, and the files below their one boundary.
    ///
    /// # Errors
    /// Where one of them names nothing; see [`discover::locate`].
    pub fn locate(&self, overlays: &[OsString]) -> Result<(DiskFiles, Vec<Located>), Error> {
        let place = Place { cwd: &self.cwd, root: self.root.as_deref() };
        Ok(discover::locate(place, overlays)?)
    }
}
