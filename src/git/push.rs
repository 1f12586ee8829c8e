//! What the lines of `git push --porcelain` mean, and pushing until it is won.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use crate::clock;

use super::checkout::short_name;
use super::error::GitError;
use super::id::ObjectId;
use super::remote::Remote;
use super::repository::Repository;

/// How often an edit is made again on a new head.
pub const MOST_TRIES: u32 = 60;

/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_millis(1_500);

/// What came of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The branch holds the commit.
    Landed,
    /// Another push came first.
    LostRace,
    /// A rule of the remote says no, in its own words.
    Refused(String),
}

/// Reasons that mean that the branch moved, whoever says so: git's own client, git's server, JGit, GitHub.
const LOST: [&str; 11] = [
    "fetch first",
    "non-fast-forward",
    "stale info",
    "remote ref updated since checkout",
    "failed to update ref",
    "cannot lock ref",
    "failed to lock",
    "lock failure",
    "incorrect old value provided",
    "reference already exists",
    "needs force",
];

/// Reads the line of `branch` (full name); `None` where git never got so far.
pub(super) fn parse_outcome(stdout: &str, stderr: &str, branch: &str) -> Option<Outcome> {
    let line = stdout.lines().find_map(|line| {
        let (flag, rest) = line.split_once('\t')?;
        let (update, summary) = rest.split_once('\t')?;
        (update.rsplit_once(':')?.1 == branch).then_some((flag, summary))
    });
    let (flag, summary) = line?;
    if flag != "!" {
        return Some(Outcome::Landed);
    }
    let reason =
        summary.split_once('(').map_or(summary, |(_, reason)| reason.trim_end_matches(')'));
    if summary.contains("[remote failure]") {
        return None;
    }
    if LOST.iter().any(|words| reason.to_ascii_lowercase().contains(words)) {
        return Some(Outcome::LostRace);
    }
    Some(Outcome::Refused(refusal(reason, stderr)))
}

/// The reason, with what the server's own programs said.
fn refusal(reason: &str, stderr: &str) -> String {
    let words = stderr.lines().filter_map(|line| line.strip_prefix("remote:")).map(str::trim);
    let words: Vec<&str> = words.filter(|line| !line.is_empty()).take(12).collect();
    if words.is_empty() { reason.to_owned() } else { format!("{reason}: {}", words.join("; ")) }
}

/// What remaking an edit on a head gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remade {
    /// A commit on top of that head.
    Commit(ObjectId),
    /// The head holds the change already.
    AlreadySo,
}

/// What the remote holds after [`push_with_retry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// The commit that holds the change; `None` where there is neither a commit nor a branch.
    pub commit: Option<ObjectId>,
    /// Whether this push brought it.
    pub is_new: bool,
    /// How many pushes it took.
    pub tries: u32,
}

/// Pushes an edit to a branch (full name). `remake` makes it anew on each head found (`None`: no such branch yet), so that
/// nothing is ever merged as text or forced.
///
/// # Errors
/// What `remake` gives, what [`Remote::push`] gives, and [`GitError::LostEveryRace`] after [`MOST_TRIES`].
pub fn push_with_retry<E: From<GitError>>(
    remote: &Remote<'_>,
    repository: &Repository,
    branch: &str,
    mut remake: impl FnMut(Option<ObjectId>) -> Result<Remade, E>,
) -> Result<Pushed, E> {
    for tries in 1..=MOST_TRIES {
        let head = remote.fetch_branch(repository, branch)?;
        let commit = match remake(head)? {
            Remade::AlreadySo => {
                return Ok(Pushed { commit: head, is_new: false, tries: tries - 1 });
            }
            Remade::Commit(commit) => commit,
        };
        match remote.push(repository, branch, head, commit)? {
            Outcome::LostRace => clock::sleep(pause(tries)),
            _ => return Ok(Pushed { commit: Some(commit), is_new: true, tries }),
        }
    }
    Err(GitError::LostEveryRace { branch: short_name(branch).to_owned(), tries: MOST_TRIES }.into())
}

/// A random time, longer the more often it was lost: those who lose together must not come back together.
fn pause(tries: u32) -> Duration {
    let most = Duration::from_millis(40).saturating_mul(1 << tries.min(6)).min(LONGEST_PAUSE);
    let random = RandomState::new().hash_one(tries) % 1_000;
    most * u32::try_from(random).unwrap_or(0) / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(line: &str, stderr: &str) -> Option<Outcome> {
        parse_outcome(&format!("To /srv/x.git\n{line}\nDone\n"), stderr, "refs/heads/main")
    }

    #[test]
    fn races_are_told_from_refusals() {
        let lost = [
            "[rejected] (fetch first)",
            "[rejected] (non-fast-forward)",
            "[rejected] (stale info)",
            "[remote rejected] (failed to update ref)",
            "[remote rejected] (cannot lock ref 'refs/heads/main': is at a but expected b)",
            "[remote rejected] (failed to lock)",
        ];
        for reason in lost {
            assert_eq!(
                outcome(&format!("!\tabc:refs/heads/main\t{reason}"), ""),
                Some(Outcome::LostRace),
                "{reason}"
            );
        }
        let refused = outcome(
            "!\tabc:refs/heads/main\t[remote rejected] (pre-receive hook declined)",
            "remote: GH006: Protected branch update failed.        \nerror: failed to push\n",
        );
        let words = "pre-receive hook declined: GH006: Protected branch update failed.";
        assert_eq!(refused, Some(Outcome::Refused(words.to_owned())));
    }

    #[test]
    fn success_and_silence() {
        assert_eq!(outcome(" \tabc:refs/heads/main\ta..b", ""), Some(Outcome::Landed));
        assert_eq!(outcome("*\tabc:refs/heads/main\t[new branch]", ""), Some(Outcome::Landed));
        assert_eq!(outcome("=\tabc:refs/heads/main\t[up to date]", ""), Some(Outcome::Landed));
        assert_eq!(outcome(" \tabc:refs/heads/other\ta..b", ""), None);
        assert_eq!(
            outcome(
                "!\tabc:refs/heads/main\t[remote failure] (remote failed to report status)",
                ""
            ),
            None
        );
    }
}
