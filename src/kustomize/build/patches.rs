//! `patches`, `patchesStrategicMerge` and `patchesJson6902`.
//!
//! Source: kustomize api `internal/builtins/Patch*.go`, `resource/resource.go` (`ApplySmPatch`),
//! `resmap/reswrangler.go` (`ApplySmPatch`, `GetById`).

use super::context::Context;
use super::finish::check_pairs;
use super::json_patch::JsonPatch;
use super::limits::Limits;
use super::merge::merge;
use super::selector::SelectorRegex;
use super::shared_values::{forget, settle};
use crate::kustomize::error::{BuildError, BuildErrorKind, WarningKind};
use crate::kustomize::node::{Map, Node};
use crate::kustomize::origin::Origin;
use crate::kustomize::read;
use crate::kustomize::resmap::ResMap;
use crate::kustomize::resource::Resource;
use crate::kustomize::types::{Located, Patch, Selector};

/// What a patch is, and what it goes to.
#[derive(Debug)]
pub(super) enum LoadedPatch {
    /// Strategic merge patches that name their targets.
    Named(Vec<Resource>),
    /// One strategic merge patch for all that the target selects.
    Selected(Box<Resource>, Box<Target>),
    /// A JSON 6902 patch; `remembers` says whether the names from before it are kept.
    Json { patch: JsonPatch, target: Box<Target>, remembers: bool },
    /// Nothing but comments.
    Nothing,
}

/// What a patch goes to.
#[derive(Debug)]
pub(super) struct Target {
    selector: SelectorRegex,
    origin: Origin,
    words: String,
}

impl Target {
    fn new(selector: &Selector) -> Result<Self, BuildError> {
        let parts = [
            ("group", &selector.group),
            ("version", &selector.version),
            ("kind", &selector.kind),
            ("name", &selector.name),
            ("namespace", &selector.namespace),
            ("labelSelector", &selector.label_selector),
            ("annotationSelector", &selector.annotation_selector),
        ];
        let given = parts.iter().filter(|(_, text)| !text.is_empty());
        let words: Vec<String> = given.map(|(key, text)| format!("{key}: {text}")).collect();
        Ok(Self {
            selector: SelectorRegex::new(selector)?,
            origin: selector.origin,
            words: words.join(", "),
        })
    }

    fn selected(
        &self,
        resources: &ResMap,
        context: &Context<'_>,
    ) -> Result<Vec<usize>, BuildError> {
        let mut selected = Vec::new();
        for (index, resource) in resources.resources().iter().enumerate() {
            if self.selector.selects(resource)? {
                selected.push(index);
            }
        }
        let message = format!("the patch's target ({}) selects no resource", self.words);
        match selected.is_empty() {
            true => context.warn_of(WarningKind::PatchUnmatched, message, self.origin),
            false => context.mark_effective(message, self.origin),
        }
        Ok(selected)
    }
}

/// Reads an entry of `patches`.
///
/// # Errors
/// [`BuildErrorKind::Patch`] for an entry without exactly one of `patch` and `path`, a text that is
/// neither kind of patch, and a JSON patch without a target; errors of the file.
pub(super) fn load(entry: &Patch, context: &Context<'_>) -> Result<LoadedPatch, BuildError> {
    let trimmed = trimmed(&entry.patch);
    let text = match (trimmed.is_empty(), entry.path.is_empty()) {
        (true, true) => return Err(refused("a patch needs `patch` or `path`", entry.origin)),
        (false, false) => {
            let message = "a patch has `patch` or `path`, not both";
            return Err(refused(message, entry.origin));
        }
        (false, true) => Text::Inline(trimmed),
        (true, false) => Text::File(context.loader.load(&entry.path)?),
    };
    let strategic = text.resources(context);
    match (strategic, text.json_patch()) {
        (Ok(patches), Ok(Some(json))) if !patches.is_empty() && !json.is_empty() => {
            let message = "the patch reads as a strategic merge patch and as a JSON patch";
            Err(refused(message, entry.origin))
        }
        (Ok(patches), _) => strategic_patch(patches, entry),
        (Err(_), Ok(Some(patch))) => match &entry.target {
            None => Err(refused("a JSON patch needs a `target`", entry.origin)),
            Some(selector) => {
                let target = Box::new(Target::new(selector)?);
                Ok(LoadedPatch::Json { patch, target, remembers: true })
            }
        },
        (Err(_), Ok(None)) => Ok(LoadedPatch::Nothing),
        (Err(strategic), Err(json)) => Err(unreadable(strategic, json, entry.origin)),
    }
}

