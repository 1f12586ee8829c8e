//! How an edit is delivered: the options that every edit command has.

use clap::Args;

use crate::error::{Error, codes};
use crate::ops::deliver::{Delivery, PullRequestOptions};

/// Options of delivery through git.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Delivery")]
pub(crate) struct DeliveryArgs {
    /// Commit the edit on the current branch; checkout and index follow for the files it changes.
    #[arg(long, conflicts_with = "dry_run")]
    commit: bool,

    /// Commit on this branch instead, which is made where it does not exist; checkout and index stay as they are.
    #[arg(long, value_name = "NAME", conflicts_with = "dry_run")]
    branch: Option<String>,

    /// Push the commit; where somebody came first, the edit is made again on the new head.
    ///
    /// With --dry-run nothing is pushed: the edit is shown on the branch as the remote has it.
    #[arg(long)]
    push: bool,

    /// The branch that a new branch starts from.
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,

    /// The remote to push to: a configured name, or an address, which needs no clone.
    #[arg(long, value_name = "NAME|URL")]
    remote: Option<String>,

    /// The commit message, instead of the one made from the change.
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,

    /// The author of the commit, `Name <address>`.
    #[arg(long, value_name = "AUTHOR")]
    author: Option<String>,

    /// Sign the commit, as `git commit -S` does.
    #[arg(long)]
    sign: bool,

    /// Add `Signed-off-by` with the committer.
    #[arg(long)]
    signoff: bool,

    /// Edit an overlay though its `overlay-hold.yaml` refuses that.
    #[arg(long)]
    pub(super) override_hold: bool,

    /// Go on though files of the edit are not as committed; what is on disk stays there and out of the commit.
    ///
    /// For --branch and --push, which need not touch the checkout; --commit alone is refused all the same.
    #[arg(long)]
    ignore_dirty: bool,

    #[cfg(feature = "forge")]
    #[command(flatten)]
    pull_request: super::pull_request::PullRequestArgs,
}

impl DeliveryArgs {
    /// The delivery asked for; `None` where the edit stays in the files. A dry run shows the edit where a push would
    /// make it, if the remote is spoken of.
    ///
    /// # Errors
    /// Where something is said of a commit that is not asked for.
    pub(crate) fn to_delivery(&self, dry_run: bool) -> Result<Option<Delivery>, Error> {
        if self.message.as_ref().is_some_and(|text| text.trim().is_empty()) {
            return Err(Error::new(codes::USAGE, "--message is empty"));
        }
        let pull_request = self.to_pull_request()?;
        let is_preview = dry_run && pull_request.is_none();
        let push = self.push || pull_request.is_some() || (is_preview && self.remote.is_some());
        if !self.commit && !push && self.branch.is_none() {
            return self.require_nothing_said().map(|()| None);
        }
        Ok(Some(Delivery {
            branch: self.branch.clone(),
            base: self.base.clone(),
            push,
            is_dry_run: is_preview,
            remote: self.remote.clone(),
            message: self.message.clone(),
            trailers: Vec::new(),
            author: self.author.clone(),
            sign: self.sign,
            sign_off: self.signoff,
            ignore_dirty: self.ignore_dirty,
            pull_request,
        }))
    }

    /// From now on the edit goes by pull request, whatever was typed; `merges` adds `--merge`.
    #[cfg(all(feature = "forge", feature = "argocd"))]
    pub(crate) fn require_pull_request(&mut self, merges: bool) {
        self.pull_request.require(merges);
    }

    #[cfg(feature = "forge")]
    fn to_pull_request(&self) -> Result<Option<PullRequestOptions>, Error> {
        self.pull_request.to_options()
    }

    #[cfg(not(feature = "forge"))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
    fn to_pull_request(&self) -> Result<Option<PullRequestOptions>, Error> {
        Ok(None)
    }

    fn require_nothing_said(&self) -> Result<(), Error> {
        let said = [
            ("--base", self.base.is_some()),
            ("--remote", self.remote.is_some()),
            ("--message", self.message.is_some()),
            ("--author", self.author.is_some()),
            ("--sign", self.sign),
            ("--signoff", self.signoff),
            ("--ignore-dirty", self.ignore_dirty),
        ];
        match said.iter().find(|(_, is_said)| *is_said) {
            Some((name, _)) => Err(Error::new(codes::USAGE, format!("{name} needs a commit"))
                .hint("add --commit, --branch NAME or --push")),
            None => Ok(()),
        }
    }
}
