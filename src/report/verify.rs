//! The result of `overlay verify`: for people, as JSON, as Markdown.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::{Report, Style, Text, escape_control};
use crate::checks::{Severity, Subject};
use crate::clock::format_rfc_3339;
use crate::error::{Error, codes};
use crate::rollout::{Finding, Follow, LiveBudget, PodLife, Step, WorkloadLine};

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
    /// What happened, where a roll was followed.
    pub followed: Option<Followed>,
}

/// How a roll that was followed ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Ending {
    /// All is as it is to be.
    Settled,
    /// It has failed, by Kubernetes' own word.
    Failed,
    /// The time was over.
    Late,
}

/// A roll that was followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// How it ended.
    pub ending: Ending,
    /// What happened, in order.
    pub timeline: Vec<Step>,
    /// Every pod that was seen: namespace, name, life.
    pub pods: Vec<(String, String, PodLife)>,
    /// Whether a pod came or went.
    pub has_moved: bool,
}

impl Followed {
    /// What `follow` has seen.
    #[must_use]
    pub fn of(follow: &Follow, ending: Ending) -> Self {
        let own = |(place, name, life): (&str, &str, &PodLife)| {
            (place.to_owned(), name.to_owned(), life.clone())
        };
        Self {
            ending,
            timeline: follow.timeline().to_vec(),
            pods: follow.lives().into_iter().map(own).collect(),
            has_moved: follow.has_moved(),
        }
    }

    fn to_json(&self) -> Json {
        let at = |seconds: i64| format_rfc_3339(u64::try_from(seconds).unwrap_or(0));
        let steps = self
            .timeline
            .iter()
            .map(|step| json!({ "at": at(step.at), "object": step.object, "what": step.what }));
        let pods = self.pods.iter().map(|(namespace, name, life)| {
            json!({
                "namespace": namespace,
                "name": name,
                "wasThere": life.was_there,
                "seen": at(life.seen_at),
                "ready": life.ready_at.map(at),
                "unready": life.unready_at.map(at),
                "terminating": life.terminating_at.map(at),
                "ended": life.ended_at.map(at),
                "gone": life.gone_at.map(at),
            })
        });
        json!({
            "ending": self.ending,
            "timeline": steps.collect::<Vec<_>>(),
            "pods": pods.collect::<Vec<_>>(),
        })
    }

    fn push_text(&self, text: &mut Text) {
        if !self.has_moved {
            text.line("  no pod came or went while it was watched");
        }
        let first = self.timeline.first().map_or(0, |step| step.at);
        for step in &self.timeline {
            text.push(Style::Faint, format!("  {:>5}s", step.at - first));
            text.line(format!(" {} {}", step.object, step.what));
        }
    }
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
        let is_late = self.followed.as_ref().is_some_and(|f| f.ending == Ending::Late);
        if is_late {
            return Some(self.stalled());
        }
        let bad = self.findings.iter().filter(|finding| finding.is_failure()).count();
        let first = self.findings.iter().find(|finding| finding.is_failure())?;
        let message = match bad {
            1 => "what runs is not what it is to be: 1 finding".to_owned(),
            many => format!("what runs is not what it is to be: {many} findings"),
        };
        let hint = format!("`overlay explain {}` says more", first.id);
        Some(Error::new(codes::NOT_VERIFIED, message).hint(hint))
    }

    /// The end of the time, with the first reason.
    fn stalled(&self) -> Error {
        let is_state = |finding: &&Finding| {
            matches!(finding.id, "rollout-unfinished" | "object-differs" | "pods-not-ready")
        };
        let failures = || self.findings.iter().filter(|finding| finding.is_failure());
        let reason = failures().find(|finding| !is_state(finding)).or_else(|| failures().next());
        let message = match reason {
            Some(reason) => format!("not there in time: {}: {}", reason.resource, reason.message),
            None => "not there in time: old pods are still there".to_owned(),
        };
        let error = Error::new(codes::ROLLOUT_STALLED, message);
        let hint = reason.map(|reason| format!("`overlay explain {}` says more", reason.id));
        hint.into_iter().fold(error, Error::hint)
    }

    /// The `result` of the JSON form.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut result = json!({
            "overlays": self.overlays.iter().map(|path| json!({ "path": path })).collect::<Vec<_>>(),
            "namespace": self.namespace,
            "commit": self.commit,
            "source": self.source,
            "workloads": self.workloads,
            "budgets": self.budgets,
            "findings": self.findings,
        });
        if let Some(followed) = &self.followed {
            result["follow"] = followed.to_json();
        }
        result
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
        if let Some(followed) = &self.followed {
            followed.push_text(&mut text);
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
        let mark = if self.error().is_none() { "✅" } else { "❌" };
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
