//! What git knows of the revisions that Argo CD names: whether they contain the commit, and still hold what it changed.

use std::sync::Arc;

use super::answers::Answers;
use super::effect::Renders;
use crate::argocd::{ExpectedChange, HydratedQuery, Relation, Revisions};
use crate::error::Error;
use crate::git::{GitError, ObjectId, Remote, Repository};
use crate::repository_url::is_same_repository;

/// The most commits that are looked through for the one that took a change back.
const MOST_COMMITS: usize = 64;

/// The file by which the hydrator says what it rendered (argo-cd `commitserver`).
const METADATA: &str = "hydrator.metadata";

/// What is known of the commit, for all Applications together.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// How revisions stand to it, by remote, overlays and revision; a commit's history never changes.
    relations: Answers<(String, Vec<String>, String), Relation>,
    /// The same of hydrated revisions.
    hydrated: Answers<(String, Vec<String>, HydratedQuery), Relation>,
    /// Whether branches have it, by remote and branch; `None` where that cannot be asked.
    branches: Answers<(String, String), Option<bool>>,
    /// Whether they had it when they were last fetched or pushed from here, before the wait.
    had: Answers<(String, String), bool>,
}

impl Known {
    /// Whether the branch of the remote had the commit when it was last fetched or pushed from here; the answer of the first time,
    /// since what is fetched for a wait moves what is known of the branch.
    pub(super) fn had(
        &self,
        repository: &Repository,
        remote: &str,
        branch: &str,
        commit: ObjectId,
    ) -> bool {
        let key = (remote.to_owned(), branch.to_owned());
        self.had.get(key, |_| true, || had(repository, remote, branch, commit))
    }
}

/// One commit, and the branch of the remote that an Application follows.
pub(super) struct GitRevisions<'a> {
    pub(super) renders: Renders<'a>,
    pub(super) commit: ObjectId,
    /// The remote, by name or address.
    pub(super) remote: String,
    /// `targetRevision`.
    pub(super) branch: String,
    /// The overlays that the Application deploys, with what the commit changes in each, where that is known.
    pub(super) overlays: Vec<(String, Vec<ExpectedChange>)>,
    /// What others found out already.
    pub(super) known: Arc<Known>,
    /// [`Known::had`].
    pub(super) had: bool,
}

/// The same as git says now.
fn had(repository: &Repository, remote: &str, branch: &str, commit: ObjectId) -> bool {
    let short = match branch {
        "" => "HEAD",
        named => named.strip_prefix("refs/heads/").unwrap_or(named),
    };
    let tracked = repository.reference(&format!("refs/remotes/{remote}/{short}"));
    let tip = tracked.ok().flatten();
    tip.is_some_and(|tip| repository.is_ancestor(commit, tip).unwrap_or(false))
}