/// The error of a text that is no patch of either kind: a list is meant for a JSON patch.
fn unreadable(strategic: BuildError, json: BuildError, origin: Origin) -> BuildError {
    let mut error = match strategic.kind {
        BuildErrorKind::Yaml => strategic,
        _ if json.kind == BuildErrorKind::Patch => json,
        _ => strategic,
    };
    error.kind = BuildErrorKind::Patch;
    error.message = format!("not a patch: {}", error.message);
    error.at(origin)
}

fn strategic_patch(mut patches: Vec<Resource>, entry: &Patch) -> Result<LoadedPatch, BuildError> {
    if let Some(options) = &entry.options {
        for patch in &mut patches {
            patch.allow_name_change |= options.allow_name_change;
            patch.allow_kind_change |= options.allow_kind_change;
        }
    }
    let Some(selector) = &entry.target else { return Ok(LoadedPatch::Named(patches)) };
    match patches.len() {
        0 => Ok(LoadedPatch::Nothing),
        1 => {
            let target = Box::new(Target::new(selector)?);
            let patch = patches.into_iter().next().map(Box::new);
            Ok(patch.map_or(LoadedPatch::Nothing, |patch| LoadedPatch::Selected(patch, target)))
        }
        several => {
            let message = format!(
                "{several} strategic merge patches with one `target`; split them into entries"
            );
            Err(refused(&message, entry.origin))
        }
    }
}

/// Reads `patchesStrategicMerge`.
///
/// # Errors
/// As [`load_strategic`], and where there are entries but no patches in them.
pub(super) fn load_all_strategic(
    entries: &[Located],
    context: &Context<'_>,
) -> Result<Vec<LoadedPatch>, BuildError> {
    let patches: Vec<LoadedPatch> =
        entries.iter().map(|entry| load_strategic(entry, context)).collect::<Result<_, _>>()?;
    let is_empty =
        |patch: &LoadedPatch| matches!(patch, LoadedPatch::Named(list) if list.is_empty());
    match entries.first() {
        Some(entry) if patches.iter().all(is_empty) => {
            Err(refused("the patch is empty", entry.origin))
        }
        _ => Ok(patches),
    }
}

/// Reads an entry of `patchesStrategicMerge`: a patch, or the path of a file with some.
///
/// # Errors
/// Of the file.
pub(super) fn load_strategic(
    entry: &Located,
    context: &Context<'_>,
) -> Result<LoadedPatch, BuildError> {
    let patches = match context.inline_resources(entry) {
        Ok(patches) => patches,
        Err(_) => context.load_resources(entry)?,
    };
    Ok(LoadedPatch::Named(patches))
}

/// Reads an entry of `patchesJson6902`.
///
/// # Errors
/// As [`load`], and for a target without a name.
pub(super) fn load_json(entry: &Patch, context: &Context<'_>) -> Result<LoadedPatch, BuildError> {
    let selector = match &entry.target {
        Some(selector) if !selector.name.is_empty() => selector,
        _ => return Err(refused("patchesJson6902 needs a target with a name", entry.origin)),
    };
    let text = match (entry.patch.is_empty(), entry.path.is_empty()) {
        (true, true) => return Err(refused("a patch needs `patch` or `path`", entry.origin)),
        (false, false) => {
            let message = "a patch has `patch` or `path`, not both";
            return Err(refused(message, entry.origin));
        }
        (false, true) => Text::Inline(entry.patch.clone()),
        (true, false) => Text::File(context.loader.load(&entry.path)?),
    };
    match text.json_patch()? {
        Some(patch) if !patch.is_empty() => {
            let target = Box::new(Target::new(selector)?);
            Ok(LoadedPatch::Json { patch, target, remembers: false })
        }
        _ => Err(refused("the patch is empty", entry.origin)),
    }
}

/// The text of a patch.
enum Text<'t> {
    Inline(Located),
    File(&'t crate::kustomize::source_tree::SourceFile),
}

