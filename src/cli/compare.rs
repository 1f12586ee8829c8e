//! The commands that compare two versions: `diff`, `affected`.

use std::ffi::OsString;

use clap::Args;

use super::options::{OutputFormat, SeveralOverlays};
use crate::error::Error;
use crate::ops::affected::AffectedRequest;
use crate::ops::diff::DiffRequest;
use crate::ops::ends::Range;

/// Show what differs in what overlays render between two revisions, by object and field.
#[derive(Clone, Debug, Args)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    overlays: SeveralOverlays,

    /// The earlier revision.
    #[arg(long, value_name = "REV", default_value = "HEAD", allow_hyphen_values = true)]
    from: String,

    /// The later revision, instead of the files on disk.
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    to: Option<String>,
}

impl DiffArgs {
    /// The request.
    ///
    /// # Errors
    /// Where both revisions are the same.
    pub(crate) fn to_request(&self, output: OutputFormat) -> Result<DiffRequest, Error> {
        Ok(DiffRequest {
            overlays: self.overlays.all(),
            range: Range::new(self.from.clone(), self.to.clone())?,
            wants_markdown: output == OutputFormat::Markdown,
        })
    }
}

/// List the overlays that a change reaches, through bases, components and every file they read.
#[derive(Clone, Debug, Args)]
pub(crate) struct AffectedArgs {
    /// List only overlays below DIR; one that is named itself is listed even if others use it.
    #[arg(value_name = "DIR")]
    below: Vec<OsString>,

    /// The earlier revision.
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    from: String,

    /// The later revision, instead of the files on disk.
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    to: Option<String>,

    /// List bases too, which other overlays use.
    #[arg(long)]
    bases: bool,

    /// List only overlays that render differently.
    #[arg(long)]
    rendered: bool,
}

impl AffectedArgs {
    /// The request.
    ///
    /// # Errors
    /// Where both revisions are the same.
    pub(crate) fn to_request(&self, output: OutputFormat) -> Result<AffectedRequest, Error> {
        Ok(AffectedRequest {
            below: self.below.clone(),
            range: Range::new(self.from.clone(), self.to.clone())?,
            wants_bases: self.bases,
            only_rendered: self.rendered,
            wants_markdown: output == OutputFormat::Markdown,
        })
    }
}
