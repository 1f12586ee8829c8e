//! Lossless YAML: a tree of byte spans, read as kustomize reads it and edited by splices.
//!
//! * [`tree`] locates: text to nodes with byte spans, styles, comments and anchors.
//! * [`scalar`] types: what go-yaml makes of a plain scalar, and how a string must be written.
//! * [`path`] names a place, [`value`] what to put there.
//! * [`document`] edits: each edit is a list of byte ranges, proved by reading the new text; what cannot be proved
//!   is a [`Refusal`] with line, column and reason.
//!
//! Must not know: kustomize's fields, files and directories, who edits and why.

mod data;
pub mod document;
mod layout;
mod limits;
mod parse;
pub mod path;
pub mod refusal;
mod render;
pub mod scalar;
mod splice;
pub mod tree;
pub mod value;
mod verify;

pub use document::{Document, Located, Position};
pub use path::{Path, Step};
pub use refusal::{IS_LFS_POINTER, Reason, Refusal, is_lfs_pointer};
pub use scalar::{Resolved, Rules};
pub use tree::{Kind, Node, NodeId, Style, Tree, YamlError, parse};
pub use value::Value;
