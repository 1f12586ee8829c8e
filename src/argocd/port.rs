//! The ports: what waiting needs of Argo CD, of git and of time.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::application::Application;

/// Which Application.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApplicationRef {
    /// Its name.
    pub name: String,
    /// Its namespace, where it is not the one that Argo CD lives in.
    pub namespace: Option<String>,
    /// Its project, where it is known; with it a server tells "not there" from "not allowed".
    pub project: Option<String>,
}

impl ApplicationRef {
    /// The Application that `text` names: `NAME` or `NAMESPACE/NAME`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let (namespace, name) = match text.split_once('/') {
            Some((namespace, name)) => (Some(namespace.to_owned()), name),
            None => (None, text),
        };
        Self { name: name.to_owned(), namespace, project: None }
    }
}

impl fmt::Display for ApplicationRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// An object that an Application manages.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// The API group; empty is the core.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace; empty where the render names none.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ObjectRef {
    /// Whether both are the same object; a namespace that one of them does not name is that of the other, since Argo CD
    /// fills in the destination's.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        let same_namespace = self.namespace == other.namespace
            || self.namespace.is_empty()
            || other.namespace.is_empty();
        same_namespace
            && self.group == other.group
            && self.kind == other.kind
            && self.name == other.name
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.name)
    }
}

/// What is asked of a refresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefreshRequest {
    /// Render anew, also where a render of this revision is in the cache.
    pub is_hard: bool,
    /// Hydrate too; asked of hydrated Applications.
    pub with_hydration: bool,
}

/// What is asked of a sync.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncRequest {
    /// A text that tells this operation from others, put into its `info`.
    pub token: String,
    /// Whether what git no longer has is deleted, as the Application's own policy says.
    pub prune: bool,
}

/// One managed object as the controller last compared it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ManagedResource {
    /// Which.
    pub object: ObjectRef,
    /// What was rendered; `None` where git does not have it. Secrets are masked.
    pub target: Option<Value>,
    /// What is in the cluster; `None` where it is not there.
    pub live: Option<Value>,
    /// The same without what the comparison ignores.
    pub normalized_live: Option<Value>,
    /// What would be in the cluster after the target was applied.
    pub predicted_live: Option<Value>,
    /// Whether only what is live was read, and stands in the place of what was rendered.
    pub is_only_live: bool,
}

/// One object of the resource tree, with its health.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeNode {
    /// Which.
    pub object: ObjectRef,
    /// Its health; empty where its kind has none.
    pub health: String,
    /// Why.
    pub message: String,
}

/// A sync window that applies to an Application.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncWindow {
    /// `allow` or `deny`.
    pub kind: String,
    /// When it opens, in cron's notation.
    pub schedule: String,
    /// How long it stays open.
    pub duration: String,
}

/// The sync windows of an Application.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncWindows {
    /// All.
    pub assigned: Vec<SyncWindow>,
    /// Those that are open now.
    pub active: Vec<SyncWindow>,
}

/// Why Argo CD did not answer as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// There is no such Application, or it may not be seen.
    #[error("{message}")]
    NotFound {
        /// What the server says.
        message: String,
    },
    /// The credentials are missing, wrong or run out.
    #[error("{message}")]
    Unauthenticated {
        /// What the server says.
        message: String,
    },
    /// The account may not do this.
    #[error("{message}")]
    Denied {
        /// What the server says.
        message: String,
    },
    /// This way to Argo CD has no such answer.
    #[error("{what} is not served")]
    NotServed {
        /// What was asked.
        what: String,
    },
    /// Another operation is in progress, or somebody else wrote at the same time.
    #[error("{message}")]
    Conflict {
        /// What the server says.
        message: String,
    },
    /// No answer, or one that says to come again.
    #[error("{message}")]
    Unreachable {
        /// What went wrong.
        message: String,
    },
    /// An answer that cannot be read.
    #[error("{message}")]
    Invalid {
        /// What is wrong with it.
        message: String,
    },
}

/// One installation of Argo CD. Calls block, each for a bounded time.
pub trait ArgoCd: Send + Sync {
    /// The Application as it is now, never an older state than one that was given before.
    ///
    /// # Errors
    /// [`Trouble::NotFound`] where there is none.
    fn application(&self, app: &ApplicationRef) -> Result<Arc<Application>, Trouble>;

    /// Every Application that may be seen.
    ///
    /// # Errors
    /// Where they cannot be listed.
    fn applications(&self) -> Result<Vec<Arc<Application>>, Trouble>;

