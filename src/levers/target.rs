//! From a name, or a choice among all, to rendered resources.

use super::error::{LeverError, LeverErrorKind};
use crate::change::Among;
use crate::checks::context::Context;
use crate::checks::model::workload::Workload;
use crate::hint;
use crate::kustomize::types::{Located, Selector};
use crate::kustomize::{Resource, ResourceName, select_targets, shown_name};

/// The name as a person writes it.
pub(super) fn shown(name: &ResourceName) -> String {
    let kind = match (&name.kind, &name.group) {
        (Some(kind), Some(group)) => format!("{kind}.{group}/"),
        (Some(kind), None) => format!("{kind}/"),
        _ => String::new(),
    };
    format!("{kind}{}", name.name)
}

/// The one resource of that name that the command can act on.
///
/// # Errors
/// None, several, or one of another kind: `other` says why that is not acted on.
pub(super) fn find<'a>(
    context: &Context<'a>,
    name: &ResourceName,
    acts: impl Fn(&Resource) -> bool,
    other: impl Fn(&Resource) -> LeverError,
) -> Result<&'a Resource, LeverError> {
    let resources: &'a [Resource] = &context.overlay.rendered.resources;
    let named = name.find(resources);
    let fitting: Vec<&'a Resource> = named.iter().copied().filter(|r| acts(r)).collect();
    match (fitting.as_slice(), named.first()) {
        ([one], _) => Ok(one),
        ([], Some(first)) => Err(other(first)),
        ([], None) => {
            let ids: Vec<_> =
                resources.iter().filter(|r| acts(r)).map(Resource::current_id).collect();
            let names: Vec<String> = match &name.kind {
                Some(_) => ids.iter().map(|id| format!("{}/{}", id.kind, id.name)).collect(),
                None => ids.iter().map(|id| id.name.to_string()).collect(),
            };
            let typed = shown(name);
            let message = format!("{}: the overlay renders no {typed}", context.shown());
            let error = LeverError::new(LeverErrorKind::NoSuchResource, message);
            let question = hint::did_you_mean(&typed, names.iter().map(String::as_str));
            Err(question.into_iter().fold(error, LeverError::hint))
        }
        (several, _) => {
            let names: Vec<String> = several.iter().map(|r| candidate(r)).collect();
            let message = format!("{} may be {}", shown(name), names.join(" or "));
            let error = LeverError::new(LeverErrorKind::Ambiguous, message);
            Err(error.hint("write KIND/NAME"))
        }
    }
}

fn candidate(resource: &Resource) -> String {
    let id = resource.current_id();
    match &*id.namespace {
        "" => shown_name(&id),
        namespace => format!("{} (namespace {namespace})", shown_name(&id)),
    }
}

/// The workload that `resource` is.
pub(super) fn workload_of<'c, 'a>(
    context: &'c Context<'a>,
    resource: &Resource,
) -> Option<&'c Workload<'a>> {
    let id = resource.current_id();
    context.workloads.iter().find(|workload| workload.resource.current_id() == id)
}

/// The workloads of a choice.
///
/// # Errors
/// Where the choice is of none.
pub(super) fn among<'c, 'a>(
    context: &'c Context<'a>,
    among: &Among,
    acts: impl Fn(&Workload<'a>) -> bool,
) -> Result<Vec<&'c Workload<'a>>, LeverError> {
    let mut chosen: Vec<&Workload<'a>> = context.workloads.iter().filter(|w| acts(w)).collect();
    if let Some(text) = &among.selector {
        let label_selector = Located { text: text.as_str().into(), ..Located::default() };
        let selector = Selector { label_selector, ..Selector::default() };
        let selected = select_targets(&selector, &context.overlay.rendered.resources);
        let is_selected = |workload: &&Workload<'a>| {
            selected.iter().any(|r| r.current_id() == workload.resource.current_id())
        };
        chosen.retain(is_selected);
    }
    if chosen.is_empty() {
        let what = among.selector.as_deref().unwrap_or("the overlay");
        let message = format!("{}: no workload is chosen by {what}", context.shown());
        return Err(LeverError::new(LeverErrorKind::NoSuchResource, message));
    }
    Ok(chosen)
}
