//! A roll while it goes on: what happens to each pod, how many are ready at the least, and why it stands still.
//!
//! Pure: what is heard comes with its time, and nothing here reads a clock. [`Follow::hear`] takes one event after another,
//! [`Follow::progress`] says how far it is.

mod life;
mod minimum;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::finding::Finding;
use super::images::Indexes;
use super::judge::Case;
use super::live::{Snapshot, is_terminating, kind, name, namespace, shown, text_at};
use super::pod::is_over;
use super::status::{RolloutState, rollout_state};
use super::wanted::{KINDS, Wanted};
use super::workload::{is_workload, stall_reasons};
use crate::database::is_database;

pub use life::PodLife;
use minimum::Low;

/// How long a reason has to stand before it is told as one, in seconds: most pass by themselves.
const REASON_SECONDS: i64 = 5;
/// How long a controller may take to see a change, in seconds.
const SILENCE_SECONDS: i64 = 60;

/// What is heard of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// Everything there is of a kind in a namespace; empty for all.
    Listed {
        /// The API group.
        group: String,
        /// The kind.
        kind: String,
        /// The namespace.
        namespace: String,
        /// The objects.
        items: Vec<Value>,
    },
    /// An object came or changed.
    Changed(Value),
    /// An object is gone; its last state.
    Gone(Value),
}

/// What the roll is to come to.
#[derive(Clone, Debug)]
pub enum Goal {
    /// What git renders.
    Rendered(Vec<Wanted>),
    /// Whatever the objects of one namespace ask for themselves.
    Namespace(String),
}

/// How far a roll is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All is as it is to be, since this time.
    Settled(i64),
    /// It goes on.
    Going,
    /// It has failed, by Kubernetes' own word.
    Failed,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// When, in seconds since 1970.
    #[serde(skip)]
    pub at: i64,
    /// To which object.
    pub object: String,
    /// What.
    pub what: String,
}

/// A roll that is followed.
#[derive(Clone, Debug)]
pub struct Follow {
    goal: Goal,
    least_allowed: i64,
    indexes: Indexes,
    snapshot: Snapshot,
    lives: BTreeMap<(String, String, String), PodLife>,
    lows: BTreeMap<(String, String, String), Low>,
    /// Kinds that were listed; before all of them are, numbers say nothing.
    listed: BTreeSet<(String, String)>,
    /// Reasons with the time since which they stand.
    reasons: BTreeMap<(&'static str, String), (i64, bool)>,
    timeline: Vec<Step>,
    violations: Vec<Finding>,
    settled_since: Option<i64>,
    /// When a change of a workload was first seen that its controller has not.
    unseen_since: BTreeMap<String, i64>,
}

impl Follow {
    /// Nothing is heard yet.
    #[must_use]
    pub fn new(goal: Goal, least_allowed: i64) -> Self {
        Self {
            goal,
            least_allowed,
            indexes: Indexes::default(),
            snapshot: Snapshot::default(),
            lives: BTreeMap::new(),
            lows: BTreeMap::new(),
            listed: BTreeSet::new(),
            reasons: BTreeMap::new(),
            timeline: Vec::new(),
            violations: Vec::new(),
            settled_since: None,
            unseen_since: BTreeMap::new(),
        }
    }

    /// Takes one event that was heard at `now`, in seconds since 1970.
    pub fn hear(&mut self, now: i64, heard: Heard) {
        match heard {
            Heard::Listed { group, kind, namespace, items } => {
                self.relist(now, (&group, &kind), &namespace, items);
                self.listed.insert((group, kind));
            }
            Heard::Changed(object) => self.change(now, object),
            Heard::Gone(object) => self.forget(now, &object, true),
        }
        self.measure(now);
    }

    /// What registries said of images.
    pub fn learn(&mut self, indexes: Indexes) {
        self.indexes = indexes;
    }

    fn relist(&mut self, now: i64, key: (&str, &str), place: &str, items: Vec<Value>) {
        let is_first = !self.listed.contains(&(key.0.to_owned(), key.1.to_owned()));
        let is_here = |object: &Value| place.is_empty() || namespace(object) == place;
        let is_listed = |object: &Value| {
            items
                .iter()
                .any(|item| name(item) == name(object) && namespace(item) == namespace(object))
        };
        let known = self.snapshot.all(key.0, key.1).iter();
        let gone: Vec<Value> =
            known.filter(|known| is_here(known) && !is_listed(known)).cloned().collect();
        // What happened to these was not seen.
        gone.iter().for_each(|object| self.forget(now, object, false));
        for item in items {
            if is_first && kind(&item) == "Pod" {
                self.lives.insert(life::key(&item), PodLife::at_start(&item, now));
            }
            self.change(now, item);
        }
    }

