//! Everything a build reads, in memory: the files that an overlay reaches in one version of a
//! repository.
//!
//! Loading follows the references of every kustomization file and judges nothing: what is missing
//! or forbidden is recorded and becomes an error where the build uses it, with the line of the
//! reference.

pub(crate) mod charts;
mod crawl;
mod difference;
mod edit;
mod reach;
mod shared;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::chart::ChartStore;
use super::error::{BuildError, BuildErrorKind};
use super::files::{Files, FilesError};
use super::node::Node;
use super::origin::{FileId, FileTable};
use super::types::Kustomization;

pub use edit::{EditedFiles, ReplacedFiles};
pub use shared::SharedSources;

/// The names of a kustomization file, in kustomize's order.
pub const KUSTOMIZATION_FILES: [&str; 3] =
    ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The most files that a tree may have.
pub const MAX_FILES: usize = 50_000;

/// The most bytes that all files of a tree may have.
pub const MAX_BYTES: usize = 512 << 20;

/// Why a tree could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The overlay's path cannot be followed.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The overlay is not a directory.
    #[error("{path}: is not a directory")]
    NotADirectory {
        /// The path as asked for.
        path: String,
    },
    /// The overlay reaches more than a build may use.
    #[error("{path}: reaches more than {what}; is a reference pointing at the wrong directory?")]
    TooMuch {
        /// The overlay.
        path: String,
        /// The limit, in words.
        what: String,
    },
}

/// A file of a tree.
#[derive(Debug)]
pub struct SourceFile {
    /// Its path relative to the boundary, after all links.
    pub path: Arc<str>,
    /// Its number in [`SourceTree::file_table`].
    pub id: FileId,
    /// Its content.
    pub bytes: Arc<[u8]>,
    /// Its objects, once they were read a second time.
    objects: OnceLock<Result<Vec<Node>, BuildError>>,
    was_read: AtomicBool,
}

impl SourceFile {
    /// The file at `path`, which is `id` in the tables of its trees.
    #[must_use]
    pub fn new(path: Arc<str>, id: FileId, bytes: Arc<[u8]>) -> Self {
        Self { path, id, bytes, objects: OnceLock::new(), was_read: AtomicBool::new(false) }
    }

    /// What `read` makes of it: made each time, until it is wanted again, for most files of a run
    /// are read once and what is kept takes far more room than the text.
    pub(crate) fn objects(
        &self,
        read: impl Fn(&Self) -> Result<Vec<Node>, BuildError>,
    ) -> Result<Vec<Node>, BuildError> {
        match self.was_read.swap(true, Ordering::Relaxed) {
            false => read(self),
            true => self.objects.get_or_init(|| read(self)).clone(),
        }
    }
}

/// What stands at a path of a tree.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// A file, by its real path.
    File(String),
    /// A directory, by its real path.
    Directory(String),
    /// Nothing.
    Missing,
    /// Something that must not or cannot be read.
    Refused(FilesError),
}

/// A kustomization file of a tree, read.
#[derive(Debug)]
pub struct KustomizationFile {
    /// The file.
    pub file: Arc<SourceFile>,
    /// Its name in the directory.
    pub name: &'static str,
    /// Its fields.
    pub kustomization: Kustomization,
    /// Deprecated fields that it uses.
    pub deprecated: Vec<super::error::Warning>,
}

/// What the kustomization file of a directory is: read, or why not.
pub(crate) type ReadKustomization = Result<Arc<KustomizationFile>, BuildError>;

/// What a tree gets beside the files of its repository.
#[derive(Clone, Debug, Default)]
pub struct Supplied {
    /// Content for remote references: the text of each to the path where it is.
    pub remotes: BTreeMap<String, String>,
    /// What charts came to; `None` where builds must not inflate any.
    pub charts: Option<Arc<ChartStore>>,
}

/// The files that an overlay reaches, and where its references lead. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct SourceTree {
    overlay: String,
    found: HashMap<String, Found>,
    files: HashMap<String, Arc<SourceFile>>,
    kustomizations: BTreeMap<String, ReadKustomization>,
    table: FileTable,
    remotes: Arc<BTreeMap<String, String>>,
    /// What charts came to, where builds may inflate them.
    charts: Option<Arc<ChartStore>>,
    /// The charts that stand in the repository, by the path asked for.
    chart_listings: BTreeMap<String, charts::ChartListing>,
    /// What it shares with the other trees of its version.
    shared: Option<Arc<SharedSources>>,
    /// The paths whose texts are not those of that version.
    edited: Arc<Vec<String>>,
}

