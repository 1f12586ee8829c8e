//! `kubectl rollout status`, rule by rule.
//!
//! Source: Kubernetes `staging/src/k8s.io/kubectl/pkg/polymorphichelpers/rollout_status.go`. The order of the rules is
//! part of them: the first that holds decides.

use serde_json::Value;

use super::live::{api_group, condition, int_at, kind, text_at};

/// How a roll stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RolloutState {
    /// It is over.
    Done,
    /// It goes on; what is waited for.
    Waiting(String),
    /// It has failed, and goes on only if something changes; why.
    Failed(String),
    /// There is no roll that could be waited for: `kubectl rollout status` ends with this error.
    NotRolled(String),
}

/// How the roll of `workload` stands; `None` for kinds that `kubectl rollout status` does not know.
#[must_use]
pub fn rollout_state(workload: &Value) -> Option<RolloutState> {
    match (api_group(workload), kind(workload)) {
        ("apps" | "extensions", "Deployment") => Some(deployment(workload)),
        ("apps", "StatefulSet") => Some(stateful_set(workload)),
        ("apps" | "extensions", "DaemonSet") => Some(daemon_set(workload)),
        _ => None,
    }
}

fn status(workload: &Value, field: &str) -> i64 {
    int_at(workload, &format!("/status/{field}")).unwrap_or(0)
}

/// Whether the controller has seen the last change of the specification.
fn is_observed(workload: &Value) -> bool {
    let generation = int_at(workload, "/metadata/generation").unwrap_or(0);
    generation <= status(workload, "observedGeneration")
}

fn unobserved() -> RolloutState {
    RolloutState::Waiting("the controller has not seen the last change yet".to_owned())
}

fn deployment(workload: &Value) -> RolloutState {
    if !is_observed(workload) {
        return unobserved();
    }
    let progressing = condition(workload, "Progressing");
    if progressing.is_some_and(|found| found["reason"] == "ProgressDeadlineExceeded") {
        let seconds = int_at(workload, "/spec/progressDeadlineSeconds").unwrap_or(600);
        return RolloutState::Failed(format!(
            "no progress within {seconds}s (progressDeadlineSeconds); it goes on, and is not rolled back"
        ));
    }
    let (all, updated) = (status(workload, "replicas"), status(workload, "updatedReplicas"));
    let available = status(workload, "availableReplicas");
    if let Some(wanted) = int_at(workload, "/spec/replicas").filter(|wanted| updated < *wanted) {
        return RolloutState::Waiting(format!("{updated} of {wanted} pods are updated"));
    }
    if all > updated {
        let old = all - updated;
        return RolloutState::Waiting(format!("{old} old pods are still there"));
    }
    if available < updated {
        return RolloutState::Waiting(format!(
            "{available} of {updated} updated pods are available"
        ));
    }
    RolloutState::Done
}

fn stateful_set(workload: &Value) -> RolloutState {
    if text_at(workload, "/spec/updateStrategy/type") != "RollingUpdate" {
        return not_rolled(workload);
    }
    if status(workload, "observedGeneration") == 0 || !is_observed(workload) {
        return unobserved();
    }
    let ready = status(workload, "readyReplicas");
    let wanted = int_at(workload, "/spec/replicas");
    if let Some(wanted) = wanted.filter(|wanted| ready < *wanted) {
        return RolloutState::Waiting(format!("{ready} of {wanted} pods are ready"));
    }
    if workload.pointer("/spec/updateStrategy/rollingUpdate").is_some_and(|rule| !rule.is_null()) {
        let partition = int_at(workload, "/spec/updateStrategy/rollingUpdate/partition");
        let updated = status(workload, "updatedReplicas");
        if let (Some(wanted), Some(partition)) = (wanted, partition)
            && updated < wanted - partition
        {
            let due = wanted - partition;
            return RolloutState::Waiting(format!("{updated} of {due} pods are updated"));
        }
        return RolloutState::Done;
    }
    let revision = |field: &str| text_at(workload, &format!("/status/{field}"));
    if revision("updateRevision") != revision("currentRevision") {
        let updated = status(workload, "updatedReplicas");
        return RolloutState::Waiting(format!("{updated} pods are at the new revision"));
    }
    RolloutState::Done
}

fn daemon_set(workload: &Value) -> RolloutState {
    if text_at(workload, "/spec/updateStrategy/type") != "RollingUpdate" {
        return not_rolled(workload);
    }
    if !is_observed(workload) {
        return unobserved();
    }
    let wanted = status(workload, "desiredNumberScheduled");
    let updated = status(workload, "updatedNumberScheduled");
    if updated < wanted {
        return RolloutState::Waiting(format!("{updated} of {wanted} pods are updated"));
    }
    let available = status(workload, "numberAvailable");
    if available < wanted {
        return RolloutState::Waiting(format!("{available} of {wanted} pods are available"));
    }
    RolloutState::Done
}

