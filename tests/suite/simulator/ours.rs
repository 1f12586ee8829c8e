//! `overlay wait` in a simulated world: its state machine, stepped by virtual time.

use super::application::{HYDRATED_BRANCH, NAMESPACES, OVERLAY};
use super::history::{Call, History};
use super::objects::{CONFIG, DB, LEGACY, Object, field_text, health, kind, name};
use super::server::Server;
use super::settings::Window;
use super::time::{HOUR, MINUTE, Millis};
use overlay::argocd::{
    Action, Application, Effect, Expectation, ExpectedChange, ExpectedEffect, ExpectedField,
    HealthScope, HydratedQuery, Input, ManagedResource, ObjectRef, Outcome, Presence, Readiness,
    RefreshRule, Relation, SyncRule, SyncWindow, SyncWindows, TreeNode, Trouble, Wait, predicate,
};
use overlay::kustomize::{FieldPath, Step};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// How one history went.
pub(super) struct Story {
    pub(super) server: Server,
    pub(super) outcome: Outcome,
    /// When each transition was told.
    pub(super) told: Vec<Millis>,
    pub(super) call: Call,
}

/// Plays a history; `without` names a conjunct of the final predicate that is left out.
pub(super) fn play(history: History, without: Option<&str>) -> Story {
    let History { world, call } = history;
    let mut server = Server::new(world);
    server.effect_readable = call.effect_readable;
    let expected = expectation(&server, &call);
    let kept = predicate().into_iter().filter(|c| Some(c.name) != without).collect();
    let wait = Wait::with_predicate(expected, kept);
    server.world.advance(call.starts);
    let mut caller = Caller::new(server);
    let outcome = run(wait, &mut caller);
    caller.into_story(outcome, call)
}

/// Who answers a wait.
pub(super) trait Answers {
    fn now(&self) -> Millis;

    fn answer(&mut self, action: Action) -> Input;

    /// A transition is told.
    fn tell(&mut self, state: &str, message: &str);
}

/// Steps a wait by what is answered, until it is over.
pub(super) fn run(mut wait: Wait, asked: &mut impl Answers) -> Outcome {
    let mut input = Input::Begin;
    loop {
        let mut answer = Input::Woken;
        for action in wait.step(Duration::from_millis(asked.now()), input) {
            match action {
                Action::Tell(tale) => asked.tell(tale.state, &tale.message),
                Action::End(outcome) => return *outcome,
                action => answer = asked.answer(action),
            }
        }
        input = answer;
    }
}

/// What is expected of the history's change, with options as users give them.
pub(super) fn expectation(server: &Server, call: &Call) -> Expectation {
    let sha = server.world.git.at(server.world.truth.change).sha.clone();
    let touched = server.world.truth.touched.iter();
    let changes = touched.map(|&object| expected_change(server, object)).collect();
    let mut out = Expectation::of_commit(&sha, "git@git.test:ops/deploy.git");
    out.path = Some(OVERLAY.to_owned());
    out.effect = ExpectedEffect::Known(changes);
    out.rules.dwell = Duration::from_millis(call.dwell);
    out.rules.timeout = Duration::from_millis(call.timeout);
    if call.touched_only {
        out.rules.health = HealthScope::Touched;
    }
    if !call.refreshes {
        out.rules.refresh = RefreshRule::Never;
    }
    if call.syncs {
        out.rules.sync = SyncRule::WhereManual;
    }
    out
}

fn expected_change(server: &Server, object: Object) -> ExpectedChange {
    let value = server.world.git.at(server.world.truth.change).values[object];
    let field = |value| ExpectedField {
        path: field_path(object),
        value: Some(Value::String(field_text(object, value))),
    };
    let presence = value.map_or(Presence::Absent, |v| Presence::Present(vec![field(v)]));
    ExpectedChange { object: object_ref(object, ""), presence }
}

fn field_path(object: Object) -> FieldPath {
    match object {
        DB => FieldPath::of_keys(&["spec", "imageName"]),
        CONFIG | LEGACY => FieldPath::of_keys(&["data", "value"]),
        _ => FieldPath::of_keys(&["spec", "template", "spec", "containers"])
            .child(Step::Named(name(object).into()))
            .child(Step::Key("image".into())),
    }
}

fn object_ref(object: Object, namespace: &str) -> ObjectRef {
    let (group, _, kind) = kind(object);
    ObjectRef {
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name(object).to_owned(),
    }
}

