//! Where a field goes: the statement that decides it today, or a new one, as `docs/placement.md` says.
//!
//! Each candidate is an edit of the overlay's own texts and is taken only if it is proven: the
//! [`Prover`] renders the texts and measures. Candidates are tried in the order of the table, so the
//! first that is exact is the one written; the search ends with the reason of the best that was not.

mod body;
mod candidate;
mod entry;
mod overwrite;
mod pointer;
mod refusal;
mod statement;
mod write;

use std::collections::BTreeMap;

use super::error::PlanError;
use super::write::{Placement, PlacementKind, Plan, open};
use crate::change::Wish;
use crate::edit::{FileEdit, TextEdit};
use crate::kustomize::{FieldPath, Rendered, Resource, ResourceId};
use crate::plan::Note;
use crate::yaml::Path;

pub(super) use body::tests_on_the_way;
pub(super) use candidate::group_pattern;
pub use overwrite::{Overwritten, find_overwritten};

use candidate::{Candidate, candidates};
use statement::{SpotKind, Statements};

/// Why an edit is not the change that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unproven {
    /// The overlay would not build.
    Breaks(String),
    /// Something else would change too.
    Wider(String),
    /// The field would keep its value, or get another one.
    NoEffect(String),
    /// It could not be rendered for a reason that is not the overlay's.
    Failed(String),
}

impl Unproven {
    /// The reason in words.
    #[must_use]
    pub fn message(&self) -> &str {
        match self {
            Self::Breaks(text) | Self::Wider(text) | Self::NoEffect(text) | Self::Failed(text) => {
                text
            }
        }
    }
}

/// Renders texts in memory and measures what they do.
pub trait Prover {
    /// What the overlay renders with `texts` in place of its files, if it differs from what it
    /// renders today in exactly `wishes`.
    ///
    /// # Errors
    /// [`Unproven`] with the resource and field.
    fn prove(&self, texts: &[(String, String)], wishes: &[Wish]) -> Result<Rendered, Unproven>;
}

/// The files that may be edited.
#[derive(Clone, Debug)]
pub struct Ground {
    /// The kustomization file, relative to the boundary.
    pub file: String,
    /// Every file of the overlay's own, the kustomization among them, with its text.
    pub texts: BTreeMap<String, String>,
}

/// What placing wishes came to.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// The edits.
    pub plan: Plan,
    /// What to know: statements without effect.
    pub notes: Vec<Note>,
}

/// A statement of a field in the overlay's own files.
#[derive(Clone, Debug, PartialEq)]
pub struct Stated {
    /// The file.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
    /// What it says, as kustomize reads it.
    pub value: serde_json::Value,
}

/// Every statement of `path` of `resource` in the overlay's own files, the strongest first.
#[must_use]
pub fn own_statements(
    ground: &Ground,
    rendered: &Rendered,
    resource: &Resource,
    path: &FieldPath,
) -> Vec<Stated> {
    let (file, texts) = (&*ground.file, &ground.texts);
    let found = Statements::find(&Scene { file, texts, rendered, resource }, path);
    let stated =
        |spot: statement::Spot| Stated { file: spot.file, line: spot.line, value: spot.value };
    found.spots.into_iter().rev().map(stated).collect()
}

/// The place of a statement: a value in a file, or in the text that stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnStatement {
    /// The file.
    pub(super) file: String,
    /// The value in the file, or the text that holds it.
    pub(super) outer: Path,
    /// The value in that text.
    pub(super) inner: Option<Path>,
}

/// The statement of the overlay's own that decides `path` of `resource` today, where it concerns nothing
/// else and is no entry of `replicas:`.
pub(super) fn own_decider(
    ground: &Ground,
    rendered: &Rendered,
    resource: &Resource,
    path: &FieldPath,
) -> Option<OwnStatement> {
    let (file, texts) = (&*ground.file, &ground.texts);
    let statements = Statements::find(&Scene { file, texts, rendered, resource }, path);
    let owner = statements.owner()?;
    let decides = |spot: &&statement::Spot| {
        !spot.is_shared && spot.kind != SpotKind::Replicas && spot.place() == owner
    };
    let spot = statements.spots.iter().rev().find(decides)?;
    let (file, outer, inner) = (spot.file.clone(), spot.outer.clone(), spot.inner.clone());
    Some(OwnStatement { file, outer, inner })
}

/// Places `wishes` one resource after the other.
///
/// # Errors
/// [`PlanError`] with the reason for which the first field that cannot be placed is not.
pub fn place_wishes(
    ground: &Ground,
    before: &Rendered,
    wishes: &[Wish],
    prover: &dyn Prover,
) -> Result<Placed, PlanError> {
    let mut placer = Placer {
        file: &ground.file,
        original: &ground.texts,
        texts: ground.texts.clone(),
        rendered: before.clone(),
        prover,
        done: Vec::new(),
        placements: Vec::new(),
        notes: Vec::new(),
    };
    for group in by_resource(wishes) {
        placer.place_group(&group)?;
    }
    Ok(placer.finish())
}

