//! Following the references of kustomization files.

use std::sync::Arc;

use super::{Found, KUSTOMIZATION_FILES, KustomizationFile, LoadError, MAX_BYTES, MAX_FILES};
use super::{ReadKustomization, SharedSources, SourceFile, SourceTree, display_directory, join};
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::files::{Entry, Files, FilesError};
use crate::kustomize::node::Node;
use crate::kustomize::read;
use crate::kustomize::remote;
use crate::kustomize::types::{Kustomization, Located};

/// Loads what references reach into a tree.
pub(super) struct Crawler<'a> {
    pub(super) tree: &'a mut SourceTree,
    pub(super) files: &'a dyn Files,
    /// What other trees of the version have read; not for a tree with edited texts.
    shared: Option<Arc<SharedSources>>,
    bytes: usize,
    /// Directories still to read.
    pending: Vec<String>,
    /// Directories that hold plugins, once they are read, and the directories that name them.
    plugin_directories: Vec<(String, String)>,
}

impl<'a> Crawler<'a> {
    pub(super) fn new(tree: &'a mut SourceTree, files: &'a dyn Files) -> Self {
        let bytes = tree.files.values().map(|file| file.bytes.len()).sum();
        let shared = tree.shared.clone().filter(|_| tree.edited.is_empty());
        let (pending, plugin_directories) = (Vec::new(), Vec::new());
        Self { tree, files, shared, bytes, pending, plugin_directories }
    }

    /// Loads the overlay at `path` and all it reaches.
    pub(super) fn overlay(&mut self, path: &str) -> Result<(), LoadError> {
        let asked = join("", path).unwrap_or_default();
        match self.find(&asked) {
            Found::Directory(real) => {
                if self.tree.overlay.is_empty() {
                    self.tree.overlay.clone_from(&real);
                }
                self.pending.push(real);
                self.run(path)
            }
            Found::Refused(error) => Err(error.into()),
            Found::File(_) | Found::Missing => {
                Err(LoadError::NotADirectory { path: display_directory(path).to_owned() })
            }
        }
    }

    /// Reads the kustomization of the directory at `path`, and finds the directories that it names.
    pub(super) fn alone(&mut self, path: &str) -> Result<(), LoadError> {
        let not_one = || LoadError::NotADirectory { path: display_directory(path).to_owned() };
        let Some(Entry::Directory { real }) = self.files.entry(path)? else {
            return Err(not_one());
        };
        if !self.tree.kustomizations.contains_key(&real) {
            let read = self.kustomization_of(&real);
            self.tree.kustomizations.insert(real.clone(), read);
        }
        if let Ok(file) = self.tree.read_kustomization(&real) {
            for reference in file.kustomization.directory_references() {
                self.find_directory(&real, reference);
            }
        }
        Ok(())
    }

    /// Finds what `reference` names from `root`, where it is a directory of the boundary.
    fn find_directory(&mut self, root: &str, reference: &str) {
        if remote::is_remote(reference) {
            return;
        }
        let Some(asked) = join(root, reference) else { return };
        if self.tree.found.contains_key(&asked) {
            return;
        }
        if let Ok(Some(Entry::Directory { real })) = self.files.entry(&asked) {
            self.tree.found.insert(asked, Found::Directory(real));
        }
    }

    /// Reads `directory` again, and all it newly reaches.
    pub(super) fn again(&mut self, directory: &str) -> Result<(), LoadError> {
        self.tree.kustomizations.remove(directory);
        self.pending.push(directory.to_owned());
        self.run(directory)
    }

    fn run(&mut self, path: &str) -> Result<(), LoadError> {
        loop {
            if let Some(directory) = self.pending.pop() {
                if !self.tree.kustomizations.contains_key(&directory) {
                    self.directory(&directory);
                }
            } else if let Some((root, directory)) = self.plugin_directories.pop() {
                self.plugin_directory(&root, &directory);
            } else {
                return Ok(());
            }
            self.check_limits(path)?;
        }
    }

    fn check_limits(&self, path: &str) -> Result<(), LoadError> {
        let what = if self.tree.files.len() > MAX_FILES {
            format!("{MAX_FILES} files")
        } else if self.bytes > MAX_BYTES {
            format!("{} MiB", MAX_BYTES >> 20)
        } else {
            return Ok(());
        };
        let path = display_directory(path).to_owned();
        Err(LoadError::TooMuch { path, what })
    }