    fn change(&mut self, now: i64, object: Value) {
        if kind(&object) == "Pod" {
            let life = self.lives.entry(life::key(&object)).or_insert_with(|| PodLife::new(now));
            for what in life.see(&object, now) {
                self.timeline.push(Step { at: now, object: shown(&object), what: what.to_owned() });
            }
        }
        self.snapshot.add(object);
    }

    fn forget(&mut self, now: i64, object: &Value, was_seen: bool) {
        if kind(object) == "Pod"
            && let Some(life) = self.lives.get_mut(&life::key(object))
        {
            if was_seen {
                for what in life.see(object, now) {
                    let what = what.to_owned();
                    self.timeline.push(Step { at: now, object: shown(object), what });
                }
            }
            let what = life.end(now, was_seen).to_owned();
            self.timeline.push(Step { at: now, object: shown(object), what });
            if life.exited_ready() && self.concerns(object) {
                let message =
                    "it was ready until it ended: requests may have reached it to the very end";
                self.violations.push(
                    Finding::about(object, "exited-ready", message)
                        .fix("let it fail its readiness probe when it is told to end and serve on for a moment (a preStop hook, a drain)"),
                );
            }
        }
        self.snapshot.remove(object);
    }

    /// Whether a pod is one of those that are followed.
    fn concerns(&self, pod: &Value) -> bool {
        self.workloads().iter().any(|workload| {
            self.snapshot.pods_of(workload).iter().any(|known| life::key(known) == life::key(pod))
        })
    }

    /// The workloads that are followed, as they are.
    fn workloads(&self) -> Vec<&Value> {
        let live = KINDS[..3].iter().flat_map(|(group, kind)| self.snapshot.all(group, kind));
        live.filter(|live| match &self.goal {
            Goal::Namespace(place) => namespace(live) == place,
            Goal::Rendered(wanted) => wanted.iter().any(|wanted| wanted.is(live)),
        })
        .collect()
    }

    /// Counts ready pods against the minimum.
    fn measure(&mut self, now: i64) {
        let has =
            |group: &str, kind: &str| self.listed.contains(&(group.to_owned(), kind.to_owned()));
        if !has("", "Pod") || !has("apps", "ReplicaSet") {
            return;
        }
        let mut found = Vec::new();
        let mut lows = std::mem::take(&mut self.lows);
        for workload in self.workloads() {
            let low = lows.entry(life::key(workload)).or_default();
            found.extend(low.measure(&self.snapshot, workload, now));
        }
        self.lows = lows;
        self.violations.extend(found);
    }

    /// What there is to be now.
    fn wanted(&self) -> Vec<Wanted> {
        match &self.goal {
            Goal::Rendered(wanted) => wanted.clone(),
            Goal::Namespace(place) => {
                let live = KINDS.iter().flat_map(|(group, kind)| self.snapshot.all(group, kind));
                let here = live.filter(|live| namespace(live) == place).filter_map(Wanted::of);
                here.map(|wanted| Wanted { replicas: None, ..wanted }).collect()
            }
        }
    }

