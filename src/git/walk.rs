//! Walking history from a commit backwards.

use super::error::GitError;
use super::id::ObjectId;
use super::repository::{Commit, Repository};

/// Which parents of a merge are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parents {
    /// The first: what the branch itself went through.
    First,
    /// All: every commit that came in by a merge too.
    All,
}

/// One step of a walk.
#[derive(Clone, Debug)]
pub struct Walked {
    /// The commit.
    pub commit: Commit,
    /// Its parents that are here, the first one first; only that where only first parents are followed.
    pub parents: Vec<Commit>,
    /// A parent that it has is not here: the clone is shallow.
    pub is_cut_off: bool,
}

/// The commits behind a tip, newest first; children come before their parents. Commits are read as they are
/// asked for.
pub struct Walk<'a> {
    repository: &'a Repository,
    parents: Parents,
    ahead: Ahead,
}

enum Ahead {
    /// The chain of first parents.
    Chain(Option<ObjectId>),
    /// As git lists them, the next one last.
    Listed(Vec<ObjectId>),
}

impl<'a> Walk<'a> {
    /// From `tip` backwards, without `past` and what it stands on.
    ///
    /// # Errors
    /// [`GitError::Failed`] where git cannot list the commits.
    pub fn new(
        repository: &'a Repository,
        tip: ObjectId,
        past: Option<ObjectId>,
        parents: Parents,
    ) -> Result<Self, GitError> {
        let ahead = match (past, parents) {
            (None, Parents::First) => Ahead::Chain(Some(tip)),
            _ => Ahead::Listed(list(repository, tip, past, parents)?),
        };
        Ok(Self { repository, parents, ahead })
    }

    fn next_id(&mut self) -> Option<ObjectId> {
        match &mut self.ahead {
            Ahead::Chain(next) => next.take(),
            Ahead::Listed(ids) => ids.pop(),
        }
    }

    fn step(&mut self, id: ObjectId) -> Result<Walked, GitError> {
        let commit = self.repository.commit(id)?;
        let wanted = match self.parents {
            Parents::First => commit.parents.iter().take(1).copied().collect(),
            Parents::All => commit.parents.clone(),
        };
        let mut parents = Vec::with_capacity(wanted.len());
        let mut is_cut_off = false;
        for parent in wanted {
            match self.repository.has(parent)? {
                true => parents.push(self.repository.commit(parent)?),
                false => is_cut_off = true,
            }
        }
        if let Ahead::Chain(next) = &mut self.ahead {
            *next = parents.first().map(|parent| parent.id);
        }
        Ok(Walked { commit, parents, is_cut_off })
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<Walked, GitError>;

    fn next(&mut self) -> Option<Self::Item> {
        let id = self.next_id()?;
        Some(self.step(id))
    }
}

/// The commits that git lists, the newest last.
fn list(
    repository: &Repository,
    tip: ObjectId,
    past: Option<ObjectId>,
    parents: Parents,
) -> Result<Vec<ObjectId>, GitError> {
    let mut call = repository.git().run(["rev-list", "--topo-order", "--reverse"]);
    if parents == Parents::First {
        call = call.arg("--first-parent");
    }
    call = call.arg(tip.to_string());
    if let Some(past) = past {
        call = call.arg(format!("^{past}"));
    }
    let text = call.text()?;
    text.lines()
        .map(|line| {
            line.parse().map_err(|e| GitError::Failed {
                what: "rev-list".to_owned(),
                message: format!("{e}"),
            })
        })
        .collect()
}

impl Repository {
    /// The commits of `tip` that `past` has not and that changed one of `paths`, newest first, no more than `most`:
    /// short name and subject.
    ///
    /// # Errors
    /// [`GitError::Failed`] where git cannot list them.
    pub fn commits_changing(
        &self,
        past: ObjectId,
        tip: ObjectId,
        paths: &[&str],
        most: usize,
    ) -> Result<Vec<String>, GitError> {
        let most = format!("--max-count={most}");
        let range = format!("{past}..{tip}");
        let args = ["log", "--no-decorate", "--abbrev=12", "--format=%h %s", &most, &range, "--"];
        let text = self.git().run(args.into_iter().chain(paths.iter().copied())).text()?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// The commits of `tip` whose message has a line that begins with `line`, newest first, no more than `most`.
    ///
    /// # Errors
    /// [`GitError::Failed`] where git cannot list them.
    pub fn commits_saying(
        &self,
        tip: ObjectId,
        line: &str,
        most: usize,
    ) -> Result<Vec<Commit>, GitError> {
        let (most, line) = (format!("--max-count={most}"), format!("--grep=^{line}"));
        let text = self.git().run(["rev-list", &most, &line, &tip.to_string()]).text()?;
        text.lines().filter_map(|id| id.parse().ok()).map(|id| self.commit(id)).collect()
    }

    /// The commit of the first parents of `tip` by which `commit` came to it: `commit` itself, or a merge. `None` where
    /// `tip` has it not.
    ///
    /// # Errors
    /// [`GitError::Failed`] where git cannot say.
    pub fn landing_of(
        &self,
        commit: ObjectId,
        tip: ObjectId,
    ) -> Result<Option<ObjectId>, GitError> {
        if !self.is_ancestor(commit, tip)? {
            return Ok(None);
        }
        let text = self.git().run(["rev-list", "--first-parent", &tip.to_string()]).text()?;
        let chain: Vec<ObjectId> = text.lines().filter_map(|id| id.parse().ok()).collect();
        // Newer ones have it, older ones have not.
        let (mut has, mut lacks) = (0, chain.len());
        while lacks - has > 1 {
            let middle = has + (lacks - has) / 2;
            match self.is_ancestor(commit, chain[middle])? {
                true => has = middle,
                false => lacks = middle,
            }
        }
        Ok(chain.get(has).copied())
    }
}
