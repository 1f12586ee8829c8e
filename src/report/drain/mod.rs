//! The result of `overlay drain-plan`: for people, as JSON, as a runbook in Markdown, and as a page.

#[cfg(feature = "templates")]
pub(in crate::report) mod nodes;
#[cfg(feature = "templates")]
mod page;
mod progress;
#[cfg(feature = "templates")]
mod runbook;

pub use progress::progress_report;

use serde_json::{Value as Json, json};

use super::{Report, Style, Text};
use crate::capacity::amounts::Amounts;
use crate::drain::{BuiltIn, Downtime, Guard, Obstacle, Plan, PlannedNode, Rules, Step};
use crate::error::{Error, codes};

/// The form of the result beside JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For people at a terminal.
    Plain,
    /// A runbook.
    Markdown,
    /// A page of HTML.
    Page,
}

/// The report of a plan. Where the plan has obstacles its error says so.
///
/// # Errors
/// For a form that this build lacks.
pub fn plan_report(plan: &Plan, rules: &Rules, form: Form) -> Result<Report, Error> {
    let mut report = Report::unchanged("drain-plan", to_json(plan, rules), to_text(plan));
    report.data = match form {
        Form::Plain => None,
        Form::Markdown => Some(markdown(plan, rules)?.into_bytes()),
        Form::Page => Some(to_page(plan, rules)?),
    };
    if !plan.obstacles.is_empty() {
        let count = plan.obstacles.len();
        let s = if count == 1 { "" } else { "s" };
        let message = format!("the plan has {count} obstacle{s} that a person has to clear");
        report.error = Some(Error::new(codes::DRAIN_OBSTACLES, message));
    }
    Ok(report)
}

#[cfg(feature = "templates")]
fn markdown(plan: &Plan, rules: &Rules) -> Result<String, Error> {
    runbook::runbook(plan, rules)
}

#[cfg(not(feature = "templates"))]
fn markdown(_: &Plan, _: &Rules) -> Result<String, Error> {
    Err(Error::new(codes::USAGE, "this build has no templates, and so no runbooks"))
}

#[cfg(feature = "templates")]
fn to_page(plan: &Plan, rules: &Rules) -> Result<Vec<u8>, Error> {
    page::to_page(plan, rules)
}

#[cfg(not(feature = "templates"))]
fn to_page(_: &Plan, _: &Rules) -> Result<Vec<u8>, Error> {
    Err(Error::new(codes::USAGE, "this build has no templates, and so no pages"))
}

/// The rules that hold, in words.
fn rules_in_words(rules: &Rules) -> Vec<String> {
    let built_in = BuiltIn::ALL.into_iter().filter(|rule| rules.has(*rule));
    let mut words: Vec<String> = built_in.map(|rule| rule.word().to_owned()).collect();
    words.extend(rules.order.iter().map(|rule| match &rule.reason {
        Some(reason) => format!("{} ({reason})", rule.shown()),
        None => rule.shown(),
    }));
    words.extend(rules.pairs.iter().map(|pair| format!("pair {}", pair.name)));
    words
}

fn to_json(plan: &Plan, rules: &Rules) -> Json {
    let steps = plan.steps.iter().enumerate().map(|(at, step)| step_json(at + 1, step));
    json!({
        "old": plan.old.iter().map(node_json).collect::<Vec<_>>(),
        "new": plan.new.iter().map(node_json).collect::<Vec<_>>(),
        "waves": plan.waves,
        "rules": rules_in_words(rules),
        "budgets": plan.guards.iter().map(guard_json).collect::<Vec<_>>(),
        "steps": steps.collect::<Vec<_>>(),
        "obstacles": plan.obstacles.iter().map(obstacle_json).collect::<Vec<_>>(),
        "downtimes": plan.downtimes.iter().map(downtime_json).collect::<Vec<_>>(),
        "survivesLossOfNode": plan.survives_loss,
        "notes": plan.notes,
    })
}

fn step_json(number: usize, step: &Step) -> Json {
    json!({
        "number": number,
        "kind": step.kind.word(),
        "node": step.node,
        "pods": step.pods,
        "commands": step.commands,
        "text": step.text,
    })
}

