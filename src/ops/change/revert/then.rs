//! An overlay as it was at the commit that is gone back to.

use super::{Ground, note};
use crate::error::{Error, Location, codes};
use crate::git::RevisionFiles;
use crate::kustomize::{Rendered, SourceTree};
use crate::ops::preflight::Editable;
use crate::ops::revision::find_kustomization;
use crate::plan::{self, ImagesEntry, Note, PlanError};
use crate::yaml;

/// The overlay then.
pub(super) struct Then {
    /// The files of the commit.
    pub(super) files: RevisionFiles,
    /// The commit, cut short for people.
    pub(super) shown: String,
    /// Its kustomization file, relative to the boundary.
    file: String,
    /// What the overlay that proves the edit reached.
    pub(super) tree: Option<SourceTree>,
    /// What it rendered, or why it did not.
    pub(super) rendered: Result<Rendered, Error>,
}

impl Then {
    /// Reads and renders it.
    ///
    /// # Errors
    /// Where the commit has no such overlay or cannot be read.
    pub(super) fn load(ground: &Ground<'_>, editable: &Editable) -> Result<Self, Error> {
        let directory = &editable.located.directory;
        let target = ground.revert.target(directory).ok_or_else(|| {
            Error::new(codes::INTERNAL, format!("no commit was found for {directory}"))
        })?;
        let shown: String = target.commit.chars().take(12).collect();
        let files = ground.past.repository.files_at(&target.commit)?;
        let name =
            find_kustomization(&files, directory)?.ok_or_else(|| absent(directory, &shown))?;
        let file = if directory.is_empty() { name } else { format!("{directory}/{name}") };
        let context = ground.context.with_own_remotes();
        let loaded = context.load(&files, editable.tree.overlay());
        let rendered = match &loaded {
            Ok(tree) => context.render(tree, tree.overlay()).map(|built| built.rendered),
            Err(error) => Err(error.clone()),
        };
        Ok(Self { files, shown, file, tree: loaded.ok(), rendered })
    }

    /// The `images:` entries of its kustomization file.
    ///
    /// # Errors
    /// Where that was no YAML, or its `images:` no list.
    pub(super) fn entries(&self) -> Result<Vec<ImagesEntry>, Error> {
        let file = || format!("{}:{}", self.shown, self.file);
        let entry = self.files.find(&self.file)?.map(|found| found.entry);
        let bytes = entry.map(|entry| self.files.content(entry)).transpose()?.unwrap_or_default();
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| Error::new(codes::NOT_EDITABLE, "not UTF-8").at(Location::file(file())))?;
        let tree = yaml::parse(text).map_err(|error| PlanError::Yaml { file: file(), error })?;
        let entries = plan::read_entries(&tree);
        Ok(entries.map_err(|error| PlanError::Entries { file: file(), error })?)
    }

    /// What it rendered.
    ///
    /// # Errors
    /// Where it did not build: then there is nothing to compare with.
    pub(super) fn rendered(&self) -> Result<&Rendered, Error> {
        self.rendered.as_ref().map_err(|error| {
            let message = format!("the overlay did not build at {}", self.shown);
            let wrapped = Error::new(error.code(), message).cause(error.to_string());
            wrapped.hint("name a commit at which it did; `overlay history` tells them")
        })
    }

    /// Says that what was there then is not known.
    pub(super) fn broken_note(&self) -> Option<Note> {
        let error = self.rendered.as_ref().err()?;
        let message = format!(
            "the overlay did not build at {}, so what it was then is not compared: {error}",
            self.shown
        );
        Some(note("then-broken", message))
    }
}

/// The refusal to go back to where there is nothing.
pub(in crate::ops) fn absent(directory: &str, commit: &str) -> Error {
    let shown = crate::discover::shown_directory(directory);
    let message = format!("{shown} was no overlay at {commit}");
    Error::new(codes::ABSENT_THEN, message)
        .hint("`overlay history` tells the commits since it is there")
}
