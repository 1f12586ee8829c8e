//! The result of `overlay ship`: every wave with the steps that were taken, for people, as JSON, and as Markdown for the summary of a job.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::pull_request::markdown_environment;
use super::{Report, Style, Text};
use crate::clock::format_rfc_3339;
use crate::error::{Error, codes};
use crate::ship::{Ending, Step, Verdict};

/// The template of the Markdown form.
const TEMPLATE: &str = include_str!("../../templates/ship-report.md");

/// A step that was taken.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// Which one.
    pub step: Step,
    /// How it ended.
    pub ending: Ending,
    /// When it began, in seconds since 1970.
    pub began: u64,
    /// How long it took.
    pub took: Duration,
    /// What it came to, in one sentence.
    pub summary: String,
    /// What the command that does the same would give as its result.
    pub detail: Json,
    /// Why it failed.
    pub error: Option<Error>,
}

/// A pull request by its number and page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequestName {
    /// Its number.
    pub number: u64,
    /// Its page.
    pub url: String,
}

/// What became of the overlays of one wave.
#[derive(Clone, Debug)]
pub struct WaveReport {
    /// Their paths, of those that are shipped here.
    pub overlays: Vec<String>,
    /// How it ended; `None` where it did not begin.
    pub verdict: Option<Verdict>,
    /// It did not begin because one before it failed.
    pub is_stopped: bool,
    /// What was done.
    pub steps: Vec<StepReport>,
    /// The commit by which the change came to the base branch.
    pub landed: Option<String>,
    /// The pull request that brought it.
    pub pull_request: Option<PullRequestName>,
    /// The command that takes the change back.
    pub way_back: Option<String>,
}

impl WaveReport {
    /// One that was taken.
    #[must_use]
    pub fn of(overlays: &[String], verdict: Verdict, steps: Vec<StepReport>) -> Self {
        let (landed, pull_request, way_back) = (None, None, None);
        let (overlays, verdict) = (overlays.to_vec(), Some(verdict));
        Self { overlays, verdict, is_stopped: false, steps, landed, pull_request, way_back }
    }

    /// One that did not begin: since one before it failed, or since the change concerns nothing of it.
    #[must_use]
    pub fn left_out(overlays: &[String], is_stopped: bool) -> Self {
        Self { verdict: None, is_stopped, ..Self::of(overlays, Verdict::AlreadySo, Vec::new()) }
    }

    /// Whether the next wave may begin.
    #[must_use]
    pub fn is_good(&self) -> bool {
        match self.verdict {
            Some(Verdict::Shipped | Verdict::AlreadySo) => true,
            Some(_) => false,
            None => !self.is_stopped,
        }
    }

    /// As in the JSON form.
    fn status(&self) -> &'static str {
        match self.verdict {
            Some(Verdict::Shipped) => "shipped",
            Some(Verdict::AlreadySo) => "already-so",
            Some(Verdict::Failed(_)) => "failed",
            Some(Verdict::TakenBack(_)) => "taken-back",
            Some(Verdict::StuckGoingBack(..)) => "stuck-going-back",
            None if self.is_stopped => "not-begun",
            None => "not-concerned",
        }
    }

    /// What people read for it.
    fn words(&self) -> &'static str {
        match self.status() {
            "already-so" => "already so, and looked at again",
            "taken-back" => "failed, and taken back",
            "stuck-going-back" => "failed, and not all of the way back",
            "not-begun" => "not begun",
            "not-concerned" => "nothing to do here",
            word => word,
        }
    }

    fn failure(&self) -> Option<&StepReport> {
        self.steps.iter().find(|step| step.error.is_some())
    }

    /// The error of the first step that failed, which says what to do about the change.
    fn error(&self) -> Option<Error> {
        let step = self.failure()?;
        let found = step.error.as_ref()?;
        let error = found.clone().within(step.step.word());
        Some(match (self.verdict, &self.way_back) {
            (Some(Verdict::TakenBack(_)), _) => error.cause("the change was taken back"),
            (Some(Verdict::StuckGoingBack(_, at)), _) => {
                let back = self.steps.iter().find(|step| step.step == at);
                let why = back.map_or("", |step| step.summary.as_str());
                error
                    .cause(format!("the way back ended at {}: {why}", at.word()))
                    .hint("the same command again goes on with the way back")
            }
            (Some(Verdict::Failed(step)), Some(command)) if step > Step::Merge => error
                .hint("once that is mended, the same command again goes on from there")
                .hint(format!("this takes the change back: {command}")),
            _ if found.code() == codes::TAKEN_BACK => error,
            _ => error.hint("the same command again goes on from there"),
        })
    }
}

/// The result of the command.
#[derive(Clone, Debug)]
pub struct ShipReport {
    /// The words of the edit command.
    pub command: &'static str,
    /// Nothing was written because nothing was to be.
    pub is_trial: bool,
    /// Every wave, in order.
    pub waves: Vec<WaveReport>,
    /// Where it is a return that an earlier run brought to the base branch: by which commit.
    pub returned: Option<Returned>,
}

/// A change that was returned before.
#[derive(Clone, Debug)]
pub struct Returned {
    /// The name by which it was shipped.
    pub name: String,
    /// The commit that returned it.
    pub commit: String,
}

impl Returned {
    fn to_json(&self) -> Json {
        json!({"name": self.name, "commit": self.commit})
    }
}

