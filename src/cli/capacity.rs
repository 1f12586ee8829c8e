//! `overlay capacity`.

use std::ffi::OsString;

use clap::Args;

use super::cluster::ClusterArgs;
use super::options::OutputFormat;
use crate::capacity::amounts::Amounts;
use crate::capacity::node::{NodeKind, quantity, size};
use crate::capacity::quota::Quota;
use crate::ops::capacity::CapacityRequest;
use crate::ops::cluster::ClusterAccess;

/// Size nodes for what overlays render: how many of each kind hold it, also when one is lost or a workload rolls.
#[derive(Clone, Debug, Args)]
pub(crate) struct CapacityArgs {
    /// The overlays: directories, kustomization files in them, or quoted patterns such as 'overlays/*'; none for what runs in a cluster.
    #[arg(value_name = "OVERLAY")]
    overlays: Vec<OsString>,

    /// One more overlay; may be given again.
    #[arg(long = "overlay", value_name = "OVERLAY")]
    more: Vec<OsString>,

    /// A kind of node: memory=16GiB,cpu=4[,pods=110][,provider=tiered|gke|aks|eks][,purchased=…][,name=…][,price=…][,labels=KEY:VALUE+…][,taints=KEY:VALUE:EFFECT+…], where memory is what the kubelet sees; may be given again.
    #[arg(long = "node", value_name = "NODE", required_unless_present_any = ["from_cluster", "from"], value_parser = parse_node)]
    nodes: Vec<NodeKind>,

    /// What runs on every node and is in none of the overlays: memory=340MiB[,cpu=200m].
    #[arg(long, value_name = "AMOUNTS", default_value = "", hide_default_value = true, value_parser = parse_amounts)]
    daemons: Amounts,

    /// The fewest nodes, for redundancy.
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u16).range(1..=1000))]
    floor: u16,

    /// What the provider grants: cores=10,used=6; memory, ports, volumes or any other word alike, with per=N for what one node takes; may be given again.
    #[arg(long = "quota", value_name = "QUOTA", value_parser = parse_quota)]
    quotas: Vec<Quota>,

    /// Look at the nodes of a cluster and what they hold; read only.
    #[arg(long, conflicts_with = "from")]
    from_cluster: bool,

    #[command(flatten)]
    cluster: ClusterArgs,
}

impl CapacityArgs {
    /// The request; `output` decides the form.
    pub(crate) fn to_request(&self, output: OutputFormat) -> CapacityRequest {
        CapacityRequest {
            overlays: self.overlays.iter().chain(&self.more).cloned().collect(),
            nodes: self.nodes.clone(),
            daemons: self.daemons,
            floor: usize::from(self.floor),
            quotas: self.quotas.clone(),
            wants_page: output.is_page(),
            cluster: access(self.from_cluster, &self.cluster),
        }
    }
}

/// The cluster that is looked at, where one is.
fn access(is_asked: bool, cluster: &ClusterArgs) -> Option<ClusterAccess> {
    let access = cluster.to_access();
    (is_asked || access != ClusterAccess::default()).then_some(access)
}

pub(crate) fn parse_node(text: &str) -> Result<NodeKind, String> {
    NodeKind::parse(text).map_err(|error| error.to_string())
}

pub(crate) fn parse_quota(text: &str) -> Result<Quota, String> {
    Quota::parse(text).map_err(|error| error.to_string())
}

fn parse_amounts(text: &str) -> Result<Amounts, String> {
    let mut amounts = Amounts::default();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let read = match part.split_once('=') {
            Some(("memory", value)) => {
                let read = size(("memory", value), 64 << 10, "MiB");
                read.map(|bytes| amounts.bytes = bytes)
            }
            Some(("cpu", value)) => {
                let read = quantity(("cpu", value), 1000.0);
                read.map(|millicores| amounts.millicores = millicores)
            }
            _ => return Err(format!("`{part}`: expected memory=… or cpu=…")),
        };
        read.map_err(|error| error.to_string())?;
    }
    Ok(amounts)
}
