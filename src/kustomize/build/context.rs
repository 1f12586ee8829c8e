//! What a transformer or generator may see besides the resources: the files that its kustomization
//! may read, the schema, and where warnings go.

use super::diagnostics::{Diagnostics, Said};
use std::sync::Arc;

use super::limits::Limits;
use super::schema::Schemas;

use super::build_metadata::Provenance;
use crate::kustomize::error::{BuildError, BuildErrorKind, Warning, WarningKind};
use crate::kustomize::files::LEADS_OUT;
use crate::kustomize::node::Text;
use crate::kustomize::origin::Origin;
use crate::kustomize::read;
use crate::kustomize::remote;
use crate::kustomize::resource::Resource;
use crate::kustomize::scope::Scopes;
use crate::kustomize::source_tree::{
    Found, SourceFile, SourceTree, display_directory, is_within, join,
};
use crate::kustomize::types::Located;

/// A directory that a kustomization stands in, and what it may read (`ifc.Loader`).
#[derive(Clone, Debug)]
pub(crate) struct Loader<'a> {
    tree: &'a SourceTree,
    root: String,
    /// The directories that led here, outermost first; for a remote one, the reference too.
    referrers: Vec<String>,
    /// The innermost remote directory that this one is in.
    remote: Option<String>,
}

/// What kustomize remembers while it builds one kustomization.
pub(crate) struct Context<'a> {
    /// The files the kustomization may read.
    pub(crate) loader: Loader<'a>,
    /// Which kinds have no namespace.
    pub(crate) scopes: Scopes,
    /// The schema that resources are merged by.
    pub(crate) schemas: Schemas,
    /// Where the kustomization stands, if the root wants to know (`buildMetadata`).
    pub(super) provenance: Option<Provenance>,
    /// The namespace of the nearest kustomization above that sets one: that of charts which name none.
    pub(super) chart_namespace: Text,
    /// How much of the build's bounds is used.
    pub(super) limits: &'a Limits,
    diagnostics: &'a Diagnostics,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        loader: Loader<'a>,
        schemas: Schemas,
        limits: &'a Limits,
        diagnostics: &'a Diagnostics,
    ) -> Self {
        let (scopes, chart_namespace) = (schemas.scopes(), Text::from(""));
        Self { loader, scopes, schemas, provenance: None, chart_namespace, limits, diagnostics }
    }

    /// The same for another directory.
    pub(super) fn with_loader(&self, loader: Loader<'a>) -> Self {
        Self {
            loader,
            scopes: self.scopes.clone(),
            schemas: self.schemas.clone(),
            provenance: self.provenance.clone(),
            chart_namespace: Text::clone(&self.chart_namespace),
            limits: self.limits,
            diagnostics: self.diagnostics,
        }
    }

    /// Says something that kustomize accepts and that is probably not meant.
    pub(crate) fn warn(&self, message: impl Into<String>, origin: Origin) {
        self.warn_of(WarningKind::Other, message, origin);
    }

    /// As [`Context::warn`], for what a check looks for.
    pub(crate) fn warn_of(&self, kind: WarningKind, message: impl Into<String>, origin: Origin) {
        let warning = Warning { kind, message: message.into(), origin };
        self.diagnostics.warn(warning);
    }

    /// Remembers that the statement at `origin`, which would warn with `message` if it did nothing,
    /// did something.
    pub(crate) fn mark_effective(&self, message: impl Into<String>, origin: Origin) {
        self.diagnostics.mark_effective(message.into(), origin);
    }

    /// Whether nothing that only this root wants decides what a directory builds to.
    pub(super) fn is_plain(&self) -> bool {
        self.provenance.is_none() && self.schemas.is_builtin()
    }

    /// The same, with another place for what is said.
    pub(super) fn saying_to<'b>(&self, diagnostics: &'b Diagnostics) -> Context<'b>
    where
        'a: 'b,
    {
        Context { diagnostics, ..self.with_loader(self.loader.clone()) }
    }

    /// Says again what was said when something was built that need not be built again.
    pub(super) fn repeat(&self, said: &Said) {
        self.diagnostics.repeat(said);
    }

    /// The resources of a file, read.
    ///
    /// # Errors
    /// As [`Loader::load`], and for a text that holds no Kubernetes objects.
    pub(crate) fn load_resources(&self, path: &Located) -> Result<Vec<Resource>, BuildError> {
        self.resources_of_file(self.loader.load(path)?)
    }

    /// The resources of a file that was found.
    ///
    /// # Errors
    /// For a text that holds no Kubernetes objects.
    pub(crate) fn resources_of_file(&self, file: &SourceFile) -> Result<Vec<Resource>, BuildError> {
        self.make_resources(read::resources(file)?)
    }

    /// The resources of a text that stands in a kustomization file.
    ///
    /// # Errors
    /// For a text that holds no Kubernetes objects.
    pub(crate) fn inline_resources(&self, text: &Located) -> Result<Vec<Resource>, BuildError> {
        self.make_resources(read::inline_resources(text)?)
    }

    /// The objects as resources.
    ///
    /// # Errors
    /// As [`Resource::adopt_build_annotations`].
    pub(super) fn make_resources(
        &self,
        nodes: Vec<crate::kustomize::node::Node>,
    ) -> Result<Vec<Resource>, BuildError> {
        let make = |node| {
            self.schemas.meet(&node);
            let mut resource = Resource::new(node, self.scopes.clone());
            resource.adopt_build_annotations()?;
            Ok(resource)
        };
        nodes.into_iter().map(make).collect()
    }
}

