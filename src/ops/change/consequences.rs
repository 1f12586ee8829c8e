//! What an edit brings along: what disruption budgets allow before and after, and volumes that grow.

use crate::checks::Overlay;
use crate::checks::budgets::{BudgetLine, budget_lines};
use crate::checks::context::Context as CheckContext;
use crate::checks::model::application::Repository;
use crate::checks::model::quantity::parse_quantity;
use crate::kustomize::{Rendered, SourceTree, Step};
use crate::ops::Context;
use crate::ops::overlay::LoadedOverlay;
use crate::plan::Note;
use crate::verify::{Effect, FieldChange};
use serde_json::Value as Json;

/// The code of the notes of [`budgets`].
pub(super) const BUDGET_NOTE: &str = "pdb-headroom";

/// A note for each volume that grows, for it does not shrink again, or that would have to shrink.
pub(super) fn volumes(effect: &Effect) -> Vec<Note> {
    effect.changes.iter().filter_map(volume_note).collect()
}

fn volume_note(change: &FieldChange) -> Option<Note> {
    let keys: Vec<&str> = change.path.steps().iter().filter_map(key_of).collect();
    let is_size = ["storage", "walStorage"].contains(keys.iter().rev().nth(1)?)
        && keys.last() == Some(&"size")
        || keys.ends_with(&["requests", "storage"]);
    let amount = |value: &Option<Json>| match value.as_ref()? {
        Json::String(text) => Some((text.clone(), parse_quantity(text)?)),
        other => Some((other.to_string(), other.as_f64()?)),
    };
    let (before, after) = (amount(&change.before)?, amount(&change.after)?);
    if !is_size || before.1 == after.1 {
        return None;
    }
    let what = match before.1 < after.1 {
        true => "a volume that has grown does not shrink again",
        false => "a volume does not shrink: the change will be refused where it runs",
    };
    let (kind, name, path) = (&change.resource.kind, &change.resource.name, &change.path);
    let message = format!("{kind}/{name} {path} {} → {}: {what}", before.0, after.0);
    Some(Note { code: "volume-size", message })
}

fn key_of(step: &Step) -> Option<&str> {
    match step {
        Step::Key(key) => Some(key),
        _ => None,
    }
}

fn view_of<'v>(overlay: &'v LoadedOverlay<'_>) -> Overlay<'v> {
    let tree = overlay.tree();
    Overlay { directory: tree.overlay(), rendered: &overlay.before, tree }
}

/// A note for each budget that allows another number of evictions after the edit.
pub(super) fn budgets(
    context: &Context,
    overlay: &LoadedOverlay<'_>,
    tree: &SourceTree,
    after: &Rendered,
) -> Vec<Note> {
    let settings = context.check_settings();
    let repository = Repository::default();
    let lines = |view: Overlay<'_>| {
        budget_lines(&CheckContext::new(view, &[view], &settings, &repository), None)
    };
    let before = lines(view_of(overlay));
    let after = lines(Overlay { rendered: after, tree, ..view_of(overlay) });
    after.iter().filter_map(|line| budget_note(line, &before)).collect()
}

fn budget_note(line: &BudgetLine, before: &[BudgetLine]) -> Option<Note> {
    let is_it = |old: &&BudgetLine| old.namespace == line.namespace && old.name == line.name;
    let old = before.iter().find(is_it).map(|old| old.allowed);
    let shown = |allowed: Option<i64>| allowed.map_or("none".to_owned(), |n| n.to_string());
    if old == Some(line.allowed) {
        return None;
    }
    let hangs = line.allowed == Some(0) && line.expected > 0;
    let warning = if hangs { "; a node drain will hang on it" } else { "" };
    let change = match old {
        Some(old) => format!("allowed disruptions {} → {}", shown(old), shown(line.allowed)),
        None => format!("a new budget, allowed disruptions {}", shown(line.allowed)),
    };
    let message = format!("{} ({}): {change}{warning}", line.name, line.guards.join(", "));
    Some(Note { code: BUDGET_NOTE, message })
}
