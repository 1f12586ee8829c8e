//! One overlay in memory: its files, what it renders, and the same after edits that are not written yet.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::Context;
use super::preflight::Editable;
use super::remote::Without;
use crate::checks::model::application::Repository;
use crate::checks::{self, Delta, Overlay as CheckedView};
use crate::discover::{KUSTOMIZATION_NAMES, Located, shown_directory};
use crate::error::{Error, Location, codes};
use crate::kustomize::{self, Entry, Files, Origin, Owner, Rendered, SourceTree};
use crate::plan::{self, Ground, LaterField, OwnFile, layer};
use crate::report::change::Proof;
use crate::yaml::{self, YamlError};

/// An overlay, loaded and rendered as it stands.
pub(crate) struct LoadedOverlay<'a> {
    /// Its directory relative to the boundary, `.` for the boundary itself.
    pub(crate) path: String,
    /// Its kustomization file, relative to the boundary.
    pub(crate) file: String,
    /// The text of that file.
    pub(crate) text: String,
    /// What it renders.
    pub(crate) before: Rendered,
    /// How much of it could be rendered.
    pub(crate) proof: Proof,
    /// What could not: remote references, and charts that cannot be had.
    pub(crate) unknown: Vec<String>,
    /// The directory of what is edited.
    directory: String,
    files: &'a dyn Files,
    context: &'a Context,
    tree: SourceTree,
    without: Without,
    later: OnceLock<Vec<LaterField>>,
}

impl<'a> LoadedOverlay<'a> {
    /// Renders `editable`; without its remote bases where those cannot be had.
    ///
    /// # Errors
    /// Where the overlay does not build as it stands, or nothing of it can be rendered.
    pub(crate) fn load(
        files: &'a dyn Files,
        editable: &Editable,
        context: &'a Context,
    ) -> Result<Self, Error> {
        let Editable { located, tree } = editable.clone();
        let file = edited_file(files, &tree, &located)?;
        if tree.file(&file).is_none() {
            files.read(&file)?;
        }
        let text = text_of(&tree, &file)?;
        if yaml::is_lfs_pointer(&text) {
            let place = Location::at(file, 1, 1);
            return Err(Error::new(codes::NOT_EDITABLE, yaml::IS_LFS_POINTER).at(place));
        }
        let mut overlay = Self {
            path: shown_directory(tree.overlay()),
            directory: located.directory.clone(),
            file,
            text,
            before: Rendered::default(),
            proof: Proof::Full,
            unknown: Vec::new(),
            files,
            context,
            tree,
            without: Without::default(),
            later: OnceLock::new(),
        };
        overlay.before = match overlay.render_with(&[]) {
            Err(error) => overlay.render_less(error)?,
            Ok(rendered) => rendered,
        };
        context.say(|| overlay.described());
        Ok(overlay)
    }

    fn described(&self) -> String {
        let (files, resources) = (self.tree.files().count(), self.before.resources.len());
        let layers = self.tree.kustomizations().count();
        format!(
            "{}: {files} files of {layers} kustomizations, {resources} resources rendered, proof {}",
            self.path,
            self.proof.word()
        )
    }

    /// What it renders with `edits`: paths relative to the boundary and their new texts.
    ///
    /// # Errors
    /// As the renderer; files that the overlay does not reach have no influence.
    pub(crate) fn render_with(&self, edits: &[(String, String)]) -> Result<Rendered, Error> {
        if edits.is_empty() && self.without == Without::Nothing {
            return Ok(self.context.render(&self.tree, self.tree.overlay())?.rendered);
        }
        Ok(self.build_with(edits)?.1)
    }

    /// As [`LoadedOverlay::render_with`], with the files that were rendered.
    ///
    /// # Errors
    /// As [`LoadedOverlay::render_with`].
    pub(crate) fn build_with(
        &self,
        edits: &[(String, String)],
    ) -> Result<(SourceTree, Rendered), Error> {
        let tree = self.tree_with(edits)?;
        let rendered = match self.without {
            Without::Everything => Rendered::default(),
            _ => self.context.render(&tree, tree.overlay())?.rendered,
        };
        Ok((tree, rendered))
    }

    fn tree_with(&self, edits: &[(String, String)]) -> Result<SourceTree, Error> {
        let edits = self.without.apply(&self.tree, edits);
        if edits.is_empty() {
            return Ok(self.tree.clone());
        }
        #[cfg(feature = "git")]
        let files = &self.context.with_remotes(self.files);
        #[cfg(not(feature = "git"))]
        let files = self.files;
        Ok(self.tree.with_edits(files, &edits)?)
    }

