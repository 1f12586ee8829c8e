//! `overlay show`: the effective value of a field, who owns it, and what it overrides.

use std::ffi::OsString;

use serde_json::json;

use super::Context;
use super::input::hint_for_directory;
use super::overlay::LoadedOverlay;
use super::preflight::Editable;
use super::version::Version;
use crate::error::{Error, codes};
use crate::hint;
use crate::kustomize::node::{Node, Value};
use crate::kustomize::{
    self, FieldPath, FieldQueryError, Owner, Rendered, Resource, ResourceName, SourceTree,
    query_field, shown_name,
};
use crate::plan;
use crate::report::Report;
use crate::report::look::{Shadowed, ShownField};
use crate::verify::node_to_json;

/// What the user asks of `overlay show`.
#[derive(Clone, Debug)]
pub struct ShowRequest {
    /// The overlay.
    pub overlay: OsString,
    /// `[KIND[.GROUP]/]NAME`.
    pub name: String,
    /// The field; `None` for the whole resource.
    pub field: Option<String>,
}

/// The value of the field, or the whole resource.
///
/// # Errors
/// Where the overlay does not build, or the name or the field is not there.
pub fn run(context: &Context, request: &ShowRequest) -> Result<Report, Error> {
    let (files, located) = context.locate(std::slice::from_ref(&request.overlay))?;
    let malformed = || {
        let message = format!("`{}` is no name: write NAME or KIND/NAME", request.name);
        Error::new(codes::USAGE, message)
    };
    let name = ResourceName::parse(&request.name).ok_or_else(malformed)?;
    let version = Version::new(context, &files);
    let shown = context.for_each_of(&located, |located| {
        let overlay = Editable::of_version(&version, located.clone())?;
        let overlay = LoadedOverlay::load(&files, &overlay, context)?;
        shown_field(context, &overlay, &name, request)
    })?;
    Ok(report(&shown))
}

/// The field in one overlay.
fn shown_field(
    context: &Context,
    overlay: &LoadedOverlay<'_>,
    name: &ResourceName,
    request: &ShowRequest,
) -> Result<ShownField, Error> {
    let rendered = &overlay.before;
    let field = request.field.as_deref().unwrap_or_default();
    let resource = one_resource(name, request, &rendered.resources)
        .map_err(|error| hint_for_directory(&context.cwd, &request.name, error))?;
    let (path, node) =
        query_field(&resource.node, field).map_err(|error| field_error(&request.name, error))?;
    let decided_by = overlay.owner_of(node.origin);
    Ok(ShownField {
        overlay: overlay.path.clone(),
        resource: resource.current_id(),
        path: path.to_string(),
        value: node_to_json(node),
        text: shown_value(rendered, resource, field, node)?,
        shadowed: shadowed(context, overlay, resource, (field, &path), decided_by.as_ref()),
        decided_by,
    })
}

/// A resource as YAML, a scalar as its text, any other value as JSON.
fn shown_value(
    rendered: &Rendered,
    resource: &Resource,
    field: &str,
    node: &Node,
) -> Result<String, Error> {
    if field.is_empty() {
        let id = resource.current_id();
        let mut one = rendered.clone();
        one.resources.retain(|other| other.current_id() == id);
        return Ok(one.to_yaml()?);
    }
    Ok(match &node.value {
        Value::Scalar(scalar) => format!("{}\n", scalar.text),
        _ => format!("{:#}\n", node_to_json(node)),
    })
}

fn report(shown: &[ShownField]) -> Report {
    let overlays: Vec<_> = shown.iter().map(ShownField::to_json).collect();
    let mut result = json!({ "overlays": overlays });
    let mut text = crate::report::Text::default();
    for field in shown {
        text.append(field.to_text());
    }
    if let [one] = &overlays[..] {
        for key in ["value", "decidedBy", "shadowed"] {
            result[key] = one[key].clone();
        }
    }
    Report::unchanged("show", result, text)
}

