//! The result of `overlay history`: for people a line a commit, as JSON and as Markdown.

mod line;
#[cfg(feature = "templates")]
mod page;
#[cfg(feature = "templates")]
mod timeline;

use std::fmt::Write as _;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{Report, Style, Text, escape_control};
use crate::error::Error;
use crate::kustomize::ResourceId;
use crate::verify::FieldChange;

/// The commits that changed what one overlay renders.
#[derive(Clone, Debug)]
pub struct OverlayHistory {
    /// Its directory relative to the boundary, `.` for the boundary itself.
    pub path: String,
    /// The commits, newest first.
    pub entries: Vec<Entry>,
    /// How many commits were looked at.
    pub walked: usize,
    /// Why no more were.
    pub end: End,
}

/// Why a history ends where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// There is nothing before.
    Start,
    /// At the revision that was named.
    From,
    /// So many entries were wanted.
    Enough,
    /// The clone is shallow: what is before is not here.
    Shallow,
}

impl End {
    fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::From => "from",
            Self::Enough => "enough",
            Self::Shallow => "shallow",
        }
    }
}

/// One commit that changed what is rendered.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its full name.
    pub commit: String,
    /// When it was committed, RFC 3339 in UTC.
    pub date: String,
    /// `Name <address>` of its author.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
    /// The pull request that it came by, where the message says so: an address, `#12` or `!12`.
    pub pull_request: Option<String>,
    /// Whether it has several parents.
    pub is_merge: bool,
    /// The change as data, where `overlay` made the commit.
    pub change: Option<Json>,
    /// What it did.
    pub moved: Arc<Moved>,
}

/// What became of an overlay in a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It is there for the first time.
    Appeared,
    /// It renders something else.
    #[default]
    Changed,
    /// It no longer builds.
    Broken,
    /// It builds again.
    Mended,
    /// What it renders cannot be known, before and after, and something that it is made of differs.
    Unknown,
    /// It is there no more.
    Removed,
}

impl Status {
    fn word(self) -> &'static str {
        match self {
            Self::Appeared => "appeared",
            Self::Changed => "changed",
            Self::Broken => "broken",
            Self::Mended => "mended",
            Self::Unknown => "unknown",
            Self::Removed => "removed",
        }
    }
}

/// What differs between two versions of what an overlay renders.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// What became of the overlay.
    pub status: Status,
    /// Objects only in the later one.
    pub added: Vec<ObjectName>,
    /// Objects only in the earlier one.
    pub removed: Vec<ObjectName>,
    /// The fields that differ; values of Secrets are masked.
    pub fields: Vec<FieldMove>,
    /// The images that differ.
    pub images: Vec<ImageMove>,
    /// Why it does not build.
    pub reason: Option<String>,
}

/// An object, as every JSON document names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    /// `group/version`, or the version alone.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace; none is null.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl ObjectName {
    /// The name of `id`.
    #[must_use]
    pub fn of(id: &ResourceId) -> Self {
        Self {
            api_version: id.api_version.to_string(),
            kind: id.kind.to_string(),
            namespace: Some(id.namespace.to_string()).filter(|namespace| !namespace.is_empty()),
            name: id.name.to_string(),
        }
    }

    /// The API group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    fn shown(&self) -> String {
        format!("{}/{}", self.kind, self.name)
    }
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldMove {
    /// The object.
    pub resource: ObjectName,
    /// The field, in the notation of kustomize.
    pub path: String,
    /// Its value before; null where it was absent.
    pub before: Option<Json>,
    /// Its value after; null where it is absent.
    pub after: Option<Json>,
}

impl FieldMove {
    /// The same as `change`.
    #[must_use]
    pub fn of(change: &FieldChange) -> Self {
        Self {
            resource: ObjectName::of(&change.resource),
            path: change.path.to_string(),
            before: change.before.clone(),
            after: change.after.clone(),
        }
    }
}

/// An image that is another one at some places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageMove {
    /// The name of the repository, of the later reference where there is one.
    pub name: String,
    /// The reference before; null where the places are new.
    pub before: Option<String>,
    /// The reference after; null where the places are gone.
    pub after: Option<String>,
    /// The containers and workloads that run it.
    pub by: Vec<String>,
}

