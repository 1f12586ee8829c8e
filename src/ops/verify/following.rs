//! `overlay verify --follow`: watches until what runs is what it is to be, or the time is over.

mod recorded;
mod streams;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::VerifyRequest;
use super::application::{self, Question, Watched};
use super::conditions::Asker;
use super::place::{nothing_compared, require_namespace};
use super::rendering::{self, Rendered};
use crate::clock::{self, Deadline, Stopwatch};
use crate::cluster::{ClusterError, ClusterReader, KindName, WatchEvent};
use crate::error::Error;
use crate::ops::Context;
use crate::ops::cluster::Bound;
use crate::report::verify::{Ending, Followed, Verified};
use crate::rollout::{
    Broken, Finding, Follow, Goal, Heard, Progress, Snapshot, Wanted, WorkloadLine,
};

use streams::{Message, Need, Stream, listen, streams};

/// How long is waited where nothing else is said.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// How long all has to be well before a roll is over: a controller may still be about to act.
const DWELL: Duration = Duration::from_secs(10);
/// The same where there is a database, whose operator begins to act later and tells no generation.
const DATABASE_DWELL: Duration = Duration::from_secs(30);
/// The longest pause between two looks at what was heard.
const PAUSE: Duration = Duration::from_millis(250);
/// The longest time after a failure in which what explains it is still heard.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How much longer than the whole time the first answer to a stream may take.
const BEYOND: Duration = Duration::from_secs(2);
/// The pause before conditions that do not hold are asked again.
const CONDITIONS_PAUSE: Duration = Duration::from_secs(10);

/// Follows, until all is settled, has failed, or the time is over.
///
/// # Errors
/// As for a verification of one moment.
pub(super) fn follow(context: &Context, request: &VerifyRequest) -> Result<Verified, Error> {
    let rendered = rendering::render(context, request)?;
    if !request.access.from.is_empty() {
        let namespace = request.namespace.clone().unwrap_or_else(|| "default".to_owned());
        let goal = goal(request, &rendered, &namespace);
        return recorded::recorded(context, request, &rendered, goal);
    }
    let deadline = Deadline::after(context.allowed_time().unwrap_or(DEFAULT_TIMEOUT));
    let allowed = context.allowed_time();
    let reader = request.access.open_within(context, Bound::All(allowed))?;
    // The loop ends by its own clock, a moment before an answer to one of its streams that does not come.
    let beyond = allowed.map(|allowed| allowed + BEYOND);
    let streaming = request.access.open_within(context, Bound::Each(beyond))?;
    let default = reader.default_namespace().unwrap_or("default").to_owned();
    let namespace = request.namespace.clone().unwrap_or(default);
    let goal = goal(request, &rendered, &namespace);
    let unknown = match &goal {
        Goal::Namespace(place) => require_namespace(&*reader, &Snapshot::default(), place)?,
        Goal::Rendered(_) => None,
    };
    let conditions = Asker::new(context, request, &rendered)?;
    let watched = Watched::new(Question::open(context, request, &rendered)?);
    let mut live = Live::start(context, request, &streaming, goal, watched);
    let ended = live.run(context, request, &conditions, (&*reader, deadline));
    if let Some(progress) = &context.progress {
        progress.end();
    }
    let ending = ended?;
    let Live { mut follow, applications, mut unreadable, broken, .. } = live;
    let now = now();
    follow.learn(ask_registries(context, request, &follow, now)?);
    let mut findings = match applications {
        Some(watched) => watched.findings(),
        // Who may not watch them may list them.
        None => application::findings(context, &*reader, request, &rendered, &mut |finding| {
            unreadable.push(finding);
        })?,
    };
    findings.extend(follow.findings(now));
    findings.append(&mut unreadable);
    let is_seen = follow.judge(now, |case| case.snapshot.has_any_in(&namespace));
    findings.extend(unknown.filter(|_| !is_seen));
    if !findings.iter().any(Finding::is_failure) {
        findings.extend(
            follow.judge(now, |case| {
                nothing_compared(case.wanted, &rendered.directories, &namespace)
            }),
        );
    }
    findings.extend(broken.into_iter().map(|broken| broken.finding));
    Ok(verified(&rendered, request, reader.described(), findings, &follow, now, ending))
}

