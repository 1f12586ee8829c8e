//! `overlay pr`: the pull request of a branch that is there already, whoever made it. What it changes is read from what it renders, and
//! what it is about from the trailers of its commits.

use std::sync::Arc;

use super::propose::{Offer, Proposer};
use super::{base_branch, open_forge, open_remote, scope};
use crate::error::{Error, codes};
use crate::forge::{Forge, Head, PullRequest, State, Update};
use crate::git::{
    Commit, GitError, ObjectId, Remote, Repository, branch_reference, parse_records, short_name,
};
use crate::ops::Context;
use crate::ops::affected::leaves_reached;
use crate::ops::deliver::{Delivery, PullRequestOptions};
use crate::ops::diff::Comparison;
use crate::ops::ends::{Ends, Range};
use crate::report::Report;
use crate::report::change::{ChangeReport, Delivered, OverlayReport, Status};
use crate::report::pull_request::{Scope, find_marker};
use crate::verify::measure_effect;

/// The most commits of a branch that are looked at.
const MOST_COMMITS: usize = 100;

/// What the user asks of `overlay pr`.
#[derive(Clone, Debug)]
pub struct BranchRequest {
    /// The branch, by its short or full name.
    pub branch: String,
    /// `--base`.
    pub base: Option<String>,
    /// `--remote`: a configured name.
    pub remote: Option<String>,
    /// What is asked of the pull request.
    pub options: PullRequestOptions,
}

/// Opens the pull request of a branch of the remote, opens it again, or brings it up to date.
///
/// # Errors
/// Where the remote has no such branch, and what the forge refuses.
pub fn propose_branch(context: &Context, request: &BranchRequest) -> Result<Report, Error> {
    let repository = Repository::open(&Arc::new(context.git_settings()), &context.cwd)?;
    let (disk, _) = context.locate_directories(&[context.cwd.clone().into()])?;
    let delivery = Delivery {
        base: request.base.clone(),
        remote: request.remote.clone(),
        ..Delivery::default()
    };
    let remote = open_remote(&repository, &delivery)?;
    let base = base_branch(&repository, &delivery, &remote, false)?;
    let branch = branch_reference(&repository, &request.branch)?;
    if branch == base {
        let message = format!("{} is the base branch itself", request.branch);
        return Err(Error::new(codes::USAGE, message));
    }
    let found = Found::of(&repository, &remote, &base, branch)?;
    if found.commits.is_empty() {
        return Ok(nothing(&found, &base));
    }
    let overlays = found.changes(context)?;
    let forge = open_forge(context, &remote, &request.options)?;
    let (scope, key) = found.scope(&overlays, short_name(&base));
    let proposer = Proposer {
        context,
        disk: Some(&disk),
        base: short_name(&base),
        forge: &*forge,
        wanted: &request.options,
        scope: &scope,
        key: &key,
    };
    let (open, is_reopened) = find_open(&*forge, &found, short_name(&base))?;
    let ours: Vec<String> = found.recorded().map(|commit| commit.id.to_string()).collect();
    let offer = Offer {
        branch: &found.branch,
        overlays: &overlays,
        subject: &found.subject(),
        pull_request: open.as_ref(),
        ours: &ours,
        is_new: is_reopened,
    };
    let (pull_request, notes) = proposer.propose(&offer)?;
    let delivered = Delivered {
        branch: Some(short_name(&found.branch).to_owned()),
        pull_request,
        notes,
        ..Delivered::default()
    };
    Ok(report(overlays, delivered))
}

fn nothing(found: &Found, base: &str) -> Report {
    let delivered = Delivered {
        branch: Some(short_name(&found.branch).to_owned()),
        notes: vec![crate::plan::Note {
            code: "nothing-between",
            message: format!(
                "{} has no commit that {} has not",
                short_name(&found.branch),
                short_name(base)
            ),
        }],
        ..Delivered::default()
    };
    report(Vec::new(), delivered)
}

/// Nothing is edited here: what changes is the pull request.
fn report(overlays: Vec<OverlayReport>, delivered: Delivered) -> Report {
    let proposed = delivered.pull_request.as_ref();
    let changed =
        proposed.is_some_and(|pull| pull.action != crate::report::change::Action::Unchanged);
    let mut report = ChangeReport { dry_run: false, overlays, delivered }.into_report("pr");
    report.changed = changed;
    report
}

/// The branch at the remote, beside its base.
struct Found {
    branch: String,
    tip: ObjectId,
    /// Where it left the base branch.
    fork: ObjectId,
    /// Its own commits, newest first.
    commits: Vec<Commit>,
}

impl Found {
    fn of(
        repository: &Repository,
        remote: &Remote<'_>,
        base: &str,
        branch: String,
    ) -> Result<Self, Error> {
        let fetch = |name: &str| -> Result<ObjectId, Error> {
            let missing = || GitError::NoSuchReference {
                remote: remote.shown().to_owned(),
                reference: name.to_owned(),
            };
            Ok(remote.fetch_branch(repository, name)?.ok_or_else(missing)?)
        };
        let (base_tip, tip) = (fetch(base)?, fetch(&branch)?);
        let ids = repository.commits_beyond(base_tip, tip, MOST_COMMITS)?;
        let commits: Result<Vec<Commit>, GitError> =
            ids.into_iter().map(|id| repository.commit(id)).collect();
        let fork = repository.merge_base(base_tip, tip)?.unwrap_or(base_tip);
        Ok(Self { branch, tip, fork, commits: commits? })
    }

