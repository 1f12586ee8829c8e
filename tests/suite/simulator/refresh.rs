//! The refresh loop: levels 1, 2 and 3, the caches in front of git, and one status patch a comparison.

use super::application::{Condition, ResourceStatus, Spec, Status, Sync};
use super::git::CommitId;
use super::objects::{CONFIG, DB, Health, OBJECTS, Object, Values, WEB, health, kind, name};
use super::settings::{Sources, Version};
use super::time::{MINUTE, Millis, SECOND};
use super::world::{Event, World};

/// How long an unreadable repository is kept quiet at levels 1 and 2.
const GRACE: Millis = 180 * SECOND;

/// The loop's memory.
#[derive(Default)]
pub(super) struct RefreshLoop {
    /// The comparison level somebody asked for; 0 is none.
    wanted: u8,
    running: Option<Reconcile>,
    /// The application came up again while a reconcile runs.
    again: bool,
}

/// One reconcile under way.
struct Reconcile {
    id: u64,
    level: u8,
    started: Millis,
    uid: String,
    spec: Spec,
    hard: bool,
    saw_refresh: bool,
    saw_stamp: Option<u64>,
    target: Option<Target>,
    compared: Option<Compared>,
}

/// What the target state is: a commit and its manifests.
struct Target {
    commit: CommitId,
    values: Values,
}

/// What a comparison found.
struct Compared {
    sync: Sync,
    revision: String,
    health: Health,
    resources: Vec<ResourceStatus>,
    conditions: Vec<Condition>,
}

impl World {
    /// Asks for a comparison of at least `level`.
    pub(super) fn request_refresh(&mut self, level: u8) {
        let refresh = &mut self.controller.refresh;
        refresh.wanted = refresh.wanted.max(level);
        let wait = self.rng.between(5, 400);
        self.after(wait, Event::Reconcile);
    }

    /// Sets the refresh annotation, as a person, a webhook or the wait does. `stamp` is what the API
    /// server of 3.6 sets beside it.
    pub(super) fn annotate(&mut self, hard: bool, stamp: Option<u64>) {
        self.request_hydration();
        self.annotate_refresh(hard, stamp);
    }

    /// The same without the hydrator, which asks so itself when it is done.
    pub(super) fn annotate_refresh(&mut self, hard: bool, stamp: Option<u64>) {
        let (now, keeps_first) = (self.now, self.settings.lost_refresh);
        self.note(|_| format!("refresh asked for, hard: {hard}"));
        self.write(|app| {
            let since = app.refresh.filter(|_| keeps_first).map_or(now, |(_, since)| since);
            app.refresh = Some((if hard { "hard" } else { "normal" }, since));
            app.refresh_stamp = stamp.or(app.refresh_stamp);
        });
        let wait = self.rng.between(5, 300);
        self.after(wait, Event::Reconcile);
    }

    /// The periodic look, and the next one.
    pub(super) fn poll(&mut self) {
        let period = self.settings.poll_period;
        if period > 0 {
            let wait = period + self.rng.below(60 * SECOND);
            self.after(wait, Event::Poll);
            self.request_refresh(2);
            let wait = self.rng.between(5, 2 * SECOND);
            self.after(wait, Event::HydrationLook);
        }
    }

    /// The head of the loop: decides whether to compare, and at which level.
    pub(super) fn reconcile(&mut self) {
        if !self.controller.up {
            return;
        }
        if self.controller.refresh.running.is_some() {
            self.controller.refresh.again = true;
            return;
        }
        let Some(app) = self.app.as_ref().filter(|app| app.skip.is_none()) else { return };
        let moved = app.status.compared_to != Some(app.spec);
        let level = match (app.refresh.is_some() || moved, self.controller.refresh.wanted) {
            (true, _) => 3,
            (false, 0) => return,
            (false, wanted) => wanted,
        };
        let started = Reconcile {
            id: self.serial + 1,
            level,
            started: self.now,
            uid: app.uid.clone(),
            spec: app.spec,
            hard: app.refresh.is_some_and(|(how, _)| how == "hard"),
            saw_refresh: app.refresh.is_some(),
            saw_stamp: app.refresh_stamp,
            target: None,
            compared: None,
        };
        let id = self.serial();
        self.controller.refresh.wanted = 0;
        self.controller.refresh.running = Some(started);
        self.note(|_| format!("reconcile {id} begins at level {level}"));
        let wait = self.rng.between(10, self.settings.slow_compare);
        self.after(wait, Event::Resolve(id));
    }

