//! `overlay pin`: images by digest.

mod positional;

use std::ffi::OsString;

use self::positional::parse_positional;
use super::Context;
use super::change::{Write, run_change};
use super::check_pins::check_pins;
use super::deliver::{self, Delivery};
#[cfg(feature = "registry")]
use super::digests::{DigestRequest, Digests};
use super::edit::EditRequest;
use super::input::Input;
#[cfg(feature = "registry")]
use super::registry_checks::{self, Question};
use crate::change::{Change, Key, PinImages, TagChoice};
#[cfg(feature = "registry")]
use crate::change::{InUse, NewTag, ResolveImages};
use crate::error::{Error, codes};
#[cfg(feature = "registry")]
use crate::registry::LockedImage;
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
    /// Ask the registries whether each digest exists; write nothing.
    #[cfg(feature = "registry")]
    Verify,
    /// Ask the registries whether each tag stands for the digest beside it; write nothing.
    #[cfg(feature = "registry")]
    CheckTags,
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
    pub tag: TagChoice,
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
    /// What registries are asked for.
    #[cfg(feature = "registry")]
    pub resolution: Resolution,
}

/// What of a request to pin is left to registries.
#[cfg(feature = "registry")]
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    /// `--resolve`: the images named by keys, or those without a digest where there is none.
    pub resolve: Option<Vec<String>>,
    /// `--refresh`.
    pub refresh: bool,
    /// `--allow-downgrade`.
    pub allow_downgrade: bool,
    /// How digests are had.
    pub digests: DigestRequest,
}

/// Pins images in every overlay named, all or nothing.
///
/// # Errors
/// Refusals and failures, each with its code; nothing was written then.
#[cfg(feature = "registry")]
pub fn run(context: &Context, request: &PinRequest) -> Result<Report, Error> {
    request.ask(context)?;
    let report = pin(context, request)?;
    let lock = request.resolution.digests.write_lock.as_ref();
    if let (Some(file), Some(digests), Mode::Write) = (lock, context.digests(), request.mode) {
        digests.write_lock(&context.cwd, file)?;
    }
    Ok(report)
}

/// Pins images in every overlay named, all or nothing.
///
/// # Errors
/// Refusals and failures, each with its code; nothing was written then.
#[cfg(not(feature = "registry"))]
pub fn run(context: &Context, request: &PinRequest) -> Result<Report, Error> {
    pin(context, request)
}

fn pin(context: &Context, request: &PinRequest) -> Result<Report, Error> {
    if request.no_proof {
        context.go_on_unproven();
    }
    let delivery = request.delivery.as_ref();
    let is_delivered = |how: &&Delivery| how.is_dry_run || request.mode == Mode::Write;
    if let Some(delivery) = delivery.filter(is_delivered) {
        let change = request.to_change(context)?;
        let delivered = deliver::run(context, &request.overlays, &change, delivery)?;
        return Ok(delivered.into_report("pin"));
    }
    let (files, editable) = context.editable(&request.overlays)?;
    let flags = &request.image_arguments;
    let write = match request.mode {
        Mode::Check => return check_pins(context, &files, &editable, flags),
        #[cfg(feature = "registry")]
        Mode::Verify => {
            return registry_checks::check(context, &files, &editable, flags, Question::Exists);
        }
        #[cfg(feature = "registry")]
        Mode::CheckTags => {
            return registry_checks::check(context, &files, &editable, flags, Question::Current);
        }
        Mode::DryRun => Write::Nothing,
        Mode::Write => Write::Files,
    };
    let change = request.to_change(context)?;
    Ok(run_change(context, &files, &editable, &change, write)?.into_report("pin"))
}

impl PinRequest {
    /// The edit that is meant, for a command that delivers it.
    ///
    /// # Errors
    /// Where nothing is to be pinned, a digest is none, or the request only asks.
    pub fn to_edit(&self, context: &Context) -> Result<EditRequest, Error> {
        #[cfg(feature = "registry")]
        self.ask(context)?;
        if !matches!(self.mode, Mode::Write | Mode::DryRun) {
            let message = "a question changes nothing that could be shipped";
            return Err(Error::new(codes::USAGE, message));
        }
        Ok(EditRequest {
            overlays: self.overlays.clone(),
            change: self.to_change(context)?,
            dry_run: self.mode == Mode::DryRun,
            no_proof: self.no_proof,
            delivery: self.delivery.clone(),
        })
    }

