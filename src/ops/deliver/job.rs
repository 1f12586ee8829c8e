//! One delivery: the edit made on a revision, as a commit that no branch holds yet.

use std::ffi::OsString;
use std::sync::Arc;

#[cfg(feature = "forge")]
use super::pull_request;
use super::{Delivery, local, message, push, template};
use crate::change::Change;
use crate::discover::{DiskFiles, Located};
use crate::error::{Error, codes};
use crate::git::{
    self, Built, CommitText, GitError, ObjectId, Repository, RevisionFiles, Settings, Signing,
    build_commit, require_clean, short_name,
};
use crate::kustomize::{Files as _, SourceTree};
use crate::ops::Context;
use crate::ops::change::{Proven, databases, hold, prove_change, reach, revert};
use crate::ops::revision::find_kustomization;
use crate::report::change::{ChangeReport, Delivered};
use crate::write::NewText;

/// Brings `change` about in the overlays named and delivers it.
///
/// # Errors
/// Refusals, and what git cannot do; what was delivered by then is named.
pub(super) fn run(
    context: &Context,
    overlays: &[OsString],
    change: &Change,
    delivery: &Delivery,
) -> Result<ChangeReport, Error> {
    if let Some(author) = &delivery.author {
        // Before anything is looked at: what is malformed is so whatever the edit comes to.
        author.parse::<git::Author>()?;
    }
    let settings = Arc::new(context.git_settings());
    let address = delivery.remote.as_deref().filter(|remote| git::is_address(remote));
    let located = context.locate(overlays);
    if let (Err(error), Some(address)) = (&located, address) {
        return match error.code() {
            codes::NO_SUCH_OVERLAY | codes::NO_BOUNDARY => {
                push::without_clone(context, &settings, address, overlays, change, delivery)
            }
            _ => Err(error.clone()),
        };
    }
    let (disk, located) = located?;
    let repository = Repository::open(&settings, disk.root()).map_err(not_here)?;
    if !delivery.is_dry_run {
        git::finish_interrupted(&repository)?;
    }
    let job =
        Job { context, repository: &repository, disk: Some(&disk), located, change, delivery };
    match delivery {
        #[cfg(feature = "forge")]
        Delivery { pull_request: Some(wanted), .. } => pull_request::run(&job, wanted),
        Delivery { is_dry_run: true, .. } => push::preview(&job),
        Delivery { push: true, .. } => push::run(&job),
        _ => local::run(&job),
    }
}

/// A delivery needs no clone where the repository has an address.
pub(super) fn not_here(error: GitError) -> Error {
    let is_none = matches!(error, GitError::NotARepository { .. });
    let error = Error::from(error);
    if is_none { error.hint("or name a repository with --remote URL and --push") } else { error }
}

impl Context {
    /// How git is called: with the user's environment and `--timeout`.
    pub(crate) fn git_settings(&self) -> Settings {
        let mut settings = Settings::new(self.environment.variables.iter().cloned());
        if let Some(allowed) = self.allowed_time() {
            settings.network_limit = allowed;
        }
        settings
    }
}

/// One delivery.
pub(super) struct Job<'a> {
    pub(super) context: &'a Context,
    pub(super) repository: &'a Repository,
    pub(super) disk: Option<&'a DiskFiles>,
    pub(super) located: Vec<Located>,
    pub(super) change: &'a Change,
    pub(super) delivery: &'a Delivery,
}

/// The edit on one revision: what it does, and the commit, where there is something to commit.
pub(super) struct Made {
    pub(super) proven: Proven,
    pub(super) commit: Option<Built>,
}

