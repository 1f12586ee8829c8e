//! Operations: what is asked for, what runs, and what came of it.

use serde::Deserialize;
use serde_json::Value;

use super::or_default;
use crate::argocd::time::Timestamp;

/// What was asked to be done: `operation`, and its copy in `status.operationState`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Operation {
    /// The sync.
    #[serde(deserialize_with = "or_default")]
    pub sync: SyncOperation,
    /// Who asked.
    #[serde(deserialize_with = "or_default")]
    pub initiated_by: Initiator,
    /// Pairs of name and value that came with the request.
    #[serde(deserialize_with = "or_default")]
    pub info: Vec<Info>,
}

/// `operation.sync`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SyncOperation {
    /// A SHA, a symbolic name, or empty for what the spec says at the start.
    #[serde(deserialize_with = "or_default")]
    pub revision: String,
    /// The same of several sources.
    #[serde(deserialize_with = "or_default")]
    pub revisions: Vec<String>,
    /// Whether nothing is really done.
    #[serde(deserialize_with = "or_default")]
    pub dry_run: bool,
    /// The objects of a partial sync; empty is all.
    #[serde(deserialize_with = "or_default")]
    pub resources: Vec<Value>,
}

/// `operation.initiatedBy`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Initiator {
    /// Whether the controller itself asked.
    #[serde(deserialize_with = "or_default")]
    pub automated: bool,
    /// Who else.
    #[serde(deserialize_with = "or_default")]
    pub username: String,
}

/// One of `operation.info`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Info {
    /// The name.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// The value.
    #[serde(deserialize_with = "or_default")]
    pub value: String,
}

/// One of `status.history` (argo-cd `controller/state.go` `persistRevisionHistory`).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Deployment {
    /// The revision applied.
    #[serde(deserialize_with = "or_default")]
    pub revision: String,
    /// The revisions applied, of several sources.
    #[serde(deserialize_with = "or_default")]
    pub revisions: Vec<String>,
    /// The `startedAt` of its operation.
    pub deploy_started_at: Option<Timestamp>,
}

/// `status.operationState`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OperationState {
    /// `Running`, `Terminating`, `Succeeded`, `Failed` or `Error`.
    #[serde(deserialize_with = "or_default")]
    pub phase: String,
    /// What it says.
    #[serde(deserialize_with = "or_default")]
    pub message: String,
    /// When it was first picked up.
    pub started_at: Option<Timestamp>,
    /// When it ended; with `Running` it waits for its next try.
    pub finished_at: Option<Timestamp>,
    /// Tries after the first.
    #[serde(deserialize_with = "or_default")]
    pub retry_count: u64,
    /// The request.
    #[serde(deserialize_with = "or_default")]
    pub operation: Operation,
    /// What came of it.
    pub sync_result: Option<SyncResult>,
}

impl OperationState {
    /// Whether it ended well. One that says so without a time at which it ended was given up at a restart of the controller
    /// (argo-cd issue 29636).
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.phase == "Succeeded" && self.finished_at.is_some()
    }

    /// Whether it ended badly.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self.phase.as_str(), "Failed" | "Error")
    }

    /// Whether it was of some of the objects only.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        !self.operation.sync.resources.is_empty() && !self.operation.initiated_by.automated
    }

    /// Whether `other` is a state of the same operation: it keeps its start over all of its tries.
    #[must_use]
    pub fn is_of_same_operation(&self, other: &Self) -> bool {
        self.started_at == other.started_at && self.operation == other.operation
    }
}

/// `status.operationState.syncResult`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SyncResult {
    /// The revision applied.
    #[serde(deserialize_with = "or_default")]
    pub revision: String,
    /// The revisions applied, of several sources.
    #[serde(deserialize_with = "or_default")]
    pub revisions: Vec<String>,
    /// The objects.
    #[serde(deserialize_with = "or_default")]
    pub resources: Vec<ResourceResult>,
}

/// One of `status.operationState.syncResult.resources`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceResult {
    /// The API group.
    #[serde(deserialize_with = "or_default")]
    pub group: String,
    /// The kind.
    #[serde(deserialize_with = "or_default")]
    pub kind: String,
    /// The namespace.
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
    /// The name.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// `Synced`, `SyncFailed`, `Pruned` or `PruneSkipped`.
    #[serde(deserialize_with = "or_default")]
    pub status: String,
    /// What it says.
    #[serde(deserialize_with = "or_default")]
    pub message: String,
    /// The phase of a hook: as those of an operation.
    #[serde(deserialize_with = "or_default")]
    pub hook_phase: String,
}

impl ResourceResult {
    /// Whether it could not be applied, or is a hook that failed.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.status == "SyncFailed" || matches!(self.hook_phase.as_str(), "Failed" | "Error")
    }
}
