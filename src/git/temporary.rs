//! A remote repository without a clone: a bare one in a temporary folder that holds one commit and its trees; the files
//! that are read come one directory at a time.

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use super::error::GitError;
use super::id::ObjectId;
use super::program::{Git, Settings};
use super::remote::Remote;
use super::repository::Repository;

/// The name of the remote in the temporary repository.
pub const TEMPORARY_REMOTE: &str = "origin";

/// A temporary repository; the folder goes away with it.
pub struct TemporaryClone {
    // Before the folder, so that no program of it is left when that goes.
    repository: Repository,
    address: String,
    _folder: TempDir,
}

impl TemporaryClone {
    /// An empty one, whose [`TEMPORARY_REMOTE`] is `address`. Credentials of the address stay out of its configuration.
    ///
    /// # Errors
    /// [`GitError::BadRemote`] for an address that may not be used.
    pub fn new(settings: &Arc<Settings>, address: &str) -> Result<Self, GitError> {
        let folder = tempfile::Builder::new().prefix("overlay-").tempdir();
        let folder = folder
            .map_err(|e| GitError::Io { path: std::env::temp_dir(), reason: e.to_string() })?;
        let plain = Git::new(Arc::clone(settings), folder.path());
        let probe = Remote::open(&plain, address)?;
        let settings = Arc::new(probe.settings());
        let target = absolute_target(probe.target());
        let git = Git::new(Arc::clone(&settings), folder.path());
        let format = object_format(&probe)?;
        git.run(["init", "--quiet", "--bare", "--template=", format, "."]).bytes()?;
        let key = |name: &str| format!("remote.{TEMPORARY_REMOTE}.{name}");
        for (name, value) in [
            (key("url"), target.as_str()),
            (key("promisor"), "true"),
            (key("partialclonefilter"), "blob:none"),
            ("core.repositoryformatversion".to_owned(), "1"),
            ("extensions.partialClone".to_owned(), TEMPORARY_REMOTE),
        ] {
            git.run(["config", &name, value]).bytes()?;
        }
        let repository = Repository::open(&settings, folder.path())?;
        Ok(Self { repository, address: probe.shown().to_owned(), _folder: folder })
    }

    /// The address it was made for, without credentials.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The repository.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Its remote.
    ///
    /// # Errors
    /// As [`Remote::open`].
    pub fn remote(&self) -> Result<Remote<'_>, GitError> {
        Remote::open(self.repository.git(), TEMPORARY_REMOTE)
    }

    /// Fetches the newest commit of a branch (full name) and its trees, or `None` where the remote has no such branch.
    ///
    /// # Errors
    /// As [`Remote::list`].
    pub fn fetch_tip(&self, branch: &str) -> Result<Option<ObjectId>, GitError> {
        self.remote()?.fetch_tip(&self.repository, branch)
    }
}

/// What makes a repository of the remote's kind: git fetches from no other.
fn object_format(remote: &Remote<'_>) -> Result<&'static str, GitError> {
    let head = remote.list(&["HEAD"])?.find("HEAD");
    let is_sha256 = head.is_some_and(|id| id.as_bytes().len() == 32);
    Ok(if is_sha256 { "--object-format=sha256" } else { "--object-format=sha1" })
}

/// A path is relative to where the user stands, not to the temporary folder.
fn absolute_target(target: &str) -> String {
    if target.starts_with('.') {
        return Path::new(target)
            .canonicalize()
            .map_or_else(|_| target.to_owned(), |path| path.to_string_lossy().into_owned());
    }
    target.to_owned()
}
