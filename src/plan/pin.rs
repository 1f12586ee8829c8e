//! From pins and a view of the overlay to decisions: which entry changes and how, which entry is new,
//! which place takes a value of its own. The places and forms are those of `docs/placement.md`.

mod describe;
#[cfg(feature = "registry")]
mod find;
mod rename;

#[cfg(feature = "registry")]
pub use find::find_places;

use super::database::check_database_tag;
use super::entries::{ImagesEntry, chain};
use super::error::{PlanError, Statement};
use super::later::LaterField;
use super::new_entry::name_for;
use super::tag_rule::{EntryField, EntryForm, FieldEdit, Wanted, edit_entry, new_entry};
use crate::change::{Found, Key, KeyError, Pin, PinImages, TagChoice};
use crate::image::{Digest, Named, Split, is_same_name, last_segments_match};
use crate::kustomize::{ImageUse, Resource, UseKind};
use std::collections::{BTreeMap, HashMap};

/// What planning sees of one overlay.
#[derive(Clone, Copy, Debug)]
pub struct PinView<'a> {
    /// The kustomization file, relative to the boundary.
    pub file: &'a str,
    /// Its `images:` entries.
    pub entries: &'a [ImagesEntry],
    /// What acts after them.
    pub later: &'a [LaterField],
    /// Every place that names an image, traced through the entries.
    pub uses: &'a [ImageUse],
    /// What the overlay renders today.
    pub resources: &'a [Resource],
    /// A remote base could not be read, so that more may use an image than is seen.
    pub is_partial: bool,
}

/// One thing to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Fields of an entry change.
    Entry {
        /// The entry's position.
        index: usize,
        /// The changes, none of them void.
        edits: Vec<FieldEdit>,
    },
    /// An entry is added at the end of the list.
    NewEntry(Vec<(EntryField, String)>),
    /// A place that `images:` does not reach takes a reference.
    Place {
        /// The place's position in the view.
        place: usize,
        /// The whole reference.
        reference: String,
        /// The key that asked for it.
        key: String,
    },
}

/// Something that a person should know about a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// A stable word.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
}

/// Everything decided for one overlay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decisions {
    /// What to write, in the order of the pins.
    pub decisions: Vec<Decision>,
    /// What to know.
    pub notes: Vec<Note>,
    /// The keys that name nothing here, each with its error; another overlay may know them.
    pub unmatched: Vec<(String, PlanError)>,
    /// How many keys name something here.
    pub matched: usize,
}

/// Traces every place through `entries`: fills in what the entries that act on it call it.
pub fn trace_entries(uses: &mut [ImageUse], entries: &[ImagesEntry]) {
    for place in uses {
        let Some(arriving) = &place.arriving else { continue };
        let acting = chain(entries, arriving).0;
        let names = acting.iter().map(|i| &entries[*i]);
        let names = names.flat_map(|entry| std::iter::once(&entry.name).chain(&entry.new_name));
        place.entry_names = names.map(|name| name.as_str().into()).collect();
    }
}

/// Decides every pin of `change`.
///
/// # Errors
/// The first reason for which a key that names something here cannot be pinned.
pub fn decide_pins(change: &PinImages, view: PinView<'_>) -> Result<Decisions, PlanError> {
    let mut planner = Planner::new(change, view);
    for pin in &change.pins {
        match planner.find(pin) {
            Ok(found) => {
                planner.out.matched += 1;
                planner.claim(pin, &found)?;
                planner.targets.push((pin, found));
            }
            Err(error) => planner.unmatched(pin, error)?,
        }
    }
    for (pin, found) in planner.targets.clone() {
        planner.pin(pin, &found)?;
    }
    planner.note_floating_arguments();
    Ok(planner.out)
}

struct Planner<'a> {
    change: &'a PinImages,
    view: PinView<'a>,
    /// Per place, the entries that act on it; the last one decides.
    chains: Vec<Vec<usize>>,
    /// The places that a key may name.
    askable: Vec<usize>,
    claims: HashMap<usize, &'a Pin>,
    targets: Vec<(&'a Pin, Vec<usize>)>,
    out: Decisions,
}