    /// The commits that carry a change as data.
    fn recorded(&self) -> impl Iterator<Item = &Commit> {
        self.commits.iter().filter(|commit| !parse_records(&commit.message).is_empty())
    }

    /// The subject of the newest commit that carries a change, or of the first one.
    fn subject(&self) -> String {
        let told = self.recorded().next().or(self.commits.last());
        let subject = told.and_then(|commit| commit.message.lines().next()).unwrap_or_default();
        if subject.is_empty() { short_name(&self.branch).to_owned() } else { subject.to_owned() }
    }

    /// What the branch is about: what the newest record says, and the key that its name ends with where this program gave it.
    fn scope(&self, overlays: &[OverlayReport], base: &str) -> (Scope, String) {
        let data = self.recorded().find_map(|commit| parse_records(&commit.message).pop());
        let data = data.map(|record| record.data).unwrap_or_default();
        let mut names: Vec<String> =
            data["digests"].as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect();
        names.sort();
        let mut overlays: Vec<String> = overlays.iter().map(|o| o.path.clone()).collect();
        overlays.sort();
        let command = data["command"].as_str().unwrap_or("pr").to_owned();
        let scope = Scope { command, overlays, names };
        let computed = scope::key_of(&scope, base);
        let name = short_name(&self.branch);
        let given = name.strip_prefix("overlay/").and_then(|name| name.rsplit_once('-'));
        let is_key =
            |key: &str| key.len() == computed.len() && key.bytes().all(|b| b.is_ascii_hexdigit());
        let key = given.map(|(_, key)| key).filter(|key| is_key(key)).map(str::to_owned);
        match key {
            Some(key) if key == computed => (scope, key),
            // What else it is about cannot be told from here, so that nothing is taken for a part of it.
            Some(key) => (Scope { names: Vec::new(), ..scope }, key),
            None => (scope, computed),
        }
    }

    /// What the branch changes in what overlays render, since it left its base.
    fn changes(&self, context: &Context) -> Result<Vec<OverlayReport>, Error> {
        let range = Range::new(self.fork.to_string(), Some(self.tip.to_string()))?;
        let (ends, directories, _) = Ends::of_repository(context, &range, &[])?;
        let comparison = Comparison::new(context, &ends);
        let leaves = leaves_reached(context, &comparison, &directories)?;
        let found =
            context.for_each_of(&leaves, |directory| change_of(context, &comparison, directory))?;
        Ok(found.into_iter().flatten().collect())
    }
}

/// What differs in one overlay; `None` where nothing does.
fn change_of(
    context: &Context,
    comparison: &Comparison<'_>,
    directory: &str,
) -> Result<Option<OverlayReport>, Error> {
    let trees = comparison.load(directory)?;
    let before = trees.from.as_ref().map(|tree| comparison.render_before(tree, directory));
    let after = trees.to.as_ref().map(|tree| comparison.render_after(tree, directory));
    let (before, after) = (before.transpose()?, after.transpose()?);
    let resources = |built: &Option<crate::ops::render::Built>| {
        built.as_ref().map(|built| built.rendered.resources.clone()).unwrap_or_default()
    };
    let effect = measure_effect(&resources(&before), &resources(&after));
    if effect.is_empty() {
        return Ok(None);
    }
    let path = crate::discover::shown_directory(directory);
    let mut report = OverlayReport::new(path, Status::Changed);
    report.effect = effect;
    if let (Some(old_tree), Some(old), Some(tree), Some(new)) =
        (&trees.from, &before, &trees.to, &after)
    {
        report.findings =
            context.findings_between((old_tree, &old.rendered), (tree, &new.rendered));
    }
    Ok(Some(report))
}

/// The open pull request of the branch; the newest one that was closed at the same commit is opened again.
fn find_open(
    forge: &dyn Forge,
    found: &Found,
    base: &str,
) -> Result<(Option<PullRequest>, bool), Error> {
    let repository = forge.site().head.clone();
    let head = Head { repository, branch: short_name(&found.branch).to_owned() };
    let pulls = forge.find(&head, base)?;
    if let Some(open) = pulls.iter().find(|pull| pull.state == State::Open) {
        return Ok((Some(open.clone()), false));
    }
    let tip = found.tip.to_string();
    let closed = pulls.iter().find(|pull| {
        pull.state == State::Closed && pull.head_commit == tip && find_marker(&pull.body).is_some()
    });
    let Some(closed) = closed else { return Ok((None, false)) };
    // A forge does not open one again whose branch was made anew: then there is a new one.
    let update = Update { reopen: true, ..Update::default() };
    match forge.update(closed.number, &update) {
        Ok(pull) if pull.state == State::Open => Ok((Some(pull), true)),
        _ => Ok((None, false)),
    }
}
