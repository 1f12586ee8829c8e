//! What the pods of rendered resources ask for together, those of the operator of CloudNativePG among them.

use super::amounts::Amounts;
use super::eligible::{Face, Unfit, terms_match, terms_shown, unfit};
use super::extras::{HostPort, clash, host_ports};
use super::notes::notes;
use super::pack::Group;
use super::quantities::{BadQuantity, bad_in_pod, bad_in_resources};
use super::request::{own_request, pod_request};
use super::resilience::Surge;
use crate::checks::model::autoscaler::Autoscaler;
use crate::checks::model::cluster::Cluster;
use crate::checks::model::selector::{Labels, Selector};
use crate::checks::model::workload::{Strategy, Workload, WorkloadKind};
use crate::checks::model::{int_at, items_at, text_at, texts_at};
use crate::kustomize::node::Node;
use crate::kustomize::{Resource, ResourceId};

/// The most pods that are reckoned with.
pub const MOST_PODS: u64 = 20_000;
/// What a note says of pods that are bound to a label.
pub const NEEDS_LABEL: &str = "needs nodes with the label";
/// The topology key of a node.
const HOST: &str = "kubernetes.io/hostname";

/// The pods of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodSet {
    /// Which object makes them.
    pub owner: ResourceId,
    /// How many there are; for a DaemonSet one for each node.
    pub count: u64,
    /// How many come beside them during a roll.
    pub surge: u64,
    /// Whether every node has one.
    pub is_daemon: bool,
    /// What one asks for.
    pub request: Amounts,
    /// Labels that its node must have.
    pub node_labels: Vec<(String, String)>,
    /// The pod's `spec`, which says which nodes it may be on.
    pub pod: Option<Node>,
    /// Node selector terms of its volumes, each of which has to hold.
    pub places: Vec<Vec<Node>>,
    /// Topology keys, other than that of hosts, of which no two of its pods may share a value.
    pub apart_by: Vec<String>,
}

/// What overlays ask of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// The pods, in the order of the render.
    pub sets: Vec<PodSet>,
    /// The same without DaemonSets, for packing.
    pub groups: Vec<Group>,
    /// The rolls that need room, by number of group.
    pub surges: Vec<Surge>,
    /// What one pod of every DaemonSet asks for.
    pub daemons: Amounts,
    /// How many DaemonSets there are.
    pub daemon_pods: u64,
    /// What could not be taken into account, each with the number of the resource that it is about.
    pub notes: Vec<(usize, String)>,
}

impl PodSet {
    /// Why its pods may not be on nodes that show `face`.
    fn unfit(&self, face: &Face) -> Option<String> {
        let lacking =
            self.node_labels.iter().find(|(key, value)| face.labels.get(key) != Some(value));
        let by_spec = || match unfit(self.pod.as_ref()?, face)? {
            Unfit::Labels(wanted) => Some(format!("it needs {wanted}")),
            Unfit::Taint(taint) => Some(format!("it does not tolerate {taint}")),
        };
        let place = || {
            let wrong = self.places.iter().find(|terms| !terms_match(terms, face))?;
            Some(format!("its volume is where {}", terms_shown(wrong)))
        };
        let label = lacking.map(|(key, value)| format!("it needs {key}={value}"));
        // Nodes of one kind that are told their zone are all in it.
        let is_one = |key: &&String| face.labels.contains_key(*key) && self.count > 1;
        let apart = || {
            let key = self.apart_by.iter().find(is_one)?;
            Some(format!("its pods keep apart by {key}, which all nodes of this kind share"))
        };
        label.or_else(by_spec).or_else(place).or_else(apart)
    }
}

/// Why it cannot be told what objects ask for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DemandError {
    /// There are more pods than are reckoned with; the object is told at which they became too many.
    #[error("{}/{}: more than {MOST_PODS} pods in all", .0.kind, .0.name)]
    TooManyPods(ResourceId),
    /// A request that is no quantity.
    #[error("{}/{}: {bad}", .owner.kind, .owner.name)]
    BadQuantity {
        /// The object.
        owner: ResourceId,
        /// The request.
        bad: BadQuantity,
    },
}

/// What is read of one object before all are known.
pub(super) struct Read<'a> {
    /// The number of the resource.
    pub(super) number: usize,
    pub(super) set: PodSet,
    pub(super) ports: Vec<HostPort>,
    pub(super) pod: Option<&'a Node>,
    labels: Labels<'a>,
    namespace: String,
    is_alone: bool,
}

