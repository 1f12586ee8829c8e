//! Argo CD: reading Applications, and waiting until a commit is applied and healthy.
//!
//! [`assess`] judges one read of an Application, pure and complete; [`Wait`] is the state machine around it, which
//! decides what to ask next and when to give up; [`drive`] connects it to the world through three ports: [`ArgoCd`],
//! [`Revisions`] (what git knows of a revision) and [`Clock`]. Must not know how overlays are rendered, nor what the
//! command line looks like. The rules are those of Argo CD's source as of 3.6; each module names the files.
//!
//! # With a virtual clock
//! Nothing here reads a clock or sleeps by itself. [`Clock::now`] is the time since any fixed moment, and
//! [`Clock::sleep`] may simply move it on (and the world with it), so that a story of thirty minutes takes as long as its
//! reads: a few hundred. Where [`ArgoCd::application`] gives the same `Arc` as long as nothing changed, not even the JSON
//! is read again. Or do without ports: call [`Wait::step`] with the time and an [`Input`], carry out the one [`Action`]
//! that is not an [`Action::Tell`], and give its answer to the next call; it starts with [`Input::Begin`].
//!
//! The final predicate is the list [`predicate`]; [`Wait::with_predicate`] takes any other, for tests that show what
//! each conjunct is there for.

mod application;
mod assess;
mod drive;
mod effect;
mod expectation;
mod facts;
#[cfg(feature = "cluster")]
mod kubernetes;
mod moment;
mod overrides;
mod port;
mod readiness;
mod rest;
mod seen;
mod source;
mod time;
mod wait;
#[cfg(feature = "cluster")]
mod windows;

pub use application::{
    Application, Automated, ComparedTo, Condition, Deployment, Destination, Health,
    HydrateOperation, HydratorStatus, IgnoreDifference, Info, Initiator, Metadata, Operation,
    OperationState, OwnerReference, ResourceResult, ResourceStatus, Source, SourceHydrator, Spec,
    Status, SyncOperation, SyncPolicy, SyncResult, SyncSource, SyncStatus,
};
pub use assess::{Conjunct, assess, assess_by, predicate};
pub use drive::{Drive, drive};
pub use expectation::{
    Containment, DriftRule, Expectation, ExpectedChange, ExpectedEffect, ExpectedField,
    HealthScope, Presence, RefreshRule, Rules, SyncRule,
};
pub use facts::{Effect, Facts, Held};
#[cfg(feature = "cluster")]
pub use kubernetes::{ClusterName, DEFAULT_NAMESPACE, Kubernetes};
pub use moment::Moment;
pub use overrides::{Override, overrides_of};
pub use port::{
    ApplicationRef, ArgoCd, Clock, HydratedQuery, ManagedResource, ObjectRef, RefreshRequest,
    Relation, Revisions, SyncRequest, SyncWindow, SyncWindows, TreeNode, Trouble,
};
pub use readiness::{Kind, Patience, Readiness, Reason, Want};
pub use rest::{Rest, ServerName};
pub use seen::SeenOperations;
pub use source::clean_path;
pub use time::Timestamp;
pub use wait::{Action, Input, Outcome, Proof, Transition, Wait};
