//! What other people and other controllers do meanwhile.

use super::application::{Application, Operation, OperationPhase, Spec, Status, Sync};
use super::git::CommitId;
use super::hydrator::HydratorStatus;
use super::objects::{Health, OBJECTS, Object, SIDE, WEB};
use super::operation::manual;
use super::time::{Millis, SECOND};
use super::world::{Event, World};

/// One thing somebody does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// A commit on top that changes something else.
    PushOther,
    /// A commit on top that takes our change back.
    PushRevert,
    /// A commit on top that sets our field to yet another value.
    PushOverride,
    /// A commit on top that cannot be rendered, and its repair.
    PushBroken,
    PushRepair,
    /// A merge of something else into the branch.
    PushMerge,
    /// The branch is moved to before our commit, or back again.
    ForcePushAway,
    ForcePushBack,
    DeleteBranch,
    RestoreBranch,
    Refresh {
        hard: bool,
    },
    /// Somebody syncs by hand, the newest or an old commit.
    SyncByHand,
    /// A sync with `Replace=true`: every object is made anew.
    ReplaceByHand,
    Rollback,
    Terminate,
    /// The live object is changed or deleted by hand.
    EditLive(Object),
    DeleteLive(Object),
    Crash(Object, Millis),
    /// The spec is pointed elsewhere, or back at our overlay.
    Repoint(Spec),
    Skip(bool),
    Delete,
    /// The application is deleted with its objects kept, and made again.
    Replace(Spec),
    Outage(Millis),
    TooBig(bool),
}

impl World {
    pub(super) fn act(&mut self, act: Act) {
        self.note(|_| format!("somebody: {act:?}"));
        match act {
            Act::PushOther => self.push_values(|_, values| bump(&mut values[SIDE])),
            Act::PushRevert => self.push_values(|before, values| *values = *before),
            Act::PushOverride => self.push_values(|_, values| bump(&mut values[WEB])),
            Act::PushBroken => self.push_broken(true),
            Act::PushRepair => self.push_broken(false),
            Act::PushMerge => self.push_merge(),
            Act::ForcePushAway => self.force_push(false),
            Act::ForcePushBack => self.force_push(true),
            Act::DeleteBranch => self.git.push(self.now, None),
            Act::RestoreBranch => self.git.push(self.now, Some(self.git.last_tip())),
            Act::Refresh { hard } => self.annotate(hard, Some(self.now)),
            Act::SyncByHand => drop(self.set_operation(manual(""))),
            Act::ReplaceByHand => {
                let revision = self.app.as_ref().map(|app| app.status.revision.clone());
                let replace = Operation { replace: true, ..manual(&revision.unwrap_or_default()) };
                self.set_operation(replace);
            }
            Act::Rollback => self.rollback(),
            Act::Terminate => self.terminate(),
            Act::EditLive(object) => self.by_hand(object, false),
            Act::DeleteLive(object) => self.by_hand(object, true),
            Act::Crash(object, lasts) => self.crash(self.namespace(), object, lasts),
            Act::Repoint(spec) => self.repoint(spec),
            Act::Skip(on) => {
                let since = on.then_some(self.now);
                self.write(|app| app.skip = since);
                self.request_refresh(1);
            }
            Act::Delete => self.delete(),
            Act::Replace(spec) => self.replace(spec),
            Act::Outage(lasts) => self.controller_down(lasts),
            Act::TooBig(on) => self.too_big = on,
        }
    }

    fn namespace(&self) -> usize {
        self.app.as_ref().map_or(0, |app| app.spec.destination)
    }

    /// Pushes a commit on the branch's tip; the webhook tells Argo CD some time later.
    pub(super) fn push(&mut self, commit: CommitId) {
        let before = self.git.tip();
        self.git.push(self.now, Some(commit));
        if self.settings.webhook && !self.rng.chance(10) {
            let wait = self.rng.between(100, 5 * SECOND);
            self.after(wait, Event::Webhook { before, after: commit });
        }
    }

