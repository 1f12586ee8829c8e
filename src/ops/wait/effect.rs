//! What the commit changes in what an overlay renders, and whether another revision still holds it.

use crate::argocd::{ExpectedChange, ExpectedEffect, ExpectedField, ObjectRef, Presence};
use crate::error::Error;
use crate::git::{ObjectId, Repository};
use crate::kustomize::{Resource, ResourceId};
use crate::ops::Context;
use crate::ops::revision::find_kustomization;
use crate::ops::version::Version;
use crate::verify::{ChangedObject, compare_objects, node_to_json};

/// The annotations of hooks, which are run and not kept (argo-cd `gitops-engine/pkg/sync/hook`).
const HOOKS: [&str; 2] = ["argocd.argoproj.io/hook", "helm.sh/hook"];

/// What a commit changes in what an overlay renders.
#[derive(Clone, Debug)]
pub(super) struct CommitEffect {
    /// What is kept in the cluster.
    pub(super) effect: ExpectedEffect,
    /// The hooks, which only a sync runs.
    pub(super) hooks: Vec<ObjectRef>,
}

/// Renders revisions of one repository.
#[derive(Clone, Copy)]
pub(super) struct Renders<'a> {
    pub(super) context: &'a Context,
    pub(super) repository: &'a Repository,
}

impl Renders<'_> {
    /// What the overlay at `directory` renders in `commit`; `None` where there is none.
    ///
    /// # Errors
    /// Where it does not build.
    pub(super) fn resources(
        &self,
        commit: ObjectId,
        directory: &str,
    ) -> Result<Option<Vec<Resource>>, Error> {
        let files = self.repository.files_of(commit)?;
        if find_kustomization(&files, directory)?.is_none() {
            return Ok(None);
        }
        let context = self.context.with_own_remotes();
        let built = Version::new(&context, &files).build(directory)?;
        Ok(Some(built.rendered.resources))
    }

    /// What `commit` changes in what `directory` renders, against its first parent.
    pub(super) fn expected(&self, commit: ObjectId, directory: &str) -> CommitEffect {
        self.changes(commit, directory).unwrap_or_else(|error| CommitEffect {
            effect: ExpectedEffect::Unknown { message: error.to_string() },
            hooks: Vec::new(),
        })
    }

    fn changes(&self, commit: ObjectId, directory: &str) -> Result<CommitEffect, Error> {
        let parent = self.repository.commit(commit)?.parents.first().copied();
        let before = match parent {
            Some(parent) => self.resources(parent, directory)?.unwrap_or_default(),
            None => Vec::new(),
        };
        let after = self.resources(commit, directory)?.unwrap_or_default();
        let (hooks_before, before): (Vec<_>, Vec<_>) = before.into_iter().partition(is_hook);
        let (hooks_after, after): (Vec<_>, Vec<_>) = after.into_iter().partition(is_hook);
        let differences = compare_objects(&before, &after);
        let present = |id: &ResourceId| ExpectedChange {
            object: object(id),
            presence: Presence::Present(Vec::new()),
        };
        let absent =
            |id: &ResourceId| ExpectedChange { object: object(id), presence: Presence::Absent };
        let mut changes: Vec<ExpectedChange> = differences.added.iter().map(present).collect();
        changes.extend(differences.changed.iter().map(changed));
        changes.extend(differences.removed.iter().map(absent));
        // A hook that is gone is never run again, which asks for nothing.
        let hooks = compare_objects(&hooks_before, &hooks_after);
        let changed = hooks.changed.iter().map(|changed| object(&changed.resource));
        let hooks = hooks.added.iter().map(object).chain(changed).collect();
        Ok(CommitEffect { effect: ExpectedEffect::Known(changes), hooks })
    }

    /// Whether `revision` still renders what is expected of `directory`.
    ///
    /// # Errors
    /// Where it does not build.
    pub(super) fn still_holds(
        &self,
        revision: ObjectId,
        directory: &str,
        changes: &[ExpectedChange],
    ) -> Result<bool, Error> {
        let resources = self.resources(revision, directory)?.unwrap_or_default();
        Ok(changes.iter().all(|change| holds(change, &resources)))
    }
}

fn is_hook(resource: &Resource) -> bool {
    HOOKS.iter().any(|key| resource.node.lookup(&["metadata", "annotations", key]).is_some())
}

fn object(id: &ResourceId) -> ObjectRef {
    ObjectRef {
        group: id.group().to_owned(),
        kind: id.kind.to_string(),
        namespace: id.namespace.to_string(),
        name: id.name.to_string(),
    }
}

fn changed(changed: &ChangedObject) -> ExpectedChange {
    let fields = changed
        .fields
        .iter()
        .map(|field| ExpectedField { path: field.path.clone(), value: field.after.clone() });
    ExpectedChange {
        object: object(&changed.resource),
        presence: Presence::Present(fields.collect()),
    }
}

fn holds(change: &ExpectedChange, resources: &[Resource]) -> bool {
    let found = resources.iter().find(|resource| object(&resource.current_id()).is(&change.object));
    match (&change.presence, found) {
        (Presence::Absent, found) => found.is_none(),
        (Presence::Present(_), None) => false,
        (Presence::Present(fields), Some(resource)) => fields.iter().all(|field| {
            let seen = field.path.find(&resource.node).map(node_to_json);
            seen == field.value
        }),
    }
}
