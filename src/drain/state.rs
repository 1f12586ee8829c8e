//! What is read of a cluster: nodes, pods, budgets, volumes, databases, as `kubectl get -o json` prints them.
//!
//! Names go into commands that people run, so a name that Kubernetes would not take is refused here.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::pod::{Pod, WorkloadId};
use super::scale::{Controllers, Scale, Scaler, WORKLOADS, controllers};
use crate::capacity::amounts::Amounts;
use crate::capacity::demand::{amounts_at, count_at};
use crate::capacity::eligible::{Face, Taint};
use crate::capacity::extras::{Extras, node_extras};
use crate::capacity::quantities::{BadQuantity, bad_at, bad_in_pod};
use crate::checks::model::amount::Amount;
use crate::checks::model::budget::Rule;
use crate::checks::model::selector::Selector;
use crate::checks::model::{int_at, is_true, items_at, text_at, texts_at};
use crate::kustomize::node::Node;

/// A node.
#[derive(Clone, Debug)]
pub struct ClusterNode {
    /// Name, labels and taints.
    pub face: Face,
    /// What its kubelet sees: `status.capacity`.
    pub seen: Amounts,
    /// What it has for pods: `status.allocatable`.
    pub allocatable: Amounts,
    /// How many pods it takes.
    pub pods: u64,
    /// What else it has for pods.
    pub extras: Extras,
    /// Whether it is cordoned.
    pub is_cordoned: bool,
    /// Whether its kubelet says that it is ready.
    pub is_ready: bool,
    /// What the provider calls it: `spec.providerID`.
    pub provider_id: Option<String>,
}

/// A PersistentVolumeClaim with what its volume says.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its volume, once it is bound.
    pub volume: Option<String>,
    /// Whether only one node at a time may use it.
    pub is_for_one_node: bool,
    /// `nodeSelectorTerms` of the volume's node affinity; `None` where any node will do.
    pub terms: Option<Vec<Node>>,
    /// Whether the data lies on a node's own disk.
    pub is_local: bool,
}

/// A PodDisruptionBudget.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// How many pods it keeps.
    pub rule: Rule,
    selector: Option<Node>,
}

/// A VolumeAttachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The volume.
    pub volume: String,
    /// The node.
    pub node: String,
    /// Whether it is there, and not only wanted.
    pub is_attached: bool,
    /// What went wrong with it.
    pub error: Option<String>,
}

/// A Cluster of CloudNativePG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Instances asked for.
    pub instances: i64,
    /// Instances that are ready, where the status says so.
    pub ready: Option<i64>,
    /// The pod that is the primary.
    pub primary: Option<String>,
}

/// The whole.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The nodes, by name.
    pub nodes: Vec<ClusterNode>,
    /// The pods, by namespace and name.
    pub pods: Vec<Pod>,
    /// The claims; pods hold their positions.
    pub claims: Vec<Claim>,
    /// The budgets.
    pub budgets: Vec<Budget>,
    /// What is attached where.
    pub attachments: Vec<Attachment>,
    /// The databases.
    pub databases: Vec<Database>,
    /// How many pods workloads are asked for, and have.
    pub scales: BTreeMap<WorkloadId, Scale>,
    /// What an autoscaler scales.
    pub autoscaled: BTreeMap<WorkloadId, Scaler>,
    /// Names of certificate requests that nobody has answered.
    pub pending_requests: Vec<String>,
    /// Kinds of which nothing was read, though a cluster may have some: those that a dump may lack because nobody asked for them.
    pub unseen: Vec<&'static str>,
}

/// Why something is no state of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The document is no list of objects.
    #[error("no List of objects, as `kubectl get … -o json` prints it: {0}")]
    NoList(&'static str),
    /// A name that Kubernetes would not take.
    #[error("item {item}: `{name}` is no name of a {kind}")]
    BadName {
        /// The position in the list, from 1.
        item: usize,
        /// The kind of the object.
        kind: String,
        /// The name.
        name: String,
    },
    /// What a node has or a pod asks for is no quantity.
    #[error("{kind}/{name}: {bad}")]
    BadQuantity {
        /// The kind of the object.
        kind: String,
        /// Its name.
        name: String,
        /// The quantity.
        bad: BadQuantity,
    },
    /// There is no node in it.
    #[error("there is no Node in it")]
    NoNodes,
    /// More objects than are reckoned with.
    #[error("more than {MOST_OBJECTS} objects")]
    TooMany,
}

/// The most objects that are looked at.
pub const MOST_OBJECTS: usize = 200_000;

