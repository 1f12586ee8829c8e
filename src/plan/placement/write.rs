//! Edits of the texts that hold statements: the value in place, operations and fields that are added.

use super::body::{Operation, to_value};
use super::entry::{Entry, Form};
use super::statement::{Spot, SpotKind, item_named};
use crate::change::Wish;
use crate::kustomize::Step as Field;
use crate::plan::PlanError;
use crate::plan::write::not_editable;
use crate::yaml::{Document, Path, Position, Reason, Refusal, Step, Value};
use serde_json::Value as Json;

/// Why a text is not edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WriteError {
    /// The lossless document says no.
    Refused(Refusal),
    /// The value, or its removal, cannot be written there.
    NotSaid,
}

impl WriteError {
    /// Whether the statement has a form that is never edited, so that a second one beside it would hide it: a value
    /// that others share, a key twice, an explicit tag or key.
    pub(super) fn is_of_form(&self) -> bool {
        let Self::Refused(refusal) = self else { return false };
        matches!(
            refusal.reason,
            Reason::Alias(_)
                | Reason::Anchor { .. }
                | Reason::DuplicateKey { .. }
                | Reason::ExplicitKey
                | Reason::Tag(_)
        )
    }
}

impl From<Refusal> for WriteError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<WriteError> for PlanError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Refused(refusal) => not_editable(refusal),
            WriteError::NotSaid => PlanError::Unplaced {
                user: "the field".to_owned(),
                reason: "its value cannot be written there".to_owned(),
            },
        }
    }
}

/// The texts that the file may have after its statement says `value`, the best first.
pub(super) fn set_at(
    text: &str,
    spot: &Spot,
    value: Option<&Json>,
) -> Result<Vec<String>, WriteError> {
    let path = spot.inner.as_ref().unwrap_or(&spot.outer);
    let Some(value) = value else { return removed_at(text, spot, path) };
    let value = to_value(value).ok_or(WriteError::NotSaid)?;
    let edited = edited(text, spot, |document| match value {
        Value::Seq(_) | Value::Map(_) => replace(document, path, &value),
        _ => document.set(path, &value),
    })?;
    Ok(vec![edited])
}

fn removed_at(text: &str, spot: &Spot, path: &Path) -> Result<Vec<String>, WriteError> {
    if spot.is_operation || spot.kind == SpotKind::Replicas {
        return Err(WriteError::NotSaid);
    }
    let removed = edited(text, spot, |document| document.remove(path));
    if spot.kind == SpotKind::Resource {
        return Ok(vec![removed?]);
    }
    let nulled = edited(text, spot, |document| replace(document, path, &Value::Null));
    let texts: Vec<String> = removed.into_iter().chain(nulled).collect();
    if texts.is_empty() { Err(WriteError::NotSaid) } else { Ok(texts) }
}

/// Puts `value` where something of another shape stands.
fn replace(document: &mut Document, path: &Path, value: &Value) -> Result<(), Refusal> {
    let is_single = !matches!(value, Value::Seq(_) | Value::Map(_));
    if is_single && document.locate(path)?.is_some() {
        return document.set(path, value);
    }
    let Some((parent, Step::Key(key))) = path.split_last() else {
        return document.set(path, value);
    };
    let key = key.clone();
    document.remove(path)?;
    document.insert_key(&parent, &key, value, &Position::End)
}

fn edited(
    text: &str,
    spot: &Spot,
    change: impl FnOnce(&mut Document) -> Result<(), Refusal>,
) -> Result<String, Refusal> {
    let mut document = Document::from_text(&*spot.file, text.to_owned())?;
    match &spot.inner {
        Some(_) => document.edit_inline(&spot.outer, change)?,
        None => change(&mut document)?,
    }
    Ok(document.text().to_owned())
}

/// The text of the file that holds `entry`, with the operations or fields added to the patch.
pub(super) fn extended(
    file: &str,
    text: &str,
    entry: &Entry,
    operations: &[Operation],
    wishes: &[Wish],
) -> Result<String, WriteError> {
    let mut document = Document::from_text(file, text.to_owned())?;
    let change = |inner: &mut Document| match entry.form {
        Some(Form::Operations) => operations
            .iter()
            .try_for_each(|operation| inner.append(&Path::root(), &operation.to_value())),
        _ => wishes.iter().try_for_each(|wish| set_field(inner, wish)),
    };
    match &entry.file {
        Some(_) => change(&mut document)?,
        None => document.edit_inline(&entry.outer, change)?,
    }
    Ok(document.text().to_owned())
}

/// Says the wish in a strategic merge patch: in the mappings that are there, else in new ones.
fn set_field(document: &mut Document, wish: &Wish) -> Result<(), Refusal> {
    let value = wish.value.as_ref().and_then(to_value).unwrap_or(Value::Null);
    let steps = wish.path.steps();
    let mut at = Path::root();
    for (depth, step) in steps.iter().enumerate() {
        let next = match step {
            Field::Key(key) => at.clone().key(&**key),
            Field::Index(index) => at.clone().index(*index),
            Field::Named(name) => {
                let index = {
                    let tree = document.tree()?;
                    document.find(&tree, &at)?.and_then(|list| item_named(&tree, list, name))
                };
                match index {
                    Some(index) => at.clone().index(index),
                    None => return document.append(&at, &nested(&steps[depth..], &value)),
                }
            }
        };
        let is_there = {
            let tree = document.tree()?;
            document.find(&tree, &next)?.is_some()
        };
        match (is_there, step) {
            (true, _) => at = next,
            (false, Field::Key(key)) => {
                let Value::Map(mut pairs) = nested(&steps[depth..], &value) else { return Ok(()) };
                let below = pairs.pop().map_or(Value::Null, |(_, below)| below);
                return document.insert_key(&at, key, &below, &Position::End);
            }
            (false, _) => return document.append(&at, &nested(&steps[depth + 1..], &value)),
        }
    }
    replace(document, &at, &value)
}

/// `value` below `steps`, as new mappings and lists; the first named step is the item itself.
fn nested(steps: &[Field], value: &Value) -> Value {
    match steps.split_first() {
        None => value.clone(),
        Some((Field::Key(key), rest)) => {
            let below = nested(rest, value);
            let is_list = matches!(rest.first(), Some(Field::Named(_) | Field::Index(_)));
            let below = if is_list { Value::Seq(vec![below]) } else { below };
            Value::map([(&**key, below)])
        }
        Some((Field::Named(name), rest)) => {
            let mut pairs = vec![("name".to_owned(), Value::str(&**name))];
            if let Value::Map(more) = nested(rest, value) {
                pairs.extend(more);
            }
            Value::Map(pairs)
        }
        Some((Field::Index(_), rest)) => nested(rest, value),
    }
}
