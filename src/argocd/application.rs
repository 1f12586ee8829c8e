//! The Application as Argo CD writes it, as far as judging it needs.
//!
//! Read leniently: an unknown field is passed over, and `null` is the same as absent, since versions of Argo CD differ
//! in what they leave out. Source of the names: argo-cd `pkg/apis/application/v1alpha1/types.go`, and
//! `assets/swagger.json` for their JSON form.

mod operation;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::time::Timestamp;
pub use operation::{
    Deployment, Info, Initiator, Operation, OperationState, ResourceResult, SyncOperation,
    SyncResult,
};

/// One Application.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Application {
    /// Who it is.
    #[serde(deserialize_with = "or_default")]
    pub metadata: Metadata,
    /// What is wanted.
    #[serde(deserialize_with = "or_default")]
    pub spec: Spec,
    /// What the controller last wrote.
    #[serde(deserialize_with = "or_default")]
    pub status: Status,
    /// An operation that was requested or runs; the controller clears it when it ends.
    pub operation: Option<Operation>,
}

/// `metadata`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// The name.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// The namespace.
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
    /// Another one after each creation; empty where it was left out.
    #[serde(deserialize_with = "or_default")]
    pub uid: String,
    /// Another one after each write.
    #[serde(deserialize_with = "or_default")]
    pub resource_version: String,
    /// Set while it is being deleted.
    pub deletion_timestamp: Option<Timestamp>,
    /// Annotations; the values are texts.
    #[serde(deserialize_with = "or_default")]
    pub annotations: Map<String, Value>,
    /// Who made it.
    #[serde(deserialize_with = "or_default")]
    pub owner_references: Vec<OwnerReference>,
}

/// One of `metadata.ownerReferences`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    /// The kind, such as `ApplicationSet`.
    #[serde(deserialize_with = "or_default")]
    pub kind: String,
    /// The name.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
}

/// `spec`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spec {
    /// The project.
    #[serde(deserialize_with = "or_default")]
    pub project: String,
    /// The one source, where there is one.
    pub source: Option<Source>,
    /// The sources, where there are several; they win over `source`.
    #[serde(deserialize_with = "or_default")]
    pub sources: Vec<Source>,
    /// The hydrator; its sources win over both.
    pub source_hydrator: Option<SourceHydrator>,
    /// Where to.
    #[serde(deserialize_with = "or_default")]
    pub destination: Destination,
    /// When and how it syncs.
    #[serde(deserialize_with = "or_default")]
    pub sync_policy: SyncPolicy,
    /// What is left out of the comparison.
    #[serde(deserialize_with = "or_default")]
    pub ignore_differences: Vec<IgnoreDifference>,
}

/// One source.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Source {
    /// The repository.
    #[serde(rename = "repoURL", deserialize_with = "or_default")]
    pub repo_url: String,
    /// The directory in it.
    #[serde(deserialize_with = "or_default")]
    pub path: String,
    /// A branch, tag, commit or range of versions; empty is `HEAD`.
    #[serde(deserialize_with = "or_default")]
    pub target_revision: String,
    /// The chart of a Helm repository, in place of a path.
    #[serde(deserialize_with = "or_default")]
    pub chart: String,
    /// The name by which other sources take files from it; such a source may render nothing.
    #[serde(rename = "ref", deserialize_with = "or_default")]
    pub reference: String,
    /// All else: `kustomize`, `helm`, `directory`, `plugin`.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.sourceHydrator`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SourceHydrator {
    /// What is rendered.
    #[serde(deserialize_with = "or_default")]
    pub dry_source: Source,
    /// What is synced: a branch that holds what was rendered.
    #[serde(deserialize_with = "or_default")]
    pub sync_source: SyncSource,
}

/// `spec.sourceHydrator.syncSource`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SyncSource {
    /// The repository; empty where it is that of the dry source.
    #[serde(rename = "repoURL", deserialize_with = "or_default")]
    pub repo_url: String,
    /// The branch.
    #[serde(deserialize_with = "or_default")]
    pub target_branch: String,
    /// The directory.
    #[serde(deserialize_with = "or_default")]
    pub path: String,
}

/// `spec.destination`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Destination {
    /// The address of the cluster.
    #[serde(deserialize_with = "or_default")]
    pub server: String,
    /// Its name, in place of the address.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// The namespace of objects that have none.
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
}

/// `spec.syncPolicy`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SyncPolicy {
    /// Syncing by itself, where it does.
    pub automated: Option<Automated>,
}

/// `spec.syncPolicy.automated`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Automated {
    /// Since Argo CD 3.1; absent is on.
    pub enabled: Option<bool>,
    /// Whether what git no longer has is deleted.
    #[serde(deserialize_with = "or_default")]
    pub prune: bool,
    /// Whether drift is undone.
    #[serde(deserialize_with = "or_default")]
    pub self_heal: bool,
}

/// One of `spec.ignoreDifferences`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct IgnoreDifference {
    /// The group, `*` for all.
    #[serde(deserialize_with = "or_default")]
    pub group: String,
    /// The kind, `*` for all.
    #[serde(deserialize_with = "or_default")]
    pub kind: String,
    /// The name; empty for all.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// The fields as JSON pointers.
    #[serde(deserialize_with = "or_default")]
    pub json_pointers: Vec<String>,
    /// The fields as jq paths.
    #[serde(rename = "jqPathExpressions", deserialize_with = "or_default")]
    pub jq_paths: Vec<String>,
    /// The managers whose fields are meant.
    #[serde(rename = "managedFieldsManagers", deserialize_with = "or_default")]
    pub managers: Vec<String>,
}

