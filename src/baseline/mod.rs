//! The state of a cluster before a change, so that after it old trouble is not taken for new.
//!
//! Pure: live objects as plain JSON in, a [`Baseline`] out; two of them, a [`Comparison`]. What is wrong with an object is
//! said by `rollout`, as for `verify`; here it is only remembered under a name that outlives pods. Must not know files,
//! clusters or the clock. Secrets are no part of it.

mod compare;
mod trouble;

pub use compare::{AddressChange, ClaimChange, Comparison, Kept, Worse};

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rollout::{Snapshot, is_condition_true, items_at, name, namespace, text_at};

/// The kinds that are looked at: group and kind.
pub const KINDS: [(&str, &str); 8] = [
    ("", "Node"),
    ("", "Pod"),
    ("", "PersistentVolumeClaim"),
    ("", "Service"),
    ("argoproj.io", "Application"),
    ("external-secrets.io", "ExternalSecret"),
    ("cert-manager.io", "Certificate"),
    ("postgresql.cnpg.io", "Cluster"),
];

/// The version of the form that is written.
pub const VERSION: u32 = 1;

/// What was there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Baseline {
    /// The version of the form.
    pub baseline_version: u32,
    /// When it was recorded, as RFC 3339 writes it.
    pub recorded_at: String,
    /// Where from.
    pub source: String,
    /// The namespace it is limited to, if any.
    pub namespace: Option<String>,
    /// Kinds that could not be looked at.
    pub unseen: Vec<String>,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The addresses of Services of type LoadBalancer, by `NAMESPACE/NAME`.
    pub addresses: BTreeMap<String, Vec<String>>,
    /// The phases of CloudNativePG clusters, by `NAMESPACE/NAME`.
    pub databases: BTreeMap<String, String>,
    /// The volumes of claims, by `NAMESPACE/NAME`; empty where a claim has none.
    pub claims: BTreeMap<String, String>,
    /// The Argo CD Applications, as `NAMESPACE/NAME`.
    pub applications: BTreeSet<String>,
    /// How many pods are ready, by what made them: `Deployment/web (shop)`. Jobs are none of them: they come and go.
    pub workloads: BTreeMap<String, usize>,
    /// What was wrong.
    pub troubles: Vec<Trouble>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Whether it is ready.
    pub ready: bool,
    /// The version of its kubelet.
    pub version: String,
    /// The addresses that it is reached by from outside.
    pub external_ips: Vec<String>,
}

/// Something that was wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Trouble {
    /// Of which kind it is: two with the same kind, namespace and name are the same trouble.
    pub what: What,
    /// The kind of the object, or of what made a pod.
    pub kind: String,
    /// The namespace; empty where there is none.
    pub namespace: String,
    /// The name of the object, or of what made a pod.
    pub name: String,
    /// How many objects it concerns: pods of one Deployment are counted together.
    pub count: usize,
    /// What was said of it.
    pub detail: String,
}

/// The kinds of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A node is not ready.
    NodeNotReady,
    /// A node is short of something.
    NodePressure,
    /// Nothing new is placed on a node.
    NodeCordoned,
    /// Pods are not ready, or do not end.
    PodsNotReady,
    /// A claim has no volume.
    ClaimNotBound,
    /// A Service of type LoadBalancer has no address.
    NoAddress,
    /// A load balancer has lost an address that it had. Only a comparison knows it.
    AddressChanged,
    /// An Application is not Synced.
    NotSynced,
    /// An Application is not well.
    NotHealthy,
    /// An ExternalSecret has failed.
    SecretNotSynced,
    /// A Certificate is not ready.
    CertificateNotReady,
    /// A database is not settled.
    DatabaseNotSettled,
}

impl What {
    /// In words of its own, as in the file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NodeNotReady => "node-not-ready",
            Self::NodePressure => "node-pressure",
            Self::NodeCordoned => "node-cordoned",
            Self::PodsNotReady => "pods-not-ready",
            Self::ClaimNotBound => "claim-not-bound",
            Self::NoAddress => "no-address",
            Self::AddressChanged => "address-changed",
            Self::NotSynced => "not-synced",
            Self::NotHealthy => "not-healthy",
            Self::SecretNotSynced => "secret-not-synced",
            Self::CertificateNotReady => "certificate-not-ready",
            Self::DatabaseNotSettled => "database-not-settled",
        }
    }
}

impl Trouble {
    /// Whether both are the same trouble, be it smaller or larger.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.what == other.what
            && self.kind == other.kind
            && self.namespace == other.namespace
            && self.name == other.name
    }

    /// The kind of the objects that it was found by: pods stand under the name of what made them.
    fn kind_looked_at(&self) -> &str {
        match self.what {
            What::PodsNotReady => "Pod",
            _ => &self.kind,
        }
    }

    /// `Deployment/web (shop)`.
    #[must_use]
    pub fn shown(&self) -> String {
        shown(&self.kind, &self.namespace, &self.name)
    }
}

