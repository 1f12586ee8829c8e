//! The build: one transformer or generator a file, in kustomize's words.

mod field_spec;
mod go_regexp;
mod label_selector;
pub(crate) mod tables;
mod transformer_config;
