//! The results of `overlay baseline`.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::verify::{VerifyForm, cell};
use super::{Report, Style, Text};
use crate::baseline::{AddressChange, Baseline, Comparison, Kept, Trouble, Worse};
use crate::error::{Error, codes};

/// What was recorded; `is_replaced` where another baseline was there.
#[must_use]
pub fn recorded(file: &str, baseline: &Baseline, is_replaced: bool) -> Report {
    let mut text = Text::default();
    text.styled_line(Style::Heading, file);
    let place = match &baseline.namespace {
        Some(namespace) => format!("namespace {namespace} of {}", baseline.source),
        None => baseline.source.clone(),
    };
    text.line(format!("  {place} at {}", baseline.recorded_at));
    text.line(format!(
        "  {}, {}, {}",
        counted(baseline.nodes.len(), "node"),
        counted(baseline.addresses.len(), "load balancer"),
        counted(baseline.databases.len(), "database"),
    ));
    for trouble in &baseline.troubles {
        push(&mut text, Style::Warning, "already", trouble, "");
    }
    if baseline.troubles.is_empty() {
        text.styled_line(Style::Added, "  nothing is wrong");
    }
    unseen(&mut text, &baseline.unseen);
    let result = json!({
        "file": file,
        "replaced": is_replaced,
        "baseline": baseline,
    });
    let mut report = Report::unchanged("baseline record", result, text);
    report.changed = true;
    report
}

/// What is new, still there, gone.
#[must_use]
pub fn compared(
    file: &str,
    before: &Baseline,
    after: &Baseline,
    comparison: &Comparison,
    form: Option<VerifyForm>,
) -> Report {
    let result = json!({
        "file": file,
        "before": { "recordedAt": before.recorded_at, "source": before.source },
        "after": { "recordedAt": after.recorded_at, "source": after.source },
        "namespace": before.namespace,
        "new": comparison.new,
        "worse": comparison.worse.iter().map(worse_json).collect::<Vec<_>>(),
        "still": comparison.kept.iter().map(kept_json).collect::<Vec<_>>(),
        "gone": comparison.gone,
        "addresses": comparison.addresses.iter().map(address_json).collect::<Vec<_>>(),
        "databases": comparison.databases.iter().map(|(name, before, after)| json!({
            "cluster": name, "before": before, "after": after,
        })).collect::<Vec<_>>(),
        "nodes": {
            "new": comparison.nodes_new,
            "gone": comparison.nodes_gone,
            "changed": comparison.nodes_changed.iter().map(|(node, version)| json!({
                "name": node.name, "before": version, "after": node.version,
            })).collect::<Vec<_>>(),
        },
        "unseen": comparison.unseen,
    });
    let mut report =
        Report::unchanged("baseline compare", result, to_text(file, before, comparison));
    report.data = form.map(|VerifyForm::Markdown| to_markdown(before, comparison).into_bytes());
    let (new, worse) = (comparison.new.len(), comparison.worse.len());
    report.error = comparison.has_new_trouble().then(|| {
        let first = comparison.new.first().or(comparison.worse.first().map(|worse| &worse.now));
        let first = first.map(Trouble::shown).unwrap_or_default();
        let more =
            if new + worse > 1 { format!(" and {} more", new + worse - 1) } else { String::new() };
        let message =
            format!("trouble that was not there at {}: {first}{more}", before.recorded_at);
        Error::new(codes::NEW_TROUBLE, message)
    });
    report
}

