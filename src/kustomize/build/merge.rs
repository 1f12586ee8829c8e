//! Strategic merge, as kyaml does it.
//!
//! Maps are merged field by field; a null in the patch deletes; lists are replaced, but for those
//! that the schema says to merge by key, where the patch's elements come first. `$patch` in a map,
//! or as an element of a merged list, deletes, replaces or merges (and goes); in other lists, and
//! `$setElementOrder`, `$retainKeys` and `$deleteFromPrimitiveList` anywhere, are data.
//!
//! Source: kyaml v0.21.1 `yaml/merge2`, `yaml/walk`; `yaml/fns.go` for `FieldSetter`. The comments
//! name what looks like an accident there and is kept, for the output depends on it.

mod arena;
mod directive;
mod list;

use std::collections::HashSet;

use self::directive::{Directive, take_map_directive, take_seq_directive};
use super::schema::{Field, Schema, Schemas};
use super::shared_values;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Entry, Layout, Map, Node, Scalar, Style, Tag, Text, Value};
use crate::kustomize::origin::Origin;

/// Merges `patch` into `target`. `false` if the patch deletes the target.
///
/// # Errors
/// [`BuildErrorKind::Patch`] where the patch has a map, list or scalar in place of another, or an
/// unknown `$patch`.
pub(crate) fn merge(target: &mut Node, patch: Node, schemas: &Schemas) -> Result<bool, BuildError> {
    let walker = Walker { schemas };
    if patch.get("$patch").and_then(Node::as_str) == Some("replace") {
        // Kustomize makes the new object and forgets to put it in the place of the old one.
        return Ok(true);
    }
    let dest = std::mem::replace(target, Node::null(target.origin));
    match walker.walk(Sources::Two(Some(dest), Some(patch)), None)? {
        Some(merged) => {
            *target = merged.node;
            Ok(true)
        }
        None => Ok(false),
    }
}

/// What is merged: the target's value and the patch's.
enum Sources {
    /// Each may be missing.
    Two(Option<Node>, Option<Node>),
    /// The patch's value that was put where the target had none: it is both.
    Same(Node),
}

/// Which of two values a merge gave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    Dest,
    Patch,
}

/// The outcome of a merge.
struct Merged {
    node: Node,
    from: From,
    /// Whether a null stays (`MakePersistentNullNode`).
    keep_null: bool,
}

impl Merged {
    fn of(node: Node, from: From) -> Option<Self> {
        Some(Self { node, from, keep_null: false })
    }
}

struct Walker<'s> {
    schemas: &'s Schemas,
}

type Outcome = Result<Option<Merged>, BuildError>;

impl<'s> Walker<'s> {
    fn walk(&self, sources: Sources, field: Option<Field<'s>>) -> Outcome {
        match sources {
            Sources::Same(node) => self.walk_same(node, field),
            Sources::Two(dest, patch) => self.walk_two(dest, patch, field),
        }
    }

