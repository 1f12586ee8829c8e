//! `overlay.lock`: which commit each reference to a remote base stands for.
//!
//! One line an entry, `ADDRESS REFERENCE COMMIT`; `-` stands for no reference (the remote's `HEAD`). The first line names
//! the version. Lines that begin with `#` and empty lines are comments; they are not kept where the file is written again.
//! Blanks and `%` in an address are written as in a URL (`%20`, `%25`).

use std::collections::BTreeMap;

use super::id::ObjectId;

/// The name of the file, at the top of the repository.
pub const LOCK_FILE: &str = "overlay.lock";

const HEADER: &str = "overlay-lock 1";

/// The entries of a lock file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    entries: BTreeMap<(String, String), ObjectId>,
}

/// One entry of a lock file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockEntry {
    /// The address of the repository, without credentials.
    pub address: String,
    /// The branch or tag; `None` for the remote's `HEAD`.
    pub reference: Option<String>,
    /// The commit that stands for it.
    pub commit: ObjectId,
}

/// Why a lock file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{LOCK_FILE}:{line}: {reason}")]
pub struct LockFileError {
    /// The line, counted from 1.
    pub line: usize,
    /// In words.
    pub reason: String,
}

impl LockFile {
    /// Reads the text of a lock file.
    ///
    /// # Errors
    /// [`LockFileError`] for another version and for a line that is no entry.
    pub fn parse(text: &str) -> Result<Self, LockFileError> {
        let mut lock = Self::default();
        let mut has_header = false;
        for (at, line) in text.lines().enumerate() {
            let wrong = |reason: &str| LockFileError { line: at + 1, reason: reason.to_owned() };
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if !has_header {
                has_header = line == HEADER;
                if !has_header {
                    return Err(wrong("not a lock file of this version of the program"));
                }
                continue;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            let [address, reference, commit] = words[..] else {
                return Err(wrong("an address, a reference and a commit are needed"));
            };
            let commit = commit.parse().map_err(|_| wrong("the commit is no full name of one"))?;
            let address = unescape(address).ok_or_else(|| wrong("the address is badly escaped"))?;
            lock.entries.insert((address, reference.to_owned()), commit);
        }
        Ok(lock)
    }

    /// The commit that is locked for a reference.
    pub fn find(&self, address: &str, reference: Option<&str>) -> Option<ObjectId> {
        self.entries.get(&(address.to_owned(), reference.unwrap_or("-").to_owned())).copied()
    }

    /// Locks a reference.
    pub fn insert(&mut self, address: &str, reference: Option<&str>, commit: ObjectId) {
        self.entries.insert((address.to_owned(), reference.unwrap_or("-").to_owned()), commit);
    }

    /// All entries, by address and reference.
    pub fn entries(&self) -> impl Iterator<Item = LockEntry> + '_ {
        self.entries.iter().map(|((address, reference), commit)| LockEntry {
            address: address.clone(),
            reference: (reference != "-").then(|| reference.clone()),
            commit: *commit,
        })
    }

    /// The text of the file, entries in order.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADER}\n");
        for ((address, reference), commit) in &self.entries {
            text.push_str(&format!("{} {reference} {commit}\n", escape(address)));
        }
        text
    }
}

/// An address as one word that is no comment.
fn escape(address: &str) -> String {
    let mut out = String::with_capacity(address.len());
    for (at, c) in address.char_indices() {
        if c == '%' || c.is_whitespace() || c.is_control() || (at == 0 && c == '#') {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// The address that [`escape`] made `text` of; `None` where it made none such.
fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_locked_comes_back() {
        let commit: ObjectId = "0123456789abcdef0123456789abcdef01234567".parse().unwrap();
        let mut lock = LockFile::default();
        lock.insert("https://host/x", Some("v1"), commit);
        lock.insert("https://host/x", None, commit);
        assert_eq!(LockFile::parse(&lock.to_text()).unwrap(), lock);
        assert_eq!(lock.find("https://host/x", None), Some(commit));
        assert_eq!(lock.find("https://host/x", Some("v2")), None);
        assert_eq!(LockFile::parse("").unwrap(), LockFile::default());
        let references: Vec<_> = lock.entries().map(|entry| entry.reference).collect();
        assert_eq!(references, [None, Some("v1".to_owned())]);
    }

    #[test]
    fn any_address_is_one_word() {
        let commit: ObjectId = "0123456789abcdef0123456789abcdef01234567".parse().unwrap();
        for address in ["file:///a b\u{a0}c", "#x", "https://h/a%2Fb", "file:///ü"] {
            let mut lock = LockFile::default();
            lock.insert(address, Some("v1"), commit);
            let back = LockFile::parse(&lock.to_text()).unwrap();
            assert_eq!(back.find(address, Some("v1")), Some(commit), "{}", lock.to_text());
        }
    }

    #[test]
    fn broken_lines_are_named() {
        for (text, line) in [
            ("x\n", 1),
            ("overlay-lock 2\n", 1),
            ("# a\noverlay-lock 1\na b\n", 3),
            ("overlay-lock 1\na b c\n", 2),
            ("overlay-lock 1\na%2 b 0123456789abcdef0123456789abcdef01234567\n", 2),
        ] {
            assert_eq!(LockFile::parse(text).unwrap_err().line, line, "{text}");
        }
    }
}