fn now() -> i64 {
    i64::try_from(clock::now_unix()).unwrap_or(i64::MAX)
}

fn goal(request: &VerifyRequest, rendered: &Rendered, namespace: &str) -> Goal {
    match request.overlays.is_empty() {
        true => Goal::Namespace(namespace.to_owned()),
        false => Goal::Rendered(Wanted::all(&rendered.objects, namespace)),
    }
}

fn least_allowed(request: &VerifyRequest) -> i64 {
    request.least_allowed.unwrap_or(i64::from(request.overlays.is_empty()))
}

fn verified(
    rendered: &Rendered,
    request: &VerifyRequest,
    source: String,
    findings: Vec<Finding>,
    follow: &Follow,
    now: i64,
    ending: Ending,
) -> Verified {
    let (workloads, budgets) =
        follow.judge(now, |case| (case.workload_lines(), case.budget_lines()));
    Verified {
        overlays: rendered.overlays.clone(),
        namespace: request.overlays.is_empty().then(|| request.namespace.clone()).flatten(),
        commit: rendered.commit.clone(),
        source,
        workloads,
        budgets,
        findings,
        followed: Some(Followed::of(follow, ending)),
    }
}

#[cfg(feature = "registry")]
fn ask_registries(
    context: &Context,
    request: &VerifyRequest,
    follow: &Follow,
    now: i64,
) -> Result<crate::rollout::Indexes, Error> {
    match request.no_registry || context.offline {
        true => Ok(crate::rollout::Indexes::default()),
        false => super::platforms::ask(context, &follow.questions(now)),
    }
}

#[cfg(not(feature = "registry"))]
fn ask_registries(
    _: &Context,
    _: &VerifyRequest,
    _: &Follow,
    _: i64,
) -> Result<crate::rollout::Indexes, Error> {
    Ok(crate::rollout::Indexes::default())
}

/// A roll that goes on now.
struct Live<'a> {
    follow: Follow,
    /// The Applications; `None` where they may not be watched.
    applications: Option<Watched<'a>>,
    /// When it began, in seconds since 1970.
    started: i64,
    heard: Receiver<Message>,
    /// Streams that have not told yet what there is.
    silent: BTreeSet<Arc<Stream>>,
    unreadable: Vec<Finding>,
    /// Streams that tell nothing now, with the reason: what is known of them may be out of date.
    closed: BTreeMap<Arc<Stream>, String>,
    /// The conditions that did not hold when they were asked last.
    broken: Vec<Broken>,
}

impl<'a> Live<'a> {
    /// Opens a watch of every kind on a thread of its own. The threads end with their streams.
    fn start(
        context: &Context,
        request: &VerifyRequest,
        reader: &Arc<dyn ClusterReader>,
        goal: Goal,
        watched: Watched<'a>,
    ) -> Self {
        let (tell, heard) = channel();
        let applications = Stream {
            kind: application::kind(),
            namespace: request.argocd_namespace.clone().unwrap_or_default(),
            need: if request.commit.is_some() { Need::Some } else { Need::None },
        };
        let all = streams(&goal).into_iter().chain([applications]);
        let streams: BTreeSet<Arc<Stream>> = all.map(Arc::new).collect();
        for stream in &streams {
            context.say(|| format!("watching {} in {}", stream.kind, stream.namespace));
            listen(Arc::clone(reader), Arc::clone(stream), tell.clone());
        }
        let follow = Follow::new(goal, least_allowed(request));
        Self {
            follow,
            applications: Some(watched),
            started: now(),
            heard,
            silent: streams,
            unreadable: Vec::new(),
            closed: BTreeMap::new(),
            broken: Vec::new(),
        }
    }