/// `status`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// The last comparison.
    #[serde(deserialize_with = "or_default")]
    pub sync: SyncStatus,
    /// The worst health of what is managed.
    #[serde(deserialize_with = "or_default")]
    pub health: Health,
    /// When the last full comparison began, by the controller's clock.
    pub reconciled_at: Option<Timestamp>,
    /// What is managed.
    #[serde(deserialize_with = "or_default")]
    pub resources: Vec<ResourceStatus>,
    /// Errors and warnings.
    #[serde(deserialize_with = "or_default")]
    pub conditions: Vec<Condition>,
    /// The operation that runs or was the last.
    pub operation_state: Option<OperationState>,
    /// The syncs of all objects that succeeded, the last ones only.
    #[serde(deserialize_with = "or_default")]
    pub history: Vec<Deployment>,
    /// The hydrator's.
    #[serde(deserialize_with = "or_default")]
    pub source_hydrator: HydratorStatus,
}

/// `status.sync`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SyncStatus {
    /// `Synced`, `OutOfSync` or `Unknown`.
    #[serde(deserialize_with = "or_default")]
    pub status: String,
    /// The revision compared, of a single source; no SHA where rendering failed.
    #[serde(deserialize_with = "or_default")]
    pub revision: String,
    /// The revisions compared, of several sources, in their order.
    #[serde(deserialize_with = "or_default")]
    pub revisions: Vec<String>,
    /// The spec that was compared; absent in what some versions write.
    pub compared_to: Option<ComparedTo>,
}

/// `status.sync.comparedTo`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ComparedTo {
    /// The one source.
    pub source: Option<Source>,
    /// The sources.
    #[serde(deserialize_with = "or_default")]
    pub sources: Vec<Source>,
    /// Where to.
    #[serde(deserialize_with = "or_default")]
    pub destination: Destination,
}

/// A health, of the whole or of one resource.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Health {
    /// `Healthy`, `Progressing`, `Suspended`, `Missing`, `Degraded` or `Unknown`.
    #[serde(deserialize_with = "or_default")]
    pub status: String,
    /// Why.
    #[serde(deserialize_with = "or_default")]
    pub message: String,
}

/// One of `status.resources`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceStatus {
    /// The API group; empty is the core.
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
    /// `Synced`, `OutOfSync`, or empty for a hook.
    #[serde(deserialize_with = "or_default")]
    pub status: String,
    /// Its health, where the controller stores it (not by default since 3.0).
    pub health: Option<Health>,
    /// Whether git no longer has it.
    #[serde(deserialize_with = "or_default")]
    pub requires_pruning: bool,
    /// Whether it is a hook.
    #[serde(deserialize_with = "or_default")]
    pub hook: bool,
}

/// One of `status.conditions`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    /// The type; errors end in `Error`, warnings in `Warning`.
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub kind: String,
    /// What it says.
    #[serde(deserialize_with = "or_default")]
    pub message: String,
}

/// `status.sourceHydrator`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HydratorStatus {
    /// The hydration that runs or was the last.
    pub current_operation: Option<HydrateOperation>,
    /// The last that went well.
    pub last_successful_operation: Option<HydrateOperation>,
    /// The dry commit last looked at, also where nothing had to be done (since 3.5).
    #[serde(deserialize_with = "or_default")]
    pub last_compared_dry_revision: String,
}

/// One hydration.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HydrateOperation {
    /// `Hydrating`, `Failed` or `Hydrated`; empty in the last successful one.
    #[serde(deserialize_with = "or_default")]
    pub phase: String,
    /// What it says.
    #[serde(deserialize_with = "or_default")]
    pub message: String,
    /// The commit rendered.
    #[serde(rename = "drySHA", deserialize_with = "or_default")]
    pub dry_sha: String,
    /// The commit that holds the result.
    #[serde(rename = "hydratedSHA", deserialize_with = "or_default")]
    pub hydrated_sha: String,
}

/// `null` as what is absent.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Application {
    /// Reads the JSON of one Application.
    ///
    /// # Errors
    /// What is wrong with it, with line and column.
    pub fn parse(json: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(json)
    }

    /// The value of an annotation.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.metadata.annotations.get(key)?.as_str()
    }

    /// Whether the controller syncs it by itself.
    #[must_use]
    pub fn is_automated(&self) -> bool {
        let automated = self.spec.sync_policy.automated.as_ref();
        automated.is_some_and(|automated| automated.enabled != Some(false))
    }

    /// The sources that are compared with the cluster, as `status.sync` counts them: of a hydrated Application none,
    /// since it compares another branch.
    #[must_use]
    pub fn sources(&self) -> Vec<&Source> {
        match (&self.spec.source, self.spec.sources.is_empty()) {
            _ if self.spec.source_hydrator.is_some() => Vec::new(),
            (_, false) => self.spec.sources.iter().collect(),
            (Some(source), true) => vec![source],
            (None, true) => Vec::new(),
        }
    }

    /// Whether it has several sources, so that revisions are in lists.
    #[must_use]
    pub fn has_several_sources(&self) -> bool {
        !self.spec.sources.is_empty() && self.spec.source_hydrator.is_none()
    }
}
