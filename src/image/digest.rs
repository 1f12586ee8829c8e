//! `sha256:` and sixty-four lower-case hexadecimal digits, and why a text is not that.

use std::fmt;

/// The length of a SHA-256 in hexadecimal digits.
const HEX_LEN: usize = 64;

/// The SHA-256 digest of an image manifest: `sha256:` and 64 lower-case hexadecimal digits.
///
/// The form is the "digest" of the OCI image specification (descriptor.md) with the one registered
/// algorithm that kustomize 5.8.1 recognises in an image field.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(String);

/// Why a text is not a digest that may be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DigestError {
    /// No `algorithm:` in front.
    #[error("it has no algorithm: write `sha256:` in front of the digits")]
    NoAlgorithm,
    /// Another algorithm than sha256.
    #[error("its algorithm is `{0}`, and kustomize knows `sha256` alone")]
    Algorithm(String),
    /// The algorithm or a digit is an upper-case letter.
    #[error("it has upper-case letters, which no registry accepts in a digest")]
    UpperCase,
    /// Not 64 digits.
    #[error("it has {0} hexadecimal digits where sha256 has 64")]
    Length(usize),
    /// A character that is no hexadecimal digit.
    #[error("`{0}` is no hexadecimal digit")]
    NotHex(char),
    /// Sixty-four zeros.
    #[error("sixty-four zeros are a placeholder that fails closed, no digest of an image")]
    Placeholder,
}

impl Digest {
    /// Reads a digest that may be written into a file.
    ///
    /// # Errors
    /// [`DigestError`], the placeholder of sixty-four zeros included.
    pub fn parse(text: &str) -> Result<Self, DigestError> {
        let (algorithm, hex) = text.split_once(':').ok_or(DigestError::NoAlgorithm)?;
        if algorithm != "sha256" {
            return Err(match algorithm.eq_ignore_ascii_case("sha256") {
                true => DigestError::UpperCase,
                false => DigestError::Algorithm(algorithm.to_owned()),
            });
        }
        check_hex(hex)?;
        Ok(Self(text.to_owned()))
    }

    /// The whole text, `sha256:…`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `text` is the all-zero placeholder that owners write to fail closed.
    #[must_use]
    pub fn is_placeholder(text: &str) -> bool {
        text.strip_prefix("sha256:")
            .is_some_and(|hex| check_hex(hex) == Err(DigestError::Placeholder))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn check_hex(hex: &str) -> Result<(), DigestError> {
    if let Some(odd) = hex.chars().find(|c| !c.is_ascii_hexdigit()) {
        return Err(DigestError::NotHex(odd));
    }
    if hex.len() != HEX_LEN {
        return Err(DigestError::Length(hex.len()));
    }
    if hex.bytes().any(|b| b.is_ascii_uppercase()) {
        return Err(DigestError::UpperCase);
    }
    match hex.bytes().all(|b| b == b'0') {
        true => Err(DigestError::Placeholder),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "34098e9339ac005509d0768ba1222d39b3df61802617a764f551a031d45c4371";

    #[test]
    fn a_digest_is_sha256_and_64_lower_case_digits() {
        let text = format!("sha256:{HEX}");
        assert_eq!(Digest::parse(&text).unwrap().as_str(), text);
    }

    #[test]
    fn each_refusal_has_its_reason() {
        let reason = |text: &str| Digest::parse(text).unwrap_err();
        assert_eq!(reason(HEX), DigestError::NoAlgorithm);
        assert_eq!(reason(&format!("sha512:{HEX}{HEX}")), DigestError::Algorithm("sha512".into()));
        assert_eq!(reason(&format!("SHA256:{HEX}")), DigestError::UpperCase);
        assert_eq!(reason(&format!("sha256:{}", HEX.to_uppercase())), DigestError::UpperCase);
        assert_eq!(reason(&format!("sha256:{}", &HEX[1..])), DigestError::Length(63));
        assert_eq!(reason(&format!("sha256:{HEX}0")), DigestError::Length(65));
        assert_eq!(reason(&format!("sha256:g{}", &HEX[1..])), DigestError::NotHex('g'));
        assert_eq!(reason(&format!("sha256:{}", "0".repeat(64))), DigestError::Placeholder);
        assert_eq!(reason(&format!("sha256:{HEX} ")), DigestError::NotHex(' '));
    }

    #[test]
    fn only_sixty_four_zeros_are_the_placeholder() {
        assert!(Digest::is_placeholder(&format!("sha256:{}", "0".repeat(64))));
        assert!(!Digest::is_placeholder(&format!("sha256:{}", "0".repeat(63))));
        assert!(!Digest::is_placeholder(&format!("sha256:{HEX}")));
    }
}
