//! Fetching from a remote; no branch moves by it.

use super::Remote;
use crate::git::checkout::short_name;
use crate::git::error::GitError;
use crate::git::id::ObjectId;
use crate::git::repository::Repository;

/// The transports of remote bases.
const BASE_PROTOCOLS: &str = "file:http:https:ssh";

impl Remote<'_> {
    /// As [`Remote::fetch_branch`], but of what is not there only the newest commit and its trees.
    ///
    /// # Errors
    /// As for [`Remote::list`].
    pub(in crate::git) fn fetch_tip(
        &self,
        repository: &Repository,
        branch: &str,
    ) -> Result<Option<ObjectId>, GitError> {
        let args = ["--depth=1", "--filter=blob:none"];
        self.fetch(repository, branch, &args)
    }

    /// The value of a branch, its commit present in `repository` afterwards; `None` where the remote has no such branch.
    ///
    /// # Errors
    /// As for [`Remote::list`].
    pub fn fetch_branch(
        &self,
        repository: &Repository,
        branch: &str,
    ) -> Result<Option<ObjectId>, GitError> {
        self.fetch(repository, branch, &[])
    }

    /// The same for looking alone: what this repository remembers of the remote stays as it is.
    ///
    /// # Errors
    /// As [`Remote::fetch_branch`].
    pub fn peek_at_branch(
        &self,
        repository: &Repository,
        branch: &str,
    ) -> Result<Option<ObjectId>, GitError> {
        self.fetch(repository, branch, &["--refmap="])
    }

    fn fetch(
        &self,
        repository: &Repository,
        branch: &str,
        more: &[&str],
    ) -> Result<Option<ObjectId>, GitError> {
        // The branch may move between looking and fetching; then it is looked at again.
        for _ in 0..20 {
            let Some(tip) = self.branch(branch)? else { return Ok(None) };
            if repository.has(tip)? {
                return Ok(Some(tip));
            }
            let mut args = vec!["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
            args.extend(more);
            args.push("--");
            let answer =
                self.call(repository.git(), &args).arg(&self.target).arg(branch).answer()?;
            if !answer.is_success && !answer.stderr.contains("couldn't find remote ref") {
                return Err(self.classify("fetch", &answer));
            }
        }
        Err(GitError::LostEveryRace { branch: short_name(branch).to_owned(), tries: 20 })
    }

    /// Lets a shallow clone reach `by` commits further back, or to the beginning.
    ///
    /// # Errors
    /// As for [`Remote::list`].
    pub fn deepen(&self, repository: &Repository, by: Option<u32>) -> Result<(), GitError> {
        let depth = by.map_or_else(|| "--unshallow".to_owned(), |by| format!("--deepen={by}"));
        let args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", &depth, "--"];
        let answer = self.call(repository.git(), &args).arg(&self.target).answer()?;
        if answer.is_success { Ok(()) } else { Err(self.classify("fetch", &answer)) }
    }

    /// Fetches one reference or commit without history, ended where `watch` says so. A server that gives no single commits
    /// is asked for all its branches and tags.
    ///
    /// # Errors
    /// As for [`Remote::list`], and [`GitError::Stopped`].
    pub(in crate::git) fn fetch_alone(
        &self,
        repository: &Repository,
        source: &str,
        watch: impl Fn() -> Option<String>,
    ) -> Result<(), GitError> {
        let all =
            ["+refs/heads/*:refs/overlay/all/heads/*", "+refs/tags/*:refs/overlay/all/tags/*"];
        let tries: [(&[&str], &[&str]); 2] = [(&["--depth=1"], &[source]), (&[], &all)];
        let mut outcome = Ok(());
        for (options, sources) in tries {
            let mut args = vec!["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
            args.extend(options);
            args.extend(["--", self.target.as_str()]);
            args.extend(sources);
            let call = self.call(repository.git(), &args).env("GIT_ALLOW_PROTOCOL", BASE_PROTOCOLS);
            let answer = call.watch(&watch).answer()?;
            if answer.is_success {
                return Ok(());
            }
            let is_refused = ["not our ref", "unadvertised object", "does not support"];
            let is_refused = is_refused.iter().any(|words| answer.stderr.contains(words));
            outcome = Err(self.classify("fetch", &answer));
            if !is_refused {
                break;
            }
        }
        outcome
    }

    /// Brings a commit with its history: by `branch` (full name), where one is given, else by its own name, which not every
    /// server gives out.
    ///
    /// # Errors
    /// As for [`Remote::list`]; [`GitError::UnknownRevision`] where the remote does not give it.
    pub fn fetch_commit(
        &self,
        repository: &Repository,
        commit: ObjectId,
        branch: Option<&str>,
    ) -> Result<(), GitError> {
        if let Some(branch) = branch {
            self.fetch_branch(repository, branch)?;
        }
        if repository.has(commit)? {
            return Ok(());
        }
        let name = commit.to_string();
        let args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--"];
        let answer = self.call(repository.git(), &args).arg(&self.target).arg(&name).answer()?;
        match answer.is_success && repository.has(commit)? {
            true => Ok(()),
            false => Err(GitError::UnknownRevision { revision: name, is_shallow: false }),
        }
    }
}
