//! The branch of a pull request: which one, on what, and how the edit comes onto it.

use super::api_commit::commit_by_forge;
use super::scope::nth_branch;
use crate::error::Error;
use crate::forge::{Forge, Head, PullRequest, State};
use crate::git::{
    self, Built, GitError, MOST_TRIES, ObjectId, Outcome, Remote, TemporaryClone, parse_records,
    short_name,
};
use crate::kustomize::Files as _;
use crate::ops::deliver::job::{Job, Made};
use crate::ops::deliver::message;
use crate::report::change::OverlayReport;
use crate::report::pull_request::find_marker;

/// How many branches of one name are looked at before a person has to clean up.
const MOST_BRANCHES: u32 = 20;

/// How many commits of a branch are looked at; one with more is not ours alone.
const MOST_COMMITS: usize = 50;

/// An edit, its base branch, and the branch that it is to have; full names.
pub(super) struct Line<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) remote: &'a Remote<'a>,
    pub(super) clone: Option<&'a TemporaryClone>,
    pub(super) base: String,
    pub(super) branch: String,
}

/// The branch as the remote has it now.
pub(super) struct Landed {
    /// Its full name.
    pub(super) branch: String,
    /// The edit on the base branch: what the pull request changes.
    pub(super) made: Made,
    /// The open pull request from it.
    pub(super) pull_request: Option<PullRequest>,
    /// What was done to the branch.
    pub(super) arrival: Arrival,
    /// Its newest commit; `None` where the base branch got the change meanwhile.
    pub(super) head: Option<ObjectId>,
}

/// How a branch came to hold the edit.
pub(super) enum Arrival {
    /// By a commit that was pushed now.
    Pushed {
        /// The commit.
        commit: ObjectId,
        /// The commits of the branch that we made.
        ours: Vec<String>,
    },
    /// It held it already.
    Stands {
        /// What the edit does to the branch: nothing.
        overlays: Vec<OverlayReport>,
        /// The commits of the branch that we made.
        ours: Vec<String>,
    },
}

impl Arrival {
    /// After the push of a commit onto `earlier` ones; `None` where somebody was faster.
    fn of(outcome: Outcome, commit: ObjectId, earlier: Vec<String>) -> Option<Self> {
        let ours = [earlier, vec![commit.to_string()]].concat();
        (outcome == Outcome::Landed).then_some(Self::Pushed { commit, ours })
    }

    /// The newest commit of the branch.
    fn head(&self, seat: &Seat) -> Option<ObjectId> {
        match (self, seat.start) {
            (Self::Pushed { commit, .. }, _) => Some(*commit),
            (Self::Stands { .. }, Start::Base(at)) => at,
            (Self::Stands { .. }, Start::Branch(at)) => Some(at),
        }
    }

    /// Whether something was pushed.
    pub(super) fn is_new(&self) -> bool {
        matches!(self, Self::Pushed { .. })
    }

    /// The commits of the branch that we made.
    pub(super) fn ours(&self) -> &[String] {
        match self {
            Self::Pushed { ours, .. } | Self::Stands { ours, .. } => ours,
        }
    }
}

/// Where the edit goes.
struct Seat {
    branch: String,
    pull_request: Option<PullRequest>,
    start: Start,
    ours: Vec<String>,
}

/// On what it is made.
#[derive(Clone, Copy)]
enum Start {
    /// On the base branch, in the place of what the branch is at.
    Base(Option<ObjectId>),
    /// On the branch as it is: somebody else has commits on it.
    Branch(ObjectId),
}

