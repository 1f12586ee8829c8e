//! From decisions to text edits: each decision is told to the lossless document, which refuses what it
//! cannot do without touching other bytes.

use super::entries::ImagesEntry;
use super::error::PlanError;
use super::pin::Decision;
use super::place::{OwnFile, PlaceEdit, write_place};
use super::tag_rule::{EntryField, FieldEdit};
use crate::edit::FileEdit;
use crate::kustomize::{ImageUse, Rendered};
use crate::yaml::scalar::plain_is_safe;
use crate::yaml::{Document, Located, Path, Position, Refusal, Style, Value};

/// Everything that is to be written for one overlay, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The edits, one a file; empty where the overlay is so already.
    pub edits: Vec<FileEdit>,
    /// The new texts of the same files.
    pub texts: Vec<(String, String)>,
    /// Where what was written, in the new texts.
    pub placements: Vec<Placement>,
}

/// Where something is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The file, relative to the boundary.
    pub file: String,
    /// The line in the new text, from 1.
    pub line: u32,
    /// What kind of place it is.
    pub kind: PlacementKind,
    /// Which field of what: `images[web].digest`.
    pub what: String,
}

/// The kinds of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementKind {
    /// A field of an entry that was there.
    Entry,
    /// An entry that was not.
    NewEntry,
    /// A field of a resource or patch of the overlay.
    Field,
    /// A patch that was not there.
    NewPatch,
}

impl PlacementKind {
    /// The word in reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::NewEntry => "new-entry",
            Self::Field => "field",
            Self::NewPatch => "new-patch",
        }
    }
}

/// What writing sees of one overlay.
#[derive(Clone, Copy, Debug)]
pub struct WriteView<'a> {
    /// The kustomization file, relative to the boundary.
    pub file: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Its `images:` entries.
    pub entries: &'a [ImagesEntry],
    /// Every place that names an image.
    pub uses: &'a [ImageUse],
    /// What the overlay renders today.
    pub rendered: &'a Rendered,
    /// The overlay's other files.
    pub own: &'a [OwnFile],
    /// A patch may be added.
    pub may_add: bool,
}

/// Writes `decisions` into copies of the overlay's texts.
///
/// # Errors
/// [`PlanError::NotEditable`] with the place, where an edit would touch more than it says.
pub fn write_decisions(view: WriteView<'_>, decisions: &[Decision]) -> Result<Plan, PlanError> {
    let mut document = open(view.file, view.text)?;
    let mut others: Vec<Document> = Vec::new();
    let mut written: Vec<Written> = Vec::new();
    let mut next = view.entries.len();
    for decision in decisions {
        match decision {
            Decision::Entry { index, edits } => {
                let name = &view.entries[*index].name;
                for edit in edits {
                    let field = edit_entry(&mut document, *index, edit).map_err(not_editable)?;
                    written.extend(field.map(|field| Written::field(*index, name, field)));
                }
            }
            Decision::NewEntry(fields) => {
                append_entry(&mut document, view.entries, fields).map_err(not_editable)?;
                written.push(Written::entry(next, &fields[0].1));
                next += 1;
            }
            Decision::Place { place, reference, key } => {
                let edit = PlaceEdit { place: &view.uses[*place], reference, key };
                written.push(write_place(&view, edit, &mut document, &mut others)?);
            }
        }
    }
    let documents: Vec<&Document> = std::iter::once(&document).chain(&others).collect();
    Ok(Plan {
        edits: documents.iter().filter_map(|d| d.file_edit()).collect(),
        texts: texts(&documents),
        placements: written.iter().filter_map(|w| w.placement(&documents)).collect(),
    })
}

fn texts(documents: &[&Document]) -> Vec<(String, String)> {
    let changed = documents.iter().filter(|d| d.text() != d.original());
    changed.map(|d| (d.file().to_owned(), d.text().to_owned())).collect()
}

/// Opens the text of `file` for editing.
///
/// # Errors
/// [`PlanError::NotEditable`] for a text that is no single YAML document.
pub(super) fn open(file: &str, text: &str) -> Result<Document, PlanError> {
    let document = Document::from_text(file, text.to_owned()).map_err(not_editable)?;
    document.require_single_document().map_err(not_editable)?;
    Ok(document)
}

/// The refusal of a document as an error of planning.
pub(super) fn not_editable(refusal: Refusal) -> PlanError {
    PlanError::NotEditable {
        file: refusal.file,
        line: refusal.line,
        column: refusal.column,
        reason: refusal.reason.to_string(),
    }
}

fn images() -> Path {
    Path::kustomization().key("images")
}

