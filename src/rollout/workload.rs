//! One workload: whether it is rolled out and its pods are ready, and if not, why.

use serde_json::Value;

use super::events::{latest_message, one_line};
use super::finding::Finding;
use super::live::{
    Snapshot, api_group, condition, int_at, is_terminating, kind, kubectl, name, shown, text_at,
};
use super::minimum::replicas;
use super::pod::{counts, is_over, is_ready, pod_trouble};
use super::status::{RolloutState, rollout_state};

/// The most pods that one workload is explained by.
const MOST_PODS: usize = 5;

/// Whether `object` is a workload that is looked at here.
#[must_use]
pub fn is_workload(object: &Value) -> bool {
    api_group(object) == "apps"
        && matches!(kind(object), "Deployment" | "StatefulSet" | "DaemonSet")
}

/// Everything that is wrong with a workload: its roll, then the pods that are not ready. `now` is in seconds since 1970.
#[must_use]
pub fn workload_findings(snapshot: &Snapshot, workload: &Value, now: i64) -> Vec<Finding> {
    let mut found = Vec::new();
    let reasons = stall_reasons(snapshot, workload, now);
    match rollout_state(workload) {
        None => {}
        Some(RolloutState::Done) => {
            found.extend(partition(workload));
            found.extend(outdated(snapshot, workload));
        }
        Some(RolloutState::Waiting(what)) => {
            found.push(Finding::about(workload, "rollout-unfinished", what));
        }
        Some(RolloutState::Failed(why)) => {
            found.push(Finding::about(workload, "deadline-exceeded", why));
        }
        Some(RolloutState::NotRolled(why)) => {
            found.extend(on_delete(snapshot, workload, &why));
        }
    }
    if found.iter().all(|finding| !finding.is_failure()) {
        found.extend(unready(snapshot, workload));
    }
    if found.iter().any(Finding::is_failure) {
        found.extend(reasons);
    }
    found
}

/// The pods that are not ready, although the roll is over.
fn unready(snapshot: &Snapshot, workload: &Value) -> Option<Finding> {
    let pods = snapshot.pods_of(workload);
    let here: Vec<&&Value> =
        pods.iter().filter(|pod| !is_over(pod) && !is_terminating(pod)).collect();
    let ready = here.iter().filter(|pod| is_ready(pod)).count();
    let wanted = usize::try_from(replicas(workload)).unwrap_or(0);
    if ready >= wanted && ready == here.len() {
        return None;
    }
    let message = format!("{ready} pods are ready, and {} of {wanted} are there", here.len());
    let id = if here.len() < wanted { "pods-missing" } else { "pods-not-ready" };
    Some(Finding::about(workload, id, message))
}

fn partition(workload: &Value) -> Option<Finding> {
    let partition = int_at(workload, "/spec/updateStrategy/rollingUpdate/partition")?;
    if kind(workload) != "StatefulSet" || partition <= 0 {
        return None;
    }
    let message =
        format!("partition {partition}: pods with a lower ordinal keep the template that they had");
    Some(Finding::about(workload, "partition", message))
}

/// Pods of an old template after a roll that leaves none: pods and numbers were not read at one moment.
fn outdated(snapshot: &Snapshot, workload: &Value) -> Option<Finding> {
    let partition = int_at(workload, "/spec/updateStrategy/rollingUpdate/partition");
    let pods = snapshot.pods_of(workload);
    let old = pods.iter().filter(|pod| {
        !is_over(pod) && !is_terminating(pod) && snapshot.is_new_pod(workload, pod) == Some(false)
    });
    let old: Vec<&str> = old.map(|pod| name(pod)).collect();
    if old.is_empty() || partition.is_some_and(|partition| partition > 0) {
        return None;
    }
    let message = format!("pods of an old template are still there: {}", listed(&old));
    Some(Finding::about(workload, "rollout-unfinished", message))
}

/// Pods of an old template that nobody replaces.
fn on_delete(snapshot: &Snapshot, workload: &Value, why: &str) -> Option<Finding> {
    let pods = snapshot.pods_of(workload);
    let old = pods.iter().filter(|pod| snapshot.is_new_pod(workload, pod) == Some(false));
    let old: Vec<&str> = old.map(|pod| name(pod)).collect();
    if old.is_empty() {
        return None;
    }
    let message = format!("{why}; still from an old template: {}", listed(&old));
    Some(
        Finding::about(workload, "on-delete", message)
            .fix("delete the pods one by one, or set the update strategy to RollingUpdate"),
    )
}