impl SourceTree {
    /// Loads everything that the overlay at `overlay` (relative to the boundary of `files`; empty
    /// for the boundary itself) reaches.
    ///
    /// # Errors
    /// [`LoadError`] where the overlay itself is no directory, or reaches too much.
    pub fn load(files: &dyn Files, overlay: &str) -> Result<Self, LoadError> {
        Self::load_with_remotes(files, overlay, BTreeMap::new())
    }

    /// As [`SourceTree::load`], with content for remote references: the text of the reference to
    /// the path in `files` where its content is.
    ///
    /// # Errors
    /// As [`SourceTree::load`].
    pub fn load_with_remotes(
        files: &dyn Files,
        overlay: &str,
        remotes: BTreeMap<String, String>,
    ) -> Result<Self, LoadError> {
        let mut tree = Self { remotes: Arc::new(remotes), ..Self::default() };
        tree.add_overlay(files, overlay)?;
        Ok(tree)
    }

    /// As [`SourceTree::load_with_remotes`], for one of many overlays of one version: what another
    /// tree with the same `shared` has read is not read again.
    ///
    /// # Errors
    /// As [`SourceTree::load`].
    pub fn load_sharing(
        files: &dyn Files,
        overlay: &str,
        supplied: Supplied,
        shared: &Arc<SharedSources>,
    ) -> Result<Self, LoadError> {
        let mut tree = Self {
            remotes: Arc::new(supplied.remotes),
            charts: supplied.charts,
            table: shared.file_table(),
            shared: Some(Arc::clone(shared)),
            ..Self::default()
        };
        tree.add_overlay(files, overlay)?;
        Ok(tree)
    }

    /// An empty tree of the same version, which shares what that has read.
    #[must_use]
    pub fn beside(&self) -> Self {
        let table = self.shared.as_ref().map(|shared| shared.file_table()).unwrap_or_default();
        let (remotes, shared) = (Arc::clone(&self.remotes), self.shared.clone());
        Self { remotes, charts: self.charts.clone(), table, shared, ..Self::default() }
    }

    /// Loads what another overlay reaches too, so that one tree serves both.
    ///
    /// # Errors
    /// As [`SourceTree::load`].
    pub fn add_overlay(&mut self, files: &dyn Files, overlay: &str) -> Result<(), LoadError> {
        crawl::Crawler::new(self, files).overlay(overlay)
    }

    /// Reads the kustomization file of `directory` and finds the directories that it names, and reads nothing
    /// that those or its files hold: for who asks who uses whom, and builds nothing.
    ///
    /// # Errors
    /// Where `directory` cannot be followed, or is none.
    pub fn add_alone(&mut self, files: &dyn Files, directory: &str) -> Result<(), LoadError> {
        crawl::Crawler::new(self, files).alone(directory)
    }

    /// The overlay the tree was loaded for: its real path.
    #[must_use]
    pub fn overlay(&self) -> &str {
        &self.overlay
    }

