//! What was learnt beside the Application itself: of its past, of revisions, of what is rendered and live.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::port::{
    HydratedQuery, ManagedResource, ObjectRef, Relation, SyncWindows, TreeNode, Trouble,
};
use super::seen::SeenOperations;
use super::time::Timestamp;

/// What was learnt.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The Application's `uid` at the first read.
    pub uid: Option<String>,
    /// What was not healthy at the first read that did not yet contain the commit; `None` where there was none such, or
    /// where the whole was healthy but for what is not known.
    pub degraded_before: Option<BTreeSet<ObjectRef>>,
    /// The operations that were shown so far.
    pub operations: SeenOperations,
    /// How revisions stand to the commit. [`Relation::Unknown`] is asked for again.
    pub relations: BTreeMap<String, Relation>,
    /// How hydrated revisions stand to the commit.
    pub hydrated: BTreeMap<HydratedQuery, Relation>,
    /// Whether the remote still has the commit, where that was asked.
    pub is_delivered: Option<bool>,
    /// Whether the ApplicationSet syncs step by step.
    pub has_rolling_sync: Option<bool>,
    /// The sync windows.
    pub windows: Option<Result<SyncWindows, Trouble>>,
    /// The health of the objects, read after the Application.
    pub tree: Option<Result<Vec<TreeNode>, Trouble>>,
    /// What is rendered and live, read after the Application.
    pub managed: Option<Result<Vec<ManagedResource>, Trouble>>,
    /// Since when all but the dwell has held without a break.
    pub held: Option<Held>,
    /// Whether a refresh that renders anew was asked for because of the effect.
    pub has_rendered_anew: bool,
    /// How long a refresh that was asked for has been pending while nothing was compared.
    pub silence: Duration,
}

/// Since when all but the dwell has held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The comparison that first showed it.
    pub compared_at: Timestamp,
}

/// What is known of the effect in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Rendered and live hold the change.
    Verified,
    /// It could not be read, or was not known.
    Unknown {
        /// Why.
        message: String,
    },
}
