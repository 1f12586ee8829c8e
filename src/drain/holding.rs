//! What the nodes of a cluster hold, whether one of them can be lost, and what its pods ask for together.

use std::collections::BTreeMap;

use super::board::Board;
use super::pod::{Owner, Pod, WorkloadId};
use super::state::State;
use crate::capacity::amounts::Amounts;
use crate::capacity::demand::{Demand, DemandError};
use crate::kustomize::node::{Map, Node};
use crate::kustomize::origin::Origin;
use crate::kustomize::scope::Scopes;
use crate::kustomize::{Resource, ResourceId};

/// A pod on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// `namespace/name`.
    pub name: String,
    /// What makes it anew on any node that will do.
    pub workload: Option<WorkloadId>,
    /// What it asks for.
    pub request: Amounts,
    /// Whether a drain moves it: daemons stay.
    pub moves: bool,
}

impl Held {
    /// The pods on a node.
    #[must_use]
    pub fn on(state: &State, node: usize) -> Vec<Self> {
        let here = state.pods.iter().filter(|pod| pod.node == Some(node) && !pod.is_over());
        let held = |pod: &Pod| Self {
            name: pod.shown(),
            workload: pod.workload().cloned(),
            request: pod.request,
            moves: pod.moves(),
        };
        here.map(held).collect()
    }
}

/// One node and what is on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Its name.
    pub name: String,
    /// The provider's kind of it: the label `node.kubernetes.io/instance-type`.
    pub kind: Option<String>,
    /// Its zone.
    pub zone: Option<String>,
    /// Whether it is ready and not cordoned.
    pub is_open: bool,
    /// What the kubelet sees.
    pub seen: Amounts,
    /// What is left for pods.
    pub allocatable: Amounts,
    /// What its daemons ask for.
    pub daemons: Amounts,
    /// What all its pods ask for.
    pub used: Amounts,
    /// The pods on it.
    pub pods: Vec<Held>,
    /// The pods that would find no place on the others if it were lost, `namespace/name`.
    pub homeless: Vec<String>,
}

/// The nodes of a cluster and what is on them, by name.
#[must_use]
pub fn holdings(state: &State) -> Vec<Holding> {
    let mut board = Board::new(state.clone());
    (0..state.nodes.len()).map(|node| holding(state, &mut board, node)).collect()
}

fn holding(state: &State, board: &mut Board, node: usize) -> Holding {
    let homeless = board.homeless_without(node, |pod| pod.owner != Owner::Nobody);
    let known = &state.nodes[node];
    let here = || state.pods.iter().filter(|pod| pod.node == Some(node) && !pod.is_over());
    let label = |key: &str| known.face.labels.get(key).cloned();
    Holding {
        name: known.face.name.clone(),
        kind: label("node.kubernetes.io/instance-type"),
        zone: label("topology.kubernetes.io/zone"),
        is_open: known.is_ready && !known.is_cordoned,
        seen: known.seen,
        allocatable: known.allocatable,
        daemons: here().filter(|pod| is_daemon(pod)).map(|pod| pod.request).sum(),
        used: here().map(|pod| pod.request).sum(),
        pods: Held::on(state, node),
        homeless: homeless.iter().map(|pod| state.pods[*pod].shown()).collect(),
    }
}

fn is_daemon(pod: &Pod) -> bool {
    matches!(pod.owner, Owner::Daemon | Owner::Kubelet)
}

/// What the pods of a cluster ask for, workload by workload; its daemons as the node with most of them has them.
///
/// # Errors
/// [`DemandError`].
pub fn demand(state: &State) -> Result<Demand, DemandError> {
    let moving = state.pods.iter().filter(|pod| !is_daemon(pod) && !pod.is_over());
    let mut alike: BTreeMap<(String, Amounts), (u64, &Pod)> = BTreeMap::new();
    for pod in moving {
        let name = pod.workload().map_or_else(|| pod.shown(), ToString::to_string);
        alike.entry((name, pod.request)).or_insert((0, pod)).0 += 1;
    }
    let alike: Vec<(u64, &Pod)> = alike.into_values().collect();
    let resources: Vec<Resource> = alike.iter().map(|(_, pod)| as_resource(pod)).collect();
    let mut demand = Demand::of(&resources)?;
    for (at, (count, pod)) in alike.iter().enumerate() {
        demand.sets[at].count = *count;
        demand.groups[at].count = *count;
        if let Some(id) = pod.workload() {
            let owner = &mut demand.sets[at].owner;
            *owner = ResourceId {
                kind: id.kind.as_str().into(),
                name: id.name.as_str().into(),
                ..owner.clone()
            };
        }
        let claims = pod.claims.iter().map(|claim| &state.claims[*claim]);
        demand.sets[at].places = claims.filter_map(|claim| claim.terms.clone()).collect();
    }
    let on = |node: usize| {
        let here = state.pods.iter().filter(|pod| pod.node == Some(node) && is_daemon(pod));
        here.fold((Amounts::default(), 0), |(sum, count), pod| (sum + pod.request, count + 1))
    };
    let most = (0..state.nodes.len()).map(on).max_by_key(|(sum, _)| (sum.bytes, sum.millicores));
    (demand.daemons, demand.daemon_pods) = most.unwrap_or_default();
    Ok(demand)
}

/// A pod as a rendered object, as far as it says what it asks for.
fn as_resource(pod: &Pod) -> Resource {
    let text = |text: &str| Node::string(text, Origin::NONE);
    let mut labels = Map::new();
    pod.labels.iter().for_each(|(key, value)| labels.push(key.as_str(), text(value)));
    let mut metadata = Map::new();
    metadata.push("name", text(&pod.name));
    metadata.push("namespace", text(&pod.namespace));
    metadata.push("labels", Node::map(labels, Origin::NONE));
    let mut object = Map::new();
    object.push("apiVersion", text("v1"));
    object.push("kind", text("Pod"));
    object.push("metadata", Node::map(metadata, Origin::NONE));
    object.push("spec", pod.spec.clone());
    Resource::new(Node::map(object, Origin::NONE), Scopes::builtin())
}