fn guard_json(guard: &Guard) -> Json {
    json!({
        "namespace": guard.namespace,
        "name": guard.name,
        "rule": guard.rule,
        "expected": guard.expected,
        "desired": guard.desired,
        "allowed": guard.allowed,
        "guards": guard.guarded,
    })
}

fn obstacle_json(obstacle: &Obstacle) -> Json {
    json!({
        "id": obstacle.id,
        "message": obstacle.message,
        "pods": obstacle.pods,
        "fix": obstacle.fix,
    })
}

fn downtime_json(downtime: &Downtime) -> Json {
    json!({
        "workload": downtime.workload,
        "node": downtime.node,
        "stopsWithinSeconds": downtime.stops_within,
        "startedInSeconds": downtime.started_in,
        "hasVolume": downtime.has_volume,
    })
}

fn node_json(node: &PlannedNode) -> Json {
    let pods = node.pods.iter().map(|held| {
        let mut pod = amounts(held.request);
        pod["name"] = json!(held.name);
        pod["moves"] = json!(held.moves);
        pod
    });
    json!({
        "name": node.name,
        "toCome": node.is_to_come,
        "allocatable": amounts(node.allocatable),
        "used": amounts(node.used),
        "moving": amounts(node.moving),
        "movingPods": node.moving_pods,
        "pods": pods.collect::<Vec<_>>(),
    })
}

fn amounts(amounts: Amounts) -> Json {
    let mebibytes = (amounts.mebibytes() * 100.0).round() / 100.0;
    json!({ "cpuMillicores": amounts.millicores, "memoryMiB": mebibytes })
}

fn to_text(plan: &Plan) -> Text {
    let mut text = Text::default();
    push_nodes(&mut text, "to empty", &plan.old, true);
    push_nodes(&mut text, "to fill", &plan.new, false);
    for obstacle in &plan.obstacles {
        text.push(Style::Removed, format!("obstacle {}", obstacle.id));
        text.line(format!(": {}", obstacle.message));
        text.styled_line(Style::Faint, format!("  {}", obstacle.fix));
    }
    for (at, step) in plan.steps.iter().enumerate() {
        text.push(Style::Heading, format!("{}. {}", at + 1, step.kind.word()));
        text.line(format!("  {}", step.text));
        for command in &step.commands {
            text.styled_line(Style::Added, format!("   $ {command}"));
        }
    }
    if !plan.downtimes.is_empty() {
        text.styled_line(Style::Heading, "away for a while");
    }
    for downtime in &plan.downtimes {
        text.line(format!("  {}: {}", downtime.workload, downtime_in_words(downtime)));
    }
    for note in &plan.notes {
        text.push(Style::Faint, "note").line(format!(": {note}"));
    }
    text
}

/// `ends within 30 s, took 12 s to be ready the last time`.
fn downtime_in_words(downtime: &Downtime) -> String {
    let started = match downtime.started_in {
        Some(seconds) => format!("took {seconds} s to be ready the last time"),
        None => "how long it takes to be ready is not known".to_owned(),
    };
    let volume = if downtime.has_volume { ", and its volumes have to follow" } else { "" };
    format!("ends within {} s, {started}{volume}", downtime.stops_within)
}

fn push_nodes(text: &mut Text, title: &str, nodes: &[PlannedNode], is_old: bool) {
    text.styled_line(Style::Heading, title);
    for node in nodes {
        let gib = |amounts: Amounts| amounts.mebibytes() / 1024.0;
        let to_come = if node.is_to_come { " (to come)" } else { "" };
        let s = if node.moving_pods == 1 { "" } else { "s" };
        let moving = format!("{} pod{s} to move, {:.2} GiB; ", node.moving_pods, gib(node.moving));
        let moving = if is_old { moving } else { "at the end ".to_owned() };
        text.line(format!(
            "  {}{to_come}: {moving}{:.2} of {:.2} GiB asked for",
            node.name,
            gib(node.used),
            gib(node.allocatable)
        ));
    }
}
