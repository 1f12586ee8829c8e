//! What a client of Argo CD and of git can ask for, each answer some time later.

use super::application::{Application, BRANCH, NAMESPACES, Operation};
use super::cluster::Live;
use super::objects::{Object, kind, live_state, manifest, name};
use super::time::Millis;
use super::truth::Read;
use super::world::World;
use serde_json::{Value, json};
use std::rc::Rc;

/// The API in front of one world.
pub(super) struct Server {
    pub(super) world: World,
    /// What was read last.
    pub(super) read: Option<Read>,
    /// The application as it was first read.
    pub(super) pinned: Option<Application>,
    /// Whether managed resources may be read.
    pub(super) effect_readable: bool,
    /// The JSON of a uid and resourceVersion.
    shown: Option<(String, u64, Rc<Value>)>,
    /// How many calls were made.
    pub(super) calls: u64,
}

impl Server {
    pub(super) fn new(world: World) -> Self {
        Server { world, read: None, pinned: None, effect_readable: true, shown: None, calls: 0 }
    }

    /// Lets the time of one call go by.
    fn call(&mut self) {
        self.calls += 1;
        let wait = self.world.rng.between(2, 120);
        self.world.advance(self.world.now + wait);
    }

    pub(super) fn sleep(&mut self, wait: Millis) {
        self.world.advance(self.world.now + wait);
    }

    /// `GET /api/v1/applications/prod`; `None` is 404.
    pub(super) fn application(&mut self) -> Option<Rc<Value>> {
        self.call();
        let app = self.world.app.as_ref()?;
        self.pinned.get_or_insert_with(|| app.clone());
        self.world.truth.looked(self.world.now);
        let known = self
            .shown
            .as_ref()
            .filter(|(uid, version, _)| *version == app.resource_version && *uid == app.uid);
        if let Some((_, _, json)) = known {
            return Some(Rc::clone(json));
        }
        let json = Rc::new(app.json(&self.world.settings));
        self.shown = Some((app.uid.clone(), app.resource_version, Rc::clone(&json)));
        self.read = Some(Read { app: app.clone(), evidence: self.world.truth.evidence });
        Some(json)
    }

    /// The refresh annotation, set through the API server.
    pub(super) fn refresh(&mut self, hard: bool) {
        self.call();
        let stamp = self.world.now;
        self.world.annotate(hard, Some(stamp));
    }

    /// `POST …/sync`; an error where another operation is in progress.
    pub(super) fn sync(&mut self, info: Option<(String, String)>) -> Result<(), &'static str> {
        self.call();
        let operation = Operation { info, prune: true, ..super::operation::manual("") };
        self.world
            .set_operation(operation)
            .then_some(())
            .ok_or("another operation is already in progress")
    }

    /// `GET …/managed-resources`: what the last comparison kept of target and live state.
    pub(super) fn managed(&mut self) -> Option<Vec<Value>> {
        self.call();
        if !self.effect_readable {
            return None;
        }
        let caches = &self.world.caches;
        let namespace = NAMESPACES[caches.managed_namespace];
        let one = |(object, target, live): &(Object, Option<u32>, Live)| {
            let (group, _, kind) = kind(*object);
            let target_value = *target;
            let target = target.map_or(Value::Null, |v| manifest(*object, v, namespace));
            // What the comparison leaves out stays as it is, in what would be stored too.
            let kept = self.world.is_ignored(*object, target_value, live.value);
            let live = live_state(*object, live, namespace).to_string();
            let predicted = if kept { live.clone() } else { target.to_string() };
            json!({"group": group, "kind": kind, "name": name(*object), "namespace": namespace,
                "targetState": target.to_string(), "liveState": live, "normalizedLiveState": live,
                "predictedLiveState": predicted})
        };
        Some(caches.managed.iter().map(one).collect())
    }

    /// `git ls-remote`: where the branch is.
    pub(super) fn remote_head(&mut self) -> Option<(&'static str, String)> {
        let tip = self.world.git.tip()?;
        Some((BRANCH, self.world.git.at(tip).sha.clone()))
    }

    /// Whether `revision` contains the change; `None` where it is no commit of the repository.
    pub(super) fn contains_change(&self, revision: &str) -> Option<bool> {
        let commit = self.world.git.origin(revision)?;
        Some(self.world.git.contains(self.world.truth.change, commit))
    }
}
