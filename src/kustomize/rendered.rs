//! What a build gives: resources in the order and the form that kustomize prints them.

use std::sync::Arc;

use super::build::emit;
use super::error::{BuildError, Warning};
use super::origin::{FileId, FileTable, Origin};
use super::read;
use super::resource::Resource;
use super::scope::Scopes;

/// The resources of a build, and what it warned about.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    /// The resources, in the order of the output.
    pub resources: Vec<Resource>,
    /// What kustomize accepts and is probably not meant.
    pub warnings: Vec<Warning>,
    files: Arc<FileTable>,
}

impl Rendered {
    pub(super) fn new(
        resources: Vec<Resource>,
        warnings: Vec<Warning>,
        files: Arc<FileTable>,
    ) -> Self {
        Self { resources, warnings, files }
    }

    /// Reads the output of another kustomize. Values have no origin.
    ///
    /// # Errors
    /// [`BuildError`] for a text that is no YAML, or a document that is no Kubernetes object.
    pub fn parse(text: &str) -> Result<Self, BuildError> {
        Self::parse_from(text, Origin::NONE)
    }

    /// As [`Rendered::parse`], for one file: values have the lines of the text, but no file.
    ///
    /// # Errors
    /// As [`Rendered::parse`].
    pub fn parse_with_lines(text: &str) -> Result<Self, BuildError> {
        Self::parse_from(text, Origin::new(FileId::NONE, 1))
    }

    fn parse_from(text: &str, start: Origin) -> Result<Self, BuildError> {
        let nodes = read::resources_of(text, start)?;
        let resource = |node| Resource::new(node, Scopes::builtin());
        Ok(Self { resources: nodes.into_iter().map(resource).collect(), ..Self::default() })
    }

    /// What `kustomize build` prints.
    ///
    /// # Errors
    /// [`BuildError`] for a value that kustomize cannot print: a key that stands twice, not a
    /// number.
    pub fn to_yaml(&self) -> Result<String, BuildError> {
        emit::as_yaml(&self.resources).map_err(|error| error.resolve(&self.files))
    }

    /// The path, relative to the boundary, and the line of an origin; `None` for a value that came
    /// from no file.
    #[must_use]
    pub fn place(&self, origin: Origin) -> Option<(&str, u32)> {
        let path = self.files.path(origin.file);
        (!path.is_empty()).then_some((path, origin.line))
    }
}
