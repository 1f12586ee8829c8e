//! The Application object as the API stores it; `application_json` is how it is handed out.

use super::hydrator::HydratorStatus;
use super::objects::{Health, Object};
use super::time::Millis;

/// The repository of the overlay, as the application spells it.
pub(super) const REPOSITORY: &str = "https://git.test/ops/deploy.git";
/// The branch that the application follows.
pub(super) const BRANCH: &str = "main";
/// The branch that the hydrator writes.
pub(super) const HYDRATED_BRANCH: &str = "env/prod";
/// The overlay of the change.
pub(super) const OVERLAY: &str = "overlays/prod";
/// The name of the application.
pub(super) const APPLICATION: &str = "prod";
/// The namespaces that an application may be pointed at.
pub(super) const NAMESPACES: [&str; 2] = ["shop", "shop-blue"];

/// What a spec edit can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spec {
    /// Whether the path is [`OVERLAY`], and not `overlays/staging`.
    pub(super) prod: bool,
    /// The destination, by its place in [`NAMESPACES`].
    pub(super) destination: usize,
}

/// A requested operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    /// Empty: what the spec's revision is at the start.
    pub(super) revision: String,
    /// Non-empty: a partial sync.
    pub(super) resources: Vec<Object>,
    pub(super) prune: bool,
    pub(super) automated: bool,
    pub(super) self_heal: bool,
    /// Sync option `Replace=true`.
    pub(super) replace: bool,
    pub(super) retries: u32,
    pub(super) info: Option<(String, String)>,
}

/// `status.operationState.phase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperationPhase {
    Running,
    Terminating,
    Succeeded,
    Failed,
    Error,
}

/// `status.operationState.syncResult`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyncResult {
    pub(super) revision: String,
    /// Object, result status, message.
    pub(super) resources: Vec<(Object, &'static str, &'static str)>,
}

/// `status.operationState`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OperationState {
    pub(super) phase: OperationPhase,
    pub(super) message: String,
    pub(super) operation: Operation,
    pub(super) started: Millis,
    pub(super) finished: Option<Millis>,
    pub(super) retry_count: u32,
    pub(super) result: Option<SyncResult>,
}

/// `status.sync.status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::enum_variant_names, reason = "the words of the API")]
pub(super) enum Sync {
    Synced,
    OutOfSync,
    Unknown,
}

/// One entry of `status.resources`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResourceStatus {
    pub(super) object: Object,
    pub(super) synced: bool,
    pub(super) requires_pruning: bool,
    pub(super) health: Option<Health>,
}

/// One entry of `status.conditions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) kind: &'static str,
    pub(super) message: String,
    pub(super) since: Millis,
}

/// `status`.
#[derive(Clone, Debug)]
pub(super) struct Status {
    pub(super) sync: Sync,
    pub(super) revision: String,
    pub(super) compared_to: Option<Spec>,
    pub(super) health: Health,
    pub(super) health_since: Millis,
    pub(super) reconciled: Option<Millis>,
    pub(super) conditions: Vec<Condition>,
    pub(super) resources: Vec<ResourceStatus>,
    pub(super) operation: Option<OperationState>,
    pub(super) hydrator: HydratorStatus,
    /// Revision, start and end of each full, successful sync.
    pub(super) history: Vec<(String, Millis, Millis)>,
}

/// The object.
#[derive(Clone, Debug)]
pub(super) struct Application {
    pub(super) uid: String,
    pub(super) resource_version: u64,
    /// `normal` or `hard`, and since when it is asked for.
    pub(super) refresh: Option<(&'static str, Millis)>,
    pub(super) refresh_stamp: Option<u64>,
    /// A hydration is asked for, since when.
    pub(super) hydrate: Option<Millis>,
    /// `skip-reconcile`, and since when.
    pub(super) skip: Option<Millis>,
    pub(super) deleted: Option<Millis>,
    pub(super) spec: Spec,
    pub(super) operation: Option<Operation>,
    pub(super) status: Status,
}
