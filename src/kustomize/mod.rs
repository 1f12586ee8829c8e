//! The model of a kustomization and its build, from texts in memory.

mod build;
mod files;

pub use files::{Entry, Files, FilesError};
