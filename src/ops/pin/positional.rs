//! A pin as one word of the command line: `NAME=REF`, or `NAME@sha256:…` as `kustomize edit set image` has it.

use std::path::Path;

use crate::change::{DigestsError, Key, Pin, PinValueError, parse_assignment};
use crate::error::{Error, codes};
use crate::image::is_tag;
use crate::ops::input::hint_for_directory;
use crate::shell;

/// The pin that `text` is; `cwd` is where a directory is looked for, and `resolves_unnamed` says that `--resolve` is
/// given without names.
///
/// # Errors
/// [`codes::USAGE`] for a text without a digest, and what [`parse_assignment`] refuses, each with the form that is meant.
pub(super) fn parse_positional(
    cwd: &Path,
    text: &str,
    resolves_unnamed: bool,
) -> Result<Pin, Error> {
    if let Some((key, value)) = text.split_once('=') {
        return parse_assignment(key, value).map_err(|error| with_hint_for_tag(key, value, error));
    }
    if let Some((name, digest)) = text.split_once('@') {
        return parse_with_digest(name, digest);
    }
    let error = Error::new(codes::USAGE, format!("`{text}` carries no digest"));
    let error = match (resolves_unnamed, cfg!(feature = "registry")) {
        (true, _) => {
            let command = shell::word(text);
            error.hint(format!("--resolve takes its names behind `=`: --resolve={command}"))
        }
        (false, true) => {
            error.hint("write NAME=sha256:…, or NAME:TAG to ask the registry for the digest")
        }
        (false, false) => error.hint("write NAME=sha256:…, or NAME=REFERENCE@sha256:…"),
    };
    Err(hint_for_directory(cwd, text, error))
}

/// `NAME@sha256:…` is `NAME=sha256:…`; with a tag in the name it may mean two things.
fn parse_with_digest(name: &str, digest: &str) -> Result<Pin, Error> {
    let key = Key::parse(name);
    let Some(tag) = key.tag() else { return Ok(parse_assignment(name, digest)?) };
    let message = format!(
        "`{name}@{digest}` may mean the image that has the tag {tag}, or the one that is to have it"
    );
    let (own, word) = (key.name(), |pin: String| shell::word(&pin).into_owned());
    let narrowed = word(format!("{name}={digest}"));
    let moved = word(format!("{own}={name}@{digest}"));
    Err(Error::new(codes::USAGE, message)
        .hint(format!("write `{narrowed}` for what has the tag {tag} today"))
        .hint(format!("write `{moved}` for {own}, with the tag {tag}")))
}

/// `NAME=TAG`: a registry is asked for a tag with a colon.
fn with_hint_for_tag(key: &str, value: &str, error: DigestsError) -> Error {
    let is_tag_alone = matches!(&error, DigestsError::Value { reason: PinValueError::NoDigest(text), .. } if is_tag(text));
    let plain = Error::from(error);
    if !is_tag_alone || Key::parse(key).tag().is_some() || cfg!(not(feature = "registry")) {
        return plain;
    }
    let typed = format!("{key}:{value}");
    plain.hint(format!("`{}` asks the registry for the digest of that tag", shell::word(&typed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:34098e9339ac005509d0768ba1222d39b3df61802617a764f551a031d45c4371";

    fn parse(text: &str) -> Result<Pin, Error> {
        parse_positional(Path::new("/nowhere"), text, false)
    }

    #[test]
    fn a_name_at_a_digest_is_a_pin() {
        let at = parse(&format!("registry.example:5000/team/web@{DIGEST}")).unwrap();
        assert_eq!(at, parse(&format!("registry.example:5000/team/web={DIGEST}")).unwrap());
        assert_eq!(parse("web@sha256:12").unwrap_err().code(), codes::INVALID_DIGEST);
        assert_eq!(parse(&format!("@{DIGEST}")).unwrap_err().code(), codes::USAGE);
    }

    #[test]
    fn what_is_nearly_a_pin_is_told_the_form_that_is_meant() {
        let hints = |text: &str| parse(text).unwrap_err().hints().join("\n");
        let two = hints(&format!("web:1.2@{DIGEST}"));
        assert!(two.contains(&format!("`web:1.2={DIGEST}`")), "{two}");
        assert!(two.contains(&format!("`web=web:1.2@{DIGEST}`")), "{two}");
        assert!(hints("web=1.2.0").contains("`web:1.2.0` asks"), "{}", hints("web=1.2.0"));
        assert!(!hints(&format!("web={}", &DIGEST[7..])).contains("asks"));
        let resolve = parse_positional(Path::new("/nowhere"), "web", true).unwrap_err();
        assert!(resolve.hints().join("\n").contains("--resolve=web"));
    }
}
