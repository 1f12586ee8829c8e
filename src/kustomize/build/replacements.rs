//! Replacements: values copied from one field of one resource to fields of others.
//!
//! Source: kustomize `api/filters/replacement`, `api/internal/builtins/ReplacementTransformer.go`.

use super::context::Context;
use super::lookup::{lookup, split_path};
use super::path_matcher::{MadeKind, PathMatcher};
use super::selector::SelectorRegex;
use super::shared_values::settle;
use super::structured_data;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Node, Text, Value};
use crate::kustomize::origin::Origin;
use crate::kustomize::read;
use crate::kustomize::resmap::ResMap;
use crate::kustomize::resource::{Resource, ResourceId};
use crate::kustomize::types::decode::{Decode, Path};
use crate::kustomize::types::{FieldOptions, ReplacementField, SourceSelector, TargetSelector};

const DEFAULT_FIELD_PATH: &str = "metadata.name";

/// Applies `replacements` in order; entries with a path stand for those in the file.
///
/// # Errors
/// [`BuildErrorKind::Transformer`] for a source that is not there or not the only one, for a target
/// field that is not there and not to be made, and for options that do not fit.
pub(crate) fn replace(
    resmap: &mut ResMap,
    replacements: &[ReplacementField],
    context: &Context<'_>,
) -> Result<(), BuildError> {
    for replacement in load(replacements, context)? {
        replace_one(resmap.resources_mut(), &replacement)?;
    }
    // A replacement may have made two resources one.
    for resource in std::mem::take(resmap).into_resources() {
        if !resource.node.is_nil_or_empty() {
            resmap.append(resource)?;
        }
    }
    Ok(())
}

fn refuse(message: impl Into<String>, origin: Origin) -> BuildError {
    BuildError::new(BuildErrorKind::Transformer, message.into()).at(origin)
}

/// The replacements themselves, those from files included.
fn load(
    fields: &[ReplacementField],
    context: &Context<'_>,
) -> Result<Vec<ReplacementField>, BuildError> {
    let mut loaded = Vec::with_capacity(fields.len());
    for field in fields {
        if field.path.is_empty() {
            loaded.push(field.clone());
            continue;
        }
        if field.source.is_some() || !field.targets.is_empty() {
            let message = "a replacement has either a path or a source and targets, not both";
            return Err(refuse(message, field.origin));
        }
        let node = read::configuration(context.loader.load(&field.path)?)?;
        match &node.value {
            Value::Seq(_) => loaded.append(&mut Vec::decode(&node, &Path::LenientRoot)?),
            Value::Map(_) => loaded.push(ReplacementField::decode(&node, &Path::LenientRoot)?),
            Value::Scalar(_) => {
                let message = "a file of replacements must hold an object or a list of them";
                return Err(refuse(message, node.origin));
            }
        }
    }
    Ok(loaded)
}

fn replace_one(
    resources: &mut [Resource],
    replacement: &ReplacementField,
) -> Result<(), BuildError> {
    let has_source = replacement.source.is_some() || replacement.source_value.is_some();
    if !has_source || replacement.targets.is_empty() {
        let message = "a replacement must have a source and at least one target";
        return Err(refuse(message, replacement.origin));
    }
    let source = Source::new(resources, replacement)?;
    for target in &replacement.targets {
        apply_to(resources, &source, target, replacement.origin)?;
    }
    Ok(())
}

const SHARED: &str = "a replacement by a part of the same object or of one that is renamed";

/// Where the value comes from: a fixed one, or a field that is read each time it is used.
enum Source {
    Fixed(Node),
    Field { resource: usize, path: Vec<String> },
}

impl Source {
    fn new(resources: &[Resource], replacement: &ReplacementField) -> Result<Self, BuildError> {
        match (&replacement.source, &replacement.source_value) {
            (Some(_), Some(value)) => {
                Err(refuse("a replacement has either a source or a sourceValue", value.origin))
            }
            (None, Some(value)) => {
                Ok(Self::Fixed(Node::untagged(Text::clone(&value.text), replacement.origin)))
            }
            (Some(source), None) => Self::of_field(resources, source),
            (None, None) => Err(refuse("a replacement must have a source", replacement.origin)),
        }
    }

