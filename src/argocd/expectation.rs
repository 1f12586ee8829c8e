//! What is waited for: a commit, what it changes, and what the user wants to be strict about.

use std::time::Duration;

use serde_json::Value;

use super::port::ObjectRef;
use crate::kustomize::FieldPath;

/// What is waited for.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The commit, 40 hexadecimal digits.
    pub commit: String,
    /// The addresses of its repository, in any spelling.
    pub repositories: Vec<String>,
    /// The directory of the overlay in it, cleaned; `None` where any source of the repository counts.
    pub path: Option<String>,
    /// Whether the revisions must contain the commit.
    pub containment: Containment,
    /// What the commit changes in what is rendered.
    pub effect: ExpectedEffect,
    /// How is waited, and what counts.
    pub rules: Rules,
    /// The shortest time between two reads; longer where many Applications are waited for.
    pub poll: Duration,
}

/// How is waited and what counts, whatever for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The least time between the end of an operation and the comparison that is believed.
    pub dwell: Duration,
    /// When to give up.
    pub timeout: Duration,
    /// What is said of objects that differ after a finished sync.
    pub drift: DriftRule,
    /// Whose health counts.
    pub health: HealthScope,
    /// Whether refreshes may be asked for.
    pub refresh: RefreshRule,
    /// Whether a sync may be asked for.
    pub sync: SyncRule,
}

impl Default for Rules {
    /// Those of the command line: timeout 15 minutes, dwell 30 seconds, refreshes but no sync, no drift, all health.
    fn default() -> Self {
        Self {
            dwell: Duration::from_secs(30),
            timeout: Duration::from_secs(15 * 60),
            drift: DriftRule::Refused,
            health: HealthScope::Whole,
            refresh: RefreshRule::Asked,
            sync: SyncRule::Never,
        }
    }
}

impl Expectation {
    /// A commit of one repository, with the rules of the command line.
    #[must_use]
    pub fn of_commit(commit: &str, repository: &str) -> Self {
        Self {
            commit: commit.to_owned(),
            repositories: vec![repository.to_owned()],
            path: None,
            containment: Containment::Required,
            effect: ExpectedEffect::Unknown { message: "it was not rendered".to_owned() },
            rules: Rules::default(),
            poll: Duration::from_secs(1),
        }
    }
}

/// Whether the revisions must contain the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Containment {
    /// Yes.
    Required,
    /// No: a child Application of another repository, which only has to be settled.
    NotAsked,
}

/// What the commit changes in what is rendered.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpectedEffect {
    /// These changes, maybe none.
    Known(Vec<ExpectedChange>),
    /// It is not known.
    Unknown {
        /// Why.
        message: String,
    },
}

impl ExpectedEffect {
    /// The changes, as far as they are known.
    #[must_use]
    pub fn changes(&self) -> &[ExpectedChange] {
        match self {
            Self::Known(changes) => changes,
            Self::Unknown { .. } => &[],
        }
    }

    /// Whether `object` is one of those changed.
    #[must_use]
    pub fn touches(&self, object: &ObjectRef) -> bool {
        self.changes().iter().any(|change| change.object.is(object))
    }
}

/// One object that the commit changes.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedChange {
    /// Which.
    pub object: ObjectRef,
    /// What is expected of it.
    pub presence: Presence,
}

/// What is expected of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Presence {
    /// It is there, with these fields.
    Present(Vec<ExpectedField>),
    /// It is not there.
    Absent,
}

/// A field and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedField {
    /// The field.
    pub path: FieldPath,
    /// Its value; `None` where the field must be absent.
    pub value: Option<Value>,
}

/// What is said of objects that differ after a finished sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriftRule {
    /// The wait fails.
    Refused,
    /// It is accepted where the changed objects are synced and hold their values.
    Accepted,
}

/// Whose health counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthScope {
    /// That of the whole Application.
    Whole,
    /// That of the objects that the commit changes.
    Touched,
}

/// Whether refreshes may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshRule {
    /// As often as needed, at a bounded rate.
    Asked,
    /// Never.
    Never,
}

/// Whether a sync may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncRule {
    /// Never.
    Never,
    /// Once for each revision, where the Application does not sync by itself.
    WhereManual,
}
