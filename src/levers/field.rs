//! `set field`: any field of any rendered resource, and the type that a value typed by a person has.

use super::Resolved;
use super::error::{LeverError, LeverErrorKind};
use super::target::{find, shown};
use crate::change::{SetFields, Wish};
use crate::checks::context::Context;
use crate::kustomize::node::Tag;
use crate::kustomize::{FieldPath, FieldQueryError, Resource, Step, path_of_field};
use serde_json::Value as Json;

pub(super) fn resolve(change: &SetFields, context: &Context<'_>) -> Result<Resolved, LeverError> {
    let mut resolved = Resolved::default();
    let found = find(context, &change.name, |_| true, |_| unreachable_kind());
    let Some(resource) = resolved.keep(&shown(&change.name), found)? else { return Ok(resolved) };
    for (query, value) in &change.fields {
        let path = path_of_field(&resource.node, query).map_err(|e| no_field(resource, &e))?;
        check_identity(resource, &path)?;
        check_text(resource, &path, value.as_ref())?;
        let value = value.as_ref().map(|value| typed(resource, &path, value));
        resolved.wishes.push(Wish { resource: resource.current_id(), path, value });
    }
    Ok(resolved)
}

fn unreachable_kind() -> LeverError {
    LeverError::new(LeverErrorKind::WrongKind, "no field of this kind is set")
}

fn no_field(resource: &Resource, error: &FieldQueryError) -> LeverError {
    let message = format!("{}/{}: {error}", resource.kind(), resource.name());
    let kind = match error {
        FieldQueryError::Malformed { .. } => LeverErrorKind::Malformed,
        FieldQueryError::Missing { .. } => LeverErrorKind::NoSuchField,
    };
    LeverError::new(kind, message)
}

/// What names a resource makes it another one.
fn check_identity(resource: &Resource, path: &FieldPath) -> Result<(), LeverError> {
    let identity =
        [&["apiVersion"][..], &["kind"], &["metadata", "name"], &["metadata", "namespace"]];
    if identity.iter().any(|keys| *path == FieldPath::of_keys(keys)) {
        let message = format!(
            "{}/{}: {path} says which resource it is, and no field of it",
            resource.kind(),
            resource.name()
        );
        return Err(LeverError::new(LeverErrorKind::NotAllowed, message));
    }
    Ok(())
}

/// Kustomize fails on some control characters and a terminal obeys others: none is written, line breaks and tabs apart.
fn check_text(
    resource: &Resource,
    path: &FieldPath,
    value: Option<&Json>,
) -> Result<(), LeverError> {
    let text = value.and_then(Json::as_str).unwrap_or_default();
    let Some(control) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) else {
        return Ok(());
    };
    let (kind, name, code) = (resource.kind(), resource.name(), u32::from(control));
    let message = format!("{kind}/{name}: {path} would hold the control character U+{code:04X}");
    Err(LeverError::new(LeverErrorKind::NotAllowed, message))
}

/// The value in the type of the field: that of the value rendered today; text where Kubernetes takes
/// nothing else; else what YAML reads.
fn typed(resource: &Resource, path: &FieldPath, value: &Json) -> Json {
    let now = path.find(&resource.node).and_then(|node| node.as_scalar());
    let is_text_today =
        now.is_some_and(|s| !matches!(s.tag, Tag::Null | Tag::Bool | Tag::Int | Tag::Float));
    match value {
        Json::Number(_) | Json::Bool(_) if is_text_today && !is_int_or_percent(path) => {
            value.to_string().into()
        }
        Json::Number(_) | Json::Bool(_) if takes_text(resource, path) => value.to_string().into(),
        other => other.clone(),
    }
}

/// Fields that hold a number or a share: a number typed there is one, whatever stands there today.
fn is_int_or_percent(path: &FieldPath) -> bool {
    let names = ["maxSurge", "maxUnavailable", "minAvailable", "port", "targetPort"];
    matches!(path.steps().last(), Some(Step::Key(key)) if names.contains(&&**key))
}

/// Fields that are texts by their schema: labels, annotations, data, variables, arguments, quantities.
fn takes_text(resource: &Resource, path: &FieldPath) -> bool {
    let keys: Vec<&str> = path
        .steps()
        .iter()
        .filter_map(|step| match step {
            Step::Key(key) => Some(&**key),
            _ => None,
        })
        .collect();
    let above = keys.len().checked_sub(2).map(|i| keys[i]);
    let is_below = |names: &[&str]| above.is_some_and(|above| names.contains(&above));
    let is_data =
        matches!(resource.kind(), "ConfigMap" | "Secret") && keys.first() != Some(&"metadata");
    let is_word = matches!(path.steps().last(), Some(Step::Index(_)))
        && matches!(keys.last(), Some(&"args" | &"command"));
    let is_variable = keys.last() == Some(&"value") && is_below(&["env"]);
    is_data
        || is_word
        || is_variable
        || is_below(&["labels", "annotations", "matchLabels", "nodeSelector", "requests", "limits"])
}
