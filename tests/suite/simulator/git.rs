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

/// The remote repository with one branch, `main`.
pub(super) struct Git {
    commits: Vec<Commit>,
    /// Every place `main` was at, oldest first; `None`: deleted.
    tips: Vec<(Millis, Option<CommitId>)>,
}

impl Git {
    /// A repository with one commit.
    pub(super) fn new(values: Values, rng: &mut Rng) -> Self {
        let mut git = Git { commits: Vec::new(), tips: Vec::new() };
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
