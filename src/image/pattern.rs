//! How kustomize reads an image field and an `images:` entry's name.
//!
//! The rules are those of `api/internal/image/image.go` of kustomize 5.8.1 (`Split`,
//! `IsImageMatched`), faults included: the name of an entry is a regular expression that nothing escapes.

use regex::Regex;

use crate::patterns::KeptPatterns;

static KEPT: KeptPatterns = KeptPatterns::new();

/// An image field as kustomize divides it; each part may be anything, the parts joined give the text back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split<'a> {
    /// Everything before the tag and the digest.
    pub name: &'a str,
    /// Behind the first `:` after the first `/`; empty where there is none.
    pub tag: &'a str,
    /// Behind the first `@` after the first `/`; empty where there is none.
    pub digest: &'a str,
}

impl<'a> Split<'a> {
    /// Divides `text`. A colon before the first `/` belongs to the host, not to a tag.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        let path = text.find('/').unwrap_or(0);
        let at = text[path..].find('@').map(|i| i + path);
        let colon = text[path..].find(':').map(|i| i + path).filter(|c| at.is_none_or(|a| *c < a));
        let name_end = colon.or(at).unwrap_or(text.len());
        let tag = colon.map_or("", |c| &text[c + 1..at.unwrap_or(text.len())]);
        let digest = at.map_or("", |a| &text[a + 1..]);
        Self { name: &text[..name_end], tag, digest }
    }
}

/// The name of an `images:` entry as the regular expression that kustomize makes of it.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

/// Whether an entry named as `text` is matches it: what follows the name has the characters that kustomize looks for.
/// `app:1+2` has not.
#[must_use]
pub fn is_matchable(text: &str) -> bool {
    let name = Split::parse(text).name;
    Pattern::new("").is_ok_and(|rest| rest.is_match(&text[name.len()..]))
}

/// The name of an `images:` entry is no regular expression; kustomize panics on it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is read as a regular expression, and it is none")]
pub struct PatternError {
    /// The entry's name.
    pub name: String,
}

impl Pattern {
    /// The pattern of an entry called `name`: anchored at both ends, a tag and a digest optional behind it.
    ///
    /// # Errors
    /// [`PatternError`] where `name` is no regular expression, or one beyond the size limit of the engine.
    pub fn new(name: &str) -> Result<Self, PatternError> {
        let text = format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
        KEPT.find_or(&text, Regex::new)
            .map(Self)
            .map_err(|_| PatternError { name: name.to_owned() })
    }

    /// Whether an entry of this name changes an image field that holds `text`.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> (&str, &str, &str) {
        let s = Split::parse(text);
        (s.name, s.tag, s.digest)
    }

    #[test]
    fn the_port_is_no_tag() {
        assert_eq!(split("registry:5000/app"), ("registry:5000/app", "", ""));
        assert_eq!(split("registry:5000/app:1"), ("registry:5000/app", "1", ""));
        assert_eq!(split("app:1"), ("app", "1", ""));
    }

    #[test]
    fn tag_and_digest_are_divided() {
        assert_eq!(split("a/b:1@sha256:00"), ("a/b", "1", "sha256:00"));
        assert_eq!(split("a/b@sha256:00"), ("a/b", "", "sha256:00"));
        assert_eq!(split("reg:5/m/web:1.3:1.0"), ("reg:5/m/web", "1.3:1.0", ""));
        assert_eq!(split(""), ("", "", ""));
    }

    #[test]
    fn a_dot_is_any_character() {
        let plain = Pattern::new("registry.test/web").unwrap();
        assert!(plain.is_match("registry.test/web:1"));
        assert!(plain.is_match("registry-test/web"));
        assert!(!plain.is_match("registry.test/webs"));
        assert!(!Pattern::new("registry[.]test/web").unwrap().is_match("registry-test/web"));
    }

    #[test]
    fn an_alternation_is_not_grouped() {
        let either = Pattern::new("a|b").unwrap();
        assert!(either.is_match("anything that begins with a"));
        assert!(either.is_match("xb:1"));
    }

    #[test]
    fn a_name_with_a_tag_narrows() {
        let one = Pattern::new("web:1.0").unwrap();
        assert!(one.is_match("web:1.0"));
        assert!(one.is_match("web:1.0@sha256:ab"));
        assert!(!one.is_match("web:1.1"));
    }

    #[test]
    fn a_broken_pattern_is_an_error() {
        assert!(Pattern::new("a(").is_err());
    }
}
