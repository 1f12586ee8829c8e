//! A reference as a user gives it: `[HOST[:PORT]/]PATH[:TAG][@DIGEST]`, read strictly.

use super::digest::{Digest, DigestError};
use std::fmt;

/// The longest name that the distribution specification allows.
const MAX_NAME: usize = 255;

/// An image reference that follows the grammar of distribution's `reference` package.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    name: String,
    tag: Option<String>,
    digest: Option<Digest>,
}

/// Why a text is no reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// The part before tag and digest.
    #[error("`{0}` is no image name")]
    Name(String),
    /// The part behind the colon.
    #[error(
        "`{0}` is no tag: a tag is at most 128 letters, digits, `_`, `.` and `-`, and starts with none of the last two"
    )]
    Tag(String),
    /// The part behind `@`.
    #[error("`{text}` is no digest: {reason}")]
    Digest {
        /// The text behind `@`.
        text: String,
        /// Why.
        reason: DigestError,
    },
}

impl Reference {
    /// Reads `text` as written, no defaults added.
    ///
    /// # Errors
    /// [`ReferenceError`] says which part is wrong.
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => (rest, Some(parse_digest(digest)?)),
            None => (text, None),
        };
        let path = rest.rfind('/').map_or(0, |i| i + 1);
        let (name, tag) = match rest[path..].find(':') {
            Some(i) => (&rest[..path + i], Some(&rest[path + i + 1..])),
            None => (rest, None),
        };
        if !is_name(name) {
            return Err(ReferenceError::Name(name.to_owned()));
        }
        if let Some(odd) = tag.filter(|t| !is_tag(t)) {
            return Err(ReferenceError::Tag(odd.to_owned()));
        }
        Ok(Self { name: name.to_owned(), tag: tag.map(str::to_owned), digest })
    }

    /// Host and path as written.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tag, where one is written.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The digest, where one is written.
    #[must_use]
    pub fn digest(&self) -> Option<&Digest> {
        self.digest.as_ref()
    }

    /// The registry host with its port, where the name begins with one.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        self.name.split_once('/').map(|(first, _)| first).filter(|first| looks_like_host(first))
    }

    /// The path in the registry.
    #[must_use]
    pub fn repository(&self) -> &str {
        self.host().map_or(&self.name, |host| &self.name[host.len() + 1..])
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

/// Whether `text` is a tag: `[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}` of the distribution specification.
#[must_use]
pub fn is_tag(text: &str) -> bool {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let mut bytes = text.bytes();
    text.len() <= 128
        && bytes.next().is_some_and(word)
        && bytes.all(|b| word(b) || b == b'.' || b == b'-')
}

fn parse_digest(text: &str) -> Result<Digest, ReferenceError> {
    Digest::parse(text).map_err(|reason| ReferenceError::Digest { text: text.to_owned(), reason })
}

fn is_name(name: &str) -> bool {
    if name.is_empty() || name.len() > MAX_NAME {
        return false;
    }
    match name.split_once('/') {
        Some((first, rest)) if looks_like_host(first) => is_host(first) && is_path(rest),
        _ => is_path(name),
    }
}

fn looks_like_host(first: &str) -> bool {
    first.contains(['.', ':', '['])
        || first == "localhost"
        || first.bytes().any(|b| b.is_ascii_uppercase())
}

fn is_host(host: &str) -> bool {
    let (address, port) = split_port(host);
    let port_fits = port.is_none_or(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()));
    port_fits && (is_ipv6(address) || address.split('.').all(is_domain_label))
}

fn split_port(host: &str) -> (&str, Option<&str>) {
    let from = host.rfind(']').map_or(0, |i| i + 1);
    match host[from..].rfind(':') {
        Some(i) => (&host[..from + i], Some(&host[from + i + 1..])),
        None => (host, None),
    }
}

fn is_ipv6(address: &str) -> bool {
    address
        .strip_prefix('[')
        .and_then(|a| a.strip_suffix(']'))
        .is_some_and(|a| a.parse::<std::net::Ipv6Addr>().is_ok())
}

fn is_domain_label(label: &str) -> bool {
    !label.is_empty()
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn is_path(path: &str) -> bool {
    path.split('/').all(is_path_segment)
}

/// Lower-case letters and digits, divided by one dot, one or two underscores, or any number of dashes.
fn is_path_segment(segment: &str) -> bool {
    let alnum = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = segment.as_bytes();
    let ends =
        bytes.first().copied().is_some_and(alnum) && bytes.last().copied().is_some_and(alnum);
    ends && segment
        .split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        .all(|gap| matches!(gap, "" | "." | "_" | "__") || gap.bytes().all(|b| b == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:34098e9339ac005509d0768ba1222d39b3df61802617a764f551a031d45c4371";

    fn parts(text: &str) -> (Option<String>, String, Option<String>) {
        let r = Reference::parse(text).unwrap();
        (r.host().map(str::to_owned), r.repository().to_owned(), r.tag().map(str::to_owned))
    }

    #[test]
    fn host_repository_and_tag_are_told_apart() {
        let some = |s: &str| Some(s.to_owned());
        assert_eq!(parts("redis"), (None, "redis".into(), None));
        assert_eq!(parts("redis:7"), (None, "redis".into(), some("7")));
        assert_eq!(parts("team/web"), (None, "team/web".into(), None));
        assert_eq!(parts("reg.test:5000/a/b:1"), (some("reg.test:5000"), "a/b".into(), some("1")));
        assert_eq!(parts("localhost/web"), (some("localhost"), "web".into(), None));
        assert_eq!(parts("[2001:db8::1]:5000/a"), (some("[2001:db8::1]:5000"), "a".into(), None));
    }

    #[test]
    fn a_reference_is_written_as_it_was_read() {
        for text in
            ["redis", "reg:5000/a/b:1.4", &format!("a.b/c:1@{DIGEST}"), &format!("c@{DIGEST}")]
        {
            assert_eq!(Reference::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in
            ["", "Web", "a//b", "/a", "a/", "a b", "-a", "a.-b", "a___b", "reg:x/a", "[::g]/a"]
        {
            assert!(matches!(Reference::parse(text), Err(ReferenceError::Name(_))), "{text}");
        }
    }

    #[test]
    fn what_is_no_tag_is_refused() {
        for tag in [".5", "+7", "~", "-", "12:30:45", "", "é"] {
            let text = format!("web:{tag}");
            assert!(matches!(Reference::parse(&text), Err(ReferenceError::Tag(_))), "{text}");
        }
        assert!(is_tag(&"a".repeat(128)));
        assert!(!is_tag(&"a".repeat(129)));
    }
}
