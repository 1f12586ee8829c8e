//! `overlay set instances`.

use clap::Args;

use super::{parse_count, parse_name, usage};
use crate::change::{Change, SetInstances};
use crate::cli::edit::EditArgs;
use crate::error::Error;
use crate::ops::edit::EditRequest;

/// Set the number of instances of CloudNativePG Clusters, with the disruption budget that goes with it.
#[derive(Clone, Debug, Args)]
pub(crate) struct InstancesArgs {
    #[command(flatten)]
    pub(super) edit: EditArgs,

    /// CLUSTER=N: the Cluster gets N instances; a bare CLUSTER with --hibernate or --resume.
    #[arg(value_name = "CLUSTER=N", required = true)]
    counts: Vec<String>,

    /// At one instance turn the budget off, so that a node can be drained.
    #[arg(long)]
    allow_drain: bool,

    /// Put the databases to sleep: cnpg.io/hibernation is set to on.
    #[arg(long, conflicts_with = "resume")]
    hibernate: bool,

    /// Waken the databases: cnpg.io/hibernation is set to off.
    #[arg(long)]
    resume: bool,

    /// How many nodes the instances can be spread over.
    #[arg(long, value_name = "N")]
    nodes: Option<i64>,
}

impl InstancesArgs {
    /// The request.
    ///
    /// # Errors
    /// A malformed name or number.
    pub(crate) fn to_request(&self) -> Result<EditRequest, Error> {
        let sleeps = self.hibernate || self.resume;
        let parse = |text: &String| match text.contains('=') {
            true => parse_count(text).map(|(name, count)| (name, Some(count))),
            false if sleeps => parse_name(text).map(|name| (name, None)),
            false => Err(usage(format!("`{text}` has no number: write CLUSTER=N"))),
        };
        let named = self.counts.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        self.edit.to_request(Change::SetInstances(SetInstances {
            named,
            allow_drain: self.allow_drain,
            hibernate: sleeps.then_some(self.hibernate),
            nodes: self.nodes,
        }))
    }
}
