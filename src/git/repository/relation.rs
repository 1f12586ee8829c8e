//! How two commits stand to each other.

use super::Repository;
use crate::git::error::GitError;
use crate::git::id::ObjectId;

impl Repository {
    /// Whether `commit` is `tip` or one that `tip` stands on.
    ///
    /// # Errors
    /// [`GitError::Failed`] where git cannot say.
    pub fn is_ancestor(&self, commit: ObjectId, tip: ObjectId) -> Result<bool, GitError> {
        let (commit, tip) = (commit.to_string(), tip.to_string());
        let answer = self.git.run(["merge-base", "--is-ancestor", &commit, &tip]).answer()?;
        match answer.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(GitError::Failed { what: "merge-base".to_owned(), message: answer.message() }),
        }
    }

    /// How many commits `tip` has that `from` has not, or without one: that no branch known of a remote has.
    ///
    /// # Errors
    /// [`GitError::Failed`] where git cannot say.
    pub fn count_commits(&self, from: Option<ObjectId>, tip: ObjectId) -> Result<u64, GitError> {
        let tip = tip.to_string();
        let others = from.map_or_else(|| "--remotes".to_owned(), |from| from.to_string());
        let text = self.git.run(["rev-list", "--count", &tip, "--not", &others]).text()?;
        let unread = |_| GitError::Failed { what: "rev-list".to_owned(), message: text.clone() };
        text.trim().parse().map_err(unread)
    }

    /// The commits that `tip` has and `base` has not, newest first, at most `most` of them.
    ///
    /// # Errors
    /// [`GitError::Failed`] where git cannot say.
    pub fn commits_beyond(
        &self,
        base: ObjectId,
        tip: ObjectId,
        most: usize,
    ) -> Result<Vec<ObjectId>, GitError> {
        let count = format!("--max-count={most}");
        let (tip, base) = (tip.to_string(), base.to_string());
        let text = self.git.run(["rev-list", &count, &tip, "--not", &base]).text()?;
        let unread = |_| GitError::Failed { what: "rev-list".to_owned(), message: text.clone() };
        text.lines().map(|line| line.parse().map_err(unread)).collect()
    }

    /// The newest commit that both stand on, or `None` where there is none, as in a shallow clone.
    ///
    /// # Errors
    /// [`GitError::ProgramMissing`].
    pub fn merge_base(&self, one: ObjectId, two: ObjectId) -> Result<Option<ObjectId>, GitError> {
        let answer = self.git.run(["merge-base", &one.to_string(), &two.to_string()]).answer()?;
        Ok(String::from_utf8_lossy(&answer.stdout).trim().parse().ok())
    }

    /// Whether the two commits merge without conflicts; `None` where git cannot say, as without their history. Nothing moves.
    ///
    /// # Errors
    /// [`GitError::ProgramMissing`].
    pub fn merges_cleanly(&self, one: ObjectId, two: ObjectId) -> Result<Option<bool>, GitError> {
        let (one, two) = (one.to_string(), two.to_string());
        let args = ["merge-tree", "--write-tree", "--no-messages", "--name-only", &one, &two];
        Ok(match self.git.run(args).answer()?.code {
            Some(0) => Some(true),
            Some(1) => Some(false),
            _ => None,
        })
    }

    /// The files that differ between two commits, relative to the top of the repository.
    ///
    /// # Errors
    /// [`GitError::Failed`] where git cannot say.
    pub fn changed_files(&self, from: ObjectId, to: ObjectId) -> Result<Vec<String>, GitError> {
        let (from, to) = (from.to_string(), to.to_string());
        let args = ["diff-tree", "-r", "-z", "--no-renames", "--name-only", &from, &to];
        let bytes = self.git.run(args).bytes()?;
        let names = bytes.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// The commits after `from` up to `tip` along first parents, oldest first, `most` of them.
    ///
    /// # Errors
    /// [`GitError::Failed`] where git cannot say.
    pub fn commits_between(
        &self,
        from: ObjectId,
        tip: ObjectId,
        most: usize,
    ) -> Result<Vec<ObjectId>, GitError> {
        let range = format!("{from}..{tip}");
        let text = self.git.run(["rev-list", "--reverse", "--first-parent", &range]).text()?;
        Ok(text.lines().take(most).filter_map(|line| line.parse().ok()).collect())
    }
}
