//! Remote bases of an overlay: fetched once a run, and seen by the build as directories beside the repository's own.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Context;
use crate::error::{Error, Location, codes};
use crate::git::{self, LockEntry, LockFile, ObjectId, Pinning, RemoteBases, RevisionFiles};
use crate::kustomize::remote::{GitUrl, MOUNT_PREFIX, mount_of, without_credentials};
use crate::kustomize::{Entry, Files, FilesError, SharedSources, SourceTree, Supplied};
use crate::plan::Note;

/// How often bases of bases are followed.
const MOST_ROUNDS: usize = 16;

/// What a run knows of remote bases.
#[derive(Default)]
pub(crate) struct Remotes {
    cache: OnceLock<Option<RemoteBases>>,
    known: Mutex<Known>,
    /// Held while one reference is fetched.
    fetching: Mutex<()>,
}

#[derive(Clone, Default)]
struct Known {
    /// By the first part of their paths.
    mounts: BTreeMap<String, Arc<RevisionFiles>>,
    /// What each reference stands for, or why it cannot be had.
    references: BTreeMap<String, Result<Resolved, Error>>,
    notes: Vec<Note>,
}

/// What a reference stands for.
#[derive(Clone)]
struct Resolved {
    /// Where its content is.
    path: String,
    /// What the lock file may say of it; nothing of one that names a commit itself.
    entry: Option<LockEntry>,
}

impl fmt::Debug for Remotes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remotes").finish_non_exhaustive()
    }
}

/// Files of the repository, with the remote bases known so far beside them.
pub(crate) struct WithRemotes<'a> {
    own: &'a dyn Files,
    mounts: BTreeMap<String, Arc<RevisionFiles>>,
}

impl WithRemotes<'_> {
    fn mount<'p>(&self, path: &'p str) -> Option<(&RevisionFiles, &'p str, &str)> {
        let (name, files) = self.mounts.get_key_value(mount_of(path)?)?;
        let rest = path[name.len()..].trim_start_matches('/');
        Some((files, rest, name))
    }
}

