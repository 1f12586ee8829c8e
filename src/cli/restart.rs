//! `overlay restart`.

use clap::Args;

use super::edit::EditArgs;
use super::set::{parse_name, usage};
use crate::change::{Change, Restart};
use crate::clock;
use crate::error::Error;
use crate::ops::edit::EditRequest;
use crate::ops::{self, Context};
use crate::report::Report;

/// Restart workloads one pod after the other, through git: an annotation of the pod template changes.
#[derive(Clone, Debug, Args)]
pub(crate) struct RestartArgs {
    #[command(flatten)]
    pub(super) edit: EditArgs,

    /// The workloads: [KIND[.GROUP]/]NAME.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,

    /// The time to write instead of the present one, such as 2026-01-31T10:00:00Z.
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

impl RestartArgs {
    /// Whether it says the time to write, so that it is the same restart whenever it runs.
    #[cfg(all(feature = "forge", feature = "argocd"))]
    pub(super) fn has_time(&self) -> bool {
        self.at.is_some()
    }

    /// Runs the command.
    pub(crate) fn run(&self, context: &Context) -> Result<Report, Error> {
        ops::edit::run(context, &self.to_request()?)
    }

    /// The request.
    ///
    /// # Errors
    /// A malformed name or time.
    pub(crate) fn to_request(&self) -> Result<EditRequest, Error> {
        let names = self.names.iter().map(|name| parse_name(name)).collect::<Result<_, _>>()?;
        let at = match &self.at {
            Some(at) if clock::is_rfc_3339(at) => at.clone(),
            Some(at) => {
                return Err(usage(format!("`{at}` is no time such as 2026-01-31T10:00:00Z")));
            }
            None => clock::now_rfc_3339(),
        };
        self.edit.to_request(Change::Restart(Restart { names, at }))
    }
}
