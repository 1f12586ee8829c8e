//! The hydrator: what people push is rendered into a commit of another branch, which is what is synced.
//!
//! As argo-cd `controller/hydrator` does it: a look at the branch says first which commit was compared, and takes the
//! request away; only then, some time later, the hydration begins. A commit that renders nothing new makes no commit.

use super::git::CommitId;
use super::settings::Version;
use super::time::{MINUTE, Millis, SECOND};
use super::world::{Event, World};

/// A failed hydration is tried again after this.
const COOLDOWN: Millis = 2 * MINUTE;

/// One that was begun and not ended for so long is begun again.
const STALE: Millis = 2 * MINUTE;

/// `status.sourceHydrator.currentOperation.phase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HydrationPhase {
    Hydrating,
    Hydrated,
    Failed,
}

/// `status.sourceHydrator.currentOperation`.
#[derive(Clone, Debug)]
pub(super) struct Hydration {
    pub(super) phase: HydrationPhase,
    /// The commit rendered; empty while it is.
    pub(super) dry: String,
    pub(super) hydrated: String,
    pub(super) message: &'static str,
    pub(super) started: Millis,
    pub(super) finished: Option<Millis>,
}

/// `status.sourceHydrator`.
#[derive(Clone, Debug, Default)]
pub(super) struct HydratorStatus {
    pub(super) current: Option<Hydration>,
    /// The last that went well: the commit rendered, and the one it made.
    pub(super) successful: Option<(String, String)>,
    /// Empty before 3.5.
    pub(super) compared: String,
}

impl World {
    /// Asks for a look at the branch, as the API server does whenever a refresh is asked for. Of an application
    /// without a hydrator nobody takes that away.
    pub(super) fn request_hydration(&mut self) {
        if self.settings.version < Version::V3_1 {
            return;
        }
        let now = self.now;
        self.write(|app| app.hydrate = Some(now));
        let wait = self.rng.between(5, 800);
        self.after(wait, Event::HydrationLook);
    }

    /// Looks whether something is to be rendered, and lets it be.
    pub(super) fn look_at_hydration(&mut self) {
        let Some(app) = self.app.as_ref().filter(|app| app.skip.is_none()) else { return };
        if !self.controller.up || !self.settings.hydrator {
            return;
        }
        let (status, requested) = (app.status.hydrator.clone(), app.hydrate.is_some());
        let (needed, compared) = self.needs_hydration(&status, requested);
        let compared = compared.map(|commit| self.git.at(commit).sha.clone());
        let since = status.current.filter(|c| c.phase == HydrationPhase::Hydrating);
        let is_stale = since.is_some_and(|current| self.now > current.started + STALE);
        let is_told = self.settings.version >= Version::V3_5;
        self.write(|app| {
            app.hydrate = None;
            if let (true, Some(compared)) = (is_told, compared) {
                app.status.hydrator.compared = compared;
            }
        });
        if needed || is_stale {
            // The queue may be long: other Applications are rendered first.
            let most = if self.rng.chance(80) { 500 } else { 60 * SECOND };
            let wait = self.rng.between(5, most);
            self.after(wait, Event::Hydrate);
        }
    }

    /// Whether something is to be rendered, and which commit was compared to find that out.
    fn needs_hydration(
        &mut self,
        status: &HydratorStatus,
        requested: bool,
    ) -> (bool, Option<CommitId>) {
        let Some(current) = &status.current else { return (true, None) };
        match current.phase {
            HydrationPhase::Hydrating => return (false, None),
            HydrationPhase::Failed => {
                let is_over = current.finished.is_some_and(|at| self.now > at + COOLDOWN);
                if requested || is_over {
                    return (true, None);
                }
                if status.compared.is_empty() {
                    return (false, None);
                }
            }
            HydrationPhase::Hydrated => {}
        }
        let tip = if requested { self.list_remote() } else { self.list_remote_cached() };
        let Some(tip) = tip else { return (false, None) };
        let old = self.git.find(&status.compared).or_else(|| self.git.find(&current.dry));
        let is_same = old.is_some_and(|old| old == tip || self.is_irrelevant(old, tip));
        (!is_same, Some(tip))
    }

    /// Says that it hydrates, and begins.
    pub(super) fn hydrate(&mut self) {
        if !self.controller.up || self.controller.hydration.is_some() || self.app.is_none() {
            return;
        }
        let now = self.now;
        self.note(|_| "hydration begins".to_owned());
        self.write(|app| {
            let current = &mut app.status.hydrator.current;
            if current.as_ref().is_none_or(|c| c.phase != HydrationPhase::Hydrating) {
                *current = Some(Hydration {
                    phase: HydrationPhase::Hydrating,
                    dry: String::new(),
                    hydrated: String::new(),
                    message: "",
                    started: now,
                    finished: None,
                });
            }
        });
        let id = self.serial();
        self.controller.hydration = Some(id);
        let wait = self.rng.between(200, 3 * SECOND + self.settings.slow_compare);
        self.after(wait, Event::Hydrated(id));
    }

    /// Renders the branch as it is now, commits what is new, and asks for a refresh.
    pub(super) fn hydrated(&mut self, id: u64) {
        if self.controller.hydration.take_if(|running| *running == id).is_none() {
            return;
        }
        let dry = self.list_remote();
        let made =
            dry.ok_or("unable to resolve 'main' to a commit SHA").and_then(|dry| {
                match self.git.at(dry).broken {
                    true => Err("Failed to hydrate: kustomize build failed"),
                    false => Ok(self.git.hydrate(dry, self.now, &mut self.rng)),
                }
            });
        let dry = dry.map(|dry| self.git.at(dry).sha.clone()).unwrap_or_default();
        self.note(|_| format!("hydration ends: {made:?}"));
        let is_made = made.is_ok();
        self.write_hydration(dry, made);
        if is_made {
            let wait = self.rng.between(5, 1500);
            self.after(wait, Event::HydratedRefresh);
        }
    }

    fn write_hydration(&mut self, dry: String, made: Result<String, &'static str>) {
        let (now, is_told) = (self.now, self.settings.version >= Version::V3_5);
        self.write(|app| {
            let status = &mut app.status.hydrator;
            if is_told && !dry.is_empty() {
                status.compared.clone_from(&dry);
            }
            let Some(current) = &mut status.current else { return };
            (current.dry, current.finished) = (dry.clone(), Some(now));
            match made {
                Ok(sha) => {
                    current.phase = HydrationPhase::Hydrated;
                    current.hydrated.clone_from(&sha);
                    status.successful = Some((dry, sha));
                }
                Err(message) => {
                    current.phase = HydrationPhase::Failed;
                    current.message = message;
                }
            }
        });
    }

    /// What is synced: the newest commit of the branch that is compared, asked for or remembered.
    pub(super) fn list_synced(&mut self, fresh: bool) -> Option<CommitId> {
        if !self.settings.hydrator {
            return if fresh { self.list_remote() } else { self.list_remote_cached() };
        }
        let lasts = self.settings.revision_cache;
        match self.caches.hydrated {
            Some((at, tip)) if !fresh && self.now < at + lasts => Some(tip),
            _ => {
                let seen = self.now.saturating_sub(self.settings.replica_lag);
                let tip = self.git.hydrated_at(seen)?;
                self.caches.hydrated = Some((self.now, tip));
                Some(tip)
            }
        }
    }
}
