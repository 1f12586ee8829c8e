//! Image references and digests in the words of the OCI distribution specification, and the rules by
//! which kustomize splits and matches the text of an image field.
//!
//! Two vocabularies meet here and are kept apart. [`Reference`] and [`Digest`] are strict: they read
//! what a user gives. [`Split`] and [`Pattern`] are kustomize's: they read whatever text stands in an
//! image field, placeholders and nonsense included. Nothing here knows YAML, files or registries.

mod digest;
mod name;
mod named;
mod pattern;
mod reference;
mod version;

pub use digest::{Digest, DigestError};
pub use name::{is_same_name, last_segments_match, normalize_name};
pub use named::Named;
pub use pattern::{Pattern, PatternError, PlainName, Split, is_matchable, pattern_of};
pub use reference::{Reference, ReferenceError, is_tag};
pub use version::{is_downgrade, postgres_major};

#[cfg(test)]
mod tests {
    use super::{Pattern, Reference, Split, normalize_name};
    use proptest::prelude::*;

    fn join(split: Split<'_>, text: &str) -> String {
        let mut joined = split.name.to_owned();
        if text[joined.len()..].starts_with(':') {
            joined = format!("{joined}:{}", split.tag);
        }
        if text[joined.len()..].starts_with('@') {
            joined = format!("{joined}@{}", split.digest);
        }
        joined
    }

    proptest! {
        #[test]
        fn the_parts_of_any_text_give_it_back(text in "[a-zA-Z0-9:/@._\\[\\]-]{0,24}|\\PC{0,12}") {
            prop_assert_eq!(join(Split::parse(&text), &text), text);
        }

        #[test]
        fn a_reference_is_divided_as_kustomize_divides_it(
            text in "([a-z0-9]{1,4}(\\.[a-z]{2})?(:[0-9]{1,4})?/)?[a-z0-9]{1,4}(/[a-z0-9_-]{1,4}){0,2}(:[A-Za-z0-9_.-]{1,6})?"
        ) {
            if let Ok(reference) = Reference::parse(&text) {
                let split = Split::parse(&text);
                prop_assert_eq!(reference.to_string(), text.clone());
                prop_assert_eq!(split.name, reference.name());
                prop_assert_eq!(split.tag, reference.tag().unwrap_or_default());
                let name = normalize_name(reference.name());
                prop_assert_eq!(normalize_name(&name), name.clone());
                prop_assert!(Pattern::new(reference.name()).unwrap().is_match(&text));
            }
        }
    }
}
