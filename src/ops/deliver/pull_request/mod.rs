//! `--pr`: the edit on a branch of its own, and one pull request that carries it.
//!
//! The edit is made on the base branch as the remote has it. What is there already decides what follows: an open pull request
//! of ours is updated in place; its own old commit is replaced, with a lease on the exact old one; commits of others stay and
//! are built upon; where the old pull request was merged or closed, a fresh branch is taken. Nothing is
//! opened where nothing changes.

mod api_commit;
mod branch;
mod evidence;
mod following;
mod of_branch;
mod propose;
mod scope;

use super::job::{Job, Made, report};
use super::message;
use super::push::{Values, remote_name, values_of};
use super::{Delivery, PullRequestOptions};
use crate::error::{Error, codes};
use crate::forge::{self, Forge, Kind, PullRequest, Site, State, Wanted};
use crate::git::{
    GitError, ObjectId, Remote, Repository, TemporaryClone, branch_reference, short_name,
};
use crate::http::{Options, Proxies};
use crate::ops::Context;
use crate::report::change::{
    Action, ChangeReport, Delivered, Landed as LandedReport, ProposalState, Proposed,
};
use crate::report::pull_request::{Scope, find_marker};

pub use of_branch::{BranchRequest, propose_branch};

use branch::{Arrival, Landed, Line};
use evidence::Evidence;
use following::{DEFAULT_TIMEOUT, Following};
use propose::{Offer, Proposer};

/// How long all requests to the forge may take together, where `--timeout` says nothing else.
const ALLOWED: std::time::Duration = std::time::Duration::from_secs(180);

/// Makes the edit, pushes its branch, and opens or updates its pull request.
///
/// # Errors
/// As for a push, and what the forge refuses before anything was pushed; afterwards the report has the error.
pub(super) fn run(job: &Job<'_>, wanted: &PullRequestOptions) -> Result<ChangeReport, Error> {
    let remote = open_remote(job.repository, job.delivery)?;
    deliver(job, wanted, &remote, None)
}

/// The remote that branches of pull requests are pushed to.
fn open_remote<'a>(repository: &'a Repository, delivery: &Delivery) -> Result<Remote<'a>, Error> {
    Ok(Remote::open(repository.git(), &remote_name(repository, delivery, None)?)?)
}

/// The same without a clone.
///
/// # Errors
/// As [`run`].
pub(super) fn without_clone(
    job: &Job<'_>,
    wanted: &PullRequestOptions,
    clone: &TemporaryClone,
) -> Result<ChangeReport, Error> {
    deliver(job, wanted, &clone.remote()?, Some(clone))
}

fn deliver(
    job: &Job<'_>,
    wanted: &PullRequestOptions,
    remote: &Remote<'_>,
    clone: Option<&TemporaryClone>,
) -> Result<ChangeReport, Error> {
    let base = base_branch(job.repository, job.delivery, remote, clone.is_some())?;
    let scope = scope::scope_of(job.change, &job.located);
    let key = scope::key_of(&scope, short_name(&base));
    let branch = match &job.delivery.branch {
        Some(branch) => branch_reference(job.repository, branch)?,
        None => format!("refs/heads/{}", scope::branch_of(&scope, &key)),
    };
    let refuse = |message: &str| Err(Error::new(codes::USAGE, message.to_owned()));
    if branch == base {
        return refuse("--branch and --base are the same branch, so there is nothing to propose");
    }
    let line = Line { job, remote, clone, base, branch };
    let plan = Request { line: &line, wanted, scope, key };
    plan.run()
}

/// The newest commit of the branch that a pull request of this delivery would go into: what is looked for in history is looked
/// for there, and not in a checkout that may lag behind.
///
/// # Errors
/// Where the remote or the branch is not there.
pub(crate) fn base_tip(repository: &Repository, delivery: &Delivery) -> Result<ObjectId, Error> {
    let remote = open_remote(repository, delivery)?;
    let base = base_branch(repository, delivery, &remote, false)?;
    let missing =
        || GitError::NoSuchReference { remote: remote.shown().to_owned(), reference: base.clone() };
    Ok(remote.fetch_branch(repository, &base)?.ok_or_else(missing)?)
}

