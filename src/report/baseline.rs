//! The results of `overlay baseline`.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::verify::{VerifyForm, cell};
use super::{Report, Style, Text, counted};
use crate::baseline::{
    AddressChange, Baseline, ClaimChange, Comparison, Kept, Node, Trouble, What, Worse,
};
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
        "claims": comparison.claims.iter().map(|change| json!({
            "claim": change.claim, "before": change.before, "after": change.after,
        })).collect::<Vec<_>>(),
        "workloads": comparison.workloads.iter().map(|(workload, before, after)| json!({
            "workload": workload, "readyBefore": before, "ready": after,
        })).collect::<Vec<_>>(),
        "applicationsGone": comparison.applications_gone,
        "nodes": {
            "new": comparison.nodes_new,
            "gone": comparison.nodes_gone,
            "changed": comparison.nodes_changed.iter().map(|(node, before)| json!({
                "name": node.name,
                "before": { "version": before.version, "externalIps": before.external_ips },
                "after": { "version": node.version, "externalIps": node.external_ips },
            })).collect::<Vec<_>>(),
        },
        "unseen": comparison.unseen,
        "lost": comparison.lost,
    });
    let mut report =
        Report::unchanged("baseline compare", result, to_text(file, before, comparison));
    report.data = form.map(|VerifyForm::Markdown| to_markdown(before, comparison).into_bytes());
    report.error = error(before, comparison);
    report
}

/// New trouble, or kinds of which nobody can tell whether they have some.
fn error(before: &Baseline, comparison: &Comparison) -> Option<Error> {
    let (new, worse) = (comparison.new.len(), comparison.worse.len());
    if comparison.has_new_trouble() {
        let first = comparison.new.first().or(comparison.worse.first().map(|worse| &worse.now));
        let first = first.map(Trouble::shown).unwrap_or_default();
        let more =
            if new + worse > 1 { format!(" and {} more", new + worse - 1) } else { String::new() };
        let message =
            format!("trouble that was not there at {}: {first}{more}", before.recorded_at);
        return Some(Error::new(codes::NEW_TROUBLE, message));
    }
    (!comparison.lost.is_empty()).then(|| {
        let kinds = comparison.lost.join(", ");
        let message = format!("looked at at {} and not now: {kinds}", before.recorded_at);
        Error::new(codes::NOT_LOOKED_AT, message)
            .hint("look with the rights, or the kinds in the dump, that it was recorded with; or record anew")
    })
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
    for (word, object, what) in told(comparison) {
        text.push(Style::Plain, format!("  {word}")).line(format!(" {object}{what}"));
    }
    if !comparison.lost.is_empty() {
        text.styled_line(
            Style::Removed,
            format!("  not looked at any more: {}", comparison.lost.join(", ")),
        );
    } else if !comparison.has_new_trouble() {
        text.styled_line(Style::Added, "  no new trouble");
    }
    unseen(&mut text, &comparison.unseen);
    text
}

fn to_markdown(before: &Baseline, comparison: &Comparison) -> String {
    let mark = if comparison.is_good() { "✅" } else { "❌" };
    let mut text = format!("### {mark} Since the baseline of {}\n\n", cell(&before.recorded_at));
    let mut rows: Vec<(&str, String, String)> = Vec::new();
    let row = |word, trouble: &Trouble| (word, trouble.shown(), said(trouble, trouble.what.word()));
    rows.extend(comparison.new.iter().map(|trouble| row("new", trouble)));
    rows.extend(comparison.worse.iter().map(|worse| row("worse", &worse.now)));
    rows.extend(comparison.kept.iter().map(|kept| row("still", &kept.now)));
    rows.extend(comparison.gone.iter().map(|trouble| row("gone", trouble)));
    rows.extend(told(comparison).into_iter().map(|(word, object, what)| {
        (word, object, what.trim_start_matches([':', ' ']).to_owned())
    }));
    if !rows.is_empty() {
        text.push_str("| | object | what |\n|---|---|---|\n");
    }
    for (word, object, what) in rows {
        let _ = writeln!(text, "| {word} | {} | {} |", cell(&object), cell(&what));
    }
    if comparison.is_good() {
        text.push_str("\nno new trouble\n");
    }
    if !comparison.lost.is_empty() {
        let _ = writeln!(text, "\nnot looked at any more: {}", cell(&comparison.lost.join(", ")));
    }
    if !comparison.unseen.is_empty() {
        let _ = writeln!(text, "\nnot compared: {}", cell(&comparison.unseen.join(", ")));
    }
    text
}

