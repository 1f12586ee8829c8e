//! What a repository decides about its checks; read from `.overlay.yaml` by `config`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::finding::{Finding, Place, Severity};

/// The annotation that excepts an object from one check: this, then the check's id. Its value is
/// the reason, which must not be empty.
pub const EXCEPTION_ANNOTATION: &str = "checks.overlay/";

/// The settings of all checks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Severities other than the built-in ones, by check id; `None` turns the check off.
    pub severities: BTreeMap<String, Option<Severity>>,
    /// Findings that are accepted, with reasons.
    pub exceptions: Vec<Exception>,
    /// Sums that must stay below a limit.
    pub budgets: Vec<SumBudget>,
    /// How long a node drain waits for a pod.
    pub node_drain: Option<Duration>,
    /// The number of nodes that pods can be placed on.
    pub nodes: Option<i64>,
    /// What one of these nodes has for pods.
    pub node_size: NodeSize,
    /// Patterns of arguments whose values are images (`*` stands for any text); the built-in one if
    /// empty.
    pub image_arguments: Vec<String>,
    /// Patterns of the names of flags, variables and configuration keys that hold a drain; the
    /// built-in recognition if empty.
    pub drain_names: Vec<String>,
    /// Node labels that somebody relies on.
    pub node_labels: Vec<(String, Place)>,
    /// Where the commands that mend findings are pasted.
    pub here: crate::shell::Here,
}

/// What one node has for pods.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeSize {
    /// In cores.
    pub cpu_cores: Option<f64>,
    /// In bytes.
    pub memory_bytes: Option<f64>,
}

/// A finding that is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The check's id.
    pub id: String,
    /// `KIND/NAME` or a name, in which `*` stands for any text; empty for every object.
    pub resource: String,
    /// The overlay's directory, in which `*` stands for any text; empty for every overlay.
    pub overlay: String,
    /// Why.
    pub reason: String,
}

impl Exception {
    /// Whether it accepts `finding` of the overlay at `overlay`.
    #[must_use]
    pub fn covers(&self, finding: &Finding, overlay: &str) -> bool {
        let subject = finding.resource.to_string();
        let name = if self.resource.contains('/') { &*subject } else { &*finding.resource.name };
        self.id == finding.id.as_str()
            && (self.resource.is_empty() || matches_pattern(&self.resource, name))
            && (self.overlay.is_empty() || matches_pattern(&self.overlay, overlay))
    }
}

/// A sum over workloads that must not exceed a limit: (replicas + surge) times a number per pod.
#[derive(Clone, Debug, PartialEq)]
pub struct SumBudget {
    /// What is summed, such as `database connections`.
    pub name: String,
    /// The most that there may be.
    pub limit: f64,
    /// Where the number per pod is.
    pub per_pod: Vec<PerPod>,
    /// Names of workloads, in which `*` stands for any text; every workload if empty.
    pub workloads: Vec<String>,
    /// Where the budget is configured.
    pub place: Place,
}

/// The number that each pod of a workload takes.
#[derive(Clone, Debug, PartialEq)]
pub enum PerPod {
    /// The same for every workload.
    Number(f64),
    /// The value of an environment variable of a container, given outright or by a ConfigMap.
    Env(String),
    /// The value of a key of a ConfigMap.
    ConfigMap {
        /// Its name.
        name: String,
        /// The key.
        key: String,
    },
}

/// Whether `text` fits `pattern`, in which each `*` stands for any text, none included.
#[must_use]
pub fn matches_pattern(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, fits) in [
            ("web", "web", true),
            ("web", "web2", false),
            ("web*", "web2", true),
            ("*-image", "--worker-image", true),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(matches_pattern(pattern, text), fits, "{pattern} {text}");
        }
    }
}
