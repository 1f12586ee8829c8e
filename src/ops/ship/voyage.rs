//! The way of one wave: each step taken when [`next`] says so, timed, and told in one sentence.

use std::cell::OnceCell;
use std::ffi::OsString;

use serde_json::{Value as Json, json};

use super::ShipRequest;
use super::leg::{Landing, Leg};
use super::probing::Probing;
use super::step::{Done, Failed, nothing_found};
use super::verifying::{Before, Look};
use crate::change::Change;
use crate::clock::{self, Stopwatch};
use crate::error::Error;
use crate::git::ObjectId;
use crate::ops::Context;
use crate::ops::change::Proven;
use crate::ops::deliver::Delivery;
use crate::ops::edit::EditRequest;
use crate::ops::wait::{self, DEFAULT_TIMEOUT, WaitOptions, WaitRequest};
use crate::report::change::{Action, ChangeReport, Status};
use crate::report::ship::{PullRequestName, StepReport, WaveReport};
use crate::ship::{Blame, Ending, Policy, ShipRecord, Step, Taken, Verdict, next, verdict};

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
        let verdict = verdict(&taken);
        let mut wave = WaveReport::of(overlays, verdict, steps);
        wave.landed = voyage.landing.map(|landing| landing.commit.to_string());
        wave.pull_request = voyage.pull_request.take();
        wave.way_back = voyage.way_back(overlays, verdict);
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
}

/// One wave on its way.
pub(super) struct Voyage<'a> {
    pub(super) shipping: &'a Shipping<'a>,
    pub(super) edit: &'a EditRequest,
    /// The base branch and what the edit does to it, as preflight found it.
    pub(super) found: Option<Found>,
    pub(super) landing: Option<Landing>,
    /// This run's pull request is what brought the change there.
    pub(super) merged_here: bool,
    /// Why what landed is not taken back, once that was asked.
    pub(super) stays: OnceCell<Option<String>>,
    pull_request: Option<PullRequestName>,
    /// What was wrong with what runs before the change; `None` where it had landed already.
    pub(super) before: Option<Before>,
    /// The revision that Argo CD has applied.
    applied: Option<String>,
    pub(super) back: Option<(Change, Delivery)>,
    pub(super) went_back: Option<ObjectId>,
    /// The probe that goes on since before the merge.
    probing: Option<Probing>,
}

/// What preflight found.
pub(super) struct Found {
    pub(super) base: String,
    pub(super) proven: Result<Proven, Error>,
    pub(super) trailer: String,
}

impl<'a> Voyage<'a> {
    fn new(shipping: &'a Shipping<'a>, edit: &'a EditRequest) -> Self {
        Self {
            shipping,
            edit,
            found: None,
            landing: None,
            merged_here: false,
            stays: OnceCell::new(),
            pull_request: None,
            before: None,
            applied: None,
            back: None,
            went_back: None,
            probing: None,
        }
    }