    fn push_values(
        &mut self,
        change: impl FnOnce(&[Option<u32>; OBJECTS], &mut [Option<u32>; OBJECTS]),
    ) {
        let Some(tip) = self.git.tip() else { return };
        let broken = self.git.at(tip).broken;
        let mut values = self.git.at(tip).values;
        let before = self.git.at(self.truth.before).values;
        change(&before, &mut values);
        let commit = self.git.commit(Some(tip), values, &mut self.rng);
        self.git.change(commit).broken = broken;
        self.git.change(commit).in_base = self.rng.chance(30);
        self.push(commit);
    }

    fn push_broken(&mut self, broken: bool) {
        let Some(tip) = self.git.tip() else { return };
        let values = self.git.at(tip).values;
        let commit = self.git.commit(Some(tip), values, &mut self.rng);
        self.git.change(commit).broken = broken;
        self.push(commit);
    }

    fn push_merge(&mut self) {
        let Some(tip) = self.git.tip() else { return };
        let values = self.git.at(tip).values;
        let side = self.git.commit(Some(self.truth.before), values, &mut self.rng);
        let commit = self.git.commit(Some(tip), values, &mut self.rng);
        self.git.change(commit).merged = Some(side);
        self.push(commit);
    }

    fn force_push(&mut self, back: bool) {
        let base = if back { self.truth.change } else { self.truth.before };
        let mut values = self.git.at(base).values;
        bump(&mut values[SIDE]);
        let commit = self.git.commit(Some(base), values, &mut self.rng);
        self.push(commit);
    }

    fn rollback(&mut self) {
        let revision = self.git.name(self.truth.before);
        self.set_operation(manual(&revision));
    }

    fn terminate(&mut self) {
        self.write(|app| {
            let state = app.status.operation.as_mut().filter(|_| app.operation.is_some());
            if let Some(state) = state.filter(|s| s.phase == OperationPhase::Running) {
                state.phase = OperationPhase::Terminating;
            }
        });
    }

    fn by_hand(&mut self, object: Object, delete: bool) {
        let namespace = self.namespace();
        let value = self.cluster.live[namespace][object].value;
        if value.is_some() {
            let value = value.filter(|_| !delete).map(|v| v + 500);
            self.set_live(namespace, object, value, None);
        }
    }

    fn repoint(&mut self, spec: Spec) {
        let spec = self.hydratable(spec);
        self.write(|app| app.spec = spec);
        let wait = self.rng.between(20, 3 * SECOND);
        self.after(wait, Event::Reconcile);
    }

    fn delete(&mut self) {
        let now = self.now;
        self.write(|app| app.deleted = app.deleted.or(Some(now)));
        let wait = self.rng.between(100, 3 * SECOND);
        self.after(wait, Event::Cascade(0));
    }

    /// Deletes the objects one by one, and then the application.
    pub(super) fn cascade(&mut self, object: Object) {
        if self.app.as_ref().is_none_or(|app| app.deleted.is_none()) {
            return;
        }
        if object == OBJECTS {
            self.app = None;
            return;
        }
        self.set_live(self.namespace(), object, None, None);
        let wait = self.rng.between(50, 4 * SECOND);
        self.after(wait, Event::Cascade(object + 1));
    }

    /// What is rendered by the hydrator is one overlay.
    fn hydratable(&self, spec: Spec) -> Spec {
        Spec { prod: spec.prod || self.settings.hydrator, ..spec }
    }

    fn replace(&mut self, spec: Spec) {
        let spec = self.hydratable(spec);
        self.truth.forget_deployments();
        self.app =
            Some(Application { uid: self.rng.hex40(), ..new_application(spec, self.now + 1) });
        self.request_refresh(2);
    }
}

fn bump(value: &mut Option<u32>) {
    *value = value.map(|v| v + 7);
}

/// An application that nothing was compared for yet.
pub(super) fn new_application(spec: Spec, resource_version: u64) -> Application {
    Application {
        uid: "7d1f4f6e-6c1b-4a8e-9d53-0c3a8c5f1e11".to_owned(),
        resource_version,
        refresh: None,
        refresh_stamp: None,
        hydrate: None,
        skip: None,
        deleted: None,
        spec,
        operation: None,
        status: Status {
            sync: Sync::Unknown,
            revision: String::new(),
            compared_to: None,
            health: Health::Healthy,
            health_since: 0,
            reconciled: None,
            conditions: Vec::new(),
            resources: Vec::new(),
            operation: None,
            hydrator: HydratorStatus::default(),
            history: Vec::new(),
        },
    }
}
