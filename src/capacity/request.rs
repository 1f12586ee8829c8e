//! What one pod asks for, by the scheduler's rule.
//!
//! Sources: Kubernetes `pkg/api/v1/resource/helpers.go` (`PodRequests`: containers and sidecars together, or the largest
//! init container with the sidecars before it, whichever is more; overhead beside it), `pkg/apis/core/v1/defaults.go`
//! (a request that is not stated is the limit).

use super::amounts::Amounts;
use crate::checks::model::quantity::parse_quantity;
use crate::checks::model::{items_at, text_at};
use crate::kustomize::node::Node;

/// What a pod asks for.
#[must_use]
pub fn pod_request(pod: &Node) -> Amounts {
    let running: Amounts = items_at(pod, &["containers"]).iter().map(own_request).sum();
    let (mut sidecars, mut peak) = (Amounts::default(), Amounts::default());
    for container in items_at(pod, &["initContainers"]) {
        let request = own_request(container);
        if text_at(container, &["restartPolicy"]) == Some("Always") {
            sidecars += request;
            peak = peak.max(sidecars);
        } else {
            peak = peak.max(sidecars + request);
        }
    }
    let of_containers = (running + sidecars).max(peak);
    let of_pod = pod.get("resources").map(|_| stated(pod)).unwrap_or_default();
    let request = Amounts {
        millicores: of_pod.0.unwrap_or(of_containers.millicores),
        bytes: of_pod.1.unwrap_or(of_containers.bytes),
    };
    request
        + Amounts {
            millicores: millicores(pod, &["overhead", "cpu"]).unwrap_or(0),
            bytes: bytes(pod, &["overhead", "memory"]).unwrap_or(0),
        }
}

/// What the `resources` below `node` ask for.
pub(super) fn own_request(node: &Node) -> Amounts {
    let (millicores, bytes) = stated(node);
    Amounts { millicores: millicores.unwrap_or(0), bytes: bytes.unwrap_or(0) }
}

/// Request or, where there is none, limit, of processor and memory.
fn stated(node: &Node) -> (Option<u64>, Option<u64>) {
    let either = |read: fn(&Node, &[&str]) -> Option<u64>, name: &str| {
        let request = read(node, &["resources", "requests", name]);
        request.or_else(|| read(node, &["resources", "limits", name]))
    };
    (either(millicores, "cpu"), either(bytes, "memory"))
}

/// The `cpu` and `memory` of the quantities at `path`; nothing where there are none.
#[must_use]
pub fn amounts_at(node: &Node, path: &[&str]) -> Amounts {
    let node = node.lookup(path);
    let of = |read: fn(&Node, &[&str]) -> Option<u64>, name| node.and_then(|n| read(n, &[name]));
    Amounts {
        millicores: of(millicores, "cpu").unwrap_or(0),
        bytes: of(bytes, "memory").unwrap_or(0),
    }
}

/// The quantity at `path` as a whole number.
#[must_use]
pub fn count_at(node: &Node, path: &[&str]) -> Option<u64> {
    bytes(node, path)
}

fn millicores(node: &Node, path: &[&str]) -> Option<u64> {
    scaled(node, path, 1000.0)
}

fn bytes(node: &Node, path: &[&str]) -> Option<u64> {
    scaled(node, path, 1.0)
}

/// A quantity in `parts` of its unit, rounded up as the API does.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded on both sides")]
fn scaled(node: &Node, path: &[&str], parts: f64) -> Option<u64> {
    let quantity = parse_quantity(text_at(node, path)?)? * parts;
    Some((quantity - 1e-6).ceil().clamp(0.0, 1e18) as u64)
}
