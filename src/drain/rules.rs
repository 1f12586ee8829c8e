//! The rules that a repository has of its own for a drain: the section `drain` of `.overlay.yaml`, as data.

use std::fmt;

use super::pod::{Pod, WorkloadId};
use super::state::State;
use crate::kustomize::build::label_selector::LabelSelector;

/// A workload as a rule names it: `NAMESPACE/[KIND/]NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its namespace.
    pub namespace: String,
    /// Its kind, where it is told.
    pub kind: Option<String>,
    /// Its name.
    pub name: String,
}

impl Named {
    /// Reads `NAMESPACE/[KIND/]NAME`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        let (namespace, kind, name) = match parts.as_slice() {
            [namespace, name] => (*namespace, None, *name),
            [namespace, kind, name] if !kind.is_empty() => (*namespace, Some(*kind), *name),
            _ => return None,
        };
        let is_right = super::objects::is_name(namespace) && super::objects::is_name(name);
        let kind = kind.map(str::to_owned);
        is_right.then(|| Self { namespace: namespace.to_owned(), kind, name: name.to_owned() })
    }

    /// Whether it names that workload.
    #[must_use]
    pub fn is(&self, id: &WorkloadId) -> bool {
        self.namespace == id.namespace
            && self.name == id.name
            && self.kind.as_ref().is_none_or(|kind| *kind == id.kind)
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Some(kind) => write!(f, "{}/{kind}/{}", self.namespace, self.name),
            None => write!(f, "{}/{}", self.namespace, self.name),
        }
    }
}

/// One workload has to be moved, and ready again, before another one moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderRule {
    /// What moves first.
    pub before: Named,
    /// What moves later.
    pub after: Named,
    /// Why.
    pub reason: Option<String>,
    /// Whether a cluster may lack one of them.
    pub is_optional: bool,
}

impl OrderRule {
    /// `a before b`, for a message.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("{} before {}", self.before, self.after)
    }
}

/// Pods that serve in each other's stead and may not be down together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairRule {
    /// What they are called.
    pub name: String,
    /// Their namespace.
    pub namespace: String,
    /// Which pods they are, in Kubernetes' language of selectors.
    pub selector: String,
    /// Whether a cluster may lack them.
    pub is_optional: bool,
}

impl PairRule {
    /// Whether a pod is one of them.
    #[must_use]
    pub fn selects(&self, pod: &Pod) -> bool {
        let selector = LabelSelector::parse(&self.selector);
        let find = |key: &str| pod.labels.get(key).map(String::as_str);
        pod.namespace == self.namespace && selector.is_ok_and(|selector| selector.matches(find))
    }
}

/// A rule that holds unless the repository turns it off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuiltIn {
    /// The least loaded node first.
    LeastLoadedFirst,
    /// Two replicas of one workload never without a wait in between, and where it can be not one after the other.
    PairsApart,
    /// A database of one instance after all else.
    DatabasesLast,
    /// Pods on one volume that only one node may use move together.
    VolumesTogether,
}

impl BuiltIn {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::LeastLoadedFirst, Self::PairsApart, Self::DatabasesLast, Self::VolumesTogether];

    /// Its word in `.overlay.yaml` and in results.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::LeastLoadedFirst => "least-loaded-first",
            Self::PairsApart => "pairs-apart",
            Self::DatabasesLast => "databases-last",
            Self::VolumesTogether => "volumes-together",
        }
    }
}

/// All rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Names of the nodes to empty.
    pub nodes: Vec<String>,
    /// Or the labels by which they are known.
    pub selector: Option<String>,
    /// What moves before what.
    pub order: Vec<OrderRule>,
    /// What may not be down together, beside the replicas of each workload.
    pub pairs: Vec<PairRule>,
    /// What must never be without a place, not even between two waves.
    pub protected: Vec<Named>,
    /// Built-in rules that are turned off.
    pub off: Vec<BuiltIn>,
}

impl Rules {
    /// The pods of a pair that a rule names, by position.
    #[must_use]
    pub fn pods_of(&self, pair: &str, state: &State) -> Vec<usize> {
        let rule = self.pairs.iter().find(|rule| rule.name == pair);
        let is_one = |at: &usize| {
            let pod = &state.pods[*at];
            !pod.is_over() && rule.is_some_and(|rule| rule.selects(pod))
        };
        (0..state.pods.len()).filter(is_one).collect()
    }

    /// Whether a built-in rule holds.
    #[must_use]
    pub fn has(&self, rule: BuiltIn) -> bool {
        !self.off.contains(&rule)
    }
}