/// The branch that the pull request goes into, by its full name: `--base`, the upstream of the current branch at that
/// remote, the remote's default branch.
pub(super) fn base_branch(
    repository: &Repository,
    delivery: &Delivery,
    remote: &Remote<'_>,
    no_clone: bool,
) -> Result<String, Error> {
    if let Some(base) = &delivery.base {
        return Ok(branch_reference(repository, base)?);
    }
    if let (Some(current), false) = (repository.current_branch()?, no_clone) {
        let key = |what: &str| format!("branch.{}.{what}", short_name(&current));
        let at = repository.setting(&key("remote"))?;
        let upstream = repository.setting(&key("merge"))?;
        if let Some(upstream) = upstream.filter(|_| at.as_deref() == Some(remote.shown())) {
            return Ok(upstream);
        }
    }
    Ok(remote.default_branch()?)
}

impl Round {
    fn into_report(self) -> ChangeReport {
        match self {
            Self::Holds { report, .. } | Self::Proposed { report, .. } => *report,
        }
    }

    /// Whether the forge found nothing to propose.
    fn is_void(&self) -> bool {
        match self {
            Self::Holds { .. } => false,
            Self::Proposed { report, .. } => {
                report.delivered.error.is_none() && report.delivered.pull_request.is_none()
            }
        }
    }
}

/// One edit on its way to a pull request.
struct Request<'a> {
    line: &'a Line<'a>,
    wanted: &'a PullRequestOptions,
    scope: Scope,
    key: String,
}

/// What one round of making and proposing the edit came to.
enum Round {
    /// The base branch, at this commit, holds the change.
    Holds { report: Box<ChangeReport>, tip: ObjectId },
    /// A pull request carries it.
    Proposed {
        report: Box<ChangeReport>,
        evidence: Evidence,
        /// The newest commit of its branch.
        head: Option<ObjectId>,
    },
}

/// What may stop an edit that was made, before anything is pushed: it gets the fields with their values before and after.
type Guard<'a> = &'a dyn Fn(&Values) -> Result<(), Error>;

