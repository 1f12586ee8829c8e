//! `overlay wait`: until Argo CD has applied a commit, or a later one that still holds its change, and it is healthy.

mod access;
mod answers;
mod board;
mod effect;
mod overrides;
mod revisions;
mod targets;
mod watching;

use std::ffi::OsString;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::Context;
use super::revision;
use crate::argocd::{ApplicationRef, Override, Rules, Trouble};
use crate::clock::{self, Stopwatch};
use crate::error::{Error, codes};
use crate::git::{Remote, Repository};
use crate::report::Report;
use crate::report::wait::wait_report;

pub use access::Access;
use effect::Renders;
use targets::Setting;
use watching::Watching;

/// How long is waited where nothing else is said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// What the user asks of `overlay wait`.
#[derive(Clone, Debug)]
pub struct WaitRequest {
    /// The Applications, as `NAME` or `NAMESPACE/NAME`.
    pub applications: Vec<String>,
    /// `--overlay`: the overlays as typed.
    pub overlays: Vec<OsString>,
    /// `--commit`.
    pub commit: String,
    /// `--project`: the project of the Applications named.
    pub project: Option<String>,
    /// `--remote`: the remote or address that Argo CD reads.
    pub remote: Option<String>,
    /// How.
    pub options: WaitOptions,
}

/// How is waited, whatever for.
#[derive(Clone, Debug, Default)]
pub struct WaitOptions {
    /// How Argo CD is reached.
    pub access: Access,
    /// `--dwell`, `--timeout`, and what counts.
    pub rules: Rules,
}

/// An Application that would be waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deployer {
    /// Its name.
    pub application: String,
    /// The names of the files beside an overlay that are merged into its source.
    pub files: Vec<String>,
    /// The overlays of those looked for that it deploys, relative to the top of the repository.
    pub overlays: Vec<String>,
    /// What it states itself, which wins over git.
    pub overrides: Vec<Override>,
}

/// The Applications that deploy the overlays named, without waiting for any.
///
/// # Errors
/// Where Argo CD cannot be asked, or none deploys one of them.
pub fn look(context: &Context, request: &WaitRequest) -> Result<Vec<Deployer>, Error> {
    let repository = Repository::open(&Arc::new(context.git_settings()), &context.cwd)?;
    setting(context, &repository, request)?.deployers()
}

/// Waits.
///
/// # Errors
/// Where it cannot begin. How it ended, well or not, is in the report.
pub fn run(context: &Context, request: &WaitRequest) -> Result<Report, Error> {
    // The time counts from here on, so that finding the Applications is part of it.
    let (began, since) = (clock::now_unix(), Stopwatch::start());
    let repository = Repository::open(&Arc::new(context.git_settings()), &context.cwd)?;
    let setting = setting(context, &repository, request)?;
    let targets = setting.find()?;
    let waited = Watching::new(context, &setting, since).run(targets);
    Ok(wait_report(&setting.commit.to_string(), began, &waited))
}

fn setting<'a>(
    context: &'a Context,
    repository: &'a Repository,
    request: &'a WaitRequest,
) -> Result<Setting<'a>, Error> {
    let commit = resolve(repository, request)?;
    let argocd = request.options.access.open(context)?;
    let overlays = match request.overlays.is_empty() {
        true => Vec::new(),
        false => {
            let typed = context.below_top(repository, &request.overlays)?;
            let located = revision::locate(&repository.files_of(commit)?, &typed)?;
            located.into_iter().map(|located| located.directory).collect()
        }
    };
    let remotes = remotes(repository, request)?;
    let renders = Renders { context, repository };
    Ok(Setting {
        renders,
        commit,
        overlays,
        remotes,
        argocd,
        request,
        effects: Mutex::default(),
        known: Arc::default(),
    })
}

/// The commit, brought here where only the remote has it.
fn resolve(repository: &Repository, request: &WaitRequest) -> Result<crate::git::ObjectId, Error> {
    let found = repository.resolve(&request.commit);
    let Ok(id) = request.commit.parse() else { return Ok(found?) };
    if found.is_err() {
        let remote = request.remote.as_deref().unwrap_or("origin");
        if let Ok(remote) = Remote::open(repository.git(), remote) {
            remote.fetch_commit(repository, id, None)?;
        }
    }
    Ok(repository.resolve(&request.commit)?)
}

/// The remotes by name with their addresses: all configured ones, or the one that was named.
fn remotes(
    repository: &Repository,
    request: &WaitRequest,
) -> Result<Vec<(String, Vec<String>)>, Error> {
    let all = repository.remotes()?;
    let Some(named) = &request.remote else { return Ok(all) };
    match all.into_iter().find(|(name, _)| name == named) {
        Some(found) => Ok(vec![found]),
        None => {
            let remote = Remote::open(repository.git(), named)?;
            Ok(vec![(named.clone(), vec![remote.shown().to_owned()])])
        }
    }
}

/// Why an Application cannot be read before anything is waited for.
fn trouble(app: &ApplicationRef, trouble: Trouble) -> Error {
    let name = if app.name.is_empty() { "the Applications".to_owned() } else { app.to_string() };
    let message = format!("{name}: {trouble}");
    match trouble {
        Trouble::NotFound { .. } => Error::new(codes::NO_SUCH_APPLICATION, message)
            .hint("name it as NAMESPACE/NAME where it is not in Argo CD's own namespace"),
        Trouble::Unauthenticated { .. } => Error::new(codes::ARGOCD_DENIED, message)
            .hint("set ARGOCD_AUTH_TOKEN to a token that has not run out"),
        Trouble::Denied { .. } => Error::new(codes::ARGOCD_DENIED, message)
            .hint("the account needs the right to get applications"),
        _ => Error::new(codes::ARGOCD_UNREACHABLE, message)
            .hint("check ARGOCD_SERVER, the network and the proxy"),
    }
}
