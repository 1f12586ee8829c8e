//! Why a build failed, and what it should be warned about.

use std::fmt;

use super::chart::ChartWanted;
use super::origin::{FileTable, Origin};

/// What went wrong, by kind; callers decide by it, people read [`BuildError::message`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildErrorKind {
    /// Something that only kustomize itself can build, by field name (`helmCharts`, a remote base,
    /// exec and container functions).
    Unsupported {
        /// The field or feature.
        field: String,
    },
    /// Helm charts that helm has to pull or template before this can be built.
    Charts(Vec<ChartWanted>),
    /// A text that is no YAML, or that kustomize's reader refuses.
    Yaml,
    /// A kustomization file with an unknown field, a value of the wrong type, or nothing in it.
    Kustomization,
    /// A file or directory that is not there.
    Missing,
    /// A path outside of what kustomize lets a kustomization read.
    Restricted,
    /// A base that leads back to itself.
    Cycle,
    /// A document that is no Kubernetes object.
    Resource,
    /// Two resources of one identity, or a generator that does not fit what is there.
    Conflict,
    /// A patch that cannot be read or applied.
    Patch,
    /// A transformer, generator or validator that failed.
    Transformer,
    /// A value that cannot be printed.
    Emit,
    /// More than a build may use.
    Limit,
}

/// A build that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// What went wrong, by kind.
    pub kind: BuildErrorKind,
    /// What went wrong, in words.
    pub message: String,
    /// The file, relative to the boundary; empty where it is not known.
    pub file: String,
    /// The line, from 1; 0 where it is not known.
    pub line: u32,
    /// The column in characters, from 1; 0 where it is not known.
    pub column: u32,
    /// What was being done, innermost first ("accumulating resources from '../base'").
    pub context: Vec<String>,
    origin: Origin,
}

impl BuildError {
    /// An error of no place yet.
    #[must_use]
    pub fn new(kind: BuildErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            file: String::new(),
            line: 0,
            column: 0,
            context: Vec::new(),
            origin: Origin::NONE,
        }
    }

    /// `field` is something that only kustomize itself can build.
    #[must_use]
    pub fn unsupported(field: impl Into<String>) -> Self {
        let field = field.into();
        let message = format!("{field}: only kustomize itself can build this");
        Self::new(BuildErrorKind::Unsupported { field }, message)
    }

    /// The same error with a place, unless it has one.
    #[must_use]
    pub fn at(mut self, origin: Origin) -> Self {
        if self.origin == Origin::NONE && self.file.is_empty() {
            self.origin = origin;
        }
        self
    }

    /// The same error at `origin`, wherever it was.
    #[must_use]
    pub fn moved_to(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self.column = 0;
        self
    }

    /// The same error at a file, line and column, unless it has a place.
    #[must_use]
    pub fn at_file(mut self, file: &str, line: u32, column: u32) -> Self {
        if self.origin == Origin::NONE && self.file.is_empty() {
            file.clone_into(&mut self.file);
            self.line = line;
            self.column = column;
        }
        self
    }

    /// The same error with what was being done.
    #[must_use]
    pub fn within(mut self, doing: impl Into<String>) -> Self {
        self.context.push(doing.into());
        self
    }

    /// The same error with the path of its file filled in.
    #[must_use]
    pub fn resolve(mut self, files: &FileTable) -> Self {
        if self.file.is_empty() && self.origin != Origin::NONE {
            files.path(self.origin.file).clone_into(&mut self.file);
            self.line = self.origin.line;
        }
        self
    }
}

impl fmt::Display for BuildError {
    /// `file:line:column: message`, as much of it as is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{}", self.file)?;
            for number in [self.line, self.column].into_iter().take_while(|n| *n > 0) {
                write!(f, ":{number}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for BuildError {}

/// What a [`Warning`] is about; checks decide by it, people read [`Warning::message`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WarningKind {
    /// Anything that has no kind of its own.
    #[default]
    Other,
    /// A field that kustomize will drop.
    DeprecatedField,
    /// A patch whose target selects nothing when the patch is applied.
    PatchUnmatched,
    /// An `images` entry that no image has the name of at its layer.
    ImageUnmatched,
    /// An `images` entry whose name, a pattern, fits an image of another name.
    ImageOvermatched,
    /// An `images` entry that takes the digest of an image away.
    DigestDropped,
}

/// Something that kustomize accepts and that is probably not meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// In words.
    pub message: String,
    /// Where.
    pub origin: Origin,
}