    /// The kustomization of a directory, read once for all trees of the version.
    fn kustomization_of(&mut self, directory: &str) -> ReadKustomization {
        let known = self.shared.as_ref().and_then(|shared| shared.kustomization(directory));
        let read = match known {
            Some(known) => self.adopt_kustomization(directory, known),
            None => self.read_kustomization(directory),
        };
        if let Some(shared) = &self.shared {
            shared.keep_kustomization(directory, &read);
        }
        read
    }

    fn directory(&mut self, directory: &str) {
        let read = self.kustomization_of(directory);
        if let Ok(file) = &read {
            self.references(directory, &Arc::clone(file).kustomization);
        }
        self.tree.kustomizations.insert(directory.to_owned(), read);
    }

    fn read_kustomization(&mut self, directory: &str) -> ReadKustomization {
        let mut candidates = Vec::new();
        for name in KUSTOMIZATION_FILES {
            let path = join(directory, name).unwrap_or_default();
            if let Found::File(real) = self.find(&path) {
                candidates.push((name, real));
            }
        }
        let directory = display_directory(directory);
        match candidates.as_slice() {
            [] => Err(BuildError::new(
                BuildErrorKind::Missing,
                format!("no kustomization file in '{directory}'"),
            )),
            [(name, real)] => self.parse(name, &real.clone()),
            several => Err(BuildError::new(
                BuildErrorKind::Kustomization,
                format!(
                    "several kustomization files in '{directory}': {}; keep one",
                    several.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
                ),
            )),
        }
    }

    /// What another tree has read; the files it stands in become this tree's too.
    fn adopt_kustomization(
        &mut self,
        directory: &str,
        known: ReadKustomization,
    ) -> ReadKustomization {
        for name in KUSTOMIZATION_FILES {
            self.find(&join(directory, name).unwrap_or_default());
        }
        known
    }

    fn parse(&mut self, name: &'static str, real: &str) -> ReadKustomization {
        let file = Arc::clone(&self.tree.files[real]);
        let parsed = || {
            let node = read::configuration(&file)?;
            let kustomization = Kustomization::from_node(&node)?;
            Ok(Arc::new(KustomizationFile {
                name,
                kustomization,
                deprecated: Kustomization::deprecated_fields(&node),
                file: Arc::clone(&file),
            }))
        };
        parsed().map_err(|error: BuildError| error.resolve(&self.tree.table))
    }

    /// What stands at `path`, loading a file that is new.
    pub(super) fn find(&mut self, path: &str) -> Found {
        if let Some(found) = self.tree.found.get(path) {
            return found.clone();
        }
        let found = match self.shared.as_ref().and_then(|shared| shared.found(path)) {
            Some(Found::File(real)) => self.load(real),
            Some(found) => found,
            None => self.look(path),
        };
        self.tree.found.insert(path.to_owned(), found.clone());
        found
    }

    fn look(&mut self, path: &str) -> Found {
        let found = match self.files.entry(path) {
            Ok(None) => Found::Missing,
            Ok(Some(Entry::Directory { real })) => Found::Directory(real),
            Ok(Some(Entry::File { real })) => self.load(real),
            Err(error) => Found::Refused(error),
        };
        if let Some(shared) = &self.shared {
            shared.keep_found(path, &found);
        }
        found
    }

    fn load(&mut self, real: String) -> Found {
        if self.tree.files.contains_key(&real) {
            return Found::File(real);
        }
        let known = self.shared.as_ref().and_then(|shared| shared.file(&real));
        let file = match known.map_or_else(|| self.read(&real), Ok) {
            Ok(file) => file,
            Err(error) => return Found::Refused(error),
        };
        self.bytes += file.bytes.len();
        self.tree.table.adopt(file.id, Arc::clone(&file.path));
        self.tree.files.insert(real.clone(), file);
        Found::File(real)
    }

    fn read(&mut self, real: &str) -> Result<Arc<SourceFile>, FilesError> {
        let bytes = self.files.read(real)?;
        let path: Arc<str> = Arc::from(real);
        let id = self.tree.table.add(Arc::clone(&path));
        let file = Arc::new(SourceFile::new(path, id, bytes));
        Ok(match &self.shared {
            Some(shared) => shared.keep_file(file),
            None => file,
        })
    }

