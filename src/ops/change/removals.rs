//! Objects with data do not leave the render unless that is named.

use crate::error::{Error, codes};
use crate::kustomize::{ResourceId, shown_name};
use crate::shell;
use crate::verify::ObjectDiff;

/// Kinds whose objects hold data, or hold others that do.
const STATEFUL: [&str; 6] = [
    "Cluster",
    "CustomResourceDefinition",
    "Namespace",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "StatefulSet",
];

/// Refuses the removals that `is_allowed`, does not allow; `when` says on
/// what they happen.
pub(super) fn refuse_removals(
    objects: &ObjectDiff,
    when: &str,
    is_allowed: impl Fn(&ResourceId) -> bool,
) -> Result<(), Error> {
    let is_refused = |id: &&ResourceId| STATEFUL.contains(&&*id.kind) && !is_allowed(id);
    let refused: Vec<String> = objects.removed.iter().filter(is_refused).map(shown_name).collect();
    let Some(first) = refused.first() else { return Ok(()) };
    let all = refused.join(", ");
    let message = format!("objects that hold data would be gone {when}: {all}");
    let hint = format!("where that is meant: --allow-removal {}", shell::word(first));
    Err(Error::new(codes::STATEFUL_REMOVAL, message).hint(hint))
}
