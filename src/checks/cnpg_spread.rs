//! `cnpg-spread`: the instances of a database do not fit on the nodes, or nothing keeps them apart.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::cluster::Cluster;
use super::model::text_at;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("cnpg-spread"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let clusters = context.clusters.iter().filter(|cluster| cluster.instances() > 1);
    clusters.filter_map(|cluster| judge(context, cluster)).collect()
}

fn judge(context: &Context<'_>, cluster: &Cluster<'_>) -> Option<Finding> {
    let (name, instances) = (cluster.name(), cluster.instances());
    let affinity = |field: &str| text_at(&cluster.resource.node, &["spec", "affinity", field]);
    let own = ["spec", "affinity", "additionalPodAntiAffinity"];
    let has_own = cluster.resource.node.lookup(&own).is_some();
    let spread = cluster.resource.node.lookup(&["spec", "topologySpreadConstraints"]);
    let nodes = context.settings.nodes;
    if affinity("enablePodAntiAffinity") == Some("false") && !has_own && spread.is_none() {
        let message = format!(
            "Cluster/{name} has {instances} instances and nothing that keeps them apart: one node may hold all of them"
        );
        let spot = cluster.spot(&["affinity", "enablePodAntiAffinity"]);
        return Some(context.finding(&CHECK, &spot, message));
    }
    let is_required = affinity("podAntiAffinityType") == Some("required");
    let is_by_node = affinity("topologyKey").is_none_or(|key| key == "kubernetes.io/hostname");
    let nodes = nodes.filter(|nodes| is_required && is_by_node && *nodes <= instances)?;
    let spot = cluster.spot(&["affinity", "podAntiAffinityType"]);
    let (severity, fate) = if nodes < instances {
        (Severity::Error, "an instance and the job that makes it stay Pending")
    } else {
        (Severity::Warning, "an instance has nowhere to go while its node is drained")
    };
    let message = format!(
        "Cluster/{name} wants its {instances} instances on {instances} nodes, and there are {nodes}: {fate}"
    );
    Some(context.finding(&CHECK, &spot, message).graded(severity))
}
