//! The build: one transformer or generator a file, in kustomize's words.
//!
//! [`build`] is the entry; [`accumulate`] holds the order of everything. A transformer is a function
//! over the [`ResMap`](super::resmap::ResMap) and a [`Context`](context::Context); it knows no other
//! transformer.

pub(crate) mod absorb;
mod accumulate;
mod annotations;
mod build_metadata;
pub(crate) mod cache;
mod config_map;
mod configurations;
pub(crate) mod context;
mod diagnostics;
mod embedded_yaml;
pub(crate) mod emit;
mod field_path;
mod field_spec;
mod finish;
mod generators;
mod go_json;
mod go_regexp;
mod hash;
mod helm;
mod images;
mod json_patch;
mod kv;
pub(crate) mod label_selector;
mod labels;
mod limits;
mod location;
mod lookup;
mod merge;
mod name_reference;
mod namespace;
mod openapi;
mod order;
mod patches;
mod path_matcher;
mod plugins;
mod prefix_suffix;
mod replacements;
mod replicas;
mod schema;
mod secret;
mod selector;
mod shared_values;
mod structured_data;
pub(crate) mod tables;
mod transformer_config;
mod transformers;
mod value_add;
mod vars;

use std::sync::Arc;

use super::error::BuildError;
use super::rendered::Rendered;
use super::source_tree::SourceTree;
use diagnostics::Diagnostics;

pub(crate) use emit::fold_next_lines;
pub(crate) use go_json::float_text;
pub(crate) use json_patch::json_of;
pub use selector::{find_targets, select_targets};
pub use shared_values::SharedValue;

/// Builds the overlay at `overlay` (a path of the tree, relative to the boundary) as `kustomize
/// build` does.
///
/// # Errors
/// [`BuildError`], with file and line where they are known;
/// [`Unsupported`](super::error::BuildErrorKind::Unsupported) for what only kustomize can build.
pub fn build(tree: &SourceTree, overlay: &str) -> Result<Rendered, BuildError> {
    let diagnostics = Diagnostics::default();
    let resources = accumulate::build_root(tree, overlay, &diagnostics)
        .map_err(|error| error.resolve(tree.file_table()))?;
    let files = Arc::new(tree.file_table().clone());
    Ok(Rendered::new(resources, diagnostics.into_warnings(), files))
}
