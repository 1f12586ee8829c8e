//! Field specs: which field of which kinds a transformer touches, and how it is found.
//!
//! A path names map fields only; lists on the way are walked element by element (kustomize
//! `api/types/fieldspec.go`, `api/filters/fieldspec`). This module knows no transformer.

use std::borrow::Cow;

use super::order::{FIRST, LAST};
use crate::kustomize::types::FieldSpecField;

/// A field of the kinds that group, version and kind select; an empty part selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSpec {
    /// The API group; empty for any.
    pub(crate) group: Cow<'static, str>,
    /// The API version without its group; empty for any.
    pub(crate) version: Cow<'static, str>,
    /// The kind; empty for any.
    pub(crate) kind: Cow<'static, str>,
    /// Field names separated by `/`; `\/` is a slash in a name, a final `[]` asks for a list.
    pub(crate) path: Cow<'static, str>,
    /// Whether a missing field is made.
    pub(crate) create: bool,
}

/// The fields that hold the name of an object of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NameBackReferences {
    /// The API group of the object referred to; empty for any.
    pub(crate) group: Cow<'static, str>,
    /// Its API version; empty for any.
    pub(crate) version: Cow<'static, str>,
    /// Its kind.
    pub(crate) kind: Cow<'static, str>,
    /// The fields that may refer to it.
    pub(crate) referrers: FieldSpecs,
}

impl From<&FieldSpecField> for FieldSpec {
    fn from(field: &FieldSpecField) -> Self {
        let owned = |text: &str| Cow::Owned(text.to_owned());
        Self {
            group: owned(&field.group),
            version: owned(&field.version),
            kind: owned(&field.kind),
            path: owned(&field.path),
            create: field.create,
        }
    }
}

/// A list of field specs, borrowed from the tables until something is merged into it.
pub(crate) type FieldSpecs = Cow<'static, [FieldSpec]>;

/// Two field specs of one field that disagree on `create` (kustomize `FsSlice.MergeOne`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("conflicting field specs for `{path}`: one creates the field and the other does not")]
pub(crate) struct ConflictingFieldSpecs {
    /// The path of both.
    pub(crate) path: String,
}

/// Whether an object of `group`, `version` and `kind` is selected by the other three, each of which
/// selects all when empty (kyaml `Gvk.IsSelected`).
pub(crate) fn is_selected(object: (&str, &str, &str), selector: (&str, &str, &str)) -> bool {
    let part = |have: &str, want: &str| want.is_empty() || have == want;
    part(object.0, selector.0) && part(object.1, selector.1) && part(object.2, selector.2)
}

impl FieldSpec {
    /// The group, version and kind that the spec selects.
    pub(crate) fn gvk(&self) -> (&str, &str, &str) {
        (&self.group, &self.version, &self.kind)
    }

    /// Whether the spec is for objects of this group, version and kind.
    pub(crate) fn selects(&self, group: &str, version: &str, kind: &str) -> bool {
        is_selected((group, version, kind), self.gvk())
    }
}

impl NameBackReferences {
    /// The group, version and kind of the objects referred to.
    pub(crate) fn gvk(&self) -> (&str, &str, &str) {
        (&self.group, &self.version, &self.kind)
    }
}

/// Adds `spec` unless an earlier one with the same path is selected by it (`FsSlice.MergeOne`).
///
/// # Errors
/// [`ConflictingFieldSpecs`] where that one disagrees on `create`.
pub(crate) fn merge_one(
    specs: &mut FieldSpecs,
    spec: &FieldSpec,
) -> Result<(), ConflictingFieldSpecs> {
    let twin = |old: &&FieldSpec| old.path == spec.path && is_selected(old.gvk(), spec.gvk());
    match specs.iter().find(twin) {
        Some(old) if old.create == spec.create => Ok(()),
        Some(_) => Err(ConflictingFieldSpecs { path: spec.path.to_string() }),
        None => {
            specs.to_mut().push(spec.clone());
            Ok(())
        }
    }
}

/// Adds every one of `incoming` in order (`FsSlice.MergeAll`); see [`merge_one`].
///
/// # Errors
/// [`ConflictingFieldSpecs`] as for [`merge_one`].
pub(crate) fn merge_all(
    specs: &mut FieldSpecs,
    incoming: &FieldSpecs,
) -> Result<(), ConflictingFieldSpecs> {
    match (&specs[..], incoming) {
        // The tables are merged in themselves: taking one over whole, or once more, is no work.
        ([], Cow::Borrowed(table)) => *specs = Cow::Borrowed(table),
        (old, Cow::Borrowed(table)) if std::ptr::eq(old, *table) => {}
        _ => incoming.iter().try_for_each(|spec| merge_one(specs, spec))?,
    }
    Ok(())
}

/// Where kustomize sorts a kind among field specs (kyaml `Gvk.IsLessThan`).
pub(crate) fn sort_key(gvk: (&str, &str, &str)) -> (i32, String) {
    let (group, version, kind) = gvk;
    let first = FIRST.iter().zip(-22..).find(|(name, _)| **name == kind);
    let last = LAST.iter().zip(1..).find(|(name, _)| **name == kind);
    let or = |text: &str, missing: &str| {
        if text.is_empty() { missing.to_owned() } else { text.to_owned() }
    };
    let text = format!("{}_{}_{}", or(group, "~G"), or(version, "~V"), or(kind, "~K"));
    (first.or(last).map_or(0, |(_, rank)| rank), text)
}