    /// Follows a reference from `root`; a directory is read later. Returns the file it leads to.
    fn follow(&mut self, root: &str, reference: &str) -> Option<Arc<SourceFile>> {
        let asked = match self.tree.remote(reference) {
            Some(supplied) => supplied.to_owned(),
            None if remote::is_http_url(reference) => return None,
            None => join(root, reference)?,
        };
        match self.find(&asked) {
            Found::File(real) => self.tree.files.get(&real).cloned(),
            Found::Directory(real) => {
                self.pending.push(real);
                None
            }
            Found::Missing | Found::Refused(_) => None,
        }
    }

    pub(super) fn follow_all<'t>(
        &mut self,
        root: &str,
        references: impl IntoIterator<Item = &'t Located>,
    ) {
        for reference in references {
            self.follow(root, reference);
        }
    }

    fn references(&mut self, root: &str, fields: &Kustomization) {
        self.follow_all(root, &fields.resources);
        self.follow_all(root, &fields.components);
        self.follow_all(root, &fields.crds);
        self.follow_all(root, &fields.configurations);
        self.follow_all(root, fields.openapi.find("path"));
        self.follow_all(root, fields.replacements.iter().map(|entry| &entry.path));
        self.follow_all(root, fields.patches.iter().map(|patch| &patch.path));
        self.follow_all(root, fields.patches_json_6902.iter().map(|patch| &patch.path));
        for patch in &fields.patches_strategic_merge {
            if !patch.contains('\n') {
                self.follow(root, patch);
            }
        }
        for args in &fields.config_map_generator {
            self.generator(root, &args.files, &args.envs);
        }
        for args in &fields.secret_generator {
            self.generator(root, &args.files, &args.envs);
        }
        self.charts_of(root, fields);
        for list in [&fields.generators, &fields.transformers, &fields.validators] {
            list.iter().for_each(|entry| self.plugin(root, entry));
        }
    }

    fn generator(&mut self, root: &str, files: &[Located], envs: &[Located]) {
        for file in files {
            self.follow(root, file_of_source(file));
        }
        self.follow_all(root, envs);
    }

    /// A plugin configuration: inline, a file, or a directory that builds to some.
    fn plugin(&mut self, root: &str, entry: &Located) {
        let documents = match self.follow(root, entry) {
            Some(file) => read::resources(&file),
            None => read::inline_resources(entry),
        };
        for document in documents.unwrap_or_default() {
            self.chart_of_plugin(root, &document);
            for reference in plugin_references(&document) {
                self.follow(root, &reference);
            }
        }
        if let Some(Found::Directory(directory)) = join(root, entry).map(|path| self.find(&path)) {
            self.plugin_directories.push((root.to_owned(), directory));
        }
    }

    /// The files that plugins configured in a directory name are seen from `root`.
    fn plugin_directory(&mut self, root: &str, directory: &str) {
        let Some(Ok(file)) = self.tree.kustomizations.get(directory) else { return };
        let file = Arc::clone(file);
        for resource in &file.kustomization.resources {
            let Some(file) = self.follow(directory, resource) else {
                continue;
            };
            for document in read::resources(&file).unwrap_or_default() {
                self.chart_of_plugin(root, &document);
                for reference in plugin_references(&document) {
                    self.follow(root, &reference);
                }
            }
        }
    }
}

/// The path of a `files` entry of a generator, `path` or `key=path`.
pub(crate) fn file_of_source(source: &str) -> &str {
    source.split_once('=').map_or(source, |(_, path)| path)
}

/// The files that the configuration of a builtin plugin names.
fn plugin_references(config: &Node) -> Vec<String> {
    let mut references = Vec::new();
    let mut add = |node: Option<&Node>| {
        if let Some(text) = node.and_then(Node::as_str) {
            references.push(file_of_source(text).to_owned());
        }
    };
    add(config.get("path"));
    add(config.get("targetFilePath"));
    add(config.get("env"));
    for list in ["paths", "files", "envs"] {
        let items = config.get(list).and_then(Node::as_seq).unwrap_or_default();
        items.iter().for_each(|item| add(Some(item)));
    }
    let replacements = config.get("replacements").and_then(Node::as_seq);
    for replacement in replacements.unwrap_or_default() {
        add(replacement.get("path"));
    }
    references
}
