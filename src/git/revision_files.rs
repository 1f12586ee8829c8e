//! The port [`Files`] over the object store: one revision, read without a checkout.
//!
//! Symbolic links are followed inside the tree, never out of it. A submodule is another repository and so is absent. A
//! pointer of Git LFS is the small text that is committed.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::kustomize::{Entry, Files, FilesError};

use super::error::GitError;
use super::id::ObjectId;
use super::objects::Objects;
use super::tree::{Mode, TreeEntry};

/// As Linux counts them.
const MAX_LINKS: usize = 40;

/// The longest target of a link.
const MAX_LINK_BYTES: u64 = 4096;

/// The largest file that a build reads.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// How many files beside the one asked for a partial clone is asked for as well.
const MAX_SIBLINGS: usize = 400;

/// One revision of a repository below its top.
pub struct RevisionFiles {
    objects: Arc<Objects>,
    root: ObjectId,
    prefetched: Mutex<HashSet<ObjectId>>,
}

/// What stands at a path once links are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The path after all links.
    pub real: String,
    /// What it is: never a link, never a submodule.
    pub entry: TreeEntry,
}

/// What is below a directory.
#[derive(Clone, Debug, Default)]
pub struct FilesBelow {
    /// Files and links, by path.
    pub files: BTreeMap<String, TreeEntry>,
    /// Directories whose files are not among them.
    pub left_out: Vec<String>,
}

impl RevisionFiles {
    /// The files of this root tree.
    pub fn new(objects: Arc<Objects>, root: ObjectId) -> Self {
        Self { objects, root, prefetched: Mutex::default() }
    }

    /// The root tree.
    pub fn root(&self) -> ObjectId {
        self.root
    }

    /// What stands at `path`, links followed.
    ///
    /// # Errors
    /// [`FilesError`] where a link leads out, nowhere or in circles, or an object cannot be read.
    pub fn find(&self, path: &str) -> Result<Option<Found>, FilesError> {
        Walk { files: self, asked: path, links: 0 }.find()
    }

    /// Every directory that holds a file of one of these names, links not followed.
    ///
    /// # Errors
    /// [`GitError::BadObject`].
    pub fn directories_with(&self, names: &[&str]) -> Result<Vec<String>, GitError> {
        let mut found = Vec::new();
        let mut ahead = vec![(String::new(), self.root)];
        while let Some((path, id)) = ahead.pop() {
            let tree = self.objects.tree(id)?;
            let is_file =
                |name: &&str| tree.find(name.as_bytes()).is_some_and(|entry| entry.mode.is_file());
            if names.iter().any(is_file) {
                found.push(path.clone());
            }
            for (name, entry) in tree.entries().filter(|(_, entry)| entry.mode == Mode::Tree) {
                let name = String::from_utf8_lossy(name);
                let below =
                    if path.is_empty() { name.into_owned() } else { format!("{path}/{name}") };
                ahead.push((below, entry.id));
            }
        }
        Ok(found)
    }

    /// Every file and link below `directory`, which is a real path, and the directories below it that hold a file of
    /// one of `names`: what is in those is left out.
    ///
    /// # Errors
    /// [`GitError::BadObject`].
    pub fn files_below(&self, directory: &str, names: &[&str]) -> Result<FilesBelow, GitError> {
        let mut below = FilesBelow::default();
        let Ok(Some(Found { entry, .. })) = self.find(directory) else { return Ok(below) };
        let mut ahead = vec![(directory.to_owned(), entry)];
        while let Some((path, entry)) = ahead.pop() {
            if entry.mode != Mode::Tree {
                below.files.insert(path, entry);
                continue;
            }
            let tree = self.objects.tree(entry.id)?;
            let is_own = |name: &&str| tree.find(name.as_bytes()).is_some();
            if path != directory && names.iter().any(is_own) {
                below.left_out.push(path);
                continue;
            }
            for (name, entry) in tree.entries().filter(|(_, e)| e.mode != Mode::Submodule) {
                let name = String::from_utf8_lossy(name);
                let path =
                    if path.is_empty() { name.into_owned() } else { format!("{path}/{name}") };
                ahead.push((path, entry));
            }
        }
        Ok(below)
    }

    /// The bytes of a file of a revision by its entry.
    ///
    /// # Errors
    /// [`GitError::BadObject`], also for a file that is too large.
    pub fn content(&self, entry: TreeEntry) -> Result<Arc<[u8]>, GitError> {
        self.objects.blob(entry.id, MAX_FILE_BYTES)
    }

    fn tree_entry(
        &self,
        directory: ObjectId,
        name: &str,
        asked: &str,
    ) -> Result<Option<TreeEntry>, FilesError> {
        let tree = self.objects.tree(directory).map_err(|e| unreadable(asked, &e))?;
        Ok(tree.find(name.as_bytes()))
    }

    /// A partial clone gets the files of a directory in one request, not each by itself.
    fn prefetch_beside(&self, directory: ObjectId) -> Result<(), GitError> {
        let first =
            self.prefetched.lock().unwrap_or_else(PoisonError::into_inner).insert(directory);
        if !first || self.objects.is_library() {
            return Ok(());
        }
        let tree = self.objects.tree(directory)?;
        let files =
            tree.entries().filter(|(_, entry)| entry.mode.is_file() || entry.mode == Mode::Link);
        let ids: Vec<ObjectId> = files.map(|(_, entry)| entry.id).take(MAX_SIBLINGS).collect();
        self.objects.prefetch(&ids)
    }

