//! One value added to fields of many resources: the plugin `ValueAddTransformer`.
//!
//! Source: kustomize `api/internal/builtins/ValueAddTransformer.go`, `api/filters/valueadd`, kyaml
//! `filesys.InsertPathPart`.

use super::context::Context;
use super::field_path::{FieldPathError, set_scalar, split_first, wrong_kind};
use super::field_spec::FieldSpecs;
use super::lookup::{Step, is_match};
use super::namespace::{NamespaceTransformer, RoleBindingSubjects};
use super::selector::SelectorRegex;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Map, Node, Tag, Text};
use crate::kustomize::origin::Origin;
use crate::kustomize::read;
use crate::kustomize::resmap::ResMap;
use crate::kustomize::types::decode::{Decode, Path, object};
use crate::kustomize::types::{Located, Selector};

object! {
    /// The configuration of the plugin.
    pub(super) struct ValueAdd {
        /// The value; the name of the directory if empty.
        value: Located = "value",
        /// Where it goes.
        targets: Vec<Target> = "targets",
        /// A file with more targets.
        target_file_path: Located = "targetFilePath",
    }
}

object! {
    /// A field of some resources.
    pub(super) struct Target {
        /// The resources; all of them if missing.
        selector: Option<Selector> = "selector",
        /// The field, with `/` between its parts.
        field_path: Located = "fieldPath",
        /// Not 0: the value is put into a file path, at this place from 1.
        file_path_position: i64 = "filePathPosition",
    }
}

object! {
    /// A file of targets.
    struct TargetFile {
        targets: Vec<Target> = "targets",
    }
}

/// Adds the value that `config` gives to the fields that it names.
///
/// # Errors
/// [`BuildErrorKind::Transformer`] for a configuration without targets, and for a field that holds
/// no scalar.
pub(super) fn add_values(
    resources: &mut ResMap,
    mut config: ValueAdd,
    context: &Context<'_>,
) -> Result<(), BuildError> {
    let trimmed = config.value.trim();
    let value = match trimmed {
        "" if context.loader.root().is_empty() => {
            // The name of the boundary's own directory is not known here.
            return Err(BuildError::unsupported("ValueAddTransformer without a value"));
        }
        "" => context.loader.root().rsplit('/').next().unwrap_or_default(),
        given => given,
    };
    let value = Located { text: Text::from(value), ..config.value.clone() };
    if !config.target_file_path.is_empty() {
        let node = read::configuration(context.loader.load(&config.target_file_path)?)?;
        config.targets.append(&mut TargetFile::decode_nullable(&node, &Path::LenientRoot)?.targets);
    }
    if config.targets.is_empty() {
        return Err(refuse("at least one target must be given", config.origin));
    }
    for target in &config.targets {
        if target.field_path.is_empty() {
            return Err(refuse("fieldPath must not be empty", target.origin));
        }
        if target.file_path_position < 0 {
            return Err(refuse("filePathPosition must not be negative", target.origin));
        }
    }
    config.targets.iter().try_for_each(|target| add_to(resources, target, &value))
}

fn refuse(message: &str, origin: Origin) -> BuildError {
    BuildError::new(BuildErrorKind::Transformer, message).at(origin)
}

fn add_to(resources: &mut ResMap, target: &Target, value: &Located) -> Result<(), BuildError> {
    let selector = target.selector.as_ref().map(SelectorRegex::new).transpose()?;
    for resource in resources.resources_mut() {
        if let Some(selector) = &selector
            && !selector.selects(resource)?
        {
            continue;
        }
        if &*target.field_path == "metadata/namespace" {
            NamespaceTransformer {
                namespace: value,
                specs: &FieldSpecs::default(),
                unset_only: false,
                subjects: RoleBindingSubjects::default(),
            }
            .transform_resource(resource)?;
            continue;
        }
        let id = resource.current_id();
        add_at(&mut resource.node, &parts_of(&target.field_path), target, value).map_err(
            |error| {
                let message = format!("field `{}` of {id}: {error}", target.field_path);
                refuse(&message, target.origin)
            },
        )?;
    }
    Ok(())
}

