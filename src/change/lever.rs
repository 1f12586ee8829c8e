//! Changes of the levers of a workload: how many, how they roll, how long they drain, what they ask for.

use std::collections::BTreeMap;

use crate::kustomize::ResourceName;
use serde_json::Value as Json;

/// Numbers of replicas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetReplicas {
    /// Workloads and their numbers.
    pub named: Vec<(ResourceName, i64)>,
    /// The number of every workload of `among` that is not at 0.
    pub all_at: Option<i64>,
    /// Which workloads `all_at` means.
    pub among: Among,
    /// A workload at 0 may be turned on.
    pub turn_on: bool,
    /// A workload may be turned on though an image of it is not pinned.
    pub allow_unpinned: bool,
    /// A number that an autoscaler owns may be written.
    pub override_owner: bool,
}

/// A choice among all workloads: all of them, narrowed by labels and by a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Among {
    /// A label selector in Kubernetes' language.
    pub selector: Option<String>,
    /// The name of one of the repository's groups.
    pub group: Option<String>,
}

/// The repository's groups, by name.
pub type Groups = BTreeMap<String, Group>;

/// Workloads that a repository names together: those of these names, and those that are selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The names.
    pub names: Vec<ResourceName>,
    /// A label selector in Kubernetes' language.
    pub selector: Option<String>,
}

/// A number of pods, or a share of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodAmount {
    /// So many.
    Count(i64),
    /// So many in a hundred.
    Percent(i64),
}

impl PodAmount {
    /// Reads `3` or `25%`; `None` for anything else, a sign included.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            is_number.then(|| text.parse::<i64>().ok()).flatten()
        };
        match text.strip_suffix('%') {
            Some(percent) => digits(percent).map(Self::Percent),
            None => digits(text).map(Self::Count),
        }
    }

    /// Whether it is `0` or `0%`.
    #[must_use]
    pub fn is_zero(self) -> bool {
        matches!(self, Self::Count(0) | Self::Percent(0))
    }

    /// As the field holds it: a number stays a number, a share a string.
    #[must_use]
    pub fn to_json(self) -> Json {
        match self {
            Self::Count(count) => count.into(),
            Self::Percent(percent) => format!("{percent}%").into(),
        }
    }
}

/// How pods are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetStrategy {
    /// The workloads; empty where all of `among` are meant.
    pub names: Vec<ResourceName>,
    /// Which workloads are meant where none is named.
    pub among: Among,
    /// What is wanted of them.
    pub wanted: WantedStrategy,
}

/// What is wanted of a roll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedStrategy {
    /// Step by step, with these bounds; the one not given stays.
    Rolling {
        /// `maxSurge`
        max_surge: Option<PodAmount>,
        /// `maxUnavailable`
        max_unavailable: Option<PodAmount>,
    },
    /// All pods go before a new one comes.
    Recreate,
    /// Whatever keeps at least one pod ready throughout.
    ZeroOutage,
}

/// Numbers of instances of CloudNativePG Clusters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetInstances {
    /// Clusters and their numbers; no number where only sleep is asked for.
    pub named: Vec<(ResourceName, Option<i64>)>,
    /// At one instance the budget is turned off, so that a node can be drained.
    pub allow_drain: bool,
    /// Put to sleep, or waken.
    pub hibernate: Option<bool>,
    /// How many nodes the instances can be spread over.
    pub nodes: Option<i64>,
}

/// Fields of one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetFields {
    /// The resource.
    pub name: ResourceName,
    /// Paths as typed, and their values; `None` removes the field.
    pub fields: Vec<(String, Option<Json>)>,
}

/// What containers ask for, and what they may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetResources {
    /// The workload.
    pub name: ResourceName,
    /// The container; the only one where none is named.
    pub container: Option<String>,
    /// `resources.requests`: names and quantities.
    pub requests: Vec<(String, String)>,
    /// `resources.limits`: names and quantities.
    pub limits: Vec<(String, String)>,
}

/// A rolling restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restart {
    /// The workloads.
    pub names: Vec<ResourceName>,
    /// The time that is written, RFC 3339.
    pub at: String,
}

/// How long pods drain, and the grace that goes with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetDrain {
    /// The workload.
    pub name: Option<ResourceName>,
    /// The timeout to write where it is configured, as typed and in milliseconds.
    pub timeout: Option<(String, i64)>,
    /// The grace is derived from the timeout found.
    pub align: bool,
    /// The grace alone, in milliseconds.
    pub grace: Option<i64>,
    /// The timeout to count where none is configured, in milliseconds.
    pub assume: Option<i64>,
    /// What the grace has beyond the drain, in milliseconds.
    pub margin: i64,
    /// Flags whose values count.
    pub args: Vec<String>,
    /// Variables whose values count.
    pub envs: Vec<String>,
    /// Which source wins where several disagree.
    pub precedence: Option<DrainSource>,
    /// The drain may become shorter.
    pub shorten: bool,
}

/// Where a drain timeout may be configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrainSource {
    /// A flag of the container.
    Flag,
    /// An environment variable.
    Environment,
    /// A text in a ConfigMap.
    Configuration,
}

#[cfg(test)]
mod tests {
    use super::PodAmount;

    #[test]
    fn an_amount_is_a_number_or_a_share() {
        assert_eq!(PodAmount::parse("3"), Some(PodAmount::Count(3)));
        assert_eq!(PodAmount::parse("25%"), Some(PodAmount::Percent(25)));
        for wrong in ["", "%", "-1", "+1", "1.5", "25 %", "a", "1%%"] {
            assert_eq!(PodAmount::parse(wrong), None, "{wrong}");
        }
    }
}
