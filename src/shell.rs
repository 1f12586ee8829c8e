//! Commands that are printed for people to paste: each word quoted where a shell would read more than a word.
//!
//! Names are a repository's or a cluster's. Whatever is printed as a command goes through here.

use std::borrow::Cow;

/// One word of a POSIX shell, quoted where it has to be.
#[must_use]
pub fn word(text: &str) -> Cow<'_, str> {
    // The ellipsis stands for what the reader fills in, as in `sha256:…`.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+…".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', "'\\''")).into()
}

/// Several words in a row.
#[must_use]
pub fn words<'a>(all: impl IntoIterator<Item = &'a str>) -> String {
    all.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

/// `overlay VERB OVERLAY REST…`, where `verb` may be several words and is taken as it is. An overlay whose path begins like an
/// option is told as `./-path`.
#[must_use]
pub fn overlay(verb: &str, overlay: &str, rest: &[&str]) -> String {
    let path = match overlay.starts_with('-') {
        true => Cow::from(format!("./{overlay}")),
        false => overlay.into(),
    };
    format!("overlay {verb} {}", words(std::iter::once(&*path).chain(rest.iter().copied())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_more() {
        for (text, quoted) in [
            ("web-0", "web-0"),
            ("a=b", "a=b"),
            ("web=sha256:…", "web=sha256:…"),
            ("", "''"),
            ("a b", "'a b'"),
            ("$(reboot)", "'$(reboot)'"),
            ("it's", "'it'\\''s'"),
            ("key notin (a,b)", "'key notin (a,b)'"),
            ("~root", "'~root'"),
            ("a\nb", "'a\nb'"),
        ] {
            assert_eq!(word(text), quoted);
        }
    }

    #[test]
    fn a_command_of_ours_has_its_overlay_behind_the_verb() {
        let command = overlay("set replicas", "ov/$(x)", &["a b=2", "--pr"]);
        assert_eq!(command, "overlay set replicas 'ov/$(x)' 'a b=2' --pr");
        assert_eq!(overlay("build", "-x", &[]), "overlay build ./-x");
    }
}
