//! Findings as a page: what was found by overlay, disruption budgets as pods that stay and pods that may go, and why each
//! check is made.

use serde::Serialize;

use super::{CheckReport, CheckedOverlay};
use crate::checks::budgets::BudgetLine;
use crate::checks::{self, Finding, Severity};
use crate::error::Error;
use crate::report::page::{Head, counted, page};

const TEMPLATE: &str = include_str!("../../../templates/pages/check.html");

/// The most pods of a budget that are drawn.
const MOST_CELLS: i64 = 24;

#[derive(Serialize)]
struct View<'a> {
    tiles: Vec<Tile>,
    overlays: Vec<OverlayView<'a>>,
    budgets: Vec<BudgetView<'a>>,
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
struct BudgetView<'a> {
    name: String,
    overlay: Option<&'a str>,
    rule: &'a str,
    expected: i64,
    allowed: String,
    desired: String,
    blocks: bool,
    /// A pod each, true for one that stays; empty where there are too many to draw.
    cells: Vec<bool>,
    picture: String,
    guards: String,
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

fn budget(line: &BudgetLine, names_overlay: bool) -> BudgetView<'_> {
    let number = |number: Option<i64>| number.map_or("invalid".to_owned(), |n| n.to_string());
    let stay = line.desired.unwrap_or(line.expected).clamp(0, line.expected.max(0));
    let is_drawn = (1..=MOST_CELLS).contains(&line.expected) && line.desired.is_some();
    BudgetView {
        name: format!("{}/{}", line.namespace, line.name),
        overlay: names_overlay.then_some(&*line.overlay),
        rule: &line.rule,
        expected: line.expected,
        allowed: number(line.allowed),
        desired: number(line.desired),
        blocks: line.allowed == Some(0) && line.expected > 0,
        cells: (0..line.expected).filter(|_| is_drawn).map(|pod| pod < stay).collect(),
        picture: match (line.expected, line.desired) {
            (..=0, _) => "no pods".to_owned(),
            (_, None) => "a rule that the API refuses".to_owned(),
            (expected, Some(_)) => format!("{stay} of {expected} must stay"),
        },
        guards: match &*line.guards {
            [] => "nothing".to_owned(),
            guards => guards.join(", "),
        },
    }
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

    fn line(expected: i64, desired: Option<i64>) -> BudgetLine {
        BudgetLine {
            namespace: "mesh".to_owned(),
            name: "web".to_owned(),
            overlay: "o".to_owned(),
            rule: "minAvailable: 1".to_owned(),
            expected,
            desired,
            allowed: desired.map(|desired| (expected - desired).max(0)),
            guards: Vec::new(),
        }
    }

    #[test]
    fn a_budget_is_drawn_as_pods_that_stay_and_pods_that_may_go() {
        let drawn = |line: &BudgetLine| {
            let view = budget(line, false);
            (view.cells, view.picture, view.blocks)
        };
        assert_eq!(
            drawn(&line(3, Some(2))),
            (vec![true, true, false], "2 of 3 must stay".into(), false)
        );
        assert_eq!(drawn(&line(1, Some(1))), (vec![true], "1 of 1 must stay".into(), true));
        // More wanted than there are: all stay.
        assert_eq!(drawn(&line(1, Some(2))).0, vec![true]);
        assert_eq!(drawn(&line(0, Some(1))), (vec![], "no pods".into(), false));
        assert_eq!(drawn(&line(25, Some(24))), (vec![], "24 of 25 must stay".into(), false));
        assert_eq!(drawn(&line(2, None)), (vec![], "a rule that the API refuses".into(), false));
    }

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
