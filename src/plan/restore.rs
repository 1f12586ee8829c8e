//! The pins of `images:` entries as another version of the file has them.

use super::entries::ImagesEntry;
use super::error::{PlanError, Statement};
use super::pin::Decision;
use super::tag_rule::{EntryField, FieldEdit};

/// What brings the pins of another version back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoredEntries {
    /// The edits of the entries that both versions have.
    pub decisions: Vec<Decision>,
    /// The names of entries that are only in the present version.
    pub only_now: Vec<String>,
    /// The names of entries that are only in the other version.
    pub only_then: Vec<String>,
}

/// Compares the entries of the present version of `file` with those of an earlier one, by their names.
///
/// # Errors
/// [`PlanError::SeveralEntries`] where a name stands twice in one of them: which one is meant is not known.
pub fn restore_entries(
    file: &str,
    now: &[ImagesEntry],
    then: &[ImagesEntry],
) -> Result<RestoredEntries, PlanError> {
    refuse_repeated(file, now)?;
    refuse_repeated(file, then)?;
    let mut restored = RestoredEntries::default();
    for entry in now {
        let Some(earlier) = then.iter().find(|earlier| earlier.name == entry.name) else {
            restored.only_now.push(entry.name.clone());
            continue;
        };
        let edits = edits(entry, earlier);
        if !edits.is_empty() {
            restored.decisions.push(Decision::Entry { index: entry.index, edits });
        }
    }
    let is_gone = |earlier: &&ImagesEntry| now.iter().all(|entry| entry.name != earlier.name);
    restored.only_then = then.iter().filter(is_gone).map(|entry| entry.name.clone()).collect();
    Ok(restored)
}

fn refuse_repeated(file: &str, entries: &[ImagesEntry]) -> Result<(), PlanError> {
    for (at, entry) in entries.iter().enumerate() {
        if let Some(other) = entries[..at].iter().find(|other| other.name == entry.name) {
            let place = |entry: &ImagesEntry| Statement {
                file: file.to_owned(),
                line: entry.line,
                name: entry.name.clone(),
            };
            return Err(PlanError::SeveralEntries {
                key: entry.name.clone(),
                entries: vec![place(other), place(entry)],
                wins: format!("line {}", entry.line),
            });
        }
    }
    Ok(())
}

/// The edits that make `now` say what `then` says; a tag that gives its place to a digest does so on its line.
fn edits(now: &ImagesEntry, then: &ImagesEntry) -> Vec<FieldEdit> {
    let mut edits = Vec::new();
    edits.extend(edit(EntryField::NewName, EntryField::Name, &now.new_name, &then.new_name));
    if let (Some(_), None, None, Some(digest)) =
        (&now.new_tag, &now.digest, &then.new_tag, &then.digest)
        && !now.has_setter
    {
        edits.push(FieldEdit::TagToDigest(digest.clone()));
        return edits;
    }
    let named = if then.new_name.is_some() { EntryField::NewName } else { EntryField::Name };
    edits.extend(edit(EntryField::NewTag, named, &now.new_tag, &then.new_tag));
    let tagged = if then.new_tag.is_some() { EntryField::NewTag } else { named };
    edits.extend(edit(EntryField::Digest, tagged, &now.digest, &then.digest));
    edits
}

fn edit(
    field: EntryField,
    after: EntryField,
    now: &Option<String>,
    then: &Option<String>,
) -> Option<FieldEdit> {
    match (now, then) {
        (now, then) if now == then => None,
        (Some(_), Some(then)) => Some(FieldEdit::Set(field, then.clone())),
        (None, Some(then)) => Some(FieldEdit::Insert { field, value: then.clone(), after }),
        (_, None) => Some(FieldEdit::Remove(field)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::read_entries;
    use crate::plan::write::{WriteView, write_decisions};
    use crate::yaml;

    fn restored(now: &str, then: &str) -> (String, RestoredEntries) {
        let read = |text: &str| read_entries(&yaml::parse(text).unwrap()).unwrap();
        let entries = read(now);
        let found = restore_entries("k.yaml", &entries, &read(then)).unwrap();
        let view = WriteView {
            file: "k.yaml",
            text: now,
            entries: &entries,
            uses: &[],
            rendered: &crate::kustomize::Rendered::default(),
            own: &[],
            may_add: false,
        };
        let plan = write_decisions(view, &found.decisions).unwrap();
        let text = plan.texts.into_iter().next().map_or(now.to_owned(), |(_, text)| text);
        (text, found)
    }

    #[test]
    fn every_form_of_an_entry_comes_back() {
        let forms = [
            "- name: a # web\n  newTag: '1'\n",
            "- name: a # web\n  newTag: '2'\n",
            "- name: a # web\n  digest: sha256:aa\n",
            "- name: a # web\n  newTag: '1'\n  digest: sha256:bb\n",
            "- name: a # web\n  newName: b\n  newTag: '1'\n",
            "- name: a # web\n  newName: b\n  digest: sha256:aa\n",
        ];
        for now in forms {
            for then in forms {
                let [now, then] =
                    [now, then].map(|entry| format!("# top\nimages:\n{entry}# end\n"));
                let (text, found) = restored(&now, &then);
                let read = |text: &str| {
                    let entries = read_entries(&yaml::parse(text).unwrap()).unwrap();
                    entries
                        .into_iter()
                        .map(|e| (e.name, e.new_name, e.new_tag, e.digest))
                        .collect::<Vec<_>>()
                };
                assert_eq!(read(&text), read(&then), "{now}{then}{found:?}");
                assert!(text.contains("# web") && text.ends_with("# end\n"), "{text}");
            }
        }
    }

    #[test]
    fn entries_of_one_version_alone_are_named_and_stay() {
        let now = "images:\n- name: a\n  newTag: '2'\n- name: b\n  newTag: '2'\n";
        let (text, found) =
            restored(now, "images:\n- name: c\n  newTag: '1'\n- name: a\n  newTag: '1'\n");
        assert_eq!(text, "images:\n- name: a\n  newTag: '1'\n- name: b\n  newTag: '2'\n");
        assert_eq!((found.only_now, found.only_then), (vec!["b".to_owned()], vec!["c".to_owned()]));
    }
}
