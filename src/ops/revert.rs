//! `overlay revert`: finds the commit to go back to, in the history of what is edited, and makes the change.

use std::ffi::OsString;
use std::sync::Arc;

use super::Context;
use super::change::revert::absent;
use super::deliver::Delivery;
#[cfg(feature = "registry")]
use super::digests::{DigestRequest, Digests};
use super::edit::{self, EditRequest};
use super::history::{is_revert, states::States, step};
use super::revision::find_kustomization;
use crate::change::{Change, Hold, HoldScope, Restored, Revert, RevertTarget};
use crate::clock;
use crate::discover::shown_directory;
use crate::error::{Error, codes};
use crate::git::{self, GitError, ObjectId, Parents, Remote, Repository, Walk, short_name};
use crate::report::Report;

/// How far a shallow clone is deepened, each time that what is sought is not in it; at last to the beginning.
const STEPS: [Option<u32>; 3] = [Some(50), Some(1_000), None];

/// How long registries are waited for.
#[cfg(feature = "registry")]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(15);

/// Where to go back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Back {
    /// To what the overlay was at a revision.
    To(String),
    /// To before the newest of the commits that changed what it renders, reverts by this program left out; so
    /// many of them.
    Steps(usize),
}

/// What the user asks of `overlay revert`.
#[derive(Clone, Debug)]
pub struct RevertRequest {
    /// The overlays as typed.
    pub overlays: Vec<OsString>,
    /// Where to go back to.
    pub back: Back,
    /// The change, without targets.
    pub revert: Revert,
    /// `--hold`: how long edits are refused, in seconds from now.
    pub hold: Option<HoldFor>,
    /// How registries are asked whether they still have what comes back.
    #[cfg(feature = "registry")]
    pub registries: DigestRequest,
    /// `--dry-run`.
    pub dry_run: bool,
    /// How the edit is delivered; `None` leaves it in the files.
    pub delivery: Option<Delivery>,
}

/// A hold that is put along.
#[derive(Clone, Debug, Default)]
pub struct HoldFor {
    /// When it ends, RFC 3339.
    pub until: String,
    /// Why it stands; what was gone back to where nothing is said.
    pub reason: Option<String>,
    /// Who puts it; git's committer where nothing is said.
    pub by: Option<String>,
}

/// Goes back in every overlay named, all or nothing.
///
/// # Errors
/// Refusals and failures, each with its code; nothing was written then.
pub fn run(context: &Context, request: &RevertRequest) -> Result<Report, Error> {
    let (edit, is_deepened) = find_edit(context, request)?;
    let mut report = edit::run(context, &edit)?;
    if is_deepened {
        report.notes.warning("the clone was shallow and has been deepened");
    }
    Ok(report)
}

/// Going back as an edit: the commits that it goes back to are found.
///
/// # Errors
/// As [`run`], before anything is planned.
pub fn to_edit(context: &Context, request: &RevertRequest) -> Result<EditRequest, Error> {
    find_edit(context, request).map(|(edit, _)| edit)
}

/// The edit, and whether the clone had to be deepened for it.
fn find_edit(context: &Context, request: &RevertRequest) -> Result<(EditRequest, bool), Error> {
    let (files, located) = context.locate(&request.overlays)?;
    #[cfg(feature = "registry")]
    ask_registries(context, request)?;
    let search = Search::open(context, files.root(), request)?;
    let mut revert = request.revert.clone();
    for overlay in &located {
        let commit = search.target(&overlay.directory)?.to_string();
        revert.targets.push(RevertTarget { directory: overlay.directory.clone(), commit });
    }
    if let Some(hold) = &request.hold {
        revert.hold = Some(search.hold(hold, &revert)?);
    }
    let edit = EditRequest {
        overlays: request.overlays.clone(),
        change: Change::Revert(revert),
        dry_run: request.dry_run,
        no_proof: false,
        delivery: request.delivery.clone(),
    };
    Ok((edit, search.deepened.get()))
}