    fn running(&mut self, id: u64) -> Option<&mut Reconcile> {
        self.controller.refresh.running.as_mut().filter(|r| r.id == id)
    }

    /// Ends the reconcile, and starts the one that waited.
    fn end_reconcile(&mut self) {
        self.controller.refresh.running = None;
        if std::mem::take(&mut self.controller.refresh.again) {
            let wait = self.rng.between(1, 50);
            self.after(wait, Event::Reconcile);
        }
    }

    /// Finds revision and manifests, or the error in their place.
    pub(super) fn resolve(&mut self, id: u64) {
        let Some(running) = self.running(id) else { return };
        let (level, spec, hard) = (running.level, running.spec, running.hard);
        let found = self.target(level, spec, hard);
        let now = self.now;
        let failed = match found {
            Ok(target) => {
                self.controller.failing_since = None;
                if let Some(running) = self.running(id) {
                    running.target = Some(target);
                }
                None
            }
            Err(message) => {
                let since = *self.controller.failing_since.get_or_insert(now);
                let quiet = self.settings.swallowed_errors && level < 3 && now < since + GRACE;
                if quiet {
                    self.note(|_| format!("reconcile {id} swallows: {message}"));
                    return self.end_reconcile();
                }
                Some(self.failed_comparison(message))
            }
        };
        if let Some(running) = self.running(id) {
            running.compared = failed;
        }
        let wait = self.rng.between(5, self.settings.slow_compare);
        self.after(wait, Event::Compare(id));
    }

    fn target(&mut self, level: u8, spec: Spec, hard: bool) -> Result<Target, String> {
        let compared = self.app.as_ref().and_then(|a| self.git.origin(&a.status.revision));
        let tip = match (level, compared) {
            (1, Some(old)) => Some(old),
            _ => self.list_synced(level == 3),
        };
        let Some(commit) = tip else {
            return Err("unable to resolve 'main' to a commit SHA".to_owned());
        };
        self.manifests(commit, spec.prod, hard, compared).map(|values| Target { commit, values })
    }

    fn failed_comparison(&self, message: String) -> Compared {
        let named = self.settings.version >= Version::V3_5;
        let plain = self.settings.sources == Sources::Single;
        let status = self.app.as_ref().map(|app| &app.status);
        Compared {
            sync: Sync::Unknown,
            revision: if named && plain { "main".to_owned() } else { String::new() },
            health: status.map_or(Health::Healthy, |s| s.health),
            resources: Vec::new(),
            conditions: vec![Condition {
                kind: "ComparisonError",
                message: format!("Failed to load target state: {message}"),
                since: self.now,
            }],
        }
    }

    /// Reads the controller's picture of the cluster and compares.
    pub(super) fn compare(&mut self, id: u64) {
        let Some(running) = self.running(id) else { return };
        let spec = running.spec;
        if let Some(target) = running.target.take() {
            let compared = self.comparison(&target, spec);
            self.remember_managed(&target.values, spec.destination);
            if let Some(running) = self.running(id) {
                running.compared = Some(compared);
                running.target = Some(target);
            }
        }
        let wait = self.rng.between(1, 60);
        self.after(wait, Event::Trigger(id));
    }