    fn to_change(&self, context: &Context) -> Result<Change, Error> {
        let mut pins = Vec::new();
        if let Some(digests) = &self.digests {
            pins.extend(digests.to_pins(&context.cwd)?);
        }
        for reference in self.references.iter().filter(|typed| self.is_digest(typed)) {
            pins.push(parse_positional(&context.cwd, reference, self.resolves_unnamed())?);
        }
        let pins = PinImages {
            pins,
            tag: self.tag,
            image_args: self.image_arguments.clone(),
            no_add: self.no_add,
            replace_placeholder: self.replace_placeholder,
            unseen: self.unseen,
        };
        #[cfg(feature = "registry")]
        if context.digests().is_some() {
            return Ok(Change::ResolveImages(self.to_resolution(context, pins)));
        }
        if pins.pins.is_empty() && self.digests.is_none() {
            let error = Error::new(codes::USAGE, "nothing to pin: no --digests and no NAME=REF");
            return Err(error.hint("--check asks whether everything is pinned"));
        }
        Ok(Change::PinImages(pins))
    }

    /// Whether `--resolve` is given without names.
    fn resolves_unnamed(&self) -> bool {
        #[cfg(feature = "registry")]
        return self.resolution.resolve.as_ref().is_some_and(Vec::is_empty);
        #[cfg(not(feature = "registry"))]
        return false;
    }

    /// Whether a positional carries its digest, or should; the others are for a registry.
    fn is_digest(&self, typed: &str) -> bool {
        cfg!(not(feature = "registry"))
            || typed.contains(['=', '@'])
            || Key::parse(typed).tag().is_none()
    }
}

#[cfg(feature = "registry")]
impl PinRequest {
    /// Lets digests be asked for, where the request leaves some to registries.
    fn ask(&self, context: &Context) -> Result<(), Error> {
        if self.asks_registries() {
            // The repository's settings say how long to wait; an edit of a remote repository has none here.
            let _ = context.locate(&self.overlays);
            context.ask_digests(Digests::new(context, &self.resolution.digests)?);
        }
        Ok(())
    }

    /// Whether anything is left to registries, or to a lock file in their place.
    fn asks_registries(&self) -> bool {
        let resolution = &self.resolution;
        let is_check = matches!(self.mode, Mode::Verify | Mode::CheckTags);
        let tags = self.references.iter().any(|typed| !self.is_digest(typed));
        let is_locked = resolution.digests.from_lock.is_some();
        is_check || tags || is_locked || resolution.resolve.is_some() || resolution.refresh
    }

    fn to_resolution(&self, context: &Context, pins: PinImages) -> ResolveImages {
        let resolution = &self.resolution;
        let in_use = match (&resolution.resolve, resolution.refresh) {
            (_, true) => Some(InUse::Pinned),
            (None, false) => None,
            (Some(names), false) if names.is_empty() => Some(InUse::Unpinned),
            (Some(names), false) => {
                Some(InUse::Named(names.iter().map(|name| Key::parse(name)).collect()))
            }
        };
        let typed = self.references.iter().filter(|typed| !self.is_digest(typed));
        let mut tags: Vec<NewTag> = typed.filter_map(|typed| new_tag(typed)).collect();
        if tags.is_empty() && in_use.is_none() {
            tags = locked_tags(context);
        }
        let allow_downgrade = resolution.allow_downgrade;
        ResolveImages { pins, tags, in_use, allow_downgrade }
    }
}

/// `NAME:TAG`.
#[cfg(feature = "registry")]
fn new_tag(typed: &str) -> Option<NewTag> {
    let key = Key::parse(typed);
    let (tag, name) = (key.tag()?.to_owned(), Key::parse(key.name()));
    Some(NewTag { key: name, tag, is_optional: false })
}

/// Everything that a lock file holds, as far as it is rendered. Of several tags of one name each is for the places that have it.
#[cfg(feature = "registry")]
fn locked_tags(context: &Context) -> Vec<NewTag> {
    let Some(digests) = context.digests() else { return Vec::new() };
    let names: Vec<&str> = digests.locked().map(|image| image.reference.name()).collect();
    let to_tag = |image: &LockedImage| {
        let (name, tag) = (image.reference.name(), image.reference.tag()?);
        let is_alone = names.iter().filter(|other| **other == name).count() == 1;
        let key = if is_alone { Key::parse(name) } else { Key::parse(&format!("{name}:{tag}")) };
        Some(NewTag { key, tag: tag.to_owned(), is_optional: true })
    };
    digests.locked().filter_map(to_tag).collect()
}
