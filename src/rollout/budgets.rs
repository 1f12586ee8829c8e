//! Disruption budgets as their controller keeps them.
//!
//! Source: Kubernetes `pkg/controller/disruption/disruption.go`, `pkg/registry/core/pod/storage/eviction.go`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::events::one_line;
use super::finding::Finding;
use super::live::{
    Snapshot, condition, int_at, is_terminating, items_at, name, namespace, text_at,
};
use super::pod::is_over;

/// One budget, as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveBudget {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The pods that may be evicted now.
    pub allowed: i64,
    /// Its pods that are healthy.
    pub healthy: i64,
    /// Those that must stay.
    pub desired: i64,
    /// Those that there should be.
    pub expected: i64,
}

impl LiveBudget {
    /// The budget that `object` is.
    #[must_use]
    pub fn of(object: &Value) -> Self {
        let status = |field: &str| int_at(object, &format!("/status/{field}")).unwrap_or(0);
        Self {
            namespace: namespace(object).to_owned(),
            name: name(object).to_owned(),
            allowed: status("disruptionsAllowed"),
            healthy: status("currentHealthy"),
            desired: status("desiredHealthy"),
            expected: status("expectedPods"),
        }
    }
}

/// Whether the selector of `budget` fits the labels of `pod`, which is in its namespace.
#[must_use]
pub fn selects(budget: &Value, pod: &Value) -> bool {
    let Some(selector) = budget.pointer("/spec/selector").filter(|selector| !selector.is_null())
    else {
        return false;
    };
    let labels = &pod["metadata"]["labels"];
    let label = |key: &str| labels[key].as_str();
    let wanted = selector["matchLabels"].as_object();
    let has_all = wanted.is_none_or(|wanted| {
        wanted.iter().all(|(key, value)| label(key).is_some() && label(key) == value.as_str())
    });
    namespace(budget) == namespace(pod)
        && has_all
        && items_at(selector, "/matchExpressions").iter().all(|rule| {
            let value = label(text_at(rule, "/key"));
            let is_listed = || items_at(rule, "/values").iter().any(|v| v.as_str() == value);
            match text_at(rule, "/operator") {
                "In" => value.is_some() && is_listed(),
                "NotIn" => value.is_none() || !is_listed(),
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => false,
            }
        })
}

/// What is wrong with a budget where at least `least` evictions have to be allowed.
#[must_use]
pub fn budget_findings(budget: &Value, least: i64) -> Vec<Finding> {
    let generation = int_at(budget, "/metadata/generation").unwrap_or(0);
    if int_at(budget, "/status/observedGeneration").unwrap_or(0) < generation {
        let message = "its controller has not seen the last change yet: every eviction is refused";
        return vec![Finding::about(budget, "budget-unobserved", message)];
    }
    let failed = condition(budget, "DisruptionAllowed").filter(|c| c["reason"] == "SyncFailed");
    if let Some(failed) = failed {
        let said = one_line(text_at(failed, "/message"));
        let message = format!("its controller cannot reckon, and refuses every eviction: {said}");
        return vec![Finding::about(budget, "budget-error", message)];
    }
    let live = LiveBudget::of(budget);
    if live.allowed >= least {
        return Vec::new();
    }
    if live.expected == 0 {
        // It selects nothing, and no eviction is refused because of it.
        return Vec::new();
    }
    let message = format!(
        "allows {} evictions where {least} are asked for: {} of {} pods are healthy, and {} must stay",
        live.allowed, live.healthy, live.expected, live.desired
    );
    let fix = match live.desired >= live.expected {
        true => {
            "it can never allow one with so many pods: raise replicas or instances in git (`overlay set replicas`)"
        }
        false => "wait until its pods are ready",
    };
    vec![Finding::about(budget, "budget-low", message).fix(fix)]
}

