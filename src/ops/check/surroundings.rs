//! What surrounds the overlays to check: the Argo CD Applications of the repository, its branches
//! and tags, and the same overlays at another revision.

#[cfg(feature = "git")]
use std::sync::Arc;

use super::Loaded;
use crate::checks::model::application::{Application, Repository};
use crate::config::Environment;
use crate::discover::{DiskFiles, find_manifests};
use crate::error::Error;
#[cfg(feature = "git")]
use crate::git;
use crate::kustomize::{Entry, Files as _, Rendered, SourceTree};
use crate::ops::Context;
#[cfg(feature = "git")]
use crate::ops::version::Version;

/// The Applications below the boundary, and what git knows of the repository. Where that is no git
/// work tree, or git is not at hand, less is known and less is checked.
pub(super) fn repository(files: &DiskFiles, environment: &Environment) -> Repository {
    let mut repository = Repository::default();
    for (file, text) in find_manifests(files.root(), "kind: Application") {
        repository.applications.extend(Application::find_in(&file, &text).unwrap_or_default());
    }
    if repository.applications.is_empty() {
        return repository;
    }
    repository.directories = existing_directories(files, &repository.applications);
    ask_git(&mut repository, files, environment);
    repository
}

#[cfg(feature = "git")]
fn ask_git(repository: &mut Repository, files: &DiskFiles, environment: &Environment) {
    if let Ok(git) = open(files, environment) {
        repository.urls = git.remote_urls().unwrap_or_default();
        repository.refs = git.branches_and_tags().ok().flatten();
    }
}

/// A program without git knows nothing more.
#[cfg(not(feature = "git"))]
fn ask_git(_: &mut Repository, _: &DiskFiles, _: &Environment) {}

fn existing_directories(files: &DiskFiles, applications: &[Application]) -> Vec<String> {
    let sources = applications.iter().flat_map(Application::sources);
    let is_there = |path: &&str| matches!(files.entry(path), Ok(Some(Entry::Directory { .. })));
    let mut paths: Vec<String> =
        sources.map(|source| source.path).filter(is_there).map(str::to_owned).collect();
    paths.sort();
    paths.dedup();
    paths
}

#[cfg(feature = "git")]
fn open(files: &DiskFiles, environment: &Environment) -> Result<git::Repository, git::GitError> {
    let settings = Arc::new(git::Settings::new(environment.variables.clone()));
    git::Repository::open(&settings, files.root())
}

/// The overlays of `loaded` as `revision` has them; `None` for one that is not there or does not
/// build then.
///
/// # Errors
/// Where the boundary is no git work tree, or has no such revision.
#[cfg(feature = "git")]
pub(super) fn at_revision(
    context: &Context,
    files: &DiskFiles,
    revision: &str,
    loaded: &[Loaded],
) -> Result<Vec<Option<(SourceTree, Rendered)>>, Error> {
    let repository = open(files, &context.environment)?;
    let then = repository.files_at(revision)?;
    let own = context.with_own_remotes();
    let version = Version::new(&own, &then);
    context.for_each_of(loaded, |loaded| {
        let directory = &loaded.located.directory;
        let Ok(tree) = version.load(directory) else { return Ok(None) };
        let rendered = own.render_unprinted(&tree, directory).ok();
        Ok(rendered.map(|built| (tree, built.rendered)))
    })
}

/// As every revision in a program that was built without git.
///
/// # Errors
/// Always.
#[cfg(not(feature = "git"))]
pub(super) fn at_revision(
    _: &Context,
    _: &DiskFiles,
    _: &str,
    _: &[Loaded],
) -> Result<Vec<Option<(SourceTree, Rendered)>>, Error> {
    let message = "this program was built without git; leave --new-since out";
    Err(Error::new(crate::error::codes::USAGE, message))
}