/// The parts of a path that say something.
fn parts_of(path: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = Some(path);
    while let Some(path) = rest {
        let (part, next) = split_first(path);
        parts.push(part.trim().to_owned());
        rest = next;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn add_at(
    node: &mut Node,
    path: &[String],
    target: &Target,
    value: &Located,
) -> Result<(), FieldPathError> {
    let Some((part, rest)) = path.split_first() else {
        let old = node.as_text().ok_or_else(|| wrong_kind("a scalar", node))?;
        let text = match usize::try_from(target.file_path_position) {
            Ok(position) if position > 0 => {
                Text::from(insert_path_part(old, position - 1, &value.text))
            }
            _ => Text::clone(&value.text),
        };
        return set_scalar(node, text, Tag::Unset, target.origin);
    };
    let step = Step::parse(part).map_err(FieldPathError::Refused)?;
    let below = match step {
        Step::Field(name) => {
            let wrong = wrong_kind("a map", node);
            let Some(map) = node.as_map_mut() else { return Err(wrong) };
            if map.get(name).is_none() {
                map.push(name, made_for(rest, target.origin));
            }
            map.get_mut(name)
        }
        _ => element(node, &step, target.origin)?,
    };
    let missing = || FieldPathError::Refused(format!("there is no element `{part}`"));
    add_at(below.ok_or_else(missing)?, rest, target, value)
}

/// What is made for a field that the rest of a path goes on from.
fn made_for(rest: &[String], origin: Origin) -> Node {
    match rest.first().map(|part| Step::parse(part)) {
        None => Node::untagged("", origin),
        Some(Ok(Step::Index(_) | Step::Match { .. })) => Node::seq(Vec::new(), origin),
        Some(_) => Node::map(Map::new(), origin),
    }
}

/// The element of a list that a step leads to; one that is told by its value is made where it is
/// missing.
fn element<'n>(
    node: &'n mut Node,
    step: &Step<'_>,
    origin: Origin,
) -> Result<Option<&'n mut Node>, FieldPathError> {
    let wrong = wrong_kind("a list", node);
    let Some(items) = node.as_seq_mut() else { return Err(wrong) };
    let place = match step {
        Step::Index(place) => *place,
        Step::Last => items.len().wrapping_sub(1),
        Step::Match { field, value } => {
            let found = items.iter().position(|item| is_match(item, field, value));
            if found.is_none() {
                let text = Node::untagged(*value, origin);
                let mut map = Map::new();
                items.push(match *field {
                    "" => text,
                    field => {
                        map.push(field, text);
                        Node::map(map, origin)
                    }
                });
            }
            found.unwrap_or(items.len() - 1)
        }
        Step::Field(_) | Step::Every => {
            return Err(FieldPathError::Refused("`*` is not supported here".to_owned()));
        }
    };
    Ok(items.get_mut(place))
}

/// The path with `part` at place `position`, or at its end where it is shorter.
fn insert_path_part(path: &str, position: usize, part: &str) -> String {
    let (root, relative) = match path.strip_prefix('/') {
        Some(relative) => ("/", relative),
        None => ("", path),
    };
    let mut parts: Vec<&str> = relative.split('/').filter(|part| !part.is_empty()).collect();
    parts.insert(position.min(parts.len()), part);
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_inserted_into_paths() {
        // The table of kustomize's own documentation of the filter.
        for (old, position, new) in [
            ("", 5, "PEACH"),
            ("/", 0, "/PEACH"),
            ("pie", 0, "PEACH/pie"),
            ("/pie", 0, "/PEACH/pie"),
            ("raw", 1, "raw/PEACH"),
            ("/raw", 9, "/raw/PEACH"),
            ("a/nice/warm/pie", 3, "a/nice/warm/PEACH/pie"),
            ("/a/nice/warm/pie", 3, "/a/nice/warm/PEACH/pie"),
        ] {
            assert_eq!(insert_path_part(old, position, "PEACH"), new);
        }
    }
}