/// Carries out what the wait asks for.
pub(super) struct Caller {
    pub(super) server: Server,
    parsed: Option<(String, u64, Arc<Application>)>,
    told: Vec<Millis>,
}

impl Answers for Caller {
    fn now(&self) -> Millis {
        self.server.world.now
    }

    fn tell(&mut self, state: &str, message: &str) {
        self.server.world.note(|_| format!("WAIT {state}: {message}"));
        self.told.push(self.server.world.now);
    }

    fn answer(&mut self, action: Action) -> Input {
        let server = &mut self.server;
        match action {
            Action::Read => Input::Application(self.read()),
            Action::Refresh(request) => {
                server.refresh(request.is_hard);
                Input::Refreshed(Ok(()))
            }
            Action::Sync(request) => {
                let info = Some(("overlay".to_owned(), request.token));
                let conflict = |message: &str| Trouble::Conflict { message: message.to_owned() };
                Input::Synced(server.sync(info).map_err(conflict))
            }
            Action::Relate(revisions) => {
                let one = |r: String| (r.clone(), relate(server, &r));
                Input::Relations(revisions.into_iter().map(one).collect())
            }
            Action::RelateHydrated(query) => {
                let relation = relate_hydrated(server, &query);
                Input::Hydrated(query, relation)
            }
            Action::AskDelivery => {
                let head = server.remote_head();
                let has = |sha: String| server.contains_change(&sha) == Some(true);
                Input::Delivered(Some(head.is_some_and(|(_, sha)| has(sha))))
            }
            Action::ReadManagedResources => Input::ManagedResources(managed(server)),
            Action::ReadTree => Input::Tree(tree(server)),
            Action::ReadWindows => Input::Windows(Ok(windows(server))),
            Action::ReadRollingSync(_) => {
                Input::RollingSync(Ok(server.world.settings.rolling_sync))
            }
            Action::Sleep(time) => {
                server.sleep((time.as_millis() as Millis).max(1));
                Input::Woken
            }
            Action::Tell(_) | Action::End(_) => Input::Woken,
        }
    }
}

impl Caller {
    pub(super) fn new(server: Server) -> Self {
        Self { server, parsed: None, told: Vec::new() }
    }

    /// How it went.
    pub(super) fn into_story(self, outcome: Outcome, call: Call) -> Story {
        Story { server: self.server, outcome, told: self.told, call }
    }

    /// The Application, parsed once for each state of it.
    fn read(&mut self) -> Result<Arc<Application>, Trouble> {
        let missing = || Trouble::NotFound { message: "application 'prod' not found".to_owned() };
        let json = self.server.application().ok_or_else(missing)?;
        let app = self.server.world.app.as_ref().ok_or_else(missing)?;
        let known = self
            .parsed
            .as_ref()
            .filter(|(uid, version, _)| *version == app.resource_version && *uid == app.uid);
        if let Some((_, _, parsed)) = known {
            return Ok(Arc::clone(parsed));
        }
        let parsed = Application::parse(json.to_string().as_bytes());
        let parsed = Arc::new(parsed.expect("the simulator's JSON is read"));
        self.parsed = Some((app.uid.clone(), app.resource_version, Arc::clone(&parsed)));
        Ok(parsed)
    }
}

/// How a revision stands to the change, as git and our own render say.
fn relate(server: &Server, revision: &str) -> Relation {
    let world = &server.world;
    let (change, touched) = (world.truth.change, &world.truth.touched);
    let Some(commit) = world.git.find(revision) else {
        return Relation::Unknown { message: "no such commit".to_owned() };
    };
    match (commit == change, world.git.contains(change, commit)) {
        (true, _) => Relation::Equal,
        (false, false) => Relation::Unrelated,
        (false, true) if world.git.holds(change, touched, commit) => Relation::Descendant,
        (false, true) => Relation::Superseded { by: revision.to_owned() },
    }
}

/// How a rendered commit stands to the change: it stands on the one that is known to come from it, or says itself
/// what it was rendered from.
fn relate_hydrated(server: &Server, query: &HydratedQuery) -> Relation {
    assert_eq!((&*query.branch, &*query.path), (HYDRATED_BRANCH, OVERLAY));
    let git = &server.world.git;
    let Some((at, dry)) = git.find_hydrated(&query.revision) else {
        return Relation::Unknown { message: "no such commit".to_owned() };
    };
    match git.find_hydrated(&query.hydrated) {
        Some((known, _)) if known <= at => Relation::Descendant,
        _ => match relate(server, &git.at(dry).sha) {
            Relation::Equal => Relation::Descendant,
            other => other,
        },
    }
}

