//! The objects of a cluster, as plain JSON: read over the Kubernetes API, or from a dump that `kubectl get -o json` wrote.
//!
//! [`ClusterReader`] is the port. Its verbs are `get`, `list` and `watch`; there is no code here that could send another
//! one. Must not know what objects mean (`rollout` does), nor settings. What it reads comes from a server that many write
//! to: sizes and times are bounded.

mod dump;
mod error;
mod kind;
#[cfg(feature = "cluster")]
mod live;
mod recording;

use std::ops::ControlFlow;

use serde_json::Value;

pub use dump::{Dump, DumpError};
pub use error::ClusterError;
pub use kind::KindName;
#[cfg(feature = "cluster")]
pub use live::LiveCluster;
pub use recording::{Recorded, Recording};

/// The name of one object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName {
    /// Its kind.
    pub kind: KindName,
    /// Its namespace; not looked at for kinds that have none.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// The objects of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// The objects, each with `apiVersion` and `kind`.
    pub items: Vec<Value>,
    /// The version of the list, from which on changes can be watched; empty in a dump.
    pub version: String,
    /// Whether the kind is known: not where the cluster has no such custom resource, or a dump no object of it.
    pub is_known: bool,
}

/// The log of one container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogName {
    /// The pod's namespace.
    pub namespace: String,
    /// The pod.
    pub pod: String,
    /// The container; `None` where the pod has one alone.
    pub container: Option<String>,
    /// The last so many lines.
    pub lines: i64,
    /// What was written since so many seconds ago.
    pub since_seconds: Option<i64>,
}

/// What a watch tells.
#[derive(Clone, Debug, PartialEq)]
pub enum WatchEvent {
    /// Everything there is: at the beginning, and again wherever what happened in between is not told any more (410).
    Listed(Vec<Value>),
    /// An object came.
    Added(Value),
    /// An object changed.
    Modified(Value),
    /// An object is gone; this was its last state.
    Deleted(Value),
    /// The stream is open: from now on what happens is told as it happens.
    Open,
    /// The server closed the stream, as it does from time to time; it goes on where it was.
    Closed,
    /// The stream broke, for this reason; it goes on where it was.
    Interrupted(String),
}

/// A cluster that can be read.
pub trait ClusterReader: Send + Sync {
    /// The namespace of objects that state none, where one is set.
    fn default_namespace(&self) -> Option<&str>;

    /// Where the objects come from, for a message.
    fn described(&self) -> String;

    /// Whether it is known to hold no object at all, as a dump may.
    fn is_empty(&self) -> bool {
        false
    }

    /// All objects of `kind`, in one namespace or in all. A kind that the cluster does not know has none.
    ///
    /// # Errors
    /// [`ClusterError`]; never for a kind that is not there.
    fn list(&self, kind: &KindName, namespace: Option<&str>) -> Result<Listing, ClusterError>;

    /// The object of that name, if there is one.
    ///
    /// # Errors
    /// [`ClusterError`]; never for a kind that is not there.
    fn find(&self, object: &ObjectName) -> Result<Option<Value>, ClusterError>;

    /// Tells every change of the objects of `kind` until `heard` says to stop. What breaks is resumed, and listed anew where
    /// that is not possible. A dump tells what it holds and ends.
    ///
    /// # Errors
    /// [`ClusterError`] where it cannot begin, or where the right to it is taken away.
    fn watch(
        &self,
        kind: &KindName,
        namespace: Option<&str>,
        heard: &mut dyn FnMut(WatchEvent) -> ControlFlow<()>,
    ) -> Result<(), ClusterError>;

    /// The end of a container's log.
    ///
    /// # Errors
    /// [`ClusterError`]; a dump has no logs.
    fn log(&self, log: &LogName) -> Result<String, ClusterError>;
}
