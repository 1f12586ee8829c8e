//! What every edit command has: the overlays, a dry run, and delivery.

use clap::Args;

use super::deliver::DeliveryArgs;
use super::options::OverlayArgs;
use crate::change::Change;
use crate::error::Error;
use crate::ops::edit::EditRequest;

/// Options of an edit.
#[derive(Clone, Debug, Args)]
pub(crate) struct EditArgs {
    #[command(flatten)]
    overlays: OverlayArgs,

    /// Show the diff and the effect; write nothing.
    #[arg(long)]
    dry_run: bool,

    /// Go on where nothing can render the overlay.
    #[arg(long)]
    no_proof: bool,

    #[command(flatten)]
    pub(in crate::cli) delivery: DeliveryArgs,
}

impl EditArgs {
    /// The request to bring `change` about.
    ///
    /// # Errors
    /// Where the delivery options contradict each other.
    pub(crate) fn to_request(&self, change: Change) -> Result<EditRequest, Error> {
        Ok(EditRequest {
            overlays: self.overlays.all(),
            change,
            dry_run: self.dry_run,
            no_proof: self.no_proof,
            delivery: self.delivery.to_delivery(self.dry_run)?,
        })
    }
}
