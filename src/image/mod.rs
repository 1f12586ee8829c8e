//! Image references and digests in the words of the OCI distribution specification, and the rules by
//! which kustomize splits and matches the text of an image field.
//!
//! Two vocabularies meet here and are kept apart. [`Reference`] and [`Digest`] are strict: they read
//! what a user gives. [`Split`] and [`Pattern`] are kustomize's: they read whatever text stands in an
//! image field, placeholders and nonsense included. Nothing here knows YAML, files or registries.

mod digest;
mod name;
mod named;
mod pattern;
mod reference;

pub use digest::{Digest, DigestError};
pub use name::{is_same_name, last_segments_match, normalize_name};
pub use named::Named;
pub use pattern::{Pattern, PatternError, Split};
pub use reference::{Reference, ReferenceError, is_tag};
