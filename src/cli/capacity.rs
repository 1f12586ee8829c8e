//! `overlay capacity`.

use clap::Args;

use super::options::{OutputFormat, SeveralOverlays};
use crate::capacity::amounts::Amounts;
use crate::capacity::node::{NodeKind, quantity};
use crate::capacity::quota::Quota;
use crate::ops::capacity::CapacityRequest;

/// Size nodes for what overlays render: how many of each kind hold it, also when one is lost or a workload rolls.
#[derive(Clone, Debug, Args)]
pub(crate) struct CapacityArgs {
    #[command(flatten)]
    overlays: SeveralOverlays,

    /// A kind of node: memory=16GiB,cpu=4[,pods=110][,provider=tiered|gke|aks|eks][,purchased=…][,name=…][,price=…], where memory is what the kubelet sees; may be given again.
    #[arg(long = "node", value_name = "NODE", required = true, value_parser = parse_node)]
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
}

impl CapacityArgs {
    /// The request; `output` decides the form.
    pub(crate) fn to_request(&self, output: OutputFormat) -> CapacityRequest {
        CapacityRequest {
            overlays: self.overlays.all(),
            nodes: self.nodes.clone(),
            daemons: self.daemons,
            floor: usize::from(self.floor),
            quotas: self.quotas.clone(),
            wants_page: output.is_page(),
        }
    }
}

fn parse_node(text: &str) -> Result<NodeKind, String> {
    NodeKind::parse(text).map_err(|error| error.to_string())
}

fn parse_quota(text: &str) -> Result<Quota, String> {
    Quota::parse(text).map_err(|error| error.to_string())
}

fn parse_amounts(text: &str) -> Result<Amounts, String> {
    let mut amounts = Amounts::default();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let read = |part, parts| quantity(part, parts).map_err(|error| error.to_string());
        match part.split_once('=') {
            Some(("memory", value)) => amounts.bytes = read(("memory", value), 1.0)?,
            Some(("cpu", value)) => amounts.millicores = read(("cpu", value), 1000.0)?,
            _ => return Err(format!("`{part}`: expected memory=… or cpu=…")),
        }
    }
    Ok(amounts)
}
