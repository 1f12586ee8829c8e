//! `set strategy`: a Deployment, StatefulSet or DaemonSet in its own terms, and what a roll comes to at
//! its number of replicas.

use super::Resolved;
use super::error::{LeverError, LeverErrorKind};
use super::target::{among, find, shown, workload_of};
use crate::change::{Groups, PodAmount, SetStrategy, WantedStrategy, Wish};
use crate::checks::context::Context;
use crate::checks::model::amount::Amount;
use crate::checks::model::claim::Access;
use crate::checks::model::text_at;
use crate::checks::model::workload::{Strategy, Workload, WorkloadKind};
use crate::kustomize::{FieldPath, Resource};

pub(super) fn resolve(
    change: &SetStrategy,
    context: &Context<'_>,
    groups: &Groups,
) -> Result<Resolved, LeverError> {
    let mut resolved = Resolved::default();
    let mut chosen: Vec<&Workload<'_>> = Vec::new();
    for name in &change.names {
        let found = find(context, name, rolls, not_rolled);
        if let Some(resource) = resolved.keep(&shown(name), found)? {
            chosen.extend(workload_of(context, resource));
        }
    }
    let is_named = !change.names.is_empty();
    if !is_named {
        chosen = among(context, &change.among, groups, |w| rolls(w.resource))?.keep(&mut resolved);
    }
    for workload in chosen {
        if workload.is_scaled() && workload.replicas() == 0 && !is_named {
            resolved.note("held-off", format!("{} is off and left alone", workload.shown()));
            continue;
        }
        let wishes = wishes_for(change.wanted, context, workload)?;
        describe(context, workload, &wishes, &mut resolved);
        resolved.wishes.extend(wishes);
    }
    Ok(resolved)
}

fn rolls(resource: &Resource) -> bool {
    use WorkloadKind::{DaemonSet, Deployment, StatefulSet};
    Workload::new(resource).is_some_and(|w| matches!(w.kind, Deployment | StatefulSet | DaemonSet))
}

fn not_rolled(other: &Resource) -> LeverError {
    let message = format!("{}/{} is not rolled by a strategy", other.kind(), other.name());
    LeverError::new(LeverErrorKind::WrongKind, message)
}

fn wishes_for(
    wanted: WantedStrategy,
    context: &Context<'_>,
    workload: &Workload<'_>,
) -> Result<Vec<Wish>, LeverError> {
    match (wanted, workload.kind) {
        (WantedStrategy::Rolling { max_surge, max_unavailable }, _) => {
            rolling(context, workload, max_surge, max_unavailable)
        }
        (WantedStrategy::Recreate, WorkloadKind::Deployment) => Ok(recreate(workload)),
        (WantedStrategy::Recreate, _) => {
            let message = format!("{}: a {} knows no Recreate", workload.shown(), kind(workload));
            let error = LeverError::new(LeverErrorKind::WrongKind, message);
            Err(error.hint("its updateStrategy is RollingUpdate or OnDelete"))
        }
        (WantedStrategy::ZeroOutage, WorkloadKind::Deployment) => {
            Ok(zero_outage(context, workload))
        }
        (WantedStrategy::ZeroOutage, _) => keep_one_ready(context, workload),
    }
}

fn kind<'a>(workload: &Workload<'a>) -> &'a str {
    workload.resource.kind()
}

