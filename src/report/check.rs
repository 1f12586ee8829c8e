//! The result of `overlay check`, in every form.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::{Report, Style, Text, counted};
use crate::checks::budgets::BudgetLine;
use crate::checks::{Delta, Excepted, Finding, Severity};
use crate::error::{Error, codes};

mod github;
mod junit;
mod markdown;
#[cfg(feature = "templates")]
mod page;
mod sarif;

/// The form of the result where it is neither for people nor JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckForm {
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
    /// JUnit XML, for test reports.
    Junit,
    /// Markdown, for a comment.
    Markdown,
    /// A page that stands by itself.
    #[cfg(feature = "templates")]
    Html,
}

/// What was found in one overlay.
#[derive(Clone, Debug)]
pub struct CheckedOverlay {
    /// Its directory relative to the boundary, `.` for the boundary itself.
    pub path: String,
    /// The findings, by file and line; with `--new-since` only what the change brings.
    pub findings: Vec<Finding>,
    /// Findings that a change took away; with `--new-since` only.
    pub removed: Vec<Finding>,
    /// Findings that are accepted.
    pub excepted: Vec<Excepted>,
    /// Why it could not be checked.
    pub problem: Option<Error>,
}

/// What was found in all of them.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// By overlay, in the order named.
    pub overlays: Vec<CheckedOverlay>,
    /// Every disruption budget with what it allows, where that was asked for.
    pub budgets: Option<Vec<BudgetLine>>,
    /// The severity that ends the command with a failure; `None` for none.
    pub fail_on: Option<Severity>,
}

impl CheckedOverlay {
    /// An overlay whose findings are those of a change alone.
    #[must_use]
    pub fn of_delta(path: String, delta: Delta, excepted: Vec<Excepted>) -> Self {
        let Delta { added, removed } = delta;
        Self { path, findings: added, removed, excepted, problem: None }
    }
}

impl CheckReport {
    /// The report of the command, in `form`, or for people and as JSON.
    ///
    /// # Errors
    /// Where a page cannot be made, which is a fault of the program.
    pub fn into_report(self, form: Option<CheckForm>) -> Result<Report, Error> {
        let mut report = Report::unchanged("check", self.to_json(), self.to_text());
        report.error = self.error();
        report.data = form.map(|form| self.to_form(form)).transpose()?;
        Ok(report)
    }

    fn to_form(&self, form: CheckForm) -> Result<Vec<u8>, Error> {
        let text = match form {
            CheckForm::Sarif => sarif::to_sarif(self),
            CheckForm::Github => github::to_annotations(self),
            CheckForm::Junit => junit::to_junit(self),
            CheckForm::Markdown => markdown::to_markdown(self),
            #[cfg(feature = "templates")]
            CheckForm::Html => return page::to_page(self),
        };
        Ok(text.into_bytes())
    }

    /// Every finding with its overlay.
    fn findings(&self) -> impl Iterator<Item = (&str, &Finding)> {
        self.overlays.iter().flat_map(|o| o.findings.iter().map(|finding| (&*o.path, finding)))
    }

    fn count(&self, severity: Severity) -> usize {
        self.findings().filter(|(_, finding)| finding.severity == severity).count()
    }

    /// Why the command does not end with 0: an overlay that cannot be checked, else findings.
    fn error(&self) -> Option<Error> {
        if let Some(problem) = self.overlays.iter().find_map(|overlay| overlay.problem.clone()) {
            return Some(problem);
        }
        let fail_on = self.fail_on?;
        let bad = self.findings().filter(|(_, finding)| finding.is_at_least(fail_on)).count();
        (bad > 0).then(|| {
            let message = match bad {
                1 => format!("1 finding is {} or worse", with_article(fail_on)),
                many => format!("{many} findings are {} or worse", with_article(fail_on)),
            };
            Error::new(codes::FINDINGS, message)
                .hint("`overlay explain ID` says why one matters and how to mend it")
        })
    }