/// The objects of a `List`, or of several in one array.
///
/// # Errors
/// [`StateError::NoList`] for any other document.
pub fn objects_of(document: Json) -> Result<Vec<Json>, StateError> {
    let Json::Object(mut document) = document else {
        return Err(StateError::NoList("it is no JSON object"));
    };
    match document.remove("items") {
        Some(Json::Array(items)) => Ok(items),
        _ => Err(StateError::NoList("it has no `items`")),
    }
}

impl State {
    /// Reads the objects; those of kinds that do not matter here are passed over.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn read(objects: &[Json]) -> Result<Self, StateError> {
        if objects.len() > MOST_OBJECTS {
            return Err(StateError::TooMany);
        }
        let mut of_kind: BTreeMap<String, Vec<Node>> = BTreeMap::new();
        for (at, object) in objects.iter().enumerate() {
            let kind = object["kind"].as_str().unwrap_or_default();
            let group = object["apiVersion"].as_str().unwrap_or_default();
            let group = group.split_once('/').map_or("", |(group, _)| group);
            if !KINDS.contains(&(group, kind)) {
                continue;
            }
            require_names(at + 1, kind, object)?;
            let object = Node::from_json(object);
            require_quantities(kind, &object)?;
            of_kind.entry(kind.to_owned()).or_default().push(object);
        }
        let all = |kind: &str| of_kind.get(kind).map(Vec::as_slice).unwrap_or_default();
        let nodes = all("Node").iter().map(read_node).collect();
        let mut state = Self { nodes, ..Self::default() };
        if state.nodes.is_empty() {
            return Err(StateError::NoNodes);
        }
        state.nodes.sort_by(|a, b| a.face.name.cmp(&b.face.name));
        let volumes: BTreeMap<&str, &Node> =
            all("PersistentVolume").iter().map(|volume| (name(volume), volume)).collect();
        let claims = all("PersistentVolumeClaim").iter();
        state.claims = claims.map(|claim| read_claim(claim, &volumes)).collect();
        state.budgets = all("PodDisruptionBudget").iter().map(read_budget).collect();
        state.attachments = all("VolumeAttachment").iter().map(read_attachment).collect();
        state.databases = all("Cluster").iter().map(read_database).collect();
        state.pending_requests = all("CertificateSigningRequest")
            .iter()
            .filter(|request| items_at(request, &["status", "conditions"]).is_empty())
            .map(|request| name(request).to_owned())
            .collect();
        let controllers = controllers(all("ReplicaSet"));
        state.read_scales(&of_kind, &controllers);
        state.pods = all("Pod").iter().map(|pod| Pod::read(pod, &state, &controllers)).collect();
        state.pods.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        Ok(state)
    }

    fn read_scales(&mut self, of_kind: &BTreeMap<String, Vec<Node>>, controllers: &Controllers) {
        for kind in WORKLOADS {
            for object in of_kind.get(kind).into_iter().flatten() {
                let id = WorkloadId::of(kind, object);
                let is_part = kind == "ReplicaSet"
                    && controllers
                        .get(&(id.namespace.clone(), id.name.clone()))
                        .is_some_and(Option::is_some);
                if !is_part {
                    self.scales.insert(id, Scale::read(object));
                }
            }
        }
        for database in &self.databases {
            let id = WorkloadId {
                namespace: database.namespace.clone(),
                kind: "Cluster".to_owned(),
                name: database.name.clone(),
            };
            self.scales.insert(id, Scale::of_database(database.instances, database.ready));
        }
        let scalers = of_kind.get("HorizontalPodAutoscaler").into_iter().flatten();
        self.autoscaled.extend(scalers.filter_map(Scaler::read));
    }

    /// Where the node of that name is.
    #[must_use]
    pub fn find_node(&self, name: &str) -> Option<usize> {
        self.nodes.binary_search_by(|node| node.face.name.as_str().cmp(name)).ok()
    }

    /// Where the claim of that name is.
    #[must_use]
    pub fn find_claim(&self, namespace: &str, name: &str) -> Option<usize> {
        self.claims.iter().position(|claim| claim.namespace == namespace && claim.name == name)
    }

    /// The database whose instance this pod is.
    #[must_use]
    pub fn database_of(&self, pod: &Pod) -> Option<&Database> {
        let id = pod.workload()?;
        let is_it = |database: &&Database| {
            id.kind == "Cluster" && database.namespace == id.namespace && database.name == id.name
        };
        self.databases.iter().find(is_it)
    }

    /// The pods of a workload that are meant to run, by position.
    #[must_use]
    pub fn pods_of(&self, id: &WorkloadId) -> Vec<usize> {
        let is_one = |pod: &Pod| pod.workload() == Some(id) && !pod.is_over();
        (0..self.pods.len()).filter(|at| is_one(&self.pods[*at])).collect()
    }

    /// The budgets that select a pod, by position.
    #[must_use]
    pub fn budgets_of(&self, pod: &Pod) -> Vec<usize> {
        let labels = pod.labels();
        let selects = |budget: &Budget| {
            pod.namespace == budget.namespace
                && Selector::new(budget.selector.as_ref()).matches(&labels)
        };
        (0..self.budgets.len()).filter(|at| selects(&self.budgets[*at])).collect()
    }

    /// What a budget comes to now.
    #[must_use]
    pub fn allowance(&self, budget: &Budget) -> Allowance {
        let pods: Vec<&Pod> =
            self.pods.iter().filter(|pod| !pod.is_over() && budget.selects(pod)).collect();
        let mut owners: Vec<&WorkloadId> = pods.iter().filter_map(|pod| pod.workload()).collect();
        owners.sort();
        owners.dedup();
        let counted = i64::try_from(pods.len()).unwrap_or(i64::MAX);
        let of_owner = |id: &WorkloadId| match self.scales.get(id) {
            Some(scale) => scale.wanted,
            None => pods.iter().filter(|pod| pod.workload() == Some(id)).count() as i64,
        };
        let scale: i64 = owners.iter().map(|id| of_owner(id)).sum();
        let expected = if budget.counts_pods() { counted } else { scale };
        let healthy = pods.iter().filter(|pod| pod.is_ready && !pod.is_terminating).count() as i64;
        let desired = budget.rule.desired(expected);
        Allowance { expected, healthy, desired }
    }
}