    /// The schema of a map: what its parent says, else what the kind in it says.
    fn schema(&self, field: &Option<Field<'s>>, nodes: [Option<&Node>; 2]) -> Option<Schema<'s>> {
        match field {
            Some(Field::Map(schema)) => Some(*schema),
            Some(Field::List(_)) => None,
            None => nodes.into_iter().flatten().find_map(|node| self.schemas.of(node)),
        }
    }

    fn walk_two(
        &self,
        mut dest: Option<Node>,
        patch: Option<Node>,
        field: Option<Field<'s>>,
    ) -> Outcome {
        // `SetComments`
        if let (Some(dest), Some(patch)) = (&mut dest, &patch) {
            dest.comment = patch.comment.clone().or(dest.comment.take());
        }
        let present = [&dest, &patch].into_iter().flatten().find(|node| !node.is_null());
        match present.map(|node| &node.value) {
            None | Some(Value::Map(_)) => {
                check_kinds(&dest, &patch, |v| matches!(v, Value::Map(_)))?;
                self.map(dest, patch, field)
            }
            Some(Value::Seq(_)) => {
                check_kinds(&dest, &patch, |v| matches!(v, Value::Seq(_)))?;
                match field {
                    Some(Field::List(list)) => self.merged_list(dest, patch, list),
                    _ => Ok(patch_or_dest(dest, patch)),
                }
            }
            Some(Value::Scalar(_)) => {
                check_kinds(&dest, &patch, |v| matches!(v, Value::Scalar(_)))?;
                Ok(patch_or_dest(dest, patch))
            }
        }
    }

    /// `VisitMap`, then the fields.
    fn map(&self, dest: Option<Node>, patch: Option<Node>, field: Option<Field<'s>>) -> Outcome {
        let schema = self.schema(&field, [dest.as_ref(), patch.as_ref()]);
        let Some(dest) = dest.filter(|node| !node.is_null() || patch.is_none()) else {
            return self.added(patch, field);
        };
        if dest.is_null() {
            return Ok(kept_null(dest));
        }
        let Some(mut patch) = patch else {
            return self.fields(dest, None, schema, From::Dest);
        };
        if patch.is_null() {
            return Ok(None);
        }
        match take_map_directive(&mut patch)? {
            Directive::Delete => Ok(None),
            Directive::Replace => self.same_fields(patch, schema),
            Directive::Merge => self.fields(dest, Some(patch), schema, From::Dest),
        }
    }

    /// A map (or null, or nothing) of the patch where the target has none.
    fn added(&self, patch: Option<Node>, field: Option<Field<'s>>) -> Outcome {
        let Some(mut patch) = patch else { return Ok(None) };
        if patch.is_null() {
            return Ok(Merged::of(patch, From::Patch));
        }
        let schema = self.schema(&field, [Some(&patch), None]);
        // An unknown directive is not minded here; it stays as a field.
        if take_map_directive(&mut patch).is_ok_and(|directive| directive == Directive::Delete) {
            return Ok(None);
        }
        self.same_fields(patch, schema)
    }

    fn fields(
        &self,
        mut dest: Node,
        patch: Option<Node>,
        schema: Option<Schema<'s>>,
        from: From,
    ) -> Outcome {
        let mut patches = match patch.map(|patch| patch.value) {
            Some(Value::Map(map)) => without_repeated(map.into_entries()),
            _ => Vec::new(),
        };
        if let Some(map) = dest.as_map_mut() {
            self.target_fields(map, &mut patches, schema)?;
            patches.sort_by(|a, b| a.key.text.cmp(&b.key.text));
            for entry in patches {
                self.add_field(map, entry, schema)?;
            }
        }
        Ok(Merged::of(dest, from))
    }

    /// Merges each field of the target with the patch's of the same name, which is taken out.
    fn target_fields(
        &self,
        map: &mut Map,
        patches: &mut Vec<Entry>,
        schema: Option<Schema<'s>>,
    ) -> Result<(), BuildError> {
        let mut at = 0;
        for is_repeated in repeats(map) {
            if is_repeated {
                at += 1;
                continue;
            }
            let entry = &mut map.entries_mut()[at];
            check_name(&entry.key.text, entry.value.origin)?;
            let patch = take_first(patches, &entry.key.text);
            let field = schema.map(|schema| schema.field(&entry.key.text));
            let is_plain_scalar = patch.is_none()
                && matches!(&entry.value.value, Value::Scalar(scalar) if scalar.tag != Tag::Null);
            if is_plain_scalar {
                // It is set again, as every field is.
                entry.value.quote_if_yaml_1_1_differs();
                at += 1;
                continue;
            }
            let origin = entry.value.origin;
            let old = std::mem::replace(&mut entry.value, Node::null(origin));
            let written = Written::of(&old, patch.as_ref());
            let merged = self.walk(Sources::Two(Some(old), patch), field.flatten())?;
            match merged.filter(|merged| merged.keep_null || !merged.node.is_null()) {
                Some(merged) => {
                    entry.value = merged.node;
                    written.keep(&mut entry.value);
                    at += 1;
                }
                None => {
                    map.entries_mut().remove(at);
                }
            }
        }
        Ok(())
    }

    /// A field of the patch that the target does not have.
    fn add_field(
        &self,
        map: &mut Map,
        entry: Entry,
        schema: Option<Schema<'s>>,
    ) -> Result<(), BuildError> {
        check_name(&entry.key.text, entry.value.origin)?;
        let field = schema.and_then(|schema| schema.field(&entry.key.text));
        let merged = self.walk(Sources::Two(None, Some(entry.value)), field)?;
        if let Some(mut merged) = merged.filter(|merged| !merged.node.is_null()) {
            merged.node.quote_if_yaml_1_1_differs();
            merged.node.is_key_commented = false;
            let key = Scalar { style: entry.key.style, ..Scalar::untagged(entry.key.text) };
            map.entries_mut().push(Entry { key, value: merged.node });
        }
        Ok(())
    }

    /// A value that is the target's and the patch's at once.
    fn walk_same(&self, mut node: Node, field: Option<Field<'s>>) -> Outcome {
        match &node.value {
            _ if node.is_null() => Ok(Merged::of(node, From::Patch)),
            Value::Scalar(_) => Ok(Merged::of(node, From::Patch)),
            Value::Map(_) => {
                let schema = self.schema(&field, [Some(&node), None]);
                match take_map_directive(&mut node)? {
                    Directive::Delete => Ok(None),
                    Directive::Replace | Directive::Merge => self.same_fields(node, schema),
                }
            }
            Value::Seq(_) => match field {
                Some(Field::List(list)) => match take_seq_directive(&mut node)? {
                    Directive::Delete => Ok(None),
                    Directive::Replace | Directive::Merge => self.same_list(node, list),
                },
                _ => Ok(Merged::of(node, From::Patch)),
            },
        }
    }

    /// The fields of a map that is both: nulls and deleted maps go.
    fn same_fields(&self, mut node: Node, schema: Option<Schema<'s>>) -> Outcome {
        let origin = node.origin;
        if let Some(map) = node.as_map_mut() {
            let mut at = 0;
            for is_repeated in repeats(map) {
                if is_repeated {
                    at += 1;
                    continue;
                }
                let entry = &mut map.entries_mut()[at];
                check_name(&entry.key.text, entry.value.origin)?;
                let field = schema.and_then(|schema| schema.field(&entry.key.text));
                let value = std::mem::replace(&mut entry.value, Node::null(origin));
                match self.walk_same(value, field)?.filter(|merged| !merged.node.is_null()) {
                    Some(merged) => {
                        entry.value = merged.node;
                        entry.value.quote_if_yaml_1_1_differs();
                        at += 1;
                    }
                    None => {
                        map.entries_mut().remove(at);
                    }
                }
            }
        }
        Ok(Merged::of(node, From::Patch))
    }
}

fn patch_or_dest(dest: Option<Node>, patch: Option<Node>) -> Option<Merged> {
    match (patch, dest) {
        (Some(patch), _) => Merged::of(patch, From::Patch),
        (None, Some(dest)) => Merged::of(dest, From::Dest),
        (None, None) => None,
    }
}

/// A null of the target that the patch does not name: it stays if it is written out (`null`, `~`)
/// and goes if nothing is written.
fn kept_null(dest: Node) -> Option<Merged> {
    let is_written = dest.as_text().is_some_and(|text| !text.is_empty());
    is_written.then_some(Merged { node: dest, from: From::Dest, keep_null: true })
}

/// Of each entry, whether one of the same key stands before it, which then counts; the later one is left
/// as it is, also where the first goes.
fn repeats(map: &Map) -> Vec<bool> {
    let entries = map.entries().iter().enumerate();
    entries.map(|(at, entry)| map.position(&entry.key.text) != Some(at)).collect()
}

/// Of a key that stands twice in a patch the first counts.
fn without_repeated(mut entries: Vec<Entry>) -> Vec<Entry> {
    let mut known = HashSet::with_capacity(entries.len());
    entries.retain(|entry| known.insert(Text::clone(&entry.key.text)));
    entries
}

fn take_first(entries: &mut Vec<Entry>, key: &str) -> Option<Node> {
    let at = entries.iter().position(|entry| &*entry.key.text == key)?;
    Some(entries.remove(at).value)
}

/// How a field is written. A field that is set keeps it, whatever is set (`FieldSetter`): a number in
/// place of a quoted one becomes a string. It also stays one value with the others it was one with.
struct Written {
    style: Style,
    shared: u32,
    layout: Layout,
    is_key_commented: bool,
}

impl Written {
    /// An empty collection takes the layout of the patch's (`SetStyle`).
    fn of(old: &Node, patch: Option<&Node>) -> Self {
        let is_empty_collection = old.as_scalar().is_none() && old.is_nil_or_empty();
        let layout = match patch {
            Some(patch) if is_empty_collection => patch.layout,
            _ => old.layout,
        };
        let (style, shared) = old.as_scalar().map_or((Style::Plain, 0), |s| (s.style, s.shared));
        let shared = if patch.is_some() { shared_values::written(shared) } else { shared };
        Self { style, shared, layout, is_key_commented: old.is_key_commented }
    }

