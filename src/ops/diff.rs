//! `overlay diff`: what differs in what overlays render between two versions, by object and field.

use std::ffi::OsString;

use super::Context;
use super::ends::{Ends, Range};
use super::version::Version;
use crate::discover::shown_directory;
use crate::error::Error;
use crate::kustomize::{Entry, Files, SourceTree};
use crate::report::Report;
use crate::report::diff::{OverlayDiff, Presence, diff_report};
use crate::verify::{ObjectDiff, compare_objects};

/// What the user asks of `overlay diff`.
#[derive(Clone, Debug)]
pub struct DiffRequest {
    /// The overlays as typed: directories, kustomization files or patterns.
    pub overlays: Vec<OsString>,
    /// Between which versions.
    pub range: Range,
    /// Whether the result is wanted as Markdown.
    pub wants_markdown: bool,
}

/// Compares every overlay named. One that is at one end only is added or removed as a whole.
///
/// # Errors
/// Where one is at neither end, or does not build where it is.
pub fn run(context: &Context, request: &DiffRequest) -> Result<Report, Error> {
    let (ends, directories) = Ends::of_overlays(context, &request.range, &request.overlays)?;
    let comparison = Comparison::new(context, &ends);
    let diffs = context.for_each_of(&directories, |directory| comparison.diff(directory))?;
    Ok(diff_report(&diffs, request.wants_markdown))
}

/// Two versions of a repository, side by side.
pub(super) struct Comparison<'a> {
    ends: &'a Ends,
    context: &'a Context,
    from: Version<'a>,
    to: Version<'a>,
}

/// What an overlay reaches at each end where it is.
pub(super) struct Trees {
    /// At the earlier one.
    pub(super) from: Option<SourceTree>,
    /// At the later one.
    pub(super) to: Option<SourceTree>,
}

impl<'a> Comparison<'a> {
    /// Both `ends`, of which nothing was read yet.
    pub(super) fn new(context: &'a Context, ends: &'a Ends) -> Self {
        let from = Version::new(&ends.from_context, ends.from.files());
        Self { ends, context, from, to: Version::new(context, ends.to.files()) }
    }

    /// What the overlay at `directory` reaches.
    ///
    /// # Errors
    /// Where it reaches too much, or a lock file is broken.
    pub(super) fn load(&self, directory: &str) -> Result<Trees, Error> {
        let from = self.ends.from.has_overlay(directory).then(|| self.from.load(directory));
        let to = self.ends.to.has_overlay(directory).then(|| self.to.load(directory));
        Ok(Trees { from: from.transpose()?, to: to.transpose()? })
    }

    /// What it renders at the earlier end.
    pub(super) fn render_before(
        &self,
        tree: &SourceTree,
        directory: &str,
    ) -> Result<super::render::Built, Error> {
        self.ends.from_context.render(tree, directory)
    }

    /// What it renders at the later end.
    pub(super) fn render_after(
        &self,
        tree: &SourceTree,
        directory: &str,
    ) -> Result<super::render::Built, Error> {
        self.context.render(tree, directory)
    }

    /// The file at `path`, or the link on the way to it, where that is not the same at both ends.
    pub(super) fn changed_file(&self, path: &str) -> Option<String> {
        let (from, to) = (self.ends.from.files(), self.ends.to.files());
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let moved = ends.map(|end| &path[..end]).find(|part| from.entry(part) != to.entry(part));
        match moved {
            // A link that leads nowhere now or before may be the same link.
            Some(part) if from.entry(part).is_err() || to.entry(part).is_err() => None,
            Some(part) if self.is_link(part) => Some(part.to_owned()),
            // What is new or gone as a whole is named by its file.
            Some(_) => Some(path.to_owned()),
            None => (from.read(path) != to.read(path)).then(|| path.to_owned()),
        }
    }

    /// Whether a link leads elsewhere, or nowhere, from `path` at one of the ends.
    pub(super) fn is_link(&self, path: &str) -> bool {
        let ends = [self.ends.from.files(), self.ends.to.files()];
        ends.into_iter().any(|files| is_link(files, path))
    }

    fn diff(&self, directory: &str) -> Result<OverlayDiff, Error> {
        let trees = self.load(directory)?;
        let presence = match (&trees.from, &trees.to) {
            (Some(_), None) => Presence::Before,
            (None, Some(_)) => Presence::After,
            _ => Presence::Both,
        };
        let objects = self.objects(&trees, directory)?;
        Ok(OverlayDiff { path: shown_directory(directory), presence, objects })
    }

    fn objects(&self, trees: &Trees, directory: &str) -> Result<ObjectDiff, Error> {
        if let (Some(from), Some(to)) = (&trees.from, &trees.to)
            && from.differences(to).is_empty()
        {
            // A build reads nothing else.
            return Ok(ObjectDiff::default());
        }
        let before = trees.from.as_ref().map(|tree| self.render_before(tree, directory));
        let after = trees.to.as_ref().map(|tree| self.render_after(tree, directory));
        let resources = |built: Option<super::render::Built>| {
            built.map(|built| built.rendered.resources).unwrap_or_default()
        };
        Ok(compare_objects(&resources(before.transpose()?), &resources(after.transpose()?)))
    }
}

/// Whether a link leads elsewhere from `path`.
fn is_link(files: &dyn Files, path: &str) -> bool {
    match files.entry(path) {
        Ok(Some(Entry::File { real } | Entry::Directory { real })) => real != path,
        Ok(None) => false,
        Err(_) => true,
    }
}