/// `Deployment/web (shop)`.
fn shown(kind: &str, namespace: &str, name: &str) -> String {
    match namespace {
        "" => format!("{kind}/{name}"),
        namespace => format!("{kind}/{name} ({namespace})"),
    }
}

/// Where and when a baseline is taken.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// When, as RFC 3339 writes it.
    pub recorded_at: String,
    /// The same in seconds since 1970.
    pub now: i64,
    /// Where from.
    pub source: String,
    /// The namespace it is limited to, if any.
    pub namespace: Option<String>,
    /// Kinds that could not be looked at.
    pub unseen: Vec<String>,
}

impl Baseline {
    /// Of what there is.
    #[must_use]
    pub fn of(snapshot: &Snapshot, origin: Origin) -> Self {
        let mut nodes: Vec<Node> = snapshot.all("", "Node").iter().map(Node::of).collect();
        nodes.sort_by(|a, b| a.name.cmp(&b.name));
        let services =
            snapshot.all("", "Service").iter().filter(|service| is_load_balancer(service));
        let databases = snapshot.all("postgresql.cnpg.io", "Cluster").iter();
        let phase = |cluster: &Value| text_at(cluster, "/status/phase").to_owned();
        let claims = snapshot.all("", "PersistentVolumeClaim").iter();
        let volume = |claim: &Value| text_at(claim, "/spec/volumeName").to_owned();
        Self {
            baseline_version: VERSION,
            troubles: trouble::all(snapshot, origin.now),
            recorded_at: origin.recorded_at,
            source: origin.source,
            namespace: origin.namespace,
            unseen: origin.unseen,
            nodes,
            addresses: services.map(|service| (place(service), addresses(service))).collect(),
            databases: databases.map(|cluster| (place(cluster), phase(cluster))).collect(),
            claims: claims.map(|claim| (place(claim), volume(claim))).collect(),
            applications: snapshot.all("argoproj.io", "Application").iter().map(place).collect(),
            workloads: workloads(snapshot),
        }
    }

    /// Whether something of that kind was recorded.
    fn has_any(&self, kind: &str) -> bool {
        let is_there = match kind {
            "Node" => !self.nodes.is_empty(),
            "Pod" => !self.workloads.is_empty(),
            "PersistentVolumeClaim" => !self.claims.is_empty(),
            "Service" => !self.addresses.is_empty(),
            "Application" => !self.applications.is_empty(),
            "Cluster" => !self.databases.is_empty(),
            _ => false,
        };
        is_there || self.troubles.iter().any(|trouble| trouble.kind_looked_at() == kind)
    }
}

impl Node {
    fn of(node: &Value) -> Self {
        let addresses = items_at(node, "/status/addresses").iter();
        let external = addresses.filter(|address| text_at(address, "/type") == "ExternalIP");
        let mut external_ips: Vec<String> =
            external.map(|address| text_at(address, "/address").to_owned()).collect();
        external_ips.sort();
        Self {
            name: name(node).to_owned(),
            ready: is_condition_true(node, "Ready"),
            version: text_at(node, "/status/nodeInfo/kubeletVersion").to_owned(),
            external_ips,
        }
    }
}

/// The pods that are ready, counted by what made them.
fn workloads(snapshot: &Snapshot) -> BTreeMap<String, usize> {
    let mut ready = BTreeMap::new();
    for pod in snapshot.all("", "Pod") {
        let (kind, owner) = trouble::owner(pod);
        if kind != "Job" && kind != "Pod" && is_condition_true(pod, "Ready") {
            *ready.entry(shown(&kind, namespace(pod), &owner)).or_default() += 1;
        }
    }
    ready
}

/// `NAMESPACE/NAME`.
fn place(object: &Value) -> String {
    format!("{}/{}", namespace(object), name(object))
}

fn is_load_balancer(service: &Value) -> bool {
    text_at(service, "/spec/type") == "LoadBalancer"
}

/// The addresses that a load balancer has, in order.
fn addresses(service: &Value) -> Vec<String> {
    let entries = items_at(service, "/status/loadBalancer/ingress").iter();
    let text = |entry: &Value| {
        let ip = text_at(entry, "/ip");
        if ip.is_empty() { text_at(entry, "/hostname").to_owned() } else { ip.to_owned() }
    };
    let mut all: Vec<String> = entries.map(text).filter(|text| !text.is_empty()).collect();
    all.sort();
    all
}
