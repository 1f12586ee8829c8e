//! An application of applications: what deploys the change is itself deployed by a parent.
//!
//! The parent is a plain one. It compares when it is asked to or polls, puts the child's spec where the branch has it, and
//! is Healthy whatever the child is: Argo CD has no health check of Applications.

use super::application::{APPLICATION, BRANCH, NAMESPACES, REPOSITORY, Spec};
use super::git::CommitId;
use super::history::{self, History};
use super::ours::{Answers, Caller, Story, expectation, fault, run};
use super::people::Act;
use super::rng::Rng;
use super::server::Server;
use super::time::{MINUTE, Millis, PUSHED, SECOND, rfc3339};
use overlay::argocd::{
    Action, Application, ExpectedChange, ExpectedEffect, ExpectedField, Input, ManagedResource,
    ObjectRef, Presence, Readiness, Relation, Trouble, Wait,
};
use overlay::kustomize::FieldPath;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The child's destination before the change, where that moves it.
const AWAY: Spec = Spec { prod: true, destination: 1 };
const HOME: Spec = Spec { prod: true, destination: 0 };

/// The parent, and what it is about to do.
struct Parent {
    rng: Rng,
    /// The change moves the child, beside what it changes in what the child deploys.
    moves: bool,
    compared: (CommitId, Millis),
    is_synced: bool,
    /// The commit synced last, and when that ended.
    synced: (CommitId, Millis),
    /// When it compares next, and when what it syncs is applied.
    compares: Millis,
    applies: Option<Millis>,
    versions: u64,
}

impl Parent {
    fn new(mut rng: Rng, now: Millis) -> Self {
        let moves = rng.chance(50);
        let compares = now + rng.below(2 * MINUTE);
        let past = now.saturating_sub(30 * MINUTE);
        Parent {
            rng,
            moves,
            compared: (0, past + 2 * SECOND),
            is_synced: true,
            synced: (0, past),
            compares,
            applies: None,
            versions: 1,
        }
    }

    /// What the branch says of the child in a commit.
    fn wanted(&self, server: &Server, commit: CommitId) -> Spec {
        let world = &server.world;
        let is_moved = world.git.contains(world.truth.change, commit);
        if self.moves && !is_moved { AWAY } else { HOME }
    }

    /// Does what is due.
    fn step(&mut self, server: &mut Server) {
        let now = server.world.now;
        if self.applies.is_some_and(|at| at <= now) {
            self.applies = None;
            self.versions += 1;
            let wanted = self.wanted(server, self.compared.0);
            if server.world.app.as_ref().is_some_and(|app| app.spec != wanted) {
                server.world.act(Act::Repoint(wanted));
            }
            self.synced = (self.compared.0, now);
            self.compares = now + self.rng.between(100, 5 * SECOND);
        }
        if self.compares <= now && self.applies.is_none() {
            self.versions += 1;
            self.compares = now + MINUTE + self.rng.below(MINUTE);
            let Some(tip) = server.world.git.tip() else { return };
            self.compared = (tip, now);
            let wanted = self.wanted(server, tip);
            self.is_synced = server.world.app.as_ref().is_some_and(|app| app.spec == wanted);
            if !self.is_synced {
                self.applies = Some(now + self.rng.between(300, 20 * SECOND));
            }
        }
    }

    fn json(&self, server: &Server) -> Value {
        let sha = |commit| server.world.git.at(commit).sha.clone();
        let source = json!({"repoURL": REPOSITORY, "path": "apps", "targetRevision": BRANCH});
        let destination =
            json!({"server": "https://kubernetes.default.svc", "namespace": "argocd"});
        let status = if self.is_synced { "Synced" } else { "OutOfSync" };
        let (phase, finished) = match self.applies {
            Some(_) => ("Running", Value::Null),
            None => ("Succeeded", json!(rfc3339(self.synced.1))),
        };
        let applied = if self.applies.is_some() { self.compared.0 } else { self.synced.0 };
        json!({
            "metadata": {"name": "root", "namespace": "argocd", "uid": "root",
                "resourceVersion": self.versions.to_string()},
            "spec": {"project": "default", "source": source, "destination": destination,
                "syncPolicy": {"automated": {}}},
            "status": {
                "sync": {"status": status, "revision": sha(self.compared.0),
                    "comparedTo": {"source": source, "destination": destination}},
                "health": {"status": "Healthy"},
                "reconciledAt": rfc3339(self.compared.1),
                "operationState": {"phase": phase, "finishedAt": finished,
                    "operation": {"sync": {"revision": sha(applied)}},
                    "syncResult": {"revision": sha(applied)}},
                "resources": [{"group": "argoproj.io", "version": "v1alpha1", "status": status,
                    "kind": "Application", "namespace": "argocd", "name": APPLICATION}],
            },
        })
    }
}

/// What is asked while the parent is waited for.
struct ParentCaller {
    caller: Caller,
    parent: Parent,
}