/// The one resource of that name, or the one of several that has the field.
fn one_resource<'a>(
    name: &ResourceName,
    request: &ShowRequest,
    resources: &'a [Resource],
) -> Result<&'a Resource, Error> {
    let typed = &request.name;
    let found = name.find(resources);
    let field = request.field.as_deref().unwrap_or_default();
    let has_field = |resource: &&&Resource| query_field(&resource.node, field).is_ok();
    let with_field: Vec<_> = found.iter().filter(has_field).collect();
    match &found[..] {
        [one] => Ok(one),
        [_, _, ..] if with_field.len() == 1 => Ok(with_field[0]),
        [_, _, ..] if with_field.is_empty() => Err(no_such_field(&found, typed, field)),
        [] => {
            let message = format!("the overlay renders no {typed}");
            let plain = Error::new(codes::NO_SUCH_RESOURCE, message);
            Err(nearest_resource(name, typed, resources).into_iter().fold(plain, Error::hint))
        }
        several => {
            let names: Vec<String> = several.iter().map(|r| candidate(r)).collect();
            let message = format!("{typed} may be {}", names.join(" or "));
            Err(Error::new(codes::AMBIGUOUS_NAME, message).hint("write KIND/NAME"))
        }
    }
}

/// Those of the same name with another kind, else those whose names are near.
fn nearest_resource(name: &ResourceName, typed: &str, resources: &[Resource]) -> Option<String> {
    let all: Vec<_> = resources.iter().map(Resource::current_id).collect();
    let typed_kind = name.kind.as_deref().unwrap_or_default().to_lowercase();
    let same = all.iter().filter(|id| *id.name == *name.name && name.kind.is_some());
    let mut same: Vec<_> = same.collect();
    same.sort_by_key(|id| !id.kind.to_lowercase().starts_with(&typed_kind));
    let same: Vec<String> = same.into_iter().take(3).map(shown_name).collect();
    let names: Vec<String> = match name.kind {
        Some(_) => all.iter().map(shown_name).collect(),
        None => all.iter().map(|id| id.name.to_string()).collect(),
    };
    let near = || hint::did_you_mean(typed, names.iter().map(String::as_str));
    hint::question(&same).or_else(near)
}

/// None of several resources of one name has the field: the error of the one with the nearest field, else of the one
/// that it leads furthest into.
fn no_such_field(found: &[&Resource], typed: &str, field: &str) -> Error {
    let error = |resource: &&Resource| query_field(&resource.node, field).err();
    let depth = |error: &FieldQueryError| match error {
        FieldQueryError::Missing { parent, .. } if parent != "the resource" => {
            1 + parent.matches('.').count()
        }
        _ => 0,
    };
    let errors = found.iter().filter_map(error);
    let mut errors: Vec<(usize, Error)> =
        errors.map(|error| (depth(&error), field_error(typed, error))).collect();
    let asks = |error: &Error| error.hints().iter().any(|hint| hint.starts_with("did you mean"));
    // Of equals the first.
    errors.sort_by_key(|(depth, error)| (!asks(error), std::cmp::Reverse(*depth)));
    errors.swap_remove(0).1
}

fn candidate(resource: &Resource) -> String {
    let id = resource.current_id();
    match &*id.namespace {
        "" => shown_name(&id),
        namespace => format!("{} (namespace {namespace})", shown_name(&id)),
    }
}