    fn comparison(&self, target: &Target, spec: Spec) -> Compared {
        let seen = &self.cluster.seen[spec.destination];
        let mut resources = Vec::new();
        for (object, found) in seen.iter().enumerate().take(OBJECTS) {
            let (wanted, live) = (target.values[object], found.value);
            let excluded = self.settings.excluded == Some(object);
            if excluded || wanted.is_none() && live.is_none() {
                continue;
            }
            resources.push(ResourceStatus {
                object,
                synced: !found.foreign && (wanted == live || self.is_ignored(object, wanted, live)),
                requires_pruning: wanted.is_none(),
                health: live.and_then(|_| health(object, found.phase, &self.settings)),
            });
        }
        let in_sync = resources.iter().all(|r| r.synced);
        Compared {
            sync: if in_sync { Sync::Synced } else { Sync::OutOfSync },
            revision: self.git.name(target.commit),
            health: self.app_health(&resources, &target.values, spec.destination),
            resources,
            conditions: self.warnings(&target.values, spec.destination),
        }
    }

    /// What is rendered and left out, and what another application has put there.
    fn warnings(&self, wanted: &Values, namespace: usize) -> Vec<Condition> {
        let condition = |kind, message| Condition { kind, message, since: self.now };
        let excluded = self.settings.excluded.filter(|&object| wanted[object].is_some());
        let excluded = excluded.map(|object| {
            let ((group, _, kind), name) = (kind(object), name(object));
            let message = format!("Resource {group}/{kind} {name} is excluded in the settings");
            condition("ExcludedResourceWarning", message)
        });
        let seen = &self.cluster.seen[namespace];
        let foreign = (0..OBJECTS).filter(|&object| {
            seen[object].foreign && seen[object].value.is_some() && wanted[object].is_some()
        });
        let shared = foreign.map(|object| {
            let ((_, _, kind), name) = (kind(object), name(object));
            let message = format!("{kind}/{name} is part of applications argocd/prod and other");
            condition("SharedResourceWarning", message)
        });
        excluded.into_iter().chain(shared).collect()
    }

    pub(super) fn is_ignored(
        &self,
        object: Object,
        wanted: Option<u32>,
        live: Option<u32>,
    ) -> bool {
        let covered = matches!(object, WEB | DB | CONFIG);
        self.settings.ignored_difference && covered && wanted.is_some() && live.is_some()
    }

    /// The worst health; what is missing counts before 3.4, or where everything is.
    fn app_health(&self, all: &[ResourceStatus], wanted: &Values, namespace: usize) -> Health {
        let seen = &self.cluster.seen[namespace];
        let missing = |o: &usize| wanted[*o].is_some() && seen[*o].value.is_none();
        let lost = (0..OBJECTS).filter(missing).count();
        let everything = lost == wanted.iter().flatten().count();
        let counts = lost > 0 && (self.settings.version < Version::V3_5 || everything);
        let worst = all.iter().filter_map(|r| r.health).max().unwrap_or(Health::Healthy);
        if counts { worst.max(Health::Missing) } else { worst }
    }

    fn remember_managed(&mut self, target: &Values, namespace: usize) {
        let seen = &self.cluster.seen[namespace];
        let excluded = self.settings.excluded;
        let some =
            |o: &Object| excluded != Some(*o) && (target[*o].is_some() || seen[*o].value.is_some());
        self.caches.managed = (0..OBJECTS).filter(some).map(|o| (o, target[o], seen[o])).collect();
        self.caches.managed_namespace = namespace;
    }

    /// Starts an operation where automation wants one; the status is patched only after that.
    pub(super) fn trigger(&mut self, id: u64) {
        let Some(running) = self.running(id) else { return };
        let found = running
            .compared
            .as_ref()
            .zip(running.target.as_ref())
            .map(|(c, t)| (c.sync, c.revision.clone(), c.resources.clone(), t.values));
        if let Some((Sync::OutOfSync, revision, resources, values)) = found {
            if let Some(error) = self.auto_sync(&revision, &resources, &values)
                && let Some(compared) = self.running(id).and_then(|r| r.compared.as_mut())
            {
                compared.conditions.push(error);
            }
            self.rolling_sync_wanted();
        }
        let wait = self.rng.between(5, 300);
        self.after(wait, Event::Store(id));
    }

