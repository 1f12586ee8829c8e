//! The repository: commits as a graph, what each renders to, and where its branch stood at any time.

use super::objects::{Object, Values};
use super::rng::Rng;
use super::time::Millis;

/// A commit, by its place in [`Git`].
pub(super) type CommitId = usize;

/// A job that Argo CD runs before or after the apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hook {
    pub(super) lasts: Millis,
    pub(super) succeeds: bool,
}

/// What one commit says.
#[derive(Clone, Debug)]
pub(super) struct Commit {
    pub(super) sha: String,
    pub(super) parent: Option<CommitId>,
    /// The second parent of a merge.
    pub(super) merged: Option<CommitId>,
    /// What `overlays/prod` renders to.
    pub(super) values: Values,
    /// The render fails.
    pub(super) broken: bool,
    /// The change is made in a base, and not in the overlay's own directory.
    pub(super) in_base: bool,
    /// The cluster refuses this object of it.
    pub(super) refused: Option<Object>,
    pub(super) pre_sync: Option<Hook>,
    pub(super) post_sync: Option<Hook>,
}

/// A commit of the branch that the hydrator writes.
struct HydratedCommit {
    sha: String,
    /// What was rendered.
    dry: CommitId,
    at: Millis,
}

/// The remote repository with one branch, `main`, and one of what was rendered from it where there is a hydrator.
pub(super) struct Git {
    commits: Vec<Commit>,
    hydrated: Vec<HydratedCommit>,
    /// Every place `main` was at, oldest first; `None`: deleted.
    tips: Vec<(Millis, Option<CommitId>)>,
}

impl Git {
    /// A repository with one commit.
    pub(super) fn new(values: Values, rng: &mut Rng) -> Self {
        let mut git = Git { commits: Vec::new(), hydrated: Vec::new(), tips: Vec::new() };
        let root = git.commit(None, values, rng);
        git.tips.push((0, Some(root)));
        git
    }

    /// A new commit on `parent` that nobody pushed yet.
    pub(super) fn commit(
        &mut self,
        parent: Option<CommitId>,
        values: Values,
        rng: &mut Rng,
    ) -> CommitId {
        self.commits.push(Commit {
            sha: rng.hex40(),
            parent,
            merged: None,
            values,
            broken: false,
            in_base: false,
            refused: None,
            pre_sync: None,
            post_sync: None,
        });
        self.commits.len() - 1
    }

    pub(super) fn change(&mut self, id: CommitId) -> &mut Commit {
        &mut self.commits[id]
    }

    pub(super) fn at(&self, id: CommitId) -> &Commit {
        &self.commits[id]
    }

    pub(super) fn find(&self, sha: &str) -> Option<CommitId> {
        self.commits.iter().position(|commit| commit.sha == sha)
    }

    /// Renders `dry` onto the branch of what is rendered, unless that says the same; the newest commit there.
    pub(super) fn hydrate(&mut self, dry: CommitId, at: Millis, rng: &mut Rng) -> String {
        let is_same = self.hydrated.last().is_some_and(|last| {
            let (old, new) = (&self.commits[last.dry], &self.commits[dry]);
            (old.values, old.pre_sync, old.post_sync) == (new.values, new.pre_sync, new.post_sync)
        });
        if !is_same {
            self.hydrated.push(HydratedCommit { sha: rng.hex40(), dry, at });
        }
        self.hydrated.last().map(|last| last.sha.clone()).unwrap_or_default()
    }

    /// Where the branch of what is rendered was at `at`: the commit that its newest one was rendered from.
    pub(super) fn hydrated_at(&self, at: Millis) -> Option<CommitId> {
        self.hydrated.iter().rev().find(|hydrated| hydrated.at <= at).map(|hydrated| hydrated.dry)
    }

    /// The place of a commit on the branch of what is rendered, and what it was rendered from.
    pub(super) fn find_hydrated(&self, sha: &str) -> Option<(usize, CommitId)> {
        let at = self.hydrated.iter().position(|hydrated| hydrated.sha == sha)?;
        Some((at, self.hydrated[at].dry))
    }

    /// What a revision says: itself, or what it was rendered from.
    pub(super) fn origin(&self, sha: &str) -> Option<CommitId> {
        self.find(sha).or_else(|| self.find_hydrated(sha).map(|(_, dry)| dry))
    }

    /// The revision by which a commit is compared and synced: what it was rendered to, where it was.
    pub(super) fn name(&self, id: CommitId) -> String {
        let rendered = self.hydrated.iter().rev().find(|hydrated| hydrated.dry == id);
        rendered.map_or_else(|| self.commits[id].sha.clone(), |hydrated| hydrated.sha.clone())
    }

    /// Moves `main`, by whatever kind of push.
    pub(super) fn push(&mut self, now: Millis, tip: Option<CommitId>) {
        self.tips.push((now, tip));
    }

    /// Where `main` is.
    pub(super) fn tip(&self) -> Option<CommitId> {
        self.tips.last().and_then(|(_, tip)| *tip)
    }

    /// Where `main` was at `at`: what a replica shows that lags behind.
    pub(super) fn tip_at(&self, at: Millis) -> Option<CommitId> {
        self.tips.iter().rev().find(|(when, _)| *when <= at).and_then(|(_, tip)| *tip)
    }

    /// The last commit `main` was at: where it is made again after a deletion.
    pub(super) fn last_tip(&self) -> CommitId {
        self.tips.iter().rev().find_map(|(_, tip)| *tip).unwrap_or(0)
    }

    /// Whether `ancestor` is `commit` or one of its ancestors.
    pub(super) fn contains(&self, ancestor: CommitId, commit: CommitId) -> bool {
        if ancestor == commit {
            return true;
        }
        let commit = &self.commits[commit];
        [commit.parent, commit.merged].into_iter().flatten().any(|p| self.contains(ancestor, p))
    }

    /// The commits after `old` up to `new` along first parents; `None` where `old` is not one of them.
    pub(super) fn since(&self, old: CommitId, new: CommitId) -> Option<Vec<CommitId>> {
        let mut out = Vec::new();
        let mut at = new;
        while at != old {
            out.push(at);
            at = self.commits[at].parent?;
        }
        Some(out)
    }

    /// Whether a commit changes what its first parent rendered to.
    pub(super) fn changes_render(&self, id: CommitId) -> bool {
        let commit = &self.commits[id];
        commit.parent.is_none_or(|parent| {
            let parent = &self.commits[parent];
            parent.values != commit.values
                || parent.broken != commit.broken
                || parent.pre_sync != commit.pre_sync
                || parent.post_sync != commit.post_sync
        })
    }

    /// Whether `commit` contains `change` and still renders every one of `touched` as `change` did.
    pub(super) fn holds(&self, change: CommitId, touched: &[Object], commit: CommitId) -> bool {
        let (wanted, found) = (&self.commits[change].values, &self.commits[commit]);
        self.contains(change, commit)
            && !found.broken
            && touched.iter().all(|&object| found.values[object] == wanted[object])
    }
}
