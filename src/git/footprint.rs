//! Whether two revisions are the same at the paths that matter: the paths that one build asked for, compared
//! by the names of objects, so that thousands of revisions can be passed over without reading a file.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::error::GitError;
use super::id::ObjectId;
use super::objects::{Kind, MAX_TREE_BYTES, Objects};
use super::revision_files::{Found, RevisionFiles};
use super::tree::{Mode, Tree, TreeEntry};

/// The most bytes of tree objects that a reader keeps.
const MOST_KEPT: usize = 16 << 20;

/// Tree objects as bytes, the latest of them kept: neighbours in history share most of theirs.
pub struct TreeReader {
    objects: Arc<Objects>,
    kept: HashMap<ObjectId, Arc<[u8]>>,
    bytes: usize,
}

impl TreeReader {
    /// Reads from this store.
    pub fn new(objects: Arc<Objects>) -> Self {
        Self { objects, kept: HashMap::new(), bytes: 0 }
    }

    fn read(&mut self, id: ObjectId) -> Result<Arc<[u8]>, GitError> {
        if let Some(known) = self.kept.get(&id) {
            return Ok(Arc::clone(known));
        }
        let bytes: Arc<[u8]> = self.objects.read(id, Kind::Tree, MAX_TREE_BYTES)?.into();
        if self.bytes + bytes.len() > MOST_KEPT {
            self.kept.clear();
            self.bytes = 0;
        }
        self.bytes += bytes.len();
        self.kept.insert(id, Arc::clone(&bytes));
        Ok(bytes)
    }

    fn entry(&mut self, tree: ObjectId, name: &[u8]) -> Result<Option<TreeEntry>, GitError> {
        let bytes = self.read(tree)?;
        Ok(Tree::find_in(&bytes, tree.as_bytes().len(), name))
    }
}

/// The paths that a build of one revision asked for.
pub struct Footprint {
    names: Names,
    paths: Vec<String>,
    follows_links: bool,
}

/// Paths by their parts.
#[derive(Default)]
struct Names {
    below: BTreeMap<Vec<u8>, Names>,
}

impl Footprint {
    /// `paths` were asked for in the revision with the root tree `root`.
    ///
    /// # Errors
    /// [`GitError::BadObject`].
    pub fn new<'p>(
        reader: &mut TreeReader,
        root: ObjectId,
        paths: impl IntoIterator<Item = &'p str>,
    ) -> Result<Self, GitError> {
        let paths: Vec<String> = paths.into_iter().map(str::to_owned).collect();
        let mut names = Names::default();
        for path in &paths {
            let mut at = &mut names;
            for part in path.split('/').filter(|part| !part.is_empty()) {
                at = at.below.entry(part.as_bytes().to_vec()).or_default();
            }
        }
        let follows_links = names.meets_link(reader, root)?;
        Ok(Self { names, paths, follows_links })
    }

    /// Whether the same stands at every path in the revisions with the root trees `one`, which is the one that
    /// was read or one that is the same as it, and `other`. A build cannot tell the two apart then. A `false`
    /// may be too careful: where something became a link, the answer is not sought.
    ///
    /// # Errors
    /// [`GitError::BadObject`].
    pub fn is_same(
        &self,
        reader: &mut TreeReader,
        one: ObjectId,
        other: ObjectId,
    ) -> Result<bool, GitError> {
        if one == other {
            return Ok(true);
        }
        if self.follows_links {
            return Ok(self.leads_to_same(&reader.objects, one, other));
        }
        self.names.is_same(reader, one, other)
    }

    /// Follows every path in both revisions, links and all.
    fn leads_to_same(&self, objects: &Arc<Objects>, one: ObjectId, other: ObjectId) -> bool {
        let [one, other] = [one, other].map(|root| RevisionFiles::new(Arc::clone(objects), root));
        self.paths.iter().all(|path| match (one.find(path), other.find(path)) {
            (Ok(Some(a)), Ok(Some(b))) => is_same_end(&a, &b),
            (Ok(None), Ok(None)) => true,
            _ => false,
        })
    }
}

/// Of a directory only its place matters: what is in it is asked for by itself.
fn is_same_end(a: &Found, b: &Found) -> bool {
    let is_directory = a.entry.mode == Mode::Tree && b.entry.mode == Mode::Tree;
    a.real == b.real
        && (is_directory || (a.entry.id == b.entry.id && is_kind_same(a.entry, b.entry)))
}

fn is_kind_same(a: TreeEntry, b: TreeEntry) -> bool {
    a.mode == b.mode || (a.mode.is_file() && b.mode.is_file())
}

impl Names {
    fn meets_link(&self, reader: &mut TreeReader, tree: ObjectId) -> Result<bool, GitError> {
        for (name, below) in &self.below {
            let is_met = match reader.entry(tree, name)? {
                Some(entry) if entry.mode == Mode::Link => true,
                Some(entry) if entry.mode == Mode::Tree => below.meets_link(reader, entry.id)?,
                _ => false,
            };
            if is_met {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_same(
        &self,
        reader: &mut TreeReader,
        one: ObjectId,
        other: ObjectId,
    ) -> Result<bool, GitError> {
        if one == other {
            return Ok(true);
        }
        for (name, below) in &self.below {
            let is_same = match (reader.entry(one, name)?, reader.entry(other, name)?) {
                (None, None) => true,
                (Some(a), Some(b)) if a.mode == Mode::Tree && b.mode == Mode::Tree => {
                    below.is_same(reader, a.id, b.id)?
                }
                (Some(a), Some(b)) => a.id == b.id && is_kind_same(a, b),
                _ => false,
            };
            if !is_same {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
