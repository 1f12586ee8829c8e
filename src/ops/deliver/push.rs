//! A commit that goes to a remote: made on the branch as the remote has it, and made again where somebody came first.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use serde_json::Value as Json;

use super::Delivery;
use super::job::{Job, Made, report};
use super::local::Target;
use crate::change::Change;
use crate::error::{Error, Exit, codes};
use crate::git::{
    GitError, ObjectId, Pushed, Remade, Remote, Repository, Settings, TEMPORARY_REMOTE,
    TemporaryClone, advance_current_branch, branch_reference, move_branch, push_with_retry,
    short_name,
};
use crate::ops::{Context, revision};
use crate::plan::Note;
use crate::report::change::{ChangeReport, Delivered, OverlayReport};
use crate::verify::{Effect, FieldChange};

/// Shows the edit on the branch as the remote has it; nothing is committed.
///
/// # Errors
/// As [`run`].
pub(super) fn preview(job: &Job<'_>) -> Result<ChangeReport, Error> {
    let target = Target::choose(job)?;
    let local = job.repository.reference(target.branch())?;
    let name = remote_name(job.repository, job.delivery, Some(target.branch()))?;
    let remote = Remote::open(job.repository.git(), &name)?;
    Attempt::new(job, &remote, &target, local).preview()
}

/// Commits the edit on the branch as the remote has it, and pushes it.
///
/// # Errors
/// As planning, and what git or the remote refuses.
pub(super) fn run(job: &Job<'_>) -> Result<ChangeReport, Error> {
    let target = Target::choose(job)?;
    let local = job.repository.reference(target.branch())?;
    if let (Target::Current(branch), None) = (&target, local) {
        return Err(GitError::Unborn { branch: short_name(branch).to_owned() }.into());
    }
    let name = remote_name(job.repository, job.delivery, Some(target.branch()))?;
    let remote = Remote::open(job.repository.git(), &name)?;
    let mut attempt = Attempt::new(job, &remote, &target, local);
    let pushed =
        push_with_retry(&remote, job.repository, target.branch(), |head| attempt.make(head));
    let pushed = pushed.map_err(|error: Error| attempt.with_commit(error))?;
    let (made, mut notes) = (attempt.last.ok_or_else(nothing_made)?, attempt.notes);
    if pushed.is_new {
        notes.extend(follow(job, &target, local, &made));
    }
    Ok(finish(made, &target, remote.shown(), pushed, notes))
}

/// The same without a clone: a temporary repository of just what the overlays reach.
///
/// # Errors
/// As [`run`].
pub(super) fn without_clone(
    context: &Context,
    settings: &Arc<Settings>,
    address: &str,
    overlays: &[OsString],
    change: &Change,
    delivery: &Delivery,
) -> Result<ChangeReport, Error> {
    if !delivery.push {
        let error = Error::new(codes::USAGE, "--remote with an address and no clone needs --push");
        return Err(
            error.hint("a commit that is not pushed would go away with the temporary repository")
        );
    }
    let clone = TemporaryClone::new(settings, address)?;
    let repository = clone.repository();
    let remote = clone.remote()?;
    let start = match &delivery.base {
        Some(base) => branch_reference(repository, base)?,
        None => remote.default_branch()?,
    };
    let branch = match &delivery.branch {
        Some(branch) => branch_reference(repository, branch)?,
        None => start.clone(),
    };
    let missing = || GitError::NoSuchReference {
        remote: remote.shown().to_owned(),
        reference: start.clone(),
    };
    let tip = match clone.fetch_tip(&branch)? {
        Some(tip) => tip,
        None => clone.fetch_tip(&start)?.ok_or_else(missing)?,
    };
    let located = revision::locate(&repository.files_of(tip)?, overlays)?;
    let job = Job { context, repository, disk: None, located, change, delivery };
    #[cfg(feature = "forge")]
    if let Some(wanted) = &delivery.pull_request {
        return super::pull_request::without_clone(&job, wanted, &clone);
    }
    let target = Target::Other(branch);
    let mut attempt = Attempt::new(&job, &remote, &target, None);
    if delivery.is_dry_run {
        return attempt.preview();
    }
    let pushed = push_with_retry(&remote, repository, target.branch(), |head| attempt.make(head))?;
    let made = attempt.last.ok_or_else(nothing_made)?;
    Ok(finish(made, &target, clone.address(), pushed, Vec::new()))
}

fn nothing_made() -> Error {
    Error::new(codes::INTERNAL, "internal error: a push without an edit")
}

