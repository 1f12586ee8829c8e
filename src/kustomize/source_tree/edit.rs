//! A tree with some texts replaced: what the build of an edit reads before anything is written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::crawl::Crawler;
use super::{
    Found, KUSTOMIZATION_FILES, LoadError, ReadKustomization, SourceFile, SourceTree, is_within,
};
use crate::kustomize::files::{Entry, Files, FilesError};

/// `base` with some texts in place of its files, and some that it has not.
pub struct EditedFiles<'a> {
    base: &'a dyn Files,
    edits: &'a [(String, String)],
}

impl<'a> EditedFiles<'a> {
    /// `edits` are real paths and their new texts.
    #[must_use]
    pub fn new(base: &'a dyn Files, edits: &'a [(String, String)]) -> Self {
        Self { base, edits }
    }
}

impl EditedFiles<'_> {
    fn text(&self, path: &str) -> Option<&str> {
        self.edits.iter().find(|(edited, _)| edited == path).map(|(_, text)| &**text)
    }
}

impl Files for EditedFiles<'_> {
    fn entry(&self, path: &str) -> Result<Option<Entry>, FilesError> {
        let real = path.to_owned();
        if self.text(path).is_some() {
            return Ok(Some(Entry::File { real }));
        }
        let found = self.base.entry(path)?;
        let is_parent = |(edited, _): &(String, String)| is_within(edited, path);
        if found.is_none() && self.edits.iter().any(is_parent) {
            return Ok(Some(Entry::Directory { real }));
        }
        Ok(found)
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, FilesError> {
        match self.text(path) {
            Some(text) => Ok(Arc::from(text.as_bytes())),
            None => self.base.read(path),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<String>, FilesError> {
        let names = self.edits.iter().map(|(edited, _)| (&**edited, true));
        list_with(self.base, path, names)
    }
}

/// What `base` has in the directory at `path`, with and without the files that are said to be there or not.
fn list_with<'f>(
    base: &dyn Files,
    path: &str,
    files: impl Iterator<Item = (&'f str, bool)>,
) -> Result<Vec<String>, FilesError> {
    let mut names: BTreeSet<String> = match base.entry(path)? {
        Some(_) => base.list(path)?.into_iter().collect(),
        None => BTreeSet::new(),
    };
    for (file, is_there) in files.filter(|(file, _)| is_within(file, path)) {
        let below = file[path.len()..].trim_start_matches('/');
        match below.split_once('/') {
            None if below.is_empty() => false,
            Some((directory, _)) if is_there => names.insert(directory.to_owned()),
            Some(_) => false,
            None if is_there => names.insert(below.to_owned()),
            None => names.remove(below),
        };
    }
    Ok(names.into_iter().collect())
}

/// `base` with some files in place of its own, some that it has not, and some left out.
pub struct ReplacedFiles<'a> {
    base: &'a dyn Files,
    files: BTreeMap<String, Option<Arc<[u8]>>>,
}

impl<'a> ReplacedFiles<'a> {
    /// `files` are real paths and their bytes; `None` leaves a file out.
    #[must_use]
    pub fn new(
        base: &'a dyn Files,
        files: impl IntoIterator<Item = (String, Option<Vec<u8>>)>,
    ) -> Self {
        let files = files.into_iter().map(|(path, bytes)| (path, bytes.map(Arc::from)));
        Self { base, files: files.collect() }
    }
}

impl Files for ReplacedFiles<'_> {
    fn entry(&self, path: &str) -> Result<Option<Entry>, FilesError> {
        let real = path.to_owned();
        match self.files.get(path) {
            Some(Some(_)) => return Ok(Some(Entry::File { real })),
            Some(None) => return Ok(None),
            None => {}
        }
        let is_parent = || self.files.iter().any(|(file, b)| b.is_some() && is_within(file, path));
        match self.base.entry(path)? {
            // A link to a file that is left out leads nowhere.
            Some(Entry::File { real }) if matches!(self.files.get(&real), Some(None)) => Ok(None),
            None if is_parent() => Ok(Some(Entry::Directory { real })),
            found => Ok(found),
        }
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, FilesError> {
        match self.files.get(path) {
            Some(Some(bytes)) => Ok(Arc::clone(bytes)),
            Some(None) => Err(FilesError::Unreadable {
                path: path.to_owned(),
                reason: "no such file".to_owned(),
            }),
            None => self.base.read(path),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<String>, FilesError> {
        let names = self.files.iter().map(|(file, bytes)| (&**file, bytes.is_some()));
        list_with(self.base, path, names)
    }
}

impl SourceTree {
    /// The tree after `edits` (real paths and their new texts): the rest is shared, and only what
    /// the edits newly reach is read from `files`.
    ///
    /// # Errors
    /// [`LoadError::TooMuch`].
    pub fn with_edits(
        &self,
        files: &dyn Files,
        edits: &[(String, String)],
    ) -> Result<Self, LoadError> {
        let mut tree = self.clone();
        let is_stale = |path: &str, found: &Found| {
            matches!(found, Found::Missing)
                && edits.iter().any(|(edited, _)| is_within(edited, path))
        };
        tree.found.retain(|path, found| !is_stale(path, found));
        for (path, text) in edits {
            if let Some(old) = tree.files.get_mut(path) {
                let bytes = Arc::from(text.as_bytes());
                *old = Arc::new(SourceFile::new(Arc::clone(&old.path), old.id, bytes));
            }
        }
        let paths = self.edited.iter().chain(edits.iter().map(|(path, _)| path));
        tree.edited = Arc::new(paths.cloned().collect());
        let edited = EditedFiles { base: files, edits };
        for directory in kustomizations_of(edits, &tree) {
            Crawler::new(&mut tree, &edited).again(&directory)?;
        }
        Ok(tree)
    }
}

/// The directories whose kustomization file is among the edits, and those that failed before and
/// may not now.
fn kustomizations_of(edits: &[(String, String)], tree: &SourceTree) -> Vec<String> {
    let is_edited = |directory: &str| {
        KUSTOMIZATION_FILES.iter().any(|name| {
            let path = super::join(directory, name).unwrap_or_default();
            edits.iter().any(|(edited, _)| *edited == path)
        })
    };
    // A kustomization behind a link has the path of neither its directory nor its name.
    let is_read_from = |read: &ReadKustomization| {
        read.as_ref().is_ok_and(|read| edits.iter().any(|(edited, _)| **edited == *read.file.path))
    };
    let stale = tree.kustomizations.iter().filter(|(directory, read)| {
        is_edited(directory) || is_read_from(read) || tree.reaches_any(directory, edits)
    });
    stale.map(|(directory, _)| directory.clone()).collect()
}

impl SourceTree {
    /// Whether a kustomization may name a file that an edit makes or changes.
    fn reaches_any(&self, directory: &str, edits: &[(String, String)]) -> bool {
        self.kustomization(directory).is_some()
            && edits.iter().any(|(path, _)| !self.files.contains_key(path))
    }
}
