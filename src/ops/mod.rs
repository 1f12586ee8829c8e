//! Use cases: one file a command; joins the pure logic and the adapters.
//!
//! A use case takes a [`Context`] and a request and gives a [`crate::report::Report`], or the
//! [`Error`] that ended it. Must not know arguments (`cli`) or terminals (`ui`).

#[cfg(feature = "git")]
pub mod affected;
pub mod baseline;
pub mod build;
#[cfg(feature = "git")]
pub mod bump;
pub mod capacity;
mod change;
mod charts;
pub mod check;
mod check_pins;
pub mod cluster;
pub mod deliver;
#[cfg(feature = "git")]
pub mod diff;
#[cfg(feature = "registry")]
pub mod digests;
pub mod doctor;
pub mod drain_plan;
pub mod edit;
mod elsewhere;
#[cfg(feature = "git")]
pub mod ends;
pub mod explain;
#[cfg(feature = "git")]
pub mod history;
#[cfg(feature = "git")]
pub mod hold;
pub mod images;
pub mod input;
mod inside;
pub mod list;
#[cfg(feature = "git")]
pub mod lock;
pub mod names;
mod overlay;
pub mod parallel;
pub mod pin;
pub mod preflight;
#[cfg(feature = "http")]
pub mod probe;
pub mod promote;
#[cfg(feature = "registry")]
mod registry_checks;
mod remote;
#[cfg(feature = "git")]
mod remote_bases;
pub mod render;
#[cfg(feature = "git")]
pub mod revert;
#[cfg(feature = "git")]
mod revision;
#[cfg(all(feature = "forge", feature = "argocd"))]
pub mod ship;
pub mod show;
#[cfg(feature = "trust")]
pub mod trust;
pub mod verify;
mod version;
#[cfg(feature = "argocd")]
pub mod wait;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use crate::change::{Group, Groups};
use crate::config::{self, Environment, GroupSetting, Settings};
use crate::discover::{self, DiskFiles, Located, Place};
use crate::error::{Error, Location, codes};
use crate::kustomize::{Entry, Files as _, LEADS_OUT, ResourceName};
use crate::render::ExternalKustomize;
use crate::shell::Here;

/// What every use case may need of the world around it.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The directory that paths are relative to, absolute.
    pub cwd: PathBuf,
    /// The directory that the program was started in, absolute: where printed commands are pasted.
    pub started_in: PathBuf,
    /// `--root`: the boundary where there is no git work tree.
    pub root: Option<PathBuf>,
    /// `--kustomize`: the external renderer to use instead of the built-in build.
    pub kustomize: Option<PathBuf>,
    /// `--timeout`: the time that a command may wait for anything outside.
    pub timeout: Option<Duration>,
    /// `--config`: the file with the settings.
    pub config: Option<PathBuf>,
    /// The process's environment.
    pub environment: Environment,
    /// `--override-hold`: overlays are edited though they are held.
    pub override_hold: bool,
    /// `--offline`: remote bases and charts come from the cache alone.
    pub offline: bool,
    /// `--enable-helm`: the built-in build may call helm for charts.
    pub enable_helm: bool,
    /// Who is told how far long work has gone.
    pub progress: Option<std::sync::Arc<dyn parallel::Progress>>,
    #[cfg(feature = "registry")]
    digests: OnceLock<std::sync::Arc<digests::Digests>>,
    #[cfg(feature = "git")]
    remotes: std::sync::Arc<remote_bases::Remotes>,
    charts: std::sync::Arc<charts::Charts>,
    settings: OnceLock<Settings>,
    boundary: OnceLock<PathBuf>,
    goes_on_unproven: OnceLock<()>,
    external: OnceLock<Result<ExternalKustomize, Error>>,
}

impl Context {
    /// A context that works in `cwd`, an absolute path, with defaults for all else.
    pub fn new(cwd: PathBuf, environment: Environment) -> Self {
        Self { started_in: cwd.clone(), cwd, environment, ..Self::default() }
    }

    /// `--no-proof`: where nothing can render an overlay, the edit goes on without a proof.
    pub(crate) fn go_on_unproven(&self) {
        let _ = self.goes_on_unproven.set(());
    }

    /// Whether an edit goes on where nothing can render its overlay.
    pub(crate) fn goes_on_unproven(&self) -> bool {
        self.goes_on_unproven.get().is_some()
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
        let (files, found) = discover::locate_directories(place, directories)?;
        let _ = self.boundary.set(files.root().to_owned());
        self.load_settings(&files)?;
        Ok((files, found))
    }

    /// The overlays that the user named, and the files below their one boundary.
    ///
    /// # Errors
    /// Where one of them names nothing; see [`discover::locate`].
    pub fn locate(&self, overlays: &[OsString]) -> Result<(DiskFiles, Vec<Located>), Error> {
        let place = Place { cwd: &self.cwd, root: self.root.as_deref() };
        let (files, located) = discover::locate(place, overlays)?;
        let _ = self.boundary.set(files.root().to_owned());
        self.load_settings(&files)?;
        Ok((files, located))
    }