fn finish(
    made: Made,
    target: &Target,
    remote: &str,
    pushed: Pushed,
    notes: Vec<Note>,
) -> ChangeReport {
    let shown = pushed.is_new.then(|| remote.to_owned());
    let delivered = Delivered { remote: shown, notes, ..Delivered::default() };
    let mut report = report(made, target.branch(), delivered);
    if let (true, Some(commit)) = (pushed.is_new, pushed.commit) {
        report.delivered.commit = Some(commit.to_string());
        report.delivered.branch = Some(short_name(target.branch()).to_owned());
    }
    report
}

/// The remote that `--remote` names, else that of the branch or of the current one, else `origin`.
pub(super) fn remote_name(
    repository: &Repository,
    delivery: &Delivery,
    branch: Option<&str>,
) -> Result<String, Error> {
    if let Some(name) = &delivery.remote {
        return Ok(name.clone());
    }
    let current = repository.current_branch()?;
    for branch in [branch, current.as_deref()].into_iter().flatten() {
        let configured = repository.setting(&format!("branch.{}.remote", short_name(branch)))?;
        if let Some(name) = configured.filter(|name| name != ".") {
            return Ok(name);
        }
    }
    Ok(TEMPORARY_REMOTE.to_owned())
}

/// The fields that an edit changes, with their values before and after.
pub(super) type Values = BTreeMap<String, FieldChange>;

/// The edit, made on one head after another.
struct Attempt<'a> {
    job: &'a Job<'a>,
    remote: &'a Remote<'a>,
    target: &'a Target,
    local: Option<ObjectId>,
    last: Option<Made>,
    first: Option<Values>,
    /// What to know about the last attempt.
    notes: Vec<Note>,
}

impl<'a> Attempt<'a> {
    fn new(
        job: &'a Job<'a>,
        remote: &'a Remote<'a>,
        target: &'a Target,
        local: Option<ObjectId>,
    ) -> Self {
        Self { job, remote, target, local, last: None, first: None, notes: Vec::new() }
    }

    /// What failed outside says what exists by then: the commit, which no branch holds.
    fn with_commit(&self, error: Error) -> Error {
        let commit = self.last.as_ref().and_then(|made| made.commit.as_ref());
        match commit.filter(|_| error.exit() == Exit::Outside) {
            Some(built) if !error.message().contains(&built.id.to_string()) => {
                let id = built.id;
                error.cause(format!("the edit is commit {id} of this repository, on no branch yet"))
            }
            _ => error,
        }
    }

    /// What the edit comes to where a push would make it now.
    fn preview(&self) -> Result<ChangeReport, Error> {
        let head = self.remote.peek_at_branch(self.job.repository, self.target.branch())?;
        let proven = self.job.prove(self.base(head)?)?;
        let delivered = Delivered::default();
        Ok(ChangeReport { dry_run: true, overlays: proven.overlays, delivered })
    }

    fn make(&mut self, head: Option<ObjectId>) -> Result<Remade, Error> {
        let base = self.base(head)?;
        let made = self.job.make(base)?;
        let values = values_of(&made.proven.overlays);
        match &self.first {
            None => self.first = Some(values.clone()),
            Some(first) => require_same_before(first, &values, self.remote.shown())?,
        }
        let remade = match &made.commit {
            Some(built) => Remade::Commit(built.id),
            // The branch holds the change already, and the remote lacks commits of it.
            None if self.local == Some(base) && head != Some(base) => Remade::Commit(base),
            None => Remade::AlreadySo,
        };
        self.notes = self.earlier(head, base)?.into_iter().collect();
        self.notes.extend(replaced(self.job, base, &values));
        self.last = Some(made);
        Ok(remade)
    }

    /// The commit that the edit is made on, where the remote's branch is at `head`: the later one of that
    /// and the local branch.
    fn base(&self, head: Option<ObjectId>) -> Result<ObjectId, Error> {
        let repository = self.job.repository;
        match (head, self.local) {
            (None, None) => self.start(),
            (None, Some(local)) => Ok(local),
            (Some(head), None) => Ok(head),
            (Some(head), Some(local)) if repository.is_ancestor(local, head)? => Ok(head),
            (Some(head), Some(local)) if repository.is_ancestor(head, local)? => Ok(local),
            _ => Err(GitError::Diverged {
                remote: self.remote.shown().to_owned(),
                branch: short_name(self.target.branch()).to_owned(),
            }
            .into()),
        }
    }

