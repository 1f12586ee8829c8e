//! Pushing to a branch of a remote that is still at the value named; what the remote says it is afterwards decides.

use super::{Remote, failure};
use crate::git::checkout::short_name;
use crate::git::error::GitError;
use crate::git::id::ObjectId;
use crate::git::push::{Outcome, parse_outcome};
use crate::git::repository::Repository;

impl Remote<'_> {
    /// Pushes a commit to a branch that is at `expected` (`None`: it must not exist), and asks what the branch is afterwards.
    ///
    /// # Errors
    /// [`GitError::PushRefused`] and the errors of reaching the remote. A lost race is none: see [`Outcome`].
    pub fn push(
        &self,
        repository: &Repository,
        branch: &str,
        expected: Option<ObjectId>,
        commit: ObjectId,
    ) -> Result<Outcome, GitError> {
        // Creating: must not exist. Elsewhere only a fast-forward is taken, and the remote compares the old value.
        let lease = expected.is_none().then(|| format!("--force-with-lease={branch}:"));
        self.push_with(repository, branch, lease, commit)
    }

    /// Puts `commit` in the place of `old`, and of all that only `old` holds, on a branch that is still at `old`.
    ///
    /// # Errors
    /// As for [`Remote::push`].
    pub fn replace(
        &self,
        repository: &Repository,
        branch: &str,
        old: ObjectId,
        commit: ObjectId,
    ) -> Result<Outcome, GitError> {
        let lease = Some(format!("--force-with-lease={branch}:{old}"));
        self.push_with(repository, branch, lease, commit)
    }

    /// Removes a branch that nobody but this program uses.
    ///
    /// # Errors
    /// As for [`Remote::list`], and where the remote refuses.
    pub fn remove(&self, repository: &Repository, branch: &str) -> Result<(), GitError> {
        let call = self.call(repository.git(), &["push", "--porcelain", "--"]).arg(&self.target);
        let answer = call.arg(format!(":{branch}")).answer()?;
        if answer.is_success { Ok(()) } else { Err(self.classify("push", &answer)) }
    }

    fn push_with(
        &self,
        repository: &Repository,
        branch: &str,
        lease: Option<String>,
        commit: ObjectId,
    ) -> Result<Outcome, GitError> {
        let mut args = vec!["push", "--porcelain"];
        args.extend(lease.as_deref());
        args.push("--");
        let update = format!("{commit}:{branch}");
        let answer = self.call(repository.git(), &args).arg(&self.target).arg(update).answer()?;
        let said = parse_outcome(&answer.text(self.git), &answer.stderr, branch);
        let found = match self.branch(branch) {
            Ok(found) => found,
            Err(error) if answer.is_success => return Err(error),
            Err(_) => return Err(self.classify("push", &answer)),
        };
        if found == Some(commit) || self.holds(repository, branch, found, commit)? {
            return Ok(Outcome::Landed);
        }
        let (remote, branch) = (self.shown.clone(), short_name(branch).to_owned());
        let commit = commit.to_string();
        match said {
            Some(Outcome::Refused(message)) => {
                Err(GitError::PushRefused { remote, branch, commit, message })
            }
            Some(Outcome::LostRace) => Ok(Outcome::LostRace),
            Some(Outcome::Landed) => {
                let found = found.map_or_else(|| "nothing".to_owned(), |id| id.to_string());
                Err(GitError::NotThere { remote, branch, commit, found })
            }
            None if failure::is_refused_here(&answer.stderr) => {
                let message = answer.message();
                Err(GitError::PushRefused { remote, branch, commit, message })
            }
            None => Err(self.classify("push", &answer)),
        }
    }

    /// Whether somebody has pushed on top of the commit already.
    fn holds(
        &self,
        repository: &Repository,
        branch: &str,
        found: Option<ObjectId>,
        commit: ObjectId,
    ) -> Result<bool, GitError> {
        if found.is_none() {
            return Ok(false);
        }
        let Some(tip) = self.fetch_branch(repository, branch)? else { return Ok(false) };
        repository.is_ancestor(commit, tip)
    }
}
