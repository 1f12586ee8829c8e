//! Fields of one resource as they were: each becomes a change of fields, placed and proven like any other.

use super::then::Then;
use super::{Ground, Restoration, guards, note};
use crate::change::{Change, SetFields};
use crate::error::{Error, codes};
use crate::kustomize::{Resource, ResourceName, path_of_field, shown_name};
use crate::ops::change::prove_change;
use crate::ops::preflight::Editable;
use crate::report::change::Status;
use crate::verify::{compare_objects, node_to_json};

/// Sets the fields to what they were.
pub(super) fn restore(
    ground: &Ground<'_>,
    editable: &Editable,
    then: &Then,
    name: &ResourceName,
    paths: &[String],
) -> Result<Restoration, Error> {
    let Some(resource) = find(ground, then, name)? else {
        let mut report = ground.report(editable, &[]);
        report.status = Status::Unaffected;
        let message =
            format!("{} was not rendered at {}, and stays as it is", name.name, then.shown);
        report.notes.push(note("absent-then", message));
        return Ok((report, Vec::new()));
    };
    let value = |query: &String| {
        let path = path_of_field(&resource.node, query);
        let path = path.map_err(|error| Error::new(codes::FIELD_UNREACHABLE, error.to_string()))?;
        Ok((query.clone(), path.find(&resource.node).map(node_to_json)))
    };
    let fields = paths.iter().map(value).collect::<Result<Vec<_>, Error>>()?;
    let change = Change::SetFields(SetFields { name: name.clone(), fields });
    let one = std::slice::from_ref(editable);
    let mut proven = prove_change(ground.context, ground.files, one, &change)?;
    let mut report = proven.overlays.swap_remove(0);
    let replaced = proven.texts.iter().map(|text| (text.path.clone(), text.after.clone()));
    let replaced = crate::kustomize::ReplacedFiles::new(ground.files, replaced);
    let tree = ground.context.load(&replaced, editable.tree.overlay())?;
    let after = ground.render(&tree)?.resources;
    let before = ground.render(&editable.tree)?.resources;
    let objects = compare_objects(&before, &after);
    report.notes.extend(guards::check(ground.context, ground.revert, &before, &after, &objects)?);
    Ok((report, proven.texts))
}

/// The resource then; `None` where it was not there and may be missing.
fn find<'t>(
    ground: &Ground<'_>,
    then: &'t Then,
    name: &ResourceName,
) -> Result<Option<&'t Resource>, Error> {
    match &name.find(&then.rendered()?.resources)[..] {
        [one] => Ok(Some(one)),
        [] if ground.revert.allow_missing => Ok(None),
        [] => {
            let message = format!("{} was not rendered at {}", name.name, then.shown);
            Err(Error::new(codes::ENTRIES_DIFFER, message)
                .hint("--allow-missing leaves it as it is"))
        }
        several => {
            let names: Vec<String> =
                several.iter().map(|resource| shown_name(&resource.current_id())).collect();
            let message = format!("{} names {}", name.name, names.join(" and "));
            Err(Error::new(codes::AMBIGUOUS_NAME, message).hint("write it as KIND/NAME"))
        }
    }
}
