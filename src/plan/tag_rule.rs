//! The tag beside the digest: which fields of an `images:` entry change, and how.
//!
//! An entry keeps its form: digest-only stays digest-only, tag and digest move together, a tag alone
//! becomes tag and digest where the value carries a tag and gives its line to the digest where it does
//! not. The rule is the paragraph "Tag beside the digest" of `docs/placement.md`.

use crate::change::{PinValue, TagChoice};
use crate::image::{Split, is_same_name};

/// The fields of an entry that pinning reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryField {
    /// `name`
    Name,
    /// `newName`
    NewName,
    /// `newTag`
    NewTag,
    /// `digest`
    Digest,
}

impl EntryField {
    /// The key as kustomize writes it.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::NewName => "newName",
            Self::NewTag => "newTag",
            Self::Digest => "digest",
        }
    }
}

/// What an entry says today.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EntryForm<'a> {
    /// `name`, a regular expression.
    pub(super) name: &'a str,
    /// `newName`
    pub(super) new_name: Option<&'a str>,
    /// `newTag`
    pub(super) new_tag: Option<&'a str>,
    /// `digest`
    pub(super) digest: Option<&'a str>,
    /// A Flux setter comment marks `newTag`: automation finds its line by that comment.
    pub(super) has_setter: bool,
}

/// What is asked of the entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    /// The value given.
    pub(super) value: &'a PinValue,
    /// `--with-tag`, `--drop-tag`, or neither.
    pub(super) tag: TagChoice,
    /// A field that the entry decides is refused by its operator without a tag.
    pub(super) needs_tag: bool,
    /// The reference as rendered today.
    pub(super) rendered: Split<'a>,
}

/// One change of one field of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldEdit {
    /// The value of a field that is there.
    Set(EntryField, String),
    /// A field that is not there, behind the one named.
    Insert {
        /// The new field.
        field: EntryField,
        /// Its value.
        value: String,
        /// The field it stands behind.
        after: EntryField,
    },
    /// `newTag: x` becomes `digest: y` on the same line.
    TagToDigest(String),
    /// The line of a field goes.
    Remove(EntryField),
}

/// Why no form of the entry says what is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TagError {
    /// `--drop-tag`, or a bare digest where no tag is known.
    #[error(
        "the field is read by an operator that takes the version from the tag, so a digest without a tag is refused there"
    )]
    Needed,
    /// `--drop-tag` on a line that Flux finds by its comment.
    #[error("a Flux setter comment marks `newTag`, so its line cannot go")]
    Setter,
    /// `--with-tag`, and neither the value nor the rendered reference has one.
    #[error("neither the value nor the rendered reference has a tag to write")]
    Unknown,
    /// A digest in `newTag` and another in `digest`.
    #[error("`newTag` holds a digest and `digest` another one")]
    TwoDigests,
}

/// The edits that make the entry pin what is wanted; none where it does so already.
///
/// # Errors
/// [`TagError`] where the tag that has to stand, or to go, cannot.
pub(super) fn edit_entry(
    form: &EntryForm<'_>,
    wanted: &Wanted<'_>,
) -> Result<Vec<FieldEdit>, TagError> {
    let mut edits: Vec<FieldEdit> = rename(form, wanted).into_iter().collect();
    if is_pinned(form, wanted) && wanted.tag == TagChoice::Keep {
        return Ok(edits);
    }
    match form.new_tag.and_then(|tag| tag.split_once('@')) {
        Some(_) if form.digest.is_some() => return Err(TagError::TwoDigests),
        Some((tag, _)) => edits.extend(edit_packed(form, tag, wanted)?),
        None => edits.extend(edit_apart(form, wanted)?),
    }
    Ok(edits)
}

/// The fields of a new entry called `name`, in the order kustomize writes them.
///
/// # Errors
/// [`TagError`] as for [`edit_entry`].
pub(super) fn new_entry(
    name: &str,
    wanted: &Wanted<'_>,
) -> Result<Vec<(EntryField, String)>, TagError> {
    let form = EntryForm { name, ..EntryForm::default() };
    let inserted = edit_entry(&form, wanted)?.into_iter().filter_map(|edit| match edit {
        FieldEdit::Insert { field, value, .. } => Some((field, value)),
        _ => None,
    });
    Ok(std::iter::once((EntryField::Name, name.to_owned())).chain(inserted).collect())
}

