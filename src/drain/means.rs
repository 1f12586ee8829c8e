//! By which means each pod leaves its node: the drain, a second replica before it, or a deletion past the budgets.
//!
//! Sources: Kubernetes `pkg/registry/core/pod/storage/eviction.go` (more than one budget on a pod: the eviction fails for
//! good; no disruption allowed: it is refused until there is), kubectl `pkg/drain/filters.go` (pods of nobody),
//! CloudNativePG `pkg/specs/poddisruptionbudget.go` (of its own budgets that of the primary alone never allows an eviction).

use std::collections::BTreeSet;

use super::plan::Databases;
use super::pod::{Owner, Pod, WorkloadId};
use super::rules::{BuiltIn, Rules};
use super::scale::Scaler;
use super::state::State;

/// How a pod leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Means {
    /// It does not: it stays, or is nobody's concern.
    None,
    /// The drain evicts it.
    Drain,
    /// It is deleted before the drain, for this reason.
    Delete(String),
    /// It is the one instance of a database, deleted by hand.
    Database,
}

/// A change in git that lets pods be evicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raise {
    /// What gets more replicas.
    pub workload: WorkloadId,
    /// The autoscaler that decides how many there are.
    pub autoscaler: Option<Scaler>,
    /// How many there are.
    pub from: i64,
    /// How many there have to be.
    pub to: i64,
    /// Why: a part of a sentence.
    pub because: String,
    /// A pod that the new ones are like.
    pub like: usize,
}

/// The means of every pod, and the changes in git that they need.
#[must_use]
pub fn means_of(
    state: &State,
    old: &[usize],
    rules: &Rules,
    databases: Databases,
) -> (Vec<Means>, Vec<Raise>) {
    let mut raises: Vec<Raise> = Vec::new();
    let old: BTreeSet<usize> = old.iter().copied().collect();
    let means = (0..state.pods.len())
        .map(|at| {
            let pod = &state.pods[at];
            let is_held = pod.node.is_some_and(|node| old.contains(&node));
            if !is_held || !pod.moves() {
                return Means::None;
            }
            let single = is_single_database(state, pod);
            if single && databases == Databases::ByReplica && state.budgets_of(at).len() < 2 {
                raises.extend(second_instance(state, at));
                return Means::Drain;
            }
            let by_hand = if single && rules.has(BuiltIn::DatabasesLast) {
                Some(Means::Database)
            } else {
                None
            };
            by_hand.unwrap_or_else(|| means_by_budgets(state, at, &mut raises))
        })
        .collect();
    (means, raises)
}

/// Whether a pod is the one instance of a database.
#[must_use]
pub fn is_single_database(state: &State, pod: &Pod) -> bool {
    match state.database_of(pod) {
        Some(database) => database.instances == 1,
        None => {
            let id = pod.workload();
            pod.labels.contains_key("cnpg.io/cluster")
                && id.is_some_and(|id| id.kind == "Cluster" && state.pods_of(id).len() == 1)
        }
    }
}

fn second_instance(state: &State, at: usize) -> Option<Raise> {
    let workload = state.pods[at].workload()?.clone();
    let because =
        "the budget of its one instance would hold the drain for ever, and a second one can take over"
            .to_owned();
    Some(Raise { workload, autoscaler: None, from: 1, to: 2, because, like: at })
}

fn means_by_budgets(state: &State, at: usize, raises: &mut Vec<Raise>) -> Means {
    let pod = &state.pods[at];
    if pod.owner == Owner::Nobody {
        return Means::Delete(
            "nothing makes it anew, and `kubectl drain` refuses such pods".into(),
        );
    }
    match *state.budgets_of(at) {
        [] => Means::Drain,
        [one] if is_of_primary(state, at, one) => means_of_former_primary(state, at),
        [one] => means_by_budget(state, at, one, raises),
        ref several => several_budgets(state, several),
    }
}

