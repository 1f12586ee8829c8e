//! Whether git is in the middle of something: a merge, a rebase, a pick. A commit put under it would be taken for a part of
//! it, or be lost when it is given up.

use super::error::GitError;
use super::repository::Repository;

/// What git leaves in its own folder while it waits for a person, and what that is (`git status`, wt-status.c).
const MARKS: [(&str, &str); 6] = [
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase, or the application of patches,"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("sequencer", "a series of cherry-picks or reverts"),
];

/// Refuses a commit on the branch that is checked out while git is in the middle of something there.
///
/// # Errors
/// [`GitError::InProgress`].
pub fn require_nothing_in_progress(repository: &Repository) -> Result<(), GitError> {
    let is_there = |(name, _): &&(&str, &str)| repository.git_dir().join(name).exists();
    match MARKS.iter().find(is_there) {
        Some((_, what)) => Err(GitError::InProgress { what: (*what).to_owned() }),
        None => Ok(()),
    }
}
