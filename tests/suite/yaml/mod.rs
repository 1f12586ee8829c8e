//! The YAML layer against independent truth: another YAML parser, and kustomize.

mod corpus;
mod model;
mod property;
mod random;