    fn keep(self, node: &mut Node) {
        node.layout = self.layout;
        node.is_key_commented = self.is_key_commented;
        if let Some(scalar) = node.as_scalar_mut() {
            scalar.style = self.style;
            scalar.shared = self.shared;
        }
    }
}

/// A field without a name cannot be set.
fn check_name(key: &str, origin: Origin) -> Result<(), BuildError> {
    if !key.is_empty() {
        return Ok(());
    }
    let message = "an object with an empty key cannot be patched";
    Err(BuildError::new(BuildErrorKind::Patch, message).at(origin))
}

fn check_kinds(
    dest: &Option<Node>,
    patch: &Option<Node>,
    fits: fn(&Value) -> bool,
) -> Result<(), BuildError> {
    let unfit = |node: &Option<Node>| {
        node.as_ref().is_some_and(|node| !node.is_null() && !fits(&node.value))
    };
    if !unfit(dest) && !unfit(patch) {
        return Ok(());
    }
    let name = |node: &Option<Node>| match node.as_ref().map(|node| &node.value) {
        Some(Value::Map(_)) => "an object",
        Some(Value::Seq(_)) => "a list",
        _ => "a scalar",
    };
    let message = format!("the patch has {} where the resource has {}", name(patch), name(dest));
    let origin = patch.as_ref().or(dest.as_ref()).map(|node| node.origin).unwrap_or_default();
    Err(BuildError::new(BuildErrorKind::Patch, message).at(origin))
}