    /// Runs `judge` on what is known.
    pub fn judge<T>(&self, now: i64, judge: impl FnOnce(&Case<'_>) -> T) -> T {
        let wanted = self.wanted();
        judge(&Case {
            snapshot: &self.snapshot,
            wanted: &wanted,
            indexes: &self.indexes,
            least_allowed: self.least_allowed,
            now,
        })
    }

    /// How far it is at `now`. Where it stands still, the reasons come into the timeline.
    pub fn progress(&mut self, now: i64) -> Progress {
        self.notice_reasons(now);
        let wrong = self.judge(now, |case| {
            case.findings()
                .iter()
                .any(|finding| finding.is_failure() && finding.id != "image-unknown")
        });
        let has_leftovers = self.workloads().iter().any(|workload| {
            let pods = self.snapshot.pods_of(workload);
            pods.iter().any(|pod| is_terminating(pod) && !is_over(pod))
        });
        if !wrong && !has_leftovers {
            let since = *self.settled_since.get_or_insert(now);
            return Progress::Settled(since);
        }
        self.settled_since = None;
        if self.has_failed() { Progress::Failed } else { Progress::Going }
    }

    /// Whether a workload that is what git asks for has failed.
    fn has_failed(&self) -> bool {
        let wanted = self.wanted();
        self.workloads().iter().any(|workload| {
            let is_ours = wanted
                .iter()
                .any(|wanted| wanted.is(workload) && wanted.differences(workload).0.is_empty());
            is_ours && matches!(rollout_state(workload), Some(RolloutState::Failed(_)))
        })
    }

    fn notice_reasons(&mut self, now: i64) {
        let unfinished = |workload: &&&Value| {
            is_workload(workload) && rollout_state(workload) != Some(RolloutState::Done)
        };
        let workloads: Vec<Value> =
            self.workloads().iter().filter(unfinished).map(|live| (*live).clone()).collect();
        let mut standing = BTreeSet::new();
        for workload in &workloads {
            let mut reasons = stall_reasons(&self.snapshot, workload, now);
            reasons.extend(self.silence(workload, now));
            for reason in reasons {
                let key = (reason.id, format!("{}/{}", reason.resource.namespace, reason.resource));
                standing.insert(key.clone());
                let (since, is_told) = self.reasons.entry(key).or_insert((now, false));
                if !*is_told && now - *since >= REASON_SECONDS {
                    *is_told = true;
                    let what = format!("{}: {}", reason.id, reason.message);
                    let object = reason.resource.to_string();
                    self.timeline.push(Step { at: now, object, what });
                }
            }
        }
        self.reasons.retain(|key, _| standing.contains(key));
    }

    /// A controller that has not seen the last change for long.
    fn silence(&mut self, workload: &Value, now: i64) -> Option<Finding> {
        let generation = workload.pointer("/metadata/generation").and_then(Value::as_i64)?;
        let observed = workload.pointer("/status/observedGeneration").and_then(Value::as_i64);
        let key = format!("{}/{}/{generation}", namespace(workload), shown(workload));
        if observed.unwrap_or(0) >= generation {
            return None;
        }
        let since = *self.unseen_since.entry(key).or_insert(now);
        (now - since >= SILENCE_SECONDS).then(|| {
            let message = format!(
                "its controller has not seen the last change for {}s: it is down or overloaded",
                now - since
            );
            Finding::about(workload, "controller-silent", message)
        })
    }

    /// Everything that is wrong at `now`, and the rules that were broken on the way.
    #[must_use]
    pub fn findings(&mut self, now: i64) -> Vec<Finding> {
        let mut found = self.violations.clone();
        let mut lows = std::mem::take(&mut self.lows);
        found.extend(lows.values_mut().filter_map(|low| low.last_word(now)));
        self.lows = lows;
        let workloads: Vec<Value> = self.workloads().into_iter().cloned().collect();
        let silent: Vec<Finding> =
            workloads.iter().filter_map(|workload| self.silence(workload, now)).collect();
        found.extend(self.judge(now, |case| case.findings()));
        found.extend(silent);
        found
    }

    /// What happened, in order.
    #[must_use]
    pub fn timeline(&self) -> &[Step] {
        &self.timeline
    }

    /// What became of each pod of a followed workload: name, and its life.
    #[must_use]
    pub fn lives(&self) -> Vec<(&str, &str, &PodLife)> {
        let all = self.lives.iter();
        all.map(|((place, name, _), life)| (place.as_str(), name.as_str(), life)).collect()
    }

    /// Whether a pod has come or gone since the beginning.
    #[must_use]
    pub fn has_moved(&self) -> bool {
        self.lives.values().any(|life| !life.was_there || life.gone_at.is_some())
    }

    /// Whether a database is among what is followed.
    #[must_use]
    pub fn has_database(&self) -> bool {
        let of = |wanted: &Wanted| is_database(wanted.group(), &wanted.subject.kind);
        match &self.goal {
            Goal::Rendered(wanted) => wanted.iter().any(of),
            Goal::Namespace(_) => !self.snapshot.all("postgresql.cnpg.io", "Cluster").is_empty(),
        }
    }

    /// What registries have to be asked.
    #[must_use]
    pub fn questions(&self, now: i64) -> BTreeSet<super::Question> {
        self.judge(now, |case| case.questions())
    }
}

/// The newest time that an object states, in seconds since 1970: when it was at least that old.
#[must_use]
pub fn newest_time(object: &Value) -> Option<i64> {
    const FIELDS: [&str; 6] = [
        "creationTimestamp",
        "lastTransitionTime",
        "startedAt",
        "finishedAt",
        "lastTimestamp",
        "eventTime",
    ];
    match object {
        Value::Object(fields) => {
            let own = fields
                .iter()
                .filter(|(key, value)| FIELDS.contains(&key.as_str()) && value.is_string());
            let own = own.filter_map(|(key, _)| super::events::time_at(object, &format!("/{key}")));
            own.chain(fields.values().filter_map(newest_time)).max()
        }
        Value::Array(items) => items.iter().filter_map(newest_time).max(),
        _ => None,
    }
}

/// Whether a text is the name of a recorded event.
#[must_use]
pub fn is_event(document: &Value) -> bool {
    !text_at(document, "/type").is_empty() && document["object"].is_object()
}