/// What a budget comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The pods that there should be.
    pub expected: i64,
    /// The pods that are ready.
    pub healthy: i64,
    /// The pods that must stay; `None` for numbers that the API refuses.
    pub desired: Option<i64>,
}

impl Allowance {
    /// How many may be evicted now; none where the controller fails.
    #[must_use]
    pub fn allowed(self) -> i64 {
        let desired = self.desired.unwrap_or(i64::MAX);
        if self.expected <= 0 { 0 } else { (self.healthy - desired).max(0) }
    }

    /// Whether no eviction is ever allowed, though all pods are well.
    #[must_use]
    pub fn blocks_for_good(self) -> bool {
        self.desired.is_none_or(|desired| desired >= self.expected)
    }
}

impl Budget {
    /// Whether it selects a pod.
    #[must_use]
    pub fn selects(&self, pod: &Pod) -> bool {
        pod.namespace == self.namespace
            && Selector::new(self.selector.as_ref()).matches(&pod.labels())
    }

    /// Whether it counts the pods that there are, and not those that there should be.
    fn counts_pods(&self) -> bool {
        matches!(self.rule.min_available, Some(Amount::Count(_)))
    }
}

/// The kinds that are read, with their groups.
pub const KINDS: [(&str, &str); 14] = [
    ("", "Node"),
    ("", "Pod"),
    ("", "PersistentVolume"),
    ("", "PersistentVolumeClaim"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("argoproj.io", "Rollout"),
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("policy", "PodDisruptionBudget"),
    ("postgresql.cnpg.io", "Cluster"),
    ("storage.k8s.io", "VolumeAttachment"),
    ("certificates.k8s.io", "CertificateSigningRequest"),
];

/// Names of these go into commands.
fn require_names(item: usize, kind: &str, object: &Json) -> Result<(), StateError> {
    if kind == "CertificateSigningRequest" {
        return Ok(());
    }
    for field in ["name", "namespace"] {
        let name = object["metadata"][field].as_str();
        if name.is_none() && field == "namespace" {
            continue;
        }
        let name = name.unwrap_or_default();
        if !is_name(name) {
            let (kind, name) = (kind.to_owned(), name.to_owned());
            return Err(StateError::BadName { item, kind, name });
        }
    }
    Ok(())
}

/// A number that is none is not taken for nothing.
fn require_quantities(kind: &str, object: &Node) -> Result<(), StateError> {
    let bad = match kind {
        "Node" => {
            let lists = ["allocatable", "capacity"];
            lists.iter().find_map(|list| bad_at(object, &["status", list], ""))
        }
        "Pod" => object.get("spec").and_then(bad_in_pod),
        _ => None,
    };
    match bad {
        Some(bad) => {
            let (kind, name) = (kind.to_owned(), name(object).to_owned());
            Err(StateError::BadQuantity { kind, name, bad })
        }
        None => Ok(()),
    }
}

/// A DNS subdomain of RFC 1123, which names of all these objects are.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let is_part = |part: &str| {
        let is_end = |c: Option<u8>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        part.bytes().all(|c| c.is_ascii_digit() || c.is_ascii_lowercase() || c == b'-')
            && is_end(part.bytes().next())
            && is_end(part.bytes().next_back())
    };
    text.len() <= 253 && text.split('.').all(is_part)
}