impl<'a> Planner<'a> {
    fn new(change: &'a PinImages, view: PinView<'a>) -> Self {
        let acting = |place: &ImageUse| {
            place.arriving.as_ref().map_or_else(Vec::new, |text| chain(view.entries, text).0)
        };
        let is_askable = |place: &ImageUse| match &place.kind {
            UseKind::Argument { flag, .. } => change.has_image_arg(flag),
            _ => true,
        };
        Self {
            change,
            view,
            chains: view.uses.iter().map(acting).collect(),
            askable: (0..view.uses.len()).filter(|i| is_askable(&view.uses[*i])).collect(),
            claims: HashMap::new(),
            targets: Vec::new(),
            out: Decisions::default(),
        }
    }

    fn find(&self, pin: &Pin) -> Result<Vec<usize>, PlanError> {
        self.places(&pin.key, pin.find_fields(&self.named()))
    }

    /// The places that a key may name, in its words.
    fn named(&self) -> Vec<Named<'a>> {
        self.askable.iter().map(|i| self.view.uses[*i].as_named()).collect()
    }

    fn places(&self, key: &Key, found: Result<Found, KeyError>) -> Result<Vec<usize>, PlanError> {
        match found {
            Ok(found) if found.is_whole_name || self.dead_entry(key).is_none() => {
                Ok(found.fields.into_iter().map(|i| self.askable[i]).collect())
            }
            Err(KeyError::Several(names)) => {
                Err(PlanError::Ambiguous { key: key.as_str().to_owned(), names })
            }
            _ => Err(self.nothing(key)),
        }
    }

    fn nothing(&self, key: &Key) -> PlanError {
        let mut rendered: Vec<String> =
            self.view.uses.iter().map(|u| u.as_named().name().to_owned()).collect();
        rendered.sort();
        rendered.dedup();
        match self.dead_entry(key) {
            Some(entry) if !self.view.is_partial => {
                let (key, entry) = (key.as_str().to_owned(), self.statement(entry));
                PlanError::DeadEntry { key, entry, rendered }
            }
            _ => PlanError::NoSuchImage { key: key.as_str().to_owned(), rendered },
        }
    }

    /// An entry that the key names and that acts on nothing rendered.
    fn dead_entry(&self, key: &Key) -> Option<&'a ImagesEntry> {
        let names = |entry: &ImagesEntry| {
            let of = |name: &str| is_same_name(Split::parse(name).name, key.name());
            of(&entry.name) || entry.new_name.as_deref().is_some_and(of)
        };
        let acts = |entry: &ImagesEntry| self.chains.iter().any(|c| c.contains(&entry.index));
        self.view.entries.iter().find(|entry| names(entry) && !acts(entry))
    }

    /// The one entry whose name ends as the key does, and that acts on nothing that can be seen.
    fn unseen_entry(&self, pin: &Pin) -> Option<&'a ImagesEntry> {
        let ends = |name: &str| last_segments_match(Split::parse(name).name, pin.key.name());
        let is_its =
            |entry: &&ImagesEntry| ends(&entry.name) || entry.new_name.as_deref().is_some_and(ends);
        let acts = |entry: &ImagesEntry| self.chains.iter().any(|c| c.contains(&entry.index));
        let mut found = self.view.entries.iter().filter(is_its);
        let first = found.next().filter(|entry| !acts(entry))?;
        found.next().is_none().then_some(first)
    }

    fn unmatched(&mut self, pin: &'a Pin, error: PlanError) -> Result<(), PlanError> {
        let is_unknown = matches!(error, PlanError::NoSuchImage { .. });
        if matches!(error, PlanError::Ambiguous { .. }) {
            return Err(error);
        }
        if !(self.view.is_partial && is_unknown) {
            self.out.unmatched.push((pin.key.as_str().to_owned(), error));
            return Ok(());
        }
        if let Some(entry) = self.dead_entry(&pin.key).or_else(|| self.unseen_entry(pin)) {
            self.out.matched += 1;
            let rendered = unseen_reference(entry);
            return self.edit_entry(pin, entry.index, &[], Split::parse(&rendered));
        }
        if !self.change.unseen {
            let key = pin.key.as_str().to_owned();
            self.out.unmatched.push((key.clone(), PlanError::Unseen { key }));
            return Ok(());
        }
        self.out.matched += 1;
        let wanted = self.wanted(pin, &[], Split::parse(pin.key.as_str()));
        let fields =
            new_entry(pin.key.as_str(), &wanted).map_err(|e| self.tag_error(pin, &[], e))?;
        if let Some((_, new)) = fields.iter().find(|(field, _)| *field == EntryField::NewName) {
            self.settle_new_name(pin, pin.key.name(), new)?;
        }
        self.out.decisions.push(Decision::NewEntry(fields));
        Ok(())
    }

    /// Remembers who asks for each place; two keys may ask for the same.
    fn claim(&mut self, pin: &'a Pin, found: &[usize]) -> Result<(), PlanError> {
        for i in found {
            let other = self.claims.insert(*i, pin).filter(|other| other.value != pin.value);
            if let Some(other) =
                other.filter(|o| o.value.digest != pin.value.digest || o.value.tag != pin.value.tag)
            {
                return Err(PlanError::Contradiction {
                    first: other.key.as_str().to_owned(),
                    second: pin.key.as_str().to_owned(),
                    reference: self.view.uses[*i].reference.to_string(),
                });
            }
        }
        Ok(())
    }

    fn pin(&mut self, pin: &'a Pin, found: &[usize]) -> Result<(), PlanError> {
        let is_ephemeral = |i: &usize| self.view.uses[*i].kind == UseKind::Ephemeral;
        let (ephemeral, found): (Vec<usize>, Vec<usize>) =
            found.iter().partition(|i| is_ephemeral(i));
        if let (Some(first), true) = (ephemeral.first(), found.is_empty()) {
            let (key, user) = (pin.key.as_str().to_owned(), self.user(*first));
            return Err(PlanError::EphemeralOnly { key, user });
        }
        for i in ephemeral {
            self.note_ephemeral(i);
        }
        let (unmatchable, found): (Vec<usize>, Vec<usize>) =
            found.into_iter().partition(|i| self.view.uses[*i].is_unmatchable());
        if let (Some(first), true) = (unmatchable.first(), found.is_empty()) {
            let (key, user) = (pin.key.as_str().to_owned(), self.reference_and_user(*first));
            return Err(PlanError::Unmatchable { key, user });
        }
        for i in unmatchable {
            self.note_unmatchable(i);
        }
        for i in &found {
            self.guard(pin, *i)?;
        }
        let (reached, apart): (Vec<usize>, Vec<usize>) =
            found.iter().partition(|i| self.view.uses[**i].arriving.is_some());
        self.pin_reached(pin, &reached)?;
        apart.into_iter().try_for_each(|i| self.pin_apart(pin, i))
    }

    /// Placeholders are the owner's decision; a database's tag is its version.
    fn guard(&self, pin: &Pin, i: usize) -> Result<(), PlanError> {
        let place = &self.view.uses[i];
        let rendered = Split::parse(&place.reference);
        if Digest::is_placeholder(rendered.digest) && !self.change.replace_placeholder {
            return Err(self.placeholder(pin, i));
        }
        match &pin.value.tag {
            Some(tag) if place.needs_tag() && rendered.digest != pin.value.digest.as_str() => {
                check_database_tag(rendered.tag, tag).map_err(|reason| PlanError::Database {
                    key: pin.key.as_str().to_owned(),
                    user: self.user(i),
                    reason,
                })
            }
            _ => Ok(()),
        }
    }

    fn pin_reached(&mut self, pin: &'a Pin, reached: &[usize]) -> Result<(), PlanError> {
        let is_lost = |i: &&usize| self.view.uses[**i].is_overridden && !self.is_right(pin, **i);
        if let Some(lost) = reached.iter().find(is_lost) {
            return Err(self.overridden(pin, *lost));
        }
        self.refuse_several(pin, reached)?;
        let mut groups: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for i in reached {
            groups.entry(self.chains[*i].last().copied()).or_default().push(*i);
        }
        for (decider, group) in groups {
            let Some(entry) = decider else {
                self.add_entries(pin, &group)?;
                continue;
            };
            self.refuse_wider(pin, entry)?;
            let rendered = Split::parse(&self.view.uses[group[0]].reference);
            self.edit_entry(pin, entry, &group, rendered)?;
        }
        Ok(())
    }

    /// Two entries for one repository: both named, unless the key is the name of the one in force.
    fn refuse_several(&self, pin: &Pin, reached: &[usize]) -> Result<(), PlanError> {
        let names = |i: &usize| {
            is_same_name(Split::parse(&self.view.entries[*i].name).name, pin.key.name())
        };
        let mut deciders: Vec<usize> = Vec::new();
        for i in reached {
            let acting = &self.chains[*i];
            let named: Vec<&usize> = acting.iter().filter(|e| names(e)).collect();
            let decides = named.len() == 1 && Some(named[0]) == acting.last();
            if acting.len() > 1 && !decides {
                return Err(self.several(pin, acting.clone(), acting.last().copied()));
            }
            deciders.extend(acting.last());
        }
        deciders.sort_unstable();
        deciders.dedup();
        if deciders.len() > 1 && !deciders.iter().all(names) {
            return Err(self.several(pin, deciders, None));
        }
        for decider in deciders {
            let name = &self.view.entries[decider].name;
            let same = self.view.entries.iter().filter(|e| e.name == *name).map(|e| e.index);
            let same: Vec<usize> = same.collect();
            if same.len() > 1 {
                return Err(self.several(pin, same, Some(decider)));
            }
        }
        Ok(())
    }

    /// The entry may decide what was named and nothing else.
    fn refuse_wider(&self, pin: &Pin, entry: usize) -> Result<(), PlanError> {
        let is_asked = |i: &usize| self.claims.get(i).is_some_and(|other| other.value == pin.value);
        let decided = (0..self.chains.len()).filter(|i| self.chains[*i].last() == Some(&entry));
        let decided: Vec<usize> = decided.collect();
        self.refuse_pattern(pin, entry, &decided)?;
        match decided.into_iter().find(|i| !is_asked(i)) {
            None => Ok(()),
            Some(i) => Err(PlanError::AlsoDecides {
                key: pin.key.as_str().to_owned(),
                entry: self.statement(&self.view.entries[entry]),
                other: self.reference_and_user(i),
            }),
        }
    }

    /// An entry that is the name of one image hits another by a dot alone: a key that is the entry's name does not name both.
    fn refuse_pattern(&self, pin: &Pin, entry: usize, decided: &[usize]) -> Result<(), PlanError> {
        let statement = &self.view.entries[entry];
        let name = Split::parse(&statement.name).name;
        let is_literal = |i: &usize| {
            let arriving = self.view.uses[*i].arriving.as_deref().unwrap_or_default();
            let text = chain(&self.view.entries[..entry], arriving).1;
            Split::parse(&text).name == name
        };
        let (literal, hit): (Vec<usize>, Vec<usize>) = decided.iter().partition(|i| is_literal(i));
        match hit.into_iter().find(|i| !self.is_named_itself(pin, *i)) {
            Some(i) if !literal.is_empty() => Err(PlanError::PatternHits {
                key: pin.key.as_str().to_owned(),
                entry: self.statement(statement),
                other: self.reference_and_user(i),
            }),
            _ => Ok(()),
        }
    }

    /// Whether a key that asks for this value names the place by more than an entry that acts on it.
    fn is_named_itself(&self, pin: &Pin, i: usize) -> bool {
        let place = &self.view.uses[i];
        let entry_names = place.arriving.as_deref().into_iter().collect();
        let named = [Named { entry_names, ..place.as_named() }];
        let mut same = self.change.pins.iter().filter(|other| other.value == pin.value);
        same.any(|other| other.key.find_fields(&named).is_ok())
    }

    fn edit_entry(
        &mut self,
        pin: &'a Pin,
        index: usize,
        group: &[usize],
        rendered: Split<'_>,
    ) -> Result<(), PlanError> {
        let entry = &self.view.entries[index];
        if entry.digest.as_deref().is_some_and(Digest::is_placeholder)
            && !self.change.replace_placeholder
        {
            let at = Statement { line: entry.version_line, ..self.statement(entry) };
            let users = "nothing that is rendered uses it".to_owned();
            return Err(PlanError::Placeholder { key: pin.key.as_str().to_owned(), at, users });
        }
        let form = EntryForm {
            name: &entry.name,
            new_name: entry.new_name.as_deref(),
            new_tag: entry.new_tag.as_deref(),
            digest: entry.digest.as_deref(),
            has_setter: entry.has_setter,
        };
        let wanted = self.wanted(pin, group, rendered);
        let edits = edit_entry(&form, &wanted).map_err(|e| self.tag_error(pin, group, e))?;
        if edits.is_empty() {
            return Ok(());
        }
        self.settle_rename(pin, rendered.name, &edits)?;
        if entry.has_setter {
            self.note_setter(index);
        }
        let decision = Decision::Entry { index, edits };
        if !self.out.decisions.contains(&decision) {
            self.out.decisions.push(decision);
        }
        Ok(())
    }

    fn wanted<'w>(&self, pin: &'w Pin, group: &[usize], rendered: Split<'w>) -> Wanted<'w> {
        let needs_tag = group.iter().any(|i| self.view.uses[*i].needs_tag());
        Wanted { value: &pin.value, tag: self.change.tag, needs_tag, rendered }
    }

    /// One new entry for each name under which the images arrive here.
    fn add_entries(&mut self, pin: &Pin, group: &[usize]) -> Result<(), PlanError> {
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for i in group {
            let arriving = Split::parse(self.view.uses[*i].arriving.as_deref().unwrap_or_default());
            let name = match pin.key.tag() {
                Some(_) => format!("{}:{}", arriving.name, arriving.tag),
                None if self.needs_narrowing(pin, arriving) => {
                    format!("{}:{}", arriving.name, arriving.tag)
                }
                None => arriving.name.to_owned(),
            };
            by_name.entry(name).or_default().push(*i);
        }
        for (name, places) in by_name {
            if !places.iter().all(|i| self.is_right(pin, *i)) {
                self.add_entry(pin, &name, &places)?;
            }
        }
        Ok(())
    }

    /// Whether one rendered reference was named, and the plain name would be that of another too.
    fn needs_narrowing(&self, pin: &Pin, arriving: Split<'_>) -> bool {
        let is_asked = |i: &usize| self.claims.get(i).is_some_and(|other| other.value == pin.value);
        let shares_name = |i: &usize| {
            let other = self.view.uses[*i].arriving.as_deref().map(Split::parse);
            other.is_some_and(|other| other.name == arriving.name)
        };
        let mut others = (0..self.view.uses.len()).filter(|i| !is_asked(i));
        pin.key.is_exact() && !arriving.tag.is_empty() && others.any(|i| shares_name(&i))
    }

    fn is_right(&self, pin: &Pin, i: usize) -> bool {
        let place = &self.view.uses[i];
        let rendered = Split::parse(&place.reference);
        let arriving = Split::parse(place.arriving.as_deref().unwrap_or_default());
        let same =
            |name: &str| is_same_name(name, rendered.name) || is_same_name(name, arriving.name);
        self.change.tag == TagChoice::Keep
            && rendered.digest == pin.value.digest.as_str()
            && pin.value.name.as_deref().is_none_or(same)
    }

    fn add_entry(&mut self, pin: &Pin, name: &str, places: &[usize]) -> Result<(), PlanError> {
        let first = places[0];
        if self.change.no_add {
            return Err(self.no_add(pin, first));
        }
        let here = |place: &ImageUse| Some(chain(self.view.entries, place.arriving.as_ref()?).1);
        let pattern = self.pattern(pin, name, places, &here)?;
        let rendered = Split::parse(&self.view.uses[first].reference);
        let wanted = self.wanted(pin, places, rendered);
        let mut fields = new_entry(name, &wanted).map_err(|e| self.tag_error(pin, places, e))?;
        fields[0].1 = pattern;
        if let Some((_, new)) = fields.iter().find(|(field, _)| *field == EntryField::NewName) {
            self.settle_new_name(pin, rendered.name, new)?;
        }
        let decision = Decision::NewEntry(fields);
        if !self.out.decisions.contains(&decision) {
            self.out.decisions.push(decision);
        }
        Ok(())
    }

    /// The name of an entry that matches `places` and no place that was not asked for; `text_at` is what
    /// a place holds where the entry acts.
    fn pattern(
        &self,
        pin: &Pin,
        name: &str,
        places: &[usize],
        text_at: &dyn Fn(&ImageUse) -> Option<String>,
    ) -> Result<String, PlanError> {
        let is_asked = |i: &usize| self.claims.get(i).is_some_and(|other| other.value == pin.value);
        let others = (0..self.view.uses.len()).filter(|i| !is_asked(i));
        let others: Vec<(usize, String)> =
            others.filter_map(|i| Some((i, text_at(&self.view.uses[i])?))).collect();
        let named: Vec<String> =
            places.iter().filter_map(|i| text_at(&self.view.uses[*i])).collect();
        name_for(name, &named, &others).map_err(|i| PlanError::NoPattern {
            key: pin.key.as_str().to_owned(),
            name: name.to_owned(),
            other: self.reference_and_user(i),
        })
    }

    /// A field or argument that `images:` does not reach: its whole reference is written.
    fn pin_apart(&mut self, pin: &Pin, i: usize) -> Result<(), PlanError> {
        let place = &self.view.uses[i];
        let old = Split::parse(&place.reference);
        let part = |text: &'a str| Some(text).filter(|t| !t.is_empty());
        let form = EntryForm {
            name: old.name,
            new_tag: part(old.tag),
            digest: part(old.digest),
            ..EntryForm::default()
        };
        let wanted = self.wanted(pin, &[i], old);
        let edits = edit_entry(&form, &wanted).map_err(|e| self.tag_error(pin, &[i], e))?;
        if !edits.is_empty() {
            self.settle_rename(pin, old.name, &edits)?;
            let (reference, key) = (apply_to_reference(old, edits), pin.key.as_str().to_owned());
            self.out.decisions.push(Decision::Place { place: i, reference, key });
        }
        Ok(())
    }
}

/// What an entry would render for an image that cannot be seen.
fn unseen_reference(entry: &ImagesEntry) -> String {
    let name = entry.new_name.as_deref().unwrap_or(&entry.name);
    entry.apply(Split::parse(&entry.name).name).unwrap_or_else(|| name.to_owned())
}

fn apply_to_reference(old: Split<'_>, edits: Vec<FieldEdit>) -> String {
    let (mut name, mut tag, mut digest) =
        (old.name.to_owned(), old.tag.to_owned(), old.digest.to_owned());
    for edit in edits {
        let (field, value) = match edit {
            FieldEdit::Set(field, value) | FieldEdit::Insert { field, value, .. } => (field, value),
            FieldEdit::Remove(field) => (field, String::new()),
            FieldEdit::TagToDigest(value) => {
                tag.clear();
                (EntryField::Digest, value)
            }
        };
        match field {
            EntryField::Name | EntryField::NewName => name = value,
            EntryField::NewTag => tag = value,
            EntryField::Digest => digest = value,
        }
    }
    let part = |mark: &str, text: &str| {
        if text.is_empty() { String::new() } else { format!("{mark}{text}") }
    };
    format!("{name}{}{}", part(":", &tag), part("@", &digest))
}
