//! What an overlay is at revisions: absent, broken, or what it renders. A revision is named by its root tree,
//! and two revisions that a build cannot tell apart are one state.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::cache::{self, Cache};
use super::moved::measure;
use super::{Moves, status_of};
use crate::discover::KUSTOMIZATION_NAMES;
use crate::error::{Error, codes};
use crate::git::{Commit, Footprint, LOCK_FILE, ObjectId, Repository, RevisionFiles, TreeReader};
use crate::kustomize::remote::mount_of;
use crate::kustomize::{Rendered, SourceTree};
use crate::ops::Context;
use crate::ops::revision::find_kustomization;
use crate::report::history::Moved;

/// How many footprints are compared before a revision is read: a line of history and the one beside it.
const MOST_FOOTPRINTS: usize = 4;

/// How many renders are held.
const MOST_RENDERS: usize = 4;

/// After so many revisions read, what git's objects hold in memory is let go.
const FORGET_AFTER: usize = 256;

/// What an overlay is at a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// No kustomization file is there.
    Absent,
    /// It does not build.
    Broken,
    /// It renders.
    Rendered,
}

/// A state by its number.
pub(crate) type StateId = usize;

/// One state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) kind: Kind,
    /// The hash of what is rendered; of a broken one, why it does not build.
    pub(super) text: String,
    /// Where it cannot be known what is rendered: the hash of what that is made of.
    pub(super) inputs: Option<String>,
    /// What it is depends on the revision alone, so that it may be kept for other runs.
    pub(super) is_lasting: bool,
}

/// The states of one overlay.
pub(crate) struct States<'a> {
    context: Context,
    repository: &'a Repository,
    directory: String,
    reader: TreeReader,
    states: Vec<State>,
    numbers: HashMap<State, StateId>,
    trees: HashMap<ObjectId, StateId>,
    moves: Moves,
    footprints: VecDeque<(ObjectId, StateId, Footprint)>,
    renders: VecDeque<(StateId, Arc<Rendered>)>,
    /// What the lock file said where remote bases were last used.
    lock: Option<Option<ObjectId>>,
    cache: Option<Cache>,
    read: usize,
    is_new: bool,
}

impl<'a> States<'a> {
    /// Those of the overlay at `directory`, with what earlier runs found.
    pub(crate) fn open(context: &Context, repository: &'a Repository, directory: &str) -> Self {
        let cache = Cache::of(context, directory);
        let kept = cache.as_ref().map(Cache::load).unwrap_or_default();
        Self {
            context: context.with_own_remotes(),
            repository,
            directory: directory.to_owned(),
            reader: TreeReader::new(Arc::clone(repository.objects())),
            numbers: kept.states.iter().cloned().zip(0..).collect(),
            states: kept.states,
            trees: kept.trees,
            moves: kept.moves,
            footprints: VecDeque::new(),
            renders: VecDeque::new(),
            lock: None,
            cache,
            read: 0,
            is_new: false,
        }
    }

    /// Keeps what was found for other runs. That it cannot be kept harms nothing.
    pub(crate) fn keep(&self) {
        if let Some(cache) = self.cache.as_ref().filter(|_| self.is_new) {
            cache.keep(&cache::Kept {
                states: self.states.clone(),
                trees: self.trees.clone(),
                moves: self.moves.clone(),
            });
        }
    }

    /// The state at the revision with this root tree.
    ///
    /// # Errors
    /// Where the revision cannot be read.
    pub(crate) fn of(&mut self, tree: ObjectId) -> Result<StateId, Error> {
        if let Some(known) = self.trees.get(&tree) {
            return Ok(*known);
        }
        let state = match self.like_before(tree)? {
            Some(state) => state,
            None => self.read(tree)?.0,
        };
        self.is_new = true;
        self.trees.insert(tree, state);
        Ok(state)
    }

    /// Whether both are the same to whoever looks at what is rendered.
    pub(crate) fn is_same(&self, one: StateId, other: StateId) -> bool {
        let (one, other) = (&self.states[one], &self.states[other]);
        let is_text_same = one.kind != Kind::Rendered || one.text == other.text;
        one.kind == other.kind && is_text_same && one.inputs == other.inputs
    }

    /// What the overlay is in that state.
    pub(crate) fn kind(&self, state: StateId) -> Kind {
        self.states[state].kind
    }

    /// The last state with which the overlay was not broken, along the first parents of a revision at which it is: `Some(None)` where
    /// there was no overlay, `None` where that is not known, for the clone is shallow.
    ///
    /// # Errors
    /// Where a revision cannot be read.
    pub(super) fn before_it_broke(
        &mut self,
        broken: &Commit,
    ) -> Result<Option<Option<(StateId, ObjectId)>>, Error> {
        let mut earlier = broken.parents.first().copied();
        while let Some(id) = earlier {
            if !self.repository.has(id)? {
                return Ok(None);
            }
            let commit = self.repository.commit(id)?;
            let state = self.of(commit.tree)?;
            match self.kind(state) {
                Kind::Rendered => return Ok(Some(Some((state, commit.tree)))),
                Kind::Absent => return Ok(Some(None)),
                Kind::Broken => earlier = commit.parents.first().copied(),
            }
        }
        Ok(Some(None))
    }

    /// Whether no revision looked at has the overlay.
    pub(super) fn is_nowhere(&self) -> bool {
        self.states.iter().all(|state| state.kind == Kind::Absent)
    }