    fn of_field(resources: &[Resource], source: &SourceSelector) -> Result<Self, BuildError> {
        let resource = select_source(resources, source)?;
        let given = &*source.field_path;
        let path = split_path(if given.is_empty() { DEFAULT_FIELD_PATH } else { given });
        let found = lookup(&resources[resource].node, &path)
            .map_err(|reason| refuse(format!("source field `{given}`: {reason}"), source.origin))?;
        let Some(node) = found.filter(|node| !node.is_nil_or_empty()) else {
            let id = resources[resource].current_id();
            let message = format!("source field `{given}` of {id} is not there or empty");
            return Err(refuse(message, source.origin));
        };
        match source.options.as_ref().filter(|options| !options.delimiter.is_empty()) {
            None => Ok(Self::Field { resource, path }),
            Some(options) => part_of(node, options).map(Self::Fixed),
        }
    }

    /// Metadata that is copied whole stays one value with its source, and what kustomize writes there
    /// for itself or what changes it later shows in both. Refuses what is known to show, and notes the
    /// rest.
    fn note_sharing(
        &self,
        resources: &mut [Resource],
        at: usize,
        target: &TargetSelector,
    ) -> Result<(), BuildError> {
        let Self::Field { resource, path } = self else { return Ok(()) };
        let is_metadata = path.first().is_some_and(|part| part == "metadata");
        let source = &mut resources[*resource];
        source.shares_metadata |= is_metadata;
        // A value that was put into itself has no end.
        if *resource == at || (is_metadata && !source.previous_ids.is_empty()) {
            return Err(BuildError::unsupported(SHARED).at(target.origin));
        }
        Ok(())
    }

    fn value(&self, resources: &[Resource]) -> Option<Node> {
        match self {
            Self::Fixed(node) => Some(node.clone()),
            Self::Field { resource, path } => {
                lookup(&resources[*resource].node, path).ok().flatten().cloned()
            }
        }
    }
}

/// The part of a text that the options of a source choose.
fn part_of(node: &Node, options: &FieldOptions) -> Result<Node, BuildError> {
    let Some(text) = node.as_text() else {
        let message = "the option delimiter fits scalars only";
        return Err(refuse(message, options.origin));
    };
    let part = usize::try_from(options.index)
        .ok()
        .and_then(|index| text.split(&*options.delimiter).nth(index).map(Text::from));
    let Some(part) = part else {
        let message = format!("options.index {} is out of bounds for `{text}`", options.index);
        return Err(refuse(message, options.origin));
    };
    let mut node = node.clone();
    if let Value::Scalar(scalar) = &mut node.value {
        scalar.text = part;
    }
    Ok(node)
}

/// The identities of a resource, the present one first; none is known to have no namespace
/// (`MakeResIds`).
fn ids_of(resource: &Resource) -> Vec<ResourceId> {
    let now = ResourceId { cluster_scoped: false, ..resource.current_id() };
    std::iter::once(now).chain(resource.previous_resource_ids()).collect()
}

/// The one resource that the source selects.
fn select_source(resources: &[Resource], source: &SourceSelector) -> Result<usize, BuildError> {
    let is_any_or = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
    let is_selected = |id: &ResourceId| {
        let namespace = ResourceId { namespace: Text::clone(&source.namespace.text), ..id.clone() };
        is_any_or(&source.name, &id.name)
            && (source.namespace.is_empty() || namespace.is_namespace_equal(id))
            && is_any_or(&source.group, id.group())
            && is_any_or(&source.version, id.version())
            && is_any_or(&source.kind, &id.kind)
    };
    let mut selected = resources
        .iter()
        .enumerate()
        .filter(|(_, resource)| ids_of(resource).iter().any(is_selected));
    match (selected.next(), selected.next()) {
        (Some((at, _)), None) => Ok(at),
        (None, _) => Err(refuse("nothing is selected by the source", source.origin)),
        (Some((_, a)), Some((_, b))) => {
            let (a, b) = (a.current_id(), b.current_id());
            let message = format!("the source selects several resources: {a} and {b}");
            Err(refuse(message, source.origin))
        }
    }
}

fn apply_to(
    resources: &mut [Resource],
    source: &Source,
    target: &TargetSelector,
    origin: Origin,
) -> Result<(), BuildError> {
    let Some(select) = &target.select else {
        return Err(refuse("a target must select resources", target.origin));
    };
    let select = SelectorRegex::new(select)?;
    let reject = target.reject.iter().map(SelectorRegex::new).collect::<Result<Vec<_>, _>>()?;
    for at in 0..resources.len() {
        if is_target(&resources[at], &select, &reject) {
            write_to(resources, at, source, target, origin)?;
        }
    }
    Ok(())
}