    fn to_json(&self) -> Json {
        let overlays: Vec<Json> = self.overlays.iter().map(overlay_to_json).collect();
        let summary = json!({
            "errors": self.count(Severity::Error),
            "warnings": self.count(Severity::Warning),
            "notes": self.count(Severity::Note),
        });
        let mut result = json!({ "overlays": overlays, "summary": summary });
        if let Some(budgets) = &self.budgets {
            result["budgets"] = json!(budgets);
        }
        result
    }

    fn to_text(&self) -> Text {
        let mut text = Text::default();
        for overlay in &self.overlays {
            overlay_to_text(overlay, &mut text);
        }
        if let Some(budgets) = &self.budgets {
            budgets_to_text(budgets, &mut text);
        }
        text.line(self.summary());
        text
    }

    /// `3 findings in 2 overlays: 1 error, 2 warnings, 0 notes`.
    fn summary(&self) -> String {
        let excepted: usize = self.overlays.iter().map(|overlay| overlay.excepted.len()).sum();
        let removed: usize = self.overlays.iter().map(|overlay| overlay.removed.len()).sum();
        let mut line = format!(
            "{} in {}: {}, {}, {}",
            counted(self.findings().count(), "finding"),
            counted(self.overlays.len(), "overlay"),
            counted(self.count(Severity::Error), "error"),
            counted(self.count(Severity::Warning), "warning"),
            counted(self.count(Severity::Note), "note"),
        );
        if excepted > 0 {
            let _ = write!(line, "; {} accepted", excepted);
        }
        if removed > 0 {
            let _ = write!(line, "; {} gone", counted(removed, "finding"));
        }
        line
    }
}

fn with_article(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "an error",
        Severity::Warning => "a warning",
        Severity::Note => "a note",
    }
}

fn overlay_to_json(overlay: &CheckedOverlay) -> Json {
    let mut object = json!({
        "path": overlay.path,
        "findings": overlay.findings,
        "excepted": overlay.excepted,
    });
    if !overlay.removed.is_empty() {
        object["removed"] = json!(overlay.removed);
    }
    if let Some(problem) = &overlay.problem {
        object["problem"] = json!({
            "code": problem.code().name(),
            "message": problem.message(),
            "location": problem.location(),
        });
    }
    object
}

fn overlay_to_text(overlay: &CheckedOverlay, text: &mut Text) {
    let is_quiet = overlay.findings.is_empty() && overlay.removed.is_empty();
    if is_quiet && overlay.problem.is_none() {
        return;
    }
    text.styled_line(Style::Heading, &*overlay.path);
    if let Some(problem) = &overlay.problem {
        text.push(Style::Removed, "  not checked").line(format!(": {problem}"));
    }
    for finding in &overlay.findings {
        finding_to_text(finding, text);
    }
    for finding in &overlay.removed {
        text.push(Style::Added, "  gone").line(format!(" {}: {}", finding.id, finding.message));
    }
}

fn finding_to_text(finding: &Finding, text: &mut Text) {
    let style = match finding.severity {
        Severity::Error => Style::Removed,
        Severity::Warning => Style::Warning,
        Severity::Note => Style::Plain,
    };
    text.push(Style::Plain, "  ").push(style, finding.severity.as_str());
    text.push(Style::Plain, format!(" {} ", finding.id));
    text.styled_line(Style::Faint, format!("{}:{}", finding.location.file, finding.location.line));
    text.line(format!("    {}", finding.message));
    if let Some(fix) = &finding.fix {
        text.push(Style::Added, "    mend").line(format!(": {fix}"));
    }
}

fn budgets_to_text(budgets: &[BudgetLine], text: &mut Text) {
    text.styled_line(Style::Heading, "disruption budgets");
    for budget in budgets {
        let style = if budget.allowed == Some(0) && budget.expected > 0 {
            Style::Removed
        } else {
            Style::Plain
        };
        text.push(Style::Plain, format!("  {}/{} ", budget.namespace, budget.name));
        let allowed = budget.allowed.map_or("invalid".to_owned(), |allowed| allowed.to_string());
        text.push(style, format!("allows {allowed}"));
        text.line(format!(
            " of {} ({}), {}: {}",
            budget.expected,
            budget.rule,
            budget.overlay,
            if budget.guards.is_empty() { "nothing".to_owned() } else { budget.guards.join(", ") },
        ));
    }
}
