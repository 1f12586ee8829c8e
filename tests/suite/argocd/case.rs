//! One run of a wait against frames: read through the REST adapter, on a virtual clock.

use std::sync::Mutex;
use std::time::Duration;

use overlay::argocd::{
    ApplicationRef, Clock, Drive, Expectation, ExpectedChange, ExpectedEffect, ExpectedField,
    HydratedQuery, ObjectRef, Outcome, Presence, Readiness, Relation, Revisions, Wait, drive,
};
use overlay::error::Error;
use overlay::kustomize::FieldPath;
use serde_json::{Value, json};

use super::server::{FakeArgo, Script, frame};

pub(crate) const OLD: &str = "0101010101010101010101010101010101010101";
pub(crate) const NEW: &str = "0202020202020202020202020202020202020202";
pub(crate) const LATER: &str = "0303030303030303030303030303030303030303";
pub(crate) const NAMES: [(&str, &str); 3] = [("@OLD@", OLD), ("@NEW@", NEW), ("@LATER@", LATER)];
pub(crate) const REPOSITORY: &str = "git@git.test:ops/deploy.git";

/// A clock that only sleeping moves.
#[derive(Default)]
pub(crate) struct Virtual(Mutex<Duration>);

impl Clock for Virtual {
    fn now(&self) -> Duration {
        *self.0.lock().unwrap()
    }

    fn sleep(&self, time: Duration) {
        *self.0.lock().unwrap() += time;
    }
}

/// The history of the cases: OLD, NEW, LATER; or what else LATER is.
pub(crate) struct History {
    pub(crate) later: Relation,
    pub(crate) is_delivered: bool,
}

impl Revisions for History {
    fn relate(&self, revision: &str) -> Relation {
        match revision {
            NEW => Relation::Equal,
            LATER => self.later.clone(),
            _ => Relation::Unrelated,
        }
    }

    fn is_delivered(&self) -> Option<bool> {
        Some(self.is_delivered)
    }

    fn relate_hydrated(&self, query: &HydratedQuery) -> Relation {
        let places = [("env/prod", "overlays/prod"), ("env/side", "hydrated")];
        assert!(places.contains(&(&*query.branch, &*query.path)), "{query:?}");
        match query.revision == query.hydrated {
            true => Relation::Descendant,
            false => Relation::Unrelated,
        }
    }
}

/// One run.
pub(crate) struct Case {
    /// The Application that is asked for; the frames are those of `prod`.
    pub(crate) name: &'static str,
    pub(crate) frames: Vec<Value>,
    pub(crate) on_read: bool,
    pub(crate) timeout: u64,
    pub(crate) later: Relation,
    /// Whether the branch still has the commit.
    pub(crate) is_delivered: bool,
    /// What is served beside the Application, by the last part of its path.
    pub(crate) serving: Vec<(&'static str, Value)>,
    /// The rules, and what the commit changes.
    pub(crate) expected: Expectation,
}

/// What became of it.
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) exit: u8,
    pub(crate) seconds: u64,
    pub(crate) refreshes: usize,
    pub(crate) hard_refreshes: usize,
    pub(crate) syncs: usize,
}

impl Case {
    pub(crate) fn of(frames: &[&str]) -> Self {
        let frames = frames.iter().map(|name| frame(name, &NAMES)).collect();
        let mut expected = Expectation::of_commit(NEW, REPOSITORY);
        expected.path = Some("overlays/prod".to_owned());
        expected.effect = ExpectedEffect::Known(Vec::new());
        let (serving, later) = (Vec::new(), Relation::Descendant);
        let (name, timeout) = ("prod", 600);
        Self { frames, name, on_read: false, timeout, later, is_delivered: true, serving, expected }
    }

    /// The frame, compared again each minute from 10:02:30 on.
    pub(crate) fn compared_again(name: &str) -> Self {
        let mut case = Self::of(&[name; 6]);
        for (minute, frame) in case.frames.iter_mut().enumerate() {
            frame["status"]["reconciledAt"] = json!(format!("2024-05-01T10:0{}:30Z", minute + 2));
        }
        case
    }

