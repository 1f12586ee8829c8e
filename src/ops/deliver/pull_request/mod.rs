//! `--pr`: the edit on a branch of its own, and one pull request that carries it.
//!
//! The edit is made on the base branch as the remote has it. What is there already decides what follows: an open pull request
//! of ours is updated in place; its own old commit is replaced, with a lease on the exact old one; commits of others stay and
//! are built upon; where the old pull request was merged or closed, a fresh branch is taken. Nothing is
//! opened where nothing changes.

mod branch;
mod propose;
mod scope;

use super::PullRequestOptions;
use super::job::{Job, report};
use super::push::remote_name;
use crate::error::{Error, codes};
use crate::forge::{self, Forge, Kind, PullRequest, Wanted};
use crate::git::{Remote, TemporaryClone, branch_reference, short_name};
use crate::http::{Options, Proxies};
use crate::report::change::{Action, ChangeReport, Delivered, Proposed};
use crate::report::pull_request::{Scope, find_marker};

use branch::{Arrival, Landed, Line};
use propose::Proposer;

/// How long all requests to the forge may take together, where `--timeout` says nothing else.
const ALLOWED: std::time::Duration = std::time::Duration::from_secs(180);

/// Makes the edit, pushes its branch, and opens or updates its pull request.
///
/// # Errors
/// As for a push, and what the forge refuses before anything was pushed; afterwards the report has the error.
pub(super) fn run(job: &Job<'_>, wanted: &PullRequestOptions) -> Result<ChangeReport, Error> {
    let name = remote_name(job, None)?;
    let remote = Remote::open(job.repository.git(), &name)?;
    deliver(job, wanted, &remote, None)
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
    let base = base_branch(job, remote, clone.is_some())?;
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

/// The branch that the pull request goes into, by its full name: `--base`, the upstream of the current branch at that
/// remote, the remote's default branch.
fn base_branch(job: &Job<'_>, remote: &Remote<'_>, no_clone: bool) -> Result<String, Error> {
    if let Some(base) = &job.delivery.base {
        return Ok(branch_reference(job.repository, base)?);
    }
    if let (Some(current), false) = (job.repository.current_branch()?, no_clone) {
        let key = |what: &str| format!("branch.{}.{what}", short_name(&current));
        let at = job.repository.setting(&key("remote"))?;
        let upstream = job.repository.setting(&key("merge"))?;
        if let Some(upstream) = upstream.filter(|_| at.as_deref() == Some(remote.shown())) {
            return Ok(upstream);
        }
    }
    Ok(remote.default_branch()?)
}

/// One edit on its way to a pull request.
struct Request<'a> {
    line: &'a Line<'a>,
    wanted: &'a PullRequestOptions,
    scope: Scope,
    key: String,
}

impl Request<'_> {
    fn run(&self) -> Result<ChangeReport, Error> {
        let line = self.line;
        let tip = line.base_tip()?;
        let made = line.job.make(tip)?;
        if made.commit.is_none() {
            let pull_request = self.close_obsolete();
            let delivered = Delivered { pull_request, ..Delivered::default() };
            return Ok(report(made, &line.branch, delivered));
        }
        let forge = self.open_forge()?;
        let proposer = Proposer {
            line,
            forge: &*forge,
            wanted: self.wanted,
            scope: &self.scope,
            key: &self.key,
        };
        proposer.prepare(&made)?;
        let landed = line.land(&*forge, &self.key, made, tip)?;
        Ok(self.finish(&proposer, landed))
    }

    fn open_forge(&self) -> Result<Box<dyn Forge>, Error> {
        let context = self.line.job.context;
        let variable = |name: &str| {
            let all = &context.environment.variables;
            let found = all.iter().find(|(known, value)| known == name && !value.is_empty());
            found.and_then(|(_, value)| value.to_str().map(str::to_owned))
        };
        let kind = self.wanted.forge.as_deref().map(parse_kind).transpose()?;
        let site = forge::detect(&Wanted {
            kind,
            url: self.wanted.forge_url.as_deref(),
            repository: self.wanted.repository.as_deref(),
            remotes: self.line.remote.addresses(),
            variable: &variable,
        })?;
        let proxies = Proxies::from_variables(&context.environment.variables);
        let options = Options { proxies, ..Options::default() };
        Ok(forge::open(site, context.allowed_time().unwrap_or(ALLOWED), &options)?)
    }

    fn finish(&self, proposer: &Proposer<'_>, landed: Landed) -> ChangeReport {
        match proposer.propose(&landed) {
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
        })
    }
}

fn parse_kind(text: &str) -> Result<Kind, Error> {
    match text {
        "github" => Ok(Kind::GitHub),
        "gitea" | "forgejo" => Ok(Kind::Gitea),
        other => {
            let message = format!("`{other}` is no kind of forge: github, gitea or forgejo");
            Err(Error::new(codes::USAGE, message))
        }
    }
}
