//! The object store of one repository: libgit2 where it can read the repository, the git program where it cannot
//! (partial clones, SHA-256 names, reftable). Objects never change, so what was read once is kept.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::batch::Batch;
use super::error::GitError;
use super::id::ObjectId;
use super::program::Git;
use super::tree::Tree;

/// The kinds of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The bytes of a file, or the target of a link.
    Blob,
    /// A directory.
    Tree,
    /// A commit.
    Commit,
    /// An annotated tag.
    Tag,
}

impl Kind {
    /// Git's word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Tree => "tree",
            Self::Commit => "commit",
            Self::Tag => "tag",
        }
    }

    /// From git's word.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Blob, Self::Tree, Self::Commit, Self::Tag]
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    fn library(self) -> git2::ObjectType {
        match self {
            Self::Blob => git2::ObjectType::Blob,
            Self::Tree => git2::ObjectType::Tree,
            Self::Commit => git2::ObjectType::Commit,
            Self::Tag => git2::ObjectType::Tag,
        }
    }
}

enum Store {
    Library(Mutex<git2::Repository>),
    Program(Box<ByProgram>),
}

/// The git program, and libgit2 for what lies in plain packs and loose files.
struct ByProgram {
    git: Git,
    reader: Mutex<Batch>,
    local: Option<Mutex<git2::Odb<'static>>>,
}

impl ByProgram {
    fn header(&self, id: ObjectId) -> Result<(Kind, u64), GitError> {
        let known = self.local.as_ref().and_then(|odb| odb_header(&lock(odb), id).ok());
        known.map_or_else(|| lock(&self.reader).header(id), Ok)
    }

    fn read(&self, id: ObjectId) -> Result<Vec<u8>, GitError> {
        let known = self.local.as_ref().and_then(|odb| odb_read(&lock(odb), id).ok());
        known.map_or_else(|| lock(&self.reader).read(id), Ok)
    }

    fn prefetch(&self, ids: &[ObjectId]) -> Result<(), GitError> {
        let Some(local) = &self.local else { return Ok(()) };
        let is_missing = |id: &ObjectId| odb_header(&lock(local), *id).is_err();
        let missing: Vec<ObjectId> = ids.iter().copied().filter(is_missing).collect();
        lock(&self.reader).prefetch(&missing)
    }

    fn write(&self, kind: Kind, bytes: &[u8]) -> Result<ObjectId, GitError> {
        let args = ["hash-object", "-w", "--no-filters", "-t", kind.name(), "--stdin"];
        self.git.run(args).stdin(bytes).object_id()
    }
}

/// Reads and writes objects of one repository, from any thread.
pub struct Objects {
    store: Store,
    trees: Mutex<HashMap<ObjectId, Arc<Tree>>>,
    blobs: Mutex<HashMap<ObjectId, Arc<[u8]>>>,
}

/// Trees hold no bytes worth counting; blobs of one run are source files, and a run reads each of them.
pub(super) const MAX_TREE_BYTES: u64 = 64 << 20;

impl Objects {
    /// Through libgit2.
    pub(super) fn of_library(repository: git2::Repository) -> Self {
        Self::new(Store::Library(Mutex::new(repository)))
    }

    /// Through the git program; what is in the folder `local` is read by libgit2 all the same. `promisor` is the remote
    /// at which a partial clone left objects.
    pub(super) fn of_program(git: Git, promisor: Option<String>, local: Option<&Path>) -> Self {
        let reader = Mutex::new(Batch::new(git.clone(), promisor));
        let local = local.and_then(|folder| open_folder(folder).ok()).map(Mutex::new);
        Self::new(Store::Program(Box::new(ByProgram { git, reader, local })))
    }

    fn new(store: Store) -> Self {
        Self { store, trees: Mutex::default(), blobs: Mutex::default() }
    }

    /// Whether libgit2 reads this repository, and not the git program.
    pub fn is_library(&self) -> bool {
        matches!(self.store, Store::Library(_))
    }

    /// The kind and size in bytes of an object.
    ///
    /// # Errors
    /// [`GitError::BadObject`] where it is missing or broken.
    pub fn header(&self, id: ObjectId) -> Result<(Kind, u64), GitError> {
        match &self.store {
            Store::Library(repository) => library_header(&lock(repository), id),
            Store::Program(program) => program.header(id),
        }
    }

    /// The content of an object of this kind.
    ///
    /// # Errors
    /// [`GitError::BadObject`] where it is missing, broken, of another kind, or larger than `limit` bytes.
    pub fn read(&self, id: ObjectId, kind: Kind, limit: u64) -> Result<Vec<u8>, GitError> {
        let (found, size) = self.header(id)?;
        if found != kind {
            return Err(bad(id, format!("a {} where a {} is needed", found.name(), kind.name())));
        }
        if size > limit {
            return Err(bad(id, format!("{size} bytes are more than the limit of {limit}")));
        }
        match &self.store {
            Store::Library(repository) => library_read(&lock(repository), id),
            Store::Program(program) => program.read(id),
        }
    }

