//! What the API server answers, in its own form.

use serde::Deserialize;
use serde_json::Value;

use crate::argocd::application::Health;
use crate::argocd::port::{ManagedResource, ObjectRef, SyncWindow, SyncWindows, TreeNode, Trouble};
use crate::http::Response;

/// The most characters of what a server says that go into a message.
const MOST_WORDS: usize = 400;

/// The code of gRPC for an operation that cannot be begun now.
const FAILED_PRECONDITION: i64 = 9;

/// A list.
#[derive(Debug, Deserialize)]
pub(super) struct Items<T> {
    /// Its items; absent or `null` where there are none.
    pub(super) items: Option<Vec<T>>,
}

/// What went wrong (gRPC-gateway's `runtime.Error`).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawError {
    code: i64,
    message: String,
}

/// Why a status is none of success.
pub(super) fn trouble(response: &Response) -> Trouble {
    let error: RawError = response.json().unwrap_or_default();
    let message = match error.message.is_empty() {
        true => format!(
            "{} answers {}: {}",
            response.address,
            response.status,
            response.excerpt(MOST_WORDS)
        ),
        false => format!(
            "{} answers {}: {}",
            response.address,
            response.status,
            error.message.chars().take(MOST_WORDS).collect::<String>()
        ),
    };
    let is_busy = error.code == FAILED_PRECONDITION;
    match response.status {
        401 => Trouble::Unauthenticated { message },
        403 => Trouble::Denied { message },
        404 => Trouble::NotFound { message },
        405 | 501 => Trouble::NotServed { what: response.address.path().to_owned() },
        409 | 412 => Trouble::Conflict { message },
        400 if is_busy => Trouble::Conflict { message },
        408 | 425 | 429 | 500..=599 => Trouble::Unreachable { message },
        _ => Trouble::Invalid { message },
    }
}

/// One managed object; the states are JSON in texts.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RawManaged {
    group: Option<String>,
    kind: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    target_state: Option<String>,
    live_state: Option<String>,
    normalized_live_state: Option<String>,
    predicted_live_state: Option<String>,
}

impl RawManaged {
    /// With the states read.
    ///
    /// # Errors
    /// Where one of them is no JSON.
    pub(super) fn parse(self) -> Result<ManagedResource, Trouble> {
        let object = ObjectRef {
            group: self.group.unwrap_or_default(),
            kind: self.kind.unwrap_or_default(),
            namespace: self.namespace.unwrap_or_default(),
            name: self.name.unwrap_or_default(),
        };
        let state = |text: Option<String>| match text.as_deref() {
            None | Some("" | "null") => Ok(None),
            Some(text) => serde_json::from_str::<Value>(text).map(Some).map_err(|error| {
                Trouble::Invalid { message: format!("the state of {object} is no JSON: {error}") }
            }),
        };
        Ok(ManagedResource {
            target: state(self.target_state)?,
            live: state(self.live_state)?,
            normalized_live: state(self.normalized_live_state)?,
            predicted_live: state(self.predicted_live_state)?,
            is_only_live: false,
            object,
        })
    }
}

/// The resource tree.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RawTree {
    nodes: Option<Vec<RawNode>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawNode {
    group: Option<String>,
    kind: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    health: Option<Health>,
}

impl RawTree {
    /// Its nodes.
    pub(super) fn nodes(self) -> Vec<TreeNode> {
        let node = |raw: RawNode| {
            let health = raw.health.unwrap_or_default();
            TreeNode {
                object: ObjectRef {
                    group: raw.group.unwrap_or_default(),
                    kind: raw.kind.unwrap_or_default(),
                    namespace: raw.namespace.unwrap_or_default(),
                    name: raw.name.unwrap_or_default(),
                },
                health: health.status,
                message: health.message,
            }
        };
        self.nodes.unwrap_or_default().into_iter().map(node).collect()
    }
}

/// The sync windows.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RawWindows {
    active_windows: Option<Vec<RawWindow>>,
    assigned_windows: Option<Vec<RawWindow>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawWindow {
    kind: Option<String>,
    schedule: Option<String>,
    duration: Option<String>,
}

impl RawWindows {
    /// As the loop knows them.
    pub(super) fn parse(self) -> SyncWindows {
        let window = |raw: RawWindow| SyncWindow {
            kind: raw.kind.unwrap_or_default(),
            schedule: raw.schedule.unwrap_or_default(),
            duration: raw.duration.unwrap_or_default(),
        };
        let all =
            |raw: Option<Vec<RawWindow>>| raw.unwrap_or_default().into_iter().map(window).collect();
        SyncWindows { assigned: all(self.assigned_windows), active: all(self.active_windows) }
    }
}
