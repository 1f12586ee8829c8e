//! What earlier runs found, in the user's cache: which state each root tree is, and what differs between states.
//!
//! It is a convenience and trusted as far as it can be read: a file of another version, or one that is broken, is
//! as good as none.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Moves;
use super::states::{Kind, State, StateId, hex};
use crate::git::ObjectId;
use crate::ops::Context;
use crate::report::history::Moved;
use crate::write::write_below;

/// Whose findings can be used: those of the same program, in the same form.
const MADE_BY: &str = concat!("history 1, ", env!("CARGO_PKG_VERSION"), env!("OVERLAY_COMMIT"));

/// The folder in the cache.
const FOLDER: &str = "history";

/// The most root trees of one overlay that are kept.
const MOST_TREES: usize = 100_000;

/// A file that is larger was not made by this program.
const MOST_BYTES: u64 = 256 << 20;

/// The file for one overlay.
pub(super) struct Cache {
    folder: PathBuf,
    file: String,
}

/// What is kept.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) states: Vec<State>,
    pub(super) trees: HashMap<ObjectId, StateId>,
    pub(super) moves: Moves,
}

/// The same on disk.
#[derive(Serialize, Deserialize)]
struct Stored {
    made_by: String,
    states: Vec<StoredState>,
    moves: Vec<(StateId, StateId, Moved)>,
}

#[derive(Serialize, Deserialize)]
struct StoredState {
    kind: char,
    text: String,
    /// The root trees, one after the other with a space between.
    trees: String,
}

impl Cache {
    /// The one for the overlay at `directory`; none where there is no cache, or another program renders.
    pub(super) fn of(context: &Context, directory: &str) -> Option<Self> {
        if context.kustomize.is_some() {
            return None;
        }
        let folder = context.environment.cache_dir()?.join(FOLDER);
        let digest = Sha256::digest(format!("{MADE_BY}\n{directory}").as_bytes());
        Some(Self { folder, file: format!("{}.json", hex(&digest[..16])) })
    }

    /// What is there.
    pub(super) fn load(&self) -> Kept {
        self.read().unwrap_or_default()
    }

    fn read(&self) -> Option<Kept> {
        let path = self.folder.join(&self.file);
        let is_ours = std::fs::metadata(&path).ok()?.len() <= MOST_BYTES;
        let stored: Stored = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        (is_ours && stored.made_by == MADE_BY).then(|| stored.into_kept())?
    }

    /// Writes what may be kept.
    pub(super) fn keep(&self, kept: &Kept) {
        let stored = Stored::of(kept);
        if let Ok(bytes) = serde_json::to_vec(&stored) {
            // Without a cache the next run takes longer, and no more.
            let _ = write_below(&self.folder, &self.file, &bytes);
        }
    }
}

impl Stored {
    fn of(kept: &Kept) -> Self {
        let mut trees: BTreeMap<StateId, Vec<String>> = BTreeMap::new();
        for (tree, state) in kept.trees.iter().take(MOST_TREES) {
            trees.entry(*state).or_default().push(tree.to_string());
        }
        let mut numbers: HashMap<StateId, StateId> = HashMap::new();
        let mut states = Vec::new();
        for (at, state) in kept.states.iter().enumerate().filter(|(_, state)| state.is_lasting) {
            numbers.insert(at, states.len());
            let trees = trees.remove(&at).unwrap_or_default().join(" ");
            states.push(StoredState { kind: letter(state.kind), text: state.text.clone(), trees });
        }
        let moved = |((before, after), moved): (&(StateId, StateId), &Arc<Moved>)| {
            Some((*numbers.get(before)?, *numbers.get(after)?, moved.as_ref().clone()))
        };
        let moves = kept.moves.iter().filter_map(moved).collect();
        Self { made_by: MADE_BY.to_owned(), states, moves }
    }

    fn into_kept(self) -> Option<Kept> {
        let mut kept = Kept::default();
        for (at, state) in self.states.into_iter().enumerate() {
            for tree in state.trees.split_whitespace() {
                kept.trees.insert(tree.parse().ok()?, at);
            }
            let kind = kind(state.kind)?;
            kept.states.push(State { kind, text: state.text, inputs: None, is_lasting: true });
        }
        for (before, after, moved) in self.moves {
            let is_known = before < kept.states.len() && after < kept.states.len();
            is_known.then_some(())?;
            kept.moves.insert((before, after), Arc::new(moved));
        }
        Some(kept)
    }
}

fn letter(kind: Kind) -> char {
    match kind {
        Kind::Absent => 'a',
        Kind::Broken => 'b',
        Kind::Rendered => 'r',
    }
}

fn kind(letter: char) -> Option<Kind> {
    Some(match letter {
        'a' => Kind::Absent,
        'b' => Kind::Broken,
        'r' => Kind::Rendered,
        _ => return None,
    })
}