impl<'a> Loader<'a> {
    /// The loader of the overlay at `path`, relative to the boundary.
    ///
    /// # Errors
    /// [`BuildErrorKind::Missing`] where there is no such directory.
    pub(crate) fn new(tree: &'a SourceTree, path: &str) -> Result<Self, BuildError> {
        let found = join("", path).map(|asked| tree.find(&asked));
        match found {
            Some(Found::Directory(root)) => {
                Ok(Self { tree, root: root.clone(), referrers: Vec::new(), remote: None })
            }
            _ => Err(BuildError::new(
                BuildErrorKind::Missing,
                format!("'{}' is not a directory that was loaded", display_directory(path)),
            )),
        }
    }

    /// The directory, relative to the boundary.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// The file at `path`, seen from this directory. Links are followed first; then the file must
    /// be in or below the directory.
    ///
    /// # Errors
    /// [`BuildErrorKind::Missing`], [`BuildErrorKind::Restricted`], or
    /// [`BuildErrorKind::Unsupported`] for a file that is fetched over HTTP.
    pub(crate) fn load(&self, path: &Located) -> Result<&'a SourceFile, BuildError> {
        self.load_path(path, path.origin)
    }

    /// As [`Loader::load`], for a path that is part of a value at `origin`.
    ///
    /// # Errors
    /// As [`Loader::load`].
    pub(crate) fn load_path(
        &self,
        path: &str,
        origin: Origin,
    ) -> Result<&'a SourceFile, BuildError> {
        match self.find_file(path, origin)? {
            Some(file) => Ok(file),
            None => Err(missing(format!("'{path}': no such file"), origin)),
        }
    }

    /// As [`Loader::load_path`]; `None` where there is no file.
    pub(crate) fn find_file(
        &self,
        path: &str,
        origin: Origin,
    ) -> Result<Option<&'a SourceFile>, BuildError> {
        if remote::is_http_url(path) {
            return self.supplied_file(path, origin).map(Some);
        }
        let Some(asked) = join(&self.root, path) else {
            return Err(outside(path, origin));
        };
        match self.tree.find(&asked) {
            Found::File(real) if is_within(real, &self.root) => Ok(self.tree.file(real)),
            Found::File(real) => {
                let root = display_directory(&self.root);
                let message = format!(
                    "'{path}' is the file '{real}', which is not in or below '{root}'; \
                     kustomize reads files of a kustomization's own directory only"
                );
                Err(BuildError::new(BuildErrorKind::Restricted, message).at(origin))
            }
            Found::Directory(_) | Found::Missing => Ok(None),
            Found::Refused(error) => {
                Err(BuildError::new(BuildErrorKind::Restricted, error.to_string()).at(origin))
            }
        }
    }

    fn supplied_file(&self, url: &str, origin: Origin) -> Result<&'a SourceFile, BuildError> {
        let found = self.tree.remote(url).map(|path| self.tree.find(path));
        match found {
            Some(Found::File(real)) => self.tree.file(real),
            _ => None,
        }
        .ok_or_else(|| BuildError::unsupported(format!("remote file {url}")).at(origin))
    }

    /// The loader of another kustomization's directory, seen from this one.
    ///
    /// # Errors
    /// [`BuildErrorKind::Missing`], [`BuildErrorKind::Cycle`] for a directory that is or contains
    /// one that led here, [`BuildErrorKind::Unsupported`] for a remote one without content.
    pub(crate) fn enter(&self, path: &Located) -> Result<Self, BuildError> {
        if path.is_empty() {
            return Err(missing("an empty path names no directory", path.origin));
        }
        if remote::is_git_url(path) || self.tree.remote(path).is_some() {
            return self.enter_remote(path);
        }
        let Some(asked) = join(&self.root, path) else {
            return Err(outside(path, path.origin));
        };
        match self.tree.find(&asked) {
            Found::Directory(real) => self.enter_directory(real, path),
            Found::File(_) => Err(missing(format!("'{path}' is not a directory"), path.origin)),
            Found::Missing => {
                Err(missing(format!("'{path}': no such file or directory"), path.origin))
            }
            Found::Refused(error) => {
                let kind = BuildErrorKind::Restricted;
                Err(BuildError::new(kind, error.to_string()).at(path.origin))
            }
        }
    }

    fn enter_directory(&self, real: &str, path: &Located) -> Result<Self, BuildError> {
        if let Some(remote) = self.remote.as_ref().filter(|remote| !is_within(real, remote)) {
            let message = format!("'{path}' leaves the remote repository at '{remote}'");
            return Err(BuildError::new(BuildErrorKind::Restricted, message).at(path.origin));
        }
        let mut visited = self.referrers.iter().chain([&self.root]);
        if let Some(above) = visited.find(|visited| is_within(visited, real)) {
            let message = format!(
                "cycle: '{path}' is '{}', which contains '{}' that led here",
                display_directory(real),
                display_directory(above)
            );
            return Err(BuildError::new(BuildErrorKind::Cycle, message).at(path.origin));
        }
        Ok(self.below(real.to_owned(), self.remote.clone()))
    }

    fn enter_remote(&self, url: &Located) -> Result<Self, BuildError> {
        let unsupported = || BuildError::unsupported(format!("remote base {url}")).at(url.origin);
        let supplied = self.tree.remote(url).ok_or_else(unsupported)?;
        let Found::Directory(real) = self.tree.find(supplied) else {
            let message = format!("'{url}': the repository has no such directory there");
            return Err(missing(message, url.origin));
        };
        if self.referrers.contains(real) || self.root == *real {
            let message = format!("cycle: '{url}' led here");
            return Err(BuildError::new(BuildErrorKind::Cycle, message).at(url.origin));
        }
        let repository = remote::mount_of(real).unwrap_or(real);
        Ok(self.below(real.clone(), Some(repository.to_owned())))
    }

    fn below(&self, root: String, remote: Option<String>) -> Self {
        let mut referrers = self.referrers.clone();
        referrers.push(self.root.clone());
        Self { tree: self.tree, root, referrers, remote }
    }

    /// The tree that is read from.
    pub(super) fn tree(&self) -> &'a SourceTree {
        self.tree
    }

    /// Whether what was built of `directories` is what entering them from here would give: they are in
    /// the tree as they were, and none of them contains a directory that led here.
    pub(super) fn may_take(&self, directories: &[String]) -> bool {
        let is_cycle = |directory: &String| self.referrers.iter().any(|r| is_within(r, directory));
        self.tree.may_take(directories) && !directories.iter().any(is_cycle)
    }

    /// The kustomization file of this directory.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(crate) fn kustomization(
        &self,
    ) -> Result<Arc<crate::kustomize::source_tree::KustomizationFile>, BuildError> {
        self.tree.read_kustomization(&self.root)
    }
}

fn missing(message: impl Into<String>, origin: Origin) -> BuildError {
    BuildError::new(BuildErrorKind::Missing, message).at(origin)
}

/// The error for a path that leads out of the boundary.
pub(super) fn outside(path: &str, origin: Origin) -> BuildError {
    let message = if path.starts_with('/') {
        format!("'{path}' is an absolute path; write it relative to the kustomization file")
    } else {
        format!("'{path}' {LEADS_OUT}")
    };
    BuildError::new(BuildErrorKind::Restricted, message).at(origin)
}
