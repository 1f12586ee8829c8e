//! `overlay capacity`: how many nodes of which kind hold what overlays render.

use std::ffi::OsString;

use super::Context;
use super::cluster::ClusterAccess;
use super::overlay::LoadedOverlay;
use super::preflight::Editable;
use crate::capacity::amounts::Amounts;
use crate::capacity::demand::{Demand, DemandError, NEEDS_LABEL, PodSet};
use crate::capacity::node::NodeKind;
use crate::capacity::quota::Quota;
use crate::capacity::resilience::{Demands, size};
use crate::drain;
use crate::error::{Error, codes};
use crate::kustomize::Resource;
use crate::report::Report;
use crate::report::capacity::{Capacity, Offer};
use crate::shell;

/// What the user asks of `overlay capacity`.
#[derive(Clone, Debug)]
pub struct CapacityRequest {
    /// The overlays.
    pub overlays: Vec<OsString>,
    /// The kinds of node to size for.
    pub nodes: Vec<NodeKind>,
    /// What runs on every node and is in none of the overlays.
    pub daemons: Amounts,
    /// The fewest nodes.
    pub floor: usize,
    /// What the provider grants.
    pub quotas: Vec<Quota>,
    /// Whether the result is wanted as a page.
    pub wants_page: bool,
    /// The cluster whose nodes and pods are looked at, where one is.
    pub cluster: Option<ClusterAccess>,
}

/// Sizes each kind of node for all overlays together.
///
/// # Errors
/// Where an overlay is not found, does not build, or renders more pods than are reckoned with, or a request that is none.
pub fn run(context: &Context, request: &CapacityRequest) -> Result<Report, Error> {
    if request.overlays.is_empty() && request.cluster.is_none() {
        return Err(Error::new(codes::USAGE, "nothing is named that asks for room")
            .hint("name an OVERLAY, or the pods of a cluster with --from-cluster or --from FILE"));
    }
    let state = request
        .cluster
        .as_ref()
        .map(|cluster| super::drain_plan::read_state(&*cluster.open(context)?));
    let state = state.transpose()?;
    let (mut overlays, mut notes) = (Vec::new(), Vec::new());
    let mut demand = match &state {
        Some((state, _)) if request.overlays.is_empty() => drain::demand(state),
        _ => Demand::of(&render(context, request, &mut overlays, &mut notes)?),
    }
    .map_err(|error| match &error {
        DemandError::TooManyPods(_) => Error::new(codes::NOT_ALLOWED, error.to_string()),
        DemandError::BadQuantity { .. } => Error::new(codes::QUANTITY_INVALID, error.to_string()),
    })?;
    if request.nodes.iter().all(|kind| kind.face.is_some()) {
        demand.notes.retain(|(_, note)| !note.contains(NEEDS_LABEL));
    }
    notes.extend(demand.notes.iter().map(|(number, note)| match overlays.as_slice() {
        [] | [_] => note.clone(),
        // Of several overlays a note tells the one whose resource it is about.
        several => {
            let before = several.iter().take_while(|(_, end)| *end <= *number).count();
            format!("{}: {note}", several[before.min(several.len() - 1)].0)
        }
    }));
    let sets = demand.sets.iter().filter(|set| set.count > 1);
    notes.extend(sets.filter_map(|set| apart_unknown(set, &request.nodes)));
    let overlays: Vec<String> = overlays.into_iter().map(|(path, _)| path).collect();
    let offers = request.nodes.iter().map(|kind| offer(kind, &demand, request)).collect();
    let mut holdings = Vec::new();
    if let Some((state, unread)) = state {
        notes.extend(unread);
        holdings = drain::holdings(&state);
    }
    let capacity = Capacity { overlays, demand, offers, holdings, notes };
    #[cfg_attr(not(feature = "templates"), allow(unused_mut))]
    let mut report = Report::unchanged("capacity", capacity.to_json(), capacity.to_text());
    #[cfg(feature = "templates")]
    if request.wants_page {
        report.data = Some(capacity.to_page()?);
    }
    report.error = capacity.has_no_answer().then(|| {
        let message = "no number of nodes of any kind that is named holds it";
        Error::new(codes::CAPACITY_NONE, message)
    });
    Ok(report)
}

/// A note on pods that keep apart by a label which not every kind of node is told to have.
fn apart_unknown(set: &PodSet, kinds: &[NodeKind]) -> Option<String> {
    let is_told = |key: &String| {
        kinds
            .iter()
            .all(|kind| kind.face.as_ref().is_some_and(|face| face.labels.contains_key(key)))
    };
    let key = set.apart_by.iter().find(|key| !kinds.is_empty() && !is_told(key))?;
    let owner = &set.owner;
    Some(format!(
        "{}/{}: that its pods keep apart by {key} is not reckoned: tell kinds of node by {}",
        owner.kind,
        owner.name,
        shell::word(&format!("labels={key}:…"))
    ))
}

/// What the overlays render, and of each its path and where what it renders ends.
fn render(
    context: &Context,
    request: &CapacityRequest,
    overlays: &mut Vec<(String, usize)>,
    notes: &mut Vec<String>,
) -> Result<Vec<Resource>, Error> {
    let (files, located) = context.locate(&request.overlays)?;
    let mut resources = Vec::new();
    for overlay in located {
        let overlay = Editable::load(context, &files, overlay)?;
        let overlay = LoadedOverlay::load(&files, &overlay, context)?;
        let unknown = overlay.unknown.iter();
        notes
            .extend(unknown.map(|base| format!("{}: unknown is what {base} brings", overlay.path)));
        resources.extend(overlay.before.resources.iter().cloned());
        overlays.push((overlay.path.clone(), resources.len()));
    }
    Ok(resources)
}

fn offer(kind: &NodeKind, demand: &Demand, request: &CapacityRequest) -> Offer {
    let (demand, elsewhere) = match &kind.face {
        Some(face) => demand.on(face),
        None => (demand.clone(), Vec::new()),
    };
    let daemons = demand.daemons + request.daemons;
    let room = kind.room(daemons, demand.daemon_pods);
    let demands =
        Demands { floor: request.floor, survives_loss: true, surges: demand.surges.clone() };
    let is_empty = demand.total().0 == 0 && !elsewhere.is_empty();
    let sized = size(&demand.groups, room, &demands).map_err(|too_big| {
        let sets = demand.sets.iter().filter(|set| !set.is_daemon);
        let owner = sets.map(|set| &set.owner).nth(too_big.group);
        let owner = owner.map(|owner| format!("{}/{}", owner.kind, owner.name));
        format!("a pod of {} is larger than what one node has left", owner.unwrap_or_default())
    });
    let sized = match is_empty {
        true => Err("none of the pods may be on nodes of this kind".to_owned()),
        false => sized,
    };
    let more = |quota: &Quota| (quota.name.clone(), quota.more_nodes(kind));
    let quotas = request.quotas.iter().map(more).collect();
    Offer { kind: kind.clone(), daemons, usable: room.free, sized, quotas, elsewhere }
}
