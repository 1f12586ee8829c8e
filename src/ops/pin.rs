//! `overlay pin`: images by digest.

use std::ffi::OsString;
use std::path::Path;

use super::Context;
use super::change::{Write, run_change};
use super::check_pins::check_pins;
use super::deliver::{self, Delivery};
use super::input::{Input, hint_for_directory};
use crate::change::{Change, Pin, PinImages, TagChoice, parse_assignment};
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
    /// How the edit is delivered; `None` leaves it in the files.
    pub delivery: Option<Delivery>,
}

/// Pins images in every overlay named, all or nothing.
///
/// # Errors
/// Refusals and failures, each with its code; nothing was written then.
pub fn run(context: &Context, request: &PinRequest) -> Result<Report, Error> {
    if request.no_proof {
        context.go_on_unproven();
    }
    if let (Some(delivery), Mode::Write) = (&request.delivery, request.mode) {
        let change = request.to_change(&context.cwd)?;
        let delivered = deliver::run(context, &request.overlays, &change, delivery)?;
        return Ok(delivered.into_report("pin"));
    }
    let (files, editable) = context.editable(&request.overlays)?;
    if request.mode == Mode::Check {
        return check_pins(context, &files, &editable, &request.image_arguments);
    }
    let change = request.to_change(&context.cwd)?;
    let write = match request.mode {
        Mode::DryRun => Write::Nothing,
        _ => Write::Files,
    };
    Ok(run_change(context, &files, &editable, &change, write)?.into_report("pin"))
}

impl PinRequest {
    fn to_change(&self, cwd: &Path) -> Result<Change, Error> {
        let mut pins = Vec::new();
        if let Some(digests) = &self.digests {
            pins.extend(digests.to_pins(cwd)?);
        }
        for reference in &self.references {
            pins.push(parse_positional(cwd, reference)?);
        }
        if pins.is_empty() && self.digests.is_none() {
            let error = Error::new(codes::USAGE, "nothing to pin: no --digests and no NAME=REF");
            return Err(error.hint("--check asks whether everything is pinned"));
        }
        Ok(Change::PinImages(PinImages {
            pins,
            tag: match self.tag {
                TagRule::Keep => TagChoice::Keep,
                TagRule::Always => TagChoice::With,
                TagRule::Never => TagChoice::Drop,
            },
            image_args: self.image_arguments.clone(),
            no_add: self.no_add,
            replace_placeholder: self.replace_placeholder,
            unseen: self.unseen,
        }))
    }
}

fn parse_positional(cwd: &Path, text: &str) -> Result<Pin, Error> {
    match text.split_once('=') {
        Some((key, value)) => Ok(parse_assignment(key, value)?),
        None => {
            let error = Error::new(codes::USAGE, format!("`{text}` carries no digest"));
            let error = error.hint("write NAME=sha256:…, or NAME=REFERENCE@sha256:…");
            Err(hint_for_directory(cwd, text, error))
        }
    }
}
