//! The waits themselves: several at once, then their children, until all are over.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{available_parallelism, scope};
use std::time::Duration;

use super::board::Board;
use super::targets::{Role, Setting, Target, identity};
use crate::argocd::{
    Application, ApplicationRef, ArgoCd, Clock, Drive, Effect, ObjectRef, Outcome, Readiness,
    Relation, Transition, Trouble, Wait, drive,
};
use crate::clock::{self, Alarm, Stopwatch};
use crate::error::Error;
use crate::ops::Context;
use crate::report::wait::{Step, Waited};

/// The most threads that ask; each asks for its share of the Applications in turn.
const MOST_THREADS: usize = 8;

/// The least time between two reads of one Application for each Application there is, so that all together make twenty
/// reads a second at most.
const POLL_FOR_EACH: Duration = Duration::from_millis(50);

/// The pause before a stream of changes that ended is opened again.
const STREAM_PAUSE: Duration = Duration::from_secs(2);

/// The least pause between two reads, however often something changes.
const LEAST_PAUSE: Duration = Duration::from_millis(250);

/// Real time; changes that are heard of end a sleep.
struct RealClock {
    since: Stopwatch,
    alarm: Arc<Alarm>,
}

impl Clock for RealClock {
    fn now(&self) -> Duration {
        self.since.elapsed()
    }

    fn sleep(&self, time: Duration) {
        let least = time.min(LEAST_PAUSE);
        clock::sleep(least);
        self.alarm.sleep(time - least);
    }
}

/// Hears of the changes of one Application until it is dropped. The thread that listens ends with its stream.
struct Listener(Arc<AtomicBool>);

impl Listener {
    fn start(argocd: Arc<dyn ArgoCd>, app: ApplicationRef, alarm: Arc<Alarm>) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let listen = move || {
            let mut changed = || {
                alarm.ring();
                match seen.load(Ordering::Relaxed) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            };
            while !seen.load(Ordering::Relaxed) {
                if let Err(Trouble::NotServed { .. }) = argocd.watch(&app, &mut changed) {
                    return;
                }
                clock::sleep(STREAM_PAUSE);
            }
        };
        // Without a thread the loop's own reads find what changed.
        let _ = std::thread::Builder::new().name("overlay-watch".to_owned()).spawn(listen);
        Self(is_over)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One command's waits.
pub(super) struct Watching<'a> {
    context: &'a Context,
    setting: &'a Setting<'a>,
    clock: RealClock,
    board: Board,
}

/// The clock, which shows how things stand whenever it is asked to sleep.
struct ShownClock<'w, 'a>(&'w Watching<'a>);

impl Clock for ShownClock<'_, '_> {
    fn now(&self) -> Duration {
        self.0.clock.now()
    }

    fn sleep(&self, time: Duration) {
        self.0.show_state();
        self.0.clock.sleep(time);
    }
}

/// A wait that is over.
struct Ended {
    app: ApplicationRef,
    outcome: Outcome,
    warnings: Vec<String>,
    /// How much of the time was over when it began.
    spent: Duration,
}

impl<'a> Watching<'a> {
    /// The waits of a command that began when `since` did.
    pub(super) fn new(context: &'a Context, setting: &'a Setting<'a>, since: Stopwatch) -> Self {
        let clock = RealClock { since, alarm: Arc::default() };
        Self { context, setting, clock, board: Board::default() }
    }

    /// Waits for all of `targets`, and for the children of those that are ready.
    pub(super) fn run(&self, targets: Vec<Target<'a>>) -> Vec<Waited> {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let (mut round, mut all) = (targets, Vec::new());
        while !round.is_empty() {
            seen.extend(round.iter().map(|target| target.identity.clone()));
            let changes = round.iter().flat_map(|target| target.expected.effect.changes());
            let touched: Vec<ObjectRef> = changes.map(|change| change.object.clone()).collect();
            let mut ended = self.round(round);
            round = self.follow(&mut ended, &touched, &mut seen);
            all.extend(ended);
        }
        if let Some(progress) = &self.context.progress {
            progress.end();
        }
        all.into_iter().map(waited).collect()
    }

    fn show_state(&self) {
        if let Some(progress) = &self.context.progress {
            progress.show_state(&|| self.board.lines(self.clock.now()));
        }
    }