/// Makes one edit; the field that holds a value afterwards.
fn edit_entry(
    document: &mut Document,
    index: usize,
    edit: &FieldEdit,
) -> Result<Option<EntryField>, Refusal> {
    let entry = images().index(index);
    match edit {
        FieldEdit::Set(field, value) => {
            document.set(&entry.key(field.key()), &Value::str(value))?;
            Ok(Some(*field))
        }
        FieldEdit::Insert { field, value, after } => {
            let position = Position::After(after.key().to_owned());
            document.set_key(&entry, field.key(), &Value::str(value), &position)?;
            Ok(Some(*field))
        }
        FieldEdit::TagToDigest(value) => {
            let tag = entry.key(EntryField::NewTag.key());
            let value = digest_in_place_of(document.locate(&tag)?, value);
            document.rename_and_set(&tag, EntryField::Digest.key(), &value)?;
            Ok(Some(EntryField::Digest))
        }
        FieldEdit::Remove(field) => {
            document.remove(&entry.key(field.key()))?;
            Ok(None)
        }
    }
}

/// Quotes that the tag needed (`"2.4"`) do not pass on to the digest; others are the owner's taste.
fn digest_in_place_of(tag: Option<Located>, digest: &str) -> Value {
    match tag {
        Some(tag) if !plain_is_safe(&tag.text, false) => {
            Value::Styled(digest.to_owned(), Style::Plain)
        }
        _ => Value::str(digest),
    }
}

/// Adds an entry; its digest is written as most of the other digests are.
fn append_entry(
    document: &mut Document,
    entries: &[ImagesEntry],
    fields: &[(EntryField, String)],
) -> Result<(), Refusal> {
    let style = usual_digest_style(document, entries)?;
    let pairs = fields.iter().map(|(field, value)| {
        let value = match (field, style) {
            (EntryField::Digest, Some(style)) => Value::Styled(value.clone(), style),
            _ => Value::str(value),
        };
        (field.key(), value)
    });
    document.append(&images(), &Value::map(pairs))
}

/// How most digests of the entries are written, plain before quoted; `None` where there is no digest.
fn usual_digest_style(
    document: &Document,
    entries: &[ImagesEntry],
) -> Result<Option<Style>, Refusal> {
    let styles = [Style::Plain, Style::DoubleQuoted, Style::SingleQuoted];
    let mut counts = [0usize; 3];
    for entry in entries.iter().filter(|entry| entry.digest.is_some()) {
        let digest = images().index(entry.index).key(EntryField::Digest.key());
        let style = document.locate(&digest)?.map(|located| located.style);
        if let Some(at) = styles.iter().position(|known| Some(*known) == style) {
            counts[at] += 1;
        }
    }
    let most = counts.iter().copied().max().filter(|most| *most > 0);
    Ok(most.and_then(|most| counts.iter().position(|count| *count == most)).map(|at| styles[at]))
}

/// Something written, to be found again in the new text.
#[derive(Clone, Debug)]
pub(super) struct Written {
    /// The file.
    pub(super) file: Option<String>,
    /// The path in it.
    pub(super) path: Path,
    /// The path in the text that stands there, for a value in an inline patch.
    pub(super) inner: Option<Path>,
    /// Its kind.
    pub(super) kind: PlacementKind,
    /// What it is.
    pub(super) what: String,
}

impl Written {
    fn field(index: usize, name: &str, field: EntryField) -> Self {
        let path = images().index(index).key(field.key());
        let what = format!("images[{name}].{}", field.key());
        Self { file: None, path, inner: None, kind: PlacementKind::Entry, what }
    }

    fn entry(index: usize, name: &str) -> Self {
        let path = images().index(index).key(EntryField::Name.key());
        let what = format!("images[{name}]");
        Self { file: None, path, inner: None, kind: PlacementKind::NewEntry, what }
    }

    /// The first document is the kustomization.
    fn placement(&self, documents: &[&Document]) -> Option<Placement> {
        let document = match &self.file {
            None => documents.first(),
            Some(file) => documents.iter().find(|d| d.file() == file),
        }?;
        let located = document.locate(&self.path).ok().flatten()?;
        let line =
            located.line + self.inner.as_ref().map_or(0, |inner| line_within(&located, inner));
        let (kind, what) = (self.kind, self.what.clone());
        Some(Placement { file: document.file().to_owned(), line, kind, what })
    }
}

/// How many lines below the head of a literal block the value at `inner` of its text stands; 0 in a text
/// of another style, whose lines are not those of the file.
fn line_within(outer: &Located, inner: &Path) -> u32 {
    if outer.style != Style::Literal {
        return 0;
    }
    let document = Document::from_text("", outer.text.clone());
    let located = document.and_then(|document| document.locate(inner));
    located.ok().flatten().map_or(0, |located| located.line)
}
