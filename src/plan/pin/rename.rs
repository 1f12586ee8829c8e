//! A pin whose value has another name: said, and refused where the name is a tag in the wrong place.

use super::super::error::PlanError;
use super::super::tag_rule::{EntryField, FieldEdit};
use super::Planner;
use crate::change::Pin;

/// Words that are tags wherever images are built, and hardly the name of one.
const TAG_WORDS: [&str; 14] = [
    "latest", "stable", "main", "master", "edge", "nightly", "dev", "develop", "testing",
    "release", "canary", "beta", "alpha", "rc",
];

impl Planner<'_> {
    /// Notes the new name that `edits` give the image rendered as `old`, if they do.
    ///
    /// # Errors
    /// [`PlanError::TagForName`].
    pub(super) fn settle_rename(
        &mut self,
        pin: &Pin,
        old: &str,
        edits: &[FieldEdit],
    ) -> Result<(), PlanError> {
        let new = edits.iter().find_map(|edit| match edit {
            FieldEdit::Set(EntryField::NewName, value)
            | FieldEdit::Insert { field: EntryField::NewName, value, .. } => Some(value),
            _ => None,
        });
        new.map_or(Ok(()), |new| self.settle_new_name(pin, old, new))
    }

    /// Notes that `old` becomes `new`.
    ///
    /// # Errors
    /// [`PlanError::TagForName`] where the value says `1.27@sha256:…` and so names a tag alone.
    pub(super) fn settle_new_name(
        &mut self,
        pin: &Pin,
        old: &str,
        new: &str,
    ) -> Result<(), PlanError> {
        if pin.value.tag.is_none() && is_tag_like(new) {
            return Err(PlanError::TagForName {
                key: pin.key.as_str().to_owned(),
                image: old.to_owned(),
                name: new.to_owned(),
            });
        }
        let key = pin.key.as_str();
        self.note("renamed", format!("{key}: the image is renamed from {old} to {new}"));
        Ok(())
    }
}

/// `1.27`, `v2`, `latest`: one word that reads as a tag.
fn is_tag_like(name: &str) -> bool {
    let version = name.strip_prefix('v').unwrap_or(name);
    let is_version = version.starts_with(|c: char| c.is_ascii_digit());
    !name.contains(['/', ':']) && (is_version || TAG_WORDS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::is_tag_like;

    #[test]
    fn a_tag_is_told_from_a_name() {
        for tag in ["1.27", "v2", "0", "1.2-alpine", "latest", "main"] {
            assert!(is_tag_like(tag), "{tag}");
        }
        for name in ["nginx", "vault", "r/1.27", "localhost:5000/1", "mainline", "web"] {
            assert!(!is_tag_like(name), "{name}");
        }
    }
}
