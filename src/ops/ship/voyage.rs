//! The way of one wave: each step taken when [`next`] says so, timed, and told in one sentence.

use std::ffi::OsString;

use serde_json::{Value as Json, json};

use super::leg::{Landing, Leg};
use super::verifying::{Before, Look};
use super::{ShipRequest, back, preflight, returning};
use crate::change::Change;
use crate::clock::{self, Stopwatch};
use crate::error::{Error, codes};
use crate::git::ObjectId;
use crate::ops::Context;
use crate::ops::change::Proven;
use crate::ops::deliver::{Delivery, Survey};
use crate::ops::edit::EditRequest;
use crate::ops::wait::{self, DEFAULT_TIMEOUT, WaitOptions, WaitRequest};
use crate::report::change::{Action, ChangeReport, Status};
use crate::report::ship::{PullRequestName, StepReport, WaveReport};
use crate::ship::{Blame, Ending, Policy, ShipRecord, Step, Taken, blame, next, verdict};

/// What every wave of one command has in common.
pub(super) struct Shipping<'a> {
    pub(super) context: &'a Context,
    pub(super) request: &'a ShipRequest,
    pub(super) policy: Policy,
    pub(super) delivery: &'a Delivery,
    /// What the commit remembers, where that is not the change itself.
    pub(super) record: Option<&'a ShipRecord>,
    /// Overlays of waves before this one that others ship.
    pub(super) earlier: Vec<OsString>,
}

/// A step that was taken.
pub(super) struct Done {
    ending: Ending,
    /// What a person reads.
    summary: String,
    /// What it came to, in the form of the command that does the same.
    detail: Json,
}

impl Done {
    pub(super) fn new(ending: Ending, summary: impl Into<String>, detail: Json) -> Self {
        Self { ending, summary: summary.into(), detail }
    }

    fn skipped(summary: &str) -> Self {
        Self::new(Ending::Skipped, summary, Json::Null)
    }
}

/// A step that failed, with what it came to by then.
pub(super) struct Failed {
    error: Error,
    detail: Json,
    blame: Blame,
}

impl Failed {
    fn new(error: Error, detail: Json) -> Self {
        let blame = blame(error.code().name());
        Self { error, detail, blame }
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::new(error, Json::Null)
    }
}

impl From<crate::git::GitError> for Failed {
    fn from(error: crate::git::GitError) -> Self {
        Error::from(error).into()
    }
}

impl Shipping<'_> {
    /// Takes the way of one wave.
    pub(super) fn ship(&self, edit: &EditRequest, overlays: &[String]) -> WaveReport {
        let mut voyage = Voyage::new(self, edit);
        let (mut taken, mut steps): (Vec<Taken>, Vec<StepReport>) = (Vec::new(), Vec::new());
        while let Some(step) = next(self.policy, &taken) {
            let report = self.timed(step, || voyage.take(step));
            taken.push((step, report.ending));
            steps.push(report);
        }
        let mut wave = WaveReport::of(overlays, verdict(&taken), steps);
        wave.landed = voyage.landing.map(|landing| landing.commit.to_string());
        wave.pull_request = voyage.pull_request.take();
        wave.way_back = self.way_back(overlays, voyage.landing);
        wave
    }

    fn timed(&self, step: Step, take: impl FnOnce() -> Result<Done, Failed>) -> StepReport {
        let (began, watch) = (clock::now_unix(), Stopwatch::start());
        let outcome = take();
        let took = watch.elapsed();
        let (ending, summary, detail, error) = match outcome {
            Ok(Done { ending, summary, detail }) => (ending, summary, detail, None),
            Err(Failed { error, detail, blame }) => {
                (Ending::Failed(blame), error.message().to_owned(), detail, Some(error))
            }
        };
        if let Some(progress) = &self.context.progress {
            progress.say(&format!("{}: {summary}", step.word()));
        }
        StepReport { step, ending, began, took, summary, detail, error }
    }

    /// The one command that takes the change back.
    fn way_back(&self, overlays: &[String], landing: Option<Landing>) -> Option<String> {
        let before = landing?.before?;
        Some(format!("overlay revert {} --to {} --pr", overlays.join(" "), before.short()))
    }
}

/// One wave on its way.
struct Voyage<'a> {
    shipping: &'a Shipping<'a>,
    edit: &'a EditRequest,
    /// The base branch and what the edit does to it, as preflight found it.
    found: Option<Found>,
    landing: Option<Landing>,
    pull_request: Option<PullRequestName>,
    /// What was wrong with what runs before the change; `None` where it had landed already.
    before: Option<Before>,
    /// The revision that Argo CD has applied.
    applied: Option<String>,
    back: Option<(Change, Delivery)>,
    went_back: Option<ObjectId>,
}

