//! The loop as a state machine: time and answers in, the next thing to do out.
//!
//! It holds no clock and calls nobody, so that a story of half an hour is a few hundred calls of [`Wait::step`].

mod pace;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::application::Application;
use super::assess::{Conjunct, assess_by, predicate};
use super::expectation::{Expectation, ExpectedEffect, RefreshRule};
use super::facts::{Effect, Facts, Held};
use super::moment::{Contained, Moment};
use super::port::{
    HydratedQuery, ManagedResource, RefreshRequest, Relation, SyncRequest, SyncWindows, TreeNode,
    Trouble,
};
use super::readiness::{Kind, Readiness, Reason, Want};
use super::time::Timestamp;
use pace::Pace;

/// What the loop is told.
#[derive(Clone, Debug)]
pub enum Input {
    /// It begins.
    Begin,
    /// The time that was asked to pass has passed, or something is known to have changed.
    Woken,
    /// The Application was read.
    Application(Result<Arc<Application>, Trouble>),
    /// The refresh was asked for.
    Refreshed(Result<(), Trouble>),
    /// The sync was asked for.
    Synced(Result<(), Trouble>),
    /// How these revisions stand to the commit.
    Relations(Vec<(String, Relation)>),
    /// How this hydrated revision stands to the commit.
    Hydrated(HydratedQuery, Relation),
    /// Whether the remote still has the commit.
    Delivered(Option<bool>),
    /// What is rendered and live.
    ManagedResources(Result<Vec<ManagedResource>, Trouble>),
    /// The health of the objects.
    Tree(Result<Vec<TreeNode>, Trouble>),
    /// The sync windows.
    Windows(Result<SyncWindows, Trouble>),
    /// Whether the ApplicationSet syncs step by step.
    RollingSync(Result<bool, Trouble>),
}

/// What the loop wants done. Each call of [`Wait::step`] gives any number of [`Action::Tell`] and then one other.
#[derive(Clone, Debug)]
pub enum Action {
    /// Say that the state is another one.
    Tell(Transition),
    /// Read the Application.
    Read,
    /// Ask for a comparison.
    Refresh(RefreshRequest),
    /// Ask for a sync.
    Sync(SyncRequest),
    /// Find out how these revisions stand to the commit.
    Relate(Vec<String>),
    /// Find out how this hydrated revision stands to the commit.
    RelateHydrated(HydratedQuery),
    /// Find out whether the remote still has the commit.
    AskDelivery,
    /// Read what is rendered and live.
    ReadManagedResources,
    /// Read the health of the objects.
    ReadTree,
    /// Read the sync windows.
    ReadWindows,
    /// Find out whether this ApplicationSet syncs step by step.
    ReadRollingSync(String),
    /// Let this much time pass, or less where something changes.
    Sleep(Duration),
    /// It is over.
    End(Box<Outcome>),
}

/// The state became another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// How long after the beginning.
    pub after: Duration,
    /// The word of the state: [`Kind::word`], or `ready`.
    pub state: &'static str,
    /// What is seen.
    pub message: String,
}

/// How it ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The last verdict. Where it is [`Readiness::Progressing`] or [`Readiness::Blocked`] the time was over, unless
    /// `is_final`.
    pub readiness: Readiness,
    /// Whether the verdict ended it, and not the timeout.
    pub is_final: bool,
    /// The Application as it was last read.
    pub app: Option<Arc<Application>>,
    /// What was last seen of it, in one phrase; empty where nothing was.
    pub seen: String,
    /// The proof, where it is ready.
    pub proof: Option<Proof>,
    /// What to look at although it is ready.
    pub warnings: Vec<String>,
    /// Every state it went through.
    pub timeline: Vec<Transition>,
}

/// What a success stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The revision that was compared and applied.
    pub revision: String,
    /// How it stands to the commit.
    pub relation: Relation,
    /// Whether the change itself was read.
    pub effect: Effect,
}

/// One wait for one Application.
#[derive(Debug)]
pub struct Wait {
    expected: Expectation,
    predicate: Vec<Conjunct>,
    facts: Facts,
    began: Option<Duration>,
    app: Option<Arc<Application>>,
    /// Questions that were asked since the Application last changed, so that none is asked twice.
    asked: Vec<Want>,
    pace: Pace,
    lasting: Option<Lasting>,
    timeline: Vec<Transition>,
    notes: Vec<String>,
}

/// A verdict that lasts.
#[derive(Clone, Debug)]
struct Lasting {
    kind: Kind,
    since: Duration,
    /// The comparisons that showed it.
    comparisons: BTreeSet<Option<Timestamp>>,
}

impl Wait {
    /// A wait by the whole predicate.
    #[must_use]
    pub fn new(expected: Expectation) -> Self {
        Self::with_predicate(expected, predicate())
    }

