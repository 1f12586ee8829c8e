//! What has to hold before an edit is planned: every overlay is there, can be read and may be edited.

use std::ffi::OsString;

use super::Context;
use super::list;
use super::version::Version;
use crate::discover::{DiskFiles, Located};
use crate::error::{Error, codes};
use crate::kustomize::types::Kind;
use crate::kustomize::{Files, SourceTree};

/// A kustomization that may be edited, and the overlay through which that is proven.
#[derive(Clone, Debug)]
pub struct Editable {
    /// What is edited: the overlay itself, or a Component that it uses.
    pub located: Located,
    /// Everything that the overlay reaches; [`SourceTree::overlay`] is the overlay.
    pub tree: SourceTree,
}

impl Editable {
    /// Loads what `located` reaches, remote bases fetched, whatever kind it is of: for commands that only look.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn load(context: &Context, files: &dyn Files, located: Located) -> Result<Self, Error> {
        Self::of_version(&Version::new(context, files), located)
    }

    /// As [`Editable::load`], for one of many overlays of one version.
    ///
    /// # Errors
    /// As [`Editable::load`].
    pub(crate) fn of_version(version: &Version<'_>, located: Located) -> Result<Self, Error> {
        let tree = version.load(&located.directory)?;
        Ok(Self { located, tree })
    }
}

impl Context {
    /// Locates and loads the overlays that an edit command names.
    ///
    /// # Errors
    /// Where one is not there or cannot be read, and for a Component that no overlay uses: a Component
    /// is edited and proven through each overlay that uses it.
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
        let version = Version::new(self, files);
        let load = |located: &Located| {
            let tree = version.load(&located.directory)?;
            let kind = tree.kustomization(&located.directory).map(|k| k.kustomization.file_kind());
            match kind {
                Some(Kind::Component) => self.through_users(files, disk, located),
                _ => Ok(vec![Editable { located: located.clone(), tree }]),
            }
        };
        Ok(self.for_each_of(&located, load)?.into_iter().flatten().collect())
    }

    /// The Component `located` once for each overlay of the repository that uses it.
    fn through_users(
        &self,
        files: &dyn Files,
        disk: Option<&DiskFiles>,
        located: &Located,
    ) -> Result<Vec<Editable>, Error> {
        let users = match disk {
            Some(files) => list::overlays_using(files, &located.directory)?,
            None => Vec::new(),
        };
        if users.is_empty() {
            let name = located.shown();
            let message =
                format!("{name} is a Component, and no overlay of the repository uses it");
            return Err(Error::new(codes::COMPONENT_UNUSED, message));
        }
        let load = |user: &String| {
            let directory = if user == "." { "" } else { user };
            Ok(Editable { located: located.clone(), tree: self.load(files, directory)? })
        };
        users.iter().map(load).collect()
    }
}