    /// The one patch that carries sync, health, resources and conditions.
    pub(super) fn store(&mut self, id: u64) {
        let Some(running) = self.controller.refresh.running.take_if(|r| r.id == id) else { return };
        let same = self.app.as_ref().is_some_and(|app| app.uid == running.uid);
        if let (true, Some(compared)) = (same, running.compared) {
            let (now, full) = (self.now, running.level >= 2);
            let too_big = self.too_big;
            self.note(|_| {
                format!(
                    "reconcile {id} stores {:?} at {:.7}, {:?}",
                    compared.sync, compared.revision, compared.health
                )
            });
            self.write(|app| {
                if too_big {
                    store_too_big(&mut app.status, now);
                } else {
                    let reconciled =
                        (full || app.status.reconciled.is_none()).then_some(running.started);
                    store_compared(&mut app.status, compared, running.spec, reconciled, now);
                }
            });
            self.truth.evidence = running.started;
            self.remove_request(running.saw_refresh, running.saw_stamp);
        }
        self.end_reconcile();
    }

    /// Takes the refresh request away: up to 3.5 in the same patch and whatever came since.
    fn remove_request(&mut self, saw: bool, stamp: Option<u64>) {
        if !saw {
            return;
        }
        if self.settings.version >= Version::V3_6 {
            let wait = self.rng.between(1, 200);
            return self.after(wait, Event::Clean { stamp });
        }
        let (evidence, keep_new) = (self.truth.evidence, !self.settings.lost_refresh);
        self.write(|app| {
            let newer = app.refresh.is_some_and(|(_, since)| since > evidence);
            if !(keep_new && newer) {
                app.refresh = None;
            }
        });
    }

    /// The tested removal of 3.6.
    pub(super) fn clean(&mut self, stamp: Option<u64>) {
        if self.app.as_ref().is_some_and(|app| app.refresh_stamp == stamp) {
            self.write(|app| {
                app.refresh = None;
                app.refresh_stamp = None;
            });
        }
    }

    /// The controller comes back with an empty memory.
    pub(super) fn controller_up(&mut self) {
        if std::mem::replace(&mut self.controller.up, true) {
            return;
        }
        self.note(|_| "controller up".to_owned());
        self.cluster.seen = self.cluster.live;
        let level = self.rng.pick(&[1, 2]);
        self.request_refresh(level);
        self.resume_operation();
    }

    /// The controller goes away for a while, with everything it had begun.
    pub(super) fn controller_down(&mut self, lasts: Millis) {
        self.note(|_| "controller down".to_owned());
        self.controller = super::world::Controller::default();
        self.after(lasts.min(30 * MINUTE), Event::ControllerUp);
    }
}

fn store_too_big(status: &mut Status, now: Millis) {
    status.conditions = vec![Condition {
        kind: "UnknownError",
        message: "the status is too large to be stored; what is shown may be stale".to_owned(),
        since: now,
    }];
}

fn store_compared(
    status: &mut Status,
    compared: Compared,
    spec: Spec,
    reconciled: Option<Millis>,
    now: Millis,
) {
    if status.health != compared.health {
        status.health_since = now;
    }
    let old = std::mem::take(&mut status.conditions);
    let kept = |mut new: Condition| {
        let same = |c: &&Condition| c.kind == new.kind && c.message == new.message;
        new.since = old.iter().find(same).map_or(new.since, |c| c.since);
        new
    };
    status.conditions = compared.conditions.into_iter().map(kept).collect();
    status.sync = compared.sync;
    status.revision = compared.revision;
    status.compared_to = Some(spec);
    status.health = compared.health;
    status.resources = compared.resources;
    status.reconciled = reconciled.or(status.reconciled);
}
