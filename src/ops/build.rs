//! `overlay build`: the rendered resources, byte for byte what kustomize prints.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::Context;
use super::version::Version;
use crate::discover::Located;
use crate::error::Error;
use crate::kustomize::{Files, Rendered};
use crate::report::{Report, Text};
use crate::write::write_below;

/// What the user asks of `overlay build`.
#[derive(Clone, Debug)]
pub struct BuildRequest {
    /// The overlays as typed: directories, kustomization files or patterns.
    pub overlays: Vec<OsString>,
    /// `--at`: the revision to build; the files on disk if there is none.
    pub at: Option<String>,
    /// `--output-dir`: where to write a file for each overlay, in place of standard output.
    pub output: Option<PathBuf>,
}

/// What became of one overlay.
struct One {
    /// What goes to standard output; nothing where it was written to a file.
    text: String,
    /// Its entry in the JSON form.
    entry: serde_json::Value,
    /// The file that was written and held something else before.
    written: Option<String>,
    notes: Text,
}

/// Builds every overlay named; the human form is their texts, `---` between two overlays.
///
/// # Errors
/// Where one of them is not found or does not build; nothing is printed then, but files of overlays
/// that were built before may have been written.
pub fn run(context: &Context, request: &BuildRequest) -> Result<Report, Error> {
    match &request.at {
        Some(revision) => run_at(context, request, revision),
        None => {
            let (files, located) = context.locate(&request.overlays)?;
            build_all(context, &files, &located, request.output.as_deref())
        }
    }
}

/// The same, of the files that a revision of the repository holds.
#[cfg(feature = "git")]
fn run_at(context: &Context, request: &BuildRequest, revision: &str) -> Result<Report, Error> {
    let at = context.locate_at(revision, &request.overlays)?;
    build_all(context, &at.files, &at.located, request.output.as_deref())
}

/// As every look at a revision in a program that was built without git.
#[cfg(not(feature = "git"))]
fn run_at(_: &Context, _: &BuildRequest, _: &str) -> Result<Report, Error> {
    let message = "this program was built without git and reads no revisions";
    Err(Error::new(crate::error::codes::NOT_DELIVERABLE, message))
}

fn build_all(
    context: &Context,
    files: &dyn Files,
    located: &[Located],
    output: Option<&Path>,
) -> Result<Report, Error> {
    let output = output.map(|folder| context.cwd.join(folder));
    let version = Version::new(context, files);
    let build = |overlay: &Located| build_one(&version, overlay, output.as_deref());
    let all = context.for_each_of(located, build)?;
    let mut human = Text::default();
    let mut notes = Text::default();
    let mut entries = Vec::with_capacity(all.len());
    let mut texts = Vec::with_capacity(all.len());
    for one in all {
        entries.push(one.entry);
        texts.push(one.text);
        notes.append(one.notes);
        if let Some(path) = one.written {
            human.line(path);
        }
    }
    #[cfg(feature = "git")]
    for note in context.remote_notes() {
        notes.warning(&note.message);
    }
    for note in context.chart_notes() {
        notes.warning(&note.message);
    }
    let mut report = Report::unchanged("build", json!({ "overlays": entries }), human);
    report.changed = !report.human.is_empty();
    report.data = output.is_none().then(|| texts.join("---\n").into_bytes());
    report.notes = notes;
    Ok(report)
}

/// Where there is an output folder, the text is written as soon as it is made, so that a run holds
/// no more than a few of them.
fn build_one(
    version: &Version<'_>,
    overlay: &Located,
    output: Option<&Path>,
) -> Result<One, Error> {
    let built = version.build(&overlay.directory)?;
    let mut notes = Text::default();
    let warnings = warnings(&built.rendered, &mut notes);
    let renderer = built.external.map_or_else(|| "built-in".into(), |v| format!("kustomize {v}"));
    let path = overlay.shown();
    let Some(folder) = output else {
        let entry = json!({
            "path": path,
            "yaml": built.text,
            "renderer": renderer,
            "warnings": warnings,
        });
        return Ok(One { text: built.text, entry, written: None, notes });
    };
    let file = file_name(&path);
    let is_written = write_below(folder, &file, built.text.as_bytes())?;
    let entry = json!({ "path": path, "file": file, "renderer": renderer, "warnings": warnings });
    let written = is_written.then_some(file);
    Ok(One { text: String::new(), entry, written, notes })
}

/// The name of the file for the overlay at `path`.
fn file_name(path: &str) -> String {
    match path {
        "." => "overlay.yaml".to_owned(),
        path => format!("{path}.yaml"),
    }
}

fn warnings(rendered: &Rendered, notes: &mut Text) -> Vec<serde_json::Value> {
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
