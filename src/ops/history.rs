//! `overlay history`: the commits that changed what an overlay renders, newest first.
//!
//! A commit is passed over without a look at any file where none of the paths that the build asks for
//! differs; where one does, the overlay is rendered. What was found stays in a cache, by the names of root
//! trees, which say all there is to say of what a revision renders.

mod cache;
mod filter;
mod moved;
mod pull_request;
pub(super) mod states;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use super::Context;
use super::revision;
use crate::clock;
use crate::discover::shown_directory;
use crate::error::Error;
use crate::git::{self, ObjectId, Repository, Walk, Walked};
use crate::report::Report;
use crate::report::history::{
    End, Entry, HistoryForm, Moved, OverlayHistory, Status, history_report,
};

pub use crate::git::Parents;
pub use filter::{FieldFilter, Filter};
use states::{Kind, States};

/// What the user asks of `overlay history`.
#[derive(Clone, Debug)]
pub struct HistoryRequest {
    /// The overlays as typed: directories, kustomization files or patterns.
    pub overlays: Vec<OsString>,
    /// `--from`: the revision whose commits, and those before it, are left out.
    pub from: Option<String>,
    /// `--to`: the revision that is looked back from.
    pub to: String,
    /// Which entries are wanted.
    pub filter: Filter,
    /// `-n`: how many at most.
    pub most: Option<usize>,
    /// Which commits are looked at.
    pub parents: Parents,
    /// The form of the result where it is neither for people nor JSON.
    pub form: Option<HistoryForm>,
}

/// Lists the commits for every overlay named.
///
/// # Errors
/// Where there is no repository or no such revision, or the overlay is nowhere in its history.
pub fn run(context: &Context, request: &HistoryRequest) -> Result<Report, Error> {
    let repository = Repository::open(&Arc::new(context.git_settings()), &context.cwd)?;
    let tip = repository.resolve(&request.to)?;
    let past = request.from.as_deref().map(|from| repository.resolve(from)).transpose()?;
    let directories = locate(context, &repository, tip, &request.overlays)?;
    let look = Look { context, repository: &repository, tip, past, request };
    let histories = context.for_each_of(&directories, |directory| look.history(directory))?;
    history_report(&histories, request.form)
}

/// The directories that `typed` names at `tip`; one that is gone there is taken as it is typed.
fn locate(
    context: &Context,
    repository: &Repository,
    tip: ObjectId,
    typed: &[OsString],
) -> Result<Vec<String>, Error> {
    let files = repository.files_of(tip)?;
    let mut found: Vec<String> = Vec::new();
    for path in context.below_top(repository, typed)? {
        let directories = match revision::locate(&files, std::slice::from_ref(&path)) {
            Ok(located) => located.into_iter().map(|located| located.directory).collect(),
            Err(error) => vec![gone(&path).ok_or(error)?],
        };
        for directory in directories {
            if !found.contains(&directory) {
                found.push(directory);
            }
        }
    }
    Ok(found)
}

/// A path that is no pattern.
fn gone(path: &OsString) -> Option<String> {
    let path = path.to_str()?.trim_end_matches('/');
    (!path.contains(['*', '?', '[', '{'])).then(|| path.to_owned())
}

/// One look back, the same for each overlay.
struct Look<'a> {
    context: &'a Context,
    repository: &'a Repository,
    tip: ObjectId,
    past: Option<ObjectId>,
    request: &'a HistoryRequest,
}

impl Look<'_> {
    fn history(&self, directory: &str) -> Result<OverlayHistory, Error> {
        let mut states = States::open(self.context, self.repository, directory);
        let outcome = self.collect(directory, &mut states);
        states.keep();
        let history = outcome?;
        if history.entries.is_empty() && states.is_nowhere() {
            let files = self.repository.files_of(self.tip)?;
            revision::locate(&files, &[directory.into()])?;
        }
        Ok(history)
    }

    fn collect(&self, directory: &str, states: &mut States<'_>) -> Result<OverlayHistory, Error> {
        let mut history = OverlayHistory {
            path: shown_directory(directory),
            entries: Vec::new(),
            walked: 0,
            end: if self.past.is_some() { End::From } else { End::Start },
        };
        let walk = Walk::new(self.repository, self.tip, self.past, self.request.parents)?;
        for walked in walk {
            if self.request.most.is_some_and(|most| history.entries.len() >= most) {
                history.end = End::Enough;
                break;
            }
            let walked = walked?;
            history.walked += 1;
            if walked.is_cut_off {
                history.end = End::Shallow;
                continue;
            }
            if let Some(moved) = step(states, &walked)?
                && self.request.filter.takes(&moved)
            {
                history.entries.push(entry(&walked, moved));
            }
        }
        Ok(history)
    }
}

/// What a commit did to the render; `None` where that is what one of its parents has.
///
/// # Errors
/// Where a revision cannot be read.
pub(super) fn step(states: &mut States<'_>, walked: &Walked) -> Result<Option<Arc<Moved>>, Error> {
    let own = states.of(walked.commit.tree)?;
    let mut first = None;
    for parent in &walked.parents {
        let before = states.of(parent.tree)?;
        if states.is_same(before, own) {
            return Ok(None);
        }
        first.get_or_insert((before, parent.tree));
    }
    if first.is_none() && states.kind(own) == Kind::Absent {
        return Ok(None);
    }
    let after = (own, walked.commit.tree);
    if let (Some((before, _)), Some(parent)) = (first, walked.parents.first())
        && status_of(states.kind(before), states.kind(own)) == Status::Mended
        && let Some(whole) = states.before_it_broke(parent)?
    {
        // What moved while it was broken is told of the commit that mends it: no other can be compared.
        let moved = states.moved(whole, after)?;
        return Ok(Some(Arc::new(Moved { status: Status::Mended, ..Moved::clone(&moved) })));
    }
    states.moved(first, after).map(Some)
}

fn entry(walked: &Walked, moved: Arc<Moved>) -> Entry {
    let commit = &walked.commit;
    let records = git::parse_records(&commit.message);
    Entry {
        commit: commit.id.to_string(),
        date: clock::format_rfc_3339(u64::try_from(commit.committed_at).unwrap_or_default()),
        author: commit.author.clone(),
        subject: commit.message.lines().next().unwrap_or_default().to_owned(),
        pull_request: pull_request::find(&commit.message),
        is_merge: commit.parents.len() > 1,
        change: records.into_iter().next().map(|record| record.data),
        moved,
    }
}

/// What differs, by the numbers of the two states.
type Moves = BTreeMap<(usize, usize), Arc<Moved>>;

/// Whether `overlay revert` made the commit.
pub(super) fn is_revert(message: &str) -> bool {
    let records = git::parse_records(message);
    records.iter().any(|record| record.data["command"] == "revert")
}

/// What becomes of an overlay between two states.
fn status_of(before: Kind, after: Kind) -> Status {
    match (before, after) {
        (Kind::Absent, _) => Status::Appeared,
        (_, Kind::Absent) => Status::Removed,
        (Kind::Rendered, Kind::Broken) => Status::Broken,
        (Kind::Broken, Kind::Rendered) => Status::Mended,
        (Kind::Broken, Kind::Broken) => Status::Unknown,
        _ => Status::Changed,
    }
}
