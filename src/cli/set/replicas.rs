//! `overlay set replicas`.

use clap::Args;

use super::{parse_count, usage};
use crate::change::{Among, Change, SetReplicas};
use crate::cli::edit::EditArgs;
use crate::error::{Error, codes};
use crate::ops::edit::EditRequest;

/// Set numbers of replicas where they are decided, and tell what disruption budgets allow then.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReplicasArgs {
    #[command(flatten)]
    pub(super) edit: EditArgs,

    /// NAME=N: the workload [KIND[.GROUP]/]NAME gets N replicas.
    #[arg(value_name = "NAME=N")]
    counts: Vec<String>,

    /// Every workload that is not at 0 gets N replicas.
    #[arg(long, value_name = "N")]
    all_at: Option<i64>,

    /// With --all-at: only the workloads whose labels this selects.
    #[arg(long, value_name = "SELECTOR", requires = "all_at")]
    selector: Option<String>,

    /// With --all-at: only the workloads of this group of `.overlay.yaml`.
    #[arg(long, value_name = "GROUP", requires = "all_at")]
    group: Option<String>,

    /// Turn on a workload that is held at 0.
    #[arg(long)]
    turn_on: bool,

    /// Turn on a workload though an image of it is not pinned.
    #[arg(long)]
    allow_unpinned: bool,

    /// Write a number that a HorizontalPodAutoscaler or a ScaledObject owns.
    #[arg(long)]
    override_owner: bool,
}

impl ReplicasArgs {
    /// The request.
    ///
    /// # Errors
    /// A malformed name or number, or nothing to set.
    pub(crate) fn to_request(&self) -> Result<EditRequest, Error> {
        let named: Vec<_> = self.counts.iter().map(|t| parse_count(t)).collect::<Result<_, _>>()?;
        if named.is_empty() && self.all_at.is_none() {
            return Err(usage("nothing to set: no NAME=N and no --all-at N"));
        }
        let numbers = named.iter().map(|(_, count)| *count).chain(self.all_at);
        if let Some(negative) = numbers.into_iter().find(|count| *count < 0) {
            let message = format!("{negative} replicas: a number of replicas is 0 or more");
            return Err(Error::new(codes::NOT_ALLOWED, message));
        }
        self.edit.to_request(Change::SetReplicas(SetReplicas {
            named,
            all_at: self.all_at,
            among: Among { selector: self.selector.clone(), group: self.group.clone() },
            turn_on: self.turn_on,
            allow_unpinned: self.allow_unpinned,
            override_owner: self.override_owner,
        }))
    }
}
