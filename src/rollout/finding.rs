//! What is wrong with what runs: a sentence about one object, under an id that never changes.

use serde::Serialize;
use serde_json::Value;

use super::live::{kind, name, namespace, text_at};
use crate::checks::{Severity, Subject, section};

/// Every id with its severity; `docs/verify.md` has a section for each, a test holds the two equal. A note says what to
/// know and is no failure; all else ends the command with 7. What is `unreadable` is a note where it would only have explained.
pub const CATALOGUE: [(&str, Severity); 56] = [
    ("application-not-synced", Severity::Error),
    ("application-other-commit", Severity::Error),
    ("attach-failed", Severity::Error),
    ("below-minimum", Severity::Error),
    ("budget-error", Severity::Error),
    ("budget-low", Severity::Error),
    ("budget-overlap", Severity::Error),
    ("budget-unobserved", Severity::Error),
    ("certificate-not-ready", Severity::Error),
    ("config-missing", Severity::Error),
    ("container-not-started", Severity::Error),
    ("controller-silent", Severity::Error),
    ("crash-loop", Severity::Error),
    ("creation-refused", Severity::Error),
    ("database-broken", Severity::Error),
    ("database-change-refused", Severity::Error),
    ("database-rolling", Severity::Error),
    ("database-waiting", Severity::Error),
    ("deadline-exceeded", Severity::Error),
    ("draining", Severity::Error),
    ("evicted", Severity::Error),
    ("exited-ready", Severity::Error),
    ("finalizer", Severity::Error),
    ("grace-below-drain", Severity::Error),
    ("image-other", Severity::Error),
    ("image-unknown", Severity::Warning),
    ("image-unpinned", Severity::Note),
    ("image-unpullable", Severity::Error),
    ("init-unfinished", Severity::Error),
    ("killed-for-memory", Severity::Error),
    ("liveness-failing", Severity::Error),
    ("log-pattern", Severity::Error),
    ("min-ready", Severity::Error),
    ("mount-failed", Severity::Error),
    ("network-failed", Severity::Error),
    ("node-not-ready", Severity::Error),
    ("nothing-compared", Severity::Note),
    ("object-differs", Severity::Error),
    ("object-missing", Severity::Error),
    ("on-delete", Severity::Error),
    ("ordered-blocked", Severity::Error),
    ("partition", Severity::Note),
    ("paused", Severity::Error),
    ("pods-missing", Severity::Error),
    ("pods-not-ready", Severity::Error),
    ("query-failed", Severity::Error),
    ("quota-exceeded", Severity::Error),
    ("readiness-failing", Severity::Error),
    ("readiness-gate", Severity::Error),
    ("rollout-unfinished", Severity::Error),
    ("scheduling-gated", Severity::Error),
    ("secret-not-synced", Severity::Error),
    ("startup-failing", Severity::Error),
    ("stuck-terminating", Severity::Error),
    ("unreadable", Severity::Warning),
    ("unschedulable", Severity::Error),
];

/// Where a section of the page is.
const PAGE: &str = include_str!("../../docs/verify.md");

/// One thing that is wrong, or to be known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Which kind, one of [`CATALOGUE`].
    pub id: &'static str,
    /// How bad.
    pub severity: Severity,
    /// One sentence.
    pub message: String,
    /// The object.
    pub resource: Subject,
    /// What to do, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Finding {
    /// A finding about a live object.
    #[must_use]
    pub fn about(object: &Value, id: &'static str, message: impl Into<String>) -> Self {
        Self::of(subject(object), id, message)
    }

    /// A finding about the object of that name.
    #[must_use]
    pub fn of(resource: Subject, id: &'static str, message: impl Into<String>) -> Self {
        let severity = severity_of(id).unwrap_or(Severity::Error);
        Self { id, severity, message: message.into(), resource, fix: None }
    }

    /// The same with what to do.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// The same as something to know: the verdict does not rest on it.
    #[must_use]
    pub fn as_note(self) -> Self {
        Self { severity: Severity::Note, ..self }
    }

    /// Whether it ends the command with 7.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.severity > Severity::Note
    }
}

/// The name of a live object.
#[must_use]
pub fn subject(object: &Value) -> Subject {
    Subject {
        api_version: text_at(object, "/apiVersion").to_owned(),
        kind: kind(object).to_owned(),
        namespace: namespace(object).to_owned(),
        name: name(object).to_owned(),
    }
}

/// The severity of the findings of that id.
#[must_use]
pub fn severity_of(id: &str) -> Option<Severity> {
    CATALOGUE.iter().find(|(known, _)| *known == id).map(|(_, severity)| *severity)
}

/// The section of `docs/verify.md` about `id`, without its heading.
#[must_use]
pub fn explanation(id: &str) -> Option<&'static str> {
    section(PAGE, id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_explains_every_finding_and_no_other() {
        let ids: Vec<&str> = CATALOGUE.iter().map(|(id, _)| *id).collect();
        let headings = PAGE.lines().filter_map(|line| line.strip_prefix("### `"));
        let on_page: Vec<&str> = headings.map(|rest| rest.trim_end_matches('`')).collect();
        assert_eq!(on_page, ids);
        assert!(ids.is_sorted());
        for id in ids {
            assert!(explanation(id).is_some_and(|text| text.len() > 40), "{id}");
        }
    }
}