fn field_error(name: &str, error: FieldQueryError) -> Error {
    let message = format!("{name}: {error}");
    match error {
        FieldQueryError::Malformed { field } => {
            let plain = Error::new(codes::USAGE, message);
            let bare = field.strip_prefix('.').filter(|bare| !bare.is_empty());
            bare.into_iter().fold(plain, |error, bare| error.hint(format!("write {bare}")))
        }
        FieldQueryError::Misfit { .. } => Error::new(codes::NO_SUCH_FIELD, message),
        FieldQueryError::Missing { missing, candidates, .. } => {
            let plain = Error::new(codes::NO_SUCH_FIELD, message);
            let names = || candidates.iter().map(String::as_str);
            let begins = format!("{missing}.");
            if let Some(dotted) = names().find(|name| name.starts_with(&begins)) {
                return plain.hint(format!("a key with dots is written in brackets: [{dotted}]"));
            }
            match hint::did_you_mean(&missing, names()) {
                Some(suggestion) => plain.hint(suggestion),
                None if candidates.is_empty() => plain,
                None => {
                    let some: Vec<&str> = names().take(10).collect();
                    plain.hint(format!("there are: {}", some.join(", ")))
                }
            }
        }
    }
}

/// The statements of the same field that are not in force: others of the overlay itself, those of each layer below, and
/// that of the file where the resource stands.
fn shadowed(
    context: &Context,
    overlay: &LoadedOverlay<'_>,
    resource: &Resource,
    (field, path): (&str, &FieldPath),
    decided_by: Option<&Owner>,
) -> Vec<Shadowed> {
    let mut found: Vec<Shadowed> = Vec::new();
    if field.is_empty() || decided_by.is_none() {
        return found;
    }
    let mut add = |statement: Shadowed| {
        let place = |owner: &Owner| (owner.file.clone(), owner.line);
        let is_new = |other: &Owner| place(other) != place(&statement.owner);
        if decided_by.is_none_or(is_new) && found.iter().all(|other| is_new(&other.owner)) {
            found.push(statement);
        }
    };
    let tree = overlay.tree();
    let own = plan::own_statements(&overlay.ground(), &overlay.before, resource, path);
    for stated in own {
        let kind = kustomize::statement_kind(tree, &stated.file, stated.line);
        let owner = Owner { file: stated.file, line: stated.line, kind };
        add(Shadowed { owner, value: stated.value });
    }
    for layer in layers_below(tree, tree.overlay()) {
        if let Ok(Ok(rendered)) = context.build(tree, &layer) {
            stated_in(tree, &rendered, resource, field).into_iter().for_each(&mut add);
        }
    }
    stated_in_file(tree, resource, field).into_iter().for_each(&mut add);
    found
}

/// The directories that `overlay` builds on, the nearest first; components, which are built on nothing, are left out.
fn layers_below(tree: &SourceTree, overlay: &str) -> Vec<String> {
    let mut layers: Vec<String> = vec![overlay.to_owned()];
    let mut next = 0;
    while let Some(directory) = layers.get(next).cloned() {
        next += 1;
        let Some(read) = tree.kustomization(&directory) else { continue };
        for reference in read.kustomization.resources.iter().chain(&read.kustomization.bases) {
            let below = tree.directory_from(&directory, reference).map(str::to_owned);
            layers.extend(below.filter(|below| !layers.contains(below)));
        }
    }
    layers.remove(0);
    layers
}

fn stated_in(
    tree: &SourceTree,
    rendered: &Rendered,
    resource: &Resource,
    field: &str,
) -> Option<Shadowed> {
    let ids = resource.all_ids();
    let is_it = |other: &&Resource| {
        let other = other.current_id();
        ids.iter().any(|id| id.kind == other.kind && id.name == other.name)
    };
    let layer = rendered.resources.iter().find(is_it)?;
    let (_, node) = query_field(&layer.node, field).ok()?;
    let owner = kustomize::owner_of(tree, rendered, node.origin)?;
    Some(Shadowed { owner, value: node_to_json(node) })
}

/// What the file that the resource was read from says.
fn stated_in_file(tree: &SourceTree, resource: &Resource, field: &str) -> Option<Shadowed> {
    let (file, node) = tree.source_of(resource)?;
    let (_, node) = query_field(&node, field).ok()?;
    let line = node.origin.line;
    let kind = kustomize::statement_kind(tree, file, line);
    let owner = Owner { file: file.to_owned(), line, kind };
    Some(Shadowed { owner, value: node_to_json(node) })
}