impl Demand {
    /// What `resources` ask for.
    ///
    /// # Errors
    /// [`DemandError`].
    pub fn of(resources: &[Resource]) -> Result<Self, DemandError> {
        let mut demand = Self::default();
        let scalers: Vec<Autoscaler<'_>> = resources.iter().filter_map(Autoscaler::new).collect();
        let mut all: Vec<Read<'_>> = Vec::new();
        for (number, resource) in resources.iter().enumerate() {
            let mut notes = Vec::new();
            all.extend(read(resource, number, &scalers, &mut notes)?);
            demand.notes.extend(notes.into_iter().map(|note| (number, note)));
        }
        let read = all;
        let mut total = 0u64;
        for one in &read {
            total = total.saturating_add(one.set.count).saturating_add(one.set.surge);
            if total > MOST_PODS {
                return Err(DemandError::TooManyPods(one.set.owner.clone()));
            }
        }
        let packed: Vec<&Read<'_>> = read.iter().filter(|one| !one.set.is_daemon).collect();
        for (number, one) in packed.iter().enumerate() {
            demand.groups.push(group(number, one, &packed));
            if one.set.surge > 0 {
                demand.surges.push(Surge { group: number, pods: one.set.surge });
            }
        }
        for one in read.iter().filter(|one| one.set.is_daemon) {
            demand.daemons += one.set.request;
            demand.daemon_pods += 1;
        }
        demand.notes.extend(notes(&read));
        demand.sets = read.into_iter().map(|one| one.set).collect();
        Ok(demand)
    }

    /// What of it may be on nodes that show `face`, and what may not, with the reason.
    #[must_use]
    pub fn on(&self, face: &Face) -> (Self, Vec<(ResourceId, String)>) {
        let (mut here, mut elsewhere) = (self.clone(), Vec::new());
        let packed = self.sets.iter().filter(|set| !set.is_daemon);
        for (number, set) in packed.enumerate() {
            let Some(reason) = set.unfit(face).filter(|_| set.count > 0) else { continue };
            here.groups[number].count = 0;
            here.surges.retain(|surge| surge.group != number);
            elsewhere.push((set.owner.clone(), reason));
        }
        for set in self.sets.iter().filter(|set| set.is_daemon && set.unfit(face).is_some()) {
            here.daemons -= set.request;
            here.daemon_pods -= 1;
        }
        (here, elsewhere)
    }

    /// The number of pods that are packed and what they ask for together.
    #[must_use]
    pub fn total(&self) -> (u64, Amounts) {
        let pods = self.groups.iter().map(|group| group.count).sum();
        (pods, self.groups.iter().map(|group| group.request.times(group.count)).sum())
    }
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn read<'a>(
    resource: &'a Resource,
    number: usize,
    scalers: &[Autoscaler<'_>],
    notes: &mut Vec<String>,
) -> Result<Option<Read<'a>>, DemandError> {
    let (read, bad) = match Cluster::new(resource) {
        Some(cluster) => {
            let spec = cluster.resource.node.get("spec");
            (read_cluster(&cluster), spec.and_then(|spec| bad_in_resources(spec, "")))
        }
        None => {
            let Some(workload) = Workload::new(resource) else { return Ok(None) };
            let scaler = scalers.iter().find(|scaler| scaler.scales(&workload));
            (read_workload(&workload, scaler, notes), bad_in_pod(workload.pod))
        }
    };
    match bad {
        Some(bad) => Err(DemandError::BadQuantity { owner: read.set.owner, bad }),
        None => Ok(Some(Read { number, ..read })),
    }
}

/// How many pods a workload has at least where an autoscaler decides: it is off where a workload is at 0.
fn scaled_count(
    workload: &Workload<'_>,
    scaler: Option<&Autoscaler<'_>>,
    notes: &mut Vec<String>,
) -> i64 {
    let count = workload.replicas();
    let Some(scaler) = scaler.filter(|_| count > 0) else { return count };
    let least = count.max(scaler.min);
    if scaler.max > least {
        notes.push(format!(
            "{}: reckoned with {least}; {}/{} may ask for up to {}",
            workload.shown(),
            scaler.resource.kind(),
            scaler.resource.name(),
            scaler.max
        ));
    }
    least
}

fn read_workload<'a>(
    workload: &Workload<'a>,
    scaler: Option<&Autoscaler<'_>>,
    notes: &mut Vec<String>,
) -> Read<'a> {
    let parallel = |path: &[&str]| int_at(&workload.resource.node, path).unwrap_or(1);
    let count = match workload.kind {
        WorkloadKind::Job => parallel(&["spec", "parallelism"]),
        WorkloadKind::CronJob => parallel(&["spec", "jobTemplate", "spec", "parallelism"]),
        WorkloadKind::DaemonSet => 0,
        _ => scaled_count(workload, scaler, notes),
    };
    let surge = match (workload.kind, workload.strategy(count)) {
        (WorkloadKind::Deployment, Strategy::RollingUpdate(roll)) if count > 0 => roll.surge,
        _ => 0,
    };
    if workload.kind == WorkloadKind::CronJob {
        notes.push(format!("{}: its pods are counted as if they ran", workload.shown()));
    }
    let set = PodSet {
        owner: workload.resource.current_id().clone(),
        count: unsigned(count),
        surge: unsigned(surge),
        is_daemon: workload.kind == WorkloadKind::DaemonSet,
        request: pod_request(workload.pod),
        node_labels: node_labels(workload.pod),
        pod: Some(workload.pod.clone()),
        places: Vec::new(),
        apart_by: Vec::new(),
    };
    let (labels, namespace) = (workload.labels.clone(), workload.namespace.clone());
    let ports = host_ports(workload.pod);
    let mut read =
        Read { number: 0, set, ports, pod: Some(workload.pod), labels, namespace, is_alone: false };
    read.set.apart_by = keys_apart(&read, workload.pod);
    read
}