/// Pods that two budgets select: the API server refuses to evict them, always. It asks no budget for a pod that is
/// pending, over, or told to end.
#[must_use]
pub fn overlapping(snapshot: &Snapshot, budgets: &[&Value]) -> Vec<Finding> {
    let mut told: BTreeMap<Vec<String>, &Value> = BTreeMap::new();
    let is_asked = |pod: &&Value| {
        !is_over(pod) && !is_terminating(pod) && text_at(pod, "/status/phase") != "Pending"
    };
    for pod in snapshot.all("", "Pod").iter().filter(is_asked) {
        let names =
            budgets.iter().filter(|budget| selects(budget, pod)).map(|b| name(b).to_owned());
        let names: Vec<String> = names.collect();
        if names.len() > 1 {
            told.entry(names).or_insert(pod);
        }
    }
    let finding = |(names, pod): (Vec<String>, &Value)| {
        let message = format!("can never be evicted: {} select it", names.join(" and "));
        Finding::about(pod, "budget-overlap", message)
    };
    told.into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn budget(status: Value) -> Value {
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": "web", "namespace": "shop", "generation": 2},
            "spec": {"selector": {"matchLabels": {"app": "web"}}}, "status": status})
    }

    fn ids(status: Value, least: i64) -> Vec<&'static str> {
        budget_findings(&budget(status), least).into_iter().map(|finding| finding.id).collect()
    }

    #[test]
    fn a_budget_counts_as_its_controller_keeps_it() {
        let row = |allowed: i64, healthy: i64, desired: i64, expected: i64| {
            json!({"observedGeneration": 2, "disruptionsAllowed": allowed,
                "currentHealthy": healthy, "desiredHealthy": desired, "expectedPods": expected})
        };
        assert_eq!(ids(row(1, 2, 1, 2), 1), [""; 0]);
        assert_eq!(ids(row(1, 2, 1, 2), 2), ["budget-low"]);
        assert_eq!(ids(row(0, 1, 1, 1), 1), ["budget-low"]);
        assert_eq!(ids(row(0, 1, 1, 1), 0), [""; 0]);
        assert_eq!(ids(row(0, 0, 0, 0), 1), [""; 0], "selects nothing");
        let mut stale = row(1, 2, 1, 2);
        stale["observedGeneration"] = json!(1);
        assert_eq!(ids(stale, 0), ["budget-unobserved"], "an older status is refused with 429");
        let mut failed = row(0, 2, 1, 2);
        failed["conditions"] = json!([{"type": "DisruptionAllowed", "status": "False",
            "reason": "SyncFailed", "message": "found no controllers"}]);
        assert_eq!(ids(failed, 0), ["budget-error"], "fails closed");
        assert_eq!(ids(json!({}), 0), ["budget-unobserved"]);
    }

    #[test]
    fn a_pod_of_two_budgets_can_never_be_evicted() {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1",
            "namespace": "shop", "labels": {"app": "web", "tier": "front"}},
            "status": {"phase": "Running"}});
        let (one, mut other) = (budget(json!({})), budget(json!({})));
        other["metadata"]["name"] = json!("all");
        other["spec"]["selector"] = json!({});
        let snapshot = Snapshot::of([pod.clone()]);
        assert!(overlapping(&snapshot, &[&one]).is_empty());
        let found = overlapping(&snapshot, &[&one, &other]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].message, "can never be evicted: web and all select it");
        for (field, value) in [("phase", "Pending"), ("phase", "Succeeded"), ("phase", "Failed")] {
            let mut pod = pod.clone();
            pod["status"][field] = json!(value);
            assert!(overlapping(&Snapshot::of([pod]), &[&one, &other]).is_empty(), "{value}");
        }
        let mut going = pod.clone();
        going["metadata"]["deletionTimestamp"] = json!("2026-03-01T10:00:00Z");
        assert!(overlapping(&Snapshot::of([going]), &[&one, &other]).is_empty());
        other["spec"] = json!({});
        assert!(!selects(&other, &pod), "no selector selects nothing");
        other["spec"]["selector"] = json!({"matchExpressions": [
            {"key": "tier", "operator": "In", "values": ["front"]},
            {"key": "old", "operator": "DoesNotExist"}]});
        assert!(selects(&other, &pod));
    }
}
