//! Errors as users meet them: a stable code, an exit status, one sentence, a location and hints.
//!
//! Every module below has its own error type; the conversions in `convert` give each of them a
//! [`Code`] and its hints, so that the wording of advice has one home. Must not know arguments
//! (`cli`) or terminals (`ui`). The catalogue of codes is [`codes::CATALOGUE`].

#[cfg(feature = "argocd")]
mod argocd;
mod cluster;
pub mod codes;
mod convert;
mod drain;
mod edits;
#[cfg(feature = "forge")]
mod forge;
#[cfg(feature = "git")]
mod git;
#[cfg(feature = "registry")]
mod registry;

use std::fmt;

pub use codes::{Code, Exit};
pub(crate) use convert::is_of_charts;

use crate::kustomize::remote::without_credentials;

/// A place in a file of the repository.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Location {
    /// The path relative to the boundary.
    pub file: String,
    /// The line, counted from 1; absent where only the file is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column in characters, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

impl Location {
    /// The whole of `file`.
    pub fn file(file: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, column: None }
    }

    /// A line and column of `file`, both counted from 1.
    pub fn at(file: impl Into<String>, line: usize, column: usize) -> Self {
        Self { file: file.into(), line: Some(line), column: Some(column) }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        Ok(())
    }
}

/// An error that ends a command: what the user reads, and what a script tests. Credentials in addresses
/// that it speaks of are hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    details: Box<Details>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    code: Code,
    message: String,
    location: Option<Location>,
    causes: Vec<String>,
    hints: Vec<String>,
}

impl Error {
    /// An error of the kind `code`, with one sentence that says what is wrong.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let (message, location) = (without_credentials(&message.into()), None);
        let (causes, hints) = (Vec::new(), Vec::new());
        Self { details: Box::new(Details { code, message, location, causes, hints }) }
    }

    /// The same error with the place it speaks of.
    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        self.details.location = Some(location);
        self
    }

    /// The same error with one more piece of advice, a phrase without a full stop.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.details.hints.push(without_credentials(&hint.into()));
        self
    }

    /// The same error with what lies behind it, outermost first.
    #[must_use]
    pub fn cause(mut self, cause: impl Into<String>) -> Self {
        self.details.causes.push(without_credentials(&cause.into()));
        self
    }

    /// The same error, its sentence behind `what` and a colon.
    #[must_use]
    pub fn within(mut self, what: &str) -> Self {
        self.details.message = format!("{what}: {}", self.details.message);
        self
    }

    /// Its kind.
    pub fn code(&self) -> Code {
        self.details.code
    }

    /// The status that the program ends with.
    pub fn exit(&self) -> Exit {
        self.details.code.exit()
    }

    /// The one sentence.
    pub fn message(&self) -> &str {
        &self.details.message
    }

    /// The place it speaks of.
    pub fn location(&self) -> Option<&Location> {
        self.details.location.as_ref()
    }

    /// What lies behind it, outermost first.
    pub fn causes(&self) -> &[String] {
        &self.details.causes
    }

    /// Advice, most useful first.
    pub fn hints(&self) -> &[String] {
        &self.details.hints
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let says = |location: &&Location| {
            location.line.is_none() && self.message().contains(&location.file)
        };
        if let Some(location) = self.location().filter(|location| !says(location)) {
            write!(f, "{location}: ")?;
        }
        f.write_str(self.message())
    }
}

impl std::error::Error for Error {}
