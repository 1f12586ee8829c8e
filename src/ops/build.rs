//! `overlay build`: the rendered resources, byte for byte what kustomize prints.

use std::ffi::OsString;

use serde_json::json;

use super::Context;
use crate::discover::Located;
use crate::error::Error;
use crate::kustomize::Files;
use crate::report::{Report, Text};

/// Builds every overlay named; the human form is their texts, `---` between two overlays.
///
/// # Errors
/// Where one of them is not found or does not build; nothing is printed then.
pub fn run(context: &Context, overlays: &[OsString]) -> Result<Report, Error> {
    let (files, located) = context.locate(overlays)?;
    build_all(context, &files, &located)
}

/// The same, of the files that a revision of the repository holds.
///
/// # Errors
/// As [`run`], and where there is no such revision.
#[cfg(feature = "git")]
pub fn run_at(context: &Context, overlays: &[OsString], revision: &str) -> Result<Report, Error> {
    let at = context.locate_at(revision, overlays)?;
    build_all(context, &at.files, &at.located)
}

/// As every look at a revision in a program that was built without git.
///
/// # Errors
/// Always.
#[cfg(not(feature = "git"))]
pub fn run_at(_: &Context, _: &[OsString], _: &str) -> Result<Report, Error> {
    let message = "this program was built without git and reads no revisions";
    Err(Error::new(crate::error::codes::NOT_DELIVERABLE, message))
}

fn build_all(context: &Context, files: &dyn Files, located: &[Located]) -> Result<Report, Error> {
    let mut entries = Vec::new();
    let mut texts = Vec::new();
    let mut notes = Text::default();
    for overlay in located {
        let tree = context.load(files, &overlay.directory)?;
        let built = context.render(&tree, &overlay.directory)?;
        let warnings = warnings(&built.rendered, &mut notes);
        entries.push(json!({
            "path": overlay.shown(),
            "yaml": built.text,
            "renderer": built.external.map_or_else(|| "built-in".into(), |v| format!("kustomize {v}")),
            "warnings": warnings,
        }));
        texts.push(built.text);
    }
    #[cfg(feature = "git")]
    for note in context.remote_notes() {
        notes.warning(&note.message);
    }
    let result = json!({ "overlays": entries });
    let mut report = Report::unchanged("build", result, Text::default());
    report.data = Some(texts.join("---\n").into_bytes());
    report.notes = notes;
    Ok(report)
}

fn warnings(rendered: &crate::kustomize::Rendered, notes: &mut Text) -> Vec<serde_json::Value> {
    let mut values = Vec::new();
    for warning in &rendered.warnings {
        let place = rendered.place(warning.origin);
        notes.warning(&match place {
            Some((file, line)) => format!("{file}:{line}: {}", warning.message),
            None => warning.message.clone(),
        });
        let place = place.map(|(file, line)| json!({ "file": file, "line": line }));
        values.push(json!({ "message": warning.message, "location": place }));
    }
    values
}
