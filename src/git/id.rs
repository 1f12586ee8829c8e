//! Names of git objects, in either hash format.

use std::fmt;
use std::str::FromStr;

/// The name of an object: 20 bytes in a SHA-1 repository, 32 in a SHA-256 one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    bytes: [u8; 32],
    len: u8,
}

impl ObjectId {
    /// The name made of these raw bytes, 20 or 32 of them.
    pub fn from_bytes(raw: &[u8]) -> Option<Self> {
        if raw.len() != 20 && raw.len() != 32 {
            return None;
        }
        let mut bytes = [0; 32];
        bytes[..raw.len()].copy_from_slice(raw);
        Some(Self { bytes, len: u8::try_from(raw.len()).ok()? })
    }

    /// The raw bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The name of no object, of the same length: what git takes for "must not exist".
    pub fn zero_like(&self) -> Self {
        Self { bytes: [0; 32], len: self.len }
    }

    /// The first 12 digits, for people.
    pub fn short(&self) -> String {
        self.to_string().chars().take(12).collect()
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not the full hexadecimal name of an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the full name of a git object")]
pub struct NotAnObjectId(pub String);

impl FromStr for ObjectId {
    type Err = NotAnObjectId;

    fn from_str(text: &str) -> Result<Self, NotAnObjectId> {
        let wrong = || NotAnObjectId(text.chars().take(80).collect());
        if !text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
            return Err(wrong());
        }
        let raw: Option<Vec<u8>> = (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok())
            .collect();
        raw.and_then(|raw| Self::from_bytes(&raw)).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lengths_are_read_and_printed() {
        for length in [40, 64] {
            let text = "0123456789abcdef".repeat(4)[..length].to_owned();
            assert_eq!(text.parse::<ObjectId>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_no_names() {
        for text in ["", "abc", "HEAD", &"A".repeat(40), &"a".repeat(41), &"é".repeat(20)] {
            assert!(text.parse::<ObjectId>().is_err(), "{text}");
        }
    }
}
