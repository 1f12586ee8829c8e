//! The operation loop: when automation starts an operation, and what an operation does until it ends.

use super::application::{Operation, OperationPhase, OperationState, SyncResult};
use super::git::{CommitId, Hook};
use super::objects::{DB, Health, OBJECTS, Object, Values, WEB, health};
use super::settings::windows_allow;
use super::time::{Millis, SECOND};
use super::world::{Event, World};

const BLOCKED: &str = "Sync operation blocked by sync window";

/// What a run is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    PreSync,
    /// Apply the object at this place of the order.
    Apply(usize),
    PostHealth,
    PostSync,
    Done,
}

/// An operation under way, as the controller holds it in memory.
pub(super) struct Run {
    id: u64,
    uid: String,
    prod: bool,
    namespace: usize,
    step: Step,
    /// The commit, known after the first pass.
    commit: Option<CommitId>,
    values: Option<Values>,
    /// A hook job under way ends then.
    hook_ends: Option<Millis>,
    results: Vec<(Object, &'static str, &'static str)>,
    /// The operation as this pass works on it: as requested in the first, as stored later.
    operation: Operation,
}

/// The order in which objects are applied: what `web` waits for comes first.
const ORDER: [Object; OBJECTS] = [2, 4, 5, DB, 3, WEB];

impl World {
    /// Takes a requested operation up.
    pub(super) fn operation_seen(&mut self) {
        if !self.controller.up || self.controller.run.is_some() {
            return;
        }
        let Some(operation) = self.app.as_ref().and_then(|app| app.operation.clone()) else {
            return;
        };
        let (now, inherits) = (self.now, self.settings.inherited_fields);
        self.truth.replaced(now);
        self.write(|app| {
            let last = app.status.operation.take().filter(|_| inherits);
            app.status.operation = Some(begun(operation.clone(), last, now));
        });
        self.begin_run(operation);
    }

    /// After a restart: an operation goes on from what is stored, or is marked done by a defect.
    pub(super) fn resume_operation(&mut self) {
        let Some(app) = self.app.as_ref().filter(|app| app.operation.is_some()) else { return };
        let Some(state) = app.status.operation.as_ref().filter(|s| is_running(s.phase)) else {
            return self.after(500, Event::OperationSeen);
        };
        if !self.settings.unfinished_success || !self.rng.chance(60) {
            let operation = state.operation.clone();
            return self.begin_run(operation);
        }
        self.note(|_| "the operation is marked Succeeded and never finished".to_owned());
        self.truth.ended(false);
        self.write(|app| {
            app.operation = None;
            if let Some(state) = &mut app.status.operation {
                state.phase = OperationPhase::Succeeded;
                state.finished = None;
                state.result = None;
            }
        });
    }

    fn begin_run(&mut self, operation: Operation) {
        let Some(app) = &self.app else { return };
        let run = Run {
            id: self.serial + 1,
            uid: app.uid.clone(),
            prod: app.spec.prod,
            namespace: app.spec.destination,
            step: Step::PreSync,
            commit: None,
            values: None,
            hook_ends: None,
            results: Vec::new(),
            operation,
        };
        let id = self.serial();
        self.controller.run = Some(run);
        let wait = self.rng.between(20, 800);
        self.after(wait, Event::Pass(id));
    }

    /// One pass of the operation loop.
    pub(super) fn pass(&mut self, id: u64) {
        let Some(mut run) = self.controller.run.take_if(|run| run.id == id) else { return };
        let here = self.app.as_ref().is_some_and(|app| app.uid == run.uid);
        if !here || !self.controller.up {
            return self.after(SECOND, Event::OperationSeen);
        }
        let phase = self.app.as_ref().and_then(|a| a.status.operation.as_ref()).map(|s| s.phase);
        if phase == Some(OperationPhase::Terminating) {
            return self.finish(run, OperationPhase::Failed, "Operation terminated", false);
        }
        if !windows_allow(&self.settings.windows, self.now, !run.operation.automated) {
            self.say(BLOCKED);
            return self.again(run, 5 * SECOND);
        }
        if run.commit.is_none()
            && let Err(message) = self.load_target(&mut run)
        {
            return self.finish(run, OperationPhase::Error, &message, true);
        }
        self.step(run);
    }

    /// Resolves the revision and renders, and stores both as the sync result.
    fn load_target(&mut self, run: &mut Run) -> Result<(), String> {
        let commit = match self.git.origin(&run.operation.revision) {
            Some(commit) => commit,
            None => self.list_synced(true).ok_or("unable to resolve 'main' to a commit SHA")?,
        };
        let compared = self.app.as_ref().and_then(|a| self.git.origin(&a.status.revision));
        let values = self.manifests(commit, run.prod, false, compared)?;
        (run.commit, run.values) = (Some(commit), Some(values));
        let revision = self.git.name(commit);
        if run.operation.resources.is_empty() {
            self.truth.began(commit);
        }
        self.note(|_| format!("operation runs at {commit} ({revision:.7})"));
        self.change_state(|state| {
            state.result = Some(SyncResult { revision, resources: Vec::new() });
        });
        Ok(())
    }

