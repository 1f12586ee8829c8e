//! Findings as JUnit XML: a suite an overlay, a test case a finding; notes are no failures.

use super::{CheckReport, CheckedOverlay};
use crate::checks::{Finding, Severity};

/// The document; an overlay without findings is a suite with one case that passed.
pub(super) fn to_junit(report: &CheckReport) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let failures: usize = report.overlays.iter().map(failures).sum();
    let tests: usize = report.overlays.iter().map(cases).sum();
    text.push_str(&format!(
        "<testsuites name=\"overlay check\" tests=\"{tests}\" failures=\"{failures}\">\n"
    ));
    for overlay in &report.overlays {
        push_suite(overlay, &mut text);
    }
    text.push_str("</testsuites>\n");
    text
}

fn cases(overlay: &CheckedOverlay) -> usize {
    (overlay.findings.len() + usize::from(overlay.problem.is_some())).max(1)
}

fn failures(overlay: &CheckedOverlay) -> usize {
    let bad = overlay.findings.iter().filter(|finding| finding.is_at_least(Severity::Warning));
    bad.count()
}

fn push_suite(overlay: &CheckedOverlay, text: &mut String) {
    text.push_str(&format!(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
        escaped(&overlay.path),
        cases(overlay),
        failures(overlay),
        usize::from(overlay.problem.is_some()),
    ));
    for finding in &overlay.findings {
        push_case(&overlay.path, finding, text);
    }
    if let Some(problem) = &overlay.problem {
        text.push_str(&format!(
            "    <testcase classname=\"{}\" name=\"build\"><error message=\"{}\"/></testcase>\n",
            escaped(&overlay.path),
            escaped(problem.message()),
        ));
    } else if overlay.findings.is_empty() {
        let class = escaped(&overlay.path);
        text.push_str(&format!("    <testcase classname=\"{class}\" name=\"checks\"/>\n"));
    }
    text.push_str("  </testsuite>\n");
}

fn push_case(overlay: &str, finding: &Finding, text: &mut String) {
    let (file, line) = (escaped(&finding.location.file), finding.location.line);
    let name = format!("{} {}", finding.id, finding.resource);
    text.push_str(&format!(
        "    <testcase classname=\"{}\" name=\"{}\" file=\"{file}\" line=\"{line}\">",
        escaped(overlay),
        escaped(&name),
    ));
    let message = escaped(&finding.message);
    let mend = finding.fix.as_ref().map(|fix| format!("\nmend: {fix}")).unwrap_or_default();
    let body = format!("{file}:{line}{}", escaped(&mend));
    text.push_str(&match finding.severity {
        Severity::Note => format!("<system-out>{message}</system-out>"),
        severity => format!(
            "<failure type=\"{}\" message=\"{message}\">{body}</failure>",
            severity.as_str()
        ),
    });
    text.push_str("</testcase>\n");
}

/// Text for an attribute or an element; characters that XML 1.0 does not have are left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}