    /// A blob, shared with everyone who reads it.
    ///
    /// # Errors
    /// As for [`Objects::read`].
    pub fn blob(&self, id: ObjectId, limit: u64) -> Result<Arc<[u8]>, GitError> {
        if let Some(known) = lock(&self.blobs).get(&id) {
            return Ok(Arc::clone(known));
        }
        let bytes: Arc<[u8]> = self.read(id, Kind::Blob, limit)?.into();
        lock(&self.blobs).insert(id, Arc::clone(&bytes));
        Ok(bytes)
    }

    /// A tree, shared with everyone who reads it.
    ///
    /// # Errors
    /// As for [`Objects::read`].
    pub fn tree(&self, id: ObjectId) -> Result<Arc<Tree>, GitError> {
        if let Some(known) = lock(&self.trees).get(&id) {
            return Ok(Arc::clone(known));
        }
        let bytes = self.read(id, Kind::Tree, MAX_TREE_BYTES)?;
        let tree = Tree::parse(&bytes, id.as_bytes().len()).map_err(|reason| bad(id, reason))?;
        let tree = Arc::new(tree);
        lock(&self.trees).insert(id, Arc::clone(&tree));
        Ok(tree)
    }

    /// Forgets what was kept to be read again: for a run over more revisions than memory has room for.
    pub fn forget(&self) {
        lock(&self.trees).clear();
        lock(&self.blobs).clear();
    }

    /// Asks a partial clone for those of these blobs that it has not, in one request. Elsewhere nothing happens.
    ///
    /// # Errors
    /// [`GitError`] where the remote does not give them.
    pub fn prefetch(&self, ids: &[ObjectId]) -> Result<(), GitError> {
        match &self.store {
            Store::Library(_) => Ok(()),
            Store::Program(program) => program.prefetch(ids),
        }
    }

    /// Writes an object; one that is there already is left as it is.
    ///
    /// # Errors
    /// [`GitError::Failed`] where the store does not take it.
    pub fn write(&self, kind: Kind, bytes: &[u8]) -> Result<ObjectId, GitError> {
        match &self.store {
            Store::Library(repository) => library_write(&lock(repository), kind, bytes),
            Store::Program(program) => program.write(kind, bytes),
        }
    }
}

/// A thread that panicked while it held a lock leaves the maps whole: each change is one insertion.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn bad(id: ObjectId, reason: impl Into<String>) -> GitError {
    GitError::BadObject { id: id.to_string(), reason: reason.into() }
}

fn open_folder(folder: &Path) -> Result<git2::Odb<'static>, git2::Error> {
    let odb = git2::Odb::new()?;
    odb.add_disk_alternate(&folder.to_string_lossy())?;
    Ok(odb)
}

fn library_header(repository: &git2::Repository, id: ObjectId) -> Result<(Kind, u64), GitError> {
    let odb = repository.odb().map_err(|e| bad(id, e.message()))?;
    odb_header(&odb, id)
}

fn library_read(repository: &git2::Repository, id: ObjectId) -> Result<Vec<u8>, GitError> {
    let odb = repository.odb().map_err(|e| bad(id, e.message()))?;
    odb_read(&odb, id)
}

fn odb_header(odb: &git2::Odb<'_>, id: ObjectId) -> Result<(Kind, u64), GitError> {
    let header = git2::Oid::from_bytes(id.as_bytes()).and_then(|oid| odb.read_header(oid));
    let (size, kind) = header.map_err(|e| bad(id, e.message()))?;
    let kind = Kind::from_name(kind.str()).ok_or_else(|| bad(id, "of an unknown kind"))?;
    Ok((kind, size as u64))
}

fn odb_read(odb: &git2::Odb<'_>, id: ObjectId) -> Result<Vec<u8>, GitError> {
    let object = git2::Oid::from_bytes(id.as_bytes()).and_then(|oid| odb.read(oid));
    object.map(|object| object.data().to_vec()).map_err(|e| bad(id, e.message()))
}

fn library_write(
    repository: &git2::Repository,
    kind: Kind,
    bytes: &[u8],
) -> Result<ObjectId, GitError> {
    let failed = |message: &str| GitError::Failed {
        what: "object store".to_owned(),
        message: message.to_owned(),
    };
    let odb = repository.odb().map_err(|e| failed(e.message()))?;
    let oid = odb.write(kind.library(), bytes).map_err(|e| failed(e.message()))?;
    ObjectId::from_bytes(oid.as_bytes()).ok_or_else(|| failed("an object name of unknown length"))
}
