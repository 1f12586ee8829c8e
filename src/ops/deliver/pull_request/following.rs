//! `--wait-merge` and `--merge`: looks at the pull request until its change is on the base branch, and does what brings it there.
//!
//! Everything is found out anew at each look, so that the same command run again, here or elsewhere, goes on from where it was.

use std::time::Duration;

use super::evidence::Evidence;
use super::{Request, Round};
use crate::clock::{self, Deadline};
use crate::error::{Error, codes};
use crate::forge::{Forge, ForgeError, MergeMethod, Mergeable, Merger, Next, Reason, Standing};
use crate::git::ObjectId;
use crate::ops::deliver::Landing;
use crate::ops::deliver::push::{Values, require_same_before, values_of};
use crate::plan::Note;
use crate::report::change::{ChangeReport, Landed, ProposalState};

/// How long is waited where `--timeout` says nothing else.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// The first pause between two looks; each is half as long again as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// How often the forge may refuse what it said it would do, or say what is not so yet.
const MOST_DOUBTS: u32 = 4;

/// How often the edit is made anew.
const MOST_REDOS: u32 = 20;

/// A pull request on its way.
pub(super) struct Following<'a> {
    request: &'a Request<'a>,
    forge: &'a dyn Forge,
    landing: Landing,
    deadline: Deadline,
    pause: Duration,
    report: ChangeReport,
    evidence: Evidence,
    /// The values that were there when the edit was first made.
    first: Values,
    number: u64,
    /// The newest commit that is known to be the edit, or the edit and commits of people that it was made upon.
    head: Option<String>,
    /// Newest commits before it, which a forge may still show.
    earlier: Vec<String>,
    /// The base branch as it was last looked at, and whether it holds the change while the pull request is open.
    seen: Option<(ObjectId, bool)>,
    asked_later: bool,
    may_ask_later: bool,
    doubts: u32,
    redos: u32,
    last: Option<Reason>,
}

/// How it ended.
enum End {
    /// The base branch holds the change since this commit.
    Landed { commit: ObjectId, state: ProposalState },
    /// It did not get there.
    Failed(Error),
}

impl<'a> Following<'a> {
    /// Follows the pull request of `report`.
    pub(super) fn new(
        request: &'a Request<'a>,
        forge: &'a dyn Forge,
        landing: Landing,
        (report, evidence, head): (ChangeReport, Evidence, Option<ObjectId>),
    ) -> Self {
        let allowed = request.line.job.context.allowed_time().unwrap_or(DEFAULT_TIMEOUT);
        let number = report.delivered.pull_request.as_ref().map_or(0, |pull| pull.number);
        let first = values_of(&evidence.overlays);
        Self {
            request,
            forge,
            landing,
            deadline: Deadline::after(allowed),
            pause: FIRST_PAUSE,
            report,
            evidence,
            first,
            number,
            head: head.map(|id| id.to_string()),
            earlier: Vec::new(),
            seen: None,
            asked_later: false,
            may_ask_later: true,
            doubts: 0,
            redos: 0,
            last: None,
        }
    }

    /// Waits, and gives the report with what became of it.
    pub(super) fn run(mut self) -> ChangeReport {
        let end = loop {
            let trouble = match self.look() {
                Ok(Some(end)) => break end,
                Ok(None) => None,
                Err(error) if is_passing(&error) => Some(error),
                Err(error) => break End::Failed(error),
            };
            if self.deadline.is_over() {
                break End::Failed(self.not_in_time(trouble));
            }
            clock::sleep(self.pause.min(self.deadline.remaining()));
            self.pause = (self.pause * 3 / 2).min(LONGEST_PAUSE);
        };
        self.finish(end)
    }

