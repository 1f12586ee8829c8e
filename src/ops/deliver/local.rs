//! A commit that stays in this repository.

use super::job::{Job, report};
use crate::error::{Error, codes};
use crate::git::{
    GitError, ObjectId, advance_current_branch, branch_reference, move_branch,
    require_nothing_in_progress, short_name,
};
use crate::report::change::{ChangeReport, Delivered};

/// The branch that gets the commit.
pub(super) enum Target {
    /// The one that is checked out, by its full name: checkout and index follow.
    Current(String),
    /// Another, by its full name.
    Other(String),
}

impl Target {
    /// The branch that `--branch` names, or the current one.
    ///
    /// # Errors
    /// [`GitError::Detached`] where there is neither; [`GitError::CheckedOutElsewhere`] for a branch that is checked out,
    /// since `--branch` never touches a checkout; [`GitError::InProgress`] in the middle of a merge or the like.
    pub(super) fn choose(job: &Job<'_>) -> Result<Self, Error> {
        let current = job.repository.current_branch()?;
        if job.delivery.branch.is_none() {
            // Before the branch: a rebase has none while it is under way.
            require_nothing_in_progress(job.repository)?;
        }
        match (&job.delivery.branch, current) {
            (None, Some(current)) => Ok(Self::Current(current)),
            (None, None) => Err(GitError::Detached.into()),
            (Some(name), current) => {
                let branch = branch_reference(job.repository, name)?;
                match job.repository.work_tree() {
                    Some(top) if current.as_ref() == Some(&branch) => {
                        let branch = short_name(&branch).to_owned();
                        let worktree = top.to_owned();
                        Err(GitError::CheckedOutElsewhere { branch, worktree }.into())
                    }
                    _ => Ok(Self::Other(branch)),
                }
            }
        }
    }

    /// Its full name.
    pub(super) fn branch(&self) -> &str {
        match self {
            Self::Current(branch) | Self::Other(branch) => branch,
        }
    }
}

/// Commits the edit on the branch.
///
/// # Errors
/// As planning, and what git refuses; then nothing has moved.
pub(super) fn run(job: &Job<'_>) -> Result<ChangeReport, Error> {
    let target = Target::choose(job)?;
    let tip = job.repository.reference(target.branch())?;
    let base = match (&target, tip) {
        (_, Some(tip)) => tip,
        (Target::Current(branch), None) => {
            return Err(GitError::Unborn { branch: short_name(branch).to_owned() }.into());
        }
        (Target::Other(_), None) => start(job)?,
    };
    let made = job.make(base)?;
    if let Some(built) = &made.commit {
        match &target {
            Target::Current(_) => {
                advance_current_branch(job.repository, built)?;
            }
            Target::Other(branch) => move_branch(job.repository, branch, tip, built)?,
        }
    }
    Ok(report(made, target.branch(), Delivered::default()))
}

/// Where a new branch starts.
fn start(job: &Job<'_>) -> Result<ObjectId, Error> {
    let Some(base) = &job.delivery.base else { return Ok(job.repository.resolve("HEAD")?) };
    let branch = branch_reference(job.repository, base)?;
    job.repository
        .reference(&branch)?
        .ok_or_else(|| Error::new(codes::NO_SUCH_REVISION, format!("there is no branch `{base}`")))
}