/// `metadata.name`.
pub(super) fn name(object: &Node) -> &str {
    text_at(object, &["metadata", "name"]).unwrap_or_default()
}

/// `metadata.namespace`; `default` where there is none.
pub(super) fn namespace(object: &Node) -> &str {
    text_at(object, &["metadata", "namespace"]).unwrap_or("default")
}

/// Labels of an object.
pub(super) fn labels(object: &Node) -> BTreeMap<String, String> {
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    texts_at(object, &["metadata", "labels"]).into_iter().map(owned).collect()
}

/// The status of a condition.
pub(super) fn condition<'a>(object: &'a Node, kind: &str) -> Option<&'a Node> {
    let conditions = items_at(object, &["status", "conditions"]);
    conditions.iter().find(|condition| text_at(condition, &["type"]) == Some(kind))
}

fn read_node(object: &Node) -> ClusterNode {
    let taint = |taint: &Node| {
        let field = |name| text_at(taint, &[name]).unwrap_or_default().to_owned();
        Taint { key: field("key"), value: field("value"), effect: field("effect") }
    };
    let taints = items_at(object, &["spec", "taints"]).iter().map(taint).collect();
    let status = condition(object, "Ready").and_then(|ready| text_at(ready, &["status"]));
    ClusterNode {
        face: Face { name: name(object).to_owned(), labels: labels(object), taints },
        seen: amounts_at(object, &["status", "capacity"]),
        allocatable: amounts_at(object, &["status", "allocatable"]),
        pods: count_at(object, &["status", "allocatable", "pods"]).unwrap_or(110),
        extras: node_extras(object),
        is_cordoned: is_true(object, &["spec", "unschedulable"]),
        is_ready: status == Some("True"),
        provider_id: text_at(object, &["spec", "providerID"]).map(str::to_owned),
    }
}

fn read_claim(object: &Node, volumes: &BTreeMap<&str, &Node>) -> Claim {
    let bound = text_at(object, &["spec", "volumeName"]).filter(|name| !name.is_empty());
    let volume = bound.and_then(|name| volumes.get(name)).copied();
    let modes = |object: &Node| -> Vec<String> {
        let modes = items_at(object, &["spec", "accessModes"]).iter();
        modes.filter_map(|mode| mode.as_str().map(str::to_owned)).collect()
    };
    let modes = volume.map_or_else(|| modes(object), modes);
    let is_shared = |mode: &String| mode == "ReadWriteMany" || mode == "ReadOnlyMany";
    let path = ["spec", "nodeAffinity", "required"];
    let required = volume.and_then(|volume| volume.lookup(&path));
    let local = |field| volume.is_some_and(|volume| volume.lookup(&["spec", field]).is_some());
    Claim {
        namespace: namespace(object).to_owned(),
        name: name(object).to_owned(),
        volume: bound.map(str::to_owned),
        is_for_one_node: !modes.iter().any(is_shared),
        terms: required.map(|required| items_at(required, &["nodeSelectorTerms"]).to_vec()),
        is_local: local("local") || local("hostPath"),
    }
}

fn read_budget(object: &Node) -> Budget {
    Budget {
        namespace: namespace(object).to_owned(),
        name: name(object).to_owned(),
        rule: Rule::read(object),
        selector: object.lookup(&["spec", "selector"]).cloned(),
    }
}

fn read_attachment(object: &Node) -> Attachment {
    let error = |field: &str| text_at(object, &["status", field, "message"]).map(str::to_owned);
    Attachment {
        volume: text_at(object, &["spec", "source", "persistentVolumeName"])
            .unwrap_or_default()
            .to_owned(),
        node: text_at(object, &["spec", "nodeName"]).unwrap_or_default().to_owned(),
        is_attached: is_true(object, &["status", "attached"]),
        error: error("attachError").or_else(|| error("detachError")),
    }
}

fn read_database(object: &Node) -> Database {
    Database {
        namespace: namespace(object).to_owned(),
        name: name(object).to_owned(),
        instances: int_at(object, &["spec", "instances"]).unwrap_or(1),
        ready: int_at(object, &["status", "readyInstances"]),
        primary: text_at(object, &["status", "currentPrimary"]).map(str::to_owned),
    }
}
