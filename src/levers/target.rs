//! From a name, or a choice among all, to rendered resources.

use super::Resolved;
use super::error::{LeverError, LeverErrorKind};
use crate::change::{Among, Group, Groups};
use crate::checks::context::Context;
use crate::checks::model::workload::Workload;
use crate::hint;
use crate::kustomize::types::{Located, Selector};
use crate::kustomize::{Resource, ResourceId, ResourceName, find_targets, shown_name};

/// How many names an error lists.
const MOST_NAMES: usize = 8;

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
            let advice = question.or_else(|| those_there(&ids));
            Err(advice.into_iter().fold(error, LeverError::hint))
        }
        (several, _) => Err(ambiguous(name, several)),
    }
}

/// What the command can act on, where no name is near the one that was typed.
fn those_there(ids: &[ResourceId]) -> Option<String> {
    let shown: Vec<String> =
        ids.iter().take(MOST_NAMES).map(|id| format!("{}/{}", id.kind, id.name)).collect();
    match ids.len().saturating_sub(MOST_NAMES) {
        0 if shown.is_empty() => None,
        0 => Some(format!("there are: {}", shown.join(", "))),
        more => Some(format!("there are: {} and {more} more", shown.join(", "))),
    }
}

fn ambiguous(name: &ResourceName, several: &[&Resource]) -> LeverError {
    let names: Vec<String> = several.iter().map(|r| candidate(r)).collect();
    let message = format!("{} may be {}", shown(name), names.join(" or "));
    LeverError::new(LeverErrorKind::Ambiguous, message).hint("write KIND/NAME")
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

/// What a choice among all workloads comes to in one overlay.
pub(super) struct Chosen<'c, 'a> {
    workloads: Vec<&'c Workload<'a>>,
    /// Names of the group that nothing here has.
    absent: Vec<String>,
    /// The choice in words, and what to say where it is of none.
    none: (String, LeverError),
}

impl<'c, 'a> Chosen<'c, 'a> {
    /// The workloads, counted in `resolved`; where there are none another overlay may have some.
    pub(super) fn keep(self, resolved: &mut Resolved) -> Vec<&'c Workload<'a>> {
        if self.workloads.is_empty() {
            resolved.unmatched.push(self.none);
        } else if !self.absent.is_empty() {
            let message = format!("not rendered here: {}", self.absent.join(", "));
            resolved.note("group-absent", message);
        }
        resolved.matched += self.workloads.len();
        self.workloads
    }
}

/// The workloads of a choice.
///
/// # Errors
/// A group that the repository has not, or one of whose names several workloads have.
pub(super) fn among<'c, 'a>(
    context: &'c Context<'a>,
    among: &Among,
    groups: &Groups,
    acts: fn(&Workload<'a>) -> bool,
) -> Result<Chosen<'c, 'a>, LeverError> {
    let mut workloads: Vec<&Workload<'a>> = context.workloads.iter().filter(|w| acts(w)).collect();
    let mut absent = Vec::new();
    let mut words = Vec::new();
    if let Some(name) = &among.group {
        let group = groups.get(name).ok_or_else(|| no_such_group(name, groups))?;
        (workloads, absent) = of_group(context, group, &workloads)?;
        words.push(format!("the group {name}"));
    }
    if let Some(text) = &among.selector {
        workloads = selected(context, text, &workloads)?;
        words.push(text.clone());
    }
    let words = if words.is_empty() { "the overlay".to_owned() } else { words.join(" and ") };
    let message = format!("{}: no workload is chosen by {words}", context.shown());
    let none = (words, LeverError::new(LeverErrorKind::NoSuchResource, message));
    Ok(Chosen { workloads, absent, none })
}

fn selected<'c, 'a>(
    context: &Context<'a>,
    selector: &str,
    workloads: &[&'c Workload<'a>],
) -> Result<Vec<&'c Workload<'a>>, LeverError> {
    let malformed = |message: String| LeverError::new(LeverErrorKind::Malformed, message);
    if selector.trim().is_empty() {
        let error =
            malformed("the label selector is empty, and would choose everything".to_owned());
        return Err(error.hint("write it as app=web,tier in (a, b)"));
    }
    let label_selector = Located { text: selector.into(), ..Located::default() };
    let selector = Selector { label_selector, ..Selector::default() };
    let selected = find_targets(&selector, &context.overlay.rendered.resources)
        .map_err(|error| malformed(error.to_string()))?;
    let is_selected = |workload: &&&Workload<'a>| {
        selected.iter().any(|r| r.current_id() == workload.resource.current_id())
    };
    Ok(workloads.iter().filter(is_selected).copied().collect())
}

/// Those of `workloads` that the group names or selects, and the names that none of them has.
fn of_group<'c, 'a>(
    context: &Context<'a>,
    group: &Group,
    workloads: &[&'c Workload<'a>],
) -> Result<(Vec<&'c Workload<'a>>, Vec<String>), LeverError> {
    let mut chosen = match &group.selector {
        Some(selector) => selected(context, selector, workloads)?,
        None => Vec::new(),
    };
    let mut absent = Vec::new();
    for name in &group.names {
        let is_named = |w: &&&Workload<'a>| name.is_name_of(&w.resource.current_id());
        let named: Vec<&Workload<'a>> = workloads.iter().filter(is_named).copied().collect();
        match named.as_slice() {
            [] => absent.push(shown(name)),
            [one] if chosen.iter().any(|w| std::ptr::eq(*w, *one)) => {}
            [one] => chosen.push(one),
            several => {
                let resources: Vec<&Resource> = several.iter().map(|w| w.resource).collect();
                return Err(ambiguous(name, &resources));
            }
        }
    }
    Ok((chosen, absent))
}

fn no_such_group(name: &str, groups: &Groups) -> LeverError {
    let known: Vec<&str> = groups.keys().map(String::as_str).collect();
    let message = match known.as_slice() {
        [] => format!("there is no group {name}: the repository's .overlay.yaml has none"),
        known => format!("there is no group {name}; there are {}", known.join(", ")),
    };
    let error = LeverError::new(LeverErrorKind::NoSuchGroup, message);
    hint::did_you_mean(name, known).into_iter().fold(error, LeverError::hint)
}
