//! `overlay revert`.

use clap::{ArgGroup, Args};

use super::deliver::DeliveryArgs;
use super::hold::filled;
use super::options::{SeveralOverlays, TypedDuration};
#[cfg(feature = "registry")]
use super::resolution::RegistryArgs;
use super::set::{parse_name, usage};
use crate::change::{Restored, Revert};
use crate::error::Error;
use crate::kustomize::ResourceName;
use crate::ops::revert::{Back, HoldFor, RevertRequest, nothing_restored, until_after};

/// Go back to what overlays were at a commit, as a new change that is proven by rendering both.
#[derive(Clone, Debug, Args)]
#[command(group(ArgGroup::new("back").required(true).args(["to", "last", "steps"])))]
pub(crate) struct RevertArgs {
    #[command(flatten)]
    overlays: SeveralOverlays,

    /// Go back to what the overlay was at this commit.
    #[arg(long, value_name = "COMMIT", allow_hyphen_values = true)]
    to: Option<String>,

    /// Undo the newest commit that changed what the overlay renders and is no revert by this program.
    #[arg(long)]
    last: bool,

    /// Undo the newest N of them.
    #[arg(long, value_name = "N")]
    steps: Option<usize>,

    /// Bring back image pins alone, and keep every other edit since.
    #[arg(long, conflicts_with = "fields")]
    pins: bool,

    /// Bring back this field alone, with the name of its resource: 'Deployment/web spec.replicas'; may be given again for the same one.
    #[arg(long = "field", value_name = "[KIND/]NAME PATH")]
    fields: Vec<String>,

    /// Leave entries and fields as they are that are there only then or only now.
    #[arg(long)]
    allow_missing: bool,

    /// An object with data that may leave the render; may be given again.
    #[arg(long = "allow-removal", value_name = "KIND/NAME")]
    allowed_removals: Vec<String>,

    /// Let a database get an older major version.
    #[arg(long)]
    allow_downgrade: bool,

    /// Replace a digest of all zeros, which holds a place on purpose.
    #[arg(long)]
    replace_placeholder: bool,

    /// Let a digest of all zeros come back, so that its pods fail closed.
    #[arg(long)]
    allow_placeholder: bool,

    /// Go back to images that the registry no longer has, and ask it nothing.
    #[arg(long)]
    allow_gone: bool,

    /// Write over what is not committed.
    #[arg(long)]
    overwrite: bool,

    /// Refuse edits for so long, such as 24h, by an `overlay-hold.yaml` in the same change.
    #[arg(long, value_name = "DUR", value_parser = TypedDuration::parse)]
    hold: Option<TypedDuration>,

    /// Why the hold stands, instead of the commit that was gone back to.
    #[arg(long, value_name = "TEXT", requires = "hold")]
    reason: Option<String>,

    /// Who puts the hold, instead of git's committer.
    #[arg(long, value_name = "NAME", requires = "hold")]
    by: Option<String>,

    /// Show the diff and the effect; write nothing.
    #[arg(long)]
    dry_run: bool,

    #[cfg(feature = "registry")]
    #[command(flatten)]
    registry: RegistryArgs,

    #[command(flatten)]
    pub(super) delivery: DeliveryArgs,
}

impl RevertArgs {
    /// The request.
    ///
    /// # Errors
    /// A malformed field, fields of several resources, no steps, or a delivery that contradicts itself.
    pub(crate) fn to_request(&self) -> Result<RevertRequest, Error> {
        let back = match (&self.to, self.steps) {
            (Some(commit), _) => Back::To(commit.clone()),
            (None, Some(0)) => return Err(usage("--steps 0 goes nowhere")),
            (None, Some(steps)) => Back::Steps(steps),
            (None, None) => Back::Steps(1),
        };
        let line = |option, text: &Option<String>| {
            text.as_deref().map(|text| filled(option, text)).transpose()
        };
        let (reason, by) = (line("--reason", &self.reason)?, line("--by", &self.by)?);
        Ok(RevertRequest {
            overlays: self.overlays.all(),
            back,
            revert: Revert {
                allowed_removals: self.allowed_removals.clone(),
                allow_missing: self.allow_missing,
                allow_downgrade: self.allow_downgrade,
                replace_placeholder: self.replace_placeholder,
                allow_placeholder: self.allow_placeholder,
                allow_gone: self.allow_gone,
                overwrite: self.overwrite,
                ..nothing_restored(self.restored()?)
            },
            hold: self.hold.as_ref().map(|hold| HoldFor {
                until: until_after(hold.length),
                reason,
                by,
            }),
            #[cfg(feature = "registry")]
            registries: self.registry.to_request(),
            dry_run: self.dry_run,
            delivery: self.delivery.to_delivery(self.dry_run)?,
        })
    }

    fn restored(&self) -> Result<Restored, Error> {
        if self.pins {
            return Ok(Restored::Pins);
        }
        let mut found: Option<(ResourceName, Vec<String>)> = None;
        for text in &self.fields {
            let wrong =
                || usage(format!("`{text}` is no field such as 'Deployment/web spec.replicas'"));
            let (name, path) = text.trim().split_once(' ').ok_or_else(wrong)?;
            let name = parse_name(name)?;
            match &mut found {
                Some((known, paths)) if *known == name => paths.push(path.trim().to_owned()),
                Some(_) => return Err(usage("--field names fields of one resource at a time")),
                None => found = Some((name, vec![path.trim().to_owned()])),
            }
        }
        Ok(found.map_or(Restored::Files, |(name, paths)| Restored::Fields(name, paths)))
    }
}
