//! Pull requests as every forge has them.

use super::detect::RepositoryName;

/// What became of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Neither merged nor closed.
    Open,
    /// Closed without a merge.
    Closed,
    /// Merged.
    Merged {
        /// The commit that brought it to the base branch, where the forge says so: the merge, the squashed one, or the last of the
        /// rebased ones.
        commit: Option<String>,
    },
}

/// Where the commits of a pull request come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The repository that holds the branch: the one of the pull request, or a fork of it.
    pub repository: RepositoryName,
    /// The short name of the branch.
    pub branch: String,
}

/// A pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number in the repository.
    pub number: u64,
    /// The forge's own name for it, where it has another than the number.
    pub node: String,
    /// Its page for people.
    pub url: String,
    /// The title.
    pub title: String,
    /// The body, Markdown.
    pub body: String,
    /// The short name of the branch that its commits are on.
    pub head_branch: String,
    /// The newest of them.
    pub head_commit: String,
    /// The repository that holds that branch; `None` where it is gone.
    pub head_repository: Option<String>,
    /// The short name of the branch it goes into.
    pub base_branch: String,
    /// What became of it.
    pub state: State,
    /// Not to be merged yet.
    pub is_draft: bool,
    /// The names of its labels.
    pub labels: Vec<String>,
    /// Whether it can be merged without conflicts; `None` while the forge does not know.
    pub is_mergeable: Option<bool>,
    /// The forge's word for what stands in the way of the merge, such as `blocked` or `behind`.
    pub merge_state: String,
    /// The forge merges it by itself as soon as it may.
    pub merges_by_itself: bool,
}

/// A pull request to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPullRequest {
    /// Where its commits come from.
    pub head: Head,
    /// The short name of the branch it goes into.
    pub base: String,
    /// The title.
    pub title: String,
    /// The body, Markdown.
    pub body: String,
    /// Not to be merged yet.
    pub is_draft: bool,
}

/// What changes in a pull request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// Another title.
    pub title: Option<String>,
    /// Another body.
    pub body: Option<String>,
    /// It is closed.
    pub close: bool,
    /// It is opened again.
    pub reopen: bool,
}

impl Update {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A commit of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchCommit {
    /// Its name.
    pub id: String,
    /// Its message.
    pub message: String,
    /// The address of who committed it.
    pub committer: String,
}

/// A commit for the forge to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCommit {
    /// The short name of its branch.
    pub branch: String,
    /// The commit that the branch is at, which it stands on.
    pub head: String,
    /// The whole message.
    pub message: String,
    /// The files that differ.
    pub files: Vec<FileChange>,
}

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the top of the repository.
    pub path: String,
    /// What it holds; `None` where it goes.
    pub content: Option<Vec<u8>>,
}

/// Whether a pull request is from `head` into `base`. Forges answer a question for one branch with those of forks that use the
/// same name, or, where they did not understand it, with all there are.
pub fn is_of(pull_request: &PullRequest, head: &Head, base: &str) -> bool {
    let repository = pull_request.head_repository.as_deref();
    pull_request.head_branch == head.branch
        && pull_request.base_branch == base
        && repository.is_some_and(|name| head.repository.is(name))
}