/// Some names, and how many more there are.
fn listed(names: &[&str]) -> String {
    match names.len().checked_sub(MOST_PODS) {
        Some(more) if more > 0 => {
            format!("{} and {more} more", names[..MOST_PODS].join(", "))
        }
        _ => names.join(", "),
    }
}

/// Why a roll does not go on: what holds the workload itself, then its pods that are not ready or not gone.
#[must_use]
pub fn stall_reasons(snapshot: &Snapshot, workload: &Value, now: i64) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    found.extend(paused(workload));
    found.extend(refused_creation(snapshot, workload));
    found.extend(ordered(snapshot, workload));
    let pods = snapshot.pods_of(workload);
    let troubles = pods.iter().filter_map(|pod| pod_trouble(snapshot, pod, now));
    found.extend(first_few(troubles.collect()));
    if found.is_empty() {
        found.extend(min_ready(snapshot, workload));
    }
    found
}

/// Many pods of one template have one trouble: each kind is told by the first few.
pub(super) fn first_few(mut of_pods: Vec<Finding>) -> Vec<Finding> {
    of_pods.sort_by_key(|finding| finding.id);
    let mut told = (String::new(), 0);
    of_pods.retain(|finding| {
        told = if told.0 == finding.id {
            (told.0.clone(), told.1 + 1)
        } else {
            (finding.id.to_owned(), 1)
        };
        told.1 <= MOST_PODS
    });
    of_pods
}

fn paused(workload: &Value) -> Option<Finding> {
    let is_paused = workload.pointer("/spec/paused") == Some(&Value::Bool(true));
    is_paused.then(|| {
        let message = "it is paused (spec.paused): no pod is replaced until that is taken away";
        Finding::about(workload, "paused", message)
            .fix("remove `paused` in git, or `kubectl rollout resume` where it was paused by hand")
    })
}

/// Pods that the API server does not let be made: a quota, a policy, a missing service account.
fn refused_creation(snapshot: &Snapshot, workload: &Value) -> Option<Finding> {
    let said = match kind(workload) {
        "Deployment" => {
            let set = snapshot.new_set_of(workload);
            let failed = [set, Some(workload)].into_iter().flatten().find_map(|object| {
                condition(object, "ReplicaFailure").filter(|found| found["status"] == "True")
            });
            failed.map(|failed| one_line(text_at(failed, "/message")))?
        }
        _ => {
            let lacks = (snapshot.pods_of(workload).len() as i64) < replicas(workload);
            latest_message(snapshot, workload, &["FailedCreate"], |_| true).filter(|_| lacks)?
        }
    };
    Some(match said.contains("exceeded quota") {
        true => Finding::about(workload, "quota-exceeded", format!("no pod can be made: {said}"))
            .fix("a larger quota, smaller requests, or maxSurge 0 with maxUnavailable 1"),
        false => {
            Finding::about(workload, "creation-refused", format!("no pod can be made: {said}"))
        }
    })
}

/// A StatefulSet goes on only when each pod is ready, and does not replace one that never was by a newer template.
fn ordered(snapshot: &Snapshot, workload: &Value) -> Option<Finding> {
    let policy = text_at(workload, "/spec/podManagementPolicy");
    if kind(workload) != "StatefulSet" || policy == "Parallel" {
        return None;
    }
    let pods = snapshot.pods_of(workload);
    let stuck = pods.iter().find(|pod| {
        !is_ready(pod) && !is_terminating(pod) && snapshot.is_new_pod(workload, pod) == Some(false)
    })?;
    let message = format!(
        "{} is not ready and from an old template: the controller waits for it before it replaces any pod, and never replaces it by itself",
        shown(stuck)
    );
    Some(
        Finding::about(workload, "ordered-blocked", message)
            .fix(format!("{}, once the template in git is right", kubectl("delete pod", stuck))),
    )
}

fn min_ready(snapshot: &Snapshot, workload: &Value) -> Option<Finding> {
    let seconds = int_at(workload, "/spec/minReadySeconds").filter(|seconds| *seconds > 0)?;
    let pods = snapshot.pods_of(workload);
    let ready = i64::try_from(pods.iter().filter(|pod| counts(pod)).count()).unwrap_or(i64::MAX);
    let available = ["availableReplicas", "numberAvailable"]
        .iter()
        .find_map(|field| int_at(workload, &format!("/status/{field}")))
        .unwrap_or(0);
    (available < ready).then(|| {
        let message = format!(
            "{} pods are ready and count as available only {seconds}s later (minReadySeconds)",
            ready - available
        );
        Finding::about(workload, "min-ready", message)
    })
}