impl Line<'_> {
    /// The short name of the base branch.
    pub(super) fn base_name(&self) -> &str {
        short_name(&self.base)
    }

    /// The names that its branch may have, in the order in which they are taken.
    pub(super) fn branches(&self) -> impl Iterator<Item = String> + '_ {
        (1..=MOST_BRANCHES).map(|number| nth_branch(&self.branch, number))
    }

    /// The head of a pull request from `branch`.
    pub(super) fn head(&self, forge: &dyn Forge, branch: &str) -> Head {
        let repository = forge.site().head.clone();
        Head { repository, branch: short_name(branch).to_owned() }
    }

    /// The newest commit of the base branch at the remote.
    pub(super) fn base_tip(&self) -> Result<ObjectId, Error> {
        let missing = || GitError::NoSuchReference {
            remote: self.remote.shown().to_owned(),
            reference: self.base.clone(),
        };
        Ok(self.fetch(&self.base)?.ok_or_else(missing)?)
    }

    pub(super) fn fetch(&self, branch: &str) -> Result<Option<ObjectId>, GitError> {
        match self.clone {
            Some(clone) => clone.fetch_tip(branch),
            None => self.remote.fetch_branch(self.job.repository, branch),
        }
    }

    /// Brings the edit, made on the base branch at `tip`, onto its branch at the remote; where somebody was faster, everything is
    /// looked at again. An earlier commit of ours that does the same on an older base stays, unless it is to be made `afresh`.
    pub(super) fn land(
        &self,
        forge: &dyn Forge,
        key: &str,
        (made, tip): (Made, ObjectId),
        afresh: bool,
    ) -> Result<Landed, Error> {
        let (mut made, mut tip) = (made, tip);
        for _ in 0..MOST_TRIES {
            let seat = self.choose(forge, key, tip)?;
            if let Some(arrival) = self.arrive(forge, (&made, tip), &seat, afresh)? {
                let head = made.commit.as_ref().and_then(|_| arrival.head(&seat));
                let Seat { branch, pull_request, .. } = seat;
                return Ok(Landed { branch, made, pull_request, arrival, head });
            }
            tip = self.base_tip()?;
            made = self.job.make(tip)?;
        }
        let branch = short_name(&self.branch).to_owned();
        Err(GitError::LostEveryRace { branch, tries: MOST_TRIES }.into())
    }

    /// The first of the names whose branch may be used, and how.
    fn choose(&self, forge: &dyn Forge, key: &str, tip: ObjectId) -> Result<Seat, Error> {
        for branch in self.branches() {
            let pulls = forge.find(&self.head(forge, &branch), self.base_name())?;
            let at = self.fetch(&branch)?;
            let open = pulls.iter().find(|pull| pull.state == State::Open).cloned();
            let is_past = open.is_none() && !pulls.is_empty();
            let Some(at) = at else {
                // Merged or closed, and the branch is gone: its name is free again.
                let (start, ours) = (Start::Base(None), Vec::new());
                return Ok(Seat { branch, pull_request: open, start, ours });
            };
            let marker = open.as_ref().or(pulls.first()).and_then(|pull| find_marker(&pull.body));
            let known = marker.filter(|marker| marker.key == key).map(|marker| marker.commits);
            let commits = self.commits_of(forge, open.as_ref(), tip, at)?;
            let ours = ours_of(&commits, &known.unwrap_or_default(), &self.committer()?);
            let is_ours = ours.len() == commits.len() && !commits.is_empty()
                || commits.is_empty() && self.is_complete()?;
            let start = match (is_ours, is_past) {
                (true, _) => Start::Base(Some(at)),
                (false, false) => Start::Branch(at),
                (false, true) => continue,
            };
            return Ok(Seat { branch, pull_request: open, start, ours });
        }
        let message = format!(
            "{MOST_BRANCHES} branches named like `{}` hold commits of others in pull requests that were merged or closed",
            short_name(&self.branch)
        );
        let error = Error::new(crate::error::codes::FORGE_REFUSED, message);
        Err(error.hint("remove those that are done with, or name another with --branch"))
    }

    /// Whether git can tell here which commits the base branch has.
    pub(super) fn is_complete(&self) -> Result<bool, GitError> {
        Ok(self.clone.is_none() && !self.job.repository.is_shallow()?)
    }

    /// The commits that the branch has and its base has not, oldest first. A clone without history cannot say; the forge can, for an open
    /// pull request.
    fn commits_of(
        &self,
        forge: &dyn Forge,
        open: Option<&PullRequest>,
        tip: ObjectId,
        at: ObjectId,
    ) -> Result<Vec<CommitOfBranch>, Error> {
        let repository = self.job.repository;
        if self.is_complete()? {
            let ids = repository.commits_beyond(tip, at, MOST_COMMITS)?;
            return ids.into_iter().rev().map(|id| Ok(repository.commit(id)?.into())).collect();
        }
        let Some(open) = open.filter(|open| open.head_commit == at.to_string()) else {
            return Ok(Vec::new());
        };
        Ok(match forge.commits(open.number) {
            Ok(commits) => commits.into_iter().map(Into::into).collect(),
            Err(_) => Vec::new(),
        })
    }

    /// The address of who commits here.
    fn committer(&self) -> Result<String, GitError> {
        Ok(address_of(&git::committer(self.job.repository)?))
    }

    /// Makes the edit there and pushes it; `None` where somebody was faster.
    fn arrive(
        &self,
        forge: &dyn Forge,
        (made, tip): (&Made, ObjectId),
        seat: &Seat,
        afresh: bool,
    ) -> Result<Option<Arrival>, Error> {
        let repository = self.job.repository;
        let ours = seat.ours.clone();
        let Some(built) = &made.commit else {
            // The base branch got the change while this ran.
            return Ok(Some(Arrival::Stands { overlays: made.proven.overlays.clone(), ours }));
        };
        match seat.start {
            // A branch without commits of its own was merged: what it once did may be undone since.
            Start::Base(Some(old))
                if !afresh && !ours.is_empty() && self.holds(built, tip, old)? =>
            {
                let overlays = self.job.prove(old)?.overlays;
                Ok(Some(Arrival::Stands { overlays, ours }))
            }
            Start::Base(None) => {
                let commit = self.publishable(forge, built)?;
                let outcome = self.remote.push(repository, &seat.branch, None, commit)?;
                Ok(Arrival::of(outcome, commit, Vec::new()))
            }
            Start::Base(Some(old)) => {
                let commit = self.publishable(forge, built)?;
                let outcome = self.remote.replace(repository, &seat.branch, old, commit)?;
                Ok(Arrival::of(outcome, commit, Vec::new()))
            }
            Start::Branch(at) => {
                let again = self.make_upon(at, made)?;
                let Some(built) = &again.commit else {
                    return Ok(Some(Arrival::Stands { overlays: again.proven.overlays, ours }));
                };
                let commit = self.publishable(forge, built)?;
                let outcome = self.remote.push(repository, &seat.branch, Some(at), commit)?;
                Ok(Arrival::of(outcome, commit, ours))
            }
        }
    }

    /// The commit as it is pushed: the one that was built here, or the one that the forge makes of it.
    fn publishable(&self, forge: &dyn Forge, built: &Built) -> Result<ObjectId, Error> {
        let wanted = self.job.delivery.pull_request.as_ref();
        match wanted.is_some_and(|wanted| wanted.commit_via_api) {
            true => commit_by_forge(self, forge, built),
            false => Ok(built.id),
        }
    }

    /// The edit on top of commits of others. What is said of images without a digest finds none there, where an earlier run has pinned
    /// them: there the digests are pinned that the edit gives on the base branch.
    fn make_upon(&self, at: ObjectId, made: &Made) -> Result<Made, Error> {
        match message::settled(self.job.change, &made.proven.overlays)? {
            None => self.job.make(at),
            Some(change) => {
                let located = self.job.located.clone();
                Job { located, change: &change, ..*self.job }.make(at)
            }
        }
    }

    /// Whether our old commit is what would be made now: the same content on the same base, or the same edit on an earlier base
    /// whose files of it are the same.
    fn holds(&self, built: &Built, tip: ObjectId, old: ObjectId) -> Result<bool, Error> {
        let repository = self.job.repository;
        let old_commit = repository.commit(old)?;
        let [parent] = old_commit.parents[..] else { return Ok(false) };
        if parent == tip {
            return Ok(old_commit.tree == repository.commit(built.id)?.tree);
        }
        // In a shallow clone the earlier base may be missing.
        let Ok(paths) = repository.changed_files(parent, old) else { return Ok(false) };
        if paths.len() != built.files.len() {
            return Ok(false);
        }
        let read = |commit: ObjectId| repository.files_of(commit);
        let (earlier, then, now, new) = (read(parent)?, read(old)?, read(tip)?, read(built.id)?);
        let is_same = |file: &git::StoredFile| {
            let path = file.path.as_str();
            paths.iter().any(|changed| changed == path)
                && now.read(path).ok() == earlier.read(path).ok()
                && new.read(path).ok() == then.read(path).ok()
        };
        Ok(built.files.iter().all(is_same))
    }
}

