//! Hosts of pull requests: finding ours, opening it, keeping it up to date, merging it.
//!
//! [`Forge`] is the port; [`detect`] says which host and which repository is meant, and where its credential may go;
//! [`github`] is GitHub and GitHub Enterprise, [`gitea`] is Gitea and Forgejo, [`gitlab`] is GitLab. Must not know what a change is, nor how a body is
//! written: it takes texts.

mod api;
mod credential;
mod detect;
mod error;
pub mod gitea;
pub mod github;
pub mod gitlab;
mod pull_request;
mod read;
mod retry;
mod standing;

pub use credential::{AppKey, Credential};
pub use detect::{DEFAULT_GITHUB_API, Kind, RepositoryName, Site, Wanted, detect};
pub use error::ForgeError;
pub use pull_request::{
    BranchCommit, FileChange, Head, NewCommit, NewPullRequest, PullRequest, State, Update, is_of,
};
pub use standing::{
    Check, CheckState, MergeMethod, Mergeable, Merger, Next, Reason, Review, Standing,
};

/// A host of pull requests, at one repository.
pub trait Forge {
    /// The repository whose pull requests these are.
    fn site(&self) -> &Site;

    /// The most characters that the body of a pull request may have.
    fn body_limit(&self) -> usize;

    /// The pull requests from this branch into `base`, of any state, newest first. Those of forks and of other branches of the same
    /// name are not among them.
    ///
    /// # Errors
    /// [`ForgeError`].
    fn find(&self, head: &Head, base: &str) -> Result<Vec<PullRequest>, ForgeError>;

    /// The open pull requests into `base` from branches of the repository itself, newest first, at most a few hundred.
    ///
    /// # Errors
    /// [`ForgeError`].
    fn list_open(&self, base: &str) -> Result<Vec<PullRequest>, ForgeError>;

    /// Opens a pull request. Where there is one already (a retry, another run), that one is given.
    ///
    /// # Errors
    /// [`ForgeError::NothingBetween`] where the branch has nothing that its base has not, and others.
    fn open(&self, new: &NewPullRequest) -> Result<PullRequest, ForgeError>;

    /// Changes what is said to be changed.
    ///
    /// # Errors
    /// [`ForgeError`].
    fn update(&self, number: u64, update: &Update) -> Result<PullRequest, ForgeError>;

    /// Adds a comment.
    ///
    /// # Errors
    /// [`ForgeError`].
    fn comment(&self, number: u64, text: &str) -> Result<(), ForgeError>;

    /// Adds labels.
    ///
    /// # Errors
    /// [`ForgeError`].
    fn add_labels(&self, number: u64, labels: &[String]) -> Result<(), ForgeError>;

    /// Asks for reviews: of people by name, of teams as `ORG/TEAM`.
    ///
    /// # Errors
    /// [`ForgeError`].
    fn request_reviews(&self, number: u64, reviewers: &[String]) -> Result<(), ForgeError>;

    /// Adds assignees.
    ///
    /// # Errors
    /// [`ForgeError`].
    fn add_assignees(&self, number: u64, assignees: &[String]) -> Result<(), ForgeError>;

    /// The commits of a pull request, oldest first, at most a few hundred.
    ///
    /// # Errors
    /// [`ForgeError`].
    fn commits(&self, number: u64) -> Result<Vec<BranchCommit>, ForgeError>;

    /// How a pull request stands on its way to the base branch.
    ///
    /// # Errors
    /// [`ForgeError`].
    fn standing(&self, number: u64) -> Result<Standing, ForgeError>;

    /// Merges a pull request whose newest commit is still `head`.
    ///
    /// # Errors
    /// [`ForgeError::Refused`] where it may not be merged now, not by that method, or has another newest commit.
    fn merge(&self, number: u64, head: &str, method: MergeMethod) -> Result<(), ForgeError>;

    /// Lets the forge merge a pull request by itself as soon as it may.
    ///
    /// # Errors
    /// [`ForgeError::Refused`] where the repository does not allow that, or where it could be merged at once.
    fn merge_later(
        &self,
        number: u64,
        standing: &Standing,
        method: MergeMethod,
    ) -> Result<(), ForgeError>;

    /// Puts a pull request in the queue of its base branch.
    ///
    /// # Errors
    /// [`ForgeError::Refused`] where it may not be merged, and [`ForgeError::Unsupported`] where there are no queues.
    fn enqueue(&self, standing: &Standing) -> Result<(), ForgeError>;

    /// Makes a commit on a branch of the head's repository that is still at the commit named, and gives its name. The forge signs it.
    ///
    /// # Errors
    /// [`ForgeError::Refused`] where the branch is elsewhere, and [`ForgeError::Unsupported`] where the forge makes none.
    fn commit(&self, new: &NewCommit) -> Result<String, ForgeError>;

    /// Merges the base branch into the branch of a pull request whose newest commit is still `head`.
    ///
    /// # Errors
    /// [`ForgeError`].
    fn bring_up_to_date(&self, number: u64, head: &str) -> Result<(), ForgeError>;
}

/// The forge of `site`, with the credential that the site may have. A request may take as long as is allowed; `options` are those of the
/// project's own client, by which all but GitHub are asked.
///
/// # Errors
/// Where the credential cannot be used.
pub fn open(
    site: Site,
    allowed: std::time::Duration,
    options: &crate::http::Options,
) -> Result<Box<dyn Forge>, ForgeError> {
    Ok(match site.kind {
        Kind::GitHub => Box::new(github::GitHub::open(site, allowed)?),
        Kind::Gitea => Box::new(gitea::Gitea::open(site, allowed, options)?),
        Kind::GitLab => Box::new(gitlab::GitLab::open(site, allowed, options)?),
    })
}

/// Opens a pull request by `try_open`; where the forge says that there is one already, or did not say how it ended, that one.
fn open_or_find(
    forge: &dyn Forge,
    new: &NewPullRequest,
    try_open: &dyn Fn() -> Result<PullRequest, ForgeError>,
) -> Result<PullRequest, ForgeError> {
    let error = match try_open() {
        Ok(opened) => return Ok(opened),
        Err(error) => error,
    };
    let exists =
        matches!(&error, ForgeError::Refused { message, .. } if message.contains("already exists"));
    if !exists && !error.is_ambiguous() {
        return Err(error);
    }
    let found = forge.find(&new.head, &new.base)?;
    match found.into_iter().find(|pull| pull.state == State::Open) {
        Some(pull) => Ok(pull),
        None if exists => Err(error),
        None => try_open(),
    }
}
