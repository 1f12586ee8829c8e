//! Waits that are not ours, against which the simulator is tried: what the known tools do, and the bare
//! final predicate with one conjunct left out. They read the Application's JSON and nothing else.

use super::application::OVERLAY;
use super::objects::{DB, OBJECTS, field_text, kind, name};
use super::server::Server;
use super::time::{MINUTE, Millis, SECOND};
use serde_json::Value;

/// One conjunct of the final predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conjunct {
    SameUid,
    NotDeleting,
    NoOperation,
    NoPendingRefresh,
    Synced,
    ComparedToSpec,
    Contains,
    NoError,
    OperationSucceeded,
    OperationFinished,
    ReconciledAfterOperation,
    /// … and not in the same second.
    ReconciledStrictlyAfter,
    Healthy,
    Effect,
    Dwell,
}

pub(super) const ALL: [Conjunct; 15] = [
    Conjunct::SameUid,
    Conjunct::NotDeleting,
    Conjunct::NoOperation,
    Conjunct::NoPendingRefresh,
    Conjunct::Synced,
    Conjunct::ComparedToSpec,
    Conjunct::Contains,
    Conjunct::NoError,
    Conjunct::OperationSucceeded,
    Conjunct::OperationFinished,
    Conjunct::ReconciledAfterOperation,
    Conjunct::ReconciledStrictlyAfter,
    Conjunct::Healthy,
    Conjunct::Effect,
    Conjunct::Dwell,
];

/// Which wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    /// `argocd app wait` without a flag.
    ArgoCd,
    /// Kargo's health check of an application after a promotion.
    Kargo,
    /// The final predicate without one conjunct, or whole.
    Predicate { without: Option<Conjunct> },
}

/// Polls until the peer is content; `false`: it was not within half an hour.
pub(super) fn wait(peer: Peer, dwell: Millis, server: &mut Server) -> bool {
    let end = server.world.now + 30 * MINUTE;
    let mut state = State { dwell: dwell / SECOND, ..State::default() };
    while server.world.now < end {
        let Some(app) = server.application() else {
            server.sleep(5 * SECOND);
            continue;
        };
        state.uid.get_or_insert_with(|| text(&app["metadata"]["uid"]).to_owned());
        if is_content(peer, &app, server, &mut state) {
            return true;
        }
        ask_again(&app, server, &mut state);
        server.sleep(3 * SECOND);
    }
    false
}

#[derive(Default)]
struct State {
    dwell: u64,
    uid: Option<String>,
    asked: Option<Millis>,
    /// When the predicate began to hold, by the controller's clock.
    since: Option<u64>,
}

fn ask_again(app: &Value, server: &mut Server, state: &mut State) {
    let due = state.asked.is_none_or(|at| server.world.now >= at + 20 * SECOND);
    if due && app["metadata"]["annotations"]["argocd.argoproj.io/refresh"].is_null() {
        state.asked = Some(server.world.now);
        server.refresh(false);
    }
}

fn is_content(peer: Peer, app: &Value, server: &mut Server, state: &mut State) -> bool {
    match peer {
        Peer::ArgoCd => is_argocd_content(app),
        Peer::Kargo => is_kargo_content(app, server),
        Peer::Predicate { without } => {
            let kept = |c: &Conjunct| Some(*c) != without;
            let holds = ALL
                .into_iter()
                .filter(|c| *c != Conjunct::Dwell)
                .filter(kept)
                .all(|c| holds(c, app, server, state));
            let dwell = if without == Some(Conjunct::Dwell) { 0 } else { state.dwell };
            has_dwelt(app, holds, dwell, state)
        }
    }
}

/// 1.7: in sync, healthy, no operation, and the comparison not older than the operation's end.
fn is_argocd_content(app: &Value) -> bool {
    let status = &app["status"];
    let finished = seconds(&status["operationState"]["finishedAt"]);
    app["operation"].is_null()
        && finished.is_some()
        && seconds(&status["reconciledAt"]) >= finished
        && text(&status["sync"]["status"]) == "Synced"
        && text(&status["health"]["status"]) == "Healthy"
}

/// 1.7: the revision is ours exactly, the comparison not older than the operation, healthy.
fn is_kargo_content(app: &Value, server: &Server) -> bool {
    let status = &app["status"];
    let ours = &server.world.git.at(server.world.truth.change).sha;
    let has_error = conditions(app).any(|c| matches!(c, "ComparisonError" | "InvalidSpecError"));
    revision(status) == ours
        && !has_error
        && seconds(&status["reconciledAt"]) >= seconds(&status["operationState"]["finishedAt"])
        && text(&status["health"]["status"]) == "Healthy"
}

fn has_dwelt(app: &Value, holds: bool, dwell: u64, state: &mut State) -> bool {
    let reconciled = seconds(&app["status"]["reconciledAt"]);
    let finished = seconds(&app["status"]["operationState"]["finishedAt"]);
    let Some(reconciled) = reconciled.filter(|_| holds) else {
        state.since = None;
        return false;
    };
    let since = *state.since.get_or_insert(reconciled);
    let settled = finished.is_some_and(|f| reconciled >= f + dwell);
    settled || reconciled >= since + dwell
}

