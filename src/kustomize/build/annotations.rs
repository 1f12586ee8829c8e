//! Annotations: `commonAnnotations`.
//!
//! Source: kustomize `api/filters/annotations`.

use super::field_spec::FieldSpecs;
use super::labels::set_pairs;
use crate::kustomize::error::BuildError;
use crate::kustomize::resmap::ResMap;
use crate::kustomize::types::StringMap;

/// Sets `pairs` in the fields of `specs` on every resource.
///
/// # Errors
/// [`crate::kustomize::error::BuildErrorKind::Transformer`] where something else than a map stands
/// in such a field.
pub(crate) fn set_annotations(
    resmap: &mut ResMap,
    pairs: &StringMap,
    specs: &FieldSpecs,
) -> Result<(), BuildError> {
    set_pairs(resmap, pairs, specs)
}