/// Lets registries be asked whether they still have what comes back; for a short time, since going back is urgent.
#[cfg(feature = "registry")]
fn ask_registries(context: &Context, request: &RevertRequest) -> Result<(), Error> {
    if context.offline || request.revert.allow_gone {
        return Ok(());
    }
    let mut brief = context.clone();
    brief.timeout = Some(context.allowed_time().map_or(PATIENCE, |time| time.min(PATIENCE)));
    context.ask_digests(Digests::new(&brief, &request.registries)?);
    Ok(())
}

/// What a pull request would be made on.
#[cfg(feature = "forge")]
fn proposed_onto(repository: &Repository, delivery: &Delivery) -> Result<ObjectId, Error> {
    super::deliver::base_tip(repository, delivery)
}

#[cfg(not(feature = "forge"))]
fn proposed_onto(repository: &Repository, _: &Delivery) -> Result<ObjectId, Error> {
    Ok(repository.resolve("HEAD")?)
}

/// Looks for commits in the history of what is edited.
struct Search<'a> {
    context: &'a Context,
    repository: Repository,
    tip: ObjectId,
    back: &'a Back,
    remote: Option<String>,
    deepened: std::cell::Cell<bool>,
}

impl<'a> Search<'a> {
    fn open(
        context: &'a Context,
        root: &std::path::Path,
        request: &'a RevertRequest,
    ) -> Result<Self, Error> {
        let repository = Repository::open(&Arc::new(context.git_settings()), root)?;
        let delivery = request.delivery.as_ref();
        if let Some(address) = delivery.and_then(|delivery| delivery.remote.as_deref())
            && git::is_address(address)
        {
            let message =
                "going back needs the history of a clone, which --remote with an address has not";
            return Err(Error::new(codes::USAGE, message).hint("clone the repository first"));
        }
        let branch = delivery.and_then(|delivery| delivery.branch.as_deref());
        let branch = branch.map(|name| git::branch_reference(&repository, name)).transpose()?;
        let existing = branch.map(|name| repository.reference(&name)).transpose()?.flatten();
        let tip = match (existing, delivery) {
            (_, Some(delivery)) if delivery.pull_request.is_some() => {
                proposed_onto(&repository, delivery)?
            }
            (Some(existing), _) => existing,
            (None, _) => repository.resolve("HEAD")?,
        };
        let remote = delivery.and_then(|delivery| delivery.remote.clone());
        let back = &request.back;
        Ok(Self { context, repository, tip, back, remote, deepened: false.into() })
    }

    /// The commit that the overlay at `directory` goes back to.
    fn target(&self, directory: &str) -> Result<ObjectId, Error> {
        let commit = match self.back {
            Back::To(revision) => self.named(revision)?,
            Back::Steps(steps) => self.before_newest(directory, *steps)?,
        };
        let files = self.repository.files_of(commit)?;
        match find_kustomization(&files, directory)? {
            Some(_) => Ok(commit),
            None => Err(absent(directory, &commit.short())),
        }
    }

