//! Why a roll stands still, while it is followed.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Follow, Step};
use crate::rollout::finding::Finding;
use crate::rollout::live::{is_terminating, namespace, shown};
use crate::rollout::pod::pod_trouble;
use crate::rollout::status::{RolloutState, rollout_state};
use crate::rollout::workload::{is_workload, stall_reasons};

/// How long a reason has to stand before it is told as one, in seconds: most pass by themselves.
const REASON_SECONDS: i64 = 5;
/// How long a controller may take to see a change, in seconds.
const SILENCE_SECONDS: i64 = 60;

impl Follow {
    /// Puts the reasons for which it stands still into the timeline, once they have stood for a moment.
    pub(super) fn notice_reasons(&mut self, now: i64) {
        let mut standing = BTreeSet::new();
        for reason in self.reasons_at(now) {
            let key = (reason.id, format!("{}/{}", reason.resource.namespace, reason.resource));
            standing.insert(key.clone());
            let (since, is_told) = self.reasons.entry(key).or_insert((now, false));
            if !*is_told && now - *since >= REASON_SECONDS {
                *is_told = true;
                let what = format!("{}: {}", reason.id, reason.message);
                let object = reason.resource.to_string();
                self.timeline.push(Step { at: now, object, what, pod: None });
            }
        }
        self.reasons.retain(|key, _| standing.contains(key));
    }

    fn reasons_at(&mut self, now: i64) -> Vec<Finding> {
        let unfinished = |workload: &&&Value| {
            is_workload(workload) && rollout_state(workload) != Some(RolloutState::Done)
        };
        let workloads: Vec<Value> =
            self.workloads().iter().filter(unfinished).map(|live| (*live).clone()).collect();
        let mut found = Vec::new();
        for workload in &workloads {
            found.extend(stall_reasons(&self.snapshot, workload, now));
            found.extend(self.silence(workload, now));
        }
        let held = self.leftovers().into_iter();
        found.extend(held.filter_map(|pod| pod_trouble(&self.snapshot, pod, now)));
        found
    }

    /// A controller that has not seen the last change for long.
    pub(super) fn silence(&mut self, workload: &Value, now: i64) -> Option<Finding> {
        let generation = workload.pointer("/metadata/generation").and_then(Value::as_i64)?;
        let observed = workload.pointer("/status/observedGeneration").and_then(Value::as_i64);
        let key = format!("{}/{}/{generation}", namespace(workload), shown(workload));
        if observed.unwrap_or(0) >= generation {
            return None;
        }
        let since = *self.unseen_since.entry(key).or_insert(now);
        (now - since >= SILENCE_SECONDS).then(|| {
            let message = format!(
                "its controller has not seen the last change for {}s: it is down or overloaded",
                now - since
            );
            Finding::about(workload, "controller-silent", message)
        })
    }

    /// Pods that were told to end and are still there. Numbers of a Deployment leave them out, so that its roll can be
    /// over while they still run.
    pub(super) fn leftovers(&self) -> Vec<&Value> {
        let pods = self.workloads().into_iter().flat_map(|live| self.snapshot.pods_of(live));
        pods.filter(|pod| is_terminating(pod)).collect()
    }
}
