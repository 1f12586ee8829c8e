//! `overlay bump`: a remote base to another version, with its pins.

use std::ffi::OsString;
use std::path::Path;

use super::Context;
use super::deliver::Delivery;
use super::edit::{self, EditRequest};
use super::input::Input;
use crate::change::{BumpBase, Change, PinImages, TagChoice};
use crate::error::{Error, codes};
use crate::report::Report;

/// What the user asks of `overlay bump`.
#[derive(Clone, Debug)]
pub struct BumpRequest {
    /// The overlays as typed.
    pub overlays: Vec<OsString>,
    /// `--ref`: the tag, branch or commit.
    pub reference: String,
    /// `--repository`: a part of the address of the repository that is meant.
    pub repository: Option<String>,
    /// The JSON object of `--digests`.
    pub digests: Option<Input>,
    /// `--accept-kind`.
    pub accepted_kinds: Vec<String>,
    /// `--allow-removal`.
    pub allowed_removals: Vec<String>,
    /// `--dry-run`: plan, prove and show; write nothing.
    pub is_dry_run: bool,
    /// How the edit is delivered; `None` leaves it in the files.
    pub delivery: Option<Delivery>,
}

/// Moves the base of every overlay named, all or nothing.
///
/// # Errors
/// Refusals and failures, each with its code; nothing was written then.
pub fn run(context: &Context, request: &BumpRequest) -> Result<Report, Error> {
    edit::run(context, &request.to_edit(context)?)
}

impl BumpRequest {
    /// The edit that is meant.
    ///
    /// # Errors
    /// Where the version or a digest is none.
    pub fn to_edit(&self, context: &Context) -> Result<EditRequest, Error> {
        Ok(EditRequest {
            overlays: self.overlays.clone(),
            change: Change::BumpBase(self.to_change(&context.cwd)?),
            dry_run: self.is_dry_run,
            no_proof: false,
            delivery: self.delivery.clone(),
        })
    }

    fn to_change(&self, cwd: &Path) -> Result<BumpBase, Error> {
        if self.reference.is_empty() || self.reference.starts_with('-') {
            let message = format!("`{}` is the name of no tag, branch or commit", self.reference);
            return Err(Error::new(codes::USAGE, message));
        }
        let pins = self.digests.as_ref().map(|digests| digests.to_pins(cwd)).transpose()?;
        let pins = pins.map(|pins| PinImages {
            pins,
            tag: TagChoice::Keep,
            image_args: Vec::new(),
            no_add: false,
            replace_placeholder: false,
            unseen: false,
        });
        Ok(BumpBase {
            reference: self.reference.clone(),
            repository: self.repository.clone(),
            pins,
            accepted_kinds: self.accepted_kinds.clone(),
            allowed_removals: self.allowed_removals.clone(),
        })
    }
}