    /// `error` with the boundary where something leads out of it, and how to name another one.
    #[must_use]
    pub fn with_boundary(&self, error: Error) -> Error {
        let Some(root) = self.boundary.get() else { return error };
        if error.code() != codes::OUTSIDE_BOUNDARY && !error.message().ends_with(LEADS_OUT) {
            return error;
        }
        let root = root.display();
        match self.is_in_git() {
            true => error.hint(format!("the boundary is the git work tree {root}")),
            false => error.hint(format!(
                "outside of git the boundary is {root}; --root DIR names another directory"
            )),
        }
    }

    fn is_in_git(&self) -> bool {
        self.boundary.get().is_some_and(|root| root.join(".git").exists())
    }

    /// The time that a command may wait for anything outside: `--timeout`, else the repository's setting.
    pub fn allowed_time(&self) -> Option<Duration> {
        self.timeout.or_else(|| self.settings.get()?.timeout)
    }

    /// From now on digests come from there.
    #[cfg(feature = "registry")]
    pub fn ask_digests(&self, digests: digests::Digests) {
        let _ = self.digests.set(std::sync::Arc::new(digests));
    }

    /// Where digests come from, for a command that asks for some.
    #[cfg(feature = "registry")]
    pub(crate) fn digests(&self) -> Option<&digests::Digests> {
        self.digests.get().map(AsRef::as_ref)
    }

    /// The template of a pull request's body that the repository has of its own, relative to the boundary.
    pub fn pull_request_template(&self) -> Option<String> {
        self.settings.get()?.pull_request_template.clone()
    }

    /// The file with the repository's own commit message, relative to the boundary.
    #[cfg(feature = "git")]
    pub(crate) fn commit_message_template(&self) -> Option<String> {
        self.settings.get()?.commit_message_template.clone()
    }

    /// The orders of overlays that the repository names.
    #[cfg(all(feature = "forge", feature = "argocd"))]
    pub(crate) fn waves(&self) -> &[config::WaveSetting] {
        self.settings.get().map_or(&[], |settings| &settings.waves)
    }

    /// What the repository decides about its checks.
    pub fn check_settings(&self) -> crate::checks::Settings {
        let settings = self.settings.get().map(|settings| settings.checks.clone());
        crate::checks::Settings { here: self.here(), ..settings.unwrap_or_default() }
    }

    /// Where the commands that are printed are pasted.
    pub(crate) fn here(&self) -> Here {
        let root = self.boundary.get();
        root.map(|root| Here::new(&self.started_in, root)).unwrap_or_default()
    }

    /// The rules of the repository for emptying nodes.
    pub fn drain_rules(&self) -> crate::drain::Rules {
        self.settings.get().map(|settings| settings.drain.clone()).unwrap_or_default()
    }

    /// What the repository asks for beside what Kubernetes says.
    pub fn conditions(&self) -> crate::rollout::Conditions {
        self.settings.get().map(|settings| settings.verify.clone()).unwrap_or_default()
    }

    /// The groups of the repository.
    ///
    /// # Errors
    /// [`codes::CONFIG_INVALID`] for a name of a workload that is none.
    pub(crate) fn groups(&self) -> Result<Groups, Error> {
        let settings = self.settings.get();
        let groups = settings.iter().flat_map(|settings| &settings.groups);
        groups.map(|group| Ok((group.name.clone(), self.group(group)?))).collect()
    }

    fn group(&self, group: &GroupSetting) -> Result<Group, Error> {
        let name = |(text, line, column): &(String, usize, usize)| {
            ResourceName::parse(text).ok_or_else(|| {
                let message = format!("`{text}` is no name: write NAME or KIND/NAME");
                let place = Location::at(self.settings_name(), *line, *column);
                Error::new(codes::CONFIG_INVALID, message).at(place)
            })
        };
        let names = group.workloads.iter().map(name).collect::<Result<_, _>>()?;
        Ok(Group { names, selector: group.selector.clone() })
    }

    fn settings_name(&self) -> String {
        let named = self.config.as_ref().map(|file| file.display().to_string());
        named.unwrap_or_else(|| config::FILE_NAME.to_owned())
    }

    /// Reads `--config`, else `.overlay.yaml` at the boundary where there is one.
    fn load_settings(&self, files: &DiskFiles) -> Result<(), Error> {
        if self.settings.get().is_some() {
            return Ok(());
        }
        let (name, text) = match &self.config {
            Some(file) => {
                let name = file.display().to_string();
                (name, Some(input::load_file(&self.cwd, file)?.text))
            }
            None => (config::FILE_NAME.to_owned(), settings_text(files)?),
        };
        let settings = Settings::parse(&text.unwrap_or_default())
            .map_err(|error| Error::from_settings(&name, error))?;
        let _ = self.settings.set(settings);
        Ok(())
    }
}

/// The text of `.overlay.yaml`, or `None` where there is no such file.
fn settings_text(files: &DiskFiles) -> Result<Option<String>, Error> {
    let Some(Entry::File { .. }) = files.entry(config::FILE_NAME)? else { return Ok(None) };
    let bytes = files.read(config::FILE_NAME)?;
    let not_utf8 =
        |_| Error::new(codes::CONFIG_INVALID, "not UTF-8").at(Location::file(config::FILE_NAME));
    String::from_utf8(bytes.to_vec()).map(Some).map_err(not_utf8)
}