impl Text<'_> {
    fn resources(&self, context: &Context<'_>) -> Result<Vec<Resource>, BuildError> {
        match self {
            Self::Inline(text) => context.inline_resources(text),
            Self::File(file) => context.resources_of_file(file),
        }
    }

    fn json_patch(&self) -> Result<Option<JsonPatch>, BuildError> {
        match self {
            Self::Inline(text) => JsonPatch::parse(text, text.content_start(), text.origin),
            Self::File(file) => {
                let start = Origin::new(file.id, 1);
                JsonPatch::parse(&read::text_of(file)?, Some(start), start)
            }
        }
    }
}

/// A text without blanks around it; a block that begins with blank lines begins further down.
fn trimmed(text: &Located) -> Located {
    let start = text.text.trim_start();
    let cut = &text.text[..text.text.len() - start.len()];
    let lines = cut.bytes().filter(|byte| *byte == b'\n').count();
    let mut trimmed = text.clone();
    trimmed.text = start.trim_end().into();
    if trimmed.content_start().is_some() {
        trimmed.origin.line += u32::try_from(lines).unwrap_or(0);
    }
    trimmed
}

fn refused(message: &str, origin: Origin) -> BuildError {
    BuildError::new(BuildErrorKind::Patch, message).at(origin)
}

/// Applies a patch to the resources it goes to; what it deletes is dropped.
///
/// # Errors
/// [`BuildErrorKind::Patch`] where it names no resource or several, or cannot be applied;
/// [`BuildErrorKind::Conflict`] where two resources have one name after it.
pub(super) fn apply(
    patch: &LoadedPatch,
    resources: &mut ResMap,
    context: &Context<'_>,
) -> Result<(), BuildError> {
    match patch {
        LoadedPatch::Nothing => Ok(()),
        LoadedPatch::Named(patches) => patches.iter().try_for_each(|patch| {
            let index = named_target(patch, resources)?;
            let target = &mut resources.resources_mut()[index];
            apply_strategic(target, patch.clone(), context)
        }),
        LoadedPatch::Selected(patch, target) => {
            for index in target.selected(resources, context)? {
                let resource = &mut resources.resources_mut()[index];
                apply_strategic(resource, addressed(patch, resource), context)?;
            }
            resources.resources_mut().retain(|resource| !resource.node.is_nil_or_empty());
            resources.check_conflicts(target.origin)
        }
        LoadedPatch::Json { patch, target, remembers } => {
            for index in target.selected(resources, context)? {
                let resource = &mut resources.resources_mut()[index];
                apply_json(resource, patch, *remembers, context.limits)?;
            }
            Ok(())
        }
    }?;
    resources.resources_mut().retain(|resource| !resource.node.is_nil_or_empty());
    Ok(())
}

/// Applies the patches of `patchesStrategicMerge`: as those of `patches`, but what a patch says of
/// labels and annotations is text.
///
/// # Errors
/// As [`apply`].
pub(super) fn apply_named_as_text(
    patch: &LoadedPatch,
    resources: &mut ResMap,
    context: &Context<'_>,
) -> Result<(), BuildError> {
    let LoadedPatch::Named(patches) = patch else { return Ok(()) };
    for patch in patches {
        let index = named_target(patch, resources)?;
        let resource = &mut resources.resources_mut()[index];
        apply_strategic(resource, addressed(patch, resource), context)?;
        resources.resources_mut().retain(|resource| !resource.node.is_nil_or_empty());
        resources.check_conflicts(patch.origin)?;
    }
    Ok(())
}

/// The one resource that has or had the identity of the patch.
fn named_target(patch: &Resource, resources: &ResMap) -> Result<usize, BuildError> {
    let id = patch.original_id();
    match resources.indexes_with_any_id(&id)?.as_slice() {
        [index] => Ok(*index),
        [] => Err(refused(&format!("no resource matches the patch of {id}"), patch.origin)),
        several => {
            let message = format!("{} resources match the patch of {id}", several.len());
            Err(refused(&message, patch.origin))
        }
    }
}

