//! `overlay verify --follow`: watches until what runs is what it is to be, or the time is over.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::VerifyRequest;
use super::rendering::{self, Rendered};
use crate::clock::{self, Deadline};
use crate::cluster::{ClusterError, ClusterReader, KindName, Recorded, Recording, WatchEvent};
use crate::error::Error;
use crate::ops::cluster::MOST_OF_DUMP;
use crate::ops::{Context, input};
use crate::report::verify::{Ending, Followed, Verified};
use crate::rollout::{Finding, Follow, Goal, Heard, KINDS, Progress, Wanted, newest_time};

/// How long is waited where nothing else is said.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// How long all has to be well before a roll is over: a controller may still be about to act.
const DWELL: Duration = Duration::from_secs(10);
/// The same where there is a database, whose operator begins to act later and tells no generation.
const DATABASE_DWELL: Duration = Duration::from_secs(30);
/// The longest pause between two looks at what was heard.
const PAUSE: Duration = Duration::from_millis(250);

/// Kinds that are watched beside those that are wanted: group, kind, what a missing right means.
const AROUND: [(&str, &str, Need); 7] = [
    ("", "Pod", Need::All),
    ("apps", "ReplicaSet", Need::All),
    ("policy", "PodDisruptionBudget", Need::Some),
    ("", "Event", Need::None),
    ("", "PersistentVolumeClaim", Need::None),
    ("", "ConfigMap", Need::None),
    ("apps", "ControllerRevision", Need::None),
];

/// What it means where a kind may not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// Nothing: it only helps to explain.
    None,
    /// A finding.
    Some,
    /// The end: nothing can be said without it.
    All,
}

/// One watch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stream {
    kind: KindName,
    /// Empty for all.
    namespace: String,
    need: Need,
}

type Message = (Arc<Stream>, Result<WatchEvent, ClusterError>);