fn by_resource(wishes: &[Wish]) -> Vec<Vec<Wish>> {
    let mut groups: Vec<Vec<Wish>> = Vec::new();
    for wish in wishes {
        match groups.iter_mut().find(|group| group[0].resource == wish.resource) {
            Some(group) => group.push(wish.clone()),
            None => groups.push(vec![wish.clone()]),
        }
    }
    groups
}

/// What was written for which field.
struct Written {
    wish: Wish,
    kind: PlacementKind,
    file: String,
    line: u32,
}

struct Placer<'a> {
    file: &'a str,
    original: &'a BTreeMap<String, String>,
    texts: BTreeMap<String, String>,
    rendered: Rendered,
    prover: &'a dyn Prover,
    done: Vec<Wish>,
    placements: Vec<Written>,
    notes: Vec<Note>,
}

/// The state that a candidate is made from.
struct Scene<'p> {
    file: &'p str,
    texts: &'p BTreeMap<String, String>,
    rendered: &'p Rendered,
    resource: &'p Resource,
}

impl Placer<'_> {
    fn place_group(&mut self, wishes: &[Wish]) -> Result<(), PlanError> {
        let mut left: Vec<Wish> = Vec::new();
        for wish in wishes {
            if self.is_so(wish) {
                continue;
            }
            // Kustomize reads the first document of its file alone.
            open(self.file, self.texts.get(self.file).map_or("", |text| text))?;
            if !self.edit_in_place(wish)? {
                left.push(wish.clone());
            }
        }
        if let Some(first) = left.first().cloned() {
            self.add(&first.resource, &left)?;
        }
        wishes.iter().for_each(|wish| self.note_shadowed(wish));
        Ok(())
    }

    fn resource(&self, id: &ResourceId) -> Option<&Resource> {
        self.rendered.resources.iter().find(|r| r.current_id() == *id)
    }

    fn is_so(&self, wish: &Wish) -> bool {
        let resource = self.resource(&wish.resource);
        let node = resource.and_then(|resource| wish.path.find(&resource.node));
        pointer::is_value(node, wish.value.as_ref())
    }

    fn scene(&self, id: &ResourceId) -> Result<Scene<'_>, PlanError> {
        let resource = self.resource(id).ok_or_else(|| PlanError::Unplaced {
            user: format!("{}/{}", id.kind, id.name),
            reason: "it is not among the rendered resources".to_owned(),
        })?;
        let (file, texts, rendered) = (self.file, &self.texts, &self.rendered);
        Ok(Scene { file, texts, rendered, resource })
    }

    /// Edits the statement that decides the field today, where it is the overlay's own and concerns
    /// nothing else.
    fn edit_in_place(&mut self, wish: &Wish) -> Result<bool, PlanError> {
        let scene = self.scene(&wish.resource)?;
        let statements = Statements::find(&scene, &wish.path);
        let owner = statements.owner();
        let own: Vec<_> = statements.likely().filter(|spot| !spot.is_shared).cloned().collect();
        for spot in own {
            let text = &self.texts[&spot.file];
            let edited = match write::set_at(text, &spot, wish.value.as_ref()) {
                Ok(texts) => texts,
                Err(error) if error.is_of_form() && is_in(&owner, &spot.file) => {
                    return Err(error.into());
                }
                Err(_) => continue,
            };
            for text in edited {
                let kind = match spot.kind {
                    SpotKind::Replicas => PlacementKind::Entry,
                    SpotKind::Patch | SpotKind::Resource => PlacementKind::Field,
                };
                let edit = vec![(spot.file.clone(), text)];
                if self.attempt(edit, std::slice::from_ref(wish), kind).is_ok() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Adds statements for what nothing of the overlay's own decides.
    fn add(&mut self, id: &ResourceId, wishes: &[Wish]) -> Result<(), PlanError> {
        let (replicas, others): (Vec<Wish>, Vec<Wish>) =
            wishes.iter().cloned().partition(|wish| candidate::is_replicas(&wish.path));
        for wishes in [replicas, others].iter().filter(|wishes| !wishes.is_empty()) {
            self.add_all(id, wishes)?;
        }
        Ok(())
    }

    fn add_all(&mut self, id: &ResourceId, wishes: &[Wish]) -> Result<(), PlanError> {
        let made: Vec<Candidate> = candidates(&self.scene(id)?, wishes);
        let mut reasons = Vec::new();
        for candidate in made {
            match self.attempt(candidate.texts, wishes, candidate.kind) {
                Ok(()) => return Ok(()),
                Err(reason) => reasons.push(reason),
            }
        }
        Err(self.refusal(&wishes[0], reasons))
    }

    /// Takes the texts if they do what is wished, and nothing besides.
    fn attempt(
        &mut self,
        edits: Vec<(String, String)>,
        wishes: &[Wish],
        kind: PlacementKind,
    ) -> Result<(), Unproven> {
        let mut texts = self.texts.clone();
        let line =
            edits.first().map_or(0, |(file, text)| first_difference(&self.texts[file], text));
        let file = edits.first().map(|(file, _)| file.clone()).unwrap_or_default();
        texts.extend(edits);
        let wanted: Vec<Wish> = self.done.iter().chain(wishes).cloned().collect();
        self.rendered = self.prover.prove(&changed(self.original, &texts), &wanted)?;
        self.texts = texts;
        self.done = wanted;
        let written = |wish: &Wish| Written { wish: wish.clone(), kind, file: file.clone(), line };
        self.placements.extend(wishes.iter().map(written));
        Ok(())
    }

    /// Statements of the same field in this overlay that another of its statements overrides.
    fn note_shadowed(&mut self, wish: &Wish) {
        let Ok(scene) = self.scene(&wish.resource) else { return };
        let statements = Statements::find(&scene, &wish.path);
        let Some(owner) = statements.owner() else { return };
        let shadowed: Vec<Note> = statements
            .spots
            .iter()
            .filter(|s| !s.is_shared && s.kind != SpotKind::Resource && s.place() != owner)
            .map(|s| shadowed_note(wish, s, &owner))
            .collect();
        for note in shadowed {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    fn finish(self) -> Placed {
        let texts = changed(self.original, &self.texts);
        let edits = texts.iter().map(|(file, text)| {
            let edits = whole_edit(&self.original[file], text);
            FileEdit::edit(file.clone(), edits)
        });
        let placements = self.placements.iter().map(|written| self.placement(written)).collect();
        Placed {
            plan: Plan { edits: edits.collect(), texts: texts.clone(), placements },
            notes: self.notes,
        }
    }

    /// The line that decides the value after the edit; for what was removed, the first line that differs.
    fn placement(&self, written: &Written) -> Placement {
        let node =
            self.resource(&written.wish.resource).and_then(|r| written.wish.path.find(&r.node));
        let place = node.and_then(|node| self.rendered.place(node.origin));
        let own = place.filter(|(file, line)| *line > 0 && self.texts.contains_key(*file));
        let (file, line) = own.unwrap_or((&written.file, written.line));
        let what = written.wish.shown();
        Placement { file: file.to_owned(), line, kind: written.kind, what }
    }
}

/// Whether the field is decided in `file`: with a key twice, or one before its colon on a line of its own, the line
/// of the statement is not that of the value.
fn is_in(owner: &Option<(String, u32)>, file: &str) -> bool {
    owner.as_ref().is_some_and(|(owner, _)| owner == file)
}

fn shadowed_note(wish: &Wish, spot: &statement::Spot, owner: &(String, u32)) -> Note {
    let (file, line) = owner;
    let says = if wish.resource.is_secret() { "another value" } else { &spot.says };
    let message = format!(
        "{}: {}:{} says {says} and has no effect, {file}:{line} decides (a shadowed {})",
        wish.shown(),
        spot.file,
        spot.line,
        match spot.kind {
            SpotKind::Replicas => "`replicas:` entry",
            _ => "patch",
        },
    );
    Note { code: "shadowed-statement", message }
}

fn changed(
    original: &BTreeMap<String, String>,
    texts: &BTreeMap<String, String>,
) -> Vec<(String, String)> {
    let differs = |(file, text): &(&String, &String)| original.get(*file) != Some(*text);
    texts.iter().filter(differs).map(|(file, text)| (file.clone(), text.clone())).collect()
}

/// The line of the new text, from 1, at which it begins to differ.
fn first_difference(old: &str, new: &str) -> u32 {
    let same = old.lines().zip(new.lines()).take_while(|(a, b)| a == b).count();
    u32::try_from(same + 1).unwrap_or(u32::MAX)
}

/// One edit from the first to the last byte that differs.
fn whole_edit(old: &str, new: &str) -> Vec<TextEdit> {
    let is_boundary = |n: usize| old.is_char_boundary(n) && new.is_char_boundary(n);
    let mut start = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    while !is_boundary(start) {
        start -= 1;
    }
    let most = old.len().min(new.len()) - start;
    let pairs = old.bytes().rev().zip(new.bytes().rev());
    let mut end = pairs.take(most).take_while(|(a, b)| a == b).count();
    while !(old.is_char_boundary(old.len() - end) && new.is_char_boundary(new.len() - end)) {
        end -= 1;
    }
    vec![TextEdit::new(start..old.len() - end, &new[start..new.len() - end])]
}