/// A commit, whoever told of it.
struct CommitOfBranch {
    id: String,
    message: String,
    committer: String,
}

impl From<git::Commit> for CommitOfBranch {
    fn from(commit: git::Commit) -> Self {
        let committer = address_of(&commit.committer);
        Self { id: commit.id.to_string(), message: commit.message, committer }
    }
}

impl From<crate::forge::BranchCommit> for CommitOfBranch {
    fn from(commit: crate::forge::BranchCommit) -> Self {
        let crate::forge::BranchCommit { id, message, committer } = commit;
        Self { id, message, committer }
    }
}

/// Those that we made: they carry a change as data, and either we are their committer (whoever amends a commit is that of the new
/// one) or the pull request's marker lists them.
fn ours_of(commits: &[CommitOfBranch], known: &[String], committer: &str) -> Vec<String> {
    let is_ours = |commit: &&CommitOfBranch| {
        known.contains(&commit.id)
            || (commit.committer == committer && !parse_records(&commit.message).is_empty())
    };
    commits.iter().filter(is_ours).map(|commit| commit.id.clone()).collect()
}

/// The address of `Name <address>`.
fn address_of(person: &str) -> String {
    let inner = person.rsplit_once('<').map_or(person, |(_, rest)| rest);
    inner.trim_end_matches('>').to_owned()
}