    fn step(&mut self, mut run: Run) {
        let partial = !run.operation.resources.is_empty();
        let commit = run.commit.map(|commit| self.git.at(commit).clone());
        let (pre, post) = commit.map_or((None, None), |c| (c.pre_sync, c.post_sync));
        match run.step {
            Step::PreSync => self.hook(run, pre.filter(|_| !partial), Step::Apply(0)),
            Step::Apply(at) if at == OBJECTS => {
                run.step = Step::PostHealth;
                self.again(run, 0);
            }
            Step::Apply(at) => self.apply(run, at),
            Step::PostHealth if post.is_none() || partial => {
                run.step = Step::Done;
                self.step(run);
            }
            Step::PostHealth => self.wait_for_health(run, Step::PostSync, OBJECTS),
            Step::PostSync => self.hook(run, post, Step::Done),
            Step::Done => {
                let message = "successfully synced (all tasks run)";
                self.finish(run, OperationPhase::Succeeded, message, false);
            }
        }
    }

    fn hook(&mut self, mut run: Run, hook: Option<Hook>, next: Step) {
        let Some(hook) = hook else {
            run.step = next;
            return self.again(run, 0);
        };
        match run.hook_ends {
            None => {
                run.hook_ends = Some(self.now + hook.lasts);
                self.say("waiting for completion of hook batch/Job/migrate");
                self.again(run, hook.lasts);
            }
            Some(ends) if self.now < ends => self.again(run, SECOND),
            Some(_) if hook.succeeds => {
                run.hook_ends = None;
                run.step = next;
                self.again(run, 0);
            }
            Some(_) => {
                let message = "one or more synchronization tasks completed unsuccessfully";
                self.finish(run, OperationPhase::Failed, message, true);
            }
        }
    }

    /// Applies one object; with waves, `web` waits until what comes before it is healthy.
    fn apply(&mut self, mut run: Run, at: usize) {
        let object = ORDER[at];
        if object == WEB && self.settings.waves && !self.is_wave_healthy(&run, at) {
            return self.wait_for_health(run, Step::Apply(at), at);
        }
        run.step = Step::Apply(at + 1);
        let listed = self.settings.excluded != Some(object)
            && (run.operation.resources.is_empty() || run.operation.resources.contains(&object));
        let wanted = run.values.and_then(|values| values[object]);
        if listed && !self.apply_one(&mut run, object, wanted) {
            let message = "one or more objects failed to apply";
            return self.finish(run, OperationPhase::Failed, message, true);
        }
        let wait = self.rng.between(10, 400);
        self.again(run, wait);
    }

    /// Applies or prunes; `false` where the cluster refused.
    fn apply_one(&mut self, run: &mut Run, object: Object, wanted: Option<u32>) -> bool {
        let commit = run.commit;
        let refused = commit.is_some_and(|c| self.git.at(c).refused == Some(object));
        if wanted.is_some() && (refused || self.rng.chance(self.settings.apply_fails / 5)) {
            run.results.push((object, "SyncFailed", "admission webhook denied the request"));
            return false;
        }
        match (wanted, self.cluster.live[run.namespace][object].value) {
            (Some(_), _) => {
                if run.operation.replace {
                    self.set_live(run.namespace, object, None, None);
                }
                self.set_live(run.namespace, object, wanted, commit);
                run.results.push((object, "Synced", "configured"));
            }
            (None, Some(_)) if run.operation.prune => {
                self.set_live(run.namespace, object, None, commit);
                run.results.push((object, "Pruned", "pruned"));
            }
            (None, Some(_)) => {
                run.results.push((object, "PruneSkipped", "ignored (requires pruning)"));
            }
            (None, None) => {}
        }
        true
    }

    fn is_wave_healthy(&self, run: &Run, before: usize) -> bool {
        self.worst_seen(run, before) == Health::Healthy
    }

    fn worst_seen(&self, run: &Run, before: usize) -> Health {
        let seen = &self.cluster.seen[run.namespace];
        let live = ORDER[..before].iter().filter(|&&o| seen[o].value.is_some());
        let applied = live.filter(|&&o| o != super::objects::REPORT);
        applied
            .filter_map(|&o| health(o, seen[o].phase, &self.settings))
            .max()
            .unwrap_or(Health::Healthy)
    }

    fn wait_for_health(&mut self, mut run: Run, next: Step, before: usize) {
        match self.worst_seen(&run, before) {
            Health::Healthy => {
                run.step = next;
                self.again(run, 0);
            }
            Health::Degraded if self.rng.chance(30) => {
                let message = "one or more synchronization tasks are not valid: degraded";
                self.finish(run, OperationPhase::Failed, message, true);
            }
            _ => {
                self.say("waiting for healthy state of earlier objects");
                let wait = self.rng.between(SECOND, 4 * SECOND);
                self.again(run, wait);
            }
        }
    }