    /// A wait by these conjuncts alone.
    #[must_use]
    pub fn with_predicate(expected: Expectation, predicate: Vec<Conjunct>) -> Self {
        Self {
            pace: Pace::new(expected.poll),
            expected,
            predicate,
            facts: Facts::default(),
            began: None,
            app: None,
            asked: Vec::new(),
            lasting: None,
            timeline: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// What is waited for.
    #[must_use]
    pub fn expected(&self) -> &Expectation {
        &self.expected
    }

    /// What to do at `now`, after `input`.
    pub fn step(&mut self, now: Duration, input: Input) -> Vec<Action> {
        let began = *self.began.get_or_insert(now);
        let after = now.saturating_sub(began);
        let mut actions = Vec::new();
        let next = self.next(after, input, &mut actions);
        actions.push(next);
        actions
    }

    fn next(&mut self, after: Duration, input: Input, tells: &mut Vec<Action>) -> Action {
        match input {
            Input::Begin | Input::Woken => return Action::Read,
            Input::Application(Ok(app)) => self.learn_application(after, app),
            Input::Application(Err(trouble)) => return self.without_answer(after, trouble, tells),
            Input::Refreshed(Err(trouble)) => self.note(format!("no refresh: {trouble}")),
            // A conflict is somebody else's sync, which the next read shows.
            Input::Synced(Err(trouble)) => {
                self.pace.sync_not_taken();
                self.note(format!("no sync: {trouble}"));
            }
            Input::Refreshed(Ok(())) | Input::Synced(Ok(())) => {}
            answer => self.learn_answer(answer),
        }
        self.judge(after, tells)
    }

    fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    fn learn_application(&mut self, after: Duration, app: Arc<Application>) {
        self.pace.read(after, &app);
        self.facts.silence = self.pace.silence(after);
        self.facts.uid.get_or_insert_with(|| app.metadata.uid.clone());
        let is_same = self.app.as_ref().is_some_and(|old| Arc::ptr_eq(old, &app) || **old == *app);
        if !is_same {
            self.asked.clear();
            self.facts.tree = None;
            self.facts.managed = None;
            self.facts.windows = None;
            self.facts.operations.see(app.status.operation_state.as_ref());
        }
        self.app = Some(app);
        self.forget_unknown(after);
    }

    /// What git could not say is asked again, now and then.
    fn forget_unknown(&mut self, after: Duration) {
        self.asked.retain(|want| *want != Want::Delivery);
        let all = self.facts.relations.values().chain(self.facts.hydrated.values());
        if all.into_iter().all(|relation| relation.contains().is_some())
            || !self.pace.is_git_due(after)
        {
            return;
        }
        self.facts.relations.retain(|_, relation| relation.contains().is_some());
        self.facts.hydrated.retain(|_, relation| relation.contains().is_some());
        self.asked.retain(|want| !matches!(want, Want::Relations(_) | Want::Hydrated(_)));
    }

    fn learn_answer(&mut self, answer: Input) {
        match answer {
            Input::Relations(relations) => self.facts.relations.extend(relations),
            Input::Hydrated(query, relation) => {
                self.facts.hydrated.insert(query, relation);
            }
            Input::Delivered(is_delivered) => self.facts.is_delivered = is_delivered,
            Input::ManagedResources(managed) => self.facts.managed = Some(managed),
            Input::Tree(tree) => self.facts.tree = Some(tree),
            Input::Windows(windows) => self.facts.windows = Some(windows),
            Input::RollingSync(rolling) => self.facts.has_rolling_sync = Some(rolling == Ok(true)),
            _ => {}
        }
    }

    /// The Application could not be read.
    fn without_answer(
        &mut self,
        after: Duration,
        trouble: Trouble,
        tells: &mut Vec<Action>,
    ) -> Action {
        let message = trouble.to_string();
        let is_known = self.app.is_some();
        let readiness = match trouble {
            Trouble::NotFound { .. } if is_known => {
                Readiness::Failed(Reason::new(Kind::Gone, message))
            }
            Trouble::NotFound { .. } => {
                Readiness::Failed(Reason::new(Kind::NoSuchApplication, message))
            }
            Trouble::Unauthenticated { .. } | Trouble::Denied { .. } => {
                Readiness::Failed(Reason::new(Kind::Denied, message))
            }
            // A certificate that nobody signed, an address of something else: time does not mend it.
            Trouble::Invalid { .. } if !is_known => {
                Readiness::Failed(Reason::new(Kind::Unreachable, message))
            }
            _ => Readiness::Progressing(Reason::new(Kind::Unreachable, message)),
        };
        self.settle(after, readiness, tells)
    }

    /// Judges what is known, and asks for what is missing.
    fn judge(&mut self, after: Duration, tells: &mut Vec<Action>) -> Action {
        let Some(app) = self.app.clone() else { return Action::Read };
        if let Some(question) = self.baseline(&app) {
            return question;
        }
        let moment = Moment { app: &app, expected: &self.expected, facts: &self.facts };
        let readiness = assess_by(&self.predicate, &moment);
        let want = readiness.reason().map(|reason| reason.want.clone());
        if let Some(question) = want.and_then(|want| self.ask(after, &app, &want)) {
            return question;
        }
        // Only what is said with all the answers at hand: a question that is open is no break.
        self.hold(&app, &readiness);
        self.settle(after, readiness, tells)
    }

    /// What was not healthy before the commit came: asked at the first read that does not contain it.
    fn baseline(&mut self, app: &Application) -> Option<Action> {
        if self.facts.degraded_before.is_some() || app.status.health.status != "Degraded" {
            return None;
        }
        let moment = Moment { app, expected: &self.expected, facts: &self.facts };
        if moment.comparison_contains() != Contained::No {
            return None;
        }
        match &self.facts.tree {
            None => self.question(&Want::Tree),
            Some(tree) => {
                let nodes = tree.iter().flatten().filter(|node| node.health == "Degraded");
                self.facts.degraded_before = Some(nodes.map(|node| node.object.clone()).collect());
                None
            }
        }
    }

    /// Remembers since when all but the dwell has held.
    fn hold(&mut self, app: &Application, readiness: &Readiness) {
        let is_well = readiness.reason().is_none_or(|reason| reason.kind == Kind::Dwelling);
        match app.status.reconciled_at {
            Some(compared_at) if is_well => {
                self.facts.held.get_or_insert(Held { compared_at });
            }
            _ => self.facts.held = None,
        }
    }

    /// The action that answers a want, unless it was asked already or only time helps.
    fn ask(&mut self, after: Duration, app: &Application, want: &Want) -> Option<Action> {
        match want {
            Want::Time => None,
            Want::Sync => self.sync(after, app),
            Want::Comparison => self.refresh(after, app, Duration::ZERO),
            Want::LaterComparison(left) => self.refresh(after, app, *left),
            Want::FreshRender => self.render_anew(after, app),
            Want::Delivery => {
                let is_due = self.pace.is_git_due(after);
                let question = is_due.then(|| self.question(want)).flatten();
                question.or_else(|| self.refresh(after, app, Duration::ZERO))
            }
            _ => self.question(want),
        }
    }

    /// The action that answers a question, once for each state of the Application.
    fn question(&mut self, want: &Want) -> Option<Action> {
        if self.asked.contains(want) {
            return None;
        }
        self.asked.push(want.clone());
        Some(match want {
            Want::Relations(revisions) => Action::Relate(revisions.clone()),
            Want::Hydrated(query) => Action::RelateHydrated((**query).clone()),
            Want::Delivery => Action::AskDelivery,
            Want::ManagedResources => Action::ReadManagedResources,
            Want::Tree => Action::ReadTree,
            Want::Windows => Action::ReadWindows,
            Want::RollingSync(set) => Action::ReadRollingSync(set.clone()),
            _ => return None,
        })
    }

    fn refresh(&mut self, after: Duration, app: &Application, wait: Duration) -> Option<Action> {
        let is_allowed = self.expected.rules.refresh == RefreshRule::Asked;
        let request = is_allowed.then(|| self.pace.refresh(after, app, wait)).flatten()?;
        Some(Action::Refresh(request))
    }

    /// Once, a refresh that renders anew.
    fn render_anew(&mut self, after: Duration, app: &Application) -> Option<Action> {
        if self.expected.rules.refresh == RefreshRule::Never {
            return None;
        }
        self.facts.has_rendered_anew = true;
        Some(Action::Refresh(self.pace.render_anew(after, app)))
    }

    /// Once for each revision that was compared.
    fn sync(&mut self, after: Duration, app: &Application) -> Option<Action> {
        let moment = Moment { app, expected: &self.expected, facts: &self.facts };
        let revision = moment.compared();
        let token = self.pace.sync(after, &revision, &self.expected.commit)?;
        let policy = app.spec.sync_policy.automated.as_ref();
        let prune = policy.is_some_and(|automated| automated.prune);
        Some(Action::Sync(SyncRequest { token, prune }))
    }

    /// Tells what became of it, and ends or sleeps.
    fn settle(&mut self, after: Duration, readiness: Readiness, tells: &mut Vec<Action>) -> Action {
        self.tell(after, &readiness, tells);
        let is_over = after >= self.expected.rules.timeout;
        let is_final = self.is_final(after, &readiness);
        if is_final || is_over {
            return Action::End(Box::new(self.outcome(readiness, is_final)));
        }
        let left = self.expected.rules.timeout.saturating_sub(after);
        Action::Sleep(self.pace.sleep(after, self.lasting.as_ref().map(|l| l.since)).min(left))
    }

    fn tell(&mut self, after: Duration, readiness: &Readiness, tells: &mut Vec<Action>) {
        let (state, message) = match readiness.reason() {
            Some(reason) => (reason.kind.word(), reason.message.clone()),
            None => ("ready", String::new()),
        };
        let is_same = |last: &Transition| {
            last.state == state && (last.message == message || counts_up(state))
        };
        if self.timeline.last().is_some_and(is_same) {
            return;
        }
        let transition = Transition { after, state, message };
        self.timeline.push(transition.clone());
        tells.push(Action::Tell(transition));
    }

    /// Whether a verdict ends the wait: at once, or because it has lasted for as long as its kind may.
    fn is_final(&mut self, after: Duration, readiness: &Readiness) -> bool {
        let reason = match readiness {
            Readiness::Ready | Readiness::Failed(_) => return true,
            Readiness::Progressing(reason) | Readiness::Blocked(reason) => reason,
        };
        let compared = self.app.as_ref().and_then(|app| app.status.reconciled_at);
        if self.lasting.as_ref().is_none_or(|lasting| !reason.kind.goes_on_from(lasting.kind)) {
            let comparisons = BTreeSet::new();
            self.lasting = Some(Lasting { kind: reason.kind, since: after, comparisons });
        }
        let Some(lasting) = &mut self.lasting else { return false };
        lasting.comparisons.insert(compared);
        let Some(patience) = reason.kind.patience() else { return false };
        let comparisons = lasting.comparisons.len();
        // Without refreshes an old error stands until the controller looks by itself, two periods at most.
        let time = match self.expected.rules.refresh {
            RefreshRule::Asked => patience.time,
            RefreshRule::Never => patience.time * 6,
        };
        let has_lasted =
            after.saturating_sub(lasting.since) >= time && comparisons >= patience.comparisons;
        has_lasted || comparisons >= patience.comparisons_alone
    }

    fn outcome(&self, readiness: Readiness, is_final: bool) -> Outcome {
        let moment = self.app.as_deref().map(|app| Moment {
            app,
            expected: &self.expected,
            facts: &self.facts,
        });
        let is_ready = readiness == Readiness::Ready;
        let effect = self.effect();
        let mut warnings = self.notes.clone();
        if let (true, Effect::Unknown { message }) = (is_ready, &effect) {
            warnings.push(format!("the effect itself was not verified: {message}"));
        }
        Outcome {
            proof: moment.filter(|_| is_ready).map(|moment| proof(&moment, effect)),
            seen: moment.map(|moment| seen(&moment)).unwrap_or_default(),
            timeline: self.timeline.clone(),
            app: self.app.clone(),
            readiness,
            is_final,
            warnings,
        }
    }

    /// What is known of the effect.
    fn effect(&self) -> Effect {
        match (&self.expected.effect, &self.facts.managed) {
            (ExpectedEffect::Unknown { message }, _) => {
                Effect::Unknown { message: message.clone() }
            }
            (ExpectedEffect::Known(changes), _) if changes.is_empty() => Effect::Verified,
            (_, Some(Ok(_))) => Effect::Verified,
            (_, Some(Err(trouble))) => Effect::Unknown { message: trouble.to_string() },
            (_, None) => Effect::Unknown { message: "it was not read".to_owned() },
        }
    }
}

/// States whose message counts seconds, so that another message is no other state.
fn counts_up(state: &str) -> bool {
    state == Kind::Dwelling.word() || state == Kind::ControllerSilent.word()
}

fn proof(moment: &Moment<'_>, effect: Effect) -> Proof {
    let revision = moment.compared();
    let of = |revision: &str| moment.facts.relations.get(revision).cloned();
    let relations = revision.split(", ").filter_map(of);
    let relation = relations.filter(|relation| relation.contains() == Some(true)).last();
    Proof { relation: relation.unwrap_or(Relation::Descendant), revision, effect }
}

/// What was last seen, for the end of a message.
fn seen(moment: &Moment<'_>) -> String {
    let status = &moment.app.status;
    let or = |text: &str, other: &str| if text.is_empty() { other } else { text }.to_owned();
    let compared = moment.compared();
    let sync = or(&status.sync.status, "not compared");
    let mut words = vec![match compared.is_empty() {
        true => sync,
        false => format!("{sync} at {compared}"),
    }];
    if let Some(applied) = moment.applied() {
        words.push(format!("last applied {applied}"));
    }
    if let Some(state) = &status.operation_state {
        words.push(format!("operation {}", or(&state.phase, "without phase")));
    }
    words.push(format!("health {}", or(&status.health.status, "not stated")));
    words.join(", ")
}
