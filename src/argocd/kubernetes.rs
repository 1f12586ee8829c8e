//! Argo CD through the Kubernetes API: the Applications themselves, where there is no API server of Argo CD or no account
//! for it. Reading needs `get` and `list`, refreshes and syncs need `patch`.
//!
//! Source: argo-cd `util/argo/argo.go` (`RefreshApp`, `SetAppOperation`), `common/common.go` (the annotations).

mod live;

use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::TryStreamExt as _;
use kube::api::{GetParams, ListParams, Patch, PatchParams, WatchEvent, WatchParams};
use kube::core::Request;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::application::Application;
use super::port::{
    ApplicationRef, ArgoCd, ManagedResource, ObjectRef, RefreshRequest, SyncRequest, SyncWindows,
    TreeNode, Trouble, is_rolling_sync,
};
use super::windows::Project;
use crate::clock::Allowance;
use crate::kubernetes::{Connection, ConnectionName, Failure, FailureKind};

/// The namespace that Argo CD lives in where nobody says otherwise.
pub const DEFAULT_NAMESPACE: &str = "argocd";

/// How the cluster is found.
#[derive(Clone, Debug, Default)]
pub struct ClusterName {
    /// The configuration files and the context in them.
    pub connection: ConnectionName,
    /// The namespace that Argo CD lives in.
    pub namespace: String,
}

/// The Kubernetes API, and the namespace that Argo CD lives in.
pub struct Kubernetes {
    connection: Connection,
    namespace: String,
    /// Counts refreshes, so that each has a text of its own.
    refreshes: AtomicU64,
}

impl Kubernetes {
    /// Reads the configuration; nothing is asked yet.
    ///
    /// # Errors
    /// Where there is none, or it cannot be used.
    pub fn connect(name: &ClusterName) -> Result<Self, Trouble> {
        let connection = Connection::connect(&name.connection)?;
        let namespace = name.namespace.clone();
        Ok(Self { connection, namespace, refreshes: AtomicU64::new(0) })
    }

    /// The same, where no answer is waited for beyond that time.
    #[must_use]
    pub fn until(self, allowance: Option<Allowance>) -> Self {
        Self { connection: self.connection.until(allowance), ..self }
    }

    /// What `answer` comes to, within bounds.
    fn bounded<T>(&self, answer: impl Future<Output = kube::Result<T>>) -> Result<T, Trouble> {
        Ok(self.connection.bounded(answer)?)
    }

    /// The object of that name, read as `T`.
    fn find<T: DeserializeOwned>(&self, kind: &Request, name: &str) -> Result<T, Trouble> {
        self.bounded(async {
            let asked = kind.get(name, &GetParams::default());
            self.connection.client().request(asked.map_err(kube::Error::BuildRequest)?).await
        })
    }

    fn applications_in(&self, namespace: &str) -> Request {
        resources("applications", namespace)
    }

    fn namespace_of<'a>(&'a self, app: &'a ApplicationRef) -> &'a str {
        app.namespace.as_deref().unwrap_or(&self.namespace)
    }

    fn read<T: DeserializeOwned>(&self, app: &ApplicationRef) -> Result<T, Trouble> {
        self.find(&self.applications_in(self.namespace_of(app)), &app.name)
    }

    fn patch(&self, app: &ApplicationRef, patch: Value) -> Result<(), Trouble> {
        let applications = self.applications_in(self.namespace_of(app));
        self.bounded(async {
            let asked =
                applications.patch(&app.name, &PatchParams::default(), &Patch::Merge(patch));
            self.connection
                .client()
                .request::<Value>(asked.map_err(kube::Error::BuildRequest)?)
                .await
        })
        .map(drop)
    }
}

fn resources(plural: &str, namespace: &str) -> Request {
    Request::new(format!("/apis/argoproj.io/v1alpha1/namespaces/{namespace}/{plural}"))
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        let message = failure.message;
        match failure.kind {
            FailureKind::Unauthenticated => Self::Unauthenticated { message },
            FailureKind::Denied => Self::Denied { message },
            FailureKind::NotFound => Self::NotFound { message },
            FailureKind::Conflict => Self::Conflict { message },
            FailureKind::Unreachable => Self::Unreachable { message },
            FailureKind::Expired | FailureKind::Invalid => Self::Invalid { message },
        }
    }
}