    fn finish(mut self, end: End) -> ChangeReport {
        let base = self.request.line.base_name().to_owned();
        match end {
            End::Landed { commit, state } => {
                let commit = commit.to_string();
                if let Some(pull) = &mut self.report.delivered.pull_request {
                    pull.state = state;
                    pull.merge_commit = (state == ProposalState::Merged).then(|| commit.clone());
                }
                self.report.delivered.landed = Some(Landed { branch: base, commit });
            }
            End::Failed(error) => {
                if let Some(pull) = &mut self.report.delivered.pull_request
                    && error.code() == codes::PULL_REQUEST_CLOSED
                {
                    pull.state = ProposalState::Closed;
                }
                self.report.delivered.error = Some(error);
            }
        }
        self.report
    }

    /// One look, and what it asks for.
    fn look(&mut self) -> Result<Option<End>, Error> {
        let mut standing = self.forge.standing(self.number)?;
        standing.merges_by_itself |= self.asked_later;
        standing.may_merge_by_itself &= self.may_ask_later;
        let merger = if self.landing.merges { Merger::Us } else { Merger::Others };
        let next = standing.next(merger);
        match &next {
            Next::Landed(commit) => return self.landed(commit.as_deref()),
            Next::Closed => return self.closed().map(Some),
            _ if self.is_overtaken()? => return self.overtaken(),
            _ if !self.knows(&standing) => return self.head_moved(&standing),
            _ => {}
        }
        match next {
            Next::Redo => self.redo(&standing),
            Next::ChecksFailed(names) => self.checks_failed(&names),
            Next::Merge => {
                let method = self.method(&standing);
                let done = self.forge.merge(self.number, &standing.head_commit, method);
                self.asked(done)
            }
            Next::Enqueue => {
                let done = self.forge.enqueue(&standing);
                self.asked(done)
            }
            Next::MergeLater => {
                self.ask_later(&standing);
                Ok(None)
            }
            Next::Wait(reason) => {
                self.doubts = 0;
                self.tell(reason);
                self.check_conflicts(&standing)
            }
            Next::Landed(_) | Next::Closed => Ok(None),
        }
    }

    fn method(&self, standing: &Standing) -> MergeMethod {
        self.landing.method.or(standing.method).unwrap_or(MergeMethod::Merge)
    }

    /// Whether the newest commit is the one that was proven.
    fn knows(&self, standing: &Standing) -> bool {
        self.head.as_ref().is_none_or(|head| *head == standing.head_commit)
    }

    /// Somebody pushed to the branch, or the forge has not seen our own push yet.
    fn head_moved(&mut self, standing: &Standing) -> Result<Option<End>, Error> {
        if self.earlier.contains(&standing.head_commit) {
            return Ok(None);
        }
        self.again(false)
    }

    fn landed(&mut self, commit: Option<&str>) -> Result<Option<End>, Error> {
        let tip = self.request.line.base_tip()?;
        if let Some(commit) = self.evidence.find_landed(self.request.line, commit, tip)? {
            return Ok(Some(End::Landed { commit, state: ProposalState::Merged }));
        }
        // The branch may lag behind what the forge says.
        self.doubts += 1;
        let base = self.request.line.base_name();
        let message = format!(
            "pull request {} was merged, and what `{base}` renders now does not hold the change",
            self.number
        );
        let hint =
            "it was changed before the merge, or taken back after it; `overlay history` tells";
        let error = || Error::new(codes::MERGED_OTHERWISE, message).hint(hint);
        Ok((self.doubts >= MOST_DOUBTS).then(|| End::Failed(error())))
    }

    fn closed(&mut self) -> Result<End, Error> {
        let line = self.request.line;
        let tip = line.base_tip()?;
        if let Some(commit) = self.evidence.find_landed(line, None, tip)? {
            return Ok(End::Landed { commit, state: ProposalState::Closed });
        }
        let message = format!("pull request {} was closed and not merged", self.number);
        let hint = "the same command again proposes the change on a fresh branch";
        Ok(End::Failed(Error::new(codes::PULL_REQUEST_CLOSED, message).hint(hint)))
    }

