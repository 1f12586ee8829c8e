//! CloudNativePG clusters, whose health in Argo CD says neither when a roll goes on nor when it is over.
//!
//! Source: cloudnative-pg `api/v1/cluster_types.go` (the phases), argo-cd
//! `resource_customizations/postgresql.cnpg.io/Cluster/health.lua` (which calls most steps of a roll Degraded).

use serde_json::Value;

/// The phase of a cluster in which nothing is left to do.
const HEALTHY: &str = "Cluster in healthy state";

/// The phase in which a person has to act.
const WAITING: &str = "Waiting for user action";

/// Beginnings of phases that no time mends. An error of a plugin and an upgrade that lacks a binary are none of them:
/// the operator tries again.
const BROKEN: [&str; 6] = [
    "Cluster is unrecoverable",
    "Cluster has incomplete or invalid image catalog",
    "Cluster cannot proceed to reconciliation due to an unknown plugin",
    "Unable to create required cluster objects",
    "Invalid cluster definition",
    "Not enough disk space",
];

/// How a cluster stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseState {
    /// Healthy, all instances are ready, and the primary is the one that it should be.
    Settled,
    /// On its way, in this phase.
    Rolling(String),
    /// A person has to act.
    Waiting(String),
    /// Broken, in this phase.
    Broken(String),
}

/// Whether the objects of that group and kind are such clusters.
#[must_use]
pub fn is_database(group: &str, kind: &str) -> bool {
    group == "postgresql.cnpg.io" && kind == "Cluster"
}

/// How the cluster stands, of which this is the live state.
#[must_use]
pub fn assess_database(live: &Value) -> DatabaseState {
    let status = &live["status"];
    let phase = status["phase"].as_str().unwrap_or("no phase is stated").to_owned();
    if phase == WAITING {
        return DatabaseState::Waiting(phase);
    }
    if BROKEN.iter().any(|broken| phase.starts_with(broken)) {
        return DatabaseState::Broken(phase);
    }
    // A scale down registers no phase, so that the numbers have to be compared too.
    let wanted = live["spec"]["instances"].as_u64().unwrap_or(1);
    let is_complete =
        ["instances", "readyInstances"].iter().all(|count| status[*count].as_u64() == Some(wanted));
    let is_promoted = status["currentPrimary"] == status["targetPrimary"];
    match phase == HEALTHY {
        true if is_complete && is_promoted => DatabaseState::Settled,
        true => DatabaseState::Rolling("its instances are not all ready".to_owned()),
        false => DatabaseState::Rolling(phase),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cluster(phase: &str, instances: u64, ready: u64, target: &str) -> Value {
        json!({"spec": {"instances": 3}, "status": {
            "phase": phase, "instances": instances, "readyInstances": ready,
            "currentPrimary": "db-1", "targetPrimary": target,
        }})
    }

    #[test]
    fn only_a_complete_cluster_is_settled() {
        assert_eq!(assess_database(&cluster(HEALTHY, 3, 3, "db-1")), DatabaseState::Settled);
        for live in [
            cluster(HEALTHY, 3, 2, "db-1"),
            cluster(HEALTHY, 4, 3, "db-1"),
            cluster(HEALTHY, 3, 3, "db-2"),
            cluster("Switchover in progress", 3, 3, "db-2"),
            cluster("Failing over", 3, 2, "db-2"),
            cluster("Primary instance is being restarted without a switchover", 3, 2, "db-1"),
        ] {
            let state = assess_database(&live);
            assert!(matches!(state, DatabaseState::Rolling(_)), "{live} {state:?}");
        }
    }

    #[test]
    fn what_no_time_mends_is_broken_and_what_a_person_mends_waits() {
        let state = assess_database(&cluster("Not enough disk space", 3, 3, "db-1"));
        assert!(matches!(state, DatabaseState::Broken(_)));
        let state = assess_database(&cluster(WAITING, 3, 3, "db-1"));
        assert!(matches!(state, DatabaseState::Waiting(_)));
    }
}
