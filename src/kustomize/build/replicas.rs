//! Numbers of replicas: `replicas`.
//!
//! Source: kustomize `api/internal/builtins/ReplicaCountTransformer.go`. An entry goes to every
//! workload that has or had its name, in every namespace.

use super::field_path::{Create, apply_specs, set_scalar};
use super::field_spec::{FieldSpec, FieldSpecs};
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Tag, Text};
use crate::kustomize::resmap::ResMap;
use crate::kustomize::resource::{Resource, ResourceId};
use crate::kustomize::types::Replica;

/// Sets the number of replicas that `replica` asks for.
///
/// # Errors
/// [`BuildErrorKind::Transformer`] where no workload has or had the name.
pub(crate) fn set_replicas(
    resmap: &mut ResMap,
    replica: &Replica,
    specs: &FieldSpecs,
) -> Result<(), BuildError> {
    let count = Text::from(replica.count.to_string());
    let mut found = false;
    for spec in specs.iter() {
        let fits = |resource: &Resource| {
            let is_meant = |id: &ResourceId| {
                *id.name == *replica.name && spec.selects(id.group(), id.version(), &id.kind)
            };
            !resource.node.is_nil_or_empty() && resource.all_ids().iter().any(is_meant)
        };
        for resource in resmap.resources_mut().iter_mut().filter(|resource| fits(resource)) {
            found = true;
            let set =
                |node: &mut _| set_scalar(node, Text::clone(&count), Tag::Int, replica.origin);
            let create = Create::Scalar(Tag::Int);
            apply_specs(&mut resource.node, [spec], create, replica.origin, set)?;
        }
    }
    if found { Ok(()) } else { Err(no_match(replica, specs)) }
}

fn no_match(replica: &Replica, specs: &[FieldSpec]) -> BuildError {
    let mut kinds: Vec<&str> = specs.iter().map(|spec| &*spec.kind).collect();
    kinds.dedup();
    let message = format!(
        "replicas: no {} is or was named `{}`; name one that is there, or remove the entry",
        kinds.join(", "),
        replica.name,
    );
    BuildError::new(BuildErrorKind::Transformer, message).at(replica.origin)
}