    /// Whether the base branch holds the change though the pull request is open, at two looks: at the first the forge may still
    /// be busy with the merge.
    fn is_overtaken(&mut self) -> Result<bool, Error> {
        let line = self.request.line;
        let tip = line.base_tip()?;
        match self.seen {
            Some((seen, holds)) if seen == tip => Ok(holds),
            _ => {
                let holds = tip != self.evidence.since && self.evidence.holds(line, tip)?;
                self.seen = Some((tip, holds));
                Ok(false)
            }
        }
    }

    /// Somebody brought the change by another way.
    fn overtaken(&mut self) -> Result<Option<End>, Error> {
        let line = self.request.line;
        let tip = line.base_tip()?;
        let Some(commit) = self.evidence.find_landed(line, None, tip)? else { return Ok(None) };
        let closed = self.request.close_obsolete();
        let state = closed.map_or(ProposalState::Open, |_| ProposalState::Closed);
        Ok(Some(End::Landed { commit, state }))
    }

    /// The edit does not fit on the base branch any more, or the branch lacks what that has got.
    fn redo(&mut self, standing: &Standing) -> Result<Option<End>, Error> {
        let head = self.head.clone();
        if let Some(end) = self.again(true)? {
            return Ok(Some(end));
        }
        if self.head != head {
            self.doubts = 0;
            return Ok(None);
        }
        // The commits of others are not ours to rewrite.
        if standing.mergeable != Mergeable::Conflicts {
            let head = &standing.head_commit;
            let done = self.forge.bring_up_to_date(self.number, head);
            return self.asked(done);
        }
        self.doubts += 1;
        let base = self.request.line.base_name();
        let message = format!(
            "pull request {} has conflicts with `{base}` in commits that this program did not make",
            self.number
        );
        let hint = "bring the branch up to date by hand; the same command again goes on from there";
        let error = || Error::new(codes::PULL_REQUEST_CONFLICTS, message).hint(hint);
        Ok((self.doubts >= MOST_DOUBTS).then(|| End::Failed(error())))
    }

    /// Makes the edit again on what is there now.
    fn again(&mut self, afresh: bool) -> Result<Option<End>, Error> {
        self.redos += 1;
        if self.redos > MOST_REDOS {
            let message = format!(
                "pull request {} had to be made anew {MOST_REDOS} times and is not merged yet",
                self.number
            );
            return Ok(Some(End::Failed(Error::new(codes::PULL_REQUEST_CONFLICTS, message))));
        }
        let (remote, first) = (self.request.line.remote.shown(), &self.first);
        let guard = |now: &Values| {
            require_same_before(first, now, remote).map_err(|error| {
                let code = codes::PULL_REQUEST_CONFLICTS;
                Error::new(code, error.message().to_owned())
                    .hint("run the command again if yours is still the right value")
            })
        };
        match self.request.round(self.forge, afresh, &guard)? {
            Round::Holds { tip, .. } => {
                let found = self.evidence.find_landed(self.request.line, None, tip)?;
                let closed = self.request.close_obsolete();
                let state = closed.map_or(ProposalState::Open, |_| ProposalState::Closed);
                Ok(Some(End::Landed { commit: found.unwrap_or(tip), state }))
            }
            Round::Proposed { report, evidence, head } => {
                self.take(*report, evidence, head);
                Ok(None)
            }
        }
    }

    fn take(&mut self, report: ChangeReport, evidence: Evidence, head: Option<ObjectId>) {
        let head = head.map(|id| id.to_string());
        if head != self.head {
            self.earlier.extend(self.head.take());
            (self.asked_later, self.pause) = (false, FIRST_PAUSE);
        }
        self.head = head;
        self.evidence = evidence;
        let earlier = std::mem::replace(&mut self.report, report);
        let delivered = &mut self.report.delivered;
        delivered.commit = delivered.commit.take().or(earlier.delivered.commit);
        delivered.branch = delivered.branch.take().or(earlier.delivered.branch);
        delivered.remote = delivered.remote.take().or(earlier.delivered.remote);
        match (&mut delivered.pull_request, earlier.delivered.pull_request) {
            (Some(now), Some(before)) => {
                self.number = now.number;
                if before.number == now.number {
                    now.action = before.action.or(now.action);
                    now.supersedes.splice(0..0, before.supersedes);
                }
            }
            (now, before) => *now = now.take().or(before),
        }
        if self.report.overlays.iter().all(|overlay| overlay.effect.is_empty()) {
            self.report.overlays = earlier.overlays;
        }
    }

