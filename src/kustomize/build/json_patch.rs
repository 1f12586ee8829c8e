//! JSON 6902 patches with the semantics of the Go library that kustomize uses.
//!
//! They differ from the RFC: `replace` and `copy` take a member that is not there, a first segment
//! before the first slash is ignored, indexes may be negative, `test` compares numbers and strings
//! by their JSON text. A patched resource goes through float64: integers beyond 2^53 are rounded.
//!
//! Source: evanphx/json-patch v4.13.0 `patch.go`; kustomize api `filters/patchjson6902`.

mod value;

use std::collections::HashMap;

use serde_json::value::RawValue;

pub(crate) use self::value::json_of;
use self::value::{add, equal, locate, node_of, parse_index, read_again, through_float64};
use super::emit::{check_held_back, expand_merge_keys};
use super::limits::{Limits, MAX_PATH};
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Node, Value};
use crate::kustomize::origin::Origin;
use crate::kustomize::read;
use crate::yaml::scalar::Rules;

/// A patch: its operations in order.
#[derive(Debug)]
pub(super) struct JsonPatch {
    operations: Vec<Operation>,
}

type Members = HashMap<String, Option<Box<RawValue>>>;

#[derive(Debug)]
struct Operation {
    members: Members,
    origin: Origin,
}

impl JsonPatch {
    /// Reads a patch, JSON if it begins with `[` and else YAML (the first document, by version 2's
    /// rules). `None` for null, and for nothing. `start` is where the first line of the text is, if
    /// its lines are lines of a file; `place` is where the whole is.
    ///
    /// # Errors
    /// [`BuildErrorKind::Yaml`], or [`BuildErrorKind::Patch`] for what is no list of operations.
    pub(super) fn parse(
        text: &str,
        start: Option<Origin>,
        place: Origin,
    ) -> Result<Option<Self>, BuildError> {
        if text.is_empty() {
            return Err(refused("the patch is empty", place));
        }
        let at = start.unwrap_or(Origin::new(place.file, 0));
        let node = read::configuration_text(text, at);
        let json = if text.starts_with('[') {
            value::replace_lone_surrogates(text)
        } else {
            json_of(node.as_ref().map_err(Clone::clone)?, Rules::Kustomization)
                .map_err(|error| error.at(place))?
        };
        let decoded: Option<Vec<Option<Members>>> = serde_json::from_str(&json)
            .map_err(|error| refused(&format!("not a list of operations: {error}"), place))?;
        let Some(decoded) = decoded else { return Ok(None) };
        let items = node.ok().and_then(|node| match node.value {
            Value::Seq(items) => Some(items),
            _ => None,
        });
        let origin_of = |index: usize| {
            let item = items.as_ref().and_then(|items| items.get(index));
            let value = item.and_then(|item| item.get("value").or(item.get("path")).or(Some(item)));
            value.map(|node| node.origin).filter(|origin| origin.line > 0).unwrap_or(place)
        };
        let operations = decoded
            .into_iter()
            .enumerate()
            .map(|(index, members)| Operation {
                members: members.unwrap_or_default(),
                origin: origin_of(index),
            })
            .collect();
        Ok(Some(Self { operations }))
    }

    /// Whether it has no operation.
    pub(super) fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Applies the operations to `document`.
    ///
    /// # Errors
    /// [`BuildErrorKind::Patch`] for an operation that does not apply, or is none.
    pub(super) fn apply(&self, document: &mut Node, limits: &Limits) -> Result<(), BuildError> {
        // What cannot be printed cannot be patched.
        json_of(document, Rules::Resource)?;
        expand_merge_keys(document)?;
        check_held_back(document)?;
        read_again(document, false)?;
        for operation in &self.operations {
            operation
                .apply(document, limits)
                .map_err(|message| refused(&message, operation.origin))?;
        }
        if document.as_map().is_none() {
            return Err(refused("the patch leaves no object", document.origin));
        }
        through_float64(document)
    }
}

fn refused(message: &str, origin: Origin) -> BuildError {
    BuildError::new(BuildErrorKind::Patch, message).at(origin)
}

type Applied = Result<(), String>;

impl Operation {
    /// A member that is a string.
    fn text(&self, name: &str) -> Result<String, String> {
        let raw = self.members.get(name).and_then(Option::as_ref);
        let raw = raw.ok_or_else(|| format!("the operation has no `{name}`"))?;
        serde_json::from_str(raw.get()).map_err(|_| format!("`{name}` is not a string"))
    }

    /// The member `value`; a missing one is null.
    fn value(&self) -> Result<Node, String> {
        match self.members.get("value").and_then(Option::as_ref) {
            None => Ok(Node::null(self.origin)),
            Some(raw) => node_of(raw.get(), self.origin),
        }
    }