impl Files for WithRemotes<'_> {
    fn entry(&self, path: &str) -> Result<Option<Entry>, FilesError> {
        let Some((files, rest, name)) = self.mount(path) else { return self.own.entry(path) };
        let real =
            |real: String| if real.is_empty() { name.to_owned() } else { format!("{name}/{real}") };
        Ok(files.entry(rest)?.map(|entry| match entry {
            Entry::File { real: path } => Entry::File { real: real(path) },
            Entry::Directory { real: path } => Entry::Directory { real: real(path) },
        }))
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, FilesError> {
        match self.mount(path) {
            Some((files, rest, _)) => files.read(rest),
            None => self.own.read(path),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<String>, FilesError> {
        match self.mount(path) {
            Some((files, rest, _)) => files.list(rest),
            None => self.own.list(path),
        }
    }
}

impl Context {
    /// The same, for another version: what its lock file says of remote bases is read anew.
    pub(crate) fn with_own_remotes(&self) -> Self {
        Self { remotes: Arc::default(), ..self.clone() }
    }

    /// `files` with the remote bases known so far.
    pub(crate) fn with_remotes<'a>(&self, files: &'a dyn Files) -> WithRemotes<'a> {
        WithRemotes { own: files, mounts: self.known().mounts.clone() }
    }

    /// Everything that the overlay at `directory` reaches, remote bases fetched. One that cannot be had is left out: the
    /// build says where it is named, and [`Context::remote_failures`] why.
    ///
    /// # Errors
    /// Where the overlay is no directory or reaches too much, or the lock file is broken.
    pub fn load(&self, files: &dyn Files, directory: &str) -> Result<SourceTree, Error> {
        self.load_sharing(files, directory, &Arc::default())
    }

    /// As [`Context::load`], for one of many overlays of the version that `files` is.
    ///
    /// # Errors
    /// As [`Context::load`].
    pub fn load_sharing(
        &self,
        files: &dyn Files,
        directory: &str,
        shared: &Arc<SharedSources>,
    ) -> Result<SourceTree, Error> {
        let mut tree = self.load_known(files, directory, shared)?;
        for _ in 0..MOST_ROUNDS {
            let mut is_new = false;
            for reference in tree.missing_remotes() {
                is_new |= self.fetch(files, &reference)?;
            }
            if !is_new {
                break;
            }
            tree = self.load_known(files, directory, shared)?;
        }
        Ok(tree)
    }

    fn load_known(
        &self,
        files: &dyn Files,
        directory: &str,
        shared: &Arc<SharedSources>,
    ) -> Result<SourceTree, Error> {
        let found = |(reference, found): (&String, &Result<Resolved, Error>)| {
            Some((reference.clone(), found.as_ref().ok()?.path.clone()))
        };
        let remotes = self.known().references.iter().filter_map(found).collect();
        let supplied = Supplied { remotes, charts: self.chart_store() };
        Ok(SourceTree::load_sharing(&self.with_remotes(files), directory, supplied, shared)?)
    }

    /// Why remote bases could not be had.
    pub(crate) fn remote_failures(&self) -> Vec<String> {
        let known = self.known();
        let failures = known.references.values().filter_map(|found| found.as_ref().err());
        failures.map(ToString::to_string).collect()
    }

    /// Why the remote base that `reference` names could not be had.
    pub(crate) fn remote_failure(&self, reference: &str) -> Option<Error> {
        self.known().references.get(reference)?.as_ref().err().cloned()
    }

    /// What is to be said of the remote bases in use.
    pub(crate) fn remote_notes(&self) -> Vec<Note> {
        self.known().notes
    }

    fn known(&self) -> Known {
        self.remotes.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the lock file may say of the remote bases that `tree` reaches: what they stood for in this run.
    pub(crate) fn lock_entries(&self, tree: &SourceTree) -> Vec<(String, LockEntry)> {
        let known = self.known();
        let entry = |reference: String| {
            let resolved = known.references.get(&reference)?.as_ref().ok()?;
            Some((reference, resolved.entry.clone()?))
        };
        tree.remote_references().into_iter().filter_map(entry).collect()
    }

    /// What the remote says now that `reference` stands for, whatever the lock file says.
    ///
    /// # Errors
    /// As for fetching it.
    pub(crate) fn ask_remote(
        &self,
        files: &dyn Files,
        reference: &str,
    ) -> Result<Option<(ObjectId, Pinning)>, Error> {
        let (Some(cache), Some(url)) = (self.cache(files)?, GitUrl::parse(reference)) else {
            return Ok(None);
        };
        Ok(Some(cache.ask(&url)?))
    }

    /// The same, as if the repository had no lock file.
    pub(crate) fn without_lock(&self) -> Self {
        let context = self.with_own_remotes();
        context.open_cache(LockFile::default());
        context
    }

    /// Fetches one reference, unless another thread has; whether there is content now.
    fn fetch(&self, files: &dyn Files, reference: &str) -> Result<bool, Error> {
        let _fetching = self.remotes.fetching.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.known().references.get(reference) {
            return Ok(known.is_ok());
        }
        let Some(cache) = self.cache(files)? else { return Ok(false) };
        let Some(url) = GitUrl::parse(reference) else { return Ok(false) };
        let loaded = cache.load(&url);
        let mut known = self.remotes.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = loaded.is_ok();
        let found = loaded.map(|base| {
            let mount = mount_name(&base.address, &base.commit.short());
            if base.pinning == Pinning::Moving {
                known.notes.push(moving(reference, &base.commit.short()));
            }
            let path = if url.directory.is_empty() {
                mount.clone()
            } else {
                format!("{mount}/{}", url.directory)
            };
            known.mounts.insert(mount, Arc::new(base.files));
            let is_commit = |text: &String| text.parse::<ObjectId>().is_ok();
            let is_locked = !url.reference.as_ref().is_some_and(is_commit);
            let (address, commit) = (base.address, base.commit);
            let reference = url.reference.clone();
            let entry = is_locked.then_some(LockEntry { address, reference, commit });
            Resolved { path, entry }
        });
        known.references.insert(reference.to_owned(), found.map_err(Error::from));
        Ok(is_new)
    }

    /// The cache, opened at the first remote base with the lock file of that moment.
    fn cache(&self, files: &dyn Files) -> Result<Option<&RemoteBases>, Error> {
        if self.remotes.cache.get().is_none() {
            self.open_cache(lock_file(files)?.unwrap_or_default());
        }
        Ok(self.remotes.cache.get().and_then(Option::as_ref))
    }

    fn open_cache(&self, lock: LockFile) {
        let open = |cache: std::path::PathBuf| {
            RemoteBases::new(self.git_settings(), &cache, self.offline, lock)
        };
        let _ = self.remotes.cache.set(self.environment.cache_dir().map(open));
    }
}

/// The lock file of a version of the repository; `None` where it has none.
///
/// # Errors
/// Where it is broken.
pub(crate) fn lock_file(files: &dyn Files) -> Result<Option<LockFile>, Error> {
    let Some(Entry::File { .. }) = files.entry(git::LOCK_FILE)? else { return Ok(None) };
    let bytes = files.read(git::LOCK_FILE)?;
    LockFile::parse(&String::from_utf8_lossy(&bytes)).map(Some).map_err(|error| {
        let place =
            Location { file: git::LOCK_FILE.to_owned(), line: Some(error.line), column: None };
        Error::new(codes::CONFIG_INVALID, error.reason).at(place)
    })
}

/// The first part of the paths of a remote repository: it says which, and is one part.
fn mount_name(address: &str, commit: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let shown: String = address.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    format!("{MOUNT_PREFIX}{shown}@{commit}")
}

fn moving(reference: &str, commit: &str) -> Note {
    let reference = without_credentials(reference);
    let message = format!(
        "{reference} names no tag and no commit: it was {commit} now and may be another tomorrow"
    );
    Note { code: "moving-base", message }
}
