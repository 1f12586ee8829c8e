//! What has to hold before an edit is planned: every overlay is there, can be read and may be edited.

use std::ffi::OsString;

use super::Context;
use super::list;
use crate::discover::{DiskFiles, Located};
use crate::error::{Error, codes};
use crate::kustomize::types::Kind;
use crate::kustomize::{Files, SourceTree};

/// An overlay that may be edited, with everything it reaches.
#[derive(Clone, Debug)]
pub struct Editable {
    /// Where it is.
    pub located: Located,
    /// What it reaches.
    pub tree: SourceTree,
}

impl Editable {
    /// Loads what `located` reaches, remote bases fetched, whatever kind it is of: for commands that only look.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn load(context: &Context, files: &dyn Files, located: Located) -> Result<Self, Error> {
        let tree = context.load(files, &located.directory)?;
        Ok(Self { located, tree })
    }
}

impl Context {
    /// Locates and loads the overlays that an edit command names.
    ///
    /// # Errors
    /// Where one is not there or cannot be read, and for a Component, which an edit reaches through
    /// the overlays that use it.
    pub fn editable(&self, overlays: &[OsString]) -> Result<(DiskFiles, Vec<Editable>), Error> {
        let (files, located) = self.locate(overlays)?;
        let editable = self.editable_in(&files, Some(&files), located)?;
        Ok((files, editable))
    }

    /// Loads the overlays that an edit names from `files`; `disk`, where there is one, is searched for the users of a Component.
    ///
    /// # Errors
    /// As [`Context::editable`].
    pub fn editable_in(
        &self,
        files: &dyn Files,
        disk: Option<&DiskFiles>,
        located: Vec<Located>,
    ) -> Result<Vec<Editable>, Error> {
        let mut editable = Vec::new();
        for located in located {
            let overlay = Editable::load(self, files, located)?;
            let Editable { located, tree } = &overlay;
            let kind = tree.kustomization(&located.directory).map(|k| k.kustomization.file_kind());
            if kind == Some(Kind::Component) {
                return Err(component_error(disk, located)?);
            }
            editable.push(overlay);
        }
        Ok(editable)
    }
}

/// The refusal of a component, with the overlays that use it.
fn component_error(disk: Option<&DiskFiles>, located: &Located) -> Result<Error, Error> {
    let users = match disk {
        Some(files) => list::overlays_using(files, &located.directory)?,
        None => Vec::new(),
    };
    let name = located.shown();
    if users.is_empty() {
        let message = format!("{name} is a Component, and no overlay of the repository uses it");
        return Ok(Error::new(codes::COMPONENT_UNUSED, message));
    }
    let message = format!("{name} is a Component, which is not edited by itself");
    let shown: Vec<&str> = users.iter().take(5).map(String::as_str).collect();
    let hint = format!("edit an overlay that uses it: {}", shown.join(", "));
    Ok(Error::new(codes::COMPONENT_ALONE, message).hint(hint))
}