fn to_text(file: &str, before: &Baseline, comparison: &Comparison) -> Text {
    let mut text = Text::default();
    text.styled_line(Style::Heading, format!("since {file} of {}", before.recorded_at));
    for trouble in &comparison.new {
        push(&mut text, Style::Removed, "new", trouble, "");
    }
    for Worse { now, before } in &comparison.worse {
        push(&mut text, Style::Removed, "worse", now, &format!(", was {before}"));
    }
    for Kept { now, before } in &comparison.kept {
        let was = before.as_ref().map(|before| format!(" (was: {before})")).unwrap_or_default();
        push(&mut text, Style::Warning, "still", now, &was);
    }
    for trouble in &comparison.gone {
        push(&mut text, Style::Added, "gone", trouble, "");
    }
    for change in &comparison.addresses {
        text.push(Style::Warning, "  address").line(format!(" {}", shown(change)));
    }
    for (name, before, after) in &comparison.databases {
        text.push(Style::Plain, "  database").line(format!(" {name}: {before} → {after}"));
    }
    for node in &comparison.nodes_new {
        text.push(Style::Plain, "  node new").line(format!(" {} {}", node.name, node.version));
    }
    for node in &comparison.nodes_gone {
        text.push(Style::Plain, "  node gone").line(format!(" {} {}", node.name, node.version));
    }
    for (node, version) in &comparison.nodes_changed {
        let name = &node.name;
        text.push(Style::Plain, "  node").line(format!(" {name} {version} → {}", node.version));
    }
    if !comparison.has_new_trouble() {
        text.styled_line(Style::Added, "  no new trouble");
    }
    unseen(&mut text, &comparison.unseen);
    text
}

fn to_markdown(before: &Baseline, comparison: &Comparison) -> String {
    let mark = if comparison.has_new_trouble() { "❌" } else { "✅" };
    let mut text = format!("### {mark} Since the baseline of {}\n\n", cell(&before.recorded_at));
    let mut rows: Vec<(&str, String, String)> = Vec::new();
    let row = |word, trouble: &Trouble| {
        (word, trouble.shown(), format!("{}: {}", trouble.what.word(), trouble.detail))
    };
    rows.extend(comparison.new.iter().map(|trouble| row("new", trouble)));
    rows.extend(comparison.worse.iter().map(|worse| row("worse", &worse.now)));
    rows.extend(comparison.kept.iter().map(|kept| row("still", &kept.now)));
    rows.extend(comparison.gone.iter().map(|trouble| row("gone", trouble)));
    rows.extend(
        comparison
            .addresses
            .iter()
            .map(|change| ("address", change.service.clone(), shown(change))),
    );
    rows.extend(
        comparison
            .nodes_new
            .iter()
            .map(|node| ("node new", node.name.clone(), node.version.clone())),
    );
    rows.extend(
        comparison
            .nodes_gone
            .iter()
            .map(|node| ("node gone", node.name.clone(), node.version.clone())),
    );
    rows.extend(comparison.nodes_changed.iter().map(|(node, version)| {
        ("node changed", node.name.clone(), format!("{version} → {}", node.version))
    }));
    if !rows.is_empty() {
        text.push_str("| | object | what |\n|---|---|---|\n");
    }
    for (word, object, what) in rows {
        let _ = writeln!(text, "| {word} | {} | {} |", cell(&object), cell(&what));
    }
    if !comparison.has_new_trouble() {
        text.push_str("\nno new trouble\n");
    }
    if !comparison.unseen.is_empty() {
        let _ = writeln!(text, "\nnot compared: {}", cell(&comparison.unseen.join(", ")));
    }
    text
}

fn push(text: &mut Text, style: Style, word: &str, trouble: &Trouble, more: &str) {
    let count = if trouble.count > 1 { format!(" ×{}", trouble.count) } else { String::new() };
    let (shown, what) = (trouble.shown(), trouble.what.word());
    text.push(style, format!("  {word}"))
        .line(format!(" {what} {shown}{count}{more}: {}", trouble.detail));
}

fn unseen(text: &mut Text, kinds: &[String]) {
    if !kinds.is_empty() {
        text.push(Style::Faint, "note").line(format!(": not looked at: {}", kinds.join(", ")));
    }
}

fn shown(change: &AddressChange) -> String {
    let list = |addresses: &Option<Vec<String>>| match addresses {
        None => "no such Service".to_owned(),
        Some(none) if none.is_empty() => "none".to_owned(),
        Some(addresses) => addresses.join(", "),
    };
    format!("{}: {} → {}", change.service, list(&change.before), list(&change.after))
}

fn counted(count: usize, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}

fn worse_json(worse: &Worse) -> Json {
    let mut json = json!(worse.now);
    json["countBefore"] = json!(worse.before);
    json
}

fn kept_json(kept: &Kept) -> Json {
    let mut json = json!(kept.now);
    json["detailBefore"] = json!(kept.before);
    json
}

fn address_json(change: &AddressChange) -> Json {
    json!({ "service": change.service, "before": change.before, "after": change.after })
}
