//! `overlay bump`.

use clap::Args;

use super::deliver::DeliveryArgs;
use super::options::SeveralOverlays;
use crate::error::Error;
use crate::ops::bump::BumpRequest;
use crate::ops::{Context, input};

/// Move a remote base to another version, with its pins, and list what it brings and takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct BumpArgs {
    #[command(flatten)]
    overlays: SeveralOverlays,

    /// The tag, branch or commit that every reference of the base is to name.
    #[arg(long = "ref", value_name = "TAG", allow_hyphen_values = true)]
    reference: String,

    /// A part of the address of the repository that is meant, where the overlay stands on several.
    #[arg(long, value_name = "TEXT")]
    repository: Option<String>,

    /// The digests to pin along: a JSON object of names and digests or references, @FILE, or - for standard input.
    #[arg(long, value_name = "JSON")]
    digests: Option<String>,

    /// A kind that may be new, KIND or KIND.GROUP; may be given again.
    #[arg(long = "accept-kind", value_name = "KIND")]
    accepted_kinds: Vec<String>,

    /// An object with data that may leave the render; may be given again.
    #[arg(long = "allow-removal", value_name = "KIND/NAME")]
    allowed_removals: Vec<String>,

    /// Show the diff and the effect; write nothing.
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    pub(super) delivery: DeliveryArgs,
}

impl BumpArgs {
    /// The request, with the digests read from where they are.
    ///
    /// # Errors
    /// Where the digests cannot be read, or something is said of a commit that is not asked for.
    pub(crate) fn to_request(&self, context: &Context) -> Result<BumpRequest, Error> {
        let digests = self.digests.as_deref();
        let digests = digests.map(|value| input::load(&context.cwd, "--digests", value));
        Ok(BumpRequest {
            overlays: self.overlays.all(),
            reference: self.reference.clone(),
            repository: self.repository.clone(),
            digests: digests.transpose()?,
            accepted_kinds: self.accepted_kinds.clone(),
            allowed_removals: self.allowed_removals.clone(),
            is_dry_run: self.dry_run,
            delivery: self.delivery.to_delivery(self.dry_run)?,
        })
    }
}
