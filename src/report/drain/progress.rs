//! How far a drain has come, for people, as JSON and as Markdown.

use serde_json::{Value as Json, json};

use crate::drain::{OldNode, Phase, Progress};
use crate::error::{Error, codes};
use crate::report::drain::Form;
use crate::report::{Report, Style, Text, counted};

/// The report. Where something is not as it should be its error says so.
///
/// # Errors
/// For a runbook and for a page, which a state of a moment has none of.
pub fn progress_report(progress: &Progress, form: Form) -> Result<Report, Error> {
    if form != Form::Plain {
        let message = "how far it has come has neither runbook nor page: use -o human or -o json";
        return Err(Error::new(codes::USAGE, message));
    }
    let mut report = Report::unchanged("drain-plan", to_json(progress), to_text(progress));
    if !progress.wrong.is_empty() {
        let count = progress.wrong.len();
        let what = if count == 1 { "thing is not as it" } else { "things are not as they" };
        let message = format!("{count} {what} should be: go no further before");
        report.error = Some(Error::new(codes::DRAIN_OFF_COURSE, message));
    }
    Ok(report)
}

fn to_json(progress: &Progress) -> Json {
    let next = progress.next.as_ref();
    let wrong = progress.wrong.iter();
    let wrong =
        wrong.map(|wrong| json!({ "id": wrong.id, "message": wrong.message, "fix": wrong.fix }));
    let new = progress.new.iter().map(
        |node| json!({ "name": node.name, "ready": node.is_ready, "cordoned": node.is_cordoned }),
    );
    json!({
        "phase": progress.phase.word(),
        "next": next.map(|(what, command)| json!({ "what": what, "command": command })),
        "old": progress.old.iter().map(node_json).collect::<Vec<_>>(),
        "new": new.collect::<Vec<_>>(),
        "findings": wrong.collect::<Vec<_>>(),
        "asBefore": progress.as_before,
    })
}

fn node_json(node: &OldNode) -> Json {
    json!({
        "name": node.name,
        "gone": node.is_gone,
        "cordoned": node.is_cordoned,
        "left": node.left,
    })
}

fn to_text(progress: &Progress) -> Text {
    let mut text = Text::default();
    for node in &progress.old {
        let state = match (node.is_gone, node.left.len()) {
            (true, _) => "gone".to_owned(),
            (false, 0) => "empty".to_owned(),
            (false, count) => format!("{} to move", counted(count, "pod")),
        };
        let cordoned = match (node.is_gone, node.is_cordoned) {
            (false, true) => ", cordoned",
            _ => "",
        };
        text.line(format!("{}: {state}{cordoned}", node.name));
    }
    for node in progress.new.iter().filter(|node| node.is_cordoned) {
        text.line(format!("{}: cordoned, takes no pods", node.name));
    }
    for wrong in &progress.wrong {
        text.push(Style::Removed, wrong.id).line(format!(": {}", wrong.message));
        text.styled_line(Style::Faint, format!("  {}", wrong.fix));
    }
    for message in &progress.as_before {
        text.push(Style::Faint, "as before").line(format!(": {message}"));
    }
    match &progress.next {
        Some((what, command)) => {
            text.push(Style::Heading, "next").line(format!(": {what}"));
            text.styled_line(Style::Added, format!("   $ {command}"));
        }
        None if progress.phase == Phase::Done => {
            text.styled_line(Style::Added, "nothing but daemons is left on the old nodes");
        }
        None => {}
    }
    text
}