impl Request<'_> {
    fn run(&self) -> Result<ChangeReport, Error> {
        let tip = self.line.base_tip()?;
        let made = self.line.job.make(tip)?;
        if made.commit.is_none() {
            let report = self.without_edit(made);
            return match self.wanted.landing {
                None => Ok(report),
                Some(_) => Ok(self.landed_before(report, tip)),
            };
        }
        let forge = self.open_forge()?;
        let round = self.propose(&*forge, (made, tip), false)?;
        if round.is_void() && self.line.base_tip()? != tip {
            // The base branch got the change after it was looked at and before the forge was.
            return self.run();
        }
        let Some(landing) = self.wanted.landing else { return Ok(round.into_report()) };
        match round {
            Round::Holds { report, tip } => Ok(self.landed_before(*report, tip)),
            Round::Proposed { report, .. } if report.delivered.error.is_some() => Ok(*report),
            Round::Proposed { report, evidence, head } => {
                let start = (*report, evidence, head);
                Ok(Following::new(self, &*forge, landing, start).run())
            }
        }
    }

    /// Makes the edit on the base branch as it is now, and brings its pull request up to date; `afresh` even where the one there
    /// does the same.
    fn round(&self, forge: &dyn Forge, afresh: bool, guard: Guard<'_>) -> Result<Round, Error> {
        let tip = self.line.base_tip()?;
        let made = self.line.job.make(tip)?;
        guard(&values_of(&made.proven.overlays))?;
        if made.commit.is_none() {
            let report = Box::new(report(made, &self.line.branch, Delivered::default()));
            return Ok(Round::Holds { report, tip });
        }
        let round = self.propose(forge, (made, tip), afresh)?;
        match round {
            Round::Proposed { mut report, .. } if report.delivered.error.is_some() => {
                let unknown = || Error::new(codes::INTERNAL, "internal error: no error");
                Err(report.delivered.error.take().unwrap_or_else(unknown))
            }
            round => Ok(round),
        }
    }

    fn propose(
        &self,
        forge: &dyn Forge,
        (made, tip): (Made, ObjectId),
        afresh: bool,
    ) -> Result<Round, Error> {
        let line = self.line;
        let proposer = Proposer {
            context: line.job.context,
            disk: line.job.disk,
            base: line.base_name(),
            forge,
            wanted: self.wanted,
            scope: &self.scope,
            key: &self.key,
        };
        proposer.prepare(&made.proven.overlays, &line.branch)?;
        let landed = line.land(forge, &self.key, (made, tip), afresh)?;
        let evidence = Evidence { overlays: landed.made.proven.overlays.clone(), since: tip };
        let (head, holds) = (landed.head, landed.made.commit.is_none());
        let report = Box::new(self.finish(&proposer, landed));
        Ok(match holds {
            true => Round::Holds { report, tip: line.base_tip()? },
            false => Round::Proposed { report, evidence, head },
        })
    }

    /// The report where the base branch holds the change already.
    fn without_edit(&self, made: Made) -> ChangeReport {
        let pull_request = self.close_obsolete();
        let delivered = Delivered { pull_request, ..Delivered::default() };
        report(made, &self.line.branch, delivered)
    }

    /// The base branch, at `tip`, holds the change: the commit that brought it is that of the pull request which was merged, where
    /// there is one, else the newest.
    fn landed_before(&self, mut report: ChangeReport, tip: ObjectId) -> ChangeReport {
        let line = self.line;
        let merged = self.find_merged();
        let evidence = Evidence { overlays: Vec::new(), since: tip };
        let named = merged.as_ref().and_then(|pull| pull.merge_commit.clone());
        let found = evidence.find_landed(line, named.as_deref(), tip).ok().flatten();
        let commit = found.unwrap_or(tip).to_string();
        if report.delivered.pull_request.is_none() {
            report.delivered.pull_request = merged.map(|pull| {
                let is_same = pull.merge_commit.as_ref() == Some(&commit);
                Proposed { merge_commit: is_same.then(|| commit.clone()), ..pull }
            });
        }
        let branch = line.base_name().to_owned();
        report.delivered.landed = Some(LandedReport { branch, commit });
        report
    }

    /// The newest merged pull request of ours. One that cannot be looked for is no failure: the base branch holds the change.
    fn find_merged(&self) -> Option<Proposed> {
        let forge = self.open_forge().ok()?;
        let line = self.line;
        let mut newest: Option<PullRequest> = None;
        for branch in line.branches() {
            let found = forge.find(&line.head(&*forge, &branch), line.base_name()).ok()?;
            if found.is_empty() {
                break;
            }
            let ours = found.into_iter().filter(|pull| {
                find_marker(&pull.body).is_some_and(|marker| marker.key == self.key)
                    && matches!(pull.state, State::Merged { .. })
            });
            newest = ours.chain(newest).max_by_key(|pull| pull.number);
        }
        let pull = newest?;
        let State::Merged { commit } = pull.state else { return None };
        Some(Proposed {
            number: pull.number,
            url: pull.url,
            action: Action::Unchanged,
            base: pull.base_branch,
            supersedes: Vec::new(),
            state: ProposalState::Merged,
            merge_commit: commit,
            acted: false,
        })
    }

    fn open_forge(&self) -> Result<Box<dyn Forge>, Error> {
        open_forge(self.line.job.context, self.line.remote, self.wanted)
    }

    fn finish(&self, proposer: &Proposer<'_>, landed: Landed) -> ChangeReport {
        let proposed = match &landed.made.commit {
            None => Ok((None, Vec::new())),
            Some(_) => proposer.propose(&Offer {
                branch: &landed.branch,
                overlays: &landed.made.proven.overlays,
                subject: &self.subject(&landed.made),
                pull_request: landed.pull_request.as_ref(),
                ours: landed.arrival.ours(),
                is_new: landed.arrival.is_new(),
            }),
        };
        match proposed {
            Ok((pull_request, notes)) => {
                self.report(landed, Delivered { pull_request, notes, ..Delivered::default() })
            }
            Err(error) => {
                let branch = short_name(&landed.branch);
                let hint = format!(
                    "the branch {branch} is at {}; the same command again goes on from there",
                    self.line.remote.shown()
                );
                let error = Some(error.hint(hint));
                self.report(landed, Delivered { error, ..Delivered::default() })
            }
        }
    }

    /// The first line of the commit message.
    fn subject(&self, made: &Made) -> String {
        let job = self.line.job;
        let text = job.delivery.message.clone();
        let text = text.unwrap_or_else(|| message::describe(job.change, &made.proven.overlays));
        text.lines().next().unwrap_or_default().to_owned()
    }

    fn report(&self, landed: Landed, delivered: Delivered) -> ChangeReport {
        let Landed { branch, made, arrival, .. } = landed;
        match arrival {
            Arrival::Pushed { commit, .. } => {
                let remote = Some(self.line.remote.shown().to_owned());
                let mut report = report(made, &branch, Delivered { remote, ..delivered });
                report.delivered.commit = Some(commit.to_string());
                report
            }
            Arrival::Stands { overlays, .. } => {
                ChangeReport { dry_run: false, overlays, delivered }
            }
        }
    }

    /// An open pull request of ours whose change the base branch holds by now, closed. Nothing was asked for that would need the
    /// forge, so that one which cannot be reached is no failure.
    fn close_obsolete(&self) -> Option<Proposed> {
        let forge = self.open_forge().ok()?;
        let base = self.line.base_name();
        let found = forge.list_open(base).ok()?;
        let ours = |pull: &&PullRequest| {
            find_marker(&pull.body).is_some_and(|marker| marker.key == self.key)
        };
        let pull = found.iter().find(ours)?;
        let text =
            format!("`{base}` holds this change already, so there is nothing left to merge.");
        propose::close(&*forge, pull.number, &text).ok()?;
        Some(Proposed {
            number: pull.number,
            url: pull.url.clone(),
            action: Action::Closed,
            base: base.to_owned(),
            supersedes: Vec::new(),
            state: ProposalState::Closed,
            merge_commit: None,
            acted: false,
        })
    }
}