/// What preflight found.
struct Found {
    base: String,
    proven: Result<Proven, Error>,
    trailer: String,
}

impl<'a> Voyage<'a> {
    fn new(shipping: &'a Shipping<'a>, edit: &'a EditRequest) -> Self {
        Self {
            shipping,
            edit,
            found: None,
            landing: None,
            pull_request: None,
            before: None,
            applied: None,
            back: None,
            went_back: None,
        }
    }

    fn context(&self) -> &'a Context {
        self.shipping.context
    }

    fn take(&mut self, step: Step) -> Result<Done, Failed> {
        match step {
            Step::Preflight => self.preflight(),
            Step::Edit => self.look(),
            Step::PullRequest => self.propose(),
            Step::Merge => self.land(),
            Step::Wait => {
                let done = self.wait(self.landing.map(|landing| landing.commit))?;
                self.applied = applied(&done.detail);
                Ok(done)
            }
            Step::Verify => self.verify(),
            Step::Probe => Ok(Done::skipped("nothing is asked for")),
            Step::RevertPullRequest => self.propose_back(),
            Step::RevertMerge => self.land_back(),
            Step::RevertWait => self.wait(self.went_back),
        }
    }

    fn leg(&self) -> Leg<'_> {
        let trailer = self.found.as_ref().map(|found| found.trailer.clone());
        let delivery =
            Delivery { trailers: trailer.into_iter().collect(), ..self.shipping.delivery.clone() };
        let (overlays, change) = (&self.edit.overlays[..], &self.edit.change);
        Leg { context: self.context(), overlays, change, delivery }
    }

    fn holds(&self) -> bool {
        let proven = self.found.as_ref().and_then(|found| found.proven.as_ref().ok());
        proven.is_some_and(|proven| proven.texts.is_empty())
    }

    fn preflight(&mut self) -> Result<Done, Failed> {
        let (context, shipping) = (self.context(), self.shipping);
        let (overlays, change) = (&self.edit.overlays, &self.edit.change);
        let survey = Survey::open(context, overlays, change, shipping.delivery)?;
        let tip = survey.tip()?;
        let proven = match survey.prove(tip) {
            Err(error) if preflight::is_hold(&error) => return Err(error.into()),
            proven => proven,
        };
        let mut told: Vec<String> = Vec::new();
        let mut trailer = shipping.record.map(ShipRecord::to_trailer).unwrap_or_default();
        if let Ok(proven) = &proven {
            let fingerprint = survey.fingerprint(proven);
            let is_new = !proven.texts.is_empty() && shipping.record.is_none();
            if is_new && !shipping.request.again {
                preflight::refuse_taken_back(&survey.repository, tip, &fingerprint)?;
            }
            if let (true, Some(name)) = (is_new, &shipping.request.then_revert) {
                returning::require_free(&survey.repository, tip, name)?;
            }
            if !shipping.request.allow_findings {
                preflight::refuse_findings(&proven.overlays)?;
            }
            if shipping.record.is_none() {
                let then_revert = shipping.request.then_revert.clone();
                trailer = ShipRecord::Makes { change: fingerprint, then_revert }.to_trailer();
            }
        }
        if let Some(options) = &shipping.request.wait {
            let request = self.wait_request(options, overlays, &tip.to_string());
            let deployers = wait::look(context, &request)?;
            told.push(preflight::require_deployers(&deployers, change)?);
            if !shipping.earlier.is_empty() {
                self.await_others(&survey)?;
                told.push(format!("{} overlays of others before it", shipping.earlier.len()));
            }
        }
        if let Some(message) = self.look_before(&proven, tip)? {
            told.push(message);
        }
        let base = survey.base().to_owned();
        self.found = Some(Found { base, proven, trailer });
        let summary =
            if told.is_empty() { "nothing stands against it".into() } else { told.join("; ") };
        Ok(Done::new(Ending::Held, summary, Json::Null))
    }

    /// What is wrong with what runs before the change has landed.
    fn look_before(
        &mut self,
        proven: &Result<Proven, Error>,
        tip: ObjectId,
    ) -> Result<Option<String>, Failed> {
        let is_new = proven.as_ref().is_ok_and(|proven| !proven.texts.is_empty());
        if !self.shipping.policy.verifies || !is_new {
            return Ok(None);
        }
        let before = self.look_at(tip.to_string()).map(|look| look.before()).transpose()?;
        let count_before = before.as_ref().map_or(0, Before::count);
        self.before = before;
        Ok((count_before > 0)
            .then(|| format!("{} of what runs before it", count(count_before, "finding"))))
    }

    fn look_at(&self, at: String) -> Option<Look<'_>> {
        let options = self.shipping.request.verify.as_ref()?;
        Some(Look { context: self.context(), options, overlays: &self.edit.overlays, at })
    }

    fn verify(&self) -> Result<Done, Failed> {
        let landed = self.landing.map(|landing| landing.commit.to_string());
        let at = self.applied.clone().or(landed).ok_or_else(nothing_found)?;
        let Some(look) = self.look_at(at) else { return Ok(Done::skipped("not asked for")) };
        let found = look.until_well(self.timeout())?;
        let detail = found.to_json();
        if let Some(error) = found.error() {
            let first = found.findings.iter().find(|finding| finding.is_failure());
            let error = first.into_iter().fold(error, |error, finding| {
                error.cause(format!("{}: {}", finding.id, finding.message))
            });
            let blame = match &self.before {
                Some(before) => before.blame(&found),
                None => blame(error.code().name()),
            };
            return Err(Failed { error, detail, blame });
        }
        let summary = format!("{} as git says", count(found.workloads.len(), "workload"));
        Ok(Done::new(Ending::Held, summary, detail))
    }

    /// Waits until the overlays of earlier waves that others ship hold the change, and are applied.
    fn await_others(&self, survey: &Survey<'_>) -> Result<(), Failed> {
        let shipping = self.shipping;
        let leg = Leg { overlays: &shipping.earlier, ..self.leg() };
        let others = Survey::open(leg.context, leg.overlays, leg.change, &leg.delivery)?;
        let deadline = clock::Deadline::after(self.timeout());
        loop {
            let tip = survey.tip()?;
            if others.prove(tip)?.texts.is_empty() {
                let landing = leg.find_landing(tip)?;
                return self.wait_for(&shipping.earlier, landing.commit).map(drop);
            }
            if deadline.is_over() {
                let message =
                    "overlays of earlier waves that others ship do not hold the change yet";
                return Err(Error::new(codes::WAVE_INCOMPLETE, message).into());
            }
            clock::sleep(preflight::PAUSE.min(deadline.remaining()));
        }
    }

    fn look(&mut self) -> Result<Done, Failed> {
        let Some(found) = &self.found else { return Err(nothing_found()) };
        let proven = match &found.proven {
            Ok(proven) => proven,
            Err(error) => return Err(error.clone().into()),
        };
        let report = ChangeReport {
            dry_run: true,
            overlays: proven.overlays.clone(),
            delivered: crate::report::change::Delivered::default(),
        };
        let fields: usize = proven.overlays.iter().map(|o| o.effect.changes.len()).sum();
        let changed = proven.overlays.iter().filter(|o| o.status == Status::Changed).count();
        let detail = report.into_report(self.edit.change.command()).result;
        if self.holds() {
            return Ok(Done::new(Ending::Held, format!("{} holds it", found.base), detail));
        }
        let summary = format!("{} of {}", count(fields, "field"), count(changed, "overlay"));
        let ending = if self.shipping.policy.is_trial { Ending::Changed } else { Ending::Held };
        Ok(Done::new(ending, summary, detail))
    }

    fn propose(&mut self) -> Result<Done, Failed> {
        if self.holds() {
            return Ok(Done::skipped("nothing is left to propose"));
        }
        let delivered = self.leg().propose()?;
        self.pull_request = name_of(&delivered);
        proposed(delivered, self.edit.change.command())
    }

    fn land(&mut self) -> Result<Done, Failed> {
        let held = self.holds();
        let leg = self.leg();
        let report = leg.land()?;
        let known = landed(&report, leg.change.command())?;
        let landing = leg.find_landing(known)?;
        self.pull_request = name_of(&report).or(self.pull_request.take());
        self.landing = Some(landing);
        let ending = if held { Ending::Held } else { Ending::Changed };
        let summary = format!("on {} since {}", self.base(), landing.commit.short());
        Ok(Done::new(ending, summary, report.into_report(self.edit.change.command()).result))
    }

    fn base(&self) -> &str {
        self.found.as_ref().map_or("", |found| found.base.as_str())
    }

    fn timeout(&self) -> std::time::Duration {
        self.context().allowed_time().unwrap_or(DEFAULT_TIMEOUT)
    }

    fn wait_request(
        &self,
        options: &WaitOptions,
        overlays: &[OsString],
        commit: &str,
    ) -> WaitRequest {
        let remote = self.shipping.delivery.remote.clone();
        options.to_request(overlays.to_vec(), commit.to_owned(), remote, self.timeout())
    }

    fn wait(&self, commit: Option<ObjectId>) -> Result<Done, Failed> {
        let commit = commit.ok_or_else(nothing_found)?;
        self.wait_for(&self.edit.overlays, commit)
    }

    fn wait_for(&self, overlays: &[OsString], commit: ObjectId) -> Result<Done, Failed> {
        let Some(options) = &self.shipping.request.wait else {
            return Ok(Done::skipped("not asked for"));
        };
        let request = self.wait_request(options, overlays, &commit.to_string());
        let report = wait::run(self.context(), &request)?;
        if let Some(error) = report.error {
            return Err(Failed::new(error, report.result));
        }
        let names = report.result["applications"].as_array().map_or(0, Vec::len);
        let summary = format!("{} applied and healthy", count(names, "Application"));
        Ok(Done::new(Ending::Held, summary, report.result))
    }

    fn leg_back(&self) -> Result<Leg<'_>, Failed> {
        let (change, delivery) = self.back.as_ref().ok_or_else(nothing_found)?;
        let overlays = &self.edit.overlays[..];
        Ok(Leg { context: self.context(), overlays, change, delivery: delivery.clone() })
    }

    fn propose_back(&mut self) -> Result<Done, Failed> {
        let landing = self.landing.ok_or_else(nothing_found)?;
        let leg = self.leg();
        let change = back::change_back(&leg, landing)?;
        let survey = Survey::open(leg.context, leg.overlays, leg.change, &leg.delivery)?;
        let (tip, before) = (survey.tip()?, landing.before);
        let before = before.ok_or_else(|| back::no_past(landing.commit))?;
        let change_made = survey.fingerprint(&survey.prove(before)?);
        let record = back::record_back(self.shipping.record, change_made, landing.commit);
        let delivery = back::delivery_back(&leg.delivery, &record);
        drop(leg);
        self.back = Some((change, delivery));
        let leg = self.leg_back()?;
        let back = Survey::open(leg.context, leg.overlays, leg.change, &leg.delivery)?;
        if back.prove(tip)?.texts.is_empty() {
            return Ok(Done::skipped("the base branch is as before already"));
        }
        let delivered = leg.propose()?;
        proposed(delivered, leg.change.command())
    }

    fn land_back(&mut self) -> Result<Done, Failed> {
        let leg = self.leg_back()?;
        let report = leg.land()?;
        let known = landed(&report, leg.change.command())?;
        let commit = leg.find_landing(known)?.commit;
        let command = leg.change.command();
        let summary = format!("on {} since {}", self.base(), commit.short());
        self.went_back = Some(commit);
        Ok(Done::new(Ending::Changed, summary, report.into_report(command).result))
    }
}

