//! Names of subjects and issuers, compared as openssl compares them.

use x509_parser::asn1_rs::{Any, Class, Tag};
use x509_parser::prelude::X509Name;

/// The type of an attribute that holds an e-mail address (PKCS #9).
const EMAIL_ADDRESS: &str = "1.2.840.113549.1.9.1";
/// The type of an attribute that holds a common name.
const COMMON_NAME: &str = "2.5.4.3";

/// A name: how it reads, and the form in which two are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As in RFC 4514, most significant part first: `O=example, CN=authority`.
    pub text: String,
    /// DER of its parts, each text in UTF-8, ASCII letters small, spaces as few as can be (`crypto/x509/x_name.c`,
    /// `x509_name_canon`): equal for names that openssl holds for equal.
    pub canonical: Vec<u8>,
    /// Its common names, as texts.
    pub common_names: Vec<String>,
    /// Its e-mail addresses; `None` stands for one that is no IA5String.
    pub email_addresses: Vec<Option<String>>,
}

impl Name {
    /// Reads a name.
    pub(super) fn of(name: &X509Name<'_>) -> Self {
        let mut canonical = Vec::new();
        let (mut common_names, mut email_addresses) = (Vec::new(), Vec::new());
        for part in name.iter_rdn() {
            let mut entries = Vec::new();
            for attribute in part.iter() {
                let (kind, value) = (attribute.attr_type(), attribute.attr_value());
                let mut entry = tlv(6, kind.as_bytes());
                entry.extend(canonical_value(value));
                entries.push(tlv(0x30, &entry));
                match kind.to_id_string().as_str() {
                    COMMON_NAME => common_names.extend(to_text(value)),
                    EMAIL_ADDRESS => email_addresses
                        .push(to_text(value).filter(|_| value.tag() == Tag::Ia5String)),
                    _ => {}
                }
            }
            // DER sorts the members of a SET OF.
            entries.sort();
            canonical.extend(tlv(0x31, &entries.concat()));
        }
        Self { text: name.to_string(), canonical, common_names, email_addresses }
    }

    /// Whether it has no parts.
    pub fn is_empty(&self) -> bool {
        self.canonical.is_empty()
    }
}

fn canonical_value(value: &Any<'_>) -> Vec<u8> {
    match to_text(value) {
        Some(text) => tlv(0x0c, folded(&text).as_bytes()),
        None => tlv(u8::try_from(value.tag().0).unwrap_or(0), value.data),
    }
}

/// The text of the string types that openssl converts; others are compared as they are.
fn to_text(value: &Any<'_>) -> Option<String> {
    if value.class() != Class::Universal {
        return None;
    }
    let utf8 = || std::str::from_utf8(value.data).ok().map(str::to_owned);
    match value.tag() {
        Tag::Utf8String => utf8(),
        Tag::PrintableString | Tag::Ia5String | Tag::VisibleString | Tag::T61String => {
            Some(value.data.iter().map(|byte| char::from(*byte)).collect())
        }
        Tag::BmpString => {
            let units = value.data.chunks_exact(2).map(|two| u16::from_be_bytes([two[0], two[1]]));
            String::from_utf16(&units.collect::<Vec<_>>()).ok()
        }
        Tag::UniversalString => {
            let units = value.data.chunks_exact(4);
            units
                .map(|four| {
                    char::from_u32(u32::from_be_bytes([four[0], four[1], four[2], four[3]]))
                })
                .collect()
        }
        _ => None,
    }
}

/// Without spaces around, with one where there were several, ASCII letters small.
fn folded(text: &str) -> String {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r');
    let words = text.split(is_space).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").to_ascii_lowercase()
}

/// A DER value: tag, length, content.
fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match u8::try_from(content.len()) {
        Ok(short @ 0..=127) => out.push(short),
        _ => {
            let length = content.len().to_be_bytes();
            let length: Vec<u8> = length.into_iter().skip_while(|byte| *byte == 0).collect();
            out.push(0x80 | u8::try_from(length.len()).unwrap_or(8));
            out.extend(length);
        }
    }
    out.extend_from_slice(content);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_folded_as_openssl_folds_them() {
        assert_eq!(folded("  Mesh \t Identity\n CA "), "mesh identity ca");
        // Letters beyond ASCII stay as they are.
        assert_eq!(folded("ÄÖ Ü"), "ÄÖ Ü");
        assert_eq!(folded("  "), "");
    }

    #[test]
    fn long_values_have_long_lengths() {
        assert_eq!(tlv(4, &[7; 3]), [4, 3, 7, 7, 7]);
        assert_eq!(tlv(4, &[0; 200])[..3], [4, 0x81, 200]);
        assert_eq!(tlv(4, &[0; 300])[..4], [4, 0x82, 1, 44]);
    }
}
