//! The build: one transformer or generator a file, in kustomize's words.

mod field_spec;
pub(crate) mod tables;
mod transformer_config;
