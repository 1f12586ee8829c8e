//! `overlay affected`: the overlays that a change between two versions reaches, through the base graph.

use std::collections::BTreeSet;
use std::ffi::OsString;

use super::Context;
use super::diff::{Comparison, Trees};
use super::ends::{Ends, Range};
use crate::discover::shown_directory;
use crate::error::{Error, codes};
use crate::kustomize::SourceTree;
use crate::kustomize::remote::mount_of;
use crate::kustomize::types::Kind;
use crate::report::Report;
use crate::report::affected::{Affected, affected_report};

/// What the user asks of `overlay affected`.
#[derive(Clone, Debug)]
pub struct AffectedRequest {
    /// Directories as typed: only overlays below them are listed; all if there is none.
    pub below: Vec<OsString>,
    /// Between which versions.
    pub range: Range,
    /// `--bases`: list bases too, which other overlays use.
    pub wants_bases: bool,
    /// `--rendered`: list only those that render differently.
    pub only_rendered: bool,
    /// Whether the result is wanted as Markdown.
    pub wants_markdown: bool,
}

/// Lists what the change reaches.
///
/// # Errors
/// Where there is no repository or no such revision, or an overlay reaches too much.
pub fn run(context: &Context, request: &AffectedRequest) -> Result<Report, Error> {
    let (ends, directories, below) = Ends::of_repository(context, &request.range, &request.below)?;
    let comparison = Comparison::new(context, &ends);
    let found =
        context.for_each_of(&directories, |directory| Reached::find(&comparison, directory))?;
    let used = used_directories(&found);
    let is_named = |directory: &str| below.iter().any(|top| *top == *directory);
    let is_below = |directory: &str| {
        below.is_empty() || below.iter().any(|top| is_within(directory, &top.to_string_lossy()))
    };
    let listed: Vec<&Reached> = found
        .iter()
        .filter(|reached| is_below(&reached.directory) && !reached.is_component)
        .filter(|r| request.wants_bases || is_named(&r.directory) || !used.contains(&*r.directory))
        .collect();
    if listed.is_empty() && !below.is_empty() {
        let message = "no overlay is below the directories named, at either end";
        return Err(Error::new(codes::NO_SUCH_OVERLAY, message));
    }
    let reached: Vec<&Reached> = listed.into_iter().filter(|r| !r.because.is_empty()).collect();
    let mut affected = context.for_each_of(&reached, |reached| reached.affected(&comparison))?;
    affected.retain(|overlay| !request.only_rendered || overlay.renders_differently == Some(true));
    Ok(affected_report(&affected, request.wants_markdown))
}

/// The overlays among `directories` that no other one of them uses and that the difference reaches.
///
/// # Errors
/// Where one reaches too much.
#[cfg(feature = "forge")]
pub(super) fn leaves_reached(
    context: &Context,
    comparison: &Comparison<'_>,
    directories: &[String],
) -> Result<Vec<String>, Error> {
    let found =
        context.for_each_of(directories, |directory| Reached::find(comparison, directory))?;
    let used = used_directories(&found);
    let is_leaf = |reached: &&Reached| {
        !reached.is_component && !used.contains(&*reached.directory) && !reached.because.is_empty()
    };
    Ok(found.iter().filter(is_leaf).map(|reached| reached.directory.clone()).collect())
}

/// A directory with a kustomization file, and what a change does to what it reaches.
struct Reached {
    directory: String,
    /// At the later end, or where it is gone at the earlier one.
    is_component: bool,
    /// The directories that it names there.
    uses: BTreeSet<String>,
    because: Vec<String>,
}

impl Reached {
    fn find(comparison: &Comparison<'_>, directory: &str) -> Result<Self, Error> {
        let trees = comparison.load(directory)?;
        let empty = SourceTree::default();
        let current = trees.to.as_ref().or(trees.from.as_ref()).unwrap_or(&empty);
        let kind = current.kustomization(directory).map(|read| read.kustomization.file_kind());
        Ok(Self {
            directory: directory.to_owned(),
            is_component: kind == Some(Kind::Component),
            uses: current.directories_used(directory),
            because: because(comparison, &trees),
        })
    }

    /// Trees are loaded again, so that no more of them are held than there are threads.
    fn affected(&self, comparison: &Comparison<'_>) -> Result<Affected, Error> {
        let trees = comparison.load(&self.directory)?;
        let text = |built: Result<super::render::Built, Error>| built.ok().map(|built| built.text);
        let before = trees.from.as_ref().map(|t| comparison.render_before(t, &self.directory));
        let after = trees.to.as_ref().map(|t| comparison.render_after(t, &self.directory));
        let (before, after) = (before.and_then(text), after.and_then(text));
        let is_rendered = before.is_some() || after.is_some();
        Ok(Affected {
            path: shown_directory(&self.directory),
            because: self.because.clone(),
            renders_differently: is_rendered.then_some(before != after),
        })
    }
}

/// The files that make the trees differ: those of the repository that are not the same at both ends,
/// else what stands for the remote bases that are not.
fn because(comparison: &Comparison<'_>, trees: &Trees) -> Vec<String> {
    let empty = SourceTree::default();
    let from = trees.from.as_ref().unwrap_or(&empty);
    let to = trees.to.as_ref().unwrap_or(&empty);
    let all = from.differences(to);
    let (local, remote): (Vec<&String>, Vec<&String>) =
        all.iter().partition(|path| mount_of(path).is_none());
    let changed: BTreeSet<String> =
        local.iter().filter_map(|path| comparison.changed_file(path)).collect();
    match (changed.is_empty(), local.is_empty()) {
        (false, _) => changed.into_iter().collect(),
        (true, false) => {
            let links: Vec<String> = local
                .iter()
                .filter(|path| comparison.is_link(path))
                .map(ToString::to_string)
                .collect();
            if links.is_empty() { local.into_iter().cloned().collect() } else { links }
        }
        (true, true) => {
            let mounts: BTreeSet<&str> = remote.iter().filter_map(|path| mount_of(path)).collect();
            mounts.into_iter().map(str::to_owned).collect()
        }
    }
}

fn used_directories(found: &[Reached]) -> BTreeSet<&str> {
    found.iter().flat_map(|reached| reached.uses.iter().map(String::as_str)).collect()
}

fn is_within(directory: &str, top: &str) -> bool {
    top.is_empty()
        || directory.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
