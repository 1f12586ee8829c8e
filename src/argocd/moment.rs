//! One read of an Application beside what is expected and known: the questions that the conjuncts share.

use super::application::{Application, Deployment, OperationState, Source};
use super::expectation::{Containment, Expectation};
use super::facts::Facts;
use super::port::{HydratedQuery, Relation};
use super::readiness::Want;
use super::source::{clean_path, is_commit_id};
use crate::repository_url::is_same_repository;

/// One read of an Application, with what is expected and known.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The Application.
    pub app: &'a Application,
    /// What is waited for.
    pub expected: &'a Expectation,
    /// What was learnt beside it.
    pub facts: &'a Facts,
}

/// Whether revisions contain the commit.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Contained {
    /// All of them do.
    Yes,
    /// All of them do, and one no longer holds the change.
    Superseded {
        /// Since which commit.
        by: String,
    },
    /// At least one does not.
    No,
    /// It is not known, for this reason.
    Unknown(String),
    /// It has to be asked.
    Ask(Want),
}

impl<'a> Moment<'a> {
    /// The source that is ours: repository and path are those of the expectation.
    fn is_ours(&self, source: &Source) -> bool {
        let same_repository =
            self.expected.repositories.iter().any(|url| is_same_repository(url, &source.repo_url));
        let renders = source.chart.is_empty() && !source.repo_url.is_empty();
        let path = self.expected.path.as_deref();
        let same_path = path.is_none_or(|path| clean_path(&source.path) == path);
        // A source that others only take files from has no path, and is not what renders the overlay.
        let is_reference = !source.reference.is_empty() && source.path.is_empty();
        same_repository && renders && same_path && !is_reference
    }

    /// The sources that deploy what the commit changes, each with its position.
    #[must_use]
    pub fn relevant_sources(&self) -> Vec<(usize, &'a Source)> {
        if let Some(hydrator) = &self.app.spec.source_hydrator {
            let dry = &hydrator.dry_source;
            return self.is_ours(dry).then_some((0, dry)).into_iter().collect();
        }
        let sources = self.app.sources().into_iter().enumerate();
        sources.filter(|(_, source)| self.is_ours(source)).collect()
    }

    /// Whether the commit has to be in the revisions at all.
    pub(super) fn asks_containment(&self) -> bool {
        self.expected.containment == Containment::Required
    }

    /// The revision compared last, for people.
    pub(super) fn compared(&self) -> String {
        let sync = &self.app.status.sync;
        match self.app.has_several_sources() {
            true => sync.revisions.join(", "),
            false => sync.revision.clone(),
        }
    }

    /// The revision applied last, for people.
    pub(super) fn applied(&self) -> Option<String> {
        self.app.status.operation_state.as_ref().and_then(applied_by)
    }

    /// Whether the comparison is of revisions that contain the commit.
    pub(super) fn comparison_contains(&self) -> Contained {
        let sync = &self.app.status.sync;
        if self.app.spec.source_hydrator.is_some() {
            return self.hydrated_contains(&sync.revision);
        }
        self.contains(&sync.revision, &sync.revisions)
    }

    /// Whether the operation is of revisions that contain the commit.
    pub(super) fn operation_contains(&self, state: &OperationState) -> Contained {
        let (one, several) = operation_revisions(state);
        self.applied_contains(one, several)
    }

    /// Whether a deployment was of revisions that contain the commit.
    pub(super) fn deployment_contains(&self, deployment: &Deployment) -> Contained {
        self.applied_contains(&deployment.revision, &deployment.revisions)
    }

    fn applied_contains(&self, one: &str, several: &[String]) -> Contained {
        if !self.asks_containment() {
            return Contained::Yes;
        }
        match self.app.spec.source_hydrator.is_some() {
            true => self.hydrated_contains(one),
            false => self.contains(one, several),
        }
    }

    /// Whether revisions, of one source or of several in the order of the spec, contain the commit.
    fn contains(&self, one: &str, several: &[String]) -> Contained {
        if !self.app.has_several_sources() {
            return self.revisions_contain(&[one]);
        }
        if several.len() != self.app.spec.sources.len() {
            return Contained::Unknown("it has no revision for each of its sources".to_owned());
        }
        let relevant = self.relevant_sources();
        let wanted: Vec<&str> = relevant.iter().map(|(at, _)| several[*at].as_str()).collect();
        self.revisions_contain(&wanted)
    }