impl Job<'_> {
    /// Plans, proves and commits the edit on top of `base`; no branch moves.
    pub(super) fn make(&self, base: ObjectId) -> Result<Made, Error> {
        let proven = self.prove(base)?;
        let commit = self.commit(base, &proven)?;
        Ok(Made { proven, commit })
    }

    /// Plans and proves the edit on top of `base`.
    pub(super) fn prove(&self, base: ObjectId) -> Result<Proven, Error> {
        let files = self.repository.files_of(base)?;
        // Each version has a lock file of its own.
        let context = self.context.with_own_remotes();
        let located = self.locate_in(&files, base)?;
        let editable = context.editable_in(&files, self.disk, located)?;
        let mut proven = match self.change {
            Change::Revert(wanted) => {
                let past = revert::Past { repository: self.repository, base, is_on_disk: false };
                let proven = revert::prove(&context, &past, &files, &editable, wanted)?;
                hold::require_none(&context, &files, &editable, self.change, &proven)?;
                databases::refuse_refused(self.change, &proven.overlays)?;
                proven
            }
            change => prove_change(&context, &files, &editable, change)?,
        };
        if let Some(disk) = self.disk {
            // The disk is not the revision that was edited, and shares nothing with it.
            let tree = SourceTree::default();
            reach::note_users(tree, disk, &editable, &mut proven.overlays)?;
        }
        Ok(proven)
    }

    /// The overlays as they are in a revision: the kustomization file may have another of its names there.
    fn locate_in(&self, files: &RevisionFiles, base: ObjectId) -> Result<Vec<Located>, Error> {
        let locate = |located: &Located| {
            find_kustomization(files, &located.directory)?
                .map(|file| Located { file, ..located.clone() })
                .ok_or_else(|| {
                    let shown = located.shown();
                    let message = format!("{shown} is no overlay in commit {}", base.short());
                    Error::new(codes::NO_SUCH_OVERLAY, message).hint("commit the overlay first")
                })
        };
        self.located.iter().map(locate).collect()
    }

    fn commit(&self, base: ObjectId, proven: &Proven) -> Result<Option<Built>, Error> {
        if proven.texts.is_empty() {
            return Ok(None);
        }
        let paths: Vec<&str> = proven.texts.iter().map(|text| text.path.as_str()).collect();
        if !self.delivery.ignore_dirty {
            require_clean(self.repository, &paths)?;
        }
        let change = |text: &NewText| git::FileChange {
            path: text.path.clone(),
            content: text.after.clone(),
        };
        let files: Vec<git::FileChange> = proven.texts.iter().map(change).collect();
        Ok(build_commit(self.repository, base, &files, &self.text(proven)?)?)
    }

    fn text(&self, proven: &Proven) -> Result<CommitText, Error> {
        let delivery = self.delivery;
        let author = delivery.author.as_deref().map(str::parse).transpose()?;
        let signing = if delivery.sign { Signing::Always } else { Signing::AsConfigured };
        let message = match &delivery.message {
            Some(message) => message.clone(),
            None => self.message(proven)?,
        };
        Ok(CommitText {
            message,
            records: vec![message::record(self.change, &proven.overlays)],
            trailers: delivery.trailers.clone(),
            author,
            sign_off: delivery.sign_off,
            signing,
        })
    }
}

impl Job<'_> {
    /// The message in the words of the repository, where its settings name a template, else in ours.
    fn message(&self, proven: &Proven) -> Result<String, Error> {
        let template = self.disk.zip(self.context.commit_message_template());
        let Some((disk, file)) = template else {
            return Ok(message::describe(self.change, &proven.overlays));
        };
        let bytes = disk.read(&file)?;
        let text = String::from_utf8_lossy(&bytes);
        template::fill(&file, &text, &message::parts(self.change, &proven.overlays))
    }
}

/// The report of a delivery; without a commit nothing was delivered.
pub(super) fn report(made: Made, branch: &str, delivered: Delivered) -> ChangeReport {
    let commit = made.commit.map(|built| built.id.to_string());
    let branch = commit.as_ref().map(|_| short_name(branch).to_owned());
    let delivered = Delivered { commit, branch, ..delivered };
    ChangeReport { dry_run: false, overlays: made.proven.overlays, delivered }
}
