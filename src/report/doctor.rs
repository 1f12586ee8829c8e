//! The result of `overlay doctor`.

use serde::Serialize;
use serde_json::json;

use super::{Style, Text};

/// How it stands with one thing that commands may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// There, and good.
    Ok,
    /// Not there; only some commands need it.
    Absent,
    /// There and unusable, or not there and needed by nearly all.
    Problem,
}

impl State {
    fn word(self) -> (&'static str, Style) {
        match self {
            Self::Ok => ("ok", Style::Added),
            Self::Absent => ("absent", Style::Faint),
            Self::Problem => ("problem", Style::Removed),
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Examined {
    /// What sort of thing: `program`, `credential`, `file`, `host`.
    pub kind: &'static str,
    /// Its name, such as `git` or `GITHUB_TOKEN`; never a value that is a secret.
    pub name: String,
    /// How it stands.
    pub state: State,
    /// A version, an answer, a reason.
    pub detail: String,
    /// What it is for.
    #[serde(rename = "for")]
    pub purpose: &'static str,
}

/// The `result` of the JSON form.
pub fn to_json(examined: &[Examined]) -> serde_json::Value {
    json!({ "examined": examined })
}

/// A line each, in columns.
pub fn to_text(examined: &[Examined]) -> Text {
    let width = examined.iter().map(|one| one.name.chars().count()).max().unwrap_or(0);
    let mut text = Text::default();
    let mut kind = "";
    for one in examined {
        if one.kind != kind {
            text.styled_line(Style::Heading, format!("{}s", one.kind));
            kind = one.kind;
        }
        let (word, style) = one.state.word();
        text.push(style, format!("  {word:<7} "))
            .push(Style::Plain, format!("{:<width$}", one.name));
        if !one.detail.is_empty() {
            text.push(Style::Plain, format!("  {}", one.detail));
        }
        text.push(Style::Faint, format!("  ({})", one.purpose)).line("");
    }
    text
}