fn is_pinned(form: &EntryForm<'_>, wanted: &Wanted<'_>) -> bool {
    let packed = form.new_tag.and_then(|tag| tag.split_once('@')).map(|(_, digest)| digest);
    let digest = wanted.value.digest.as_str();
    form.digest.or(packed) == Some(digest) && wanted.rendered.digest == digest
}

/// `newName` moves where the value has another name than the entry's own and the one rendered; a tag or
/// digest that stands in `newName` goes, for kustomize would put another behind it.
fn rename(form: &EntryForm<'_>, wanted: &Wanted<'_>) -> Option<FieldEdit> {
    let given = wanted.value.name.as_deref().filter(|name| {
        !is_same_name(name, Split::parse(form.name).name)
            && !is_same_name(name, wanted.rendered.name)
    });
    let clean =
        form.new_name.map(Split::parse).filter(|s| !(s.tag.is_empty() && s.digest.is_empty()));
    let name = given.or(clean.map(|s| s.name))?.to_owned();
    Some(match form.new_name {
        Some(_) => FieldEdit::Set(EntryField::NewName, name),
        None => {
            let after = EntryField::Name;
            FieldEdit::Insert { field: EntryField::NewName, value: name, after }
        }
    })
}

/// `newTag: x@sha256:…`: one value holds both.
fn edit_packed(
    form: &EntryForm<'_>,
    old_tag: &str,
    wanted: &Wanted<'_>,
) -> Result<Option<FieldEdit>, TagError> {
    let as_tag = EntryForm { new_tag: Some(old_tag), ..*form };
    let digest = wanted.value.digest.as_str();
    let edit = match wanted_tag(&as_tag, wanted)? {
        Some(tag) => FieldEdit::Set(EntryField::NewTag, format!("{tag}@{digest}")),
        None => FieldEdit::TagToDigest(digest.to_owned()),
    };
    let same = matches!(&edit, FieldEdit::Set(_, value) if Some(value.as_str()) == form.new_tag);
    Ok(Some(edit).filter(|_| !same))
}

fn edit_apart(form: &EntryForm<'_>, wanted: &Wanted<'_>) -> Result<Vec<FieldEdit>, TagError> {
    let digest = wanted.value.digest.as_str().to_owned();
    let tag = wanted_tag(form, wanted)?;
    let has_name = form.new_name.is_some() || rename(form, wanted).is_some();
    let last_name = if has_name { EntryField::NewName } else { EntryField::Name };
    let mut edits = Vec::new();
    match (form.new_tag, tag) {
        (Some(_), None) if form.digest.is_none() => {
            return Ok(vec![FieldEdit::TagToDigest(digest)]);
        }
        (Some(_), None) => edits.push(FieldEdit::Remove(EntryField::NewTag)),
        (Some(old), Some(tag)) if old != tag => edits.push(FieldEdit::Set(EntryField::NewTag, tag)),
        (None, Some(value)) => {
            edits.push(FieldEdit::Insert { field: EntryField::NewTag, value, after: last_name });
        }
        _ => {}
    }
    let tag_stands = edits.iter().any(is_tag_insert) || form.new_tag.is_some();
    match form.digest {
        Some(old) if old == digest => {}
        Some(_) => edits.push(FieldEdit::Set(EntryField::Digest, digest)),
        None => {
            let after = if tag_stands { EntryField::NewTag } else { last_name };
            edits.push(FieldEdit::Insert { field: EntryField::Digest, value: digest, after });
        }
    }
    Ok(edits)
}

fn is_tag_insert(edit: &FieldEdit) -> bool {
    matches!(edit, FieldEdit::Insert { field: EntryField::NewTag, .. })
}

