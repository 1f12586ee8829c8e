//! The verdict on one read of an Application, and the reasons that it can have.

use std::time::Duration;

use super::port::{HydratedQuery, ObjectRef};

/// The verdict.
#[derive(Clone, Debug, PartialEq)]
pub enum Readiness {
    /// The commit is applied and healthy.
    Ready,
    /// Not yet, and it goes on by itself.
    Progressing(Reason),
    /// Not yet, and something stands in its way.
    Blocked(Reason),
    /// It will not be, or is not what was asked for.
    Failed(Reason),
}

impl Readiness {
    /// Why it is not ready.
    #[must_use]
    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Self::Ready => None,
            Self::Progressing(reason) | Self::Blocked(reason) | Self::Failed(reason) => {
                Some(reason)
            }
        }
    }
}

/// Why an Application is not ready.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The kind.
    pub kind: Kind,
    /// One phrase with what is seen and what Argo CD says.
    pub message: String,
    /// The object that it is about, where it is one.
    pub object: Option<Box<ObjectRef>>,
    /// What would bring it further.
    pub want: Want,
}

impl Reason {
    /// A reason that only time changes.
    #[must_use]
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), object: None, want: Want::Time }
    }

    /// The same about `object`.
    #[must_use]
    pub fn about(self, object: ObjectRef) -> Self {
        Self { object: Some(Box::new(object)), ..self }
    }

    /// The same, which `want` would bring further.
    #[must_use]
    pub fn wanting(self, want: Want) -> Self {
        Self { want, ..self }
    }
}

/// What would bring an Application further, or the judgement of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Want {
    /// Time alone.
    Time,
    /// A comparison by the controller.
    Comparison,
    /// A comparison that begins so much later than the last one.
    LaterComparison(Duration),
    /// A comparison that renders anew.
    FreshRender,
    /// To know how these revisions stand to the commit.
    Relations(Vec<String>),
    /// To know how a hydrated revision stands to the commit.
    Hydrated(Box<HydratedQuery>),
    /// A comparison, and to know whether the remote still has the commit.
    Delivery,
    /// To know what is rendered and live.
    ManagedResources,
    /// To know which objects are not healthy.
    Tree,
    /// To know the sync windows.
    Windows,
    /// To know whether this ApplicationSet syncs step by step.
    RollingSync(String),
    /// A sync.
    Sync,
}

/// How long a state may last before it ends the wait: `time`, and at least `comparisons` different ones; or
/// `comparisons_alone` different ones, however fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// The time.
    pub time: Duration,
    /// Comparisons that show the same, by different `reconciledAt`.
    pub comparisons: usize,
    /// So many comparisons are enough, whatever the time.
    pub comparisons_alone: usize,
}

/// The kinds of reasons: each row of the outcome table, each with an `error.code` of its own (see `error`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Argo CD does not answer.
    Unreachable,
    /// The account may not see the Application, or the credentials are not taken.
    Denied,
    /// There is no such Application.
    NoSuchApplication,
    /// It is being deleted, was deleted, or is another one of the same name.
    Gone,
    /// None of its sources is the repository and overlay.
    WrongApplication,
    /// The controller is told to leave it alone.
    Skipped,
    /// It follows a commit or tag that does not contain the commit.
    Pinned,
    /// Rendering or comparing fails.
    ComparisonFailed,
    /// The revision compared does not contain the commit.
    NotNoticed,
    /// A refresh was asked for, and the controller does nothing.
    ControllerSilent,
    /// The remote no longer has the commit on the branch.
    Rewritten,
    /// What revision was compared cannot be told or cannot be fetched.
    RevisionUnknown,
    /// A later commit took the change back.
    Superseded,
    /// The hydrator has not come to the commit.
    Hydrating,
    /// The hydrator fails.
    HydrationFailed,
    /// The status speaks of another spec.
    SpecChanged,
    /// A sync of the commit runs.
    Syncing,
    /// A sync failed and is tried again.
    Retrying,
    /// A sync of an older commit holds the place.
    OperationStuck,
    /// A sync window is closed.
    WindowClosed,
    /// The controller should sync, and has not begun.
    SyncExpected,
    /// The ApplicationSet syncs step by step, and it is not this one's turn.
    RollingSync,
    /// Nobody syncs: automation is off.
    Manual,
    /// A sync of the commit failed.
    SyncFailed,
    /// Objects differ after a finished sync.
    Drift,
    /// What git no longer has is still there, and pruning is off.
    PruneNeeded,
    /// Whether live and target differ is not known.
    SyncUnknown,
    /// The operation's end is not recorded.
    OperationUnclear,
    /// The comparison is not later than the operation.
    NotCompared,
    /// A refresh is asked for and not done.
    RefreshPending,
    /// Workloads roll.
    Rolling,
    /// Something is paused.
    Suspended,
    /// Everything, or something that counts, is missing.
    Missing,
    /// The health is not known.
    HealthUnknown,
    /// Something is broken.
    Degraded,
    /// What is broken was so before the commit, which does not touch it.
    DegradedBefore,
    /// The cluster does not get the object: Argo CD excludes it, or two Applications fight over it.
    ObjectExcluded,
    /// What is rendered or live does not hold the change.
    EffectMissing,
    /// What is live does not hold the change, and the comparison ignores the field.
    EffectIgnored,
    /// What is live is being read.
    EffectUnread,
    /// All is well, not for long enough.
    Dwelling,
}

