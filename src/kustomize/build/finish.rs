//! What is done once, to the resources of the root, after everything else.
//!
//! Source: kustomize api `krusty/kustomizer.go`, `resource/factory.go` (`DropLocalNodes`),
//! `resource/resource.go` (`RemoveBuildAnnotations`).

use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Map, Node};
use crate::kustomize::read::check_metadata;
use crate::kustomize::resmap::ResMap;
use crate::kustomize::resource::{BUILD_ANNOTATION_PREFIX, Resource};

/// The annotation that keeps a resource out of the output, unless it is `false`.
const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

/// Where `buildMetadata` writes down where a resource comes from and what changed it.
pub(super) const HISTORY: [&str; 2] =
    ["config.kubernetes.io/origin", "alpha.config.kubernetes.io/transformations"];

/// Annotations of other kyaml programs that kustomize does not print.
const FOREIGN: [&str; 3] =
    ["config.kubernetes.io/path", "config.kubernetes.io/index", "config.k8s.io/id"];

/// Annotations of kyaml and kustomize that are not printed, behind [`BUILD_ANNOTATION_PREFIX`].
const INTERNAL: [&str; 16] = [
    "previousKinds",
    "previousNames",
    "prefixes",
    "suffixes",
    "previousNamespaces",
    "allowNameChange",
    "allowKindChange",
    "refBy",
    "generatorBehavior",
    "needsHashSuffix",
    "path",
    "index",
    "seqindent",
    "id",
    "annotations-migration-resource-id",
    "helm-generated",
];

/// Removes resources that are empty, or configuration for local programs only.
///
/// # Errors
/// For a resource that has lost its kind or name, and for two of one identity.
pub(super) fn drop_local(resmap: &mut ResMap) -> Result<(), BuildError> {
    let resources = resmap.resources_mut();
    resources.retain(|resource| !resource.node.is_nil_or_empty());
    resources.iter().try_for_each(|resource| check_metadata(&resource.node))?;
    // What is kept is told by its identity from what is not: a local resource that has the identity of
    // another is in the way of it, too.
    resmap.check_identities()?;
    resmap.resources_mut().retain(|resource| {
        let annotation = resource.node.lookup(&["metadata", "annotations", LOCAL_CONFIG]);
        annotation.is_none_or(|value| value.as_text().is_some_and(|text| &**text == "false"))
    });
    Ok(())
}

/// Removes annotations that are not printed, and `keep` decides on those of the build's history;
/// all others become strings, and a map that is left empty goes. Metadata that is missing is made,
/// unless all of the history is kept.
///
/// # Errors
/// [`BuildErrorKind::Emit`] for metadata that is no map, and for annotations that are a list which cannot
/// be taken for pairs.
pub(super) fn clean_annotations(
    resources: &mut [Resource],
    keep: impl Fn(&str) -> bool,
) -> Result<(), BuildError> {
    let sets_annotations = !HISTORY.into_iter().all(&keep);
    for resource in resources {
        let metadata = resource.node.get("metadata");
        if metadata.is_some_and(|metadata| metadata.as_map().is_none() && !metadata.is_null()) {
            let message = "the metadata of an object must be a map";
            return Err(BuildError::new(BuildErrorKind::Emit, message).at(resource.origin));
        }
        if metadata.is_none() && sets_annotations {
            resource.set_annotations(Vec::new(), resource.origin);
        }
        if resource.node.lookup(&["metadata", "annotations"]).is_none() {
            continue;
        }
        check_pairs(resource, "annotations")?;
        if is_repeated(resource) {
            clean_step_by_step(resource, &keep);
            continue;
        }
        let mut annotations = resource.annotations();
        annotations.retain(|(key, _)| is_printed(key) && keep(key));
        let origin = resource.origin;
        resource.set_annotations(annotations, origin);
    }
    Ok(())
}

/// Whether the annotations stand twice.
fn is_repeated(resource: &Resource) -> bool {
    let metadata = resource.node.get("metadata").and_then(Node::as_map);
    let entries = metadata.map(Map::entries).unwrap_or_default().iter();
    entries.filter(|entry| &*entry.key.text == "annotations").count() > 1
}

/// Of annotations that stand twice the first are cleaned, and what is empty goes and leaves the next to
/// the next step: kustomize's own first, then those of each history.
fn clean_step_by_step(resource: &mut Resource, keep: impl Fn(&str) -> bool) {
    let origin = resource.origin;
    let mut annotations = resource.annotations();
    if !annotations.is_empty() {
        annotations.retain(|(key, _)| is_printed(key));
        resource.set_annotations(annotations, origin);
    }
    for history in HISTORY.into_iter().filter(|history| !keep(history)) {
        let mut annotations = resource.annotations();
        annotations.retain(|(key, _)| &**key != history);
        resource.set_annotations(annotations, origin);
    }
}

/// Kustomize takes labels or annotations that are a list for pairs, and breaks where the last one is none.
///
/// # Errors
/// [`BuildErrorKind::Emit`] for such a list.
pub(super) fn check_pairs(resource: &Resource, field: &str) -> Result<(), BuildError> {
    let found = resource.node.lookup(&["metadata", field]);
    match found.filter(|found| found.as_seq().is_some_and(|items| items.len() % 2 == 1)) {
        None => Ok(()),
        Some(list) => {
            let message = format!("the {field} of an object must be a map");
            Err(BuildError::new(BuildErrorKind::Emit, message).at(list.origin))
        }
    }
}

fn is_printed(key: &str) -> bool {
    let internal = key.strip_prefix(BUILD_ANNOTATION_PREFIX);
    !FOREIGN.contains(&key) && internal.is_none_or(|name| !INTERNAL.contains(&name))
}