    fn run(
        &mut self,
        context: &Context,
        request: &VerifyRequest,
        conditions: &Asker,
        (reader, deadline): (&dyn ClusterReader, Deadline),
    ) -> Result<Ending, Error> {
        let mut asked: Option<Stopwatch> = None;
        let mut failing: Option<Stopwatch> = None;
        loop {
            let is_quiet = !self.hear(deadline)?;
            let is_over = deadline.is_over();
            if !self.silent.is_empty() && !is_over {
                continue;
            }
            self.check_heard()?;
            let progress = self.progress(now());
            self.tell(context);
            match progress {
                Progress::Settled(since)
                    if now() - since >= self.dwell(request) && self.closed.is_empty() =>
                {
                    if conditions.is_idle() {
                        return Ok(Ending::Settled);
                    }
                    let is_time = asked.as_ref().is_none_or(|w| w.elapsed() >= CONDITIONS_PAUSE);
                    if is_time || is_over {
                        self.broken = self.follow.judge(now(), |c| conditions.broken(reader, c));
                        asked = Some(Stopwatch::start());
                    }
                    if self.broken.is_empty() {
                        return Ok(Ending::Settled);
                    }
                    if self.broken.iter().any(|broken| !broken.may_pass) {
                        return Ok(Ending::Failed);
                    }
                }
                // Each kind has a stream of its own: what explains the failure may be a moment behind.
                Progress::Failed => {
                    let since = failing.get_or_insert_with(Stopwatch::start);
                    if is_quiet || is_over || since.elapsed() >= LAST_WORDS {
                        return Ok(Ending::Failed);
                    }
                }
                _ => failing = None,
            }
            if is_over {
                let closed = std::mem::take(&mut self.closed).into_iter();
                self.unreadable.extend(closed.map(|(stream, why)| not_told(&stream, &why)));
                return Ok(Ending::Late);
            }
        }
    }

    /// How far it is, the Applications included: what runs may be well before Argo CD has seen the commit.
    fn progress(&mut self, now: i64) -> Progress {
        let progress = self.follow.progress(now);
        let Some(applications) = &mut self.applications else { return progress };
        for (application, what) in applications.news(now) {
            self.follow.note(now, application, what);
        }
        match (progress, applications.well_since()) {
            (Progress::Settled(since), Some(well)) => Progress::Settled(since.max(well)),
            (Progress::Settled(_), None) => Progress::Going,
            (other, _) => other,
        }
    }

    /// Tells what happened, and on a terminal how things stand.
    fn tell(&mut self, context: &Context) {
        let news = self.follow.news();
        let Some(progress) = &context.progress else { return };
        for step in news {
            let at = (step.at - self.started).max(0);
            progress.say(&format!("{at:>4}s {} {}", step.object, step.what));
        }
        progress.show_state(&|| {
            let line = |line: &WorkloadLine| {
                let WorkloadLine { kind, name, ready, replicas, pods, .. } = line;
                format!("{kind}/{name}: {ready} of {replicas} ready, {pods} pods")
            };
            self.follow.judge(now(), |case| case.workload_lines().iter().map(line).collect())
        });
    }

    /// How long all has to be well, in seconds.
    fn dwell(&self, request: &VerifyRequest) -> i64 {
        let usual = if self.follow.has_database() { DATABASE_DWELL } else { DWELL };
        i64::try_from(request.dwell.unwrap_or(usual).as_secs()).unwrap_or(i64::MAX)
    }

    /// Nothing can be said of what was never heard.
    fn check_heard(&self) -> Result<(), Error> {
        let Some(stream) = self.silent.iter().find(|stream| stream.need > Need::None) else {
            return Ok(());
        };
        let message = match stream.namespace.as_str() {
            "" => format!("the cluster did not list {} in time", stream.kind),
            place => {
                format!("the cluster did not list {} of namespace {place} in time", stream.kind)
            }
        };
        Err(ClusterError::Unreachable { message }.into())
    }

