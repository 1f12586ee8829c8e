//! `overlay promote`.

use std::ffi::OsString;

use clap::Args;

use super::deliver::DeliveryArgs;
use crate::error::Error;
use crate::ops::promote::PromoteRequest;

/// Move the pins of one overlay into another that renders the same images.
#[derive(Clone, Debug, Args)]
pub(crate) struct PromoteArgs {
    /// The overlay that has the pins.
    #[arg(long, value_name = "OVERLAY")]
    from: OsString,

    /// The overlay that gets them.
    #[arg(long, value_name = "OVERLAY")]
    to: OsString,

    /// Only this image, by its name or the end of it; may be given again.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// Leave out images that only one of the two renders.
    #[arg(long)]
    allow_missing: bool,

    /// Replace a digest of all zeros, which holds a place on purpose.
    #[arg(long)]
    replace_placeholder: bool,

    /// Show the diff and the effect; write nothing.
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    pub(super) delivery: DeliveryArgs,
}

impl PromoteArgs {
    /// The request.
    ///
    /// # Errors
    /// Where the delivery options contradict each other.
    pub(crate) fn to_request(&self) -> Result<PromoteRequest, Error> {
        Ok(PromoteRequest {
            from: self.from.clone(),
            to: self.to.clone(),
            only: self.only.clone(),
            allow_missing: self.allow_missing,
            replace_placeholder: self.replace_placeholder,
            dry_run: self.dry_run,
            delivery: self.delivery.to_delivery(self.dry_run)?,
        })
    }
}