/// The copy of a patch for one target: with the target's version, and with labels and annotations
/// written anew as text (`CopyMergeMetaDataFieldsFrom`), so that a null there deletes nothing and
/// braces around them are gone.
fn addressed(patch: &Resource, target: &Resource) -> Resource {
    let mut copy = patch.clone();
    copy_metadata(&mut copy);
    let kind = copy.kind().to_owned();
    copy.set_kind(&kind, copy.origin);
    // Group and version are put together anew, without a slash behind an empty group.
    let version = target.api_version();
    copy.set_api_version(version.strip_prefix('/').unwrap_or(version), copy.origin);
    copy
}

/// Labels, annotations, name and namespace written anew, in this order. Kyaml cannot set a field without
/// a name; nobody looks at the error, and the map stays without elements.
fn copy_metadata(copy: &mut Resource) {
    let origin = copy.origin;
    for field in ["labels", "annotations"] {
        let is_labels = field == "labels";
        let pairs = if is_labels { copy.labels() } else { copy.annotations() };
        let is_nameless = pairs.iter().any(|(key, _)| key.is_empty());
        if is_labels {
            copy.set_labels(pairs, origin)
        } else {
            copy.set_annotations(pairs, origin)
        }
        if is_nameless {
            if let Some(map) = copy.node.lookup_mut(&["metadata", field]) {
                *map = Node::map(Map::new(), origin);
            }
            return;
        }
    }
    let named = copy.node.lookup(&["metadata", "name"]);
    if let Some((name, origin)) =
        named.and_then(|node| Some((node.as_text()?.clone(), node.origin)))
    {
        copy.set_name(&name, origin);
    }
    let namespace = copy.namespace().to_owned();
    copy.set_namespace(&namespace, origin);
}

fn apply_strategic(
    target: &mut Resource,
    patch: Resource,
    context: &Context<'_>,
) -> Result<(), BuildError> {
    let before = target.current_id();
    let origin = |node: &Resource, path: &[&str]| {
        node.node.lookup(path).map_or(node.origin, |node| node.origin)
    };
    let kind_origin = origin(target, &["kind"]);
    let name_origin = origin(target, &["metadata", "name"]);
    let namespace_origin = origin(target, &["metadata", "namespace"]);
    let (renames, changes_kind) = (patch.allow_name_change, patch.allow_kind_change);
    if renames || changes_kind {
        target.store_previous_id();
    }
    target.allow_name_change |= renames;
    target.allow_kind_change |= changes_kind;
    target.expose_build_annotations();
    if !merge(&mut target.node, patch.node, &context.schemas)? {
        target.node = Node::map(Map::new(), target.origin);
    }
    target.hide_build_annotations();
    settle(target);
    if target.node.is_nil_or_empty() {
        return Ok(());
    }
    if !changes_kind {
        target.set_kind(&before.kind, kind_origin);
    }
    if !renames {
        target.set_name(&before.name, name_origin);
    }
    target.set_namespace(&before.namespace, namespace_origin);
    Ok(())
}

fn apply_json(
    target: &mut Resource,
    patch: &JsonPatch,
    remembers: bool,
    limits: &Limits,
) -> Result<(), BuildError> {
    let id = target.current_id();
    if remembers {
        target.store_previous_id();
    }
    target.expose_build_annotations();
    patch
        .apply(&mut target.node, limits)
        .map_err(|error| error.within(format!("applying a JSON patch to {id}")))?;
    check_pairs(target, "annotations")?;
    target.remove_build_annotations();
    // Metadata that is gone is made again, for what is remembered to be kept in.
    if target.node.get("metadata").is_some_and(|metadata| metadata.as_map().is_none()) {
        target.forget_history();
    }
    forget(target);
    let annotations = target.annotations();
    if annotations.iter().any(|(key, _)| key.is_empty()) {
        // Kyaml cannot set such a field. `patches:` does not look at the error: none is left.
        if !remembers {
            let message = "the annotations of an object must be a map";
            return Err(BuildError::new(BuildErrorKind::Emit, message).at(target.origin));
        }
        target.forget_build_annotations();
        target.set_annotations(Vec::new(), target.origin);
        return Ok(());
    }
    if target.node.lookup(&["metadata", "annotations"]).is_some() {
        let origin = target.origin;
        target.set_annotations(annotations, origin);
    }
    Ok(())
}