    /// What the checks find in `after`, rendered from `tree`, and not in what it renders as it
    /// stands, and the other way round.
    pub(crate) fn findings_delta(&self, tree: &SourceTree, after: &Rendered) -> Delta {
        let before = (&self.tree, &self.before);
        self.context.findings_between(before, (tree, after))
    }

    /// The images as they arrive at this overlay's `images:`, and which fields those reach: the same
    /// render twice, without and with a probe.
    ///
    /// # Errors
    /// As [`LoadedOverlay::render_with`].
    pub(crate) fn render_layer(&self) -> Result<(Rendered, Rendered), Error> {
        let probes = layer::probes(&self.text).map_err(|error| self.broken(error))?;
        Ok((self.render_as(probes.before)?, self.render_as(probes.probed)?))
    }

    /// What it renders with `text` as its kustomization file.
    ///
    /// # Errors
    /// As [`LoadedOverlay::render_with`], and the error of making the text.
    pub(crate) fn render_text(&self, text: Result<String, YamlError>) -> Result<Rendered, Error> {
        self.render_as(text.map_err(|error| self.broken(error))?)
    }

    fn broken(&self, error: YamlError) -> Error {
        let place = Location::at(self.file.clone(), error.line as usize, error.column as usize);
        Error::new(codes::BUILD_BROKEN, error.message).at(place)
    }

    fn render_as(&self, text: String) -> Result<Rendered, Error> {
        if self.without == Without::Everything {
            return Ok(Rendered::default());
        }
        let tree = self.tree_with(&[(self.file.clone(), text)])?;
        Ok(self.context.render_unprinted(&tree, tree.overlay())?.rendered)
    }

    /// What acts after its `images:`.
    pub(crate) fn later(&self) -> &[LaterField] {
        let read = || yaml::parse(&self.text).map(|tree| plan::read_later(&tree));
        self.later.get_or_init(|| read().unwrap_or_default())
    }

    /// The text of a file that the overlay reaches.
    ///
    /// # Errors
    /// Where it is none of the overlay's, or not UTF-8.
    pub(crate) fn text_of(&self, path: &str) -> Result<String, Error> {
        text_of(&self.tree, path)
    }

    /// Its own files besides the kustomization: in its directory, and in none of a kustomization below.
    pub(crate) fn own_files(&self) -> Vec<OwnFile> {
        let own = self.directory.as_str();
        let directory = |path: &str| path.rsplit_once('/').map_or("", |(d, _)| d).to_owned();
        let is_within = |path: &str, root: &str| {
            root.is_empty()
                || path == root
                || path.strip_prefix(root).is_some_and(|r| r.starts_with('/'))
        };
        let nested: Vec<&str> = self
            .tree
            .kustomizations()
            .map(|(d, _)| d)
            .filter(|d| *d != own && is_within(d, own))
            .collect();
        let mut files: Vec<OwnFile> = self
            .tree
            .files()
            .filter(|f| *f.path != *self.file && is_within(&directory(&f.path), own))
            .filter(|f| !nested.iter().any(|n| is_within(&directory(&f.path), n)))
            .filter(|f| !belongs_below(self.files, own, &f.path))
            .filter(|f| !self.tree.is_of_chart(&f.path))
            .filter_map(|f| {
                let text = std::str::from_utf8(&f.bytes).ok()?.to_owned();
                Some(OwnFile { path: f.path.to_string(), text })
            })
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files
    }

    /// Its own texts: the kustomization and [`LoadedOverlay::own_files`].
    pub(crate) fn ground(&self) -> Ground {
        let own = self.own_files().into_iter().map(|file| (file.path, file.text));
        let mut texts: BTreeMap<String, String> = own.collect();
        texts.insert(self.file.clone(), self.text.clone());
        Ground { file: self.file.clone(), texts }
    }

    /// Who decided a value of [`LoadedOverlay::before`]. Where remote references were left out of a
    /// file before it was rendered, its lines are not those on disk, and none is given.
    pub(crate) fn owner_of(&self, origin: Origin) -> Option<Owner> {
        let owner = kustomize::owner_of(&self.tree, &self.before, origin)?;
        let file = self.tree.file(&owner.file)?;
        let is_changed = self.proof == Proof::Partial
            && std::str::from_utf8(&file.bytes).is_ok_and(|text| self.without.moves_lines(text));
        Some(Owner { line: if is_changed { 0 } else { owner.line }, ..owner })
    }

    /// The files that the overlay reaches.
    pub(crate) fn tree(&self) -> &SourceTree {
        &self.tree
    }