/// That it is known which forge the pull request goes to, and that there is a credential for it. Nothing is asked of it.
///
/// # Errors
/// Where one of both is not known, or there is no such remote.
pub(crate) fn require_forge(
    context: &Context,
    repository: &Repository,
    delivery: &Delivery,
) -> Result<(), Error> {
    let Some(wanted) = &delivery.pull_request else { return Ok(()) };
    site_of(context, &open_remote(repository, delivery)?, wanted).map(drop)
}

/// The forge that has the pull requests of the remote.
fn open_forge(
    context: &Context,
    remote: &Remote<'_>,
    wanted: &PullRequestOptions,
) -> Result<Box<dyn Forge>, Error> {
    let site = site_of(context, remote, wanted)?;
    let proxies = Proxies::from_variables(&context.environment.variables);
    let options = Options { proxies, ..Options::default() };
    let allowed = match (context.allowed_time(), wanted.landing) {
        (given, None) => given.unwrap_or(ALLOWED),
        // Proposing comes first, and the last look goes beyond the end.
        (given, Some(_)) => given.unwrap_or(DEFAULT_TIMEOUT).saturating_add(ALLOWED),
    };
    Ok(forge::open(site, allowed, &options)?)
}

/// Where it is, with what it takes as a credential.
fn site_of(
    context: &Context,
    remote: &Remote<'_>,
    wanted: &PullRequestOptions,
) -> Result<Site, Error> {
    let variable = |name: &str| {
        let all = &context.environment.variables;
        let found = all.iter().find(|(known, value)| known == name && !value.is_empty());
        found.and_then(|(_, value)| value.to_str().map(str::to_owned))
    };
    let kind = wanted.forge.as_deref().map(parse_kind).transpose()?;
    Ok(forge::detect(&Wanted {
        kind,
        url: wanted.forge_url.as_deref(),
        repository: wanted.repository.as_deref(),
        remotes: remote.addresses(),
        variable: &variable,
    })?)
}

fn parse_kind(text: &str) -> Result<Kind, Error> {
    match text {
        "github" => Ok(Kind::GitHub),
        "gitea" | "forgejo" => Ok(Kind::Gitea),
        "gitlab" => Ok(Kind::GitLab),
        other => {
            let message =
                format!("`{other}` is no kind of forge: github, gitea, forgejo or gitlab");
            Err(Error::new(codes::USAGE, message))
        }
    }
}
