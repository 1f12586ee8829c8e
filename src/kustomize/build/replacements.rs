//! Replacements: values copied from one field of one resource to fields of others.
//!
//! Source: kustomize `api/filters/replacement`, `api/internal/builtins/ReplacementTransformer.go`.

use std::borrow::Cow;

use super::context::Context;
use super::limits::Limits;
use super::location::{Location, location_of, value_at, value_at_mut};
use super::lookup::{lookup, split_path};
use super::path_matcher::{self, Failure, MadeKind};
use super::selector::SelectorRegex;
use super::shared_values::{clear_numbers, settle};
use super::structured_data;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Node, Text, Value};
use crate::kustomize::origin::Origin;
use crate::kustomize::read;
use crate::kustomize::resmap::ResMap;
use crate::kustomize::resource::{BUILD_ANNOTATION_PREFIX, Resource, ResourceId};
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
        replace_one(resmap.resources_mut(), &replacement, context.limits)?;
    }
    // It may have made two resources one; that is refused later, if the hashes do not tell them apart.
    resmap.resources_mut().retain(|resource| !resource.node.is_nil_or_empty());
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
    limits: &Limits,
) -> Result<(), BuildError> {
    let has_source = replacement.source.is_some() || replacement.source_value.is_some();
    if !has_source || replacement.targets.is_empty() {
        let message = "a replacement must have a source and at least one target";
        return Err(refuse(message, replacement.origin));
    }
    let mut source = Source::new(resources, replacement)?;
    let mut copier = Copier { source: &mut source, origin: replacement.origin, limits };
    for target in &replacement.targets {
        apply_to(resources, &mut copier, target)?;
    }
    Ok(())
}

/// Where the value comes from: a fixed one, or a field that is read each time it is used, for it
/// may be written to, too.
enum Source {
    Fixed(Node),
    Field { resource: usize, location: Location },
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
        let is_metadata = path.first().is_some_and(|part| part == "metadata");
        let root = readable(&resources[resource], is_metadata);
        let found = lookup(&root, &path)
            .map_err(|reason| refuse(format!("source field `{given}`: {reason}"), source.origin))?;
        let Some(node) = found.filter(|node| !node.is_nil_or_empty()) else {
            let id = resources[resource].current_id();
            let message = format!("source field `{given}` of {id} is not there or empty");
            return Err(refuse(message, source.origin));
        };
        match source.options.as_ref().filter(|options| !options.delimiter.is_empty()) {
            // Annotations that only kustomize has are in no place that could be found again.
            None if resources[resource].node.lookup(&["metadata", "annotations"]).is_none()
                && is_metadata
                && path.get(1).is_some_and(|part| part == "annotations") =>
            {
                Ok(Self::Fixed(node.clone()))
            }
            None => {
                let location = location_of(&root, node).unwrap_or_default();
                Ok(Self::Field { resource, location })
            }
            Some(options) => part_of(node, options).map(Self::Fixed),
        }
    }

    fn value(&self, resources: &[Resource]) -> Option<Node> {
        match self {
            Self::Fixed(node) => Some(node.clone()),
            Self::Field { resource, location } => {
                let resource = &resources[*resource];
                let is_metadata = location.first().copied()
                    == resource.node.as_map().and_then(|map| map.position("metadata"));
                value_at(&readable(resource, is_metadata), location).cloned()
            }
        }
    }

    /// A field goes on with the value it has when what is around it is replaced.
    fn keep_before_writing(&mut self, resources: &[Resource], at: usize, written: &[usize]) {
        let is_around = match self {
            Self::Fixed(_) => false,
            Self::Field { resource, location } => {
                *resource == at && written.len() < location.len() && location.starts_with(written)
            }
        };
        if let Some(value) = self.value(resources).filter(|_| is_around) {
            *self = Self::Fixed(value);
        }
    }
}

/// What can be read of a resource: in its metadata, what kustomize remembers of it, too.
fn readable(resource: &Resource, is_metadata: bool) -> Cow<'_, Node> {
    if !is_metadata || !resource.has_build_annotations() {
        return Cow::Borrowed(&resource.node);
    }
    let mut resource = resource.clone();
    resource.expose_build_annotations();
    Cow::Owned(resource.node)
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
    copier: &mut Copier<'_>,
    target: &TargetSelector,
) -> Result<(), BuildError> {
    let Some(select) = &target.select else {
        return Err(refuse("a target must select resources", target.origin));
    };
    let select = SelectorRegex::new(select)?;
    let reject = target.reject.iter().map(SelectorRegex::new).collect::<Result<Vec<_>, _>>()?;
    for at in 0..resources.len() {
        if is_target(&resources[at], &select, &reject)? {
            copier.write_to(resources, at, target)?;
        }
    }
    Ok(())
}

