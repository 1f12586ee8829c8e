//! The YAML layer against independent truth: another YAML parser, and kustomize.

#![allow(clippy::print_stderr, reason = "tests print their counts")]

mod corpus;
mod model;
mod property;
mod scalars;
