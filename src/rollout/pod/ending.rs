//! A pod that was ordered to go: how long it may take, and what keeps it.

use serde_json::Value;

use super::placing;
use crate::checks::context::Context;
use crate::checks::model::application::Repository;
use crate::checks::model::drain::{Drain, longest};
use crate::checks::{Overlay, Settings};
use crate::kustomize::{Rendered, SourceTree};
use crate::rollout::events::time_at;
use crate::rollout::finding::Finding;
use crate::rollout::live::{Snapshot, int_at, items_at, kubectl, namespace, text_at};

/// How long after the end of its grace a pod may still be there: the kill and the clean-up take a moment.
const AFTER_GRACE: i64 = 15;

/// How long a pod takes to drain, as far as it states that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrainFact {
    /// The container whose end takes longest.
    pub container: String,
    /// In seconds.
    pub seconds: i64,
    /// What that is made of.
    pub shown: String,
}

/// How long `pod` drains, by its flags, variables, hooks, and the ConfigMaps of `snapshot`.
#[must_use]
pub fn drain_of_pod(snapshot: &Snapshot, pod: &Value) -> Option<DrainFact> {
    // What the server adds is of no use, and an old API version of a status would be in the way.
    let bare = serde_json::json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": text_at(pod, "/metadata/name"), "namespace": namespace(pod)},
        "spec": pod["spec"]});
    let maps = snapshot.all("", "ConfigMap").iter().filter(|map| namespace(map) == namespace(pod));
    let texts: Vec<String> = std::iter::once(&bare).chain(maps).map(Value::to_string).collect();
    let rendered = Rendered::parse(&texts.join("\n---\n")).ok()?;
    let (tree, settings, repository) =
        (SourceTree::default(), Settings::default(), Repository::default());
    let overlay = Overlay { directory: "", rendered: &rendered, tree: &tree };
    let all = [overlay];
    let context = Context::new(overlay, &all, &settings, &repository);
    let drains = Drain::of(&context, context.workloads.first()?);
    let drain = longest(&drains)?;
    Some(DrainFact {
        container: drain.container.name().to_owned(),
        seconds: drain.seconds(),
        shown: drain.shown(),
    })
}

/// What keeps it.
pub(super) fn trouble(snapshot: &Snapshot, pod: &Value, now: i64) -> Option<Finding> {
    if let Some(finding) = placing::node_trouble(snapshot, pod) {
        return Some(finding);
    }
    // The stamp is the moment at which the grace ends, not the one of the order.
    let end = time_at(pod, "/metadata/deletionTimestamp")?;
    let grace = int_at(pod, "/metadata/deletionGracePeriodSeconds")
        .or_else(|| int_at(pod, "/spec/terminationGracePeriodSeconds"))
        .unwrap_or(30);
    let finalizers = items_at(pod, "/metadata/finalizers").iter().filter_map(Value::as_str);
    let finalizers: Vec<&str> = finalizers.collect();
    let is_running = super::has_running_container(pod);
    if !finalizers.is_empty() && (!is_running || now > end + AFTER_GRACE) {
        let message = format!(
            "its containers have ended, and finalizers keep it: {}; what set them has to take them away",
            finalizers.join(", ")
        );
        return Some(Finding::about(pod, "finalizer", message));
    }
    if now > end + AFTER_GRACE {
        let over = now - end;
        let message = format!(
            "its grace of {grace}s ended {over}s ago, and it is still there: the kubelet cannot end its containers or give back its volumes"
        );
        return Some(Finding::about(pod, "stuck-terminating", message));
    }
    if !is_running {
        // It has ended, and the kubelet is about to take it away.
        return None;
    }
    let since = (now - (end - grace)).max(0);
    let left = (end - now).max(0);
    let drain = drain_of_pod(snapshot, pod);
    if let Some(short) = drain.as_ref().filter(|drain| drain.seconds > grace) {
        let message = format!(
            "it drains since {since}s and is killed in {left}s: its grace is {grace}s, and container {} takes {}s ({})",
            short.container, short.seconds, short.shown
        );
        return Some(
            Finding::about(pod, "grace-below-drain", message)
                .fix("`overlay set drain` brings grace and drain together"),
        );
    }
    let shown = drain.map(|drain| format!(" ({})", drain.shown)).unwrap_or_default();
    let message = format!(
        "it drains since {since}s{shown} and may do so for {left}s more: its grace is {grace}s"
    );
    let fix = format!("its log says what it still works off: {}", kubectl("logs", pod));
    Some(Finding::about(pod, "draining", message).fix(fix))
}
