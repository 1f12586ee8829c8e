//! What is so, whatever Argo CD says; and the judgement of a wait by it.
//!
//! A success is right when the change was live, applied from a commit that contains it, and healthy at some
//! instant between the look at the cluster that the status stems from and now. Argo CD cannot show what
//! happened after that look, and no client can know it. Signs in the object itself leave no such excuse: it is
//! being deleted or is another object, an operation is under way that takes the change back; and where a
//! refresh is pending, the application is skipped, or an operation ended after that look, the status says
//! itself that it is old, and the change must have been live after the sign.
//!
//! An operation of the change that ended badly speaks against a success for as long as it can be known: while
//! the application shows it, and if it did at any time since it was first read. The application shows one
//! operation, and what another one replaced before that is nowhere: there what is live decides.

use super::application::{Application, OperationPhase, OperationState, Sync};
use super::cluster::Live;
use super::git::CommitId;
use super::hydrator::HydrationPhase;
use super::objects::{Health, OBJECTS, Object, Phase, health};
use super::time::Millis;
use super::world::World;

/// How one full operation ended, if it did.
#[derive(Clone, Copy, Debug)]
struct Deployment {
    commit: CommitId,
    good: Option<bool>,
    /// When the application began to show another operation in its place.
    replaced: Option<Millis>,
}

/// The record of what was so and when.
pub(super) struct Truth {
    /// The commit before the change, and the change.
    pub(super) before: CommitId,
    pub(super) change: CommitId,
    /// The objects that the change changes.
    pub(super) touched: Vec<Object>,
    /// Whether the health of other objects does not matter.
    pub(super) touched_only: bool,
    /// When the reconcile began that wrote the status last.
    pub(super) evidence: Millis,
    /// When the application was first read.
    looked: Option<Millis>,
    /// For each namespace, from when the change was live there, or was not.
    live: [Vec<(Millis, bool)>; 2],
    deployments: Vec<Deployment>,
    /// Since when everything is done, and Argo CD shows it.
    settled: Option<Millis>,
}

impl Truth {
    pub(super) fn new(before: CommitId, change: CommitId, touched: Vec<Object>) -> Self {
        Truth {
            before,
            change,
            touched,
            touched_only: false,
            evidence: 0,
            looked: None,
            live: [vec![(0, false)], vec![(0, false)]],
            deployments: Vec::new(),
            settled: None,
        }
    }

    /// A full operation runs at `commit`.
    pub(super) fn began(&mut self, commit: CommitId) {
        self.deployments.push(Deployment { commit, good: None, replaced: None });
    }

    /// The application shows another operation from now on.
    pub(super) fn replaced(&mut self, now: Millis) {
        if let Some(last) = self.deployments.last_mut() {
            last.replaced.get_or_insert(now);
        }
    }

    /// The application is read.
    pub(super) fn looked(&mut self, now: Millis) {
        self.looked.get_or_insert(now);
    }

    /// Whether whoever reads the application could have seen that operation.
    fn was_shown(&self, deployment: &Deployment) -> bool {
        deployment.replaced.is_none_or(|at| self.looked.is_some_and(|looked| looked <= at))
    }

    /// The application that remembers them is gone.
    pub(super) fn forget_deployments(&mut self) {
        self.deployments.clear();
    }

    /// It ended.
    pub(super) fn ended(&mut self, good: bool) {
        if let Some(last) = self.deployments.last_mut() {
            last.good.get_or_insert(good);
        }
    }

    /// Whether the change was live in `namespace` at some instant from `from` on.
    fn was_live_since(&self, namespace: usize, from: Millis) -> bool {
        let log = &self.live[namespace];
        let after = log.partition_point(|(at, _)| *at <= from);
        log[after.saturating_sub(1)..].iter().any(|(_, live)| *live)
    }

    fn is_live(&self, namespace: usize) -> bool {
        self.live[namespace].last().is_some_and(|(_, live)| *live)
    }
}

/// What a wait read last, and when the look began that it stems from.
#[derive(Clone)]
pub(super) struct Read {
    pub(super) app: Application,
    pub(super) evidence: Millis,
}

impl World {
    /// Notes what is so after an event.
    pub(super) fn observe_truth(&mut self) {
        for namespace in 0..2 {
            let live = self.is_change_live(namespace);
            if self.truth.is_live(namespace) != live {
                let now = self.now;
                self.note(|_| format!("TRUTH namespace {namespace}: live {live}"));
                self.truth.live[namespace].push((now, live));
            }
        }
        let settled = self.is_settled();
        self.truth.settled = settled.then(|| self.truth.settled.unwrap_or(self.now));
    }

