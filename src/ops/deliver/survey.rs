//! A look at the base branch of an edit that goes by pull request: what the edit would do to it now, or at any of its commits.

use std::ffi::OsString;
use std::sync::Arc;

use super::job::{Job, not_here};
use super::pull_request::base_branch;
use super::push::remote_name;
use super::{Delivery, message};
use crate::change::Change;
use crate::discover::{DiskFiles, Located};
use crate::error::Error;
use crate::git::{self, GitError, ObjectId, Remote, Repository, short_name};
use crate::ops::Context;
use crate::ops::change::Proven;

/// An edit and the branch that it goes into.
pub(in crate::ops) struct Survey<'a> {
    pub(in crate::ops) context: &'a Context,
    pub(in crate::ops) repository: Repository,
    disk: DiskFiles,
    /// The overlays named.
    pub(in crate::ops) located: Vec<Located>,
    change: &'a Change,
    delivery: &'a Delivery,
    /// The remote that is pushed to: a name, or an address.
    pub(in crate::ops) remote: String,
    base: String,
}

impl<'a> Survey<'a> {
    /// Finds out where the edit goes. The edit itself is not looked at yet.
    ///
    /// # Errors
    /// Where an overlay is not there, or there is no clone, remote or base branch.
    pub(in crate::ops) fn open(
        context: &'a Context,
        overlays: &[OsString],
        change: &'a Change,
        delivery: &'a Delivery,
    ) -> Result<Self, Error> {
        let (disk, located) = context.locate(overlays)?;
        Self::open_at(context, (disk, located), change, delivery)
    }

    /// The same of the repository alone, where it is not known yet what is edited.
    ///
    /// # Errors
    /// As [`Survey::open`].
    pub(in crate::ops) fn of_branch(
        context: &'a Context,
        change: &'a Change,
        delivery: &'a Delivery,
    ) -> Result<Self, Error> {
        let (disk, _) = context.locate_directories(&[".".into()])?;
        Self::open_at(context, (disk, Vec::new()), change, delivery)
    }

    fn open_at(
        context: &'a Context,
        (disk, located): (DiskFiles, Vec<Located>),
        change: &'a Change,
        delivery: &'a Delivery,
    ) -> Result<Self, Error> {
        let settings = Arc::new(context.git_settings());
        let repository = Repository::open(&settings, disk.root()).map_err(not_here)?;
        git::finish_interrupted(&repository)?;
        let (remote, base) = (String::new(), String::new());
        let mut survey =
            Self { context, repository, disk, located, change, delivery, remote, base };
        survey.remote = remote_name(&survey.repository, delivery, None)?;
        survey.base = {
            let remote = Remote::open(survey.repository.git(), &survey.remote)?;
            base_branch(&survey.repository, delivery, &remote, false)?
        };
        Ok(survey)
    }

    fn job(&self) -> Job<'_> {
        Job {
            context: self.context,
            repository: &self.repository,
            disk: Some(&self.disk),
            located: self.located.clone(),
            change: self.change,
            delivery: self.delivery,
        }
    }

    /// The short name of the base branch.
    pub(in crate::ops) fn base(&self) -> &str {
        short_name(&self.base)
    }

    /// The top of the repository on disk.
    pub(in crate::ops) fn root(&self) -> &std::path::Path {
        self.disk.root()
    }

    /// The newest commit of the base branch, fetched.
    ///
    /// # Errors
    /// Where the remote has no such branch, or does not answer.
    pub(in crate::ops) fn tip(&self) -> Result<ObjectId, Error> {
        let remote = Remote::open(self.repository.git(), &self.remote)?;
        let missing = || GitError::NoSuchReference {
            remote: remote.shown().to_owned(),
            reference: self.base.clone(),
        };
        Ok(remote.fetch_branch(&self.repository, &self.base)?.ok_or_else(missing)?)
    }

    /// What the edit does to `commit`; no texts where that holds it.
    ///
    /// # Errors
    /// As planning and proving.
    pub(in crate::ops) fn prove(&self, commit: ObjectId) -> Result<Proven, Error> {
        self.job().prove(commit)
    }

    /// Stands for the change with its values, on this base branch: the same wherever it is made again.
    pub(in crate::ops) fn fingerprint(&self, proven: &Proven) -> String {
        use sha2::{Digest as _, Sha256};
        let record = message::record(self.change, &proven.overlays).data.to_string();
        let mut hash = Sha256::new();
        hash.update(self.base.as_bytes());
        hash.update([0]);
        hash.update(record.as_bytes());
        hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}
