//! What is read of a cluster: nodes, pods, budgets, volumes, databases, as `kubectl get -o json` prints them.
//!
//! Names go into commands that people run, so a name that Kubernetes would not take is refused here.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::budget::Budget;
use super::kin::Kin;
use super::objects::{
    is_unanswered, labels, name, read_attachment, read_claim, read_database, read_node,
    require_names, require_quantities,
};
use super::pod::{Pod, WorkloadId};
use super::scale::{Controllers, Scale, Scaler, WORKLOADS, controllers};
use crate::capacity::amounts::Amounts;
use crate::capacity::eligible::Face;
use crate::capacity::extras::Extras;
use crate::capacity::quantities::BadQuantity;
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
    /// The labels of namespaces, where they were read.
    pub namespaces: BTreeMap<String, BTreeMap<String, String>>,
    /// Names of certificate requests that nobody has answered.
    pub pending_requests: Vec<String>,
    /// Which of them belong together.
    pub(super) kin: Kin,
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
        state.budgets = all("PodDisruptionBudget").iter().map(Budget::read).collect();
        state.attachments = all("VolumeAttachment").iter().map(read_attachment).collect();
        state.databases = all("Cluster").iter().map(read_database).collect();
        state.pending_requests = all("CertificateSigningRequest")
            .iter()
            .filter(|request| is_unanswered(request))
            .map(|request| name(request).to_owned())
            .collect();
        let labelled = |namespace| (name(namespace).to_owned(), labels(namespace));
        state.namespaces = all("Namespace").iter().map(labelled).collect();
        let controllers = controllers(all("ReplicaSet"));
        state.read_scales(&of_kind, &controllers);
        state.pods = all("Pod").iter().map(|pod| Pod::read(pod, &state, &controllers)).collect();
        state.pods.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        state.kin = Kin::of(&state);
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

    /// What finds the labels of a namespace; its name is one of them even where it was not read (the API server sees to that).
    pub(super) fn namespace_label<'a>(
        &'a self,
        namespace: &'a str,
    ) -> impl Fn(&str) -> Option<&'a str> {
        let labels = self.namespaces.get(namespace);
        move |key| match key {
            NAME_OF_NAMESPACE => Some(namespace),
            _ => labels?.get(key).map(String::as_str),
        }
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
}

/// The label of a namespace that is its name.
pub(super) const NAME_OF_NAMESPACE: &str = "kubernetes.io/metadata.name";

/// The kinds that are read, with their groups.
pub const KINDS: [(&str, &str); 15] = [
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
    ("", "Namespace"),
];
