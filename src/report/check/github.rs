//! Findings as workflow commands of GitHub Actions, which shows them beside the lines of a change.
//!
//! Source: "Workflow commands for GitHub Actions": `%`, carriage return and line feed are escaped
//! in messages, `:` and `,` in properties too. Control characters never get that far.

use super::CheckReport;
use crate::checks::Severity;
use crate::report::escape_control;

/// One `::error file=…,line=…,title=…::message` a finding.
pub(super) fn to_annotations(report: &CheckReport) -> String {
    let mut text = String::new();
    for (overlay, finding) in report.findings() {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let mend = finding.fix.as_ref().map(|fix| format!("%0Amend: {}", message(fix)));
        text.push_str(&format!(
            "::{command} file={},line={},title={}::{}\n",
            property(&finding.location.file),
            finding.location.line,
            property(&format!("{} ({overlay})", finding.id)),
            message(&finding.message) + &mend.unwrap_or_default(),
        ));
    }
    for overlay in &report.overlays {
        if let Some(problem) = &overlay.problem {
            let file = problem.location().map_or(&overlay.path, |location| &location.file);
            text.push_str(&format!(
                "::error file={},title=not checked::{}\n",
                property(file),
                message(problem.message()),
            ));
        }
    }
    text
}

fn message(text: &str) -> String {
    escape_control(text).replace('%', "%25")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