    fn revisions_contain(&self, revisions: &[&str]) -> Contained {
        if let Some(text) = revisions.iter().find(|revision| !is_commit_id(revision)) {
            return Contained::Unknown(match text.is_empty() {
                true => "no revision is stated".to_owned(),
                false => format!("`{text}` is no commit"),
            });
        }
        let unasked: Vec<String> = revisions
            .iter()
            .filter(|revision| !self.facts.relations.contains_key(**revision))
            .map(|revision| (*revision).to_owned())
            .collect();
        if !unasked.is_empty() {
            return Contained::Ask(Want::Relations(unasked));
        }
        combine(revisions.iter().filter_map(|revision| self.facts.relations.get(*revision)))
    }

    /// Of a hydrated Application: whether `revision`, of its sync branch, comes from the commit.
    fn hydrated_contains(&self, revision: &str) -> Contained {
        let Some(hydrator) = &self.app.spec.source_hydrator else {
            return Contained::Unknown("it is not hydrated".to_owned());
        };
        if !is_commit_id(revision) {
            return Contained::Unknown("no hydrated revision is stated".to_owned());
        }
        let sync = &hydrator.sync_source;
        let repository = match sync.repo_url.is_empty() {
            true => &hydrator.dry_source.repo_url,
            false => &sync.repo_url,
        };
        let successful = self.app.status.source_hydrator.last_successful_operation.as_ref();
        let query = HydratedQuery {
            repository: repository.clone(),
            branch: sync.target_branch.clone(),
            path: clean_path(&sync.path),
            revision: revision.to_owned(),
            hydrated: successful.map(|last| last.hydrated_sha.clone()).unwrap_or_default(),
        };
        match self.facts.hydrated.get(&query) {
            Some(relation) => combine(std::iter::once(relation)),
            None => Contained::Ask(Want::Hydrated(Box::new(query))),
        }
    }

    /// Whether a commit that the hydrator rendered contains the commit.
    pub(super) fn dry_contains(&self, revision: &str) -> Contained {
        self.revisions_contain(&[revision])
    }

    /// The last operation that says something of the commit: of all its objects, and not a dry run.
    pub(super) fn operation_of_commit(&self) -> Option<(&'a OperationState, Contained)> {
        let state = self.app.status.operation_state.as_ref()?;
        if state.operation.sync.dry_run {
            return None;
        }
        Some((state, self.operation_contains(state)))
    }
}

/// The revision that an operation applies, for people.
pub(super) fn applied_by(state: &OperationState) -> Option<String> {
    let (one, several) = operation_revisions(state);
    let several = several.join(", ");
    Some(if one.is_empty() { several } else { one.to_owned() })
        .filter(|revision| !revision.is_empty())
}

/// The revisions of an operation: those of its result, else those that were asked for.
fn operation_revisions(state: &OperationState) -> (&str, &[String]) {
    match &state.sync_result {
        Some(result) if !result.revision.is_empty() || !result.revisions.is_empty() => {
            (&result.revision, &result.revisions)
        }
        _ => (&state.operation.sync.revision, &state.operation.sync.revisions),
    }
}

/// What all of them together say.
fn combine<'r>(relations: impl Iterator<Item = &'r Relation>) -> Contained {
    let mut all = Contained::Yes;
    for relation in relations {
        match relation {
            Relation::Unrelated => return Contained::No,
            Relation::Unknown { message } => all = Contained::Unknown(message.clone()),
            Relation::Superseded { by } if all == Contained::Yes => {
                all = Contained::Superseded { by: by.clone() };
            }
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_contained_weighs_most() {
        let unknown = Relation::Unknown { message: "gone".to_owned() };
        let superseded = Relation::Superseded { by: "x".to_owned() };
        let of = |relations: &[Relation]| combine(relations.iter());
        assert_eq!(of(&[Relation::Equal, Relation::Descendant]), Contained::Yes);
        assert_eq!(of(&[unknown.clone(), Relation::Unrelated]), Contained::No);
        assert_eq!(of(&[superseded.clone(), unknown]), Contained::Unknown("gone".to_owned()));
        assert_eq!(of(&[superseded]), Contained::Superseded { by: "x".to_owned() });
    }
}