/// What became of a branch and its pull request.
fn proposed(delivered: ChangeReport, command: &str) -> Result<Done, Failed> {
    let changed = delivered.is_changed();
    let pull = delivered.delivered.pull_request.clone();
    let report = delivered.into_report(command);
    if let Some(error) = report.error {
        return Err(Failed::new(error, report.result));
    }
    let summary = match &pull {
        Some(pull) => format!("pull request {} {}: {}", pull.number, pull.action.word(), pull.url),
        None => "the base branch got it meanwhile".to_owned(),
    };
    let is_new = changed && pull.is_none_or(|pull| pull.action != Action::Unchanged);
    Ok(Done::new(if is_new { Ending::Changed } else { Ending::Held }, summary, report.result))
}

/// The commit by which the base branch is known to hold what was waited for.
fn landed(report: &ChangeReport, command: &str) -> Result<ObjectId, Failed> {
    if let Some(error) = report.delivered.error.clone() {
        let detail = report.clone().into_report(command).result;
        return Err(Failed::new(error, detail));
    }
    let commit = report.delivered.landed.as_ref().and_then(|landed| landed.commit.parse().ok());
    commit.ok_or_else(nothing_found)
}

/// The one revision that all Applications have applied.
fn applied(waited: &Json) -> Option<String> {
    let all = waited["applications"].as_array()?;
    let first = all.first()?["revision"].as_str()?;
    all.iter().all(|one| one["revision"] == first).then(|| first.to_owned())
}

fn name_of(report: &ChangeReport) -> Option<PullRequestName> {
    let pull = report.delivered.pull_request.as_ref()?;
    Some(PullRequestName { number: pull.number, url: pull.url.clone() })
}

fn nothing_found() -> Failed {
    Error::new(codes::INTERNAL, "internal error: a step without the one before it").into()
}

fn count(number: usize, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {what}{s}", json!(number))
}
