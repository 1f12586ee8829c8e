//! Lossless YAML: a tree of byte spans, read as kustomize reads it and edited by splices.
//!
//! * [`tree`] locates: text to nodes with byte spans, styles, comments and anchors.
//! * [`scalar`] types: what go-yaml makes of a plain scalar, and how a string must be written.
//!
//! Must not know: kustomize's fields, files and directories, who edits and why.

mod parse;
pub mod scalar;
pub mod tree;

pub use scalar::{Resolved, Rules};
pub use tree::{Kind, Node, NodeId, Style, Tree, YamlError, parse};
