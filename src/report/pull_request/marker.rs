//! What a body hides: the change as data and what is ours in the pull request, so that a later run knows.

use serde::{Deserialize, Serialize};

const OPEN: &str = "<!-- overlay:v1 ";
const CLOSE: &str = " -->";
const END: &str = "<!-- overlay:end -->";

/// The most names that a marker lists; longer lists are left out, and the key stands for them.
const MOST_NAMES: usize = 100;

/// What a change speaks of, without its values: the same for the next release.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// The words of the command.
    pub command: String,
    /// The overlays, sorted.
    pub overlays: Vec<String>,
    /// The images, workloads or fields, sorted.
    pub names: Vec<String>,
}

impl Scope {
    /// Whether all that `other` speaks of is in it.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let within = |few: &[String], all: &[String]| few.iter().all(|name| all.contains(name));
        self.command == other.command
            && !other.overlays.is_empty()
            && !other.names.is_empty()
            && within(&other.overlays, &self.overlays)
            && within(&other.names, &self.names)
    }

    /// As a marker holds it.
    #[must_use]
    pub fn shortened(&self) -> Self {
        match self.overlays.len() + self.names.len() {
            0..=MOST_NAMES => self.clone(),
            _ => Self { command: self.command.clone(), ..Self::default() },
        }
    }
}

/// The hidden part of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// Stands for the scope and the base branch.
    pub key: String,
    /// What the change speaks of, where that is short enough.
    pub scope: Scope,
    /// The title that we gave; another one is a person's.
    pub title: String,
    /// The commits that we made on the branch.
    pub commits: Vec<String>,
}

impl Marker {
    /// The text with the marker before it and the end behind it.
    pub(super) fn around(&self, text: &str) -> String {
        // In a comment of HTML only these could end it.
        let json = serde_json::to_string(self).unwrap_or_default();
        let json = json.replace('<', "\\u003c").replace('>', "\\u003e");
        format!("{OPEN}{json}{CLOSE}\n{text}\n{END}")
    }
}

/// The first marker of a body, at the start of a line.
#[must_use]
pub fn find_marker(body: &str) -> Option<Marker> {
    let line = body.lines().find(|line| line.starts_with(OPEN))?;
    let json = line.strip_prefix(OPEN)?.trim_end().strip_suffix(CLOSE)?;
    serde_json::from_str(json).ok()
}

/// `body` with what lies between marker and end replaced by `region`, which has both; what people wrote around it stays. `None`
/// where there is no marker.
#[must_use]
pub fn replace_region(body: &str, region: &str) -> Option<String> {
    let body = body.replace("\r\n", "\n");
    let starts = |at: usize| at == 0 || body[..at].ends_with('\n');
    let start = body.match_indices(OPEN).map(|(at, _)| at).find(|at| starts(*at))?;
    let end = body[start..].find(END).map_or(body.len(), |at| start + at + END.len());
    Some(format!("{}{region}{}", &body[..start], &body[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marker() -> Marker {
        let names = vec!["a --> <!-- overlay:v1 {}".to_owned()];
        let scope = Scope { command: "pin".into(), overlays: vec!["overlays/prod".into()], names };
        Marker { key: "k".into(), scope, title: "Pin".into(), commits: vec!["c".into()] }
    }

    #[test]
    fn a_marker_comes_back_and_cannot_be_ended_from_within() {
        let text = marker().around("hello");
        assert_eq!(find_marker(&text), Some(marker()));
        assert_eq!(text.matches("-->").count(), 2, "{text}");
        assert_eq!(find_marker("> <!-- overlay:v1 {} -->"), None);
    }

    #[test]
    fn what_people_wrote_stays() {
        let body = format!("Please look.\r\n{}\r\n\r\nSee also.", marker().around("old"));
        let new = replace_region(&body, "NEW").unwrap();
        assert_eq!(new, "Please look.\nNEW\n\nSee also.");
        assert_eq!(replace_region("by hand", "NEW"), None);
        let cut = marker().around("old").replace(END, "");
        assert_eq!(replace_region(&cut, "NEW").as_deref(), Some("NEW"));
    }

    #[test]
    fn a_scope_covers_a_smaller_one() {
        let scope = |overlays: &[&str], names: &[&str]| Scope {
            command: "pin".into(),
            overlays: overlays.iter().map(|s| (*s).to_owned()).collect(),
            names: names.iter().map(|s| (*s).to_owned()).collect(),
        };
        let all = scope(&["a", "b"], &["web", "api"]);
        assert!(all.covers(&scope(&["a"], &["web"])));
        assert!(!all.covers(&scope(&["c"], &["web"])));
        assert!(!scope(&["a"], &["web"]).covers(&all));
        // One that was cut covers nothing and is covered by nothing.
        assert!(!all.covers(&scope(&[], &[])));
    }
}
