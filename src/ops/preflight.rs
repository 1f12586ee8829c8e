//! What has to hold before an edit is planned: every overlay is there, can be read and may be edited.

use std::ffi::OsString;

use super::Context;
use super::list;
use crate::discover::{DiskFiles, Located};
use crate::error::{Error, codes};
use crate::kustomize::SourceTree;
use crate::kustomize::types::Kind;

/// An overlay that may be edited, with everything it reaches.
#[derive(Clone, Debug)]
pub struct Editable {
    /// Where it is.
    pub located: Located,
    /// What it reaches.
    pub tree: SourceTree,
}

impl Context {
    /// Locates and loads the overlays that an edit command names.
    ///
    /// # Errors
    /// Where one is not there or cannot be read, and for a Component, which an edit reaches through
    /// the overlays that use it.
    pub fn editable(&self, overlays: &[OsString]) -> Result<(DiskFiles, Vec<Editable>), Error> {
        let (files, located) = self.locate(overlays)?;
        let mut editable = Vec::new();
        for located in located {
            let tree = self.load(&files, &located.directory)?;
            let kind = tree.kustomization(&located.directory).map(|k| k.kustomization.file_kind());
            if kind == Some(Kind::Component) {
                return Err(component_error(&files, &located)?);
            }
            editable.push(Editable { located, tree });
        }
        Ok((files, editable))
    }
}

/// The refusal of a component, with the overlays that use it.
fn component_error(files: &DiskFiles, located: &Located) -> Result<Error, Error> {
    let users = list::overlays_using(files, &located.directory)?;
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
