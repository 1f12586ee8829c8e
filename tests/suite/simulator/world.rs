//! Everything that is, and the queue of what happens next.

use super::application::{Application, Operation};
use super::cluster::{Cluster, Live, Progress};
use super::git::{CommitId, Git};
use super::objects::{Object, Values};
use super::operation::Run;
use super::people::Act;
use super::refresh::RefreshLoop;
use super::rng::Rng;
use super::settings::Settings;
use super::time::Millis;
use super::truth::Truth;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Something that happens at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The work queue hands the application to the refresh loop.
    Reconcile,
    /// The poll is due.
    Poll,
    /// Self-healing may try again.
    Heal,
    Resolve(u64),
    Compare(u64),
    Trigger(u64),
    Store(u64),
    /// The second patch of a 3.6 controller.
    Clean {
        stamp: Option<u64>,
    },
    /// The operation loop sees the field `operation`.
    OperationSeen,
    Pass(u64),
    Retry(u64),
    Rollout {
        namespace: usize,
        object: Object,
        generation: u64,
        step: Progress,
    },
    Cached {
        namespace: usize,
        object: Object,
    },
    Webhook {
        before: Option<CommitId>,
        after: CommitId,
    },
    /// The ApplicationSet controller starts the next step.
    RollingStep,
    /// One more object of a deleted application goes.
    Cascade(Object),
    Act(Act),
    ControllerUp,
    HydrationLook,
    Hydrate,
    Hydrated(u64),
    HydratedRefresh,
    /// Another application puts its own state of a shared object there.
    OtherApplies,
}

#[derive(PartialEq, Eq)]
struct Scheduled {
    at: Millis,
    order: u64,
    event: Event,
}

impl Ord for Scheduled {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// What the controller holds in memory; a restart empties it.
#[derive(Default)]
pub(super) struct Controller {
    pub(super) up: bool,
    pub(super) refresh: RefreshLoop,
    pub(super) run: Option<Run>,
    /// Since when the repository cannot be read.
    pub(super) failing_since: Option<Millis>,
    /// The hydration under way.
    pub(super) hydration: Option<u64>,
}

/// What repo-server and Redis hold; a restart of the controller leaves it.
#[derive(Default)]
pub(super) struct Caches {
    /// The answer of the last ls-remote, and when.
    pub(super) revision: Option<(Millis, Option<CommitId>)>,
    /// The same of the branch that the hydrator writes.
    pub(super) hydrated: Option<(Millis, CommitId)>,
    /// Rendered values by path and commit.
    pub(super) manifests: HashMap<(bool, CommitId), Values>,
    /// What the last comparison saw: object, target, live; and in which namespace.
    pub(super) managed: Vec<(Object, Option<u32>, Live)>,
    pub(super) managed_namespace: usize,
}

/// One history's world.
pub(super) struct World {
    pub(super) now: Millis,
    pub(super) rng: Rng,
    pub(super) settings: Settings,
    pub(super) git: Git,
    pub(super) cluster: Cluster,
    pub(super) app: Option<Application>,
    pub(super) controller: Controller,
    pub(super) caches: Caches,
    pub(super) truth: Truth,
    /// The status is too big to be stored.
    pub(super) too_big: bool,
    /// Numbers reconciles and runs.
    pub(super) serial: u64,
    /// What happened, for a person who reads a failing seed.
    pub(super) log: Option<Vec<String>>,
    queue: BinaryHeap<Reverse<Scheduled>>,
    order: u64,
}

impl World {
    /// A world in which nothing is deployed yet.
    pub(super) fn new(rng: Rng, settings: Settings, git: Git, truth: Truth) -> Self {
        World {
            now: 0,
            rng,
            settings,
            git,
            cluster: Cluster::new(),
            app: None,
            controller: Controller { up: true, ..Controller::default() },
            caches: Caches::default(),
            truth,
            too_big: false,
            serial: 0,
            log: None,
            queue: BinaryHeap::new(),
            order: 0,
        }
    }

    /// Lets `event` happen `wait` milliseconds from now.
    pub(super) fn after(&mut self, wait: Millis, event: Event) {
        self.order += 1;
        self.queue.push(Reverse(Scheduled { at: self.now + wait, order: self.order, event }));
    }

    /// Lets everything happen that is due until `until`.
    pub(super) fn advance(&mut self, until: Millis) {
        while self.queue.peek().is_some_and(|Reverse(next)| next.at <= until) {
            let Some(Reverse(next)) = self.queue.pop() else { break };
            self.now = next.at;
            self.happen(next.event);
            self.observe_truth();
        }
        self.now = self.now.max(until);
    }

    /// A number for a reconcile or a run.
    pub(super) fn serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// Changes the stored application, which gives it a new resourceVersion.
    pub(super) fn write(&mut self, change: impl FnOnce(&mut Application)) {
        if let Some(app) = &mut self.app {
            change(app);
            app.resource_version += 1;
        }
    }

    /// Notes a line for the reader of a failing seed.
    pub(super) fn note(&mut self, line: impl FnOnce(&Self) -> String) {
        if self.log.is_some() {
            let line = format!("{:>9.3}  {}", self.now as f64 / 1000.0, line(self));
            self.log.get_or_insert_default().push(line);
        }
    }

    /// Sets `operation`, and lets the operation loop see it; `false` where one is there.
    pub(super) fn set_operation(&mut self, operation: Operation) -> bool {
        let free = self.app.as_ref().is_some_and(|a| a.operation.is_none() && a.deleted.is_none());
        if free {
            self.note(|_| format!("operation set: {operation:?}"));
            self.write(|app| app.operation = Some(operation));
            let wait = self.rng.between(20, 1500);
            self.after(wait, Event::OperationSeen);
        }
        free
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Reconcile => self.reconcile(),
            Event::Poll => self.poll(),
            Event::Heal => self.request_refresh(1),
            Event::Resolve(id) => self.resolve(id),
            Event::Compare(id) => self.compare(id),
            Event::Trigger(id) => self.trigger(id),
            Event::Store(id) => self.store(id),
            Event::Clean { stamp } => self.clean(stamp),
            Event::OperationSeen => self.operation_seen(),
            Event::Pass(id) => self.pass(id),
            Event::Retry(id) => self.retry(id),
            Event::Rollout { namespace, object, generation, step } => {
                self.rollout(namespace, object, generation, step);
            }
            Event::Cached { namespace, object } => self.cached(namespace, object),
            Event::Webhook { before, after } => self.webhook(before, after),
            Event::RollingStep => self.rolling_step(),
            Event::Cascade(object) => self.cascade(object),
            Event::Act(act) => self.act(act),
            Event::ControllerUp => self.controller_up(),
            Event::HydrationLook => self.look_at_hydration(),
            Event::Hydrate => self.hydrate(),
            Event::Hydrated(id) => self.hydrated(id),
            Event::HydratedRefresh => self.annotate_refresh(false, None),
            Event::OtherApplies => self.other_applies(),
        }
    }
}