/// The field of the strategy of this kind.
fn field(workload: &Workload<'_>) -> &'static str {
    match workload.kind {
        WorkloadKind::Deployment => "strategy",
        _ => "updateStrategy",
    }
}

fn rolling_path(workload: &Workload<'_>, name: &str) -> FieldPath {
    FieldPath::of_keys(&["spec", field(workload), "rollingUpdate", name])
}

fn not_allowed(workload: &Workload<'_>, what: &str) -> LeverError {
    LeverError::new(LeverErrorKind::NotAllowed, format!("{}: {what}", workload.shown()))
}

fn rolling(
    context: &Context<'_>,
    workload: &Workload<'_>,
    surge: Option<PodAmount>,
    unavailable: Option<PodAmount>,
) -> Result<Vec<Wish>, LeverError> {
    if let (Some(_), WorkloadKind::StatefulSet) = (surge, workload.kind) {
        let message = format!("{}: a StatefulSet has no maxSurge", workload.shown());
        return Err(LeverError::new(LeverErrorKind::WrongKind, message));
    }
    let replicas = context.least_replicas(workload);
    for (name, amount) in [("maxSurge", surge), ("maxUnavailable", unavailable)] {
        check_amount(workload, name, amount, replicas)?;
    }
    check_both(workload, surge, unavailable)?;
    let id = workload.resource.current_id();
    let mut wishes = Vec::new();
    let type_path = FieldPath::of_keys(&["spec", field(workload), "type"]);
    let now = text_at(&workload.resource.node, &["spec", field(workload), "type"]);
    if now.is_some_and(|now| now != "RollingUpdate") {
        wishes.push(Wish::set(id.clone(), type_path, "RollingUpdate"));
    }
    for (name, amount) in [("maxSurge", surge), ("maxUnavailable", unavailable)] {
        if let Some(amount) = amount {
            wishes.push(Wish::set(id.clone(), rolling_path(workload, name), amount.to_json()));
        }
    }
    Ok(wishes)
}

fn check_amount(
    workload: &Workload<'_>,
    name: &str,
    amount: Option<PodAmount>,
    replicas: i64,
) -> Result<(), LeverError> {
    let is_counted = workload.is_scaled() && replicas > 0;
    match amount {
        Some(PodAmount::Percent(percent)) if percent > 100 => {
            Err(not_allowed(workload, &format!("{name} {percent}% is more than all")))
        }
        Some(PodAmount::Count(count)) if is_counted && count > replicas => {
            let s = if replicas == 1 { "" } else { "s" };
            let message = format!("{name} {count} is more than its {replicas} replica{s}");
            let error = not_allowed(workload, &message);
            let is_share = count <= 100;
            Err(if is_share { error.hint(format!("{count}% is a share")) } else { error })
        }
        _ => Ok(()),
    }
}

/// Both zero, the one that stays counted in (`apps/validation`: "0%" counts as zero).
fn check_both(
    workload: &Workload<'_>,
    surge: Option<PodAmount>,
    unavailable: Option<PodAmount>,
) -> Result<(), LeverError> {
    let stated = |name: &str| {
        let node = workload.resource.node.lookup(&["spec", field(workload), "rollingUpdate", name]);
        node.and_then(Amount::read)
    };
    let is_zero = |given: Option<PodAmount>, name: &str, default: bool| match given {
        Some(amount) => amount.is_zero(),
        None => stated(name).map_or(default, |amount| amount.is_zero()),
    };
    let default_surge_is_zero = workload.kind != WorkloadKind::Deployment;
    let both = is_zero(surge, "maxSurge", default_surge_is_zero)
        && is_zero(unavailable, "maxUnavailable", false);
    if both {
        let message = "maxSurge and maxUnavailable are both zero: the roll could not move";
        return Err(not_allowed(workload, message));
    }
    Ok(())
}

fn recreate(workload: &Workload<'_>) -> Vec<Wish> {
    let id = workload.resource.current_id();
    let type_path = FieldPath::of_keys(&["spec", "strategy", "type"]);
    let rolling = FieldPath::of_keys(&["spec", "strategy", "rollingUpdate"]);
    vec![Wish::set(id.clone(), type_path, "Recreate"), Wish::remove(id, rolling)]
}

/// One more pod before the old one goes, where a roll would take the last one; else nothing.
fn zero_outage(context: &Context<'_>, workload: &Workload<'_>) -> Vec<Wish> {
    let replicas = context.least_replicas(workload);
    let keeps_one = match workload.strategy(replicas) {
        Strategy::Recreate | Strategy::Invalid => false,
        Strategy::RollingUpdate(roll) => replicas - roll.unavailable >= 1,
    };
    if keeps_one || replicas == 0 {
        return Vec::new();
    }
    let id = workload.resource.current_id();
    let mut wishes = Vec::new();
    if workload.strategy(replicas) == Strategy::Recreate {
        let path = FieldPath::of_keys(&["spec", "strategy", "type"]);
        wishes.push(Wish::set(id.clone(), path, "RollingUpdate"));
    }
    wishes.push(Wish::set(id.clone(), rolling_path(workload, "maxSurge"), 1));
    wishes.push(Wish::set(id, rolling_path(workload, "maxUnavailable"), 0));
    wishes
}

/// A StatefulSet takes one pod down before its successor comes up; a DaemonSet has one for each node.
fn keep_one_ready(context: &Context<'_>, workload: &Workload<'_>) -> Result<Vec<Wish>, LeverError> {
    let is_single =
        workload.kind == WorkloadKind::StatefulSet && context.least_replicas(workload) == 1;
    if is_single {
        let message = "a StatefulSet of one pod has zero ready pods during every roll";
        return Err(not_allowed(workload, message).hint("give it a second replica first"));
    }
    Ok(Vec::new())
}

/// Says what the roll comes to with the wishes in place.
fn describe(
    context: &Context<'_>,
    workload: &Workload<'_>,
    wishes: &[Wish],
    resolved: &mut Resolved,
) {
    let replicas = context.least_replicas(workload);
    if workload.kind != WorkloadKind::Deployment {
        let least = (replicas - 1).max(0);
        let text = match workload.kind {
            WorkloadKind::StatefulSet => {
                format!("at {replicas}: at least {least} ready during a roll")
            }
            _ => "one pod for each node, rolled node by node".to_owned(),
        };
        return resolved.note("rollout", format!("{} {text}", workload.shown()));
    }
    let wished = |name: &str| {
        let path = rolling_path(workload, name);
        let wish = wishes.iter().find(|wish| wish.path == path)?;
        wish.value.as_ref().and_then(json_amount)
    };
    let sets_type =
        wishes.iter().find(|w| w.path == FieldPath::of_keys(&["spec", "strategy", "type"]));
    let type_after = sets_type.and_then(|wish| wish.value.as_ref()?.as_str());
    let is_recreate = match type_after {
        Some(text) => text == "Recreate",
        None => workload.strategy(replicas) == Strategy::Recreate,
    };
    if is_recreate {
        let message = format!(
            "{} at {replicas}: zero ready pods between the old and the new ones",
            workload.shown()
        );
        resolved.note("rollout", message);
        if !wishes.is_empty() {
            resolved.note("recreate-apply", RECREATE_APPLY);
        }
        return;
    }
    let amount = |name: &str| wished(name).unwrap_or_else(|| workload.rolling_value(name));
    note_rolling(context, workload, (amount("maxSurge"), amount("maxUnavailable")), resolved);
}

/// kubernetes/kubernetes#24198: the API server keeps the defaults that it wrote itself.
const RECREATE_APPLY: &str = "the render has no rollingUpdate any more, and with server-side apply the \
    API server keeps the one it defaulted and refuses Recreate: sync once with Replace=true, or \
    remove the field by hand";

fn json_amount(value: &serde_json::Value) -> Option<Amount> {
    match value.as_i64() {
        Some(count) => Some(Amount::Count(count)),
        None => value.as_str()?.strip_suffix('%')?.parse().ok().map(Amount::Percent),
    }
}

fn note_rolling(
    context: &Context<'_>,
    workload: &Workload<'_>,
    (surge, unavailable): (Amount, Amount),
    resolved: &mut Resolved,
) {
    use crate::checks::model::amount::Rounding;
    let replicas = context.least_replicas(workload);
    let surge = surge.of(replicas, Rounding::Up).unwrap_or(0);
    let unavailable = unavailable.of(replicas, Rounding::Down).unwrap_or(0);
    let unavailable = if surge == 0 && unavailable == 0 { 1 } else { unavailable.min(replicas) };
    let requests = requests_of(workload);
    let surge_pod = match (surge, requests.is_empty()) {
        (0, _) => String::new(),
        (_, true) => "; the surge pod states no requests".to_owned(),
        (_, false) => format!("; the surge pod requests {requests}"),
    };
    let ready = replicas - unavailable;
    let ready =
        if ready == 0 { "zero ready pods".to_owned() } else { format!("at least {ready} ready") };
    let shown = workload.shown();
    let most = replicas + surge;
    let s = if most == 1 { "" } else { "s" };
    let message = format!("{shown} at {replicas}: {ready}, at most {most} pod{s}{surge_pod}");
    resolved.note("rollout", message);
    let claims: Vec<&str> = workload.claims().map(|(name, _)| name).collect();
    let is_exclusive = |claim: &crate::checks::model::claim::Claim<'_>| {
        claims.contains(&claim.resource.name()) && claim.access == Access::OneNode
    };
    if surge > 0 && context.claims.iter().any(is_exclusive) {
        let message = format!(
            "{shown}: its volume can be mounted on one node only, so the surge pod may wait for ever"
        );
        resolved.note("claim-surge", message);
    }
}

fn requests_of(workload: &Workload<'_>) -> String {
    let cpu = workload.request("cpu");
    let memory = workload.request("memory");
    let mut parts = Vec::new();
    if cpu > 0.0 {
        parts.push(format!("{}m cpu", (cpu * 1000.0).round()));
    }
    if memory > 0.0 {
        parts.push(format!("{} MiB", (memory / 1_048_576.0 * 10.0).round() / 10.0));
    }
    parts.join(" and ")
}
