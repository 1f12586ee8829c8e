//! What a check found: a sentence with its numbers, and the place that owns the value.

use serde::Serialize;

use crate::kustomize::Resource;
use crate::kustomize::node::Node;

/// The stable name of a check, in kebab case: an interface, never renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct CheckId(pub(super) &'static str);

impl CheckId {
    /// The name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl std::fmt::Display for CheckId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

/// How bad a finding is, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably not meant.
    Warning,
    /// Will fail, hang or interrupt service.
    Error,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The object that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// Group and version.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name; the directory for a kustomization.
    pub name: String,
}

impl Subject {
    /// The rendered `resource`.
    #[must_use]
    pub fn of(resource: &Resource) -> Self {
        Self {
            api_version: resource.api_version().to_owned(),
            kind: resource.kind().to_owned(),
            namespace: resource.namespace().to_owned(),
            name: resource.name().to_owned(),
        }
    }

    /// The kustomization of `directory`, relative to the boundary.
    #[must_use]
    pub fn kustomization(directory: &str) -> Self {
        Self {
            api_version: "kustomize.config.k8s.io/v1beta1".to_owned(),
            kind: "Kustomization".to_owned(),
            namespace: String::new(),
            name: if directory.is_empty() { ".".to_owned() } else { directory.to_owned() },
        }
    }
}

impl std::fmt::Display for Subject {
    /// `Kind/name`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.kind, self.name)
    }
}

/// The file and line that owns a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// Relative to the boundary.
    pub file: String,
    /// From 1.
    pub line: u32,
}

/// One thing that a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Which check.
    pub id: CheckId,
    /// How bad.
    pub severity: Severity,
    /// One sentence, with the numbers.
    pub message: String,
    /// About what.
    pub resource: Subject,
    /// The field, in kustomize's notation; empty for the whole object.
    pub field: String,
    /// Who owns the value.
    pub location: Place,
    /// The command that mends it, where one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Finding {
    /// The same finding with the command that mends it.
    #[must_use]
    pub fn mend(mut self, command: String) -> Self {
        self.fix = Some(command);
        self
    }

    /// The same finding as bad as `severity`.
    #[must_use]
    pub fn graded(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// The same finding about a field, or about a part of a file that `what` tells from its
    /// neighbours.
    #[must_use]
    pub fn about(mut self, what: &str) -> Self {
        what.clone_into(&mut self.field);
        self
    }

    /// Whether it is at least as bad as `severity`.
    #[must_use]
    pub fn is_at_least(&self, severity: Severity) -> bool {
        self.severity >= severity
    }

    /// What makes two findings one, wherever the lines have moved: check, object and field.
    #[must_use]
    pub fn key(&self) -> (CheckId, &Subject, &str) {
        (self.id, &self.resource, &self.field)
    }
}

/// A field of a rendered resource: its path, and the nearest node there is.
#[derive(Clone, Debug)]
pub struct Spot<'a> {
    /// The resource.
    pub resource: &'a Resource,
    /// The field's value, or the nearest object above where the field is absent.
    pub node: &'a Node,
    /// The field's path.
    pub field: String,
}

impl<'a> Spot<'a> {
    /// The field at `path` of `resource`.
    #[must_use]
    pub fn at(resource: &'a Resource, path: &[&str]) -> Self {
        let mut node = &resource.node;
        for key in path {
            match node.get(key) {
                Some(next) => node = next,
                None => break,
            }
        }
        Self { resource, node, field: path.join(".") }
    }

    /// The field `field` of `resource`, whose value is `node`.
    #[must_use]
    pub fn of(resource: &'a Resource, node: &'a Node, field: impl Into<String>) -> Self {
        Self { resource, node, field: field.into() }
    }
}

/// What a change brings and what it takes away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Delta {
    /// Findings that were not there before.
    pub added: Vec<Finding>,
    /// Findings that are gone.
    pub removed: Vec<Finding>,
}

/// The findings of `after` that `before` has not, and the other way round, matched by
/// [`Finding::key`] and severity, so that a line that moved is no news.
#[must_use]
pub fn compare(before: &[Finding], after: &[Finding]) -> Delta {
    let without = |these: &[Finding], those: &[Finding]| {
        let known: std::collections::BTreeSet<_> =
            those.iter().map(|finding| (finding.key(), finding.severity)).collect();
        these.iter().filter(|f| !known.contains(&(f.key(), f.severity))).cloned().collect()
    };
    Delta { added: without(after, before), removed: without(before, after) }
}
