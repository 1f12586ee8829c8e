//! The result of `overlay wait`, for people and as JSON.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::{Report, Style, Text};
use crate::clock::format_rfc_3339;
use crate::error::Error;

/// How the wait for one Application ended.
#[derive(Clone, Debug)]
pub struct Waited {
    /// Its name, with the namespace where that was named.
    pub application: String,
    /// The revision that is applied, where it is ready.
    pub revision: Option<String>,
    /// How that stands to the commit: `equal` or `descendant`.
    pub relation: Option<&'static str>,
    /// Whether the change itself was read: `verified` or `unknown`.
    pub effect: Option<&'static str>,
    /// Every state it went through.
    pub timeline: Vec<Step>,
    /// What to look at although it is ready.
    pub warnings: Vec<String>,
    /// Why it is not ready.
    pub error: Option<Error>,
}

/// One state on the way.
#[derive(Clone, Debug)]
pub struct Step {
    /// How long after the beginning.
    pub after: Duration,
    /// Its word.
    pub state: &'static str,
    /// What was seen.
    pub message: String,
}

/// The report: `commit` was waited for since `began`, in seconds since 1970. Where several failed, the error is the first's.
#[must_use]
pub fn wait_report(commit: &str, began: u64, waited: &[Waited]) -> Report {
    let applications: Vec<Json> = waited.iter().map(|one| to_json(commit, began, one)).collect();
    let mut result = match applications.as_slice() {
        [only] => only.clone(),
        _ => json!({ "commit": commit }),
    };
    result["applications"] = applications.into();
    let mut text = Text::default();
    waited.iter().for_each(|one| push_text(commit, one, &mut text));
    let mut report = Report::unchanged("wait", result, text);
    for one in waited {
        for warning in &one.warnings {
            report.notes.warning(&format!("{}: {warning}", one.application));
        }
    }
    report.error = waited.iter().find_map(|one| one.error.clone());
    report
}

fn to_json(commit: &str, began: u64, waited: &Waited) -> Json {
    let steps = waited.timeline.iter().map(|step| {
        let at = format_rfc_3339(began + step.after.as_secs());
        json!({ "at": at, "state": step.state, "message": step.message })
    });
    json!({
        "application": waited.application,
        "commit": commit,
        "revision": waited.revision,
        "relation": waited.relation,
        "effect": waited.effect,
        "warnings": waited.warnings,
        "timeline": steps.collect::<Vec<_>>(),
        "error": waited.error.as_ref().map(|error| {
            json!({ "code": error.code().name(), "message": error.message() })
        }),
    })
}

fn push_text(commit: &str, waited: &Waited, text: &mut Text) {
    let (Some(revision), Some(relation)) = (&waited.revision, waited.relation) else {
        let code = waited.error.as_ref().map_or("unknown", |error| error.code().name());
        text.push(Style::Heading, &*waited.application).line(format!(": {code}"));
        return;
    };
    let how = match relation {
        "equal" => format!(" {commit} is applied and healthy"),
        _ => format!(" {commit} is contained in {revision}, which is applied and healthy"),
    };
    text.push(Style::Heading, &*waited.application).line(format!(":{how}"));
    if waited.effect == Some("unknown") {
        text.line("  the change itself could not be read");
    }
}
