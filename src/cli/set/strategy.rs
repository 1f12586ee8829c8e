//! `overlay set strategy`.

use clap::Args;

use super::{parse_name, usage};
use crate::change::{Among, Change, PodAmount, SetStrategy, WantedStrategy};
use crate::cli::edit::EditArgs;
use crate::error::Error;
use crate::ops::edit::EditRequest;

/// Set how workloads replace their pods, and tell what it means at their number of replicas.
#[derive(Clone, Debug, Args)]
pub(crate) struct StrategyArgs {
    #[command(flatten)]
    pub(super) edit: EditArgs,

    /// The workloads: [KIND[.GROUP]/]NAME.
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Every workload that is not at 0, instead of names.
    #[arg(long, conflicts_with = "names")]
    all: bool,

    /// Only the workloads whose labels this selects, instead of names.
    #[arg(long, value_name = "SELECTOR", conflicts_with = "names")]
    selector: Option<String>,

    /// Only the workloads of this group of `.overlay.yaml`, instead of names.
    #[arg(long, value_name = "GROUP", conflicts_with = "names")]
    group: Option<String>,

    /// Pods beyond the number of replicas during a roll: a number or a share such as 25%.
    #[arg(long, value_name = "V", conflicts_with_all = ["recreate", "zero_outage"])]
    max_surge: Option<String>,

    /// Pods below the number of replicas during a roll: a number or a share such as 25%.
    #[arg(long, value_name = "V", conflicts_with_all = ["recreate", "zero_outage"])]
    max_unavailable: Option<String>,

    /// All pods go before a new one comes.
    #[arg(long, conflicts_with = "zero_outage")]
    recreate: bool,

    /// For each workload what keeps at least one pod ready throughout.
    #[arg(long)]
    zero_outage: bool,
}

impl StrategyArgs {
    /// The request.
    ///
    /// # Errors
    /// A malformed name or value, or nothing to set.
    pub(crate) fn to_request(&self) -> Result<EditRequest, Error> {
        let names: Vec<_> = self.names.iter().map(|n| parse_name(n)).collect::<Result<_, _>>()?;
        let is_choice = self.all || self.selector.is_some() || self.group.is_some();
        if names.is_empty() && !is_choice {
            return Err(usage("no workload: give names, --all, --selector or --group"));
        }
        self.edit.to_request(Change::SetStrategy(SetStrategy {
            names,
            among: Among { selector: self.selector.clone(), group: self.group.clone() },
            wanted: self.wanted()?,
        }))
    }

    fn wanted(&self) -> Result<WantedStrategy, Error> {
        let amount = |text: &Option<String>| {
            let parse = |text: &String| {
                let wrong =
                    || usage(format!("`{text}` is no number of pods and no share such as 25%"));
                PodAmount::parse(text).ok_or_else(wrong)
            };
            text.as_ref().map(parse).transpose()
        };
        let (max_surge, max_unavailable) =
            (amount(&self.max_surge)?, amount(&self.max_unavailable)?);
        match (self.recreate, self.zero_outage) {
            (true, _) => Ok(WantedStrategy::Recreate),
            (_, true) => Ok(WantedStrategy::ZeroOutage),
            _ if max_surge.is_none() && max_unavailable.is_none() => Err(usage(
                "nothing to set: --max-surge, --max-unavailable, --recreate or --zero-outage",
            )),
            _ => Ok(WantedStrategy::Rolling { max_surge, max_unavailable }),
        }
    }
}