/// A list of Applications.
#[derive(Debug, Deserialize)]
struct Applications {
    items: Vec<Application>,
}

impl ArgoCd for Kubernetes {
    fn application(&self, app: &ApplicationRef) -> Result<Arc<Application>, Trouble> {
        self.read::<Application>(app).map(Arc::new)
    }

    fn applications(&self) -> Result<Vec<Arc<Application>>, Trouble> {
        let all: Applications = self.bounded(async {
            let asked = self.applications_in(&self.namespace).list(&ListParams::default());
            self.connection.client().request(asked.map_err(kube::Error::BuildRequest)?).await
        })?;
        Ok(all.items.into_iter().map(Arc::new).collect())
    }

    fn refresh(&self, app: &ApplicationRef, request: RefreshRequest) -> Result<(), Trouble> {
        let kind = if request.is_hard { "hard" } else { "normal" };
        // Since 3.6 the controller leaves a request that came later; a text that differs each time tells them apart.
        let count = self.refreshes.fetch_add(1, Ordering::Relaxed);
        let unique = format!("{}-{}-{count}", crate::clock::now_rfc_3339(), std::process::id());
        let mut annotations = json!({
            "argocd.argoproj.io/refresh": kind,
            "argocd.argoproj.io/refresh-timestamp": unique,
        });
        if request.with_hydration {
            annotations["argocd.argoproj.io/hydrate"] = json!(kind);
        }
        self.patch(app, json!({ "metadata": { "annotations": annotations } }))
    }

    fn sync(&self, app: &ApplicationRef, request: &SyncRequest) -> Result<(), Trouble> {
        let found: Value = self.read(app)?;
        if !found["operation"].is_null() {
            let message = "another operation is already in progress".to_owned();
            return Err(Trouble::Conflict { message });
        }
        // As the API server does: what the Application says of its syncs goes into the request, and the last
        // operation's state goes away. The version makes the write fail where somebody was faster.
        let policy = &found["spec"]["syncPolicy"];
        let patch = json!({
            "metadata": { "resourceVersion": found["metadata"]["resourceVersion"] },
            "operation": {
                "initiatedBy": { "username": "overlay" },
                "info": [{ "name": "overlay", "value": request.token }],
                "retry": policy["retry"],
                "sync": {
                    "prune": request.prune,
                    "syncOptions": policy["syncOptions"],
                    "syncStrategy": { "hook": {} },
                },
            },
            "status": { "operationState": null },
        });
        self.patch(app, patch)
    }

    fn managed_resources(
        &self,
        app: &ApplicationRef,
        objects: &[ObjectRef],
    ) -> Result<Vec<ManagedResource>, Trouble> {
        let found: Application = self.read(app)?;
        self.live_objects(&found.spec.destination, objects)
    }

    fn resource_tree(&self, _: &ApplicationRef) -> Result<Vec<TreeNode>, Trouble> {
        Err(Trouble::NotServed { what: "the resource tree".to_owned() })
    }

    fn sync_windows(&self, app: &ApplicationRef) -> Result<SyncWindows, Trouble> {
        let found: Application = self.read(app)?;
        // Projects live beside Argo CD, wherever the Application does.
        let projects = resources("appprojects", &self.namespace);
        let project: Project = self.find(&projects, &found.spec.project)?;
        project.windows_of(&found, crate::clock::now_unix())
    }

    fn has_rolling_sync(&self, app: &ApplicationRef, set: &str) -> Result<bool, Trouble> {
        let sets = resources("applicationsets", self.namespace_of(app));
        let set: Value = self.find(&sets, set)?;
        Ok(is_rolling_sync(&set))
    }

    fn watch(
        &self,
        app: &ApplicationRef,
        changed: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<(), Trouble> {
        let one = WatchParams::default().fields(&format!("metadata.name={}", app.name));
        // From any version on: what an expired one (410) would lose is found by the loop's own reads.
        let asked = self.applications_in(self.namespace_of(app)).watch(&one, "0");
        let watched = async {
            let asked = asked.map_err(kube::Error::BuildRequest)?;
            let mut events = pin!(self.connection.client().request_events::<Value>(asked).await?);
            while let Some(event) = events.try_next().await? {
                if matches!(event, WatchEvent::Error(_)) || changed().is_break() {
                    break;
                }
            }
            Ok(())
        };
        Ok(self.connection.unbounded(watched)?)
    }
}