    /// A revision that what is edited stands on.
    fn named(&self, revision: &str) -> Result<ObjectId, Error> {
        let found = self.deepening(|| match self.repository.resolve(revision) {
            Ok(commit) => Ok(Some(commit)),
            Err(GitError::UnknownRevision { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        })?;
        let Some(commit) = found else {
            let (revision, is_shallow) = (revision.to_owned(), self.repository.is_shallow()?);
            return Err(GitError::UnknownRevision { revision, is_shallow }.into());
        };
        let is_behind = || self.repository.is_ancestor(commit, self.tip);
        if self.deepening(|| Ok(is_behind()?.then_some(())))?.is_some() {
            return Ok(commit);
        }
        let message =
            format!("{} is no part of the history of {}", commit.short(), self.tip.short());
        Err(Error::new(codes::NOT_AN_ANCESTOR, message)
            .hint("`overlay history` tells the commits that can be gone back to"))
    }

    /// What the overlay was before the newest `steps` of the commits that changed it.
    fn before_newest(&self, directory: &str, steps: usize) -> Result<ObjectId, Error> {
        let mut seen = 0;
        let found = self.deepening(|| {
            seen = 0;
            let mut states = States::open(self.context, &self.repository, directory);
            let found = self.walk_back(&mut states, steps, &mut seen);
            states.keep();
            found
        })?;
        found.ok_or_else(|| {
            let shown = shown_directory(directory);
            let message = format!(
                "{shown}: {steps} to be undone, and only {seen} of its commits changed what it renders and can be undone"
            );
            Error::new(codes::ABSENT_THEN, message)
        })
    }

    fn walk_back(
        &self,
        states: &mut States<'_>,
        steps: usize,
        seen: &mut usize,
    ) -> Result<Option<ObjectId>, Error> {
        for walked in Walk::new(&self.repository, self.tip, None, Parents::First)? {
            let walked = walked?;
            if walked.is_cut_off {
                return Ok(None);
            }
            if step(states, &walked)?.is_none() || is_revert(&walked.commit.message) {
                continue;
            }
            let Some(parent) = walked.parents.first() else { return Ok(None) };
            *seen += 1;
            if *seen == steps {
                return Ok(Some(parent.id));
            }
        }
        Ok(None)
    }

    /// What `look` finds; where it finds nothing and the clone is shallow, it looks again in a deeper one.
    fn deepening<T>(
        &self,
        mut look: impl FnMut() -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, Error> {
        let mut found = look()?;
        for by in STEPS {
            if found.is_some() || !self.repository.is_shallow()? {
                break;
            }
            self.deepen(by)?;
            found = look()?;
        }
        Ok(found)
    }

    fn deepen(&self, by: Option<u32>) -> Result<(), Error> {
        let shallow = |cause: String| {
            let message = "the clone is shallow, and what is sought is not in it";
            Error::new(codes::SHALLOW_CLONE, message)
                .cause(cause)
                .hint("fetch more of it: git fetch --unshallow")
        };
        if self.context.offline {
            return Err(shallow("--offline forbids to fetch it".to_owned()));
        }
        let name = self.remote_name()?;
        let fetched = Remote::open(self.repository.git(), &name)
            .and_then(|remote| remote.deepen(&self.repository, by));
        fetched.map_err(|error| shallow(Error::from(error).to_string()))?;
        self.deepened.set(true);
        Ok(())
    }

    /// The remote that was named, that of the current branch, or `origin`.
    fn remote_name(&self) -> Result<String, Error> {
        if let Some(name) = &self.remote {
            return Ok(name.clone());
        }
        let branch = self.repository.current_branch()?;
        let setting = branch.map(|name| format!("branch.{}.remote", short_name(&name)));
        let name = setting.map(|setting| self.repository.setting(&setting)).transpose()?;
        Ok(name.flatten().filter(|name| name != ".").unwrap_or_else(|| "origin".to_owned()))
    }

    fn hold(&self, hold: &HoldFor, revert: &Revert) -> Result<Hold, Error> {
        let first = revert.targets.first();
        let commit: String =
            first.map(|target| target.commit.chars().take(12).collect()).unwrap_or_default();
        Ok(Hold {
            until: hold.until.clone(),
            reason: hold.reason.clone().unwrap_or_else(|| format!("went back to {commit}")),
            by: super::hold::who(&self.repository, hold.by.as_deref())?,
            scope: HoldScope::All,
        })
    }
}

/// Until when a hold of that length stands.
#[must_use]
pub fn until_after(length: std::time::Duration) -> String {
    clock::format_rfc_3339(clock::now_unix().saturating_add(length.as_secs()))
}

/// Nothing that is restored yet.
#[must_use]
pub fn nothing_restored(restored: Restored) -> Revert {
    Revert {
        targets: Vec::new(),
        restored,
        allowed_removals: Vec::new(),
        allow_missing: false,
        allow_downgrade: false,
        replace_placeholder: false,
        allow_placeholder: false,
        allow_gone: false,
        overwrite: false,
        hold: None,
    }
}
