//! `overlay drain-plan`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::cluster::ClusterArgs;
use super::options::{OutputFormat, TypedDuration};
use crate::capacity::node::NodeKind;
use crate::capacity::quota::Quota;
use crate::drain::Databases;
use crate::ops::drain_plan::DrainPlanRequest;
use crate::report::drain::Form;

/// Plan the emptying of nodes, step by step, as commands for people; nothing is done to the cluster.
#[derive(Clone, Debug, Args)]
pub(crate) struct DrainPlanArgs {
    /// The nodes to empty; else those of `drain` in `.overlay.yaml`.
    #[arg(long, value_name = "NODE,…", value_delimiter = ',')]
    nodes: Vec<String>,

    /// The labels by which the nodes to empty are known, such as node.kubernetes.io/instance-type=small.
    #[arg(long, value_name = "SELECTOR")]
    selector: Option<String>,

    /// How many new nodes there are to be in the end; those that have not joined are part of the plan.
    #[arg(long = "new", value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    new_nodes: Option<u64>,

    /// What a new node is, where none has joined yet: as in `overlay capacity`.
    #[arg(long = "node", value_name = "NODE", value_parser = super::capacity::parse_node)]
    kind: Option<NodeKind>,

    /// What the provider grants: ports=12,used=12; with too little for all new nodes the plan has two waves. May be given again.
    #[arg(long = "quota", value_name = "QUOTA", value_parser = super::capacity::parse_quota)]
    quotas: Vec<Quota>,

    /// The overlay that the commands of this program name.
    #[arg(long, value_name = "OVERLAY", default_value = "OVERLAY", hide_default_value = true)]
    overlay: String,

    /// How the one instance of a CloudNativePG database is moved: its pod deleted by hand, or with a second instance for the while.
    #[arg(long, value_name = "HOW", default_value = "by-hand")]
    databases: DatabasesChoice,

    /// How long one drain may take.
    #[arg(long, value_name = "DUR", default_value = "420s", value_parser = timeout)]
    drain_timeout: TypedDuration,

    /// How long one wait may take.
    #[arg(long, value_name = "DUR", default_value = "300s", value_parser = timeout)]
    wait_timeout: TypedDuration,

    /// Say how far it has come instead: what is next, and what is not as it should be.
    #[arg(long)]
    progress: bool,

    /// With --progress: the dump from before anything moved, by which the order is reckoned and old trouble known.
    #[arg(long, value_name = "FILE", requires = "progress")]
    before: Option<PathBuf>,

    #[command(flatten)]
    cluster: ClusterArgs,
}

/// `--databases`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DatabasesChoice {
    /// Its pod is deleted, after all else; it is away until it is back.
    ByHand,
    /// A second instance is added in git before and taken away after.
    Replica,
}

impl DrainPlanArgs {
    /// The request.
    pub(crate) fn to_request(&self, output: OutputFormat) -> DrainPlanRequest {
        let seconds = |duration: &TypedDuration| format!("{}s", duration.length.as_secs());
        DrainPlanRequest {
            access: self.cluster.to_access(),
            nodes: self.nodes.clone(),
            selector: self.selector.clone(),
            new_nodes: self.new_nodes,
            kind: self.kind.clone(),
            quotas: self.quotas.clone(),
            overlay: self.overlay.clone(),
            drain_timeout: self.drain_timeout.length.as_secs(),
            wait_timeout: seconds(&self.wait_timeout),
            databases: match self.databases {
                DatabasesChoice::ByHand => Databases::ByHand,
                DatabasesChoice::Replica => Databases::ByReplica,
            },
            asks_progress: self.progress,
            before: self.before.clone(),
            form: match output {
                OutputFormat::Markdown => Form::Markdown,
                output if output.is_page() => Form::Page,
                _ => Form::Plain,
            },
        }
    }
}

/// A time of at least a second: kubectl takes 0 for no end, or for no wait at all.
fn timeout(text: &str) -> Result<TypedDuration, String> {
    let duration = TypedDuration::parse(text)?;
    match duration.length.as_secs() {
        0 => Err("less than a second is no time to wait: kubectl takes 0 for no end".to_owned()),
        _ => Ok(duration),
    }
}
