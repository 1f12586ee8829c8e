//! Whether a commit of the base branch holds the change, told by rendering it, and which commit brought it there. What the forge says
//! of a merge is where the search begins, and never the proof.

use serde_json::Value as Json;

use super::branch::Line;
use crate::error::Error;
use crate::git::ObjectId;
use crate::kustomize::Resource;
use crate::ops::revision::find_kustomization;
use crate::ops::version::Version;
use crate::report::change::{OverlayReport, Status};
use crate::verify::{FieldChange, node_to_json};

/// How many commits of the base branch are looked through for the one that brought the change.
const MOST_COMMITS: usize = 200;

/// What there is to see of a change once it has landed.
pub(super) struct Evidence {
    /// What it does to what is rendered.
    pub(super) overlays: Vec<OverlayReport>,
    /// The commit of the base branch that it was made on: the ones after it are looked through.
    pub(super) since: ObjectId,
}

impl Evidence {
    /// The commit that brought the change to the base branch, which is at `tip`: the one that the forge names, where it is of the
    /// branch and renders the change, else the first one after the start that does. `None` where none does.
    ///
    /// # Errors
    /// Where git or a build does not get that far.
    pub(super) fn find_landed(
        &self,
        line: &Line<'_>,
        named: Option<&str>,
        tip: ObjectId,
    ) -> Result<Option<ObjectId>, Error> {
        let repository = line.job.repository;
        let named = named.and_then(|name| name.parse::<ObjectId>().ok());
        if let Some(commit) = named
            && repository.has(commit)?
            && (commit == tip || repository.is_ancestor(commit, tip).unwrap_or(false))
            && self.holds(line, commit)?
        {
            return Ok(Some(commit));
        }
        if !self.holds(line, tip)? {
            return Ok(None);
        }
        // Without its history the newest commit is the one that is known to hold it.
        let between = match line.is_complete()? {
            true => repository.commits_between(self.since, tip, MOST_COMMITS).unwrap_or_default(),
            false => Vec::new(),
        };
        for commit in between {
            if self.holds(line, commit).unwrap_or(false) {
                return Ok(Some(commit));
            }
        }
        Ok(Some(tip))
    }

    /// Whether `commit` holds the change: it renders every value that the change asks for, or the change made on it is none.
    ///
    /// # Errors
    /// As planning, where the render does not say.
    pub(super) fn holds(&self, line: &Line<'_>, commit: ObjectId) -> Result<bool, Error> {
        match self.is_rendered(line, commit) {
            Ok(Some(true)) => Ok(true),
            Ok(Some(false)) => Ok(line.job.prove(commit).is_ok_and(|now| now.texts.is_empty())),
            Ok(None) | Err(_) => Ok(line.job.prove(commit)?.texts.is_empty()),
        }
    }

    /// `None` for a change that renders nothing else, such as a hold.
    fn is_rendered(&self, line: &Line<'_>, commit: ObjectId) -> Result<Option<bool>, Error> {
        let changed: Vec<&OverlayReport> = self
            .overlays
            .iter()
            .filter(|overlay| overlay.status == Status::Changed && !overlay.effect.is_empty())
            .collect();
        if changed.is_empty() {
            return Ok(None);
        }
        let files = line.job.repository.files_of(commit)?;
        let context = line.job.context.with_own_remotes();
        let version = Version::new(&context, &files);
        for overlay in changed {
            let directory = if overlay.path == "." { "" } else { &overlay.path };
            if find_kustomization(&files, directory)?.is_none() {
                return Ok(Some(false));
            }
            let resources = version.build(directory)?.rendered.resources;
            if !overlay.effect.changes.iter().all(|change| is_so(change, &resources)) {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }
}

/// Whether a field has the value that the change gives it.
fn is_so(change: &FieldChange, resources: &[Resource]) -> bool {
    let resource = resources.iter().find(|resource| resource.current_id() == change.resource);
    let value: Option<Json> =
        resource.and_then(|resource| change.path.find(&resource.node)).map(node_to_json);
    value == change.after
}
