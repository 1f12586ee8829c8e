//! A recording that is followed, on its own time.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::place::no_such;
use super::{ask_registries, least_allowed, verified};
use crate::cluster::{KindName, Recorded, Recording, WatchEvent};
use crate::error::Error;
use crate::ops::cluster::MOST_OF_DUMP;
use crate::ops::verify::VerifyRequest;
use crate::ops::verify::application::{self, Question, Watched};
use crate::ops::verify::rendering::Rendered;
use crate::ops::{Context, input};
use crate::report::verify::{Ending, Verified};
use crate::rollout::{Follow, Goal, Heard, Progress, newest_time};

/// Follows the recordings that are named, one after another.
///
/// # Errors
/// Where one of them is none.
pub(super) fn recorded(
    context: &Context,
    request: &VerifyRequest,
    rendered: &Rendered,
    goal: Goal,
) -> Result<Verified, Error> {
    let place = match &goal {
        Goal::Namespace(place) => Some(place.clone()),
        Goal::Rendered(_) => None,
    };
    let (mut is_empty, mut is_seen) = (true, place.is_none());
    let mut follow = Follow::new(goal, least_allowed(request));
    let mut applications = Watched::new(Question::open(context, request, rendered)?);
    let (mut now, mut names) = (0, Vec::new());
    for file in &request.access.from {
        let text = input::load_large(&context.cwd, file, MOST_OF_DUMP)?;
        let recording = Recording::parse(&text.name, &text.text)
            .map_err(|error| Error::from_dump(&text.name, error))?;
        is_empty &= recording.is_empty();
        for (at, document) in recording.documents {
            now = at.or_else(|| stated_time(&document)).unwrap_or(now).max(now);
            hear_application(&mut applications, &document);
            hear_recorded(&mut follow, now, document);
            let _ = follow.progress(now);
            is_seen = is_seen
                || place
                    .as_ref()
                    .is_some_and(|place| follow.judge(now, |case| case.snapshot.has_any_in(place)));
            for (application, what) in applications.news(now) {
                follow.note(now, application, what);
            }
        }
        names.push(text.name);
    }
    let names = names.join(", ");
    if is_empty {
        return Err(Error::from_empty_dump(&names));
    }
    if let Some(place) = place.filter(|_| !is_seen) {
        return Err(no_such(&names, &place));
    }
    let ending = match follow.progress(now) {
        Progress::Settled(_) if applications.well_since().is_some() => Ending::Settled,
        Progress::Failed => Ending::Failed,
        Progress::Settled(_) | Progress::Going => Ending::Late,
    };
    follow.learn(ask_registries(context, request, &follow, now)?);
    let mut findings = applications.findings();
    findings.extend(follow.findings(now));
    Ok(verified(rendered, request, names, findings, &follow, now, ending))
}

/// The time that a document speaks of, where it was not written beside it.
fn stated_time(document: &Recorded) -> Option<i64> {
    match document {
        Recorded::State(objects) => objects.iter().filter_map(|(_, o)| newest_time(o)).max(),
        Recorded::Kind(_, objects) => objects.iter().filter_map(newest_time).max(),
        Recorded::Event(
            WatchEvent::Added(object) | WatchEvent::Modified(object) | WatchEvent::Deleted(object),
        ) => newest_time(object),
        _ => None,
    }
}

/// Takes what a document says of Applications.
fn hear_application(applications: &mut Watched<'_>, document: &Recorded) {
    let is_one = |object: &Value| {
        object["kind"] == "Application"
            && object["apiVersion"].as_str().is_some_and(|v| v.starts_with("argoproj.io/"))
    };
    match document {
        Recorded::State(objects) => {
            let all = objects.iter().map(|(_, object)| object).filter(|object| is_one(object));
            applications.relist(all.cloned().collect());
        }
        Recorded::Kind(kind, items) if *kind == application::kind() => {
            applications.relist(items.clone());
        }
        Recorded::Event(WatchEvent::Added(object) | WatchEvent::Modified(object))
            if is_one(object) =>
        {
            applications.change(object.clone());
        }
        Recorded::Event(WatchEvent::Deleted(object)) if is_one(object) => {
            applications.forget(object);
        }
        _ => {}
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
                follow.hear(now, listed(kind, items));
            }
        }
        Recorded::Kind(kind, items) => follow.hear(now, listed(kind, items)),
        Recorded::Event(WatchEvent::Added(object) | WatchEvent::Modified(object)) => {
            follow.hear(now, Heard::Changed(object));
        }
        Recorded::Event(WatchEvent::Deleted(object)) => follow.hear(now, Heard::Gone(object)),
        Recorded::Event(_) | Recorded::End => {}
    }
}

fn listed(kind: KindName, items: Vec<serde_json::Value>) -> Heard {
    let KindName { group, kind } = kind;
    Heard::Listed { group, kind, namespace: String::new(), items }
}