    pub(super) fn context(&self) -> &'a Context {
        self.shipping.context
    }

    /// Takes a step. A failure after the merge is the change's fault only where the change is this command's.
    fn take(&mut self, step: Step) -> Result<Done, Failed> {
        let taken = self.try_to_take(step);
        taken.map_err(|failed| match failed.blame {
            Blame::Change if step.is_after_merge() => self.blame(failed),
            _ => failed,
        })
    }

    fn blame(&self, failed: Failed) -> Failed {
        let Some(why) = self.reason_to_stay() else { return failed };
        let error = match self.shipping.policy.takes_back {
            true => failed.error.cause(format!("nothing was taken back: {why}")),
            false => failed.error,
        };
        Failed { error, blame: Blame::Elsewhere, ..failed }
    }

    /// The one command that takes the change back, where it landed and this command may take it back.
    fn way_back(&self, overlays: &[String], verdict: Verdict) -> Option<String> {
        let before = self.landing?.before?;
        let is_over = matches!(verdict, Verdict::AlreadySo | Verdict::TakenBack(_));
        let is_ours = !is_over && self.reason_to_stay().is_none();
        let here = self.context().here();
        let overlays: Vec<String> = overlays.iter().map(|overlay| here.path(overlay)).collect();
        let overlays = crate::shell::words(overlays.iter().map(String::as_str));
        is_ours.then(|| format!("overlay revert {overlays} --to {} --pr", before.short()))
    }

    fn try_to_take(&mut self, step: Step) -> Result<Done, Failed> {
        match step {
            Step::Preflight => self.preflight(),
            Step::Edit => self.look(),
            Step::PullRequest => self.propose(),
            Step::Merge => {
                self.begin_probe()?;
                let done = self.land()?;
                self.probing.iter().for_each(Probing::note_landing);
                Ok(done)
            }
            Step::Wait => {
                let done = self.wait(self.landing.map(|landing| landing.commit))?;
                self.applied = applied(&done.detail);
                Ok(done)
            }
            Step::Verify => self.verify(),
            Step::Probe => self.end_probe(),
            Step::RevertPullRequest => self.propose_back(),
            Step::RevertMerge => self.land_back(),
            Step::RevertWait => self.wait(self.went_back),
        }
    }

    pub(super) fn leg(&self) -> Leg<'_> {
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

    pub(super) fn look_at(&self, at: String) -> Option<Look<'_>> {
        let options = self.shipping.request.verify.as_ref()?;
        Some(Look {
            context: self.context(),
            access: &self.shipping.request.access,
            options,
            overlays: &self.edit.overlays,
            at,
        })
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
            // Where the change had landed before this run, nobody knows what was wrong before it.
            let blame = self.before.clone().unwrap_or_default().blame(&found);
            return Err(Failed { error, detail, blame });
        }
        let summary = format!("{} as git says", count(found.workloads.len(), "workload"));
        Ok(Done::new(Ending::Held, summary, detail))
    }

    fn begin_probe(&mut self) -> Result<(), Failed> {
        if let Some(wanted) = &self.shipping.request.probe {
            self.probing = Some(Probing::begin(self.context(), wanted)?);
        }
        Ok(())
    }

    fn end_probe(&mut self) -> Result<Done, Failed> {
        match self.probing.take() {
            Some(probing) => probing.end(),
            None => Ok(Done::skipped("not asked for")),
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
        let merge = report.delivered.pull_request.as_ref().and_then(|p| p.merge_commit.as_ref());
        self.merged_here = !held && merge.is_some_and(|merge| *merge == landing.commit.to_string());
        self.pull_request = name_of(&report).or(self.pull_request.take());
        self.landing = Some(landing);
        let ending = if held { Ending::Held } else { Ending::Changed };
        let summary = format!("on {} since {}", self.base(), landing.commit.short());
        Ok(Done::new(ending, summary, report.into_report(self.edit.change.command()).result))
    }

    pub(super) fn base(&self) -> &str {
        self.found.as_ref().map_or("", |found| found.base.as_str())
    }

    pub(super) fn timeout(&self) -> std::time::Duration {
        self.context().allowed_time().unwrap_or(DEFAULT_TIMEOUT)
    }

    pub(super) fn wait_request(
        &self,
        options: &WaitOptions,
        overlays: &[OsString],
        commit: &str,
    ) -> WaitRequest {
        let mut options = options.clone();
        options.rules.timeout = self.timeout();
        WaitRequest {
            applications: Vec::new(),
            overlays: overlays.to_vec(),
            commit: commit.to_owned(),
            project: None,
            remote: self.shipping.delivery.remote.clone(),
            options,
        }
    }

    fn wait(&self, commit: Option<ObjectId>) -> Result<Done, Failed> {
        let commit = commit.ok_or_else(nothing_found)?;
        self.wait_for(&self.edit.overlays, commit)
    }

    pub(super) fn wait_for(&self, overlays: &[OsString], commit: ObjectId) -> Result<Done, Failed> {
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
}

/// What became of a branch and its pull request.
pub(super) fn proposed(delivered: ChangeReport, command: &str) -> Result<Done, Failed> {
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
pub(super) fn landed(report: &ChangeReport, command: &str) -> Result<ObjectId, Failed> {
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

pub(super) fn count(number: usize, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {what}{s}", json!(number))
}
