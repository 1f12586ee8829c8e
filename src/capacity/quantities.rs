//! Quantities that are none: a request that cannot be read is not a request of nothing.

use crate::checks::model::quantity::parse_quantity;
use crate::checks::model::{items_at, text_at, texts_at};
use crate::kustomize::node::Node;

/// A quantity that the API would refuse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} is `{text}`, which is no quantity such as 500m, 2 or 128Mi")]
pub struct BadQuantity {
    /// Which one.
    pub place: String,
    /// What it says.
    pub text: String,
}

/// The first quantity of a pod's specification that is none.
#[must_use]
pub fn bad_in_pod(pod: &Node) -> Option<BadQuantity> {
    let lists = [["containers"], ["initContainers"]];
    let containers = lists.iter().flat_map(|list| items_at(pod, list));
    let of_container = |container: &Node| {
        let name = text_at(container, &["name"]).unwrap_or_default();
        bad_in_resources(container, &format!(" of container {name}"))
    };
    let own = || bad_in_resources(pod, " of the pod");
    containers
        .into_iter()
        .find_map(of_container)
        .or_else(own)
        .or_else(|| bad_at(pod, &["overhead"], ""))
}

/// The first quantity below `resources` that is none; `whose` ends its place.
#[must_use]
pub fn bad_in_resources(node: &Node, whose: &str) -> Option<BadQuantity> {
    let lists = [["resources", "requests"], ["resources", "limits"]];
    lists.iter().find_map(|path| bad_at(node, path, whose))
}

/// The first quantity of the map at `path` that is none.
#[must_use]
pub fn bad_at(node: &Node, path: &[&str], whose: &str) -> Option<BadQuantity> {
    let is_bad =
        |(_, text): &(&str, &str)| !parse_quantity(text).is_some_and(|n| n >= 0.0 && n.is_finite());
    let (key, text) = texts_at(node, path).into_iter().find(is_bad)?;
    Some(BadQuantity { place: format!("{}.{key}{whose}", path.join(".")), text: text.to_owned() })
}
