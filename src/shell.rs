//! Commands that are printed for people to paste: each word quoted where a shell would read more than a word.
//!
//! Names are a repository's or a cluster's. Whatever is printed as a command goes through here.

use std::borrow::Cow;
use std::path::Path;

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

/// Where the shell stands that a printed command is pasted into, as seen from the boundary that paths are
/// relative to. By itself it stands at the boundary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Here(Place);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// In this directory of the boundary.
    Below(String),
    /// Elsewhere: the boundary is reached by this path.
    Outside(String),
}

impl Default for Place {
    fn default() -> Self {
        Self::Below(String::new())
    }
}

impl Here {
    /// A shell that stands in `directory`, below the boundary `root`, above it or anywhere else; both absolute.
    #[must_use]
    pub fn new(directory: &Path, root: &Path) -> Self {
        let text = |path: &Path| path.to_string_lossy().replace('\\', "/");
        Self(match (directory.strip_prefix(root), root.strip_prefix(directory)) {
            (Ok(below), _) => Place::Below(text(below)),
            (_, Ok(above)) => Place::Outside(text(above)),
            _ => Place::Outside(text(root)),
        })
    }

    /// The path from here to `overlay`, a path relative to the boundary.
    #[must_use]
    pub fn path(&self, overlay: &str) -> String {
        let overlay = if overlay == "." { "" } else { overlay };
        let (up, below) = match &self.0 {
            Place::Outside(root) => {
                return format!("{root}/{overlay}").trim_end_matches('/').to_owned();
            }
            Place::Below(directory) => apart(directory, overlay),
        };
        let path = "../".repeat(up) + below;
        match path.trim_end_matches('/') {
            "" => ".".to_owned(),
            path => path.to_owned(),
        }
    }
}

/// How many steps lead up from `from` to what it shares with `to`, and what of `to` is below that.
fn apart<'t>(from: &str, to: &'t str) -> (usize, &'t str) {
    let names = |path: &'_ str| path.split('/').filter(|name| !name.is_empty()).count();
    let mut rest = to;
    let mut up = names(from);
    for name in from.split('/').filter(|name| !name.is_empty()) {
        let (first, after) = rest.split_once('/').unwrap_or((rest, ""));
        if first != name {
            break;
        }
        (rest, up) = (after, up - 1);
    }
    (up, rest)
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

    #[test]
    fn a_path_leads_from_where_the_shell_stands() {
        let root = Path::new("/repo");
        for (directory, overlay, path) in [
            ("/repo", "overlays/db", "overlays/db"),
            ("/repo", ".", "."),
            ("/repo/overlays/db", "overlays/db", "."),
            ("/repo/overlays/db", ".", "../.."),
            ("/repo/overlays", "overlays/db", "db"),
            ("/repo/overlays/db", "overlays/dbs", "../dbs"),
            ("/repo/docs/a", "overlays/db", "../../overlays/db"),
            ("/", "overlays/db", "repo/overlays/db"),
            ("/elsewhere", "overlays/db", "/repo/overlays/db"),
            ("/elsewhere", ".", "/repo"),
        ] {
            assert_eq!(
                Here::new(Path::new(directory), root).path(overlay),
                path,
                "{directory} {overlay}"
            );
        }
        assert_eq!(Here::default().path("overlays/db"), "overlays/db");
    }
}
