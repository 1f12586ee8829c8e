//! A roll while it goes on: what happens to each pod, how many are ready at the least, and why it stands still.
//!
//! Pure: what is heard comes with its time, and nothing here reads a clock. [`Follow::hear`] takes one event after another,
//! [`Follow::progress`] says how far it is.

mod life;
mod minimum;
mod reasons;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::dependents::instances;
use super::finding::{Finding, subject};
use super::images::Indexes;
use super::judge::Case;
use super::live::{Snapshot, kind, namespace, shown};
use super::pod::pod_trouble;
use super::status::{RolloutState, rollout_state};
use super::wanted::{KINDS, Wanted};
use crate::database::is_database;

pub use life::PodLife;
use minimum::Low;

/// How many of [`KINDS`] are workloads: the first.
const WORKLOADS: usize = 3;
/// Which of [`KINDS`] is the database.
const DATABASE: usize = 4;

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
    /// Which pod it happened to, where it was one.
    #[serde(skip)]
    pod: Option<life::Key>,
}

/// A roll that is followed.
#[derive(Clone, Debug)]
pub struct Follow {
    goal: Goal,
    least_allowed: i64,
    indexes: Indexes,
    snapshot: Snapshot,
    lives: BTreeMap<life::Key, PodLife>,
    lows: BTreeMap<life::Key, Low>,
    /// Kinds that cannot be read, each with its namespace: of their objects nothing is said.
    unread: BTreeSet<(String, String, String)>,
    /// Kinds that were listed, each with its namespace; before all of them are, numbers say nothing.
    listed: BTreeSet<(String, String, String)>,
    /// Reasons with the time since which they stand.
    reasons: BTreeMap<(&'static str, String), (i64, bool)>,
    timeline: Vec<Step>,
    /// How much of the timeline was taken as news.
    told: usize,
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
            unread: BTreeSet::new(),
            listed: BTreeSet::new(),
            reasons: BTreeMap::new(),
            timeline: Vec::new(),
            told: 0,
            violations: Vec::new(),
            settled_since: None,
            unseen_since: BTreeMap::new(),
        }
    }

    /// Takes one event that was heard at `now`, in seconds since 1970.
    pub fn hear(&mut self, now: i64, heard: Heard) {
        match heard {
            Heard::Listed { group, kind, namespace, items } => {
                self.relist(now, &(group, kind, namespace), items);
            }
            Heard::Changed(object) => self.change(now, object, true),
            Heard::Gone(object) => self.forget(now, &object, true),
        }
        self.notice_owners();
        self.measure(now);
    }

    /// From now on nothing is said of the objects of a kind in a namespace: they cannot be read.
    pub fn leave_out(&mut self, group: &str, kind: &str, namespace: &str) {
        self.unread.insert((group.to_owned(), kind.to_owned(), namespace.to_owned()));
    }

    /// What registries said of images.
    pub fn learn(&mut self, indexes: Indexes) {
        self.indexes = indexes;
    }

    fn relist(&mut self, now: i64, list: &(String, String, String), items: Vec<Value>) {
        let (group, kind_of_list, place) = list;
        let is_first = self.listed.insert(list.clone());
        let is_here = |object: &Value| place.is_empty() || namespace(object) == place;
        let listed: BTreeSet<life::Key> = items.iter().map(life::key).collect();
        let known = self.snapshot.all(group, kind_of_list).iter();
        let gone: Vec<Value> = known
            .filter(|known| is_here(known) && !listed.contains(&life::key(known)))
            .cloned()
            .collect();
        // What happened to these was not seen.
        gone.iter().for_each(|object| self.forget(now, object, false));
        for item in items {
            if is_first && kind(&item) == "Pod" {
                self.lives.insert(life::key(&item), PodLife::at_start(&item, now));
            }
            self.change(now, item, is_first);
        }
    }

    /// Takes the present state of an object; `is_next` where nothing was missed since its last one.
    fn change(&mut self, now: i64, object: Value, is_next: bool) {
        if kind(&object) == "Pod" {
            let key = life::key(&object);
            let life = self.lives.entry(key).or_insert_with(|| PodLife::new(now));
            let news = life.see(&object, now, is_next);
            self.tell(now, &object, news);
        }
        self.snapshot.add(object);
    }

    fn forget(&mut self, now: i64, object: &Value, was_seen: bool) {
        let is_own = kind(object) == "Pod" && self.concerns(object);
        if let Some(life) = self.lives.get_mut(&life::key(object)).filter(|_| kind(object) == "Pod")
        {
            let mut news = match was_seen {
                true => life.see(object, now, true),
                false => Vec::new(),
            };
            news.push(life.end(now, was_seen));
            if life.exited_ready() && (is_own || life.is_of_workload) {
                let message =
                    "it was ready until it ended: requests may have reached it to the very end";
                self.violations.push(
                    Finding::about(object, "exited-ready", message)
                        .fix("let it fail its readiness probe when it is told to end and serve on for a moment (a preStop hook, a drain)"),
                );
            }
            self.tell(now, object, news);
        }
        self.snapshot.remove(object);
    }

    /// Takes into the timeline what happened to an object that is none of the goal's.
    pub fn note(&mut self, now: i64, object: String, what: String) {
        self.timeline.push(Step { at: now, object, what, pod: None });
    }

    fn tell(&mut self, now: i64, pod: &Value, news: Vec<&'static str>) {
        let step = |what: &str| Step {
            at: now,
            object: shown(pod),
            what: what.to_owned(),
            pod: Some(life::key(pod)),
        };
        self.timeline.extend(news.into_iter().map(step));
    }

    /// Marks the pods of what is followed: another pod of the namespace is nobody's business here.
    fn notice_owners(&mut self) {
        let of_workloads =
            self.workloads().into_iter().flat_map(|live| self.snapshot.pods_of(live));
        let of_workloads: Vec<life::Key> = of_workloads.map(life::key).collect();
        let databases = self.followed_of(&KINDS[DATABASE..=DATABASE]).into_iter();
        let of_databases = databases.flat_map(|live| instances(&self.snapshot, live));
        let of_databases: Vec<life::Key> = of_databases.map(life::key).collect();
        for key in of_workloads {
            let life = self.lives.get_mut(&key);
            life.into_iter()
                .for_each(|life| (life.is_followed, life.is_of_workload) = (true, true));
        }
        for key in of_databases {
            self.lives.get_mut(&key).into_iter().for_each(|life| life.is_followed = true);
        }
    }

    /// Whether a pod is one of those that are followed.
    fn concerns(&self, pod: &Value) -> bool {
        self.workloads().iter().any(|workload| {
            self.snapshot.pods_of(workload).iter().any(|known| life::key(known) == life::key(pod))
        })
    }

    /// The workloads that are followed, as they are.
    fn workloads(&self) -> Vec<&Value> {
        self.followed_of(&KINDS[..WORKLOADS])
    }

    fn followed_of(&self, kinds: &[(&str, &str)]) -> Vec<&Value> {
        let live = kinds.iter().flat_map(|(group, kind)| self.snapshot.all(group, kind));
        live.filter(|live| match &self.goal {
            Goal::Namespace(place) => namespace(live) == place,
            Goal::Rendered(wanted) => wanted.iter().any(|wanted| wanted.is(live)),
        })
        .collect()
    }

    /// Whether everything of a kind in a namespace is known.
    fn is_listed(&self, group: &str, kind: &str, place: &str) -> bool {
        let has = |place: &str| {
            self.listed.contains(&(group.to_owned(), kind.to_owned(), place.to_owned()))
        };
        has(place) || has("")
    }

    /// Counts ready pods against the minimum.
    fn measure(&mut self, now: i64) {
        let mut found = Vec::new();
        let mut lows = std::mem::take(&mut self.lows);
        for workload in self.workloads() {
            let place = namespace(workload);
            if !self.is_listed("", "Pod", place) || !self.is_listed("apps", "ReplicaSet", place) {
                continue;
            }
            let low = lows.entry(life::key(workload)).or_default();
            found.extend(low.measure(&self.snapshot, workload, now));
        }
        self.lows = lows;
        self.violations.extend(found);
    }

    /// What there is to be now.
    fn wanted(&self) -> Vec<Wanted> {
        match &self.goal {
            Goal::Rendered(wanted) => {
                let known = wanted.iter().filter(|wanted| !self.unread.contains(&wanted.place()));
                known.cloned().collect()
            }
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

    /// What is wrong; where a namespace is looked at as a whole, with its other pods too.
    fn wrong(&self, case: &Case<'_>) -> Vec<Finding> {
        let strays = match &self.goal {
            Goal::Namespace(place) => case.stray_findings(place),
            Goal::Rendered(_) => Vec::new(),
        };
        case.findings().into_iter().chain(strays).collect()
    }

    /// How far it is at `now`. Where it stands still, the reasons come into the timeline.
    pub fn progress(&mut self, now: i64) -> Progress {
        self.notice_reasons(now);
        let wrong = self.judge(now, |case| {
            self.wrong(case)
                .iter()
                .any(|finding| finding.is_failure() && finding.id != "image-unknown")
        });
        if !wrong && self.leftovers().is_empty() {
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
        found.extend(self.judge(now, |case| self.wrong(case)));
        found.extend(silent);
        let held = self.leftovers().into_iter().filter_map(|pod| {
            let is_told = found.iter().any(|known| known.resource == subject(pod));
            (!is_told).then(|| pod_trouble(&self.snapshot, pod, now)).flatten()
        });
        let held: Vec<Finding> = held.collect();
        found.extend(held);
        found
    }

    /// What happened to what is followed, in order.
    #[must_use]
    pub fn timeline(&self) -> Vec<Step> {
        self.timeline.iter().filter(|step| self.is_followed(step)).cloned().collect()
    }

    /// What happened since this was asked last.
    pub fn news(&mut self) -> Vec<Step> {
        let new = &self.timeline[self.told..];
        let news = new.iter().filter(|step| self.is_followed(step)).cloned().collect();
        self.told = self.timeline.len();
        news
    }

    fn is_followed(&self, step: &Step) -> bool {
        let life = step.pod.as_ref().map(|pod| self.lives.get(pod));
        life.is_none_or(|life| life.is_some_and(|life| life.is_followed))
    }

    /// What became of each pod of what is followed: namespace, name, and its life.
    #[must_use]
    pub fn lives(&self) -> Vec<(&str, &str, &PodLife)> {
        let own = self.lives.iter().filter(|(_, life)| life.is_followed);
        own.map(|((place, name, _), life)| (place.as_str(), name.as_str(), life)).collect()
    }

    /// Whether a pod has come or gone since the beginning.
    #[must_use]
    pub fn has_moved(&self) -> bool {
        self.lives().iter().any(|(_, _, life)| !life.was_there || life.gone_at.is_some())
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
