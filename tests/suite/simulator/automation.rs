//! Who starts an operation without being asked: the automated sync policy, and the ApplicationSet
//! controller of a rolling sync.

use super::application::{Condition, Operation, OperationPhase, ResourceStatus, Sync};
use super::objects::Values;
use super::operation::manual;
use super::settings::{Automated, windows_allow};
use super::time::{Millis, SECOND};
use super::world::{Event, World};

/// The retry limit of an automated operation.
const RETRIES: u32 = 5;

impl World {
    /// Whether automation starts an operation for a comparison that found the app out of sync; or the
    /// SyncError that says why it never will.
    pub(super) fn auto_sync(
        &mut self,
        revision: &str,
        resources: &[ResourceStatus],
        wanted: &Values,
    ) -> Option<Condition> {
        let automated = self.settings.automated?;
        let app = self.app.as_ref()?;
        let out: Vec<&ResourceStatus> = resources.iter().filter(|r| !r.synced).collect();
        let only_pruning = out.iter().all(|r| r.requires_pruning) && !automated.prune;
        let allowed = windows_allow(&self.settings.windows, self.now, false);
        if app.operation.is_some() || app.deleted.is_some() || only_pruning || !allowed {
            return None;
        }
        if automated.prune && wanted.iter().all(Option::is_none) {
            return Some(self.sync_error("all resources would be pruned"));
        }
        let mut operation = automatic(revision, automated);
        match self.attempted(revision) {
            Attempt::None => {}
            Attempt::Unfinished => return None,
            Attempt::Failed => {
                return Some(self.sync_error(&format!("Failed last sync attempt to {revision}")));
            }
            Attempt::Succeeded(_) if !automated.self_heal => return None,
            Attempt::Succeeded(at) if self.now < at + 5 * SECOND => {
                self.after(6 * SECOND, Event::Heal);
                return None;
            }
            Attempt::Succeeded(_) => {
                operation.self_heal = true;
                operation.resources = out.iter().map(|r| r.object).collect();
            }
        }
        self.set_operation(operation);
        None
    }

    fn sync_error(&self, message: &str) -> Condition {
        Condition { kind: "SyncError", message: message.to_owned(), since: self.now }
    }

    /// How the last operation went, if it was for this revision.
    fn attempted(&self, revision: &str) -> Attempt {
        let Some(last) = self.app.as_ref().and_then(|app| app.status.operation.as_ref()) else {
            return Attempt::None;
        };
        if last.phase == OperationPhase::Succeeded && last.finished.is_none() {
            return Attempt::Unfinished;
        }
        let done = last.result.as_ref().map_or(&last.operation.revision, |r| &r.revision);
        match (done == revision, last.phase, last.finished) {
            (false, _, _) => Attempt::None,
            (true, OperationPhase::Succeeded, Some(at)) => Attempt::Succeeded(at),
            (true, _, _) => Attempt::Failed,
        }
    }

    /// The ApplicationSet controller sees an app out of sync, and takes its next step some time later.
    pub(super) fn rolling_sync_wanted(&mut self) {
        if self.settings.rolling_sync {
            let wait = self.rng.between(2 * SECOND, 90 * SECOND);
            self.after(wait, Event::RollingStep);
        }
    }

    pub(super) fn rolling_step(&mut self) {
        let out = self
            .app
            .as_ref()
            .is_some_and(|app| app.status.sync == Sync::OutOfSync && app.deleted.is_none());
        if out {
            self.set_operation(Operation { automated: true, ..manual("") });
        }
    }
}

/// How the last operation relates to a revision.
enum Attempt {
    None,
    Unfinished,
    Failed,
    Succeeded(Millis),
}

fn automatic(revision: &str, automated: Automated) -> Operation {
    Operation {
        revision: revision.to_owned(),
        prune: automated.prune,
        automated: true,
        retries: RETRIES,
        ..manual("")
    }
}
