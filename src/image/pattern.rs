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
pub struct Pattern(Matcher);

#[derive(Clone, Debug)]
enum Matcher {
    Plain(PlainName),
    Regex(Regex),
}

/// The name of an `images:` entry that is matched without its regular expression, which takes longer to compile
/// than a small overlay to render.
#[derive(Clone, Debug)]
pub enum PlainName {
    /// Only `.` stands for more than itself, as in nearly all names.
    Letters(String),
    /// `.*`
    Anything,
}

impl PlainName {
    /// `name`, or `None` where the regular expression has to decide.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/:@_-.".contains(c);
        match name {
            ".*" => Some(Self::Anything),
            _ => name.chars().all(is_plain).then(|| Self::Letters(name.to_owned())),
        }
    }

    /// Whether [`pattern_of`] the name matches `text`.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Letters(name) => after_name(text, name).is_some_and(is_tag_and_digest),
            Self::Anything => !text.contains('\n'),
        }
    }
}

/// What follows `name`, in which a `.` stands for any character of the line.
fn after_name<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = text.chars();
    for wanted in name.chars() {
        let found = rest.next()?;
        if found != wanted && (wanted != '.' || found == '\n') {
            return None;
        }
    }
    Some(rest.as_str())
}

/// Whether `text` is a tag or a digest or both or nothing, in the characters that kustomize looks for.
fn is_tag_and_digest(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.{}-".contains(c);
    let is_all_plain = |text: &str| text.chars().all(is_plain);
    let (tag, digest) = match text.split_once("@sha256:") {
        Some((tag, digest)) => (tag, digest),
        None => (text, ""),
    };
    let is_tag = tag.is_empty() || tag.strip_prefix(':').is_some_and(is_all_plain);
    is_tag && is_all_plain(digest)
}

/// The regular expression that kustomize makes of the name of an `images:` entry: anchored at both ends, a tag
/// and a digest optional behind it.
#[must_use]
pub fn pattern_of(name: &str) -> String {
    format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$")
}

/// Whether an entry named as `text` is matches it: what follows the name has the characters that kustomize looks for.
/// `app:1+2` has not.
#[must_use]
pub fn is_matchable(text: &str) -> bool {
    is_tag_and_digest(&text[Split::parse(text).name.len()..])
}

/// The name of an `images:` entry is no regular expression; kustomize panics on it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is read as a regular expression, and it is none")]
pub struct PatternError {
    /// The entry's name.
    pub name: String,
}

impl Pattern {
    /// The pattern of an entry called `name`, see [`pattern_of`].
    ///
    /// # Errors
    /// [`PatternError`] where `name` is no regular expression, or one beyond the size limit of the engine.
    pub fn new(name: &str) -> Result<Self, PatternError> {
        if let Some(plain) = PlainName::new(name) {
            return Ok(Self(Matcher::Plain(plain)));
        }
        KEPT.find_or(&pattern_of(name), Regex::new)
            .map(|regex| Self(Matcher::Regex(regex)))
            .map_err(|_| PatternError { name: name.to_owned() })
    }

    /// Whether an entry of this name changes an image field that holds `text`.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        match &self.0 {
            Matcher::Plain(name) => name.is_match(text),
            Matcher::Regex(regex) => regex.is_match(text),
        }
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

    /// The expression itself is the judge of what is matched without it.
    #[test]
    fn a_plain_name_matches_what_its_expression_does() {
        let names =
            ["", "a", "a.b/c", "r:5/a", "a:1", "a@sha256:0f", "-", "a_b-c", ".", ":", "@", ".*"];
        let heads = ["", "a", "axb/c", "a.b/c", "r:5/a", "a\nb/c", "é", "a_b-c", "-", ":", "@"];
        let tails = [
            "",
            ":",
            ":1",
            ":1.0-x_{}",
            ":é",
            ":1+2",
            ":1:2",
            "@",
            "@sha256:",
            "@sha256:0f",
            "@sha256:0f@sha256:0f",
            ":1@sha256:0f",
            ":1@sha512:0f",
            "@sha256:0f:1",
            ":1\n",
            "\n",
        ];
        let mut matched = 0;
        for name in names {
            let plain = PlainName::new(name).unwrap();
            let regex = Regex::new(&pattern_of(name)).unwrap();
            for (head, tail) in heads.iter().flat_map(|head| tails.map(|tail| (head, tail))) {
                let text = format!("{head}{tail}");
                assert_eq!(plain.is_match(&text), regex.is_match(&text), "{name:?} on {text:?}");
                matched += usize::from(regex.is_match(&text));
            }
        }
        assert!(matched > 80, "{matched}");
        for name in
            ["a+", "a[.]b", "(a)", "a|b", "a b", "é", "a$", "a^", "a\\.b", "a*", "a?", "a{2}"]
        {
            assert!(PlainName::new(name).is_none(), "{name}");
        }
    }

    #[test]
    fn a_broken_pattern_is_an_error() {
        assert!(Pattern::new("a(").is_err());
    }
}
