//! The commands that look and change nothing: `list`, `images`, `show`, `build`, `explain`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::options::{OverlayArgs, SeveralOverlays};
use crate::error::Error;
use crate::ops::build::BuildRequest;
#[cfg(feature = "registry")]
use crate::ops::digests::Digests;
use crate::ops::show::ShowRequest;
use crate::ops::{Context, images};
use crate::report::Report;

/// List every overlay, base and component, with who uses whom.
#[derive(Clone, Debug, Args)]
pub(crate) struct ListArgs {
    /// List what is below DIR; the current directory if none is given.
    #[arg(value_name = "DIR")]
    directories: Vec<OsString>,
}

impl ListArgs {
    /// Where to look.
    pub(crate) fn directories(&self) -> Vec<OsString> {
        match self.directories.is_empty() {
            true => vec![".".into()],
            false => self.directories.clone(),
        }
    }
}

/// Print the rendered resources, byte for byte what kustomize prints.
#[derive(Clone, Debug, Args)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    overlays: SeveralOverlays,

    /// Build what this revision of the repository holds, not the files on disk.
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    at: Option<String>,

    /// Write PATH.yaml below DIR for the overlay at each PATH, in place of standard output.
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
}

impl BuildArgs {
    /// The request.
    pub(crate) fn to_request(&self) -> BuildRequest {
        BuildRequest {
            overlays: self.overlays.all(),
            at: self.at.clone(),
            output: self.output_dir.clone(),
        }
    }
}

/// List each rendered image: pinned or not, who uses it, and the file and line that decides it.
#[derive(Clone, Debug, Args)]
pub(crate) struct ImagesArgs {
    #[command(flatten)]
    overlays: OverlayArgs,

    /// A container argument whose value is an image, such as --worker-image; may be given again.
    #[arg(long = "image-arg", value_name = "FLAG", allow_hyphen_values = true)]
    image_arguments: Vec<String>,

    /// Ask the registries what each tag stands for now, and whether what is pinned is there.
    #[cfg(feature = "registry")]
    #[arg(long)]
    resolve: bool,

    #[cfg(feature = "registry")]
    #[command(flatten)]
    registries: super::resolution::RegistryArgs,
}

impl ImagesArgs {
    /// Lists them.
    #[cfg(feature = "registry")]
    pub(crate) fn run(&self, context: &Context) -> Result<Report, Error> {
        if self.resolve {
            context.ask_digests(Digests::new(context, &self.registries.to_request())?);
        }
        images::run(context, &self.overlays.all(), &self.image_arguments)
    }

    /// Lists them.
    #[cfg(not(feature = "registry"))]
    pub(crate) fn run(&self, context: &Context) -> Result<Report, Error> {
        images::run(context, &self.overlays.all(), &self.image_arguments)
    }
}

/// Show the effective value of a field, and the file and line that owns it.
#[derive(Clone, Debug, Args)]
pub(crate) struct ShowArgs {
    /// The overlay: a directory, or the kustomization file in it.
    #[arg(value_name = "OVERLAY")]
    overlay: OsString,

    /// The resource: NAME, KIND/NAME or KIND.GROUP/NAME.
    #[arg(value_name = "NAME")]
    name: String,

    /// The field, such as spec.replicas or spec.template.spec.containers.[name=web].image, a key with dots as metadata.annotations.[a.b/c] or, in maps of texts, plain; the whole resource if none is given.
    #[arg(value_name = "FIELD")]
    field: Option<String>,
}

impl ShowArgs {
    /// The request.
    pub(crate) fn to_request(&self) -> ShowRequest {
        ShowRequest {
            overlay: self.overlay.clone(),
            name: self.name.clone(),
            field: self.field.clone(),
        }
    }
}

/// Explain a check or an error code: what it means and what to do about it.
#[derive(Clone, Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The id of a check, such as pdb-blocks-drain, or an error code, such as no-such-overlay.
    ///
    /// Without one all are listed.
    #[arg(value_name = "ID")]
    id: Option<String>,
}

impl ExplainArgs {
    /// The id; `None` for a list of all.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}