/// The tag that `newTag` holds afterwards.
fn wanted_tag(form: &EntryForm<'_>, wanted: &Wanted<'_>) -> Result<Option<String>, TagError> {
    let given = wanted.value.tag.as_deref();
    let rendered = Some(wanted.rendered.tag).filter(|tag| !tag.is_empty());
    let is_needed = wanted.needs_tag || (form.has_setter && form.new_tag.is_some());
    let tag = match wanted.tag {
        TagChoice::Drop if wanted.needs_tag => return Err(TagError::Needed),
        TagChoice::Drop if is_needed => return Err(TagError::Setter),
        TagChoice::Drop => None,
        TagChoice::With => Some(given.or(rendered).ok_or(TagError::Unknown)?),
        TagChoice::Keep if is_needed => {
            Some(given.or(form.new_tag).or(rendered).ok_or(TagError::Needed)?)
        }
        TagChoice::Keep if form.digest.is_some() && form.new_tag.is_none() => None,
        TagChoice::Keep => given,
    };
    Ok(tag.map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use EntryField::{Digest, Name, NewName, NewTag};

    const OLD: &str = "sha256:3333333333333333333333333333333333333333333333333333333333333333";
    const NEW: &str = "sha256:55da2abd97f49915f56b5b2f4836140ee775442bf0d8ab62695e0b06dcd3ccf2";

    fn entry<'a>(new_tag: Option<&'a str>, digest: Option<&'a str>) -> EntryForm<'a> {
        EntryForm { name: "reg/web", new_tag, digest, ..EntryForm::default() }
    }

    fn value(text: &str) -> PinValue {
        PinValue::parse(&text.replace("NEW", NEW)).unwrap()
    }

    fn edits(form: &EntryForm<'_>, text: &str, tag: TagChoice) -> Result<Vec<FieldEdit>, TagError> {
        let value = value(text);
        let rendered = Split::parse("reg/web:1.3");
        edit_entry(form, &Wanted { value: &value, tag, needs_tag: false, rendered })
    }

    fn keep(form: &EntryForm<'_>, text: &str) -> Vec<FieldEdit> {
        edits(form, text, TagChoice::Keep).unwrap()
    }

    fn set(field: EntryField, value: &str) -> FieldEdit {
        FieldEdit::Set(field, value.to_owned())
    }

    fn insert(field: EntryField, value: &str, after: EntryField) -> FieldEdit {
        FieldEdit::Insert { field, value: value.to_owned(), after }
    }

    #[test]
    fn digest_only_stays_digest_only() {
        let form = entry(None, Some(OLD));
        assert_eq!(keep(&form, "reg/web:1.4@NEW"), [set(Digest, NEW)]);
        assert_eq!(keep(&form, "NEW"), [set(Digest, NEW)]);
    }

    #[test]
    fn tag_and_digest_move_together() {
        let form = entry(Some("1.3"), Some(OLD));
        assert_eq!(keep(&form, "reg/web:1.4@NEW"), [set(NewTag, "1.4"), set(Digest, NEW)]);
        assert_eq!(keep(&form, "NEW"), [FieldEdit::Remove(NewTag), set(Digest, NEW)]);
    }

    #[test]
    fn a_tag_alone_gets_a_digest_or_gives_it_its_line() {
        let form = entry(Some("1.3"), None);
        let both = [set(NewTag, "1.4"), insert(Digest, NEW, NewTag)];
        assert_eq!(keep(&form, "reg/web:1.4@NEW"), both);
        assert_eq!(keep(&form, "NEW"), [FieldEdit::TagToDigest(NEW.into())]);
        assert_eq!(keep(&form, "reg/web:1.3@NEW"), [insert(Digest, NEW, NewTag)]);
    }

    #[test]
    fn a_digest_that_is_right_changes_nothing() {
        let form = entry(Some("1.3"), Some(NEW));
        let value = value("reg/web:1.4@NEW");
        let text = format!("reg/web:1.3@{NEW}");
        let rendered = Split::parse(&text);
        let wanted = Wanted { value: &value, tag: TagChoice::Keep, needs_tag: false, rendered };
        assert_eq!(edit_entry(&form, &wanted).unwrap(), []);
    }

    #[test]
    fn one_value_of_tag_and_digest_is_edited_as_one() {
        let packed = format!("1.3@{OLD}");
        let form = entry(Some(&packed), None);
        assert_eq!(keep(&form, "reg/web:1.4@NEW"), [set(NewTag, &format!("1.4@{NEW}"))]);
        assert_eq!(keep(&form, "NEW"), [FieldEdit::TagToDigest(NEW.into())]);
        let twice = entry(Some(&packed), Some(OLD));
        assert_eq!(edits(&twice, "NEW", TagChoice::Keep), Err(TagError::TwoDigests));
    }

    #[test]
    fn with_tag_and_drop_tag_decide() {
        let form = entry(None, Some(OLD));
        let with = edits(&form, "reg/web:1.4@NEW", TagChoice::With).unwrap();
        assert_eq!(with, [insert(NewTag, "1.4", Name), set(Digest, NEW)]);
        let tagged = entry(Some("1.3"), None);
        let dropped = edits(&tagged, "reg/web:1.4@NEW", TagChoice::Drop).unwrap();
        assert_eq!(dropped, [FieldEdit::TagToDigest(NEW.into())]);
        let kept = edits(&tagged, "NEW", TagChoice::With).unwrap();
        assert_eq!(kept, [insert(Digest, NEW, NewTag)]);
    }

    #[test]
    fn a_field_that_needs_its_tag_keeps_it() {
        let value = value("NEW");
        let rendered = Split::parse("reg/db:16.9");
        let wanted = Wanted { value: &value, tag: TagChoice::Keep, needs_tag: true, rendered };
        let form = EntryForm { new_name: Some("reg/db"), ..entry(Some("16.9"), None) };
        assert_eq!(edit_entry(&form, &wanted).unwrap(), [insert(Digest, NEW, NewTag)]);
        let fields = new_entry("reg/db", &wanted).unwrap();
        let expected = [(Name, "reg/db"), (NewTag, "16.9"), (Digest, NEW)];
        assert_eq!(fields, expected.map(|(f, v)| (f, v.to_owned())));
        let drop = Wanted { tag: TagChoice::Drop, ..wanted };
        assert_eq!(edit_entry(&form, &drop), Err(TagError::Needed));
        let untagged = Wanted { rendered: Split::parse("reg/db"), ..wanted };
        assert_eq!(new_entry("reg/db", &untagged), Err(TagError::Needed));
    }

    #[test]
    fn a_setter_comment_keeps_the_line() {
        let form = EntryForm { has_setter: true, ..entry(Some("1.3"), None) };
        assert_eq!(keep(&form, "NEW"), [insert(Digest, NEW, NewTag)]);
        assert_eq!(edits(&form, "NEW", TagChoice::Drop), Err(TagError::Setter));
    }

    #[test]
    fn a_name_of_its_own_never_touches_new_name() {
        let form = EntryForm { new_name: Some("mirror/web"), ..entry(None, Some(OLD)) };
        let value = value("reg/web:1.4@NEW");
        let wanted = |text: &'static str| Wanted {
            value: &value,
            tag: TagChoice::Keep,
            needs_tag: false,
            rendered: Split::parse(text),
        };
        assert_eq!(edit_entry(&form, &wanted("mirror/web:1")).unwrap(), [set(Digest, NEW)]);
        let other = EntryForm { name: "placeholder", new_name: None, ..form };
        let renamed = edit_entry(&other, &wanted("placeholder")).unwrap();
        assert_eq!(renamed[0], insert(NewName, "reg/web", Name));
    }

    #[test]
    fn a_tag_in_new_name_goes() {
        let form = EntryForm { new_name: Some("reg:5000/mirror/web:1.3"), ..entry(None, None) };
        let value = value("reg:5000/mirror/web:1.4@NEW");
        let rendered = Split::parse("reg:5000/mirror/web:1.3:1.0");
        let wanted = Wanted { value: &value, tag: TagChoice::Keep, needs_tag: false, rendered };
        let expected = [
            set(NewName, "reg:5000/mirror/web"),
            insert(NewTag, "1.4", NewName),
            insert(Digest, NEW, NewTag),
        ];
        assert_eq!(edit_entry(&form, &wanted).unwrap(), expected);
    }
}
