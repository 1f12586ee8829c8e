//! Findings as SARIF 2.1.0 (OASIS), for code scanning.

use serde_json::{Value as Json, json};

use super::CheckReport;
use crate::checks::{self, ALL, Check, Finding, Severity};
use crate::report::envelope::escape_terminal_controls;

/// The schema of the format.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// One run with every check as a rule and every finding as a result.
pub(super) fn to_sarif(report: &CheckReport) -> String {
    let rules: Vec<Json> = ALL.iter().map(rule).collect();
    let results: Vec<Json> =
        report.findings().map(|(path, finding)| result(path, finding)).collect();
    let problems: Vec<Json> = report
        .overlays
        .iter()
        .filter_map(|overlay| overlay.problem.as_ref())
        .map(|problem| json!({ "level": "error", "message": { "text": problem.message() } }))
        .collect();
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "overlay",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": problems.is_empty(),
                "toolExecutionNotifications": problems,
            }],
            "results": results,
        }],
    });
    format!("{}\n", escape_terminal_controls(&document.to_string()))
}

fn level(severity: Severity) -> &'static str {
    severity.as_str()
}

fn rule(check: &Check) -> Json {
    json!({
        "id": check.id,
        "shortDescription": { "text": checks::summary(check.id.as_str()) },
        "help": {
            "text": checks::explanation(check.id.as_str()).unwrap_or_default(),
            "markdown": checks::explanation(check.id.as_str()).unwrap_or_default(),
        },
        "defaultConfiguration": { "level": level(check.severity) },
    })
}

fn result(overlay: &str, finding: &Finding) -> Json {
    let index = ALL.iter().position(|check| check.id == finding.id);
    let mend = finding.fix.as_ref().map(|fix| format!(" Mend: {fix}")).unwrap_or_default();
    json!({
        "ruleId": finding.id,
        "ruleIndex": index,
        "level": level(finding.severity),
        "message": { "text": format!("{}.{mend}", finding.message) },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(&finding.location.file) },
                "region": { "startLine": finding.location.line },
            },
            "logicalLocations": [{
                "fullyQualifiedName": format!("{}/{}", finding.resource.namespace, finding.resource),
                "kind": "resource",
            }],
        }],
        "partialFingerprints": {
            "overlayFinding/v1": format!(
                "{overlay} {} {}/{} {}",
                finding.id, finding.resource.namespace, finding.resource, finding.field
            ),
        },
        "properties": { "overlay": overlay, "field": finding.field },
    })
}

/// A relative path as a URI reference (RFC 3986): whatever is no path character is percent-encoded.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'-'
            | b'.'
            | b'_'
            | b'~'
            | b'/'
            | b'+'
            | b'@' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
