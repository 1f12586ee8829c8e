//! `surge-cannot-fit`: the pod that a roll adds first may have nowhere to go.

use super::context::Context;
use super::finding::{Finding, Severity, Spot};
use super::model::selector::Selector;
use super::model::workload::{RollingUpdate, Strategy, Workload, WorkloadKind};
use super::model::{int_at, items_at, text_at};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("surge-cannot-fit"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let deployments = context.workloads.iter().filter(|w| w.kind == WorkloadKind::Deployment);
    deployments.filter_map(|deployment| judge(context, deployment)).collect()
}

/// Only a roll that takes no pod away before the new one is ready needs room for one more.
fn judge(context: &Context<'_>, deployment: &Workload<'_>) -> Option<Finding> {
    let replicas = deployment.replicas();
    let Strategy::RollingUpdate(RollingUpdate { surge, unavailable: 0 }) =
        deployment.strategy(replicas)
    else {
        return None;
    };
    if replicas == 0 {
        return None;
    }
    let (spot, why) = one_per_node(deployment)
        .filter(|_| context.settings.nodes.is_none_or(|nodes| nodes < replicas + surge.max(1)))
        .map(|(spot, why)| {
            let nodes = match context.settings.nodes {
                Some(nodes) => format!("there are {nodes}"),
                None => "how many there are is not known".to_owned(),
            };
            let needed = replicas + surge.max(1);
            (
                spot,
                format!(
                    "{why}: {needed} nodes are needed for {replicas} + {surge} pods, and {nodes}"
                ),
            )
        })
        .or_else(|| too_large(context, deployment, surge))?;
    let message = format!(
        "the surge pod of a roll of {} may find no place, so that the roll never ends; {why}",
        deployment.shown()
    );
    let is_known = context.settings.nodes.is_some();
    let severity = if is_known { CHECK.severity } else { Severity::Note };
    Some(context.finding(&CHECK, &spot, message).graded(severity))
}

/// What keeps two pods of `deployment` from sharing a node.
fn one_per_node<'a>(deployment: &Workload<'a>) -> Option<(Spot<'a>, String)> {
    let affinity =
        ["affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
    for term in items_at(deployment.pod, &affinity) {
        let selects_itself = Selector::new(term.get("labelSelector")).matches(&deployment.labels);
        let is_by_node = text_at(term, &["topologyKey"]) == Some("kubernetes.io/hostname");
        if selects_itself && is_by_node {
            let spot = deployment.pod_spot(&affinity);
            return Some((spot, "its required anti-affinity allows one pod a node".to_owned()));
        }
    }
    for container in deployment.containers() {
        for port in items_at(container.node, &["ports"]) {
            let number = int_at(port, &["hostPort"]).or_else(|| {
                deployment.uses_host_network().then(|| int_at(port, &["containerPort"])).flatten()
            });
            if let Some(number) = number.filter(|number| *number > 0) {
                let why = format!("port {number} of the node can be taken once");
                return Some((container.spot(&["ports"]), why));
            }
        }
    }
    None
}

/// Whether all pods of the render and the surge ask for more than all nodes have.
fn too_large<'a>(
    context: &Context<'a>,
    deployment: &Workload<'a>,
    surge: i64,
) -> Option<(Spot<'a>, String)> {
    let nodes = context.settings.nodes? as f64;
    let size = context.settings.node_size;
    let sizes = [("cpu", size.cpu_cores), ("memory", size.memory_bytes)];
    for (resource, per_node) in sizes {
        let Some(per_node) = per_node else { continue };
        let scaled = context.workloads.iter().filter(|workload| workload.is_scaled());
        let running: f64 = scaled.map(|w| w.request(resource) * w.replicas() as f64).sum();
        let wanted = running + deployment.request(resource) * surge.max(1) as f64;
        if wanted > nodes * per_node {
            let why = format!(
                "with it the pods of this overlay request {} of {resource}, and {nodes} nodes have {}",
                shown_amount(resource, wanted),
                shown_amount(resource, nodes * per_node),
            );
            return Some((deployment.pod_spot(&["containers"]), why));
        }
    }
    None
}

fn shown_amount(resource: &str, amount: f64) -> String {
    match resource {
        "cpu" => format!("{:.0}m", amount * 1000.0),
        _ => format!("{:.0}Mi", amount / 1_048_576.0),
    }
}
