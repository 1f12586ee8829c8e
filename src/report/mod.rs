//! Results as data, and their human and JSON forms.
//!
//! A use case gives a [`Report`]: the JSON `result` and the [`Text`] that a person reads, made from
//! the same data. Must not print (`ui` does) and must not know arguments.

pub mod affected;
pub mod baseline;
pub mod capacity;
pub mod change;
pub mod check;
pub mod diff;
pub mod doctor;
pub mod drain;
mod envelope;
pub mod history;
pub mod list;
#[cfg(feature = "git")]
pub mod lock;
pub mod look;
#[cfg(feature = "templates")]
mod markdown;
#[cfg(feature = "templates")]
mod page;
#[cfg(feature = "http")]
pub mod probe;
#[cfg(feature = "forge")]
pub mod pull_request;
#[cfg(all(feature = "forge", feature = "argocd"))]
pub mod ship;
mod text;
#[cfg(feature = "trust")]
pub mod trust;
pub mod verify;
pub mod wait;

pub use envelope::{SCHEMA_VERSION, to_json};
use text::counted;
pub use text::{Style, Text, escape_control};

use crate::error::{Error, Exit};

/// What a command ended with.
#[derive(Clone, Debug)]
pub struct Report {
    /// The words of the command, such as `pin` or `set replicas`.
    pub command: String,
    /// Whether anything was (or in a dry run: would be) written.
    pub changed: bool,
    /// Why the exit status is not 0.
    pub error: Option<Error>,
    /// The `result` of the JSON form; always an object.
    pub result: serde_json::Value,
    /// What a person reads on standard output.
    pub human: Text,
    /// Bytes for standard output in place of `human`, exactly as they are.
    pub data: Option<Vec<u8>>,
    /// What a person reads on standard error: progress, warnings, advice.
    pub notes: Text,
}

impl Report {
    /// A success that changed nothing.
    pub fn unchanged(command: &str, result: serde_json::Value, human: Text) -> Self {
        Self {
            command: command.to_owned(),
            changed: false,
            error: None,
            result,
            human,
            data: None,
            notes: Text::default(),
        }
    }

    /// A failure before there was any result.
    pub fn failure(command: &str, error: Error) -> Self {
        let result = serde_json::json!({ "overlays": [] });
        Self { error: Some(error), ..Self::unchanged(command, result, Text::default()) }
    }

    /// The exit status that goes with it.
    pub fn exit(&self) -> Exit {
        self.error.as_ref().map_or(Exit::Done, Error::exit)
    }
}