    /// Asks for a comparison; it is asked for when this returns, not done.
    ///
    /// # Errors
    /// Where it cannot be asked for.
    fn refresh(&self, app: &ApplicationRef, request: RefreshRequest) -> Result<(), Trouble>;

    /// Asks for a sync.
    ///
    /// # Errors
    /// [`Trouble::Conflict`] where another operation is in progress.
    fn sync(&self, app: &ApplicationRef, request: &SyncRequest) -> Result<(), Trouble>;

    /// These managed objects, as of the last comparison; others may be among them, and those that are not there are not.
    ///
    /// # Errors
    /// [`Trouble::NotServed`], and [`Trouble::Denied`] without the right to see them.
    fn managed_resources(
        &self,
        app: &ApplicationRef,
        objects: &[ObjectRef],
    ) -> Result<Vec<ManagedResource>, Trouble>;

    /// The objects and what they made, with their health.
    ///
    /// # Errors
    /// As for [`ArgoCd::managed_resources`].
    fn resource_tree(&self, app: &ApplicationRef) -> Result<Vec<TreeNode>, Trouble>;

    /// The sync windows that apply.
    ///
    /// # Errors
    /// As for [`ArgoCd::managed_resources`].
    fn sync_windows(&self, app: &ApplicationRef) -> Result<SyncWindows, Trouble>;

    /// Whether the ApplicationSet of this name syncs its Applications step by step (`RollingSync`).
    ///
    /// # Errors
    /// As for [`ArgoCd::managed_resources`].
    fn has_rolling_sync(&self, app: &ApplicationRef, set: &str) -> Result<bool, Trouble>;

    /// Calls `changed` each time that the Application may be another one, until the stream ends, is silent for long, or
    /// `changed` says that it is enough. What it misses, the loop's own reads find.
    ///
    /// # Errors
    /// [`Trouble::NotServed`] where there is no such stream.
    fn watch(
        &self,
        app: &ApplicationRef,
        changed: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<(), Trouble> {
        let _ = changed;
        Err(Trouble::NotServed { what: format!("a stream of changes of {app}") })
    }
}

/// How a revision stands to the commit that is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It is that commit.
    Equal,
    /// It contains the commit and still holds what it changed.
    Descendant,
    /// It contains the commit and no longer holds what it changed.
    Superseded {
        /// The commit that changed it again, as far as it is known; else the revision.
        by: String,
    },
    /// It does not contain the commit.
    Unrelated,
    /// It could not be had, so nothing is known.
    Unknown {
        /// Why.
        message: String,
    },
}

impl Relation {
    /// Whether the revision contains the commit; `None` where that is not known.
    #[must_use]
    pub fn contains(&self) -> Option<bool> {
        match self {
            Self::Equal | Self::Descendant | Self::Superseded { .. } => Some(true),
            Self::Unrelated => Some(false),
            Self::Unknown { .. } => None,
        }
    }
}

/// A revision that the hydrator made, on a branch that may be of another repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HydratedQuery {
    /// The repository of the branch.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// The directory, where `hydrator.metadata` names the commit that was rendered.
    pub path: String,
    /// The revision asked about.
    pub revision: String,
    /// The revision that is known to come from the commit, or a later one.
    pub hydrated: String,
}

/// What git knows of revisions, for one commit that is waited for. Calls block, each for a bounded time.
pub trait Revisions: Send + Sync {
    /// How `revision` (40 hexadecimal digits, of the repository of the commit) stands to the commit; it is fetched where
    /// it is not at hand, and an annotated tag is peeled.
    fn relate(&self, revision: &str) -> Relation;

    /// Whether the remote still has the commit on one of its branches; `None` where it cannot be asked.
    fn is_delivered(&self) -> Option<bool>;

    /// How a hydrated revision stands to the commit: it is [`Relation::Descendant`] where it is `query.hydrated` or
    /// stands on it, or where the metadata in it names a commit that contains the commit.
    fn relate_hydrated(&self, query: &HydratedQuery) -> Relation;
}

/// Time, as the loop sees it.
pub trait Clock: Send + Sync {
    /// The time since a fixed moment.
    fn now(&self) -> Duration;

    /// Returns after `time`, or earlier where something is known to have changed.
    fn sleep(&self, time: Duration);
}

/// Whether an ApplicationSet syncs its Applications step by step (`spec.strategy`).
pub(super) fn is_rolling_sync(set: &Value) -> bool {
    set["spec"]["strategy"]["type"] == "RollingSync"
}
