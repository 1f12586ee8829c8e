//! The two ends of a comparison: a revision, and another one or the files on disk.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::Arc;

use super::Context;
use super::revision;
use crate::discover::{self, DiskFiles, KUSTOMIZATION_NAMES};
use crate::error::{Error, codes};
use crate::git::{Repository, RevisionFiles};
use crate::kustomize::{Entry, Files};

/// Which two versions are compared.
#[derive(Clone, Debug)]
pub struct Range {
    /// The earlier end, a revision.
    pub from: String,
    /// The later end; the files on disk if there is none.
    pub to: Option<String>,
}

impl Range {
    /// From one revision to another, or to the files on disk.
    ///
    /// # Errors
    /// [`codes::USAGE`] where both are the same.
    pub fn new(from: String, to: Option<String>) -> Result<Self, Error> {
        if to.as_ref() == Some(&from) {
            return Err(Error::new(codes::USAGE, format!("--from and --to are both `{from}`")));
        }
        Ok(Self { from, to })
    }
}

/// The files of one end.
pub(crate) enum EndFiles {
    Disk(DiskFiles),
    Revision(RevisionFiles),
}

impl EndFiles {
    /// As the build reads them.
    pub(crate) fn files(&self) -> &dyn Files {
        match self {
            Self::Disk(files) => files,
            Self::Revision(files) => files,
        }
    }

    /// Every directory with a kustomization file.
    fn kustomizations(&self) -> Result<Vec<String>, Error> {
        Ok(match self {
            Self::Disk(files) => discover::find_kustomizations(files.root())?.directories,
            Self::Revision(files) => files.directories_with(&KUSTOMIZATION_NAMES)?,
        })
    }

    /// Whether `directory` holds a kustomization file.
    pub(crate) fn has_overlay(&self, directory: &str) -> bool {
        KUSTOMIZATION_NAMES.iter().any(|name| {
            let path = if directory.is_empty() {
                (*name).to_owned()
            } else {
                format!("{directory}/{name}")
            };
            matches!(self.files().entry(&path), Ok(Some(Entry::File { .. })))
        })
    }
}

/// Both ends. The earlier one has a context of its own, for its lock file may say something else of
/// remote bases.
pub(crate) struct Ends {
    pub(crate) from: EndFiles,
    pub(crate) to: EndFiles,
    pub(crate) from_context: Context,
}

impl Ends {
    fn open(context: &Context, range: &Range) -> Result<(Self, Repository), Error> {
        let settings = Arc::new(context.git_settings());
        let repository = Repository::open(&settings, &context.cwd)?;
        let from = EndFiles::Revision(repository.files_at(&range.from)?);
        let to = match &range.to {
            Some(revision) => EndFiles::Revision(repository.files_at(revision)?),
            None => EndFiles::Disk(context.locate_directories(&[context.cwd.clone().into()])?.0),
        };
        Ok((Self { from, to, from_context: context.with_own_remotes() }, repository))
    }

    /// Both ends, and the overlays that `typed` names at one or the other, relative to the boundary.
    ///
    /// # Errors
    /// Where there is no repository or no such revision, or one names no overlay at either end.
    pub(crate) fn of_overlays(
        context: &Context,
        range: &Range,
        typed: &[OsString],
    ) -> Result<(Self, Vec<String>), Error> {
        let (ends, repository) = Self::open(context, range)?;
        let located = ends.locate_all(context, &repository, typed)?;
        Ok((ends, located))
    }

    /// Both ends, every directory with a kustomization file at one or the other, and those of them that
    /// are below one of `typed`; all where nothing is typed.
    ///
    /// # Errors
    /// As [`Ends::of_overlays`].
    pub(crate) fn of_repository(
        context: &Context,
        range: &Range,
        typed: &[OsString],
    ) -> Result<(Self, Vec<String>, Vec<OsString>), Error> {
        let (ends, repository) = Self::open(context, range)?;
        let below = context.below_top(&repository, typed)?;
        let mut all: BTreeSet<String> = ends.from.kustomizations()?.into_iter().collect();
        all.extend(ends.to.kustomizations()?);
        Ok((ends, all.into_iter().collect(), below))
    }

    fn locate_all(
        &self,
        context: &Context,
        repository: &Repository,
        typed: &[OsString],
    ) -> Result<Vec<String>, Error> {
        let below = context.below_top(repository, typed)?;
        let at_to = |typed: &[OsString], below: &[OsString]| match &self.to {
            EndFiles::Disk(_) => context.locate(typed).map(|(_, located)| located),
            EndFiles::Revision(files) => revision::locate(files, below),
        };
        let at_from = |below: &[OsString]| match &self.from {
            EndFiles::Revision(files) => revision::locate(files, below),
            EndFiles::Disk(_) => Ok(Vec::new()),
        };
        let mut found: Vec<String> = Vec::new();
        let mut add = |directory: String| {
            if !found.contains(&directory) {
                found.push(directory);
            }
        };
        for (typed, below) in typed.iter().zip(&below) {
            let (typed, below) = (std::slice::from_ref(typed), std::slice::from_ref(below));
            match (at_to(typed, below), at_from(below)) {
                (Err(error), Err(_)) => return Err(error),
                (to, from) => to.into_iter().chain(from).flatten().for_each(|l| add(l.directory)),
            }
        }
        Ok(found)
    }
}
