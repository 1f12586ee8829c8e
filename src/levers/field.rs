//! `set field`: any field of any rendered resource, and the type that a value typed by a person has.

use super::Resolved;
use super::error::{LeverError, LeverErrorKind};
use super::target::{find, shown};
use crate::change::{SetFields, Wish};
use crate::checks::context::Context;
use crate::checks::model::quantity::parse_quantity;
use crate::kustomize::node::Tag;
use crate::kustomize::{
    FieldPath, FieldQueryError, Resource, Shape, Step, path_of_field, shape_at,
};
use serde_json::Value as Json;

pub(super) fn resolve(change: &SetFields, context: &Context<'_>) -> Result<Resolved, LeverError> {
    let mut resolved = Resolved::default();
    let found = find(context, &change.name, |_| true, |_| unreachable_kind());
    let Some(resource) = resolved.keep(&shown(&change.name), found)? else { return Ok(resolved) };
    for (query, value) in &change.fields {
        let path = path_of_field(&resource.node, query).map_err(|e| no_field(resource, &e))?;
        check_identity(resource, &path)?;
        check_text(resource, &path, value.as_ref())?;
        let typed = |value| typed(resource, &path, value);
        let value = value.as_ref().map(typed).transpose()?;
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
        FieldQueryError::Missing { .. } | FieldQueryError::Misfit { .. } => {
            LeverErrorKind::NoSuchField
        }
    };
    let plain = LeverError::new(kind, message);
    match error {
        FieldQueryError::Misfit { shape: "a list", .. } => plain.hint(WHOLE_LIST),
        FieldQueryError::Missing { candidates, .. } if candidates.is_empty() => {
            plain.hint("a key with dots is written in brackets: [a.b/c]")
        }
        _ => plain,
    }
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

/// How a list is given as a whole.
const WHOLE_LIST: &str = "a whole list is written as JSON: PATH='[\"a\",\"b\"]'";

/// The value in the type of the field: that which Kubernetes' own schema says; where it does not say one that
/// of the value rendered today; text where custom resources take nothing else; else what YAML reads.
fn typed(resource: &Resource, path: &FieldPath, value: &Json) -> Result<Json, LeverError> {
    if let Some(shape) = shape_at(&resource.node, path) {
        return fitted(shape, value).ok_or(()).or_else(|()| {
            let is_left = is_filled_in_later(value) || !is_of_shape_today(resource, path, shape);
            if is_left { Ok(value.clone()) } else { Err(misfit(resource, path, shape, value)) }
        });
    }
    let now = path.find(&resource.node).and_then(|node| node.as_scalar());
    let is_text_today =
        now.is_some_and(|s| !matches!(s.tag, Tag::Null | Tag::Bool | Tag::Int | Tag::Float));
    Ok(match value {
        Json::Number(_) | Json::Bool(_) if is_text_today && !is_int_or_percent(path) => {
            value.to_string().into()
        }
        Json::Number(_) | Json::Bool(_) if takes_text(resource, path) => value.to_string().into(),
        other => other.clone(),
    })
}

/// The value as a field of this shape holds it; `None` where it holds no such value.
fn fitted(shape: &Shape, value: &Json) -> Option<Json> {
    let text = value.as_str();
    match (shape, value) {
        (_, Json::Null) | (Shape::Any, _) => Some(value.clone()),
        (Shape::Text | Shape::Quantity, Json::Number(_)) | (Shape::Text, Json::Bool(_)) => {
            Some(value.to_string().into())
        }
        (Shape::Quantity, _) => text.filter(|t| parse_quantity(t).is_some()).map(Json::from),
        (Shape::Text, _) => text.map(Json::from),
        (Shape::Whole, _) => value.as_i64().map(Json::from),
        (Shape::WholeOrText, _) => (value.is_i64() || text.is_some()).then(|| value.clone()),
        (Shape::Truth, _) => value.as_bool().map(Json::from),
        (Shape::List(_), Json::Array(items)) => fitted_items(shape, items),
        (Shape::List(_), _) => match serde_json::from_str(text?) {
            Ok(Json::Array(items)) => fitted_items(shape, &items),
            _ => None,
        },
        (Shape::Map(_) | Shape::Object(_), _) => value.is_object().then(|| value.clone()),
    }
}

fn fitted_items(list: &Shape, items: &[Json]) -> Option<Json> {
    let fit =
        |item: &Json| list.item().map_or_else(|| Some(item.clone()), |shape| fitted(shape, item));
    items.iter().map(fit).collect::<Option<Vec<_>>>().map(Json::from)
}

/// What another program puts something in place of after the build, as Flux does for `${NAME}`.
fn is_filled_in_later(value: &Json) -> bool {
    value.as_str().is_some_and(|text| text.contains("${"))
}

/// Whether what is rendered today is what the schema says; where it is not, something else reads the field.
fn is_of_shape_today(resource: &Resource, path: &FieldPath, shape: &Shape) -> bool {
    let Some(now) = path.find(&resource.node).and_then(|node| node.as_scalar()) else {
        return true;
    };
    match shape {
        _ if now.tag == Tag::Null => true,
        Shape::Whole => now.tag == Tag::Int,
        Shape::Truth => now.tag == Tag::Bool,
        Shape::Quantity => parse_quantity(&now.text).is_some(),
        Shape::List(_) | Shape::Map(_) | Shape::Object(_) => false,
        _ => true,
    }
}

fn misfit(resource: &Resource, path: &FieldPath, shape: &Shape, value: &Json) -> LeverError {
    let given = match resource.current_id().is_secret() {
        true => "the value given is not".to_owned(),
        false => format!("{value} is not"),
    };
    let (kind, name) = (resource.kind(), resource.name());
    let message = format!("{kind}/{name}: {path} is {}, and {given}", shape.words());
    let error = LeverError::new(LeverErrorKind::NotAllowed, message);
    match shape {
        Shape::List(_) => error.hint(WHOLE_LIST),
        Shape::Map(_) | Shape::Object(_) => error.hint("set the fields below it: PATH.FIELD=VALUE"),
        _ => error,
    }
}

/// Fields that hold a number or a share: a number typed there is one, whatever stands there today.
fn is_int_or_percent(path: &FieldPath) -> bool {
    let names = ["maxSurge", "maxUnavailable", "minAvailable", "port", "targetPort"];
    matches!(path.steps().last(), Some(Step::Key(key)) if names.contains(&&**key))
}

/// Fields that are texts in custom resources as they are in Kubernetes' own kinds: labels, annotations, data, variables, arguments, quantities.
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
    let is_setting = keys.starts_with(&["spec", "postgresql", "parameters"]);
    let is_variable = keys.last() == Some(&"value") && is_below(&["env"]);
    is_data
        || is_word
        || is_variable
        || is_setting
        || is_below(&["labels", "annotations", "matchLabels", "nodeSelector", "requests", "limits"])
}
