//! The live objects of two namespaces, their rollouts, and the late picture the controller has of them.

use super::git::CommitId;
use super::objects::{CONFIG, DB, OBJECTS, Object, Phase, REPORT, rolls_out};
use super::time::{MINUTE, Millis, SECOND};
use super::world::{Event, World};

/// One live object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Live {
    /// What its spec says; `None`: there is no such object.
    pub(super) value: Option<u32>,
    pub(super) phase: Phase,
    /// Goes up with every change of the spec.
    pub(super) generation: u64,
    /// The commit whose render was applied last.
    pub(super) applied: Option<CommitId>,
    /// Another application put it there last, and says so on it.
    pub(super) foreign: bool,
}

const NOTHING: Live =
    Live { value: None, phase: Phase::Settled, generation: 0, applied: None, foreign: false };

/// The objects of each namespace.
pub(super) type Namespaces = [[Live; OBJECTS]; 2];

/// The truth, and what the controller knows of it.
pub(super) struct Cluster {
    pub(super) live: Namespaces,
    pub(super) seen: Namespaces,
}

impl Cluster {
    pub(super) fn new() -> Self {
        Cluster { live: [[NOTHING; OBJECTS]; 2], seen: [[NOTHING; OBJECTS]; 2] }
    }
}

/// A step of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Observed,
    Switchover,
    Ended(Phase),
}

impl World {
    /// Makes the object say `value`, as an apply, a hand or a deletion does.
    pub(super) fn set_live(
        &mut self,
        namespace: usize,
        object: Object,
        value: Option<u32>,
        from: Option<CommitId>,
    ) {
        let live = &mut self.cluster.live[namespace][object];
        if from.is_some() || live.value != value {
            live.applied = from;
        }
        if from.is_some() && std::mem::take(&mut live.foreign) {
            self.later_cached(namespace, object);
        }
        self.later_other(namespace, object, from);
        let live = &mut self.cluster.live[namespace][object];
        if live.value == value {
            return;
        }
        let is_new = live.value.is_none();
        live.value = value;
        live.generation += 1;
        live.phase = Phase::Settled;
        if value.is_some() && rolls_out(object) {
            live.phase = if is_new { Phase::Rolling } else { Phase::Unobserved };
            let wait = match object {
                DB => self.rng.between(SECOND, 20 * SECOND),
                _ => self.rng.between(50, 2 * SECOND),
            };
            self.later_progress(namespace, object, Progress::Observed, wait);
        }
        self.later_cached(namespace, object);
    }

    /// Where another application has the object too, it puts its own state there after ours.
    fn later_other(&mut self, namespace: usize, object: Object, from: Option<CommitId>) {
        if self.settings.shared && (namespace, object) == (0, CONFIG) && from.is_some() {
            let wait = self.rng.between(5 * SECOND, 4 * MINUTE);
            self.after(wait, Event::OtherApplies);
        }
    }

    /// The other application's state of the shared object, which is that of before the change.
    pub(super) fn other_applies(&mut self) {
        let old = self.git.at(self.truth.before).values[CONFIG];
        self.set_live(0, CONFIG, old, None);
        self.cluster.live[0][CONFIG].foreign = true;
        self.later_cached(0, CONFIG);
    }

    fn later_progress(&mut self, namespace: usize, object: Object, step: Progress, wait: Millis) {
        let generation = self.cluster.live[namespace][object].generation;
        self.after(wait, Event::Rollout { namespace, object, generation, step });
    }

    fn later_cached(&mut self, namespace: usize, object: Object) {
        let lag = self.rng.between(10, self.settings.cache_lag.max(11));
        self.after(lag, Event::Cached { namespace, object });
    }

    /// One step of a rollout, unless a newer spec has begun another.
    pub(super) fn rollout(
        &mut self,
        namespace: usize,
        object: Object,
        generation: u64,
        step: Progress,
    ) {
        if self.cluster.live[namespace][object].generation != generation {
            return;
        }
        self.cluster.live[namespace][object].phase = match step {
            Progress::Observed => Phase::Rolling,
            Progress::Switchover => Phase::Switchover,
            Progress::Ended(phase) => phase,
        };
        self.later_cached(namespace, object);
        let wait = self.rng.between(SECOND, self.settings.slow_rollout);
        match step {
            Progress::Observed if self.rng.chance(self.settings.stuck_rollouts) => {
                let deadline = self.rng.between(2 * MINUTE, 10 * MINUTE);
                self.later_progress(namespace, object, Progress::Ended(Phase::Exceeded), deadline);
            }
            Progress::Observed if object == DB && self.rng.chance(60) => {
                self.later_progress(namespace, object, Progress::Switchover, wait);
            }
            Progress::Observed => {
                self.later_progress(namespace, object, Progress::Ended(Phase::Settled), wait);
            }
            Progress::Switchover => {
                let wait = self.rng.between(3 * SECOND, 25 * SECOND);
                self.later_progress(namespace, object, Progress::Ended(Phase::Settled), wait);
            }
            Progress::Ended(_) => {}
        }
    }

    /// A settled object breaks, and mends itself after a while.
    pub(super) fn crash(&mut self, namespace: usize, object: Object, lasts: Millis) {
        let live = &mut self.cluster.live[namespace][object];
        let breaks = rolls_out(object) || object == REPORT;
        if !breaks || live.value.is_none() || live.phase != Phase::Settled {
            return;
        }
        live.phase = Phase::Crashed;
        self.later_cached(namespace, object);
        self.later_progress(namespace, object, Progress::Ended(Phase::Settled), lasts);
    }

    /// The controller's picture of one object catches up, and a comparison is asked for.
    pub(super) fn cached(&mut self, namespace: usize, object: Object) {
        self.cluster.seen[namespace][object] = self.cluster.live[namespace][object];
        let ours = self.app.as_ref().is_some_and(|app| app.spec.destination == namespace);
        if ours && self.controller.up {
            self.request_refresh(1);
        }
    }
}