fn not_rolled(workload: &Value) -> RolloutState {
    let kind = text_at(workload, "/spec/updateStrategy/type");
    RolloutState::NotRolled(format!(
        "the update strategy is {kind}: a pod is replaced when somebody deletes it"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn state(kind: &str, generation: i64, spec: Value, status: Value) -> &'static str {
        let workload = json!({"apiVersion": "apps/v1", "kind": kind,
            "metadata": {"name": "web", "generation": generation}, "spec": spec, "status": status});
        match rollout_state(&workload).unwrap() {
            RolloutState::Done => "done",
            RolloutState::Waiting(_) => "wait",
            RolloutState::Failed(_) => "error",
            RolloutState::NotRolled(_) => "error, done",
        }
    }

    /// The rows in kubectl's order: observed generation, deadline, updated, old pods, available.
    #[test]
    fn a_deployment_is_rolled_when_kubectl_says_so() {
        let spec = json!({"replicas": 3});
        let late = json!([{"type": "Progressing", "status": "False",
            "reason": "ProgressDeadlineExceeded"}]);
        let row = |all: i64, updated: i64, available: i64| {
            json!({"observedGeneration": 2, "replicas": all, "updatedReplicas": updated,
                "availableReplicas": available})
        };
        let of = |generation, status| state("Deployment", generation, spec.clone(), status);
        assert_eq!(of(3, row(3, 3, 3)), "wait", "generation > observedGeneration");
        let mut stalled = row(3, 3, 3);
        stalled["conditions"] = late.clone();
        assert_eq!(of(2, stalled.clone()), "error", "ProgressDeadlineExceeded");
        assert_eq!(of(3, stalled), "wait", "a deadline of the generation before says nothing");
        assert_eq!(of(2, row(3, 2, 3)), "wait", "updatedReplicas < spec.replicas");
        assert_eq!(of(2, row(4, 3, 3)), "wait", "replicas > updatedReplicas");
        assert_eq!(of(2, row(3, 3, 2)), "wait", "availableReplicas < updatedReplicas");
        assert_eq!(of(2, row(3, 3, 3)), "done");
        assert_eq!(of(1, row(3, 3, 3)), "done", "a generation below the observed one");
        let scaled = json!({"replicas": 0});
        assert_eq!(state("Deployment", 2, scaled, json!({"observedGeneration": 2})), "done");
    }

    /// Readiness of the whole set comes before everything; with a partition the lower ordinals are not looked at.
    #[test]
    fn a_stateful_set_is_rolled_when_kubectl_says_so() {
        let spec = |partition: Option<i64>| {
            let rule = partition.map_or(json!({}), |n| json!({"partition": n}));
            json!({"replicas": 3,
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rule}})
        };
        let row = |ready: i64, updated: i64| {
            json!({"observedGeneration": 2, "readyReplicas": ready, "updatedReplicas": updated,
                "currentRevision": "a", "updateRevision": "b"})
        };
        let of = |generation, spec, status| state("StatefulSet", generation, spec, status);
        let on_delete = json!({"replicas": 3, "updateStrategy": {"type": "OnDelete"}});
        assert_eq!(of(2, on_delete, row(3, 3)), "error, done");
        assert_eq!(of(0, spec(Some(0)), json!({"readyReplicas": 3})), "wait", "observed is 0");
        assert_eq!(of(3, spec(Some(0)), row(3, 3)), "wait", "generation > observedGeneration");
        assert_eq!(of(2, spec(Some(0)), row(2, 3)), "wait", "readyReplicas < replicas");
        assert_eq!(of(2, spec(Some(0)), row(3, 2)), "wait", "updated < replicas - 0");
        assert_eq!(of(2, spec(Some(2)), row(3, 0)), "wait", "updated < replicas - 2");
        assert_eq!(of(2, spec(Some(2)), row(3, 1)), "done", "partitioned");
        assert_eq!(of(2, spec(Some(0)), row(3, 3)), "done", "whatever the revisions are");
        assert_eq!(of(2, spec(None), row(3, 0)), "done", "rollingUpdate without partition");
        let plain = json!({"replicas": 3, "updateStrategy": {"type": "RollingUpdate"}});
        assert_eq!(of(2, plain.clone(), row(3, 3)), "wait", "updateRevision != currentRevision");
        let mut same = row(3, 3);
        same["currentRevision"] = json!("b");
        assert_eq!(of(2, plain, same), "done");
    }

    #[test]
    fn a_daemon_set_is_rolled_when_kubectl_says_so() {
        let spec = json!({"updateStrategy": {"type": "RollingUpdate"}});
        let row = |wanted: i64, updated: i64, available: i64| {
            json!({"observedGeneration": 2, "desiredNumberScheduled": wanted,
                "updatedNumberScheduled": updated, "numberAvailable": available})
        };
        let of = |generation, status| state("DaemonSet", generation, spec.clone(), status);
        let on_delete = json!({"updateStrategy": {"type": "OnDelete"}});
        assert_eq!(state("DaemonSet", 2, on_delete, row(3, 3, 3)), "error, done");
        assert_eq!(of(3, row(3, 3, 3)), "wait", "observedGeneration < generation");
        assert_eq!(of(2, row(3, 2, 3)), "wait", "updatedNumberScheduled < desired");
        assert_eq!(of(2, row(3, 3, 2)), "wait", "numberAvailable < desired");
        assert_eq!(of(2, row(3, 3, 3)), "done");
        assert_eq!(of(2, row(0, 0, 0)), "done", "nothing is desired");
    }

    #[test]
    fn other_kinds_have_no_rollout_status() {
        let job = json!({"apiVersion": "batch/v1", "kind": "Job"});
        assert_eq!(rollout_state(&job), None);
    }
}