    /// What can be rendered where all of it cannot, because of `error`: without its remote bases, and
    /// where the edit goes on unproven, without whatever is in the way.
    fn render_less(&mut self, error: Error) -> Result<Rendered, Error> {
        let unrenderable = [
            codes::NOT_BUILDABLE,
            codes::REMOTE_BASE,
            codes::RENDERER_MISSING,
            codes::HELM_MISSING,
        ];
        if !unrenderable.contains(&error.code()) {
            return Err(error);
        }
        let error = match error.code() {
            codes::REMOTE_BASE => {
                match self.render_levels(Without::levels(self.context.enable_helm)) {
                    Ok(rendered) => return Ok(rendered),
                    Err(reason) => self.nothing_without_remotes(&reason),
                }
            }
            _ => error,
        };
        if !self.context.goes_on_unproven() {
            return Err(error.hint("--no-proof edits without a proof"));
        }
        self.render_levels(&Without::UNPROVEN_LEVELS)
    }

    /// What the first of `levels` that builds renders.
    fn render_levels(&mut self, levels: &[Without]) -> Result<Rendered, Error> {
        let mut outcome = Ok(Rendered::default());
        for without in levels {
            self.without = *without;
            outcome = self.render_with(&[]);
            if outcome.is_ok() {
                break;
            }
        }
        let rendered = outcome?;
        self.unknown = self.without.left_out(&self.tree);
        let is_nothing = self.without.is_of_all() && rendered.resources.is_empty();
        self.proof = if is_nothing { Proof::None } else { Proof::Partial };
        Ok(rendered)
    }

    fn nothing_without_remotes(&self, reason: &Error) -> Error {
        let message = "nothing can be rendered without the remote bases of the overlay";
        let error = Error::new(codes::NOT_BUILDABLE, message).at(Location::file(self.file.clone()));
        error.cause(reason.to_string())
    }
}

impl Context {
    /// What the checks find in the second render of an overlay and not in the first, or in the way from one to the other, and what
    /// they find in the first alone; each with the files that it was made of.
    pub(crate) fn findings_between(
        &self,
        before: (&SourceTree, &Rendered),
        after: (&SourceTree, &Rendered),
    ) -> Delta {
        let settings = self.check_settings();
        let directory = before.0.overlay();
        let findings = |earlier, (tree, rendered): (&SourceTree, &Rendered)| {
            let view = CheckedView { directory, rendered, tree };
            let repository = Repository::default();
            checks::run_since(earlier, view, &[view], &settings, &repository).findings
        };
        checks::compare(&findings(None, before), &findings(Some(before.1), after))
    }
}

/// The kustomization file of the overlay, links followed.
///
/// # Errors
/// Where a link leads out of the overlay's own directory, or to what a kustomization below owns.
fn edited_file(files: &dyn Files, tree: &SourceTree, located: &Located) -> Result<String, Error> {
    let own = located.directory.as_str();
    let below = if own.is_empty() { String::new() } else { format!("{own}/") };
    let named = format!("{below}{}", located.file);
    let mut read = tree.kustomizations();
    let Some(file) = read.find(|(d, _)| *d == own).map(|(_, read)| read.file.path.to_string())
    else {
        return Ok(named);
    };
    if file == named || (file.starts_with(&below) && !belongs_below(files, own, &file)) {
        return Ok(file);
    }
    let message = format!("the file is a link to {file}, which is not the overlay's own");
    let hint = "only files in the overlay's directory are edited; put the file itself there";
    Err(Error::new(codes::NOT_EDITABLE, message).at(Location::file(named)).hint(hint))
}

/// Whether a directory on the way from `own` down to `path` has a kustomization of its own, used or not.
fn belongs_below(files: &dyn Files, own: &str, path: &str) -> bool {
    let is_kustomization = |directory: &str| {
        let stands = |name: &&str| {
            matches!(files.entry(&format!("{directory}/{name}")), Ok(Some(Entry::File { .. })))
        };
        KUSTOMIZATION_NAMES.iter().any(stands)
    };
    let mut directory = path;
    while let Some((parent, _)) = directory.rsplit_once('/') {
        if parent.len() <= own.len() {
            return false;
        }
        if is_kustomization(parent) {
            return true;
        }
        directory = parent;
    }
    false
}

fn text_of(tree: &SourceTree, path: &str) -> Result<String, Error> {
    let place = || Location::file(path);
    let file = tree.file(path).ok_or_else(|| {
        Error::new(codes::UNREADABLE_FILE, "not among the files of the overlay").at(place())
    })?;
    let text = std::str::from_utf8(&file.bytes)
        .map_err(|_| Error::new(codes::NOT_EDITABLE, "the file is not valid UTF-8").at(place()))?;
    Ok(text.to_owned())
}
