//! What a commit remembers of the way it goes: the trailer by which any machine can go on, or go back.

use serde_json::{Value as Json, json};

/// The trailer: `Overlay-Ship: {…}`.
pub const RECORD_KEY: &str = "Overlay-Ship";

/// The most characters of a name.
const MOST: usize = 60;

/// What the trailer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShipRecord {
    /// The commit makes a change.
    Makes {
        /// Stands for the change and its values.
        change: String,
        /// By this name it is to be returned later.
        then_revert: Option<String>,
    },
    /// The commit takes a change back that failed.
    TakesBack {
        /// Stands for the change and its values.
        change: String,
        /// The commit that brought it to the base branch.
        commit: String,
    },
    /// The commit is the second half of a change that was made to be returned.
    Returns {
        /// The name of the change.
        name: String,
        /// The commit that brought the first half to the base branch.
        commit: String,
    },
}

impl ShipRecord {
    /// The line of the trailer.
    #[must_use]
    pub fn to_trailer(&self) -> String {
        let data = match self {
            Self::Makes { change, then_revert: None } => json!({"change": change}),
            Self::Makes { change, then_revert } => {
                json!({"change": change, "thenRevert": then_revert})
            }
            Self::TakesBack { change, commit } => json!({"takesBack": commit, "change": change}),
            Self::Returns { name, commit } => json!({"returns": name, "commit": commit}),
        };
        format!("{RECORD_KEY}: {data}")
    }

    /// The records of a message, each a line of its last paragraph; what this version cannot read is left out.
    #[must_use]
    pub fn find_in(message: &str) -> Vec<Self> {
        let message = message.trim_end();
        let block = message.rsplit_once("\n\n").map_or("", |(_, last)| last);
        let values =
            block.lines().filter_map(|line| line.strip_prefix(RECORD_KEY)?.strip_prefix(':'));
        values.filter_map(|value| Self::parse(value.trim())).collect()
    }

    fn parse(value: &str) -> Option<Self> {
        let data: Json = serde_json::from_str(value).ok()?;
        let text = |key: &str| data[key].as_str().map(str::to_owned);
        if let Some(name) = text("returns") {
            return Some(Self::Returns { name, commit: text("commit")? });
        }
        let change = text("change")?;
        Some(match text("takesBack") {
            Some(commit) => Self::TakesBack { change, commit },
            None => Self::Makes { change, then_revert: text("thenRevert") },
        })
    }
}

/// Whether `text` can name a change that is to be returned: letters, digits, `-`, `_` and `.`, not at its start.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.len() <= MOST
        && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back() {
        let texts = |change: &str| change.to_owned();
        for record in [
            ShipRecord::Makes { change: texts("3f"), then_revert: None },
            ShipRecord::Makes { change: texts("3f"), then_revert: Some(texts("upgrade")) },
            ShipRecord::TakesBack { change: texts("3f"), commit: texts("ab") },
            ShipRecord::Returns { name: texts("upgrade"), commit: texts("ab") },
        ] {
            let message = format!("Subject\n\nText\n\nRefs: 1\n{}\n", record.to_trailer());
            assert_eq!(ShipRecord::find_in(&message), [record]);
        }
    }

    #[test]
    fn what_is_no_trailer_is_no_record() {
        for message in [
            "Overlay-Ship: {\"change\":\"3f\"}",
            "x\n\nOverlay-Ship: {\"change\":\"3f\"}\n\nmore text",
            "x\n\nOverlay-Ship: {\"change\":3}",
            "x\n\nOverlay-Ship: {",
            "x\n\n> Overlay-Ship: {\"change\":\"3f\"}",
        ] {
            assert_eq!(ShipRecord::find_in(message), [], "{message}");
        }
    }

    #[test]
    fn names_are_plain() {
        for name in ["node-upgrade", "2026.01_drain"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "-x", "a b", "a/b", "ü", &"x".repeat(61)] {
            assert!(!is_name(name), "{name}");
        }
    }
}
