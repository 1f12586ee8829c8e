//! The pull request of an edit: the options that every edit command has beside delivery.

use clap::Args;

use crate::error::{Error, codes};
use crate::ops::deliver::{BranchRequest, Landing, MergeMethod, PullRequestOptions};

/// Options of a pull request.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Pull request")]
pub(crate) struct PullRequestArgs {
    /// Push to a branch of its own and open a pull request, or bring the one that is open up to date.
    #[arg(long, conflicts_with = "dry_run")]
    pr: bool,

    /// Wait until the base branch holds the change, and name the commit that brought it; for 15m unless --timeout says otherwise.
    ///
    /// Where the branch no longer fits on its base, the edit is made anew. What the base branch renders then is read: the word of the
    /// forge is not enough.
    #[arg(long)]
    wait_merge: bool,

    /// Merge it as soon as that is allowed, by auto-merge or the merge queue where the branch needs it, and wait for that.
    #[arg(long, conflicts_with = "draft")]
    merge: bool,

    /// How it is merged, instead of what the repository prefers.
    #[arg(long, value_name = "METHOD", value_parser = ["merge", "squash", "rebase"], requires = "merge")]
    merge_method: Option<String>,

    /// Let the forge make the commit, which signs it as the credential's own: for GitHub, where an App's commits count as verified.
    ///
    /// The commit is compared with the one that was proven, and pushed with the same lease.
    #[arg(long, conflicts_with_all = ["author", "sign"])]
    commit_via_api: bool,

    #[command(flatten)]
    proposal: ProposalArgs,
}

/// What a pull request gets, and where it is opened.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Pull request")]
struct ProposalArgs {
    /// The title, instead of the first line of the commit message.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Open it as a draft.
    #[arg(long)]
    draft: bool,

    /// Add a label; may be given again.
    #[arg(long = "label", value_name = "LABEL")]
    labels: Vec<String>,

    /// Ask a person, or a team as ORG/TEAM, for a review; may be given again.
    #[arg(long = "reviewer", value_name = "NAME")]
    reviewers: Vec<String>,

    /// Assign it to a person; may be given again.
    #[arg(long = "assignee", value_name = "NAME")]
    assignees: Vec<String>,

    /// The kind of the forge, where it cannot be told from the remote or the environment.
    #[arg(long, value_name = "KIND", value_parser = ["github", "gitea", "forgejo", "gitlab"])]
    forge: Option<String>,

    /// The address of the forge, or of its API.
    #[arg(long, value_name = "URL")]
    forge_url: Option<String>,

    /// The repository that gets the pull request, where the branch is pushed to another one (a fork) or the remote does not say it.
    #[arg(long, value_name = "OWNER/NAME")]
    repo: Option<String>,
}

impl ProposalArgs {
    fn to_options(&self) -> PullRequestOptions {
        PullRequestOptions {
            forge: self.forge.clone(),
            forge_url: self.forge_url.clone(),
            repository: self.repo.clone(),
            title: self.title.clone(),
            is_draft: self.draft,
            labels: self.labels.clone(),
            reviewers: self.reviewers.clone(),
            assignees: self.assignees.clone(),
            commit_via_api: false,
            landing: None,
        }
    }

    /// What is said, by name.
    fn said(&self) -> Option<&'static str> {
        let all = [
            ("--title", self.title.is_some()),
            ("--draft", self.draft),
            ("--label", !self.labels.is_empty()),
            ("--reviewer", !self.reviewers.is_empty()),
            ("--assignee", !self.assignees.is_empty()),
            ("--forge", self.forge.is_some()),
            ("--forge-url", self.forge_url.is_some()),
            ("--repo", self.repo.is_some()),
        ];
        all.iter().find(|(_, is_said)| *is_said).map(|(name, _)| *name)
    }
}

/// Open the pull request of a branch that was pushed before, open it again, or bring it up to date.
///
/// What it changes is read from what the overlays render before and after it.
#[derive(Clone, Debug, Args)]
pub(crate) struct PrArgs {
    /// The branch, as the remote has it.
    #[arg(value_name = "BRANCH")]
    branch: String,

    /// The branch that it goes into.
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,

    /// The configured remote that has the branch.
    #[arg(long, value_name = "NAME")]
    remote: Option<String>,

    #[command(flatten)]
    proposal: ProposalArgs,
}

impl PrArgs {
    /// The request.
    pub(crate) fn to_request(&self) -> BranchRequest {
        BranchRequest {
            branch: self.branch.clone(),
            base: self.base.clone(),
            remote: self.remote.clone(),
            options: self.proposal.to_options(),
        }
    }
}

impl PullRequestArgs {
    /// Asks for a pull request, and where `merges` for its merge.
    #[cfg(feature = "argocd")]
    pub(super) fn require(&mut self, merges: bool) {
        self.pr = true;
        self.merge |= merges;
    }

    /// What is asked of the pull request; `None` where there is to be none.
    ///
    /// # Errors
    /// Where something is said of a pull request that is not asked for.
    pub(crate) fn to_options(&self) -> Result<Option<PullRequestOptions>, Error> {
        if !self.pr {
            return self.require_nothing_said().map(|()| None);
        }
        Ok(Some(PullRequestOptions {
            landing: self.landing(),
            commit_via_api: self.commit_via_api,
            ..self.proposal.to_options()
        }))
    }

    fn landing(&self) -> Option<Landing> {
        let method = self.merge_method.as_deref().and_then(MergeMethod::parse);
        let is_awaited = self.wait_merge || self.merge;
        is_awaited.then_some(Landing { merges: self.merge, method })
    }

    fn require_nothing_said(&self) -> Result<(), Error> {
        let own = [
            ("--wait-merge", self.wait_merge),
            ("--merge", self.merge),
            ("--commit-via-api", self.commit_via_api),
        ];
        let own = own.iter().find(|(_, is_said)| *is_said).map(|(name, _)| *name);
        match own.or_else(|| self.proposal.said()) {
            Some(name) => {
                Err(Error::new(codes::USAGE, format!("{name} needs a pull request"))
                    .hint("add --pr"))
            }
            None => Ok(()),
        }
    }
}