    fn round(&self, mut targets: Vec<Target<'a>>) -> Vec<Ended> {
        let spent = self.clock.now();
        let count = targets.len();
        let poll = POLL_FOR_EACH.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
        for target in &mut targets {
            target.expected.poll = target.expected.poll.max(poll);
            target.expected.rules.timeout = target.expected.rules.timeout.saturating_sub(spent);
        }
        let cores = available_parallelism().map_or(1, NonZero::get).max(4);
        let threads = cores.min(MOST_THREADS).min(count);
        let mut shares: Vec<Vec<Target<'a>>> = (0..threads).map(|_| Vec::new()).collect();
        for (at, target) in targets.into_iter().enumerate() {
            shares[at % threads].push(target);
        }
        let shows_name = count > 1 || !spent.is_zero();
        // A change that is heard of is read at once; with many Applications their reads are often enough.
        let listener = self.listen(&shares);
        let ended = scope(|scope| {
            let start = |share| scope.spawn(move || self.share(share, spent, shows_name));
            let started: Vec<_> = shares.into_iter().map(start).collect();
            let joined = started.into_iter().flat_map(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            joined.collect()
        });
        drop(listener);
        ended
    }

    fn listen(&self, shares: &[Vec<Target<'a>>]) -> Option<Listener> {
        let [share] = shares else { return None };
        let [target] = share.as_slice() else { return None };
        let argocd = Arc::clone(&self.setting.argocd);
        Some(Listener::start(argocd, target.app.clone(), Arc::clone(&self.clock.alarm)))
    }

    fn share(&self, targets: Vec<Target<'a>>, spent: Duration, shows_name: bool) -> Vec<Ended> {
        let drives = targets.iter().map(|target| Drive {
            app: target.app.clone(),
            wait: Wait::new(target.expected.clone()),
            revisions: &target.revisions,
        });
        let tell = |at: usize, transition: &Transition| {
            let app = &targets[at].app;
            self.board.learn(app.to_string(), spent + transition.after, transition);
            self.say(shows_name.then_some(app), spent, transition);
        };
        let argocd = &*self.setting.argocd;
        let outcomes = drive(drives.collect(), argocd, &ShownClock(self), &tell);
        let ended = targets.into_iter().zip(outcomes).map(|(target, outcome)| Ended {
            app: target.app,
            warnings: [target.warnings, outcome.warnings.clone()].concat(),
            outcome,
            spent,
        });
        ended.collect()
    }

    fn say(&self, app: Option<&ApplicationRef>, spent: Duration, transition: &Transition) {
        let Some(progress) = &self.context.progress else { return };
        let name = app.map_or_else(String::new, |app| format!("{app}: "));
        let message = match transition.message.as_str() {
            "" => String::new(),
            message => format!(": {message}"),
        };
        let at = (spent + transition.after).as_secs();
        progress.say(&format!("{at:>4}s {name}{}{message}", transition.state));
    }

    /// The children of what is ready, as the next round. What is not followed is said.
    fn follow(
        &self,
        ended: &mut [Ended],
        touched: &[ObjectRef],
        seen: &mut BTreeSet<String>,
    ) -> Vec<Target<'a>> {
        let mut next = Vec::new();
        for parent in ended.iter_mut().filter(|ended| ended.outcome.readiness == Readiness::Ready) {
            let Some(app) = parent.outcome.app.clone() else { continue };
            for child in children(&app) {
                let found = self.setting.argocd.application(&child);
                if found.as_ref().is_ok_and(|found| !seen.insert(identity(found))) {
                    continue;
                }
                let found = found.map_err(|error| error.to_string());
                match found.and_then(|found| self.child(&child, &found, touched)) {
                    Ok(target) => next.push(target),
                    Err(why) => {
                        parent.warnings.push(format!("the child {child} was not followed: {why}"))
                    }
                }
            }
        }
        next
    }

    /// A child of this repository has to hold the commit too; one of another repository has to be settled where the commit
    /// changes the child itself.
    fn child(
        &self,
        child: &ApplicationRef,
        found: &Application,
        touched: &[ObjectRef],
    ) -> Result<Target<'a>, String> {
        let is_itself = |object: &ObjectRef| {
            object.group == "argoproj.io"
                && object.kind == "Application"
                && object.name == child.name
        };
        let role = match self.setting.deploys_repository(found) {
            true => Role::Child,
            false if touched.iter().any(is_itself) => Role::Foreign,
            false => return Err("it deploys another repository".to_owned()),
        };
        Ok(self.setting.target(child.clone(), found, role))
    }
}

/// The Applications that an Application manages.
fn children(app: &Application) -> Vec<ApplicationRef> {
    let own = &app.metadata.namespace;
    let resources = app.status.resources.iter();
    let children = resources
        .filter(|resource| resource.group == "argoproj.io" && resource.kind == "Application")
        .map(|resource| ApplicationRef {
            name: resource.name.clone(),
            namespace: (!resource.namespace.is_empty() && resource.namespace != *own)
                .then(|| resource.namespace.clone()),
            project: None,
        });
    children.collect()
}

/// As the report has it.
fn waited(ended: Ended) -> Waited {
    let application = ended.app.to_string();
    let outcome = ended.outcome;
    let proof = outcome.proof.as_ref();
    let steps = outcome.timeline.iter().map(|transition| Step {
        after: ended.spent + transition.after,
        state: transition.state,
        message: transition.message.clone(),
    });
    Waited {
        revision: proof.map(|proof| proof.revision.clone()),
        relation: proof.map(|proof| match proof.relation {
            Relation::Equal => "equal",
            _ => "descendant",
        }),
        effect: proof.map(|proof| match proof.effect {
            Effect::Verified => "verified",
            Effect::Unknown { .. } => "unknown",
        }),
        timeline: steps.collect(),
        error: Error::from_wait(&application, &outcome),
        warnings: ended.warnings,
        application,
    }
}
