//! The result of `overlay list`.

use serde::Serialize;
use serde_json::json;

use super::{Style, Text};

/// What a directory with a kustomization file is to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ListedKind {
    /// Used by no other: what is deployed.
    Overlay,
    /// Used by another.
    Base,
    /// Of kind Component.
    Component,
}

impl ListedKind {
    fn word(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::Base => "base",
            Self::Component => "component",
        }
    }
}

/// One directory with a kustomization file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// Relative to the boundary.
    pub path: String,
    /// What it is.
    pub kind: ListedKind,
    /// The directories that it names.
    pub uses: Vec<String>,
    /// The directories that name it.
    pub used_by: Vec<String>,
    /// The remote references that it names.
    pub remote: Vec<String>,
    /// Why its kustomization file cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// All of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// By path.
    pub overlays: Vec<Listed>,
    /// Directories that were not looked into, with the reason.
    pub skipped: Vec<String>,
}

impl Listing {
    /// The `result` of the JSON form.
    pub fn to_json(&self) -> serde_json::Value {
        json!({ "overlays": self.overlays, "skipped": self.skipped })
    }

    /// What a person reads: a line for each, and what it uses below it.
    pub fn to_text(&self) -> Text {
        let mut text = Text::default();
        for listed in &self.overlays {
            text.push(Style::Heading, &listed.path);
            text.styled_line(Style::Faint, format!("  {}", listed.kind.word()));
            for used in &listed.uses {
                text.line(format!("  uses {used}"));
            }
            for remote in &listed.remote {
                text.line(format!("  uses {remote} (remote)"));
            }
            for user in &listed.used_by {
                text.styled_line(Style::Faint, format!("  used by {user}"));
            }
            if let Some(problem) = &listed.problem {
                text.styled_line(Style::Warning, format!("  unreadable: {problem}"));
            }
        }
        text
    }
}