    /// With `frame` before all others.
    pub(crate) fn after(mut self, frame: Value) -> Self {
        self.frames.insert(0, frame);
        self
    }

    pub(crate) fn serving(mut self, what: &'static str, answer: Value) -> Self {
        self.serving.push((what, answer));
        self
    }

    /// The commit changes the replicas of a Deployment, or the instances of a database, to 3.
    pub(crate) fn changing(mut self, group: &str, kind: &str, name: &str, field: &str) -> Self {
        let object = ObjectRef {
            group: group.to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            namespace: String::new(),
        };
        let path = FieldPath::of_keys(&["spec", field]);
        let field = ExpectedField { path, value: Some(json!(3)) };
        let presence = Presence::Present(vec![field]);
        self.expected.effect = ExpectedEffect::Known(vec![ExpectedChange { object, presence }]);
        self
    }

    pub(crate) fn expecting(mut self, change: impl Fn(&mut Expectation)) -> Self {
        change(&mut self.expected);
        self
    }

    pub(crate) fn timeout(self, timeout: u64) -> Self {
        Self { timeout, ..self }
    }

    pub(crate) fn later(self, later: Relation) -> Self {
        Self { later, ..self }
    }

    /// With another value at `pointer` of every frame.
    pub(crate) fn with(mut self, pointer: &str, value: &Value) -> Self {
        for frame in &mut self.frames {
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            frame.pointer_mut(parent).unwrap()[key] = value.clone();
        }
        self
    }

    pub(crate) fn run(self) -> Ended {
        let script = Script::new(self.frames);
        let script = if self.on_read { script.on_read() } else { script };
        let serve = |script: Script, (what, answer)| script.serving(what, answer);
        let script = self.serving.into_iter().fold(script, serve);
        let server = FakeArgo::start(vec![("prod", script)]);
        let mut expected = self.expected;
        expected.rules.timeout = Duration::from_secs(self.timeout);
        let history = History { later: self.later, is_delivered: self.is_delivered };
        let app = ApplicationRef::parse(self.name);
        let drives = vec![Drive { app, wait: Wait::new(expected), revisions: &history }];
        let clock = Virtual::default();
        let outcome = drive(drives, &server.rest(), &clock, &|_, _| {}).remove(0);
        let error = Error::from_wait(self.name, &outcome);
        Ended {
            code: error.as_ref().map_or("", |error| error.code().name()).to_owned(),
            exit: error.as_ref().map_or(0, |error| error.exit().status()),
            message: error.map_or_else(String::new, |error| error.to_string()),
            seconds: clock.now().as_secs(),
            refreshes: server.count("refresh="),
            hard_refreshes: server.count("refresh=hard"),
            syncs: server.count("/sync"),
            outcome,
        }
    }
}

impl Ended {
    pub(crate) fn expect_success(&self) {
        assert_eq!(self.outcome.readiness, Readiness::Ready, "{}", self.message);
    }

    pub(crate) fn expect(&self, code: &str, exit: u8, words: &[&str]) {
        assert_eq!((&*self.code, self.exit), (code, exit), "{}", self.message);
        for word in words {
            assert!(self.message.contains(word), "{word}: {}", self.message);
        }
    }
}

pub(crate) fn tree(kind: &str, name: &str, health: &str) -> Value {
    let health = json!({"status": health, "message": "it says so"});
    json!({"nodes": [{"kind": kind, "name": name, "health": health}]})
}

pub(crate) fn managed(group: &str, kind: &str, name: &str, state: &Value) -> Value {
    let state = state.to_string();
    json!({"items": [{"group": group, "kind": kind, "name": name, "namespace": "shop",
        "targetState": state, "liveState": state}]})
}

pub(crate) fn web(case: Case) -> Case {
    let state = json!({"spec": {"replicas": 3}});
    case.changing("apps", "Deployment", "web", "replicas")
        .serving("managed-resources", managed("apps", "Deployment", "web", &state))
}

pub(crate) const DEGRADED: &str = "/status/health/status";