fn is_target(resource: &Resource, select: &SelectorRegex, reject: &[SelectorRegex]) -> bool {
    let ids = ids_of(resource);
    let fits = |selector: &SelectorRegex, id: &ResourceId| {
        selector.matches_gvk(id)
            && selector.matches_name(&id.name)
            && selector.matches_namespace(&id.namespace)
    };
    let is_rejected = |selector: &SelectorRegex| {
        (selector.has_label_selectors() && selector.matches_labels(resource))
            || (!selector.is_any_id() && ids.iter().any(|id| fits(selector, id)))
    };
    select.matches_labels(resource)
        && !reject.iter().any(is_rejected)
        && ids.iter().any(|id| fits(select, id))
}

fn write_to(
    resources: &mut [Resource],
    at: usize,
    source: &Source,
    target: &TargetSelector,
    origin: Origin,
) -> Result<(), BuildError> {
    let paths: Vec<(&str, Origin)> = if target.field_paths.is_empty() {
        vec![(DEFAULT_FIELD_PATH, target.origin)]
    } else {
        target.field_paths.iter().map(|path| (&**path, path.origin)).collect()
    };
    for (path, place) in paths {
        let Some(mut value) = source.value(resources) else {
            return Err(refuse("the source of the replacement is gone", origin));
        };
        value.set_origin_deep(origin);
        let resource = &mut resources[at];
        let shares = write_value(&mut resource.node, &value, path, target.options.as_ref())
            .map_err(|failure| {
                let id = resource.current_id();
                match failure {
                    Failure::Unwritable => BuildError::unsupported(UNWRITABLE).at(place),
                    Failure::Reason(reason) => {
                        refuse(format!("replacement target `{path}` of {id}: {reason}"), place)
                    }
                }
            })?;
        settle(resource);
        if shares {
            source.note_sharing(resources, at, target)?;
        }
    }
    Ok(())
}

/// Why a value was not written.
enum Failure {
    Unwritable,
    Reason(String),
}

const UNWRITABLE: &str = "replacements into YAML inside of a text";

/// Writes the value at the path; true where a map or a list was put in place as it is.
fn write_value(
    node: &mut Node,
    value: &Node,
    path: &str,
    options: Option<&FieldOptions>,
) -> Result<bool, Failure> {
    let create = options.filter(|options| options.create).map(|_| MadeKind::of(value));
    let path = split_path(path);
    if structured_data::write(node, value, &path, create).map_err(|_| Failure::Unwritable)? {
        return Ok(false);
    }
    let mut shares = false;
    let mut visit = |field: &mut Node| {
        shares |= field.as_scalar().is_none() && value.as_scalar().is_none();
        set_field(field, value, options)
    };
    let count = PathMatcher { create, origin: value.origin, visit: &mut visit }
        .walk(node, &path)
        .map_err(Failure::Reason)?;
    match count {
        0 => Err(Failure::Reason("the field is not there; options.create makes it".to_owned())),
        _ => Ok(shares),
    }
}

fn set_field(field: &mut Node, value: &Node, options: Option<&FieldOptions>) -> Result<(), String> {
    let mut value = value.clone();
    if let Some(options) = options.filter(|options| !options.delimiter.is_empty()) {
        let Some(old) = field.as_text() else {
            return Err("the option delimiter fits scalars only".to_owned());
        };
        // Maps and lists have no text of their own.
        let joined = join_part(old, value.as_str().unwrap_or(""), options);
        match &mut value.value {
            Value::Scalar(scalar) => scalar.text = joined,
            _ => value = Node::untagged(joined, value.origin),
        }
    }
    overwrite(field, value);
    Ok(())
}

/// A scalar keeps its type and takes the text; anything else is replaced whole.
pub(super) fn overwrite(field: &mut Node, value: Node) {
    let origin = value.origin;
    match &mut field.value {
        Value::Scalar(scalar) => {
            scalar.text = value.as_text().cloned().unwrap_or_default();
            field.origin = origin;
        }
        _ => *field = value,
    }
}

/// The text with one part replaced, or added at an end for an index beyond it.
fn join_part(old: &str, part: &str, options: &FieldOptions) -> Text {
    let mut parts: Vec<&str> = old.split(&*options.delimiter).collect();
    match usize::try_from(options.index) {
        Err(_) => parts.insert(0, part),
        Ok(index) if index >= parts.len() => parts.push(part),
        Ok(index) => parts[index] = part,
    }
    Text::from(parts.join(&options.delimiter))
}