    /// The wanted values, applied from a commit that contains the change, and everything healthy. Where an object is to be gone and is,
    /// nobody has anything to apply, whoever took it away.
    fn is_change_live(&self, namespace: usize) -> bool {
        let objects = &self.cluster.live[namespace];
        let wanted = &self.git.at(self.truth.change).values;
        let applied = self.truth.touched.iter().all(|&o| {
            let from = objects[o].applied.filter(|_| wanted[o].is_some());
            objects[o].value == wanted[o]
                && from.is_none_or(|commit| self.git.contains(self.truth.change, commit))
        });
        applied && (0..OBJECTS).all(|o| self.is_well(o, &objects[o]))
    }

    /// Whether the object runs what its spec says. Of an object that the change does not touch only as much
    /// counts as the check of its kind can tell, and nothing where only touched objects count.
    fn is_well(&self, object: Object, live: &Live) -> bool {
        if live.value.is_none() || live.phase == Phase::Settled {
            return true;
        }
        let known = health(object, live.phase, &self.settings);
        let matters = !self.truth.touched_only && known.is_some_and(|h| h != Health::Healthy);
        !self.truth.touched.contains(&object) && !matters
    }

    /// Whether the last full operation at a commit with the change did not end badly, as far as that can be known.
    fn is_deployed_well(&self) -> bool {
        let ours = |d: &&Deployment| self.git.contains(self.truth.change, d.commit);
        let last = self.truth.deployments.iter().rev().find(ours);
        last.is_none_or(|last| last.good != Some(false) || !self.truth.was_shown(last))
    }

    /// Whether `revision` holds the change; empty or symbolic means the branch.
    fn revision_holds(&self, revision: &str) -> bool {
        let commit = self.git.origin(revision).or(self.git.tip());
        commit.is_some_and(|c| self.git.holds(self.truth.change, &self.truth.touched, c))
    }

    /// Everything is done, and the object says so.
    fn is_settled(&self) -> bool {
        let Some(app) = &self.app else { return false };
        let status = &app.status;
        let home = app.spec.prod && self.truth.is_live(app.spec.destination);
        let found = self.git.origin(&status.revision);
        home && self.controller.up
            && self.revision_holds("")
            && found.is_some_and(|c| self.git.holds(self.truth.change, &self.truth.touched, c))
            && self.is_hydrated(app)
            && is_quiet(app)
            && (app.hydrate.is_none() || !self.settings.hydrator)
            && status.sync == Sync::Synced
            && status.health == Health::Healthy
            && status.compared_to == Some(app.spec)
            && status.conditions.is_empty()
            && status.operation.as_ref().is_none_or(ended_well)
            && self.is_deployed_well()
    }

    /// Where there is a hydrator, it says that it rendered the change.
    fn is_hydrated(&self, app: &Application) -> bool {
        let current = app.status.hydrator.current.as_ref();
        let done = current.filter(|c| c.phase == HydrationPhase::Hydrated);
        let done = done.and_then(|current| self.git.find(&current.dry));
        let holds = |dry| self.git.holds(self.truth.change, &self.truth.touched, dry);
        !self.settings.hydrator || done.is_some_and(holds)
    }

    /// Says why a success on `read` is wrong; `pinned` is the application as it was first read.
    pub(super) fn false_success(&self, read: &Read, pinned: &Application) -> Option<String> {
        let app = &read.app;
        let same = app.uid == pinned.uid;
        let spec = if same { app.spec } else { pinned.spec };
        if !spec.prod {
            return Some("the application does not deploy the overlay".to_owned());
        }
        if app.deleted.is_some() {
            return Some("the application is being deleted".to_owned());
        }
        let undone = app.operation.as_ref().is_some_and(|o| !self.revision_holds(&o.revision));
        if undone {
            return Some("an operation is under way that takes the change back".to_owned());
        }
        let mut from = read.evidence.saturating_sub(self.settings.cache_lag);
        let operated = app.status.operation.as_ref().and_then(|o| o.finished);
        for sign in [app.refresh.map(|(_, since)| since), app.skip, operated] {
            from = from.max(sign.unwrap_or(0));
        }
        if !same {
            from = self.now;
        }
        if !self.truth.was_live_since(spec.destination, from) {
            return Some(format!("the change was not live at any instant since {from}"));
        }
        (!self.is_deployed_well()).then(|| "the operation did not end well".to_owned())
    }

    /// For how long everything has been done.
    pub(super) fn settled_for(&self) -> Millis {
        self.truth.settled.map_or(0, |since| self.now - since)
    }
}

fn is_quiet(app: &Application) -> bool {
    app.deleted.is_none() && app.skip.is_none() && app.refresh.is_none() && app.operation.is_none()
}

fn ended_well(state: &OperationState) -> bool {
    state.phase == OperationPhase::Succeeded && state.finished.is_some()
}