fn holds(conjunct: Conjunct, app: &Value, server: &mut Server, state: &State) -> bool {
    let (metadata, status) = (&app["metadata"], &app["status"]);
    let notes = &metadata["annotations"];
    match conjunct {
        Conjunct::SameUid => state.uid.as_deref() == metadata["uid"].as_str(),
        Conjunct::NotDeleting => metadata["deletionTimestamp"].is_null(),
        Conjunct::NoOperation => app["operation"].is_null(),
        Conjunct::NoPendingRefresh => {
            notes["argocd.argoproj.io/refresh"].is_null()
                && notes["argocd.argoproj.io/skip-reconcile"].is_null()
        }
        Conjunct::Synced => text(&status["sync"]["status"]) == "Synced",
        Conjunct::ComparedToSpec => is_compared_to_spec(app),
        Conjunct::Contains => is_relevant(&app["spec"]) && contains(revision(status), server),
        Conjunct::NoError => !conditions(app).any(|kind| kind.ends_with("Error")),
        Conjunct::Healthy => text(&status["health"]["status"]) == "Healthy",
        Conjunct::Effect => still_holds(revision(status), server) && has_effect(server),
        Conjunct::Dwell => true,
        _ => operation_holds(conjunct, status, server),
    }
}

/// The part about the last operation, which matters where it ran at a commit with the change.
fn operation_holds(conjunct: Conjunct, status: &Value, server: &Server) -> bool {
    let last = &status["operationState"];
    let broken = last["syncResult"].is_null() && last["finishedAt"].is_null() && !last.is_null();
    if !broken && !contains(revision_of(&last["syncResult"]), server) {
        return true;
    }
    let finished = seconds(&last["finishedAt"]);
    match conjunct {
        Conjunct::OperationSucceeded => text(&last["phase"]) == "Succeeded",
        Conjunct::OperationFinished => finished.is_some(),
        Conjunct::ReconciledAfterOperation => seconds(&status["reconciledAt"]) >= finished,
        _ => seconds(&status["reconciledAt"]) != finished,
    }
}

fn contains(revision: &str, server: &Server) -> bool {
    revision.len() == 40 && server.contains_change(revision) == Some(true)
}

/// Whether our own render of `revision`, if it contains the change, still says what the change says.
fn still_holds(revision: &str, server: &Server) -> bool {
    let world = &server.world;
    let commit = world.git.origin(revision).filter(|_| contains(revision, server));
    commit.is_none_or(|c| world.git.holds(world.truth.change, &world.truth.touched, c))
}

fn revision(status: &Value) -> &str {
    revision_of(&status["sync"])
}

/// Whether the application deploys our overlay.
fn is_relevant(spec: &Value) -> bool {
    let path = |source: &Value| text(&source["path"]) == OVERLAY;
    path(&spec["source"]) || spec["sources"].as_array().is_some_and(|s| s.iter().any(path))
}

/// The revision at our source's place.
fn revision_of(of: &Value) -> &str {
    match of["revisions"].as_array() {
        Some(several) => several.get(1).map_or("", text),
        None => text(&of["revision"]),
    }
}

fn is_compared_to_spec(app: &Value) -> bool {
    let (spec, compared) = (&app["spec"], &app["status"]["sync"]["comparedTo"]);
    spec["destination"] == compared["destination"]
        && match spec["sources"].is_null() {
            true => spec["source"] == compared["source"],
            false => spec["sources"] == compared["sources"],
        }
}

/// Every object that the change touches says the wanted value, in target and live state.
fn has_effect(server: &mut Server) -> bool {
    let Some(managed) = server.managed() else { return true };
    let change = server.world.git.at(server.world.truth.change).values;
    (0..OBJECTS).filter(|o| server.world.truth.touched.contains(o)).all(|object| {
        let same =
            |m: &&Value| text(&m["kind"]) == kind(object).2 && text(&m["name"]) == name(object);
        let wanted = change[object].map(|value| format!("{:?}", field_text(object, value)));
        let says = |state: &Value| wanted.as_ref().is_some_and(|w| text(state).contains(w));
        managed.iter().find(same).is_some_and(|m| {
            let healthy =
                object != DB || text(&m["liveState"]).contains("Cluster in healthy state");
            says(&m["targetState"]) && says(&m["liveState"]) && healthy
        })
    })
}

fn conditions(app: &Value) -> impl Iterator<Item = &str> {
    app["status"]["conditions"].as_array().into_iter().flatten().map(|c| text(&c["type"]))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Seconds of an RFC 3339 time within the history's month.
fn seconds(value: &Value) -> Option<u64> {
    let text = value.as_str()?;
    let part = |from: usize| text.get(from..from + 2)?.parse::<u64>().ok();
    Some(((part(8)? * 24 + part(11)?) * 60 + part(14)?) * 60 + part(17)?)
}