impl GitRevisions<'_> {
    fn repository(&self) -> &Repository {
        self.renders.repository
    }

    fn directories(&self) -> Vec<String> {
        self.overlays.iter().map(|(directory, _)| directory.clone()).collect()
    }

    /// The commit that `revision` is, brought here where it was not.
    fn find(&self, remote: &str, branch: &str, revision: &str) -> Result<ObjectId, Error> {
        let unknown =
            |_| GitError::UnknownRevision { revision: revision.to_owned(), is_shallow: false };
        let id: ObjectId = revision.parse().map_err(unknown)?;
        if !self.repository().has(id)? {
            let remote = Remote::open(self.repository().git(), remote)?;
            remote.fetch_commit(self.repository(), id, reference(&remote, branch).as_deref())?;
        }
        Ok(self.repository().peel(id)?)
    }

    fn relation(&self, revision: &str) -> Result<Relation, Error> {
        let id = self.find(&self.remote, &self.branch, revision)?;
        if id == self.commit {
            return Ok(Relation::Equal);
        }
        if !self.repository().is_ancestor(self.commit, id)? {
            return Ok(Relation::Unrelated);
        }
        Ok(match self.holds(id)? {
            true => Relation::Descendant,
            false => Relation::Superseded { by: self.find_superseding(id)?.to_string() },
        })
    }

    /// Whether a later revision still holds what the commit changed. Where that cannot be rendered, what is live decides.
    fn holds(&self, revision: ObjectId) -> Result<bool, Error> {
        for (directory, changes) in &self.overlays {
            match self.renders.still_holds(revision, directory, changes) {
                Ok(false) => return Ok(false),
                Ok(true) => {}
                Err(_) => continue,
            }
        }
        let changes_nothing = self.overlays.iter().all(|(_, changes)| changes.is_empty());
        Ok(!(changes_nothing && self.is_taken_back(revision)?))
    }

    /// Whether every file that the commit changed is again as it was before: what tells a commit that renders nothing new
    /// from its revert.
    fn is_taken_back(&self, revision: ObjectId) -> Result<bool, Error> {
        let Some(parent) = self.repository().commit(self.commit)?.parents.first().copied() else {
            return Ok(false);
        };
        let files = self.repository().changed_files(parent, self.commit)?;
        if files.is_empty() {
            return Ok(false);
        }
        let still = self.repository().changed_files(parent, revision)?;
        Ok(files.iter().all(|file| !still.contains(file)))
    }

    /// The first commit after ours that no longer holds the change, as far as it is found soon.
    fn find_superseding(&self, revision: ObjectId) -> Result<ObjectId, Error> {
        let between = self.repository().commits_between(self.commit, revision, MOST_COMMITS)?;
        for id in between {
            if !self.holds(id)? {
                return Ok(id);
            }
        }
        Ok(revision)
    }

    /// Whether the branch of the remote has the commit now; `None` where it follows no branch.
    fn branch_has(&self) -> Result<Option<bool>, Error> {
        let remote = Remote::open(self.repository().git(), &self.remote)?;
        let Some(branch) = reference(&remote, &self.branch) else { return Ok(None) };
        Ok(Some(match remote.fetch_branch(self.repository(), &branch)? {
            Some(tip) => self.repository().is_ancestor(self.commit, tip)?,
            None => false,
        }))
    }

    fn hydrated(&self, query: &HydratedQuery) -> Result<Relation, Error> {
        let remote = match is_same_repository(&query.repository, &self.remote) {
            true => &self.remote,
            false => &query.repository,
        };
        let id = self.find(remote, &query.branch, &query.revision)?;
        let known = self.find(remote, &query.branch, &query.hydrated).ok();
        if let Some(known) = known
            && self.repository().is_ancestor(known, id)?
        {
            return Ok(Relation::Descendant);
        }
        match self.rendered_from(id, &query.path)? {
            Some(dry) => Ok(match self.relation(&dry)? {
                Relation::Equal => Relation::Descendant,
                other => other,
            }),
            None => Ok(Relation::Unrelated),
        }
    }

    /// The commit that the metadata in a hydrated revision names, of its path or else of its top.
    fn rendered_from(&self, revision: ObjectId, path: &str) -> Result<Option<String>, Error> {
        use crate::kustomize::Files as _;
        let files = self.repository().files_of(revision)?;
        let places = [format!("{path}/{METADATA}"), METADATA.to_owned()];
        for place in places.iter().map(|place| place.trim_start_matches('/')) {
            if files.find(place)?.is_none() {
                continue;
            }
            let bytes = files.read(place)?;
            let metadata: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
            if let Some(dry) = metadata["drySha"].as_str() {
                return Ok(Some(dry.to_owned()));
            }
        }
        Ok(None)
    }
}

/// The full name of the branch that a target revision follows; `None` for what is none.
fn reference(remote: &Remote<'_>, target: &str) -> Option<String> {
    match target {
        "" | "HEAD" => remote.default_branch().ok(),
        full if full.starts_with("refs/") => Some(full.to_owned()),
        short => Some(format!("refs/heads/{short}")),
    }
}

fn unknown(error: &Error) -> Relation {
    Relation::Unknown { message: error.to_string() }
}

/// Whether git could say it: a commit's history never changes.
fn is_known(relation: &Relation) -> bool {
    relation.contains().is_some()
}

impl Revisions for GitRevisions<'_> {
    fn relate(&self, revision: &str) -> Relation {
        let key = (self.remote.clone(), self.directories(), revision.to_owned());
        let ask = || self.relation(revision).unwrap_or_else(|error| unknown(&error));
        self.known.relations.get(key, is_known, ask)
    }

    /// `Some(false)` only where the branch had the commit and lost it: one that never had it may still get it.
    fn is_delivered(&self) -> Option<bool> {
        let key = (self.remote.clone(), self.branch.clone());
        let ask = || self.branch_has().ok().flatten();
        match self.known.branches.get(key, |_| false, ask)? {
            true => Some(true),
            false => self.had.then_some(false),
        }
    }

    fn relate_hydrated(&self, query: &HydratedQuery) -> Relation {
        let key = (self.remote.clone(), self.directories(), query.clone());
        let ask = || self.hydrated(query).unwrap_or_else(|error| unknown(&error));
        self.known.hydrated.get(key, is_known, ask)
    }
}