    /// What goes along: commits of the local branch that were made before and not pushed.
    fn earlier(&self, head: Option<ObjectId>, base: ObjectId) -> Result<Option<Note>, Error> {
        if self.local != Some(base) {
            return Ok(None);
        }
        let branch = short_name(self.target.branch());
        let commits = match self.job.repository.count_commits(head, base)? {
            0 => return Ok(None),
            1 => "1 earlier commit".to_owned(),
            many => format!("{many} earlier commits"),
        };
        let message = format!("pushes {commits} of {branch} too");
        Ok(Some(Note { code: "earlier-commits", message }))
    }

    /// Where a branch that the remote has not starts: at the remote's head of the base branch.
    fn start(&self) -> Result<ObjectId, Error> {
        let repository = self.job.repository;
        let current = repository.current_branch()?;
        let candidates = match (&self.job.delivery.base, current) {
            (Some(base), _) => vec![branch_reference(repository, base)?],
            (None, Some(current)) if self.job.disk.is_some() => {
                vec![current, self.remote.default_branch()?]
            }
            (None, _) => vec![self.remote.default_branch()?],
        };
        for branch in &candidates {
            if let Some(head) = self.remote.fetch_branch(repository, branch)? {
                return Ok(head);
            }
        }
        let reference = candidates.last().cloned().unwrap_or_default();
        Err(GitError::NoSuchReference { remote: self.remote.shown().to_owned(), reference }.into())
    }
}

pub(super) fn values_of(overlays: &[OverlayReport]) -> Values {
    let mut all = Values::new();
    for overlay in overlays {
        let Effect { changes } = &overlay.effect;
        for change in changes {
            let resource = &change.resource;
            let key = format!(
                "{}: {}/{}/{} {}",
                overlay.path, resource.kind, resource.namespace, resource.name, change.path
            );
            all.insert(key, change.clone());
        }
    }
    all
}

/// The values of the revision `base` that the edit replaces and that the checkout's commit has not: whoever asked for the
/// edit may not have seen them.
fn replaced(job: &Job<'_>, base: ObjectId, values: &Values) -> Vec<Note> {
    let head = job.disk.and_then(|_| job.repository.resolve("HEAD").ok());
    let Some(head) = head.filter(|head| *head != base) else { return Vec::new() };
    let Ok(here) = job.prove(head) else { return Vec::new() };
    let here = values_of(&here.overlays);
    let differs = |(field, change): &(&String, &FieldChange)| {
        here.get(*field).is_none_or(|known| known.before != change.before)
    };
    let note = |(field, change): (&String, &FieldChange)| {
        let before = shown(&change.shown().before);
        let message = format!("{field}: replaces {before}, which your checkout does not have");
        Note { code: "replaces-unseen", message }
    };
    values.iter().filter(differs).map(note).collect()
}

fn shown(value: &Option<Json>) -> String {
    value.as_ref().map_or_else(|| "nothing".to_owned(), Json::to_string)
}

/// Somebody else's new value is not written over: whoever asked for this one did not know of it.
pub(super) fn require_same_before(first: &Values, now: &Values, remote: &str) -> Result<(), Error> {
    for (field, change) in now {
        let Some(known) = first.get(field) else { continue };
        if known.before != change.before {
            let change = change.shown();
            let message = format!(
                "{field}: somebody set {} on {remote} meanwhile; asked for was {}",
                shown(&change.before),
                shown(&change.after)
            );
            let error = Error::new(codes::CHANGED_ON_REMOTE, message);
            return Err(error.hint("run the command again if yours is still the right value"));
        }
    }
    Ok(())
}

/// Lets the local branch follow what was pushed, where that is safe; says so where it is not.
fn follow(job: &Job<'_>, target: &Target, local: Option<ObjectId>, made: &Made) -> Option<Note> {
    let built = made.commit.as_ref()?;
    match target {
        Target::Current(branch) if local == Some(built.base) => {
            let moved = advance_current_branch(job.repository, built);
            moved.err().map(|error| behind(branch, &error.to_string()))
        }
        Target::Current(branch) => Some(behind(branch, "the remote had commits that it has not")),
        Target::Other(branch) => {
            let is_behind = |old| job.repository.is_ancestor(old, built.id).unwrap_or(false);
            if local.is_none_or(is_behind) {
                let moved = move_branch(job.repository, branch, local, built);
                return moved.err().map(|error| behind(branch, &error.to_string()));
            }
            Some(behind(branch, "it has commits of its own"))
        }
    }
}

fn behind(branch: &str, reason: &str) -> Note {
    let branch = short_name(branch);
    let message =
        format!("the commit is pushed; the local branch {branch} stays where it is: {reason}");
    Note { code: "local-behind", message }
}