    fn checks_failed(&mut self, names: &[String]) -> Result<Option<End>, Error> {
        // A check that is started again is pending at the next look.
        self.doubts += 1;
        let message =
            format!("checks of pull request {} failed: {}", self.number, names.join(", "));
        let hint = "once they pass, the same command again goes on from there";
        let error = || Error::new(codes::CHECKS_FAILED, message).hint(hint);
        Ok((self.doubts >= 2).then(|| End::Failed(error())))
    }

    /// What came of asking for the merge: the next look tells whether it was done.
    fn asked(&mut self, done: Result<(), ForgeError>) -> Result<Option<End>, Error> {
        match done {
            Ok(()) => {
                self.pause = FIRST_PAUSE;
                if let Some(pull) = &mut self.report.delivered.pull_request {
                    pull.acted = true;
                }
                Ok(None)
            }
            Err(ForgeError::Refused { host, message, .. }) => {
                self.doubts += 1;
                let message =
                    format!("{host} refuses to merge pull request {}: {message}", self.number);
                let error = || Error::new(codes::MERGE_REFUSED, message);
                Ok((self.doubts >= MOST_DOUBTS).then(|| End::Failed(error())))
            }
            Err(error) if error.is_ambiguous() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Asks the forge to merge by itself; where it does not, this program does it when it may.
    fn ask_later(&mut self, standing: &Standing) {
        match self.forge.merge_later(self.number, standing, self.method(standing)) {
            Ok(()) => {
                self.asked_later = true;
                if let Some(pull) = &mut self.report.delivered.pull_request {
                    pull.acted = true;
                }
            }
            Err(error) => {
                self.may_ask_later = false;
                self.report.delivered.notes.push(Note {
                    code: "no-auto-merge",
                    message: format!(
                        "the forge does not merge pull request {} by itself: {error}",
                        self.number
                    ),
                });
            }
        }
    }

    /// Asks git about conflicts where the forge does not say.
    fn check_conflicts(&mut self, standing: &Standing) -> Result<Option<End>, Error> {
        if standing.mergeable != Mergeable::Unknown || standing.is_draft {
            return Ok(None);
        }
        let (Some((tip, _)), Ok(head)) = (self.seen, standing.head_commit.parse()) else {
            return Ok(None);
        };
        let repository = self.request.line.job.repository;
        match repository.has(head)? && repository.merges_cleanly(tip, head)? == Some(false) {
            true => {
                let conflicting = Standing { mergeable: Mergeable::Conflicts, ..standing.clone() };
                self.redo(&conflicting)
            }
            false => Ok(None),
        }
    }

    fn tell(&mut self, reason: Reason) {
        if self.last.as_ref() != Some(&reason) {
            let context = self.request.line.job.context;
            context.say(|| format!("pull request {} is not merged yet: {reason}", self.number));
            self.last = Some(reason);
        }
    }

    fn not_in_time(&self, trouble: Option<Error>) -> Error {
        let reason = self.last.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let message = format!("pull request {} is not merged in time{reason}", self.number);
        let error = Error::new(codes::NOT_MERGED, message)
            .hint("the same command again goes on waiting; --timeout allows more");
        match trouble {
            Some(trouble) => error.cause(trouble.to_string()),
            None => error,
        }
    }
}

/// What may be over at the next look.
fn is_passing(error: &Error) -> bool {
    [
        codes::FORGE_UNREACHABLE,
        codes::FORGE_FAILED,
        codes::REMOTE_UNREACHABLE,
        codes::GIT_TIMEOUT,
        codes::PUSH_LOST_RACES,
    ]
    .contains(&error.code())
}