    fn apply(&self, document: &mut Node, limits: &Limits) -> Applied {
        match &*self.text("op").unwrap_or_else(|_| "unknown".to_owned()) {
            "add" => self.add(document),
            "remove" => self.remove(document).map(|_| ()),
            "replace" => self.replace(document),
            "move" => self.relocate(document, limits),
            "copy" => self.copy(document, limits),
            "test" => self.test(document),
            other => Err(format!(
                "unknown operation `{other}`; write add, remove, replace, move, copy or test"
            )),
        }
    }

    fn add(&self, document: &mut Node) -> Applied {
        let path = self.text("path")?;
        let (container, key) = located(document, &path, "add")?;
        add(container, &key, self.value()?).map_err(|reason| format!("add {path}: {reason}"))
    }

    fn remove(&self, document: &mut Node) -> Result<Node, String> {
        let path = self.text("path")?;
        remove_at(document, &path, "remove")
    }

    fn replace(&self, document: &mut Node) -> Applied {
        let path = self.text("path")?;
        if path.is_empty() {
            let value = self.value()?;
            if value.as_scalar().is_some() {
                return Err("the whole document can only be replaced by an object".to_owned());
            }
            *document = value;
            return Ok(());
        }
        let (container, key) = located(document, &path, "replace")?;
        match &mut container.value {
            Value::Map(map) => map.insert(key, self.value()?),
            Value::Seq(items) => {
                let index = parse_index(&key, items.len())
                    .map_err(|reason| format!("replace {path}: {reason}"))?;
                items[index] = self.value()?;
            }
            Value::Scalar(_) => {}
        }
        Ok(())
    }

    fn relocate(&self, document: &mut Node, limits: &Limits) -> Applied {
        let from = self.text("from")?;
        let value = remove_at(document, &from, "move")?;
        let path = self.text("path")?;
        limits.write(&value, depth_of(&path))?;
        let (container, key) = located(document, &path, "move")?;
        add(container, &key, value).map_err(|reason| format!("move to {path}: {reason}"))
    }

    fn copy(&self, document: &mut Node, limits: &Limits) -> Applied {
        let from = self.text("from")?;
        let (container, key) = located(document, &from, "copy")?;
        let value = match &container.value {
            Value::Map(map) => map.get(&key).cloned().unwrap_or(Node::null(self.origin)),
            Value::Seq(items) => {
                let index = parse_index(&key, items.len())
                    .map_err(|reason| format!("copy {from}: {reason}"))?;
                items[index].clone()
            }
            Value::Scalar(_) => Node::null(self.origin),
        };
        let path = self.text("path")?;
        limits.write(&value, depth_of(&path))?;
        let (container, key) = located(document, &path, "copy")?;
        add(container, &key, value).map_err(|reason| format!("copy to {path}: {reason}"))
    }

    fn test(&self, document: &mut Node) -> Applied {
        let path = self.text("path")?;
        let expected = self.members.get("value").and_then(Option::as_ref).map(|raw| raw.get());
        let failed = || format!("test {path}: the value is another one");
        if path.is_empty() {
            let equal = expected.is_some_and(|expected| equal(document, expected));
            return if equal { Ok(()) } else { Err(failed()) };
        }
        let (container, key) = located(document, &path, "test")?;
        let value = match &container.value {
            Value::Map(map) => map.get(&key),
            Value::Seq(items) => {
                let index = parse_index(&key, items.len())
                    .map_err(|reason| format!("test {path}: {reason}"))?;
                items.get(index)
            }
            Value::Scalar(_) => None,
        };
        let fits = match (value.filter(|value| !value.is_null()), expected) {
            (None, None) => true,
            (Some(value), Some(expected)) => equal(value, expected),
            _ => false,
        };
        if fits { Ok(()) } else { Err(failed()) }
    }
}

/// How deep the value at a path is.
fn depth_of(path: &str) -> usize {
    path.matches('/').count()
}

fn located<'n>(
    document: &'n mut Node,
    path: &str,
    operation: &str,
) -> Result<(&'n mut Node, String), String> {
    if depth_of(path) > MAX_PATH {
        return Err(format!("{operation}: the path has more than {MAX_PATH} parts"));
    }
    locate(document, path).ok_or_else(|| format!("{operation} {path}: the path does not exist"))
}

fn remove_at(document: &mut Node, path: &str, operation: &str) -> Result<Node, String> {
    let (container, key) = located(document, path, operation)?;
    match &mut container.value {
        Value::Map(map) => {
            map.remove(&key).ok_or_else(|| format!("{operation} {path}: there is no such key"))
        }
        Value::Seq(items) => {
            let index = parse_index(&key, items.len())
                .map_err(|reason| format!("{operation} {path}: {reason}"))?;
            Ok(items.remove(index))
        }
        Value::Scalar(_) => Err(format!("{operation} {path}: the path does not exist")),
    }
}
