//! `set resources`: requests and limits of a container, compared, with the class of service that they
//! give.

use super::Resolved;
use super::error::{LeverError, LeverErrorKind};
use super::target::{find, shown, workload_of};
use crate::change::{SetResources, Wish};
use crate::checks::context::Context;
use crate::checks::model::container::Container;
use crate::checks::model::quantity::parse_quantity;
use crate::checks::model::workload::Workload;
use crate::kustomize::node::Node;
use crate::kustomize::{Resource, path_of_field};
use crate::shell;
use std::collections::BTreeMap;

pub(super) fn resolve(
    change: &SetResources,
    context: &Context<'_>,
) -> Result<Resolved, LeverError> {
    let mut resolved = Resolved::default();
    let found = find(context, &change.name, |r| Workload::new(r).is_some(), no_containers);
    let Some(resource) = resolved.keep(&shown(&change.name), found)? else { return Ok(resolved) };
    let Some(workload) = workload_of(context, resource) else { return Ok(resolved) };
    let containers = workload.all_containers();
    let container = choose(change, workload, &containers)?;
    for (name, _) in change.requests.iter().chain(&change.limits) {
        check_name(name)?;
        check_extended(name, change, container)?;
    }
    check(change, container)?;
    for (field, wanted) in [("requests", &change.requests), ("limits", &change.limits)] {
        for (name, quantity) in wanted {
            let query = format!("{}.resources.{field}.[{name}]", container.path);
            let path = path_of_field(&resource.node, &query)
                .map_err(|e| LeverError::new(LeverErrorKind::NoSuchField, e.to_string()))?;
            let now = path.find(&resource.node).and_then(Node::as_str);
            let is_so = now.is_some_and(|now| parse_quantity(now) == parse_quantity(quantity));
            if !is_so {
                resolved.wishes.push(Wish::set(resource.current_id(), path, quantity.as_str()));
            }
        }
    }
    note_class(change, workload, container, &mut resolved);
    Ok(resolved)
}

fn no_containers(other: &Resource) -> LeverError {
    let message = format!("{}/{} has no containers", other.kind(), other.name());
    LeverError::new(LeverErrorKind::WrongKind, message)
}

fn choose<'c, 'a>(
    change: &SetResources,
    workload: &Workload<'_>,
    containers: &'c [Container<'a>],
) -> Result<&'c Container<'a>, LeverError> {
    let names: Vec<&str> = containers.iter().map(|c| c.name()).collect();
    let fits = |c: &&Container<'_>| change.container.as_deref().is_none_or(|n| n == c.name());
    let mut fitting = containers.iter().filter(fits);
    match (fitting.next(), fitting.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => {
            let message = format!("{} has no such container", workload.shown());
            let error = LeverError::new(LeverErrorKind::NoSuchField, message);
            Err(error.hint(format!("there are: {}", names.join(", "))))
        }
        _ => {
            let message = format!("{} has several containers", workload.shown());
            let error = LeverError::new(LeverErrorKind::Ambiguous, message);
            let names: Vec<_> = names.into_iter().map(shell::word).collect();
            Err(error.hint(format!("name one with --container: {}", names.join(", "))))
        }
    }
}

/// The quantities of `field` as they will be.
fn after<'x>(
    container: &Container<'x>,
    field: &str,
    wanted: &'x [(String, String)],
) -> BTreeMap<&'x str, &'x str> {
    let stated = crate::checks::model::texts_at(container.node, &["resources", field]);
    let mut all: BTreeMap<&str, &str> = stated.into_iter().collect();
    all.extend(wanted.iter().map(|(name, quantity)| (&**name, &**quantity)));
    all
}

/// The resources of a container that stand without a domain before them.
const STANDARD: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// A name without a domain that is none of Kubernetes' own is refused by the API server (core validation,
/// `ValidateContainerResourceName`).
fn check_name(name: &str) -> Result<(), LeverError> {
    if name.contains('/') || is_standard(name) {
        return Ok(());
    }
    let message = format!("{name} is no resource that a container has");
    let error = LeverError::new(LeverErrorKind::NotAllowed, message);
    Err(error.hint("there are cpu, memory, ephemeral-storage, hugepages-SIZE and DOMAIN/NAME"))
}

fn is_standard(name: &str) -> bool {
    STANDARD.contains(&name) || name.starts_with("hugepages-")
}

/// What a device plugin counts is not shared: a request needs a limit of the same whole number (core validation,
/// `ValidateResourceRequirements`).
fn check_extended(
    name: &str,
    change: &SetResources,
    container: &Container<'_>,
) -> Result<(), LeverError> {
    if is_standard(name) {
        return Ok(());
    }
    let not_allowed = |message| Err(LeverError::new(LeverErrorKind::NotAllowed, message));
    let requests = after(container, "requests", &change.requests);
    let limits = after(container, "limits", &change.limits);
    let amount = |of: &BTreeMap<&str, &str>| of.get(name).and_then(|text| parse_quantity(text));
    let (request, limit) = (amount(&requests), amount(&limits));
    if [request, limit].iter().flatten().any(|amount| amount.fract() != 0.0) {
        return not_allowed(format!("{}: {name} is counted in whole numbers", container.name()));
    }
    if request.is_some() && request != limit {
        let message = format!(
            "{}: {name} is not shared: its request and its limit have to be the same",
            container.name()
        );
        return not_allowed(message);
    }
    Ok(())
}

/// A request above its limit is refused by the API server.
fn check(change: &SetResources, container: &Container<'_>) -> Result<(), LeverError> {
    let limits = after(container, "limits", &change.limits);
    for (name, request) in after(container, "requests", &change.requests) {
        let Some(limit) = limits.get(name) else { continue };
        if let (Some(asked), Some(most)) = (parse_quantity(request), parse_quantity(limit))
            && asked > most
        {
            let message = format!(
                "{}: the request {name}={request} is above its limit {limit}",
                container.name()
            );
            return Err(LeverError::new(LeverErrorKind::NotAllowed, message));
        }
    }
    Ok(())
}

/// The class of service of this container alone (`core/v1/helper/qos`).
fn note_class(
    change: &SetResources,
    workload: &Workload<'_>,
    container: &Container<'_>,
    resolved: &mut Resolved,
) {
    let class = |requests: &BTreeMap<&str, &str>, limits: &BTreeMap<&str, &str>| {
        let is_guaranteed = ["cpu", "memory"].iter().all(|name| {
            let limit = limits.get(name).and_then(|text| parse_quantity(text));
            let request = requests.get(name).map_or(limit, |text| parse_quantity(text));
            limit.is_some() && limit == request
        });
        match (is_guaranteed, requests.is_empty() && limits.is_empty()) {
            (true, _) => "Guaranteed",
            (_, true) => "BestEffort",
            _ => "Burstable",
        }
    };
    let before = class(&after(container, "requests", &[]), &after(container, "limits", &[]));
    let requests = after(container, "requests", &change.requests);
    let now = class(&requests, &after(container, "limits", &change.limits));
    if before != now {
        let message =
            format!("{} {}: class of service {before} → {now}", workload.shown(), container.name());
        resolved.note("qos", message);
    }
    let total: Vec<String> = requests.iter().map(|(name, text)| format!("{name} {text}")).collect();
    let pods = workload.pods_at_most();
    if !total.is_empty() && pods > 0 {
        let message = format!(
            "{} {}: each of up to {pods} pods during a roll requests {}",
            workload.shown(),
            container.name(),
            total.join(", ")
        );
        resolved.note("requests", message);
    }
}