impl ShipReport {
    /// Of a change that was returned before, and of which nothing is left to look at.
    #[must_use]
    pub fn returned(returned: &Returned) -> Report {
        let result = json!({
            "edit": "revert", "dryRun": false, "overlays": [], "waves": [], "returned": returned.to_json(),
        });
        let mut text = Text::default();
        text.line(format!("{} was returned by {}", returned.name, returned.commit));
        Report::unchanged("ship", result, text)
    }

    /// The report, as Markdown where that is wanted.
    #[must_use]
    pub fn into_report(self, wants_markdown: bool) -> Report {
        let mut report = Report::unchanged("ship", self.to_json(), self.to_text());
        let is_changed = |step: &StepReport| step.ending == Ending::Changed;
        report.changed = self.waves.iter().flat_map(|wave| &wave.steps).any(is_changed);
        report.error = self.waves.iter().find_map(WaveReport::error);
        if wants_markdown {
            report.data = Some(self.to_markdown().into_bytes());
        }
        report
    }

    fn to_json(&self) -> Json {
        let overlays = self.waves.iter().flat_map(|wave| {
            wave.overlays.iter().map(|path| json!({"path": path, "status": wave.status()}))
        });
        json!({
            "edit": self.command,
            "dryRun": self.is_trial,
            "overlays": overlays.collect::<Vec<_>>(),
            "waves": self.waves.iter().map(wave_to_json).collect::<Vec<_>>(),
            "returned": self.returned.as_ref().map(Returned::to_json),
        })
    }

    fn to_text(&self) -> Text {
        let mut text = Text::default();
        for wave in &self.waves {
            let places = if wave.overlays.is_empty() {
                "no overlay".into()
            } else {
                wave.overlays.join(", ")
            };
            text.push(Style::Heading, places).line(format!(": {}", wave.words()));
            for step in &wave.steps {
                let style = match step.ending {
                    Ending::Failed(_) => Style::Removed,
                    Ending::Changed => Style::Added,
                    _ => Style::Plain,
                };
                text.push(Style::Plain, "  ").push(style, format!("{:<19}", step.step.word()));
                text.line(format!(
                    " {:<7} {:>7} {}",
                    word(step.ending),
                    shown(step.took),
                    step.summary
                ));
            }
        }
        text
    }

    fn to_markdown(&self) -> String {
        let waves = self.waves.iter().map(WaveView::of).collect();
        let view = View { edit: self.command, dry_run: self.is_trial, waves };
        let environment = markdown_environment();
        let rendered = environment
            .template_from_str(TEMPLATE)
            .and_then(|template| template.render(minijinja::value::Serde(&view)));
        rendered.unwrap_or_else(|error| format!("The report could not be written: {error}\n"))
    }
}

/// A step's ending in reports.
fn word(ending: Ending) -> &'static str {
    match ending {
        Ending::Changed => "done",
        Ending::Held => "holds",
        Ending::Skipped => "skipped",
        Ending::Failed(_) => "failed",
    }
}

/// A length of time as people read it.
fn shown(took: Duration) -> String {
    match took.as_secs() {
        0..=9 => format!("{:.1}s", took.as_secs_f64()),
        seconds @ 10..=119 => format!("{seconds}s"),
        seconds => format!("{}m{:02}s", seconds / 60, seconds % 60),
    }
}

fn wave_to_json(wave: &WaveReport) -> Json {
    let steps = wave.steps.iter().map(|step| {
        json!({
            "step": step.step.word(),
            "status": word(step.ending),
            "at": format_rfc_3339(step.began),
            "seconds": (step.took.as_secs_f64() * 1000.0).round() / 1000.0,
            "summary": step.summary,
            "error": step.error.as_ref().map(|error| {
                json!({"code": error.code().name(), "message": error.message(), "hints": error.hints()})
            }),
            "result": step.detail,
        })
    });
    json!({
        "overlays": wave.overlays,
        "status": wave.status(),
        "commit": wave.landed,
        "pullRequest": wave.pull_request.as_ref().map(|pull| json!({"number": pull.number, "url": pull.url})),
        "takeBack": wave.way_back,
        "steps": steps.collect::<Vec<_>>(),
    })
}

/// The variables of the template.
#[derive(Serialize)]
struct View {
    edit: &'static str,
    dry_run: bool,
    waves: Vec<WaveView>,
}

#[derive(Serialize)]
struct WaveView {
    overlays: Vec<String>,
    status: &'static str,
    words: &'static str,
    commit: Option<String>,
    pull_request: Option<u64>,
    pull_request_url: Option<String>,
    take_back: Option<String>,
    steps: Vec<StepView>,
    error: Option<String>,
}

#[derive(Serialize)]
struct StepView {
    step: &'static str,
    status: &'static str,
    took: String,
    summary: String,
}

impl WaveView {
    fn of(wave: &WaveReport) -> Self {
        let steps = wave.steps.iter().map(|step| StepView {
            step: step.step.word(),
            status: word(step.ending),
            took: shown(step.took),
            summary: step.summary.clone(),
        });
        let failed_late = matches!(wave.verdict, Some(Verdict::Failed(step)) if step > Step::Merge);
        Self {
            overlays: wave.overlays.clone(),
            status: wave.status(),
            words: wave.words(),
            commit: wave.landed.clone(),
            pull_request: wave.pull_request.as_ref().map(|pull| pull.number),
            pull_request_url: wave.pull_request.as_ref().map(|pull| pull.url.clone()),
            take_back: wave.way_back.clone().filter(|_| failed_late),
            steps: steps.collect(),
            error: wave.error().map(|error| error.message().to_owned()),
        }
    }
}