    /// Takes what was heard: at least one message, or none where nothing happens for a moment. Whether there was one.
    fn hear(&mut self, deadline: Deadline) -> Result<bool, Error> {
        let mut wait = PAUSE.min(deadline.remaining());
        let mut any = false;
        loop {
            match self.heard.recv_timeout(wait) {
                Ok(message) => self.take(message)?,
                Err(RecvTimeoutError::Timeout) => return Ok(any),
                Err(RecvTimeoutError::Disconnected) => {
                    clock::sleep(wait);
                    return Ok(any);
                }
            }
            any = true;
            if deadline.is_over() {
                return Ok(any);
            }
            // What is there already is taken at once; the next look is for all of it.
            wait = Duration::ZERO;
        }
    }

    fn close(&mut self, stream: Arc<Stream>, why: String) {
        if stream.need > Need::None {
            self.closed.insert(stream, why);
        }
    }

    fn take(&mut self, (stream, heard): Message) -> Result<(), Error> {
        let now = now();
        if stream.kind == application::kind() {
            return self.take_application(stream, heard);
        }
        match heard {
            Ok(WatchEvent::Listed(items)) => {
                self.silent.remove(&stream);
                self.follow.hear(
                    now,
                    Heard::Listed {
                        group: stream.kind.group.clone(),
                        kind: stream.kind.kind.clone(),
                        namespace: stream.namespace.clone(),
                        items,
                    },
                );
            }
            Ok(WatchEvent::Added(object) | WatchEvent::Modified(object)) => {
                self.follow.hear(now, Heard::Changed(object));
            }
            Ok(WatchEvent::Deleted(object)) => self.follow.hear(now, Heard::Gone(object)),
            Ok(WatchEvent::Open) => {
                self.closed.remove(&stream);
            }
            Ok(WatchEvent::Closed) => self.close(stream, "the stream was closed".to_owned()),
            Ok(WatchEvent::Interrupted(why)) => self.close(stream, why),
            // What only explains is not worth an end.
            Err(error) if stream.need == Need::None => {
                self.silent.remove(&stream);
                if is_denied(&error) {
                    let KindName { group, kind } = &stream.kind;
                    let unreadable = super::unreadable(group, kind, &stream.namespace, &error);
                    self.unreadable.push(unreadable.as_note());
                }
            }
            Err(error @ ClusterError::Denied { .. }) if stream.need == Need::Some => {
                self.silent.remove(&stream);
                let KindName { group, kind } = &stream.kind;
                self.follow.leave_out(group, kind, &stream.namespace);
                self.unreadable.push(super::unreadable(group, kind, &stream.namespace, &error));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn take_application(
        &mut self,
        stream: Arc<Stream>,
        heard: Result<WatchEvent, ClusterError>,
    ) -> Result<(), Error> {
        match (heard, &mut self.applications) {
            (Ok(WatchEvent::Listed(items)), watched) => {
                self.silent.remove(&stream);
                watched.iter_mut().for_each(|watched| watched.relist(items.clone()));
            }
            (Ok(WatchEvent::Added(one) | WatchEvent::Modified(one)), Some(watched)) => {
                watched.change(one);
            }
            (Ok(WatchEvent::Deleted(one)), Some(watched)) => watched.forget(&one),
            (Ok(WatchEvent::Open), _) => drop(self.closed.remove(&stream)),
            (Ok(WatchEvent::Closed), _) => self.close(stream, "the stream was closed".to_owned()),
            (Ok(WatchEvent::Interrupted(why)), _) => self.close(stream, why),
            (Ok(_), None) => {}
            (Err(error), _) if stream.need == Need::None || is_denied(&error) => {
                self.silent.remove(&stream);
                self.applications = None;
            }
            (Err(error), _) => return Err(error.into()),
        }
        Ok(())
    }
}

fn is_denied(error: &ClusterError) -> bool {
    matches!(error, ClusterError::Denied { .. })
}

/// That changes of a kind were not told any more at the end.
fn not_told(stream: &Stream, why: &str) -> Finding {
    let KindName { group, kind } = &stream.kind;
    let error = ClusterError::Unreachable { message: format!("its changes are not told: {why}") };
    super::unreadable(group, kind, &stream.namespace, &error)
}
