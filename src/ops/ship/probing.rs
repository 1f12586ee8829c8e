//! Endpoints that are probed from before the merge to the end of the way.

use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use super::step::{Done, Failed};
use crate::error::{Error, codes};
use crate::ops::Context;
use crate::ops::probe::{Leash, Prepared, ProbeRequest};
use crate::report::probe::{ProbeReport, shown_tries};
use crate::ship::{Blame, Ending, blame};

/// How many tries of each address there are at least, where all the rest was done at once.
const LEAST_TRIES: u64 = 10;

/// A probe that goes on beside the steps; it ends with this.
pub(super) struct Probing {
    leash: Arc<Leash>,
    thread: Option<JoinHandle<Result<ProbeReport, Error>>>,
}

impl Probing {
    /// Begins.
    ///
    /// # Errors
    /// Where an address is none.
    pub(super) fn begin(context: &Context, wanted: &ProbeRequest) -> Result<Self, Error> {
        let prepared = Prepared::new(context, wanted)?;
        let leash = Arc::new(Leash::new());
        let (held, context, wanted) = (Arc::clone(&leash), context.clone(), wanted.clone());
        let thread = Builder::new().name("probes".into());
        let thread = thread.spawn(move || prepared.on_leash(&context, &wanted, &held));
        let thread =
            thread.map_err(|error| Error::new(codes::INTERNAL, format!("no thread: {error}")))?;
        Ok(Self { leash, thread: Some(thread) })
    }

    /// The change has landed: what fails from now on may be its fault.
    pub(super) fn note_landing(&self) {
        self.leash.mark();
    }

    /// Ends once there were enough tries.
    ///
    /// # Errors
    /// Where more tries failed than were allowed.
    pub(super) fn end(mut self) -> Result<Done, Failed> {
        self.leash.end_after(LEAST_TRIES);
        let joined = self.thread.take().map(JoinHandle::join);
        let Some(Ok(report)) = joined else {
            return Err(Error::new(codes::INTERNAL, "internal error: the probe ended early").into());
        };
        let report = report?;
        let tries: u64 = report.targets.iter().map(|target| target.tally.tries()).sum();
        let summary = format!("{} of {} failed", report.failures(), shown_tries(tries));
        let is_since = report.marked_failures() > report.most_failures;
        let report = report.into_report();
        match report.error {
            None => Ok(Done::new(Ending::Held, summary, report.result)),
            Some(error) => {
                let own = blame(error.code().name());
                let blame = if is_since { own } else { Blame::Elsewhere };
                Err(Failed { error, detail: report.result, blame })
            }
        }
    }
}

impl Drop for Probing {
    fn drop(&mut self) {
        self.leash.end_after(0);
    }
}