fn is_target(
    resource: &Resource,
    select: &SelectorRegex,
    reject: &[SelectorRegex],
) -> Result<bool, BuildError> {
    if !select.matches_labels(resource)? {
        return Ok(false);
    }
    for selector in reject.iter().filter(|selector| selector.has_label_selectors()) {
        if selector.matches_labels(resource)? {
            return Ok(false);
        }
    }
    let ids = ids_of(resource);
    let fits = |selector: &SelectorRegex, id: &ResourceId| {
        selector.matches_gvk(id)
            && selector.matches_name(&id.name)
            && selector.matches_namespace(&id.namespace)
    };
    let is_rejected =
        |selector: &SelectorRegex| !selector.is_any_id() && ids.iter().any(|id| fits(selector, id));
    Ok(!reject.iter().any(is_rejected) && ids.iter().any(|id| fits(select, id)))
}

/// Copies one value to many places.
struct Copier<'a> {
    source: &'a mut Source,
    /// Given to what is written.
    origin: Origin,
    limits: &'a Limits,
}

impl Copier<'_> {
    fn write_to(
        &mut self,
        resources: &mut [Resource],
        at: usize,
        target: &TargetSelector,
    ) -> Result<(), BuildError> {
        let paths: Vec<(&str, Origin)> = if target.field_paths.is_empty() {
            vec![(DEFAULT_FIELD_PATH, target.origin)]
        } else {
            target.field_paths.iter().map(|path| (&**path, path.origin)).collect()
        };
        for (path, place) in paths {
            self.write_at(resources, at, path, target.options.as_ref()).map_err(|failure| {
                match failure {
                    Failure::Unsupported(what) => BuildError::unsupported(what).at(place),
                    Failure::Reason(reason) => {
                        let id = resources[at].current_id();
                        refuse(format!("replacement target `{path}` of {id}: {reason}"), place)
                    }
                }
            })?;
            settle(&mut resources[at]);
        }
        Ok(())
    }

    /// Writes the value at the path.
    fn write_at(
        &mut self,
        resources: &mut [Resource],
        at: usize,
        path: &str,
        options: Option<&FieldOptions>,
    ) -> Result<(), Failure> {
        let path = split_path(path);
        let value = self.value(resources)?;
        let create = options.filter(|options| options.create).map(|_| MadeKind::of(&value));
        let node = &mut resources[at].node;
        if structured_data::write(node, &value, &path, create)
            .map_err(|_| Failure::Unsupported(UNWRITABLE))?
        {
            self.limits.write(&value, 0)?;
            return Ok(());
        }
        if !is_annotations(&path) {
            drop(value);
            return self.write_fields(resources, at, &path, create, options);
        }
        if holds_build_annotations(&value) {
            return Err(Failure::Unsupported("a copy of what kustomize remembers of an object"));
        }
        resources[at].expose_build_annotations();
        let written = self.write_fields(resources, at, &path, create, options);
        resources[at].hide_build_annotations();
        written
    }

    fn write_fields(
        &mut self,
        resources: &mut [Resource],
        at: usize,
        path: &[String],
        create: Option<MadeKind>,
        options: Option<&FieldOptions>,
    ) -> Result<(), Failure> {
        let node = &mut resources[at].node;
        // All places are there before the first is written, also where they are in the source.
        let matched = path_matcher::find(node, path, create, self.origin)?;
        if matched.count == 0 {
            let message = "the field is not there; options.create makes it";
            return Err(Failure::Reason(message.to_owned()));
        }
        for location in &matched.locations {
            self.write_field(resources, at, location, options)?;
        }
        Ok(())
    }

    fn write_field(
        &mut self,
        resources: &mut [Resource],
        at: usize,
        location: &[usize],
        options: Option<&FieldOptions>,
    ) -> Result<(), String> {
        let value = self.value(resources)?;
        self.limits.write(&value, location.len())?;
        let is_scalar = |node: Option<&Node>| node.and_then(Node::as_scalar).is_some();
        if !is_scalar(value_at(&resources[at].node, location)) {
            self.source.keep_before_writing(resources, at, location);
        }
        let Some(field) = value_at_mut(&mut resources[at].node, location) else {
            return Ok(());
        };
        if let Some(text) = field.as_text() {
            self.limits.write_text(text.len())?;
        }
        set_field(field, value, options)
    }

    /// What the source holds now.
    fn value(&self, resources: &[Resource]) -> Result<Node, String> {
        let value = self.source.value(resources);
        let mut value = value.ok_or("the source of the replacement is gone")?;
        value.set_origin_deep(self.origin);
        clear_numbers(&mut value);
        Ok(value)
    }
}

/// Whether the path leads to all annotations, where kustomize keeps what it remembers.
fn is_annotations(path: &[String]) -> bool {
    path == ["metadata"] || path == ["metadata", "annotations"]
}

/// Whether what kustomize keeps in annotations is among the annotations, or the metadata.
fn holds_build_annotations(value: &Node) -> bool {
    let annotations = value.get("annotations").unwrap_or(value).as_map();
    let mut keys = annotations.map(|map| map.entries()).unwrap_or_default().iter();
    keys.any(|entry| entry.key.text.starts_with(BUILD_ANNOTATION_PREFIX))
}

const UNWRITABLE: &str = "replacements into YAML inside of a text";

fn set_field(
    field: &mut Node,
    mut value: Node,
    options: Option<&FieldOptions>,
) -> Result<(), String> {
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
