//! Pinning images: which, to what, and what is allowed on the way.

use super::key::{Found, Key, KeyError};
use crate::image::{Digest, DigestError, Named, Reference, ReferenceError, Split, is_same_name};

/// Every image that a key names gets the digest beside it; no other image moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PinImages {
    /// The pins, in the order given.
    pub pins: Vec<Pin>,
    /// Whether a tag is written beside the digest.
    pub tag: TagChoice,
    /// Flags whose value in a container's arguments is an image too (`--worker-image`).
    pub image_args: Vec<String>,
    /// Refuse rather than add an entry or a patch.
    pub no_add: bool,
    /// An all-zero digest may be replaced.
    pub replace_placeholder: bool,
    /// A name that nothing rendered has may be pinned where a remote base could not be read.
    pub unseen: bool,
}

/// Whether the tag stands beside the digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TagChoice {
    /// As the entry has it.
    #[default]
    Keep,
    /// Always.
    With,
    /// Never.
    Drop,
}

/// One key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Which images.
    pub key: Key,
    /// To what.
    pub value: PinValue,
}

impl Pin {
    /// The fields that the key names; where it names none, those that already render the name and digest of the value,
    /// since a pin that renames takes from its key what it named.
    ///
    /// # Errors
    /// As [`Key::find_fields`].
    pub fn find_fields(&self, fields: &[Named<'_>]) -> Result<Found, KeyError> {
        let found = self.key.find_fields(fields);
        let (Err(KeyError::Nothing), Some(name)) = (&found, &self.value.name) else { return found };
        let is_so = |field: &Named<'_>| {
            let rendered = Split::parse(field.reference);
            rendered.digest == self.value.digest.as_str() && is_same_name(rendered.name, name)
        };
        let fields: Vec<usize> = (0..fields.len()).filter(|i| is_so(&fields[*i])).collect();
        if fields.is_empty() { found } else { Ok(Found { fields, is_whole_name: true }) }
    }
}

/// The digest that is wanted, and what else the value says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinValue {
    /// The name before tag and digest, where the value is a whole reference.
    pub name: Option<String>,
    /// The tag, where the value carries one.
    pub tag: Option<String>,
    /// The digest.
    pub digest: Digest,
}

/// Why a value pins nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PinValueError {
    /// A digest that is none.
    #[error("`{text}` is no digest: {reason}")]
    Digest {
        /// The text of the digest.
        text: String,
        /// Why.
        reason: DigestError,
    },
    /// A tag, or a name with or without one.
    #[error(
        "`{0}` carries no digest; a pin is `sha256:` and 64 digits, or a reference that ends with `@` and them"
    )]
    NoDigest(String),
    /// Neither.
    #[error(transparent)]
    Reference(ReferenceError),
}

impl PinImages {
    /// Whether the value of `flag` was asked for by `--image-arg`, dashes apart.
    #[must_use]
    pub fn has_image_arg(&self, flag: &str) -> bool {
        let name = flag.trim_start_matches('-');
        self.image_args.iter().any(|given| given.trim_start_matches('-') == name)
    }
}

impl PinValue {
    /// Reads `sha256:…` or `NAME[:TAG]@sha256:…`.
    ///
    /// # Errors
    /// [`PinValueError`] with the reason for everything else: a bare tag, a short digest, upper case,
    /// another algorithm, sixty-four zeros.
    pub fn parse(text: &str) -> Result<Self, PinValueError> {
        if !text.contains('@') {
            return parse_bare(text);
        }
        let reference = Reference::parse(text).map_err(|error| match error {
            ReferenceError::Digest { text, reason } => PinValueError::Digest { text, reason },
            other => PinValueError::Reference(other),
        })?;
        let digest = reference.digest().cloned();
        digest.ok_or_else(|| PinValueError::NoDigest(text.to_owned())).map(|digest| Self {
            name: Some(reference.name().to_owned()),
            tag: reference.tag().map(str::to_owned),
            digest,
        })
    }
}

fn parse_bare(text: &str) -> Result<PinValue, PinValueError> {
    match Digest::parse(text) {
        Ok(digest) => Ok(PinValue { name: None, tag: None, digest }),
        Err(reason) if is_meant_as_digest(text) => {
            Err(PinValueError::Digest { text: text.to_owned(), reason })
        }
        Err(_) => Err(PinValueError::NoDigest(text.to_owned())),
    }
}

/// `sha512:…`, `SHA256:…`, or digits that are too many for a word: the reason for refusing is the digest's.
fn is_meant_as_digest(text: &str) -> bool {
    let prefix = text.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let is_algorithm = text.contains(':')
        && (prefix.starts_with("sha") || prefix.starts_with("md5") || prefix.starts_with("blake"));
    is_algorithm || (text.len() >= 64 && text.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:34098e9339ac005509d0768ba1222d39b3df61802617a764f551a031d45c4371";

    #[test]
    fn a_value_is_a_digest_or_a_reference_that_carries_it() {
        let bare = PinValue::parse(DIGEST).unwrap();
        assert_eq!((bare.name, bare.tag), (None, None));
        let whole = PinValue::parse(&format!("reg:5000/a:1@{DIGEST}")).unwrap();
        assert_eq!((whole.name.as_deref(), whole.tag.as_deref()), (Some("reg:5000/a"), Some("1")));
        assert_eq!(whole.digest.as_str(), DIGEST);
    }

    #[test]
    fn what_carries_no_digest_says_so() {
        for text in ["latest", "0.21.0", "reg/a:latest", "reg:5000/a", ""] {
            assert_eq!(
                PinValue::parse(text),
                Err(PinValueError::NoDigest(text.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn a_digest_that_is_none_has_its_reason() {
        for text in [&DIGEST[7..], &DIGEST[..70], "sha512:00", "SHA256:ab"] {
            assert!(matches!(PinValue::parse(text), Err(PinValueError::Digest { .. })), "{text}");
            let whole = format!("reg/a@{text}");
            assert!(
                matches!(PinValue::parse(&whole), Err(PinValueError::Digest { .. })),
                "{whole}"
            );
        }
    }
}
