//! The result of `overlay diff`, for people, as JSON and as Markdown.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::change::resource_to_json;
use super::{Report, Style, Text, escape_control};
use crate::kustomize::{ResourceId, shown_name};
use crate::verify::{ChangedObject, FieldChange, ObjectDiff};

/// At which ends an overlay is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// At both.
    Both,
    /// Only at the earlier one.
    Before,
    /// Only at the later one.
    After,
}

/// What differs in one overlay.
#[derive(Clone, Debug)]
pub struct OverlayDiff {
    /// Its directory relative to the boundary, `.` for the boundary itself.
    pub path: String,
    /// At which ends it is.
    pub presence: Presence,
    /// The objects that differ.
    pub objects: ObjectDiff,
}

impl OverlayDiff {
    fn status(&self) -> &'static str {
        match self.presence {
            Presence::After => "added",
            Presence::Before => "removed",
            Presence::Both if self.objects.is_empty() => "unchanged",
            Presence::Both => "changed",
        }
    }

    fn counts(&self) -> String {
        let ObjectDiff { added, removed, changed } = &self.objects;
        format!("{} added, {} removed, {} changed", added.len(), removed.len(), changed.len())
    }
}

/// The report of the command; as Markdown on standard output where that is wanted.
#[must_use]
pub fn diff_report(overlays: &[OverlayDiff], wants_markdown: bool) -> Report {
    let entries: Vec<Json> = overlays.iter().map(to_json).collect();
    let mut text = Text::default();
    overlays.iter().for_each(|overlay| push_text(overlay, &mut text));
    let mut report = Report::unchanged("diff", json!({ "overlays": entries }), text);
    report.data = wants_markdown.then(|| to_markdown(overlays).into_bytes());
    report
}

/// The objects that differ, as in the JSON form.
#[must_use]
pub fn objects_to_json(objects: &ObjectDiff) -> Json {
    let ids = |ids: &[ResourceId]| ids.iter().map(resource_to_json).collect::<Vec<_>>();
    json!({
        "added": ids(&objects.added),
        "removed": ids(&objects.removed),
        "changed": objects.changed.iter().map(changed_to_json).collect::<Vec<_>>(),
    })
}

fn to_json(overlay: &OverlayDiff) -> Json {
    let objects = objects_to_json(&overlay.objects);
    json!({ "path": overlay.path, "status": overlay.status(), "objects": objects })
}

fn changed_to_json(changed: &ChangedObject) -> Json {
    let field = |field: &FieldChange| json!({ "path": field.path.to_string(), "before": field.before, "after": field.after });
    let mut object = json!({
        "resource": resource_to_json(&changed.resource),
        "fields": changed.fields.iter().map(field).collect::<Vec<_>>(),
    });
    if let Some(old) = &changed.renamed_from {
        object["renamedFrom"] = resource_to_json(old);
    }
    object
}

fn push_text(overlay: &OverlayDiff, text: &mut Text) {
    text.push(Style::Heading, overlay.path.clone());
    match overlay.status() {
        "unchanged" => text.line(": unchanged"),
        "changed" => text.line(format!(": {}", overlay.counts())),
        status => text.line(format!(": {status} ({})", overlay.counts())),
    };
    text.append(objects_to_text(&overlay.objects));
}

/// The objects that differ, for people.
#[must_use]
pub fn objects_to_text(objects: &ObjectDiff) -> Text {
    let mut text = Text::default();
    for id in &objects.added {
        text.styled_line(Style::Added, format!("  + {}", name_of(id)));
    }
    for id in &objects.removed {
        text.styled_line(Style::Removed, format!("  - {}", name_of(id)));
    }
    for changed in &objects.changed {
        let was = changed.renamed_from.as_ref();
        let was = was.map(|old| format!(" (was {})", name_of(old))).unwrap_or_default();
        text.line(format!("  {}{was}", name_of(&changed.resource)));
        for field in &changed.fields {
            text.styled_line(Style::Faint, format!("    {}", field.path));
            text.value(Style::Removed, "      - ", &shown(field.before.as_ref()));
            text.value(Style::Added, "      + ", &shown(field.after.as_ref()));
        }
    }
    text
}

fn name_of(id: &ResourceId) -> String {
    match &*id.namespace {
        "" => shown_name(id),
        namespace => format!("{} (namespace {namespace})", shown_name(id)),
    }
}

fn shown(value: Option<&Json>) -> String {
    match value {
        Some(Json::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "nothing".to_owned(),
    }
}

/// A heading and a table for each overlay that differs, and one line for those that do not.
fn to_markdown(overlays: &[OverlayDiff]) -> String {
    let (same, other): (Vec<_>, Vec<_>) =
        overlays.iter().partition(|overlay| overlay.status() == "unchanged");
    let mut text = format!("**{} overlays change, {} do not**\n", other.len(), same.len());
    for overlay in other {
        let head = match overlay.status() {
            "changed" => overlay.counts(),
            status => format!("{status}, {}", overlay.counts()),
        };
        let _ = write!(text, "\n### {}\n\n{head}\n", code(&overlay.path));
        let objects = &overlay.objects;
        if !objects.is_empty() {
            text.push_str("\n| | object | field | before | after |\n|---|---|---|---|---|\n");
        }
        for (sign, ids) in [("added", &objects.added), ("removed", &objects.removed)] {
            for id in ids {
                let _ = writeln!(text, "| {sign} | {} | | | |", code(&name_of(id)));
            }
        }
        objects.changed.iter().for_each(|changed| push_rows(changed, &mut text));
    }
    text
}

fn push_rows(changed: &ChangedObject, text: &mut String) {
    for field in &changed.fields {
        let row = [
            code(&name_of(&changed.resource)),
            code(&field.path.to_string()),
            cell(field.before.as_ref()),
            cell(field.after.as_ref()),
        ];
        let _ = writeln!(text, "| changed | {} |", row.join(" | "));
    }
}

fn cell(value: Option<&Json>) -> String {
    value.map(|value| code(&shown(Some(value)))).unwrap_or_default()
}

/// `text` as code in a table: nothing in it is markup, ends the cell, or moves a cursor.
pub(super) fn code(text: &str) -> String {
    let text = escape_control(text).replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if longest > 0 { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_value_is_markup() {
        assert_eq!(code("a|b"), "`a\\|b`");
        assert_eq!(code("a`b``c"), "``` a`b``c ```");
        assert_eq!(code("a\nb"), "`a\\nb`");
    }
}
