//! Edits of the `components:` list of a kustomization.

use super::error::PlanError;
use super::pin::Note;
use super::write::{Placement, PlacementKind, Plan, not_editable, open};
use crate::change::SetComponents;
use crate::yaml::{Document, Path, Value};

const FIELD: &str = "components";

/// The `components:` of the kustomization `text`, as written.
///
/// # Errors
/// [`PlanError::NotEditable`] for a text that is no single YAML document, or states the list twice.
pub fn read_components(file: &str, text: &str) -> Result<Vec<String>, PlanError> {
    items(&open(file, text)?)
}

/// Edits the list, each path in the style of its neighbours; what is so already stays.
///
/// # Errors
/// [`PlanError::NotEditable`], and [`PlanError::NotListed`] for one that is to be replaced and is not there.
pub fn edit_components(
    file: &str,
    text: &str,
    change: &SetComponents,
) -> Result<(Plan, Vec<Note>), PlanError> {
    let mut document = open(file, text)?;
    let (mut written, mut notes) = (Vec::new(), Vec::new());
    for (old, new) in &change.replace {
        match (position(&document, old)?, position(&document, new)?) {
            (Some(at), None) => {
                document.set(&path().index(at), &Value::str(new)).map_err(not_editable)?;
                written.push((new.clone(), PlacementKind::Field));
            }
            (None, Some(_)) => {}
            (found, _) => return Err(not_replaced(&document, old, new, found.is_some())),
        }
    }
    for gone in &change.remove {
        match position(&document, gone)? {
            Some(at) => document.remove(&path().index(at)).map_err(not_editable)?,
            None => notes.push(not_there(gone)),
        }
    }
    for new in &change.add {
        if position(&document, new)?.is_none() {
            document.append(&path(), &Value::str(new)).map_err(not_editable)?;
            written.push((new.clone(), PlacementKind::NewEntry));
        }
    }
    let placements = written.into_iter().filter_map(|(new, kind)| placement(&document, &new, kind));
    let placements = placements.collect();
    let is_changed = document.text() != document.original();
    let texts = is_changed.then(|| (file.to_owned(), document.text().to_owned()));
    let edits = document.file_edit().into_iter().collect();
    Ok((Plan { edits, texts: texts.into_iter().collect(), placements }, notes))
}

/// The list that `change` makes of `list`: what the edited text has to hold.
#[must_use]
pub fn changed_components(list: &[String], change: &SetComponents) -> Vec<String> {
    let mut list = list.to_vec();
    for (old, new) in &change.replace {
        if let Some(item) = list.iter_mut().find(|item| same_path(item, old)) {
            item.clone_from(new);
        }
    }
    for gone in &change.remove {
        if let Some(at) = list.iter().position(|item| same_path(item, gone)) {
            list.remove(at);
        }
    }
    for new in &change.add {
        if !list.iter().any(|item| same_path(item, new)) {
            list.push(new.clone());
        }
    }
    list
}

fn path() -> Path {
    Path::kustomization().key(FIELD)
}

fn items(document: &Document) -> Result<Vec<String>, PlanError> {
    let tree = document.tree().map_err(not_editable)?;
    let Some(list) = document.find(&tree, &path()).map_err(not_editable)? else {
        return Ok(Vec::new());
    };
    let text = |id: &_| tree.node(tree.target(*id)).scalar().unwrap_or_default().to_owned();
    Ok(tree.items(list).iter().map(text).collect())
}

fn position(document: &Document, wanted: &str) -> Result<Option<usize>, PlanError> {
    Ok(items(document)?.iter().position(|item| same_path(item, wanted)))
}

/// Whether two references name one directory: without `.`, `x/..` and a `/` at the end.
fn same_path(a: &str, b: &str) -> bool {
    a == b || (!a.contains("://") && !b.contains("://") && folded(a) == folded(b))
}

fn folded(path: &str) -> Vec<&str> {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.last().is_some_and(|last| *last != "..") => _ = steps.pop(),
            step => steps.push(step),
        }
    }
    steps
}

fn not_there(path: &str) -> Note {
    let message = format!("{path} is not among the components, so there is nothing to take out");
    Note { code: "component-absent", message }
}

fn not_replaced(document: &Document, old: &str, new: &str, both: bool) -> PlanError {
    let reason = match both {
        true => format!("{old} cannot give its place to {new}: both are listed"),
        false => format!("neither {old} nor {new} is among the components"),
    };
    PlanError::NotListed { file: document.file().to_owned(), reason }
}

fn placement(document: &Document, new: &str, kind: PlacementKind) -> Option<Placement> {
    let at = position(document, new).ok()??;
    let line = document.locate(&path().index(at)).ok().flatten()?.line;
    Some(Placement { file: document.file().to_owned(), line, kind, what: format!("{FIELD}[{at}]") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, change: &SetComponents) -> String {
        let (plan, _) = edit_components("kustomization.yaml", text, change).unwrap();
        plan.texts.into_iter().next().map_or_else(|| text.to_owned(), |(_, text)| text)
    }

    #[test]
    fn the_list_is_edited_and_nothing_else() {
        let text = "resources: [../base] # ours\ncomponents:\n  - ../a # first\n  - ../b/\n\nnamespace: x\n";
        let change = SetComponents {
            add: vec!["../d".into()],
            remove: vec!["../b".into()],
            replace: vec![("../a".into(), "../c".into())],
            ..SetComponents::default()
        };
        let wanted = "resources: [../base] # ours\ncomponents:\n  - ../c # first\n  - ../d\n\nnamespace: x\n";
        assert_eq!(edited(text, &change), wanted);
        assert_eq!(edited(wanted, &change), wanted);
        assert_eq!(changed_components(&["../a".into(), "../b/".into()], &change), ["../c", "../d"]);
    }

    #[test]
    fn what_is_not_there_is_not_replaced() {
        let change =
            SetComponents { replace: vec![("x".into(), "y".into())], ..SetComponents::default() };
        let outcome = edit_components("k", "components: [z]\n", &change);
        assert!(matches!(outcome, Err(PlanError::NotListed { .. })));
    }
}
