//! Delivery through git: the edit is planned and proven on a revision, committed in the object store, and only then do
//! branches, checkout and remote follow.

#[cfg(feature = "git")]
mod job;
#[cfg(feature = "git")]
mod local;
#[cfg(feature = "git")]
mod message;
#[cfg(feature = "forge")]
mod pull_request;
#[cfg(feature = "git")]
mod push;
#[cfg(all(feature = "forge", feature = "argocd"))]
mod survey;
#[cfg(feature = "git")]
mod template;

#[cfg(feature = "forge")]
pub use crate::forge::MergeMethod;
#[cfg(feature = "forge")]
pub(crate) use pull_request::base_tip;
#[cfg(all(feature = "forge", feature = "argocd"))]
pub(in crate::ops) use pull_request::require_forge;
#[cfg(feature = "forge")]
pub use pull_request::{BranchRequest, propose_branch};
#[cfg(all(feature = "forge", feature = "argocd"))]
pub(in crate::ops) use survey::Survey;

use std::ffi::OsString;

use super::Context;
use crate::change::Change;
use crate::error::Error;
use crate::report::change::ChangeReport;

/// How an edit is delivered: as a commit, on which branch, pushed or not.
#[derive(Clone, Debug, Default)]
pub struct Delivery {
    /// `--branch`: the branch that gets the commit, in place of the current one.
    pub branch: Option<String>,
    /// `--base`: the branch that a new branch starts from.
    pub base: Option<String>,
    /// `--push`.
    pub push: bool,
    /// `--dry-run`: the edit is made where a push would make it, and shown; nothing is pushed.
    pub is_dry_run: bool,
    /// `--remote`: a configured name or an address.
    pub remote: Option<String>,
    /// `--message`, in place of the one made from the change.
    pub message: Option<String>,
    /// More trailers of the commit, each a whole line.
    pub trailers: Vec<String>,
    /// `--author`.
    pub author: Option<String>,
    /// `--sign`.
    pub sign: bool,
    /// `--signoff`.
    pub sign_off: bool,
    /// `--ignore-dirty`: what is on disk and not committed is left out, where the checkout need not follow.
    pub ignore_dirty: bool,
    /// `--pr`: the commit goes to a branch of its own, and a pull request carries it.
    pub pull_request: Option<PullRequestOptions>,
}

/// What is asked of a pull request.
#[derive(Clone, Debug, Default)]
pub struct PullRequestOptions {
    /// `--forge`: the kind of the forge.
    pub forge: Option<String>,
    /// `--forge-url`: its address, or that of its API.
    pub forge_url: Option<String>,
    /// `--repo`: the repository that gets the pull request.
    pub repository: Option<String>,
    /// `--title`, in place of the commit's subject.
    pub title: Option<String>,
    /// `--draft`.
    pub is_draft: bool,
    /// `--label`.
    pub labels: Vec<String>,
    /// `--reviewer`: people, and teams as `ORG/TEAM`.
    pub reviewers: Vec<String>,
    /// `--assignee`.
    pub assignees: Vec<String>,
    /// `--commit-via-api`: the forge makes the commit, and signs it.
    pub commit_via_api: bool,
    /// `--wait-merge` and `--merge`: the command ends when the base branch holds the change.
    pub landing: Option<Landing>,
}

/// How a change comes from its pull request to the base branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Landing {
    /// `--merge`: this program merges as soon as that is allowed; else somebody has to.
    pub merges: bool,
    /// `--merge-method`; what the repository prefers where nothing is said.
    #[cfg(feature = "forge")]
    pub method: Option<MergeMethod>,
}

/// Brings `change` about in the overlays named and delivers it.
///
/// # Errors
/// Refusals, and what git cannot do; what was delivered by then is named.
#[cfg(feature = "git")]
pub fn run(
    context: &Context,
    overlays: &[OsString],
    change: &Change,
    delivery: &Delivery,
) -> Result<ChangeReport, Error> {
    job::run(context, overlays, change, delivery)
}

/// As every delivery in a program that was built without git.
///
/// # Errors
/// Always.
#[cfg(not(feature = "git"))]
pub fn run(_: &Context, _: &[OsString], _: &Change, _: &Delivery) -> Result<ChangeReport, Error> {
    let message = "this program was built without git; leave the options of delivery out";
    Err(Error::new(crate::error::codes::NOT_DELIVERABLE, message))
}