impl ParentCaller {
    fn pass(&mut self, time: Millis) {
        // In small steps, so that the parent acts at about its own times.
        let end = self.caller.server.world.now + time;
        while self.caller.server.world.now < end {
            let step = SECOND.min(end - self.caller.server.world.now);
            self.caller.server.sleep(step);
            self.parent.step(&mut self.caller.server);
        }
    }

    fn relate(&self, revision: &str) -> Relation {
        let world = &self.caller.server.world;
        let Some(commit) = world.git.find(revision) else { return Relation::Unrelated };
        match (commit == world.truth.change, world.git.contains(world.truth.change, commit)) {
            (true, _) => Relation::Equal,
            (_, true) => Relation::Descendant,
            _ => Relation::Unrelated,
        }
    }

    fn managed(&self) -> Vec<ManagedResource> {
        let server = &self.caller.server;
        let state = |spec: Spec| json!({"spec": {"destination": {"namespace": NAMESPACES[spec.destination]}}});
        let target = self.parent.wanted(server, self.parent.compared.0);
        let live = server.world.app.as_ref().map(|app| state(app.spec));
        let (object, target) = (child_ref(), Some(state(target)));
        vec![ManagedResource { object, target, live, ..ManagedResource::default() }]
    }
}

impl Answers for ParentCaller {
    fn now(&self) -> Millis {
        self.caller.now()
    }

    fn tell(&mut self, state: &str, message: &str) {
        self.caller.tell(&format!("root {state}"), message);
    }

    fn answer(&mut self, action: Action) -> Input {
        let taken = self.parent.rng.between(2, 120);
        match action {
            Action::Read => {
                self.pass(taken);
                let json = self.parent.json(&self.caller.server);
                let app = Application::parse(json.to_string().as_bytes());
                Input::Application(
                    app.map(Arc::new)
                        .map_err(|error| Trouble::Invalid { message: error.to_string() }),
                )
            }
            Action::Refresh(_) => {
                let soon = self.now() + self.parent.rng.between(100, 10 * SECOND);
                self.parent.compares = self.parent.compares.min(soon);
                Input::Refreshed(Ok(()))
            }
            Action::Relate(revisions) => {
                let one = |r: String| (r.clone(), self.relate(&r));
                Input::Relations(revisions.into_iter().map(one).collect())
            }
            Action::ReadManagedResources => Input::ManagedResources(Ok(self.managed())),
            Action::ReadTree => Input::Tree(Ok(Vec::new())),
            Action::Sleep(time) => {
                self.pass((time.as_millis() as Millis).max(1));
                Input::Woken
            }
            other => self.caller.answer(other),
        }
    }
}

fn child_ref() -> ObjectRef {
    ObjectRef {
        group: "argoproj.io".to_owned(),
        kind: "Application".to_owned(),
        namespace: "argocd".to_owned(),
        name: APPLICATION.to_owned(),
    }
}

/// Waits for the parent, and then, where it is followed, for the child.
fn play(seed: u64, follows: bool) -> Story {
    let History { mut world, call } = history::draw(seed);
    let parent = Parent::new(Rng::of_part(seed, 7), PUSHED);
    let moves = parent.moves;
    if moves {
        world.act(Act::Repoint(AWAY));
    }
    world.advance(call.starts);
    let mut server = Server::new(world);
    server.effect_readable = call.effect_readable;
    let of_child = expectation(&server, &call);
    let mut of_parent = of_child.clone();
    of_parent.path = None;
    let path = FieldPath::of_keys(&["spec", "destination", "namespace"]);
    let field = ExpectedField { path, value: Some(json!(NAMESPACES[HOME.destination])) };
    let presence = Presence::Present(vec![field]);
    let change = ExpectedChange { object: child_ref(), presence };
    of_parent.effect = ExpectedEffect::Known(if moves { vec![change] } else { Vec::new() });
    let mut asked = ParentCaller { caller: Caller::new(server), parent };
    let mut outcome = run(Wait::new(of_parent), &mut asked);
    let mut caller = asked.caller;
    if outcome.readiness == Readiness::Ready && follows {
        let spent = Duration::from_millis(caller.now() - call.starts);
        let mut expected = of_child;
        expected.rules.timeout = expected.rules.timeout.saturating_sub(spent);
        outcome = run(Wait::new(expected), &mut caller);
    } else {
        drop(caller.server.application());
    }
    caller.into_story(outcome, call)
}

#[test]
fn a_family_is_done_when_the_child_is() {
    let mut ready = 0;
    for seed in 0..120 {
        let story = play(seed, true);
        let fault = fault(&story);
        assert_eq!(fault, None, "seed {seed}: {:?}", story.outcome.timeline);
        ready += usize::from(story.outcome.readiness == Readiness::Ready);
    }
    assert!(ready > 20, "{ready}");
}

#[test]
fn a_parent_alone_proves_nothing() {
    let is_false = |seed: &u64| {
        let story = play(*seed, false);
        let server = &story.server;
        let (Some(read), Some(pinned)) = (&server.read, &server.pinned) else { return false };
        story.outcome.readiness == Readiness::Ready
            && server.world.false_success(read, pinned).is_some()
    };
    let wrong = (0..60).filter(is_false).count();
    assert!(wrong > 10, "{wrong}");
}