    /// All files, by real path, in no order.
    pub fn files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.values().map(|file| &**file)
    }

    /// The file at a real path.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&SourceFile> {
        self.files.get(path).map(|file| &**file)
    }

    /// The paths of the file numbers that origins hold.
    #[must_use]
    pub fn file_table(&self) -> &FileTable {
        &self.table
    }

    /// The kustomization file of a directory, by real path; `None` where there is none, or more
    /// than one, or it cannot be read.
    #[must_use]
    pub fn kustomization(&self, directory: &str) -> Option<&KustomizationFile> {
        let read = self.kustomizations.get(directory)?;
        read.as_ref().ok().map(|file| &**file)
    }

    /// The directories with a kustomization file that could be read, and the files, by path.
    pub fn kustomizations(&self) -> impl Iterator<Item = (&str, &KustomizationFile)> {
        self.kustomizations
            .iter()
            .filter_map(|(directory, read)| Some((&**directory, &**read.as_ref().ok()?)))
    }

    /// The real path of a directory of the tree, by the path asked for.
    #[must_use]
    pub fn directory(&self, path: &str) -> Option<&str> {
        match self.found.get(path)? {
            Found::Directory(real) => Some(real),
            _ => None,
        }
    }

    /// The real path of the directory that `reference` names in the kustomization of `directory`.
    #[must_use]
    pub fn directory_from(&self, directory: &str, reference: &str) -> Option<&str> {
        self.directory(&join(directory, reference)?)
    }

    /// Why the kustomization file of a directory cannot be used, by real path.
    #[must_use]
    pub fn kustomization_problem(&self, directory: &str) -> Option<&BuildError> {
        self.kustomizations.get(directory)?.as_ref().err()
    }

    /// The file that a resource was read from, and the resource as it stands there.
    #[must_use]
    pub fn source_of(
        &self,
        resource: &super::resource::Resource,
    ) -> Option<(&str, super::node::Node)> {
        let file = self.file(self.table.path(resource.origin.file))?;
        let nodes = super::read::resources(file).ok()?;
        let is_it = |node: &super::node::Node| node.origin.line == resource.origin.line;
        Some((&*file.path, nodes.into_iter().find(is_it)?))
    }

    /// The directories of the tree, by real path, in no order.
    pub fn directories(&self) -> impl Iterator<Item = &str> {
        self.found.values().filter_map(|found| match found {
            Found::Directory(real) => Some(&**real).filter(|real| !real.is_empty()),
            _ => None,
        })
    }

    /// The paths that were asked for and are links, or lie below one, with their real paths.
    pub fn links(&self) -> impl Iterator<Item = (&str, &str)> {
        self.found.iter().filter_map(|(asked, found)| match found {
            Found::Directory(real) | Found::File(real) => {
                Some((&**asked, &**real)).filter(|(asked, real)| asked != real)
            }
            _ => None,
        })
    }

    /// Every path that loading asked for, whether something stands there or not, in no order. In another
    /// version where the same stands at each of them, loading gives the same.
    pub fn paths_asked(&self) -> impl Iterator<Item = &str> {
        self.found.keys().map(|path| &**path)
    }

    /// Whether a kustomization of the tree names something on the network.
    #[must_use]
    pub fn names_remotes(&self) -> bool {
        self.kustomizations().any(|(_, read)| {
            let mut references = read.kustomization.directory_references();
            references.any(|reference| super::remote::is_remote(reference))
        })
    }

    /// What stands at `path`, which is clean and relative to the boundary.
    pub(crate) fn find(&self, path: &str) -> &Found {
        self.found.get(path).unwrap_or(&Found::Missing)
    }

    /// The kustomization file of a directory, or why there is none to use.
    pub(crate) fn read_kustomization(&self, directory: &str) -> ReadKustomization {
        match self.kustomizations.get(directory) {
            Some(read) => read.clone(),
            None => Err(BuildError::new(
                BuildErrorKind::Missing,
                format!("no kustomization file in '{}'", display_directory(directory)),
            )),
        }
    }

    /// The references to git repositories that the tree's kustomization files make, each once, in order.
    #[must_use]
    pub fn remote_references(&self) -> Vec<String> {
        let mut found: Vec<String> = self
            .kustomizations()
            .flat_map(|(_, read)| {
                let fields = &read.kustomization;
                fields.resources.iter().chain(&fields.components)
            })
            .filter(|reference| super::remote::is_git_url(reference))
            .map(|reference| reference.to_string())
            .collect();
        found.sort();
        found.dedup();
        found
    }

    /// Those of [`SourceTree::remote_references`] that have no content yet.
    #[must_use]
    pub fn missing_remotes(&self) -> Vec<String> {
        let mut missing = self.remote_references();
        missing.retain(|reference| self.remote(reference).is_none());
        missing
    }

    /// Where the content of a remote reference is, if it was supplied.
    pub(crate) fn remote(&self, reference: &str) -> Option<&str> {
        self.remotes.get(reference).map(|path| &**path)
    }
}

/// A directory in words: the boundary is `.`.
pub(crate) fn display_directory(directory: &str) -> &str {
    if directory.is_empty() { "." } else { directory }
}

/// `path` seen from the directory `root`, cleaned as Go's `filepath.Join` does; `None` where it
/// leaves the boundary (for a supplied remote repository: that repository) or is absolute.
pub(crate) fn join(root: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let cleaned = super::remote::clean(&format!("{root}/{path}"));
    match &*cleaned {
        "." if super::remote::mount_of(root).is_some() => None,
        "." => Some(String::new()),
        other if super::remote::mount_of(other) != super::remote::mount_of(root) => None,
        outside if outside == ".." || outside.starts_with("../") => None,
        _ => Some(cleaned),
    }
}

/// Whether `path` is `directory` or below it.
pub(crate) fn is_within(path: &str, directory: &str) -> bool {
    directory.is_empty()
        || path == directory
        || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}
