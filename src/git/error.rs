//! What can go wrong in git, with what a person needs to go on.

use std::path::PathBuf;

/// Why a git operation did not happen. Texts from git and from servers are scrubbed of credentials before they get here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    /// No git program.
    #[error("`{program}` cannot be started: {reason}")]
    ProgramMissing {
        /// As configured.
        program: String,
        /// The system's words.
        reason: String,
    },
    /// A git program older than this crate works with.
    #[error("git {found} is too old: {needed} or newer is needed")]
    ProgramTooOld {
        /// What it says it is.
        found: String,
        /// The oldest that works.
        needed: &'static str,
    },
    /// The program ended with an error that has no better name.
    #[error("git {what} failed: {message}")]
    Failed {
        /// The subcommand.
        what: String,
        /// The last lines it printed.
        message: String,
    },
    /// The program was ended because it took too long.
    #[error("git {what} did not end within {seconds} s")]
    TimedOut {
        /// The subcommand.
        what: String,
        /// The limit.
        seconds: u64,
    },
    /// It was ended because it did more than is allowed.
    #[error("git {what} was stopped: {reason}")]
    Stopped {
        /// The subcommand.
        what: String,
        /// Which limit was reached.
        reason: String,
    },
    /// The path is in no repository.
    #[error("{}: not in a git repository", path.display())]
    NotARepository {
        /// The path asked about.
        path: PathBuf,
    },
    /// The repository is not usable as it stands.
    #[error("{}: {reason}", path.display())]
    Unusable {
        /// The repository.
        path: PathBuf,
        /// In words.
        reason: String,
    },
    /// The text names no commit here.
    #[error("`{revision}` is no revision of this repository")]
    UnknownRevision {
        /// As given.
        revision: String,
        /// Whether the clone is shallow, so that it may be one that is not here.
        is_shallow: bool,
    },
    /// An object that the repository should have.
    #[error("object {id}: {reason}")]
    BadObject {
        /// Its name.
        id: String,
        /// In words.
        reason: String,
    },
    /// The current branch has no commit.
    #[error("the branch `{branch}` has no commit yet")]
    Unborn {
        /// Its short name.
        branch: String,
    },
    /// No branch is checked out.
    #[error("no branch is checked out (detached HEAD), so there is none to commit to")]
    Detached,
    /// Git waits for a person to finish something in this work tree.
    #[error("{what} is in progress in this work tree")]
    InProgress {
        /// What, with its article.
        what: String,
    },
    /// A name that git does not take for a branch, or one that looks like an option.
    #[error("`{name}` is not a name for a branch")]
    BadBranchName {
        /// As given.
        name: String,
    },
    /// The branch is checked out, and its checkout would not follow.
    #[error("the branch `{branch}` is checked out in {}", worktree.display())]
    CheckedOutElsewhere {
        /// Its short name.
        branch: String,
        /// Where.
        worktree: PathBuf,
    },
    /// Files the change names differ from what is committed.
    #[error("{} not as committed: {}", if paths.len() == 1 { "a file is" } else { "files are" }, paths.join(", "))]
    Dirty {
        /// Relative to the top of the work tree.
        paths: Vec<String>,
    },
    /// The path cannot take the new content.
    #[error("{path}: cannot be edited: {reason}")]
    NotEditable {
        /// Relative to the top of the work tree.
        path: String,
        /// In words.
        reason: String,
    },
    /// No author or committer is configured.
    #[error("git does not know who commits: {message}")]
    NoIdentity {
        /// Git's words.
        message: String,
    },
    /// `--author` is not `Name <address>`.
    #[error("`{text}` is not an author: `Name <address>` is needed")]
    BadAuthor {
        /// As given.
        text: String,
    },
    /// The commit could not be signed.
    #[error("the commit could not be signed: {message}")]
    Signing {
        /// The words of git or of the signing program.
        message: String,
    },
    /// The branch moved while the change was made.
    #[error("the branch `{branch}` moved meanwhile: expected {expected}, found {found}")]
    Moved {
        /// Its short name.
        branch: String,
        /// The value the change was made on, `nothing` for a new branch.
        expected: String,
        /// The value found.
        found: String,
    },
    /// Somebody else holds a lock of the repository.
    #[error("the repository is locked: {message}")]
    Locked {
        /// Which lock, in git's words.
        message: String,
    },
    /// The name is neither a configured remote nor a URL that may be used.
    #[error("`{remote}` is not a remote: {reason}")]
    BadRemote {
        /// As given, without credentials.
        remote: String,
        /// In words.
        reason: String,
    },
    /// The server asks for credentials, or does not take those it got.
    #[error("{remote}: not allowed in: {message}")]
    Authentication {
        /// The remote, without credentials.
        remote: String,
        /// The server's words.
        message: String,
    },
    /// The remote cannot be reached.
    #[error("{remote}: cannot be reached: {message}")]
    Unreachable {
        /// The remote, without credentials.
        remote: String,
        /// Git's words.
        message: String,
    },
    /// There is no such repository.
    #[error("{remote}: no such repository: {message}")]
    RemoteMissing {
        /// The remote, without credentials.
        remote: String,
        /// Git's words.
        message: String,
    },
    /// The remote has no such branch, tag or commit.
    #[error("{remote} has no `{reference}`")]
    NoSuchReference {
        /// The remote, without credentials.
        remote: String,
        /// As asked for.
        reference: String,
    },
    /// A reference that is no name of a branch, tag or commit.
    #[error("`{reference}` is not a reference that may be asked for")]
    BadReference {
        /// As given, cut short.
        reference: String,
    },
    /// The commit that the lock file names is not to be had any more.
    #[error("{remote} no longer gives {commit}, which overlay.lock holds for `{reference}`")]
    LockedGone {
        /// The remote, without credentials.
        remote: String,
        /// The branch or tag.
        reference: String,
        /// The commit.
        commit: String,
    },
    /// The cache has not what is needed, and the network may not be used.
    #[error("{remote} at `{reference}` is not in the cache, and the network may not be used")]
    Offline {
        /// The remote, without credentials.
        remote: String,
        /// As asked for.
        reference: String,
    },
    /// The remote refuses the push by a rule of its own.
    #[error("{remote} refuses commit {commit} on `{branch}`: {message}")]
    PushRefused {
        /// The remote, without credentials.
        remote: String,
        /// The short name of the branch.
        branch: String,
        /// The commit, which stays in the local repository.
        commit: String,
        /// The reason of the server.
        message: String,
    },
    /// Local and remote branch each have commits the other has not.
    #[error("`{branch}` and the same branch of {remote} have gone separate ways")]
    Diverged {
        /// The remote, without credentials.
        remote: String,
        /// The short name of the branch.
        branch: String,
    },
    /// Every try to push was overtaken.
    #[error("{tries} tries to push `{branch}` were each overtaken by another push")]
    LostEveryRace {
        /// The short name of the branch.
        branch: String,
        /// How many.
        tries: u32,
    },
    /// The push said it worked, and the branch does not hold the commit.
    #[error("{remote} took commit {commit}, and `{branch}` does not hold it: it is at {found}")]
    NotThere {
        /// The remote, without credentials.
        remote: String,
        /// The short name of the branch.
        branch: String,
        /// The commit pushed.
        commit: String,
        /// What the branch is at.
        found: String,
    },
    /// A file of the repository's own folder or of the work tree could not be written.
    #[error("{}: {reason}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
}