    /// What differs between two states, each with a root tree that has it; without an earlier one everything
    /// is new.
    ///
    /// # Errors
    /// Where a revision cannot be read.
    pub(super) fn moved(
        &mut self,
        before: Option<(StateId, ObjectId)>,
        after: (StateId, ObjectId),
    ) -> Result<Arc<Moved>, Error> {
        let known = before.map(|(before, _)| (before, after.0));
        if let Some(known) = known.and_then(|pair| self.moves.get(&pair)) {
            return Ok(Arc::clone(known));
        }
        let kind = before.map_or(Kind::Absent, |(state, _)| self.kind(state));
        let status = status_of(kind, self.kind(after.0));
        let old = before.map(|before| self.rendered(before)).transpose()?.flatten();
        let new = self.rendered(after)?;
        let mut moved = measure(status, old.as_deref(), new.as_deref());
        let broken = Some(&self.states[after.0]).filter(|state| state.kind == Kind::Broken);
        moved.reason = broken.map(|state| state.text.clone());
        let moved = Arc::new(moved);
        if let Some(pair) = known {
            self.is_new = true;
            self.moves.insert(pair, Arc::clone(&moved));
        }
        Ok(moved)
    }

    /// The state of a revision that was read and cannot be told from this one.
    fn like_before(&mut self, tree: ObjectId) -> Result<Option<StateId>, Error> {
        for (root, state, footprint) in &mut self.footprints {
            if footprint.is_same(&mut self.reader, *root, tree)? {
                // The next one is compared with its neighbour, with which it shares more.
                *root = tree;
                return Ok(Some(*state));
            }
        }
        Ok(None)
    }

    fn rendered(
        &mut self,
        (state, tree): (StateId, ObjectId),
    ) -> Result<Option<Arc<Rendered>>, Error> {
        if self.kind(state) != Kind::Rendered {
            return Ok(None);
        }
        if let Some((_, held)) = self.renders.iter().find(|(held, _)| *held == state) {
            return Ok(Some(Arc::clone(held)));
        }
        Ok(self.read(tree)?.1)
    }

    /// Reads and renders a revision.
    fn read(&mut self, root: ObjectId) -> Result<(StateId, Option<Arc<Rendered>>), Error> {
        self.read += 1;
        if self.read.is_multiple_of(FORGET_AFTER) {
            self.repository.objects().forget();
        }
        let files = RevisionFiles::new(Arc::clone(self.repository.objects()), root);
        if find_kustomization(&files, &self.directory)?.is_none() {
            let (kind, text) = (Kind::Absent, String::new());
            let state = self.number(State { kind, text, inputs: None, is_lasting: true });
            let names: Vec<String> = KUSTOMIZATION_NAMES.map(|name| self.below(name)).to_vec();
            self.remember(root, state, names.iter().map(String::as_str))?;
            return Ok((state, None));
        }
        self.follow_lock_file(&files);
        let tree = match self.context.load(&files, &self.directory) {
            Ok(tree) => tree,
            Err(error) => return Ok((self.number(broken(&error)), None)),
        };
        let (state, rendered) = self.render(&tree);
        if tree.inflates_charts() || tree.holds_charts() {
            // A file may come to a chart that no build has asked for yet.
            return Ok((state, rendered));
        }
        let lock = tree.names_remotes().then_some(LOCK_FILE);
        let asked = tree.paths_asked().filter(|path| mount_of(path).is_none()).chain(lock);
        self.remember(root, state, asked)?;
        Ok((state, rendered))
    }

    fn render(&mut self, tree: &SourceTree) -> (StateId, Option<Arc<Rendered>>) {
        let built = match self.context.render(tree, tree.overlay()) {
            Ok(built) => built,
            Err(error) => {
                let mut state = broken(&error);
                state.is_lasting &= !tree.names_remotes() && !tree.inflates_charts();
                // What only is not at hand, a remote base or a chart, may render otherwise than before.
                if error.code() != codes::BUILD_BROKEN {
                    state.inputs = Some(hex(&tree.digest()));
                }
                return (self.number(state), None);
            }
        };
        let text = hex(&Sha256::digest(built.text.as_bytes()));
        let is_lasting =
            built.external.is_none() && !tree.names_remotes() && !tree.inflates_charts();
        let state = self.number(State { kind: Kind::Rendered, text, inputs: None, is_lasting });
        let rendered = Arc::new(built.rendered);
        self.renders.push_front((state, Arc::clone(&rendered)));
        self.renders.truncate(MOST_RENDERS);
        (state, Some(rendered))
    }

    /// Another lock file may say something else of remote bases.
    fn follow_lock_file(&mut self, files: &RevisionFiles) {
        let lock = files.find(LOCK_FILE).ok().flatten().map(|found| found.entry.id);
        if self.lock.is_some_and(|last| last != lock) {
            self.context = self.context.with_own_remotes();
        }
        self.lock = Some(lock);
    }

    fn remember<'p>(
        &mut self,
        root: ObjectId,
        state: StateId,
        asked: impl IntoIterator<Item = &'p str>,
    ) -> Result<(), Error> {
        let footprint = Footprint::new(&mut self.reader, root, asked)?;
        self.footprints.push_front((root, state, footprint));
        self.footprints.truncate(MOST_FOOTPRINTS);
        Ok(())
    }

    fn number(&mut self, state: State) -> StateId {
        if let Some(known) = self.numbers.get(&state) {
            return *known;
        }
        self.numbers.insert(state.clone(), self.states.len());
        self.states.push(state);
        self.states.len() - 1
    }

    fn below(&self, name: &str) -> String {
        match &*self.directory {
            "" => name.to_owned(),
            directory => format!("{directory}/{name}"),
        }
    }
}

/// What cannot be built is the same at every run; what is only not at hand may be at the next.
fn broken(error: &Error) -> State {
    let is_lasting = error.code() == codes::BUILD_BROKEN;
    State { kind: Kind::Broken, text: error.to_string(), inputs: None, is_lasting }
}

/// Two digits a byte.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
