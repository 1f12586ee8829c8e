//! From the end of a wait to the error that users meet.

use super::{Code, Error, codes};
use crate::argocd::{Kind, Outcome, Readiness};

impl Error {
    /// Why a wait for `application` did not succeed; `None` where it did.
    #[must_use]
    pub fn from_wait(application: &str, outcome: &Outcome) -> Option<Self> {
        let reason = match &outcome.readiness {
            Readiness::Ready => return None,
            other => other.reason()?,
        };
        let code = match outcome.is_final {
            true => final_code(reason.kind),
            false => timeout_code(reason.kind),
        };
        let late = if outcome.is_final { "" } else { "not there in time: " };
        let seen = match outcome.seen.as_str() {
            "" => String::new(),
            seen => format!(" ({seen})"),
        };
        let message = format!("{application}: {late}{}{seen}", reason.message);
        let error = Self::new(code, message);
        Some(hints(code).iter().fold(error, |error, hint| error.hint(*hint)))
    }
}

/// The code of a state that ended the wait.
fn final_code(kind: Kind) -> Code {
    match kind {
        Kind::Denied => codes::ARGOCD_DENIED,
        Kind::NoSuchApplication => codes::NO_SUCH_APPLICATION,
        Kind::Gone => codes::APPLICATION_GONE,
        Kind::WrongApplication => codes::WRONG_APPLICATION,
        Kind::Skipped => codes::RECONCILE_SKIPPED,
        Kind::Pinned => codes::REVISION_PINNED,
        Kind::ComparisonFailed => codes::COMPARISON_FAILED,
        Kind::Rewritten => codes::COMMIT_REWRITTEN,
        Kind::Superseded => codes::SUPERSEDED,
        Kind::HydrationFailed => codes::HYDRATION_FAILED,
        Kind::Manual => codes::SYNC_MANUAL,
        Kind::SyncFailed => codes::SYNC_FAILED,
        Kind::Drift => codes::DRIFT,
        Kind::PruneNeeded => codes::PRUNE_NEEDED,
        Kind::Suspended => codes::SUSPENDED,
        Kind::Missing | Kind::HealthUnknown => codes::HEALTH_UNKNOWN,
        Kind::Degraded => codes::DEGRADED,
        Kind::DegradedBefore => codes::DEGRADED_BEFORE,
        Kind::ObjectExcluded => codes::OBJECT_EXCLUDED,
        Kind::EffectMissing => codes::EFFECT_MISSING,
        Kind::EffectIgnored => codes::EFFECT_IGNORED,
        other => timeout_code(other),
    }
}

/// The code of a state that was the last when the time was over.
fn timeout_code(kind: Kind) -> Code {
    match kind {
        Kind::Unreachable => codes::ARGOCD_UNREACHABLE,
        Kind::ControllerSilent => codes::CONTROLLER_SILENT,
        Kind::OperationStuck => codes::OPERATION_STUCK,
        Kind::WindowClosed => codes::SYNC_WINDOW,
        Kind::Syncing
        | Kind::Retrying
        | Kind::SyncExpected
        | Kind::RollingSync
        | Kind::SyncUnknown
        | Kind::ComparisonFailed
        | Kind::Manual
        | Kind::Drift
        | Kind::PruneNeeded => codes::COMMIT_NOT_SYNCED,
        Kind::Rolling
        | Kind::Suspended
        | Kind::Missing
        | Kind::HealthUnknown
        | Kind::Degraded
        | Kind::DegradedBefore => codes::NOT_HEALTHY,
        Kind::SpecChanged
        | Kind::OperationUnclear
        | Kind::NotCompared
        | Kind::RefreshPending
        | Kind::EffectMissing
        | Kind::EffectIgnored
        | Kind::EffectUnread
        | Kind::Dwelling => codes::NOT_SETTLED,
        _ => codes::COMMIT_NOT_NOTICED,
    }
}

/// What to do about it.
fn hints(code: Code) -> &'static [&'static str] {
    match code {
        codes::SYNC_MANUAL => &["sync it in Argo CD, or run the same command with --sync"],
        codes::PRUNE_NEEDED => &["sync it with prune in Argo CD, or delete what is left"],
        codes::REVISION_PINNED => &["change targetRevision of the Application to a branch"],
        codes::WRONG_APPLICATION => {
            &["`overlay wait --overlay OVERLAY` finds the Applications that deploy it"]
        }
        codes::COMMIT_NOT_NOTICED => &[
            "is the commit on the branch that the Application follows? `git push`, or merge its pull request",
            "--timeout allows more",
        ],
        codes::COMPARISON_FAILED => {
            &["`overlay build` of the same overlay shows whether it renders here"]
        }
        codes::COMMIT_REWRITTEN => &["make the change again on what the branch is now"],
        codes::SUPERSEDED => &["wait for the later commit, or make the change again on top of it"],
        codes::SYNC_FAILED => &["mend what is refused with a new commit, or sync again in Argo CD"],
        codes::DEGRADED => &["look at the events and logs of the object that is named"],
        codes::DEGRADED_BEFORE => &["--health touched looks at the changed objects alone"],
        codes::DRIFT => {
            &["`argocd app diff` shows what differs; --allow-drift accepts it beside the change"]
        }
        codes::EFFECT_MISSING => &[
            "refresh it hard in Argo CD; see whether manifest-generate-paths names every directory that it uses, and whether the Application overrides the value",
        ],
        codes::EFFECT_IGNORED => {
            &["sync it in Argo CD, or take the field out of ignoreDifferences"]
        }
        codes::CONTROLLER_SILENT => {
            &["look at the application controller and the repository server"]
        }
        codes::OPERATION_STUCK => {
            &["end the running operation in Argo CD (`argocd app terminate-op`)"]
        }
        codes::ARGOCD_DENIED => {
            &["set ARGOCD_AUTH_TOKEN to a token that has not run out and may get applications"]
        }
        codes::COMMIT_NOT_SYNCED | codes::NOT_HEALTHY | codes::NOT_SETTLED | codes::SYNC_WINDOW => {
            &["--timeout allows more"]
        }
        _ => &[],
    }
}