impl Kind {
    /// Its word on the timeline.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Denied => "denied",
            Self::NoSuchApplication => "no-such-application",
            Self::Gone => "gone",
            Self::WrongApplication => "wrong-application",
            Self::Skipped => "skipped",
            Self::Pinned => "pinned",
            Self::ComparisonFailed => "comparison-failed",
            Self::NotNoticed => "not-noticed",
            Self::ControllerSilent => "controller-silent",
            Self::Rewritten => "rewritten",
            Self::RevisionUnknown => "revision-unknown",
            Self::Superseded => "superseded",
            Self::Hydrating => "hydrating",
            Self::HydrationFailed => "hydration-failed",
            Self::SpecChanged => "spec-changed",
            Self::Syncing => "syncing",
            Self::Retrying => "retrying",
            Self::OperationStuck => "operation-stuck",
            Self::WindowClosed => "sync-window",
            Self::SyncExpected => "sync-expected",
            Self::RollingSync => "rolling-sync",
            Self::Manual => "manual",
            Self::SyncFailed => "sync-failed",
            Self::Drift => "drift",
            Self::PruneNeeded => "prune-needed",
            Self::SyncUnknown => "sync-unknown",
            Self::OperationUnclear => "operation-unclear",
            Self::NotCompared => "not-compared",
            Self::RefreshPending => "refresh-pending",
            Self::Rolling => "rolling",
            Self::Suspended => "suspended",
            Self::Missing => "missing",
            Self::HealthUnknown => "health-unknown",
            Self::Degraded => "degraded",
            Self::DegradedBefore => "degraded-before",
            Self::ObjectExcluded => "object-excluded",
            Self::EffectMissing => "effect-missing",
            Self::EffectIgnored => "effect-ignored",
            Self::EffectUnread => "effect-unread",
            Self::Dwelling => "dwelling",
        }
    }

    /// Whether it is part of the state `before`, and no other one: a hydration that failed is tried again and again.
    #[must_use]
    pub fn goes_on_from(self, before: Self) -> bool {
        self == before || (self, before) == (Self::Hydrating, Self::HydrationFailed)
    }

    /// How long it may last before it ends the wait; `None` until the timeout.
    #[must_use]
    pub fn patience(self) -> Option<Patience> {
        let of = |seconds, comparisons, comparisons_alone| {
            let time = Duration::from_secs(seconds);
            Some(Patience { time, comparisons, comparisons_alone })
        };
        let never_alone = usize::MAX;
        match self {
            Self::Skipped | Self::Pinned | Self::Manual => of(0, 0, never_alone),
            // A restart of the repository server or of the git host passes; a broken render does not.
            Self::ComparisonFailed | Self::SyncFailed => of(60, 1, 3),
            // The hydrator tries again after two minutes.
            Self::HydrationFailed => of(150, 1, never_alone),
            // Replicas of a git host may answer with an older state.
            Self::Rewritten => of(30, 1, never_alone),
            Self::Drift | Self::PruneNeeded | Self::ObjectExcluded => of(30, 2, never_alone),
            Self::Suspended => of(60, 1, never_alone),
            // A rolling database goes through Degraded more than once.
            Self::Degraded | Self::DegradedBefore | Self::Missing | Self::HealthUnknown => {
                of(120, 2, never_alone)
            }
            Self::EffectMissing | Self::EffectIgnored => of(30, 2, never_alone),
            _ => None,
        }
    }
}
