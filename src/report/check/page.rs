//! Findings as a page: what was found by overlay, disruption budgets as pods that stay and pods that may go, and why each
//! check is made.

use serde::Serialize;

use super::{CheckReport, CheckedOverlay};
use crate::checks::budgets::BudgetLine;
use crate::checks::{self, Finding, Severity};
use crate::error::Error;
use crate::report::counted;
use crate::report::page::budget::{Budget, Numbers};
use crate::report::page::{Head, page};

const TEMPLATE: &str = include_str!("../../../templates/pages/check.html");

#[derive(Serialize)]
struct View<'a> {
    tiles: Vec<Tile>,
    overlays: Vec<OverlayView<'a>>,
    budgets: Vec<Budget<'a>>,
    reasons: Vec<Reason<'a>>,
}

#[derive(Serialize)]
struct Tile {
    name: &'static str,
    class: &'static str,
    count: usize,
}

#[derive(Serialize)]
struct OverlayView<'a> {
    path: &'a str,
    count: String,
    problem: Option<String>,
    findings: Vec<FindingView<'a>>,
    removed: Vec<FindingView<'a>>,
    accepted: Vec<FindingView<'a>>,
}

#[derive(Serialize)]
struct FindingView<'a> {
    id: &'a str,
    severity: &'static str,
    message: &'a str,
    place: String,
    fix: Option<&'a str>,
    reason: &'a str,
}

#[derive(Serialize)]
struct Reason<'a> {
    id: &'a str,
    summary: Vec<Piece>,
    paragraphs: Vec<Vec<Piece>>,
}

#[derive(Serialize, Debug, PartialEq)]
struct Piece {
    form: &'static str,
    text: String,
}

/// The page.
///
/// # Errors
/// Where the template and the view disagree.
pub(super) fn to_page(report: &CheckReport) -> Result<Vec<u8>, Error> {
    let paths: Vec<&str> = report.overlays.iter().map(|overlay| &*overlay.path).collect();
    let head = Head {
        command: "check",
        title: match &*paths {
            [one] => format!("Check of {one}"),
            many => format!("Check of {}", counted(many.len(), "overlay")),
        },
        lead: format!("{}.", report.summary()),
        basis: "what the overlays render",
    };
    page(&head, TEMPLATE, &view(report))
}

fn view(report: &CheckReport) -> View<'_> {
    let tile = |name, severity: Severity| {
        let count = report.count(severity);
        Tile { name, class: if count == 0 { "" } else { severity.as_str() }, count }
    };
    let budgets = report.budgets.iter().flatten();
    let names_overlay = report.overlays.len() > 1;
    View {
        tiles: vec![
            tile("errors", Severity::Error),
            tile("warnings", Severity::Warning),
            tile("notes", Severity::Note),
        ],
        overlays: report.overlays.iter().map(overlay).collect(),
        budgets: budgets.map(|line| budget(line, names_overlay)).collect(),
        reasons: reasons(report),
    }
}

fn overlay(overlay: &CheckedOverlay) -> OverlayView<'_> {
    let mut findings: Vec<&Finding> = overlay.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let accepted = overlay.excepted.iter();
    OverlayView {
        path: &overlay.path,
        count: match overlay.problem {
            Some(_) => "not checked".to_owned(),
            None => counted(findings.len(), "finding"),
        },
        problem: overlay.problem.as_ref().map(ToString::to_string),
        findings: findings.into_iter().map(|one| finding(one, "")).collect(),
        removed: overlay.removed.iter().map(|one| finding(one, "")).collect(),
        accepted: accepted.map(|one| finding(&one.finding, &one.reason)).collect(),
    }
}

fn finding<'a>(finding: &'a Finding, reason: &'a str) -> FindingView<'a> {
    FindingView {
        id: finding.id.as_str(),
        severity: finding.severity.as_str(),
        message: &finding.message,
        place: format!("{}:{}", finding.location.file, finding.location.line),
        fix: finding.fix.as_deref(),
        reason,
    }
}

fn budget(line: &BudgetLine, names_overlay: bool) -> Budget<'_> {
    Budget::new(Numbers {
        name: (&line.namespace, &line.name),
        overlay: names_overlay.then_some(&*line.overlay),
        rule: &line.rule,
        expected: line.expected,
        desired: line.desired,
        allowed: line.allowed,
        guards: &line.guards,
    })
}

/// Each check that found something, once, in the order met.
fn reasons(report: &CheckReport) -> Vec<Reason<'_>> {
    let mut ids: Vec<&str> = Vec::new();
    for (_, finding) in report.findings() {
        if !ids.contains(&finding.id.as_str()) {
            ids.push(finding.id.as_str());
        }
    }
    let reason = |id| {
        let (text, summary) = (checks::explanation(id)?, checks::summary(id));
        let rest = text.split_once(summary).map_or(text, |(_, rest)| rest).trim();
        let paragraphs = rest.split("\n\n").map(pieces).collect();
        Some(Reason { id, summary: pieces(summary), paragraphs })
    };
    ids.into_iter().filter_map(reason).collect()
}

/// A paragraph of our own Markdown: its code spans, what is strong, and plain text.
fn pieces(paragraph: &str) -> Vec<Piece> {
    let piece = |form, text: &str| Piece { form, text: text.replace('\n', " ") };
    let mut pieces = Vec::new();
    for (number, span) in paragraph.split('`').enumerate() {
        if number % 2 == 1 {
            pieces.push(piece("code", span));
            continue;
        }
        for (number, text) in span.split("**").enumerate() {
            let form = if number % 2 == 1 { "strong" } else { "plain" };
            pieces.push(piece(form, text));
        }
    }
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_of_the_checks_page_becomes_pieces() {
        let piece = |form, text: &str| Piece { form, text: text.to_owned() };
        assert_eq!(
            pieces("**Why.** Use\n`a*b` **now**"),
            [
                piece("strong", "Why."),
                piece("plain", " Use "),
                piece("code", "a*b"),
                piece("plain", " "),
                piece("strong", "now"),
            ]
        );
    }
}
