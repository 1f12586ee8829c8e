//! The result of `overlay verify`: for people, as JSON, as Markdown.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::{Report, Style, Text, escape_control};
use crate::checks::{Severity, Subject};
use crate::error::{Error, codes};
use crate::rollout::{Finding, LiveBudget, WorkloadLine};

/// A form for neither people at a terminal nor programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyForm {
    /// Markdown.
    Markdown,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Verified {
    /// The overlays, relative to the boundary.
    pub overlays: Vec<String>,
    /// The namespace, where it was looked at as a whole.
    pub namespace: Option<String>,
    /// The commit that was rendered; `None` for files on disk.
    pub commit: Option<String>,
    /// Where the objects come from.
    pub source: String,
    /// The workloads and databases in numbers.
    pub workloads: Vec<WorkloadLine>,
    /// The disruption budgets in numbers.
    pub budgets: Vec<LiveBudget>,
    /// What is wrong, and what to know.
    pub findings: Vec<Finding>,
}

impl Verified {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_well(&self) -> bool {
        !self.findings.iter().any(Finding::is_failure)
    }

    /// The report.
    #[must_use]
    pub fn into_report(self, form: Option<VerifyForm>) -> Report {
        let mut report = Report::unchanged("verify", self.to_json(), self.to_text());
        report.error = self.error();
        report.data = form.map(|VerifyForm::Markdown| self.to_markdown().into_bytes());
        report
    }

    /// Why the command does not end with 0.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        let bad = self.findings.iter().filter(|finding| finding.is_failure()).count();
        let first = self.findings.iter().find(|finding| finding.is_failure())?;
        let message = match bad {
            1 => "what runs is not what it is to be: 1 finding".to_owned(),
            many => format!("what runs is not what it is to be: {many} findings"),
        };
        let hint = format!("`overlay explain {}` says more", first.id);
        Some(Error::new(codes::NOT_VERIFIED, message).hint(hint))
    }

    /// The `result` of the JSON form.
    #[must_use]
    pub fn to_json(&self) -> Json {
        json!({
            "overlays": self.overlays.iter().map(|path| json!({ "path": path })).collect::<Vec<_>>(),
            "namespace": self.namespace,
            "commit": self.commit,
            "source": self.source,
            "workloads": self.workloads,
            "budgets": self.budgets,
            "findings": self.findings,
        })
    }

    fn to_text(&self) -> Text {
        let mut text = Text::default();
        text.styled_line(Style::Heading, self.title());
        for line in &self.workloads {
            let style = if line.ready < line.replicas { Style::Removed } else { Style::Added };
            text.push(style, format!("  {}/{}", line.ready, line.replicas));
            text.line(format!(" {}/{} ({})", line.kind, line.name, line.namespace));
        }
        for budget in &self.budgets {
            text.line(format!(
                "  budget {} ({}) allows {}: {} healthy, {} must stay",
                budget.name, budget.namespace, budget.allowed, budget.healthy, budget.desired
            ));
        }
        self.findings.iter().for_each(|finding| push_finding(finding, &mut text));
        text.line(self.summary());
        text
    }

    /// What was looked at.
    fn title(&self) -> String {
        let what = match (&self.namespace, self.overlays.as_slice()) {
            (Some(namespace), _) => format!("namespace {namespace}"),
            (None, overlays) => overlays.join(", "),
        };
        match &self.commit {
            Some(commit) => format!("{what} at {}", commit.get(..12).unwrap_or(commit)),
            None => what,
        }
    }

    fn summary(&self) -> String {
        let bad = self.findings.iter().filter(|finding| finding.is_failure()).count();
        match bad {
            0 => "all is as it is to be".to_owned(),
            1 => "1 finding".to_owned(),
            many => format!("{many} findings"),
        }
    }

    fn to_markdown(&self) -> String {
        let mut text = String::new();
        let mark = if self.is_well() { "✅" } else { "❌" };
        let _ = writeln!(text, "### {mark} Verify: {}\n", cell(&self.title()));
        if !self.workloads.is_empty() {
            text.push_str("| workload | namespace | ready |\n|---|---|---|\n");
        }
        for line in &self.workloads {
            let name = format!("{}/{}", line.kind, line.name);
            let (name, namespace) = (cell(&name), cell(&line.namespace));
            let _ = writeln!(text, "| {name} | {namespace} | {}/{} |", line.ready, line.replicas);
        }
        if !self.budgets.is_empty() {
            text.push_str("\n| budget | namespace | allowed disruptions |\n|---|---|---|\n");
        }
        for budget in &self.budgets {
            let (name, namespace) = (cell(&budget.name), cell(&budget.namespace));
            let _ = writeln!(text, "| {name} | {namespace} | {} |", budget.allowed);
        }
        if !self.findings.is_empty() {
            text.push_str("\n| finding | object | what |\n|---|---|---|\n");
        }
        for finding in &self.findings {
            let fix = finding.fix.as_ref().map(|fix| format!(" ({fix})")).unwrap_or_default();
            let what = cell(&format!("{}{fix}", finding.message));
            let _ =
                writeln!(text, "| {} | {} | {what} |", finding.id, cell(&name(&finding.resource)));
        }
        let _ = writeln!(text, "\n{}", self.summary());
        text
    }
}

/// A text of a cluster in a cell of a table.
pub(super) fn cell(text: &str) -> String {
    escape_control(text).replace('\n', " ").replace('|', "\\|").replace('<', "&lt;")
}

/// `Kind/name (namespace)`.
fn name(subject: &Subject) -> String {
    match subject.namespace.as_str() {
        "" => subject.to_string(),
        namespace => format!("{subject} ({namespace})"),
    }
}

fn push_finding(finding: &Finding, text: &mut Text) {
    let style = match finding.severity {
        Severity::Error => Style::Removed,
        Severity::Warning => Style::Warning,
        Severity::Note => Style::Plain,
    };
    text.push(Style::Plain, "  ").push(style, finding.severity.as_str());
    text.line(format!(" {} {}", finding.id, name(&finding.resource)));
    text.line(format!("    {}", finding.message));
    if let Some(fix) = &finding.fix {
        text.push(Style::Added, "    what helps").line(format!(": {fix}"));
    }
}
