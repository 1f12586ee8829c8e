//! What has to hold before anything is written.

use serde_json::{Map, Value as Json};

use super::leg::Leg;
use super::patches::Edited;
use super::step::{Done, Failed};
use super::verifying::Before;
use super::voyage::{Found, Voyage, count};
use super::{guards, returning};
use crate::clock::{self, Deadline};
use crate::error::{Error, codes};
use crate::git::ObjectId;
use crate::ops::baseline;
use crate::ops::change::Proven;
use crate::ops::deliver::{Survey, require_forge};
use crate::ops::probe::{Prepared, ProbeRequest};
use crate::ops::wait;
use crate::report::Report;
use crate::ship::{Ending, ShipRecord};

/// What preflight says once it is through.
#[derive(Default)]
struct Told {
    /// In words.
    words: Vec<String>,
    /// By what was looked at, in the form of the command that does the same.
    details: Map<String, Json>,
}

impl Voyage<'_> {
    /// Looks for what stands against the change.
    ///
    /// # Errors
    /// The first thing that does.
    pub(super) fn preflight(&mut self) -> Result<Done, Failed> {
        let (context, shipping) = (self.context(), self.shipping);
        let (overlays, change) = (&self.edit.overlays, &self.edit.change);
        let survey = Survey::open(context, overlays, change, shipping.delivery)?;
        let tip = survey.tip()?;
        let proven = match survey.prove(tip) {
            Err(error) if guards::is_hold(&error) => return Err(error.into()),
            proven => proven,
        };
        let is_new = proven.as_ref().is_ok_and(|proven| !proven.texts.is_empty());
        let mut told = Told::default();
        let trailer = match &proven {
            Ok(proven) => self.admit(&survey, tip, proven)?,
            Err(_) => String::new(),
        };
        if is_new && !shipping.policy.is_trial {
            require_forge(context, &survey.repository, shipping.delivery)?;
        }
        self.ask_argo_cd(&survey, tip, &proven, &mut told)?;
        // What has landed is looked at by the steps after the merge, whatever was before it.
        if is_new {
            self.require_baseline(&mut told)?;
            self.require_trust(&mut told)?;
            self.require_answers(&mut told)?;
            self.look_before(tip, &mut told)?;
        }
        let base = survey.base().to_owned();
        self.found = Some(Found { base, proven, trailer });
        let summary = match told.words.is_empty() {
            true => "nothing stands against it".to_owned(),
            false => told.words.join("; "),
        };
        let details = if told.details.is_empty() { Json::Null } else { told.details.into() };
        Ok(Done::new(Ending::Held, summary, details))
    }

    /// Refuses what is not to be shipped, and gives the trailer of its commit.
    fn admit(&self, survey: &Survey<'_>, tip: ObjectId, proven: &Proven) -> Result<String, Error> {
        let (request, record) = (self.shipping.request, self.shipping.record);
        let fingerprint = survey.fingerprint(proven);
        let is_new = !proven.texts.is_empty() && record.is_none();
        if is_new && !request.again {
            guards::refuse_taken_back(&survey.repository, tip, &fingerprint)?;
        }
        if let (true, Some(name)) = (is_new, &request.then_revert) {
            returning::require_free(&survey.repository, tip, name)?;
        }
        if !request.allow_findings {
            guards::refuse_findings(&proven.overlays)?;
        }
        let then_revert = request.then_revert.clone();
        let made = || ShipRecord::Makes { change: fingerprint, then_revert };
        Ok(record.cloned().unwrap_or_else(made).to_trailer())
    }

    /// Somebody deploys it, and states nothing against it.
    fn ask_argo_cd(
        &self,
        survey: &Survey<'_>,
        tip: ObjectId,
        proven: &Result<Proven, Error>,
        told: &mut Told,
    ) -> Result<(), Failed> {
        let Some(options) = &self.shipping.request.wait else { return Ok(()) };
        let request = self.wait_request(options, &self.edit.overlays, &tip.to_string());
        let deployers = wait::look(self.context(), &request)?;
        let (overlays, texts) = match proven {
            Ok(proven) => (&proven.overlays[..], &proven.texts[..]),
            Err(_) => (&[][..], &[][..]),
        };
        let (context, repository) = (self.context(), &survey.repository);
        let edited = Edited { context, repository, tip, texts };
        told.words.extend(guards::require_deployers(&deployers, overlays, &edited)?);
        if !self.shipping.earlier.is_empty() {
            self.await_others(survey)?;
            told.words
                .push(format!("{} overlays of others before it", self.shipping.earlier.len()));
        }
        Ok(())
    }

    /// The cluster has no trouble that the baseline does not know.
    fn require_baseline(&self, told: &mut Told) -> Result<(), Failed> {
        let Some(wanted) = &self.shipping.request.baseline else { return Ok(()) };
        let report = baseline::compare(self.context(), wanted)?;
        told.add("baseline", "no trouble that the baseline does not know", report)
    }

    /// Clients trust what the server presents.
    #[cfg(feature = "trust")]
    fn require_trust(&self, told: &mut Told) -> Result<(), Failed> {
        let Some(wanted) = &self.shipping.request.trust else { return Ok(()) };
        let report = crate::ops::trust::run(self.context(), wanted)?;
        told.add("trust", "clients trust what is presented", report)
    }

    #[cfg(not(feature = "trust"))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
    fn require_trust(&self, _: &mut Told) -> Result<(), Failed> {
        Ok(())
    }

    /// What is probed later answers now: an endpoint that is down already says nothing of the change.
    fn require_answers(&self, told: &mut Told) -> Result<(), Failed> {
        let Some(wanted) = &self.shipping.request.probe else { return Ok(()) };
        let wanted = ProbeRequest { most_failures: 0, ..wanted.clone() };
        let prepared = Prepared::new(self.context(), &wanted)?;
        let report = prepared.once(self.context(), &wanted)?.into_report();
        told.add("probe", "what is probed answers", report)
    }

    /// What is wrong with what runs before the change.
    fn look_before(&mut self, tip: ObjectId, told: &mut Told) -> Result<(), Failed> {
        if !self.shipping.policy.verifies {
            return Ok(());
        }
        let before = self.look_at(tip.to_string()).map(|look| look.before()).transpose()?;
        let found = before.as_ref().map_or(0, Before::count);
        self.before = before;
        if found > 0 {
            told.words.push(format!("{} of what runs before it", count(found, "finding")));
        }
        Ok(())
    }

    /// Waits until the overlays of earlier waves that others ship hold the change, and are applied.
    fn await_others(&self, survey: &Survey<'_>) -> Result<(), Failed> {
        let shipping = self.shipping;
        let leg = Leg { overlays: &shipping.earlier, ..self.leg() };
        let others = Survey::open(leg.context, leg.overlays, leg.change, &leg.delivery)?;
        let deadline = Deadline::after(self.timeout());
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
            clock::sleep(guards::PAUSE.min(deadline.remaining()));
        }
    }
}

impl Told {
    /// Adds what a look came to, or ends with what it found.
    fn add(&mut self, what: &str, words: &str, report: Report) -> Result<(), Failed> {
        if let Some(error) = report.error {
            return Err(Failed::new(error.within(what), report.result));
        }
        self.words.push(words.to_owned());
        self.details.insert(what.to_owned(), report.result);
        Ok(())
    }
}