/// Follows, until all is settled, has failed, or the time is over.
///
/// # Errors
/// As for a verification of one moment.
pub(super) fn follow(context: &Context, request: &VerifyRequest) -> Result<Verified, Error> {
    let rendered = rendering::render(context, request)?;
    if !request.access.from.is_empty() {
        let namespace = request.namespace.clone().unwrap_or_else(|| "default".to_owned());
        let goal = goal(request, &rendered, &namespace);
        return recorded(context, request, &rendered, goal);
    }
    let reader = request.access.open(context)?;
    let default = reader.default_namespace().unwrap_or("default").to_owned();
    let namespace = request.namespace.clone().unwrap_or(default);
    let goal = goal(request, &rendered, &namespace);
    let mut live = Live::start(context, request, &reader, goal);
    let ending = live.run(context, request)?;
    let Live { mut follow, mut unreadable, .. } = live;
    let now = now();
    follow.learn(ask_registries(context, request, &follow, now)?);
    let mut findings =
        super::application::findings(context, &*reader, request, &rendered, &mut |finding| {
            unreadable.push(finding);
        })?;
    findings.extend(follow.findings(now));
    findings.append(&mut unreadable);
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
struct Live {
    follow: Follow,
    heard: Receiver<Message>,
    /// Streams that have not told yet what there is.
    silent: BTreeSet<Arc<Stream>>,
    unreadable: Vec<Finding>,
}

impl Live {
    /// Opens a watch of every kind on a thread of its own. The threads end with their streams.
    fn start(
        context: &Context,
        request: &VerifyRequest,
        reader: &Arc<dyn ClusterReader>,
        goal: Goal,
    ) -> Self {
        let (tell, heard) = channel();
        let streams: BTreeSet<Arc<Stream>> = streams(&goal).into_iter().map(Arc::new).collect();
        for stream in &streams {
            context.say(|| format!("watching {} in {}", stream.kind, stream.namespace));
            listen(Arc::clone(reader), Arc::clone(stream), tell.clone());
        }
        let follow = Follow::new(goal, least_allowed(request));
        Self { follow, heard, silent: streams, unreadable: Vec::new() }
    }

    fn run(&mut self, context: &Context, request: &VerifyRequest) -> Result<Ending, Error> {
        let deadline = Deadline::after(context.allowed_time().unwrap_or(DEFAULT_TIMEOUT));
        let dwell = request.dwell.unwrap_or(match self.follow.has_database() {
            true => DATABASE_DWELL,
            false => DWELL,
        });
        let dwell = i64::try_from(dwell.as_secs()).unwrap_or(i64::MAX);
        let mut told = 0;
        loop {
            self.hear(deadline)?;
            let is_over = deadline.is_over();
            if self.silent.is_empty() || is_over {
                let progress = self.follow.progress(now());
                for step in &self.follow.timeline()[told..] {
                    context.say(|| format!("{} {}", step.object, step.what));
                }
                told = self.follow.timeline().len();
                match progress {
                    Progress::Settled(since) if now() - since >= dwell => {
                        return Ok(Ending::Settled);
                    }
                    Progress::Failed => return Ok(Ending::Failed),
                    _ => {}
                }
            }
            if is_over {
                return Ok(Ending::Late);
            }
        }
    }

    /// Takes what was heard: at least one message, or none where nothing happens for a moment.
    fn hear(&mut self, deadline: Deadline) -> Result<(), Error> {
        let mut wait = PAUSE.min(deadline.remaining());
        loop {
            match self.heard.recv_timeout(wait) {
                Ok(message) => self.take(message)?,
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => {
                    clock::sleep(wait);
                    return Ok(());
                }
            }
            // What is there already is taken at once; the next look is for all of it.
            wait = Duration::ZERO;
        }
    }

    fn take(&mut self, (stream, heard): Message) -> Result<(), Error> {
        let now = now();
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
            Ok(WatchEvent::Quiet | WatchEvent::Interrupted(_)) => {}
            Err(error @ ClusterError::Denied { .. }) if stream.need < Need::All => {
                self.silent.remove(&stream);
                if stream.need == Need::Some {
                    let KindName { group, kind } = &stream.kind;
                    let finding = super::unreadable(group, kind, &stream.namespace, &error);
                    self.unreadable.push(finding);
                }
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

/// What is watched for a goal.
fn streams(goal: &Goal) -> BTreeSet<Stream> {
    let mut streams = BTreeSet::new();
    let mut watch = |group: &str, kind: &str, namespace: &str, need: Need| {
        let kind = KindName::new(group, kind);
        streams.insert(Stream { kind, namespace: namespace.to_owned(), need });
    };
    let need_of = |group: &str| if group == "apps" { Need::All } else { Need::Some };
    let namespaces: BTreeSet<&str> = match goal {
        Goal::Namespace(place) => {
            KINDS.iter().for_each(|(group, kind)| watch(group, kind, place, need_of(group)));
            [place.as_str()].into()
        }
        Goal::Rendered(wanted) => {
            for wanted in wanted {
                let (group, subject) = (wanted.group(), &wanted.subject);
                watch(group, &subject.kind, &subject.namespace, need_of(group));
            }
            wanted.iter().map(|wanted| wanted.subject.namespace.as_str()).collect()
        }
    };
    for namespace in namespaces {
        AROUND.iter().for_each(|(group, kind, need)| watch(group, kind, namespace, *need));
    }
    watch("", "Node", "", Need::None);
    streams
}

/// Tells what a stream says, until nobody listens any more.
fn listen(reader: Arc<dyn ClusterReader>, stream: Arc<Stream>, tell: Sender<Message>) {
    let watch = move || {
        let namespace = Some(stream.namespace.as_str()).filter(|place| !place.is_empty());
        let ended = reader.watch(&stream.kind, namespace, &mut |event| match tell
            .send((Arc::clone(&stream), Ok(event)))
        {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        });
        if let Err(error) = ended {
            let _ = tell.send((stream, Err(error)));
        }
    };
    drop(std::thread::Builder::new().name("overlay-watch".to_owned()).spawn(watch));
}

/// Follows a recording, on its own time.
fn recorded(
    context: &Context,
    request: &VerifyRequest,
    rendered: &Rendered,
    goal: Goal,
) -> Result<Verified, Error> {
    let mut follow = Follow::new(goal, least_allowed(request));
    let (mut now, mut names) = (0, Vec::new());
    for file in &request.access.from {
        let text = input::load_large(&context.cwd, file, MOST_OF_DUMP)?;
        let recording = Recording::parse(&text.name, &text.text)
            .map_err(|error| Error::from_dump(&text.name, error))?;
        for (at, document) in recording.documents {
            now = at.or_else(|| stated_time(&document)).unwrap_or(now).max(now);
            hear_recorded(&mut follow, now, document);
            let _ = follow.progress(now);
        }
        names.push(text.name);
    }
    let ending = match follow.progress(now) {
        Progress::Settled(_) => Ending::Settled,
        Progress::Failed => Ending::Failed,
        Progress::Going => Ending::Late,
    };
    follow.learn(ask_registries(context, request, &follow, now)?);
    let findings = follow.findings(now);
    Ok(verified(rendered, request, names.join(", "), findings, &follow, now, ending))
}

/// The time that a document speaks of, where it was not written beside it.
fn stated_time(document: &Recorded) -> Option<i64> {
    match document {
        Recorded::State(objects) => objects.iter().filter_map(|(_, o)| newest_time(o)).max(),
        Recorded::Event(
            WatchEvent::Added(object) | WatchEvent::Modified(object) | WatchEvent::Deleted(object),
        ) => newest_time(object),
        _ => None,
    }
}

fn hear_recorded(follow: &mut Follow, now: i64, document: Recorded) {
    match document {
        Recorded::State(objects) => {
            let needed = [KindName::new("", "Pod"), KindName::new("apps", "ReplicaSet")];
            let kinds: BTreeSet<KindName> =
                objects.iter().map(|(kind, _)| kind.clone()).chain(needed).collect();
            for kind in kinds {
                let of_kind = objects.iter().filter(|(known, _)| *known == kind);
                let items = of_kind.map(|(_, object)| object.clone()).collect();
                let KindName { group, kind } = kind;
                follow.hear(now, Heard::Listed { group, kind, namespace: String::new(), items });
            }
        }
        Recorded::Event(WatchEvent::Added(object) | WatchEvent::Modified(object)) => {
            follow.hear(now, Heard::Changed(object));
        }
        Recorded::Event(WatchEvent::Deleted(object)) => follow.hear(now, Heard::Gone(object)),
        Recorded::Event(_) | Recorded::End => {}
    }
}