    /// Puts the run back for its next pass, which works on what is stored.
    fn again(&mut self, mut run: Run, wait: Millis) {
        let stored = self.app.as_ref().and_then(|app| app.status.operation.as_ref());
        if let (true, Some(stored)) = (wait >= SECOND, stored) {
            run.operation.resources.clone_from(&stored.operation.resources);
        }
        let id = run.id;
        self.controller.run = Some(run);
        self.after(wait, Event::Pass(id));
    }

    fn say(&mut self, message: &str) {
        self.change_state(|state| message.clone_into(&mut state.message));
    }

    fn change_state(&mut self, change: impl FnOnce(&mut OperationState)) {
        self.write(|app| {
            if let Some(state) = &mut app.status.operation {
                change(state);
            }
        });
    }

    /// Ends the attempt: for good, or until the next retry.
    fn finish(&mut self, run: Run, phase: OperationPhase, message: &str, may_retry: bool) {
        let stored = self.app.as_ref().and_then(|app| app.status.operation.clone());
        let Some(state) = stored else { return };
        let now = self.now;
        let resources = run.results.clone();
        if may_retry && state.retry_count < run.operation.retries {
            let wait = ((5 * SECOND) << state.retry_count).min(180 * SECOND);
            let id = run.id;
            self.note(|_| format!("operation failed, retries: {message}"));
            self.controller.run = Some(run);
            self.change_state(|state| {
                state.finished = Some(now);
                state.retry_count += 1;
                state.message = format!("{message}. Retrying attempt #{}.", state.retry_count);
                state.result.get_or_insert_with(no_result).resources = resources;
            });
            return self.after(wait, Event::Retry(id));
        }
        self.end(&run, phase, message, resources);
    }

    fn end(
        &mut self,
        run: &Run,
        phase: OperationPhase,
        message: &str,
        resources: Vec<(Object, &'static str, &'static str)>,
    ) {
        let now = self.now;
        let full = run.operation.resources.is_empty();
        if full {
            self.truth.ended(phase == OperationPhase::Succeeded);
        }
        self.note(|_| format!("operation ends: {phase:?} {message}"));
        self.write(|app| {
            app.operation = None;
            let Some(state) = &mut app.status.operation else { return };
            state.phase = phase;
            state.finished = Some(now);
            message.clone_into(&mut state.message);
            if let Some(result) = &mut state.result {
                result.resources = resources;
                if full && phase == OperationPhase::Succeeded {
                    app.status.history.push((result.revision.clone(), state.started, now));
                }
            }
            if app.status.history.len() > 10 {
                app.status.history.remove(0);
            }
        });
        let level = self.rng.pick(&[2, 3]);
        self.request_refresh(level);
    }

    /// The next attempt of the same operation, from what is stored of it.
    pub(super) fn retry(&mut self, id: u64) {
        let Some(mut run) = self.controller.run.take_if(|run| run.id == id) else { return };
        let stored = self.app.as_ref().and_then(|app| app.status.operation.clone());
        let Some(stored) = stored else { return };
        run.operation = stored.operation;
        run.step = Step::PreSync;
        (run.commit, run.values, run.hook_ends) = (None, None, None);
        run.results.clear();
        self.change_state(|state| {
            state.finished = None;
            state.result = None;
        });
        self.again(run, 0);
    }
}

fn no_result() -> SyncResult {
    SyncResult { revision: String::new(), resources: Vec::new() }
}

fn is_running(phase: OperationPhase) -> bool {
    matches!(phase, OperationPhase::Running | OperationPhase::Terminating)
}

/// What a person asks for; an empty revision is the newest.
pub(super) fn manual(revision: &str) -> Operation {
    Operation {
        revision: revision.to_owned(),
        resources: Vec::new(),
        prune: false,
        automated: false,
        self_heal: false,
        replace: false,
        retries: 0,
        info: None,
    }
}

/// The state of a new operation. `last` is the state before it where a merge patch writes the new
/// one: what the new one leaves out is inherited.
fn begun(operation: Operation, last: Option<OperationState>, now: Millis) -> OperationState {
    let mut state = OperationState {
        phase: OperationPhase::Running,
        message: String::new(),
        operation,
        started: now,
        finished: None,
        retry_count: 0,
        result: None,
    };
    if let Some(last) = last {
        let stored = &mut state.operation;
        if stored.resources.is_empty() {
            stored.resources = last.operation.resources;
        }
        if stored.revision.is_empty() {
            stored.revision = last.operation.revision;
        }
        stored.info = stored.info.take().or(last.operation.info);
        state.result = last.result;
    }
    state
}
