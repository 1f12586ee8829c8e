//! The order of the output.
//!
//! Source: kustomize api `internal/builtins/SortOrderTransformer.go`, `krusty/kustomizer.go`: the
//! legacy order by kind is what kustomize prints in unless `sortOptions` of the root says otherwise.

use std::cmp::Ordering;

use super::emit::{INSERTION, insertion_sort};
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::origin::Origin;
use crate::kustomize::resource::{Resource, ResourceId};
use crate::kustomize::types::SortOptions;

/// The kinds that come first, in this order (kyaml `resid` has the list for field specs, the sort transformer the same for its legacy order).
pub(super) const FIRST: [&str; 22] = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];

/// The kinds that come last, in this order (as for [`FIRST`]).
pub(super) const LAST: [&str; 2] =
    ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/// Kinds that come first and last.
struct KindOrder<'o> {
    first: Vec<&'o str>,
    last: Vec<&'o str>,
}

impl KindOrder<'_> {
    /// Below zero for a kind of the first, above for one of the last. The last list counts where a
    /// kind is in both, and the last place where it is in one twice.
    fn rank(&self, kind: &str) -> isize {
        let place = |list: &[&str]| list.iter().rposition(|entry| *entry == kind);
        let number = |at: usize| isize::try_from(at).unwrap_or(isize::MAX);
        match (place(&self.last), place(&self.first)) {
            (Some(at), _) => 1 + number(at),
            (None, Some(at)) => number(at) - number(self.first.len()),
            (None, None) => 0,
        }
    }
}

/// Sorts the resources of the root as its `sortOptions` say.
///
/// # Errors
/// [`BuildErrorKind::Kustomization`] for an unknown order, or kinds in an order that has none;
/// [`BuildErrorKind::Unsupported`] where the order is none and only Go's way of sorting decides.
pub(super) fn sort(
    resources: &mut Vec<Resource>,
    options: Option<&SortOptions>,
) -> Result<(), BuildError> {
    let Some(options) = options else {
        return sort_legacy(resources, &KindOrder { first: FIRST.to_vec(), last: LAST.to_vec() });
    };
    let refuse = |message: String| {
        Err(BuildError::new(BuildErrorKind::Kustomization, message).at(options.origin))
    };
    match (&*options.order, &options.legacy_sort_options) {
        ("fifo", None) => {}
        ("fifo", Some(_)) => {
            return refuse("sortOptions.legacySortOptions needs the order 'legacy'".to_owned());
        }
        ("legacy", None) => {
            let order = KindOrder { first: FIRST.to_vec(), last: LAST.to_vec() };
            return sort_legacy(resources, &order);
        }
        ("legacy", Some(kinds)) => {
            let order = KindOrder {
                first: kinds.order_first.iter().map(|kind| &**kind).collect(),
                last: kinds.order_last.iter().map(|kind| &**kind).collect(),
            };
            return sort_legacy(resources, &order);
        }
        (other, _) => {
            return refuse(format!("sortOptions.order is '{other}'; write 'legacy' or 'fifo'"));
        }
    }
    Ok(())
}

/// What a resource is sorted by.
struct Key {
    rank: isize,
    id: ResourceId,
    /// Group, version and kind in kustomize's old form.
    gvk: String,
    /// Kind, version, group, namespace and name in kustomize's old form.
    text: String,
}

fn sort_legacy(resources: &mut Vec<Resource>, order: &KindOrder<'_>) -> Result<(), BuildError> {
    let mut keyed: Vec<(Key, Resource)> = std::mem::take(resources)
        .into_iter()
        .map(|resource| (key_of(&resource, order), resource))
        .collect();
    match goes_round(&keyed) {
        None => keyed.sort_by(|a, b| compare(&a.0, &b.0)),
        Some(_) if keyed.len() <= INSERTION => {
            insertion_sort(&mut keyed, &|a, b| compare(&a.0, &b.0).is_lt());
        }
        Some(origin) => {
            let what =
                "an order that has no place for the kind Namespace, of which there are two groups,";
            return Err(BuildError::unsupported(what).at(origin));
        }
    }
    resources.extend(keyed.into_iter().map(|(_, resource)| resource));
    Ok(())
}

/// Whether the comparison is no order: of two kinds called `Namespace` the one of the core group comes first, and behind all
/// others of their rank, which other kinds may have. Then the place of one of them.
fn goes_round(keyed: &[(Key, Resource)]) -> Option<Origin> {
    let namespaces =
        || keyed.iter().filter(|(key, _)| key.rank == 0 && &*key.id.kind == "Namespace");
    let (_, core) = namespaces().find(|(key, _)| key.id.group().is_empty())?;
    namespaces().any(|(key, _)| !key.id.group().is_empty()).then_some(core.origin)
}

fn key_of(resource: &Resource, order: &KindOrder<'_>) -> Key {
    let id = resource.current_id();
    let or = |text: &str, missing: &str| {
        if text.is_empty() { missing.to_owned() } else { text.to_owned() }
    };
    let gvk = [or(id.group(), "~G"), or(id.version(), "~V"), or(&id.kind, "~K")].join("_");
    let kind = [or(&id.kind, "[noKind]"), or(id.version(), "[noVer]"), or(id.group(), "[noGrp]")]
        .join(".");
    let text = [kind, or(&id.namespace, "~X"), or(&id.name, "~N")].join("|");
    Key { rank: order.rank(&id.kind), id, gvk, text }
}

fn compare(a: &Key, b: &Key) -> Ordering {
    if a.id.api_version == b.id.api_version && a.id.kind == b.id.kind {
        return a.text.cmp(&b.text);
    }
    let by_gvk =
        if is_core_namespace_pair(&a.id, &b.id) { b.gvk.cmp(&a.gvk) } else { a.gvk.cmp(&b.gvk) };
    a.rank.cmp(&b.rank).then(by_gvk)
}

/// Two kinds called `Namespace`, one of them of the core group: that one comes first.
fn is_core_namespace_pair(a: &ResourceId, b: &ResourceId) -> bool {
    let namespaces = &*a.kind == "Namespace" && &*b.kind == "Namespace";
    namespaces && (a.group().is_empty() || b.group().is_empty())
}
