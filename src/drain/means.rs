//! By which means each pod leaves its node: the drain, a second replica before it, or a deletion past the budgets.
//!
//! Sources: Kubernetes `pkg/registry/core/pod/storage/eviction.go` (more than one budget on a pod: the eviction fails for
//! good; no disruption allowed: it is refused until there is), kubectl `pkg/drain/filters.go` (pods of nobody).

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
    /// The budget that asks for it, with its rule.
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
        "the one instance is guarded by a budget, and a second one can take over".to_owned();
    Some(Raise { workload, autoscaler: None, from: 1, to: 2, because, like: at })
}

fn means_by_budgets(state: &State, at: usize, raises: &mut Vec<Raise>) -> Means {
    let pod = &state.pods[at];
    if pod.owner == Owner::Nobody {
        return Means::Delete(
            "nothing makes it anew, and `kubectl drain` refuses such pods".into(),
        );
    }
    match state.budgets_of(at) {
        [] => Means::Drain,
        [one] => means_by_budget(state, at, *one, raises),
        several => {
            let names: Vec<&str> =
                several.iter().map(|budget| state.budgets[*budget].name.as_str()).collect();
            Means::Delete(format!(
                "the budgets {} both select it, so that every eviction of it fails",
                names.join(" and ")
            ))
        }
    }
}

fn means_by_budget(state: &State, at: usize, guard: usize, raises: &mut Vec<Raise>) -> Means {
    let pod = &state.pods[at];
    if state.passes_by(at, guard) || !state.allowance(guard).blocks_for_good() {
        return Means::Drain;
    }
    // The primary of several instances is moved away by the operator.
    if state.database_of(pod).is_some_and(|database| database.instances > 1) {
        return Means::Drain;
    }
    let budget = &state.budgets[guard];
    let because = format!("the budget {} ({})", budget.name, budget.rule.shown());
    match raise(state, at, guard, &because) {
        Some(raise) => {
            if !raises.iter().any(|known| known.workload == raise.workload) {
                raises.push(raise);
            }
            Means::Drain
        }
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
