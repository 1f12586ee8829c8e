//! `overlay pin`.

use clap::Args;

use super::deliver::DeliveryArgs;
use super::options::OverlayArgs;
use crate::change::TagChoice;
use crate::error::Error;
use crate::ops::Context;
use crate::ops::input;
use crate::ops::pin::{Mode, PinRequest};

/// Pin images to digests, in place and proven by rendering before and after.
#[derive(Clone, Debug, Args)]
pub(crate) struct PinArgs {
    #[command(flatten)]
    overlays: OverlayArgs,

    /// NAME=REF: the image NAME is pinned to the digest in REF.
    ///
    /// NAME is, the first that fits deciding: the whole image name as rendered or as an `images:` entry writes it, with a
    /// `:TAG` that narrows it; its last path segments (`web`, `team/web`); or the name of a container, or of a workload
    /// whose containers use one image. REF is `sha256:` and 64 digits, or a whole reference that ends with `@` and them
    /// (`registry.example/team/web:v1.2@sha256:…`); another name in it renames the image. NAME@sha256:… is the same as
    /// NAME=sha256:…. NAME:TAG, with no REF, asks the registry that the image is pulled from for the digest of that tag.
    #[arg(value_name = "NAME=REF|NAME:TAG")]
    references: Vec<String>,

    /// The digests: a JSON object of names and digests or references as for NAME=REF, @FILE, or - for standard input.
    #[arg(long, value_name = "JSON")]
    digests: Option<String>,

    /// Ask whether every rendered image is pinned, or with --refresh whether every tag stands for its digest; exit 7 if not.
    #[arg(long, conflicts_with_all = ["digests", "dry_run", "references", "commit", "branch", "push"])]
    check: bool,

    /// Show the diff and the effect; write nothing.
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    form: PinForm,

    /// Go on where nothing can render the overlay.
    #[arg(long)]
    no_proof: bool,

    #[cfg(feature = "registry")]
    #[command(flatten)]
    resolution: super::resolution::ResolutionArgs,

    #[command(flatten)]
    pub(super) delivery: DeliveryArgs,
}

/// In what form pins are written and which are allowed: of `overlay pin`, and of a `pin` in a change file.
#[derive(Clone, Debug, Args)]
pub(super) struct PinForm {
    /// Write the tag beside the digest always.
    #[arg(long, conflicts_with = "drop_tag")]
    with_tag: bool,

    /// Never write a tag beside the digest.
    #[arg(long)]
    drop_tag: bool,

    /// A container argument whose value is an image, such as --worker-image; may be given again.
    #[arg(long = "image-arg", value_name = "FLAG", allow_hyphen_values = true)]
    pub(super) image_arguments: Vec<String>,

    /// Refuse where a new `images:` entry would be needed.
    #[arg(long)]
    pub(super) no_add: bool,

    /// Replace a digest of all zeros, which holds a place on purpose.
    #[arg(long)]
    pub(super) replace_placeholder: bool,

    /// Pin a name that only an unreachable remote base can use.
    #[arg(long)]
    pub(super) unseen: bool,
}

impl PinForm {
    /// Whether the tag stands beside the digest.
    pub(super) fn tag(&self) -> TagChoice {
        match (self.with_tag, self.drop_tag) {
            (true, _) => TagChoice::With,
            (_, true) => TagChoice::Drop,
            _ => TagChoice::Keep,
        }
    }
}

impl PinArgs {
    /// The request, with the digests read from where they are.
    pub(crate) fn to_request(&self, context: &Context) -> Result<PinRequest, Error> {
        let digests = self.digests.as_deref();
        let digests = digests.map(|value| input::load(&context.cwd, "--digests", value));
        Ok(PinRequest {
            overlays: self.overlays.all(),
            digests: digests.transpose()?,
            references: self.references.clone(),
            mode: self.mode(),
            tag: self.form.tag(),
            image_arguments: self.form.image_arguments.clone(),
            no_add: self.form.no_add,
            replace_placeholder: self.form.replace_placeholder,
            unseen: self.form.unseen,
            no_proof: self.no_proof,
            delivery: self.delivery.to_delivery(self.dry_run)?,
            #[cfg(feature = "registry")]
            resolution: self.resolution.to_resolution(),
        })
    }

    fn mode(&self) -> Mode {
        #[cfg(feature = "registry")]
        if self.resolution.verify {
            return Mode::Verify;
        } else if self.check && self.resolution.refresh {
            return Mode::CheckTags;
        }
        match (self.check, self.dry_run) {
            (true, _) => Mode::Check,
            (_, true) => Mode::DryRun,
            _ => Mode::Write,
        }
    }
}