fn managed(server: &mut Server) -> Result<Vec<ManagedResource>, Trouble> {
    let denied = || Trouble::Denied { message: "permission denied".to_owned() };
    let json = server.managed().ok_or_else(denied)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let state = |value: &Value| {
        let parsed: Value = serde_json::from_str(&text(value)).unwrap();
        (!parsed.is_null()).then_some(parsed)
    };
    let one = |m: &Value| ManagedResource {
        object: ObjectRef {
            group: text(&m["group"]),
            kind: text(&m["kind"]),
            namespace: text(&m["namespace"]),
            name: text(&m["name"]),
        },
        target: state(&m["targetState"]),
        live: state(&m["liveState"]),
        normalized_live: state(&m["normalizedLiveState"]),
        predicted_live: state(&m["predictedLiveState"]),
        is_only_live: false,
    };
    Ok(json.iter().map(one).collect())
}

/// The resource tree, as the controller sees the cluster.
fn tree(server: &Server) -> Result<Vec<TreeNode>, Trouble> {
    if !server.effect_readable {
        return Err(Trouble::Denied { message: "permission denied".to_owned() });
    }
    let world = &server.world;
    let namespace = world.app.as_ref().map_or(0, |app| app.spec.destination);
    let seen = &world.cluster.seen[namespace];
    let node = |(object, live): (usize, &super::cluster::Live)| {
        live.value?;
        let health = health(object, live.phase, &world.settings);
        Some(TreeNode {
            object: object_ref(object, NAMESPACES[namespace]),
            health: health.map_or("", |h| h.text()).to_owned(),
            message: String::new(),
        })
    };
    Ok(seen.iter().enumerate().filter_map(node).collect())
}

fn windows(server: &Server) -> SyncWindows {
    let now = server.world.now;
    let all = &server.world.settings.windows;
    let active = all.iter().filter(|w| w.from <= now && now < w.to);
    SyncWindows { assigned: all.iter().map(window).collect(), active: active.map(window).collect() }
}

fn window(window: &Window) -> SyncWindow {
    let opens = (window.from / MINUTE) % 60;
    let hour = 8 + window.from / HOUR;
    SyncWindow {
        kind: if window.allow { "allow" } else { "deny" }.to_owned(),
        schedule: format!("{opens} {hour} * * *"),
        duration: format!("{}m", (window.to - window.from) / MINUTE),
    }
}

/// What is wrong with how the wait went, if anything is.
pub(super) fn fault(story: &Story) -> Option<String> {
    let world = &story.server.world;
    let took = world.now - story.call.starts;
    if took > story.call.timeout + MINUTE {
        return Some(format!("it ended {took} ms after it began"));
    }
    if story.told.is_empty() || story.told[0] > story.call.starts + 30_000 {
        return Some("it was silent at the beginning".to_owned());
    }
    match &story.outcome.readiness {
        Readiness::Ready => false_success(story),
        Readiness::Progressing(reason) | Readiness::Blocked(reason) | Readiness::Failed(reason) => {
            if reason.message.is_empty() {
                return Some(format!("it ended without a word: {:?}", reason.kind));
            }
            let enough = if story.outcome.is_final { 5_000 } else { until_known(story) };
            let settled = world.settled_for();
            (settled > enough)
                .then(|| format!("false failure, settled for {settled} ms: {}", reason.message))
        }
    }
}

/// How long everything may be done before it can be known. Who asks for no refresh learns it from the controller's own next
/// comparison: a period with its jitter away, behind one that is under way, each of two slow steps.
fn until_known(story: &Story) -> Millis {
    let settings = &story.server.world.settings;
    match story.call.refreshes {
        true => 3 * MINUTE,
        false => settings.poll_period + MINUTE + 4 * settings.slow_compare,
    }
}

fn false_success(story: &Story) -> Option<String> {
    let server = &story.server;
    let (Some(read), Some(pinned)) = (&server.read, &server.pinned) else {
        return Some("success without a look".to_owned());
    };
    if let Some(why) = server.world.false_success(read, pinned) {
        return Some(format!("false success: {why}"));
    }
    let proof = story.outcome.proof.as_ref();
    let verified = proof.is_some_and(|p| p.effect == Effect::Verified);
    (server.effect_readable && !verified)
        .then(|| "success with an effect that could be read and was not".to_owned())
}