fn several_budgets(state: &State, several: &[usize]) -> Means {
    let names: Vec<&str> =
        several.iter().map(|budget| state.budgets[*budget].name.as_str()).collect();
    Means::Delete(format!(
        "the budgets {} both select it, so that every eviction of it fails",
        names.join(" and ")
    ))
}

/// Whether a budget guards a pod only while it is the primary of several instances: the operator makes another instance the
/// primary once the node is cordoned, and the budget lets go of the pod.
fn is_of_primary(state: &State, at: usize, guard: usize) -> bool {
    let pod = &state.pods[at];
    state.database_of(pod).is_some_and(|database| database.instances > 1)
        && ROLES.iter().any(|role| pod.labels.get(*role).is_some_and(|is| is == "primary"))
        && !state.budgets[guard].selects(&as_replica(pod))
}

/// The means of a primary by the budgets that guard it when it is one no more.
fn means_of_former_primary(state: &State, at: usize) -> Means {
    let replica = as_replica(&state.pods[at]);
    let guards: Vec<usize> = (0..state.budgets.len())
        .filter(|budget| state.budgets[*budget].selects(&replica))
        .collect();
    match *guards {
        [] => Means::Drain,
        [one] if state.allowance(one).blocks_for_good() => {
            let budget = &state.budgets[one];
            let (name, rule) = (&budget.name, budget.rule.shown());
            Means::Delete(format!(
                "when the operator has made another instance the primary, the budget {name} ({rule}) never allows its eviction"
            ))
        }
        [_] => Means::Drain,
        ref several => several_budgets(state, several),
    }
}

/// A primary when another instance has taken its role.
fn as_replica(pod: &Pod) -> Pod {
    let mut replica = pod.clone();
    let roles = ROLES.iter().filter(|role| pod.labels.contains_key(**role));
    replica.labels.extend(roles.map(|role| ((*role).to_owned(), "replica".to_owned())));
    replica
}

/// The labels by which the operator of CloudNativePG tells roles, the old one and the new.
const ROLES: [&str; 2] = ["role", "cnpg.io/instanceRole"];

fn means_by_budget(state: &State, at: usize, guard: usize, raises: &mut Vec<Raise>) -> Means {
    if state.passes_by(at, guard) || !state.allowance(guard).blocks_for_good() {
        return Means::Drain;
    }
    let budget = &state.budgets[guard];
    let because = format!("the budget {} ({})", budget.name, budget.rule.shown());
    match raise(state, at, guard, &format!("{because} would hold the drain for ever")) {
        Some(raise) => {
            if !raises.iter().any(|known| known.workload == raise.workload) {
                raises.push(raise);
            }
            Means::Drain
        }
        None if state.database_of(&state.pods[at]).is_some() => Means::Delete(format!(
            "{because} never allows an eviction of an instance of its database; the operator makes it anew"
        )),
        None => Means::Delete(format!("{because} never allows an eviction")),
    }
}

/// The fewest replicas with which the budget allows an eviction, where more may run at once.
fn raise(state: &State, at: usize, guard: usize, because: &str) -> Option<Raise> {
    let pod = &state.pods[at];
    let may_surge = |id: &&WorkloadId| ["Deployment", "Rollout"].contains(&id.kind.as_str());
    let workload = pod.workload().filter(may_surge)?.clone();
    let is_bound = |claim: &usize| state.claims[*claim].is_for_one_node;
    if pod.claims.iter().any(is_bound) {
        return None;
    }
    let now = i64::try_from(state.pods_of(&workload).len()).ok()?;
    let from = state.scales.get(&workload).map_or(now, |scale| scale.wanted);
    let expected = state.allowance(guard).expected;
    let lets_go = |to: &i64| {
        let expected = expected + to - from;
        state.budgets[guard].rule.desired(expected).is_some_and(|desired| desired < expected)
    };
    let to = (from + 1..=from + MOST_MORE).find(lets_go)?;
    let autoscaler = state.autoscaled.get(&workload).cloned();
    Some(Raise { workload, autoscaler, from, to, because: because.to_owned(), like: at })
}

/// The most replicas that are added for a budget's sake.
const MOST_MORE: i64 = 3;