/// The operator's pods: one container with `spec.resources`; apart by host where `podAntiAffinityType` is `required`.
fn read_cluster<'a>(cluster: &Cluster<'a>) -> Read<'a> {
    let node = &cluster.resource.node;
    let count = if cluster.is_hibernated() { 0 } else { cluster.instances() };
    let required = text_at(node, &["spec", "affinity", "podAntiAffinityType"]) == Some("required");
    let is_off = text_at(node, &["spec", "affinity", "enablePodAntiAffinity"]) == Some("false");
    let key = text_at(node, &["spec", "affinity", "topologyKey"]).unwrap_or(HOST);
    let labels = texts_at(node, &["spec", "affinity", "nodeSelector"]);
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    let set = PodSet {
        owner: cluster.resource.current_id().clone(),
        count: unsigned(count),
        surge: 0,
        is_daemon: false,
        request: node.get("spec").map(own_request).unwrap_or_default(),
        node_labels: labels.into_iter().map(owned).collect(),
        pod: None,
        places: Vec::new(),
        apart_by: if required && !is_off && key != HOST {
            vec![key.to_owned()]
        } else {
            Vec::new()
        },
    };
    let namespace = cluster.resource.current_id().effective_namespace().to_owned();
    let is_alone = required && !is_off && key == HOST;
    let ports = Vec::new();
    Read { number: 0, set, ports, pod: None, labels: Labels::new(), namespace, is_alone }
}

/// Its `nodeSelector`, and required node affinity that names one value.
fn node_labels(pod: &Node) -> Vec<(String, String)> {
    let pairs = texts_at(pod, &["nodeSelector"]);
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn group(number: usize, one: &Read<'_>, all: &[&Read<'_>]) -> Group {
    let mut apart_from: Vec<usize> = one
        .pod
        .map(|pod| all.iter().enumerate().filter(|(_, other)| is_kept_from(one, pod, other)))
        .into_iter()
        .flatten()
        .map(|(other, _)| other)
        .collect();
    if one.is_alone {
        apart_from.push(number);
    }
    if !one.ports.is_empty() {
        let clashes = |other: &Read<'_>| clash(&one.ports, &other.ports).is_some();
        apart_from.extend((0..all.len()).filter(|other| clashes(all[*other])));
        apart_from.sort_unstable();
        apart_from.dedup();
    }
    let max_skew = one.pod.and_then(|pod| host_skew(pod, &one.labels));
    Group { request: one.set.request, count: one.set.count, apart_from, max_skew }
}

/// Whether a required anti-affinity by host of `one` selects the pods of `other`.
fn is_kept_from(one: &Read<'_>, pod: &Node, other: &Read<'_>) -> bool {
    let is_by_host = |term: &&Node| text_at(term, &["topologyKey"]) == Some(HOST);
    anti_affinity(pod).iter().filter(is_by_host).any(|term| repels(one, term, other))
}

/// The keys, other than the host's, by which the pods of `one` keep apart from each other.
fn keys_apart(one: &Read<'_>, pod: &Node) -> Vec<String> {
    let own = anti_affinity(pod).iter().filter(|term| repels(one, term, one));
    let keys = own.filter_map(|term| text_at(term, &["topologyKey"]));
    keys.filter(|key| *key != HOST).map(str::to_owned).collect()
}

fn anti_affinity(pod: &Node) -> &[Node] {
    let path = ["affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
    items_at(pod, &path)
}

/// Whether a term of `one` selects the pods of `other`.
fn repels(one: &Read<'_>, term: &Node, other: &Read<'_>) -> bool {
    let is_near = match items_at(term, &["namespaces"]) {
        [] => other.namespace == one.namespace,
        named => named.iter().any(|name| name.as_str() == Some(&other.namespace)),
    };
    is_near && Selector::new(term.get("labelSelector")).matches(&other.labels)
}

/// The smallest `maxSkew` of the spreads by host that must hold for these pods.
fn host_skew(pod: &Node, labels: &Labels<'_>) -> Option<u64> {
    let must_hold = |spread: &&Node| {
        let when = text_at(spread, &["whenUnsatisfiable"]).unwrap_or("DoNotSchedule");
        when == "DoNotSchedule"
            && text_at(spread, &["topologyKey"]) == Some(HOST)
            && Selector::new(spread.get("labelSelector")).matches(labels)
    };
    let spreads = items_at(pod, &["topologySpreadConstraints"]).iter().filter(must_hold);
    spreads.filter_map(|spread| int_at(spread, &["maxSkew"])).map(unsigned).min()
}
