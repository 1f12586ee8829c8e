//! `overlay pin`: images by digest.

use std::ffi::OsString;

use super::Context;
use super::input::Input;
use crate::error::{Error, codes};
use crate::report::Report;

/// What to do about pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Edit the files.
    Write,
    /// Plan, prove and show; write nothing.
    DryRun,
    /// Ask whether every image is pinned; write nothing.
    Check,
}

/// Whether the tag stands beside the digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagRule {
    /// As the entry has it.
    Keep,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What the user asks of `overlay pin`.
#[derive(Clone, Debug)]
pub struct PinRequest {
    /// The overlays as typed: directories, kustomization files or patterns.
    pub overlays: Vec<OsString>,
    /// The JSON object of `--digests`.
    pub digests: Option<Input>,
    /// `NAME=REF` (and other positionals) as typed.
    pub references: Vec<String>,
    /// Write, show or check.
    pub mode: Mode,
    /// The tag beside the digest.
    pub tag: TagRule,
    /// `--image-arg`: flags of containers whose values are images.
    pub image_arguments: Vec<String>,
    /// `--no-add`: refuse where a new `images:` entry would be needed.
    pub no_add: bool,
    /// `--replace-placeholder`: an all-zero digest may be replaced.
    pub replace_placeholder: bool,
    /// `--unseen`: pin a name that only an unreachable remote base can use.
    pub unseen: bool,
    /// `--no-proof`: go on where nothing can render.
    pub no_proof: bool,
}

/// Pins images in every overlay named, all or nothing.
///
/// # Errors
/// Refusals and failures, each with its code; nothing was written then.
pub fn run(context: &Context, request: &PinRequest) -> Result<Report, Error> {
    context.editable(&request.overlays)?;
    Err(Error::new(codes::INTERNAL, "pin is not part of this build"))
}