    fn read_blob(&self, found: &Found, asked: &str) -> Result<Arc<[u8]>, FilesError> {
        if !self.objects.is_library() {
            let (parent, _) = found.real.rsplit_once('/').unwrap_or(("", ""));
            if let Some(directory) = self.find(parent)? {
                self.prefetch_beside(directory.entry.id).map_err(|e| unreadable(asked, &e))?;
            }
        }
        let (_, bytes) = self.objects.header(found.entry.id).map_err(|e| unreadable(asked, &e))?;
        if bytes > MAX_FILE_BYTES {
            return Err(FilesError::TooLarge {
                path: asked.to_owned(),
                bytes,
                limit: MAX_FILE_BYTES,
            });
        }
        self.objects.blob(found.entry.id, MAX_FILE_BYTES).map_err(|e| unreadable(asked, &e))
    }
}

impl Files for RevisionFiles {
    fn entry(&self, path: &str) -> Result<Option<Entry>, FilesError> {
        Ok(self.find(path)?.map(|Found { real, entry }| match entry.mode {
            Mode::Tree => Entry::Directory { real },
            _ => Entry::File { real },
        }))
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, FilesError> {
        match self.find(path)? {
            Some(found) if found.entry.mode.is_file() => self.read_blob(&found, path),
            Some(_) => Err(reason(path, "a directory")),
            None => Err(reason(path, "no such file in this revision")),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<String>, FilesError> {
        let Some(Found { entry: TreeEntry { mode: Mode::Tree, id }, .. }) = self.find(path)? else {
            return Err(reason(path, "no directory in this revision"));
        };
        let tree = self.objects.tree(id).map_err(|e| unreadable(path, &e))?;
        let mut names = Vec::new();
        for (name, _) in tree.entries().filter(|(_, entry)| entry.mode != Mode::Submodule) {
            let name = std::str::from_utf8(name);
            let name = name.map_err(|_| reason(path, "holds a name that is not UTF-8"))?;
            names.push(name.to_owned());
        }
        names.sort_unstable();
        Ok(names)
    }
}

/// One walk along a path.
struct Walk<'a> {
    files: &'a RevisionFiles,
    asked: &'a str,
    links: usize,
}

impl Walk<'_> {
    fn find(&mut self) -> Result<Option<Found>, FilesError> {
        let mut ahead: Vec<Part> = parts_reversed(self.asked, false);
        let mut behind: Vec<(String, ObjectId)> = Vec::new();
        while let Some(Part { name, is_of_link }) = ahead.pop() {
            if name == ".." {
                behind.pop().ok_or_else(|| FilesError::Outside { path: self.asked.to_owned() })?;
                continue;
            }
            let here = behind.last().map_or(self.files.root, |(_, id)| *id);
            let Some(entry) = self.files.tree_entry(here, &name, self.asked)? else {
                return self.nothing(is_of_link);
            };
            match entry.mode {
                Mode::Tree => behind.push((name, entry.id)),
                Mode::Submodule => return self.nothing(is_of_link),
                Mode::Link => ahead.extend(self.follow(here, entry)?),
                Mode::File(_) | Mode::Executable if ahead.is_empty() => {
                    return Ok(Some(Found { real: join(&behind, &name), entry }));
                }
                Mode::File(_) | Mode::Executable => return self.nothing(is_of_link),
            }
        }
        let id = behind.last().map_or(self.files.root, |(_, id)| *id);
        let real = behind.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join("/");
        Ok(Some(Found { real, entry: TreeEntry { mode: Mode::Tree, id } }))
    }

    /// Nothing there; where the name stood in a link, the link leads nowhere.
    fn nothing(&self, is_of_link: bool) -> Result<Option<Found>, FilesError> {
        if is_of_link {
            Err(reason(self.asked, "a symbolic link that leads nowhere"))
        } else {
            Ok(None)
        }
    }

    fn follow(&mut self, directory: ObjectId, link: TreeEntry) -> Result<Vec<Part>, FilesError> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(reason(self.asked, "a loop of symbolic links"));
        }
        self.files.prefetch_beside(directory).map_err(|e| unreadable(self.asked, &e))?;
        let target = self
            .files
            .objects
            .blob(link.id, MAX_LINK_BYTES)
            .map_err(|e| unreadable(self.asked, &e))?;
        let target = std::str::from_utf8(&target)
            .map_err(|_| reason(self.asked, "a symbolic link that is not UTF-8"))?;
        if target.starts_with('/') {
            return Err(FilesError::Outside { path: self.asked.to_owned() });
        }
        Ok(parts_reversed(target, true))
    }
}

/// One name still to go, and whether it was asked for or came from the target of a link.
struct Part {
    name: String,
    is_of_link: bool,
}

fn parts_reversed(path: &str, is_of_link: bool) -> Vec<Part> {
    let names = path.split('/').rev().filter(|name| !name.is_empty() && *name != ".");
    names.map(|name| Part { name: name.to_owned(), is_of_link }).collect()
}

fn join(behind: &[(String, ObjectId)], last: &str) -> String {
    behind.iter().map(|(name, _)| name.as_str()).chain([last]).collect::<Vec<_>>().join("/")
}

fn reason(path: &str, reason: &str) -> FilesError {
    FilesError::Unreadable { path: path.to_owned(), reason: reason.to_owned() }
}

fn unreadable(path: &str, error: &GitError) -> FilesError {
    reason(path, &error.to_string())
}
