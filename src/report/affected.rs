//! The result of `overlay affected`, for people, as JSON and as Markdown.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::{Report, Style, Text};

/// An overlay that a change reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affected {
    /// Its directory relative to the boundary, `.` for the boundary itself.
    pub path: String,
    /// The files by which it is reached: changed, added, removed, or led to by another link.
    pub because: Vec<String>,
    /// Whether it renders differently; `None` where that was not asked, or it renders at neither end.
    pub renders_differently: Option<bool>,
}

/// The report of the command.
#[must_use]
pub fn affected_report(overlays: &[Affected], wants_markdown: bool) -> Report {
    let entry = |overlay: &Affected| {
        json!({
            "path": overlay.path,
            "because": overlay.because,
            "rendersDifferently": overlay.renders_differently,
        })
    };
    let entries: Vec<Json> = overlays.iter().map(entry).collect();
    let mut text = Text::default();
    for overlay in overlays {
        text.push(Style::Heading, overlay.path.clone());
        text.line(match overlay.renders_differently {
            Some(true) => ": renders differently",
            Some(false) => ": renders the same",
            None => "",
        });
        for file in &overlay.because {
            text.styled_line(Style::Faint, format!("  {file}"));
        }
    }
    let mut report = Report::unchanged("affected", json!({ "overlays": entries }), text);
    report.data = wants_markdown.then(|| to_markdown(overlays).into_bytes());
    report
}

fn to_markdown(overlays: &[Affected]) -> String {
    let mut text = format!("**{} overlays are reached**\n", overlays.len());
    if !overlays.is_empty() {
        text.push_str("\n| overlay | renders differently | because of |\n|---|---|---|\n");
    }
    for overlay in overlays {
        let differs = match overlay.renders_differently {
            Some(true) => "yes",
            Some(false) => "no",
            None => "",
        };
        let files: Vec<String> =
            overlay.because.iter().map(|file| super::diff::code(file)).collect();
        let path = super::diff::code(&overlay.path);
        let _ = writeln!(text, "| {path} | {differs} | {} |", files.join(", "));
    }
    text
}