/// The form of the result where it is neither for people nor JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryForm {
    /// Markdown, for a comment.
    Markdown,
    /// A page that stands by itself.
    #[cfg(feature = "templates")]
    Html,
}

/// The report of the command, in `form`, or for people and as JSON.
///
/// # Errors
/// Where a page cannot be made, which is a fault of the program.
pub fn history_report(
    histories: &[OverlayHistory],
    form: Option<HistoryForm>,
) -> Result<Report, Error> {
    let overlays: Vec<Json> = histories.iter().map(to_json).collect();
    let mut text = Text::default();
    histories.iter().for_each(|history| push_text(history, &mut text));
    let mut report = Report::unchanged("history", json!({ "overlays": overlays }), text);
    report.data = match form {
        None => None,
        Some(HistoryForm::Markdown) => Some(to_markdown(histories).into_bytes()),
        #[cfg(feature = "templates")]
        Some(HistoryForm::Html) => Some(page::to_page(histories)?),
    };
    for history in histories.iter().filter(|history| history.end == End::Shallow) {
        let message =
            "the clone is shallow: what is before is not here; `git fetch --unshallow` brings it";
        report.notes.warning(&format!("{}: {message}", history.path));
    }
    Ok(report)
}

fn to_json(history: &OverlayHistory) -> Json {
    let entries: Vec<Json> = history.entries.iter().map(entry_to_json).collect();
    json!({
        "path": history.path,
        "entries": entries,
        "commits": history.walked,
        "end": history.end.word(),
    })
}

fn entry_to_json(entry: &Entry) -> Json {
    let moved = &entry.moved;
    json!({
        "commit": entry.commit,
        "date": entry.date,
        "author": entry.author,
        "subject": entry.subject,
        "pullRequest": entry.pull_request,
        "merge": entry.is_merge,
        "status": moved.status.word(),
        "summary": line::summary(moved),
        "effect": moved.fields,
        "objects": {"added": moved.added, "removed": moved.removed},
        "images": moved.images,
        "reason": moved.reason,
        "change": entry.change,
    })
}

fn counted(history: &OverlayHistory) -> String {
    let word = |count: usize, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    };
    let changes = word(history.entries.len(), "change", "changes");
    format!("{changes}; looked at {}", word(history.walked, "commit", "commits"))
}

fn push_text(history: &OverlayHistory, text: &mut Text) {
    text.push(Style::Heading, history.path.clone());
    text.line(format!(": {}", counted(history)));
    for entry in &history.entries {
        text.push(Style::Faint, format!("  {} ", short(&entry.commit)));
        text.push(Style::Plain, format!("{} {}", day(&entry.date), name_of(&entry.author)));
        if let Some(request) = &entry.pull_request {
            text.push(Style::Plain, format!(" ({request})"));
        }
        if entry.is_merge {
            text.push(Style::Faint, " merge");
        }
        let style = match entry.moved.status {
            Status::Broken | Status::Removed => Style::Removed,
            Status::Appeared | Status::Mended => Style::Added,
            Status::Changed | Status::Unknown => Style::Plain,
        };
        text.push(Style::Plain, "  ").styled_line(style, line::summary(&entry.moved));
    }
}

/// A heading and a table for each overlay.
fn to_markdown(histories: &[OverlayHistory]) -> String {
    let mut text = String::new();
    for history in histories {
        let _ = write!(text, "### {}\n\n{}\n", cell(&history.path), counted(history));
        if !history.entries.is_empty() {
            text.push_str(
                "\n| commit | date | author | pull request | effect |\n|---|---|---|---|---|\n",
            );
        }
        for entry in &history.entries {
            let request = entry.pull_request.as_deref().unwrap_or_default();
            let summary = line::summary(&entry.moved);
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} |",
                short(&entry.commit),
                day(&entry.date),
                cell(name_of(&entry.author)),
                cell(request),
                cell(&summary)
            );
        }
        text.push('\n');
    }
    text
}

/// Text from a repository as plain text in a cell of a table.
fn cell(text: &str) -> String {
    let text = escape_control(text).replace(['\n', '\r'], " ");
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '@' | '#' | '!' | '~' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

fn day(date: &str) -> &str {
    date.get(..10).unwrap_or(date)
}

/// The name before the address.
fn name_of(author: &str) -> &str {
    let name = author.split('<').next().unwrap_or_default().trim();
    if name.is_empty() { author } else { name }
}
