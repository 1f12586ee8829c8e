//! Findings as Markdown, for the comment of a pull request.

use super::{CheckReport, CheckedOverlay};
use crate::checks::Finding;
use crate::report::escape_control;

/// A table an overlay, worst first, and one line that sums up.
pub(super) fn to_markdown(report: &CheckReport) -> String {
    let mut text = format!("**{}**\n", report.summary());
    for overlay in &report.overlays {
        push_overlay(overlay, &mut text);
    }
    text
}

fn push_overlay(overlay: &CheckedOverlay, text: &mut String) {
    if overlay.findings.is_empty() && overlay.removed.is_empty() && overlay.problem.is_none() {
        return;
    }
    text.push_str(&format!("\n### {}\n", code(&overlay.path)));
    if let Some(problem) = &overlay.problem {
        text.push_str(&format!("\nNot checked: {}\n", cell(problem.message())));
    }
    if !overlay.findings.is_empty() {
        text.push_str("\n| | check | where | what | mend |\n|---|---|---|---|---|\n");
        let mut findings: Vec<&Finding> = overlay.findings.iter().collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings.into_iter().for_each(|finding| push_row(finding, text));
    }
    for finding in &overlay.removed {
        text.push_str(&format!(
            "\n- gone: {} {}\n",
            code(finding.id.as_str()),
            cell(&finding.message)
        ));
    }
}

fn push_row(finding: &Finding, text: &mut String) {
    let place = format!("{}:{}", finding.location.file, finding.location.line);
    text.push_str(&format!(
        "| {} | {} | {} | {} | {} |\n",
        finding.severity.as_str(),
        code(finding.id.as_str()),
        code(&place),
        cell(&finding.message),
        finding.fix.as_deref().map(code).unwrap_or_default(),
    ));
}

/// Text that stays text: what Markdown or HTML would read is escaped.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in escape_control(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '@' => out.push_str("&#64;"),
            c => out.push(c),
        }
    }
    out
}

/// A code span; a backquote in it, which would end it, becomes an apostrophe.
fn code(text: &str) -> String {
    format!("`{}`", escape_control(text).replace('`', "'").replace('|', "\\|"))
}
