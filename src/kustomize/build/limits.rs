//! How much one build may make. A few lines can ask for more than any machine holds: components
//! that list each other twice, values that are copied into themselves. The bounds are far above
//! what repositories have and far below what exhausts a machine.

use std::cell::Cell;

use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Node, Value};
use crate::kustomize::origin::Origin;
use crate::yaml::tree::MAX_DEPTH;

/// The most kustomizations that one build accumulates; one that is used twice counts twice.
pub(super) const MAX_KUSTOMIZATIONS: usize = 5_000;

/// The most resources that leave kustomizations, each counted in every kustomization that it goes through: what a
/// build takes grows with it.
pub(super) const MAX_PASSED: usize = 200_000;

/// The most values, or 64 bytes of text, that replacements, copies and vars of one build may write.
pub(super) const MAX_WRITTEN: usize = 1_000_000;

/// The most parts that a path of fields may have.
pub(super) const MAX_PATH: usize = 256;

/// How many bytes of a text count as one value.
const BYTES: usize = 64;

/// What one build has made so far.
#[derive(Debug, Default)]
pub(super) struct Limits {
    kustomizations: Cell<usize>,
    passed: Cell<usize>,
    written: Cell<usize>,
}

impl Limits {
    /// Counts one more kustomization, which the entry at `origin` names.
    ///
    /// # Errors
    /// [`BuildErrorKind::Kustomization`] where there are too many.
    pub(super) fn enter(&self, origin: Origin) -> Result<(), BuildError> {
        let count = self.kustomizations.get() + 1;
        self.kustomizations.set(count);
        if count <= MAX_KUSTOMIZATIONS {
            return Ok(());
        }
        let message = format!(
            "the build uses more than {MAX_KUSTOMIZATIONS} kustomizations; are directories listed \
             more than once, at several levels?"
        );
        Err(BuildError::new(BuildErrorKind::Kustomization, message).at(origin))
    }

    /// Counts the resources that leave a kustomization, which the entry at `origin` names.
    ///
    /// # Errors
    /// [`BuildErrorKind::Kustomization`] where there are too many.
    pub(super) fn pass(&self, resources: usize, origin: Origin) -> Result<(), BuildError> {
        let passed = self.passed.get().saturating_add(resources);
        self.passed.set(passed);
        if passed <= MAX_PASSED {
            return Ok(());
        }
        let message = format!(
            "the build takes more than {MAX_PASSED} resources through its kustomizations; are \
             directories listed more than once, at several levels?"
        );
        Err(BuildError::new(BuildErrorKind::Kustomization, message).at(origin))
    }

    /// Counts a value that is about to be written once more, so many levels deep.
    ///
    /// # Errors
    /// In words, where too much was written, or would be nested too deep.
    pub(super) fn write(&self, value: &Node, depth: usize) -> Result<(), String> {
        match weight(value, depth) {
            Some(weight) => self.add(weight),
            None => Err(format!("values are nested more than {MAX_DEPTH} levels deep")),
        }
    }

    /// As [`Limits::write`], for a text of so many bytes.
    ///
    /// # Errors
    /// As [`Limits::write`].
    pub(super) fn write_text(&self, bytes: usize) -> Result<(), String> {
        self.add(bytes / BYTES)
    }

    fn add(&self, weight: usize) -> Result<(), String> {
        let written = self.written.get().saturating_add(weight);
        self.written.set(written);
        if written <= MAX_WRITTEN {
            return Ok(());
        }
        Err(format!(
            "the build writes more than {MAX_WRITTEN} values; is a value copied into itself?"
        ))
    }
}

/// The number of values in `node`, which stands so many levels deep; long texts count more. `None` where it is nested too deep.
fn weight(node: &Node, depth: usize) -> Option<usize> {
    if depth > MAX_DEPTH {
        return None;
    }
    let add = |sum: usize, child: &Node| Some(sum + weight(child, depth + 1)?);
    match &node.value {
        Value::Scalar(scalar) => Some(scalar.text.len() / BYTES),
        Value::Seq(items) => items.iter().try_fold(items.len(), add),
        Value::Map(map) => map.entries().iter().map(|entry| &entry.value).try_fold(map.len(), add),
    }
}