/// What changed and is no trouble: a word for it, which object, and what of it.
fn told(comparison: &Comparison) -> Vec<(&'static str, String, String)> {
    // A lost address is told as trouble.
    let is_told = |change: &&AddressChange| {
        let is_its = |trouble: &&Trouble| {
            trouble.what == What::AddressChanged
                && format!("{}/{}", trouble.namespace, trouble.name) == change.service
        };
        !comparison.new.iter().any(|trouble| is_its(&trouble))
    };
    let mut rows = Vec::new();
    for change in comparison.addresses.iter().filter(is_told) {
        rows.push(("address", change.service.clone(), format!(": {}", addresses(change))));
    }
    for (name, before, after) in &comparison.databases {
        rows.push((
            "database",
            name.clone(),
            format!(": {} → {}", or_none(before), or_none(after)),
        ));
    }
    for ClaimChange { claim, before, after } in &comparison.claims {
        let after = after.as_deref().map_or("no such claim", or_none);
        rows.push(("claim", claim.clone(), format!(": {} → {after}", or_none(before))));
    }
    for (workload, before, after) in &comparison.workloads {
        rows.push(("ready", workload.clone(), format!(": {before} → {after}")));
    }
    for application in &comparison.applications_gone {
        rows.push(("application gone", application.clone(), String::new()));
    }
    for node in &comparison.nodes_new {
        rows.push(("node new", node.name.clone(), format!(" {}", of_node(node))));
    }
    for node in &comparison.nodes_gone {
        rows.push(("node gone", node.name.clone(), format!(" {}", of_node(node))));
    }
    for (node, before) in &comparison.nodes_changed {
        let change = format!(": {} → {}", of_node(before), of_node(node));
        rows.push(("node", node.name.clone(), change));
    }
    rows
}

/// The version of a node and its addresses.
fn of_node(node: &Node) -> String {
    match node.external_ips.is_empty() {
        true => node.version.clone(),
        false => format!("{} ({})", node.version, node.external_ips.join(", ")),
    }
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}

fn push(text: &mut Text, style: Style, word: &str, trouble: &Trouble, more: &str) {
    let count = if trouble.count > 1 { format!(" ×{}", trouble.count) } else { String::new() };
    let (shown, what) = (trouble.shown(), trouble.what.word());
    let line = said(trouble, &format!(" {what} {shown}{count}{more}"));
    text.push(style, format!("  {word}")).line(line);
}

/// What is known of a trouble behind `words`.
fn said(trouble: &Trouble, words: &str) -> String {
    match trouble.detail.as_str() {
        "" => words.to_owned(),
        detail => format!("{words}: {detail}"),
    }
}

fn unseen(text: &mut Text, kinds: &[String]) {
    if !kinds.is_empty() {
        text.push(Style::Faint, "note").line(format!(": not looked at: {}", kinds.join(", ")));
    }
}

fn addresses(change: &AddressChange) -> String {
    let list = |addresses: &Option<Vec<String>>| match addresses {
        None => "no such Service".to_owned(),
        Some(none) if none.is_empty() => "none".to_owned(),
        Some(addresses) => addresses.join(", "),
    };
    format!("{} → {}", list(&change.before), list(&change.after))
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
