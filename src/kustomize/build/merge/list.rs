//! Lists that are merged by key.
//!
//! Source: kyaml v0.21.1 `yaml/walk/associative_sequence.go`.

use super::arena::{Arena, not_a, value_of};
use super::directive::{Directive, take_seq_directive};
use super::{From, Merged, Outcome, Sources, Walker};
use crate::kustomize::build::schema::ListSchema;
use crate::kustomize::error::BuildError;
use crate::kustomize::node::{Layout, Map, Node, Tag, Text, Value};

/// The values of the merge keys of one element; an absent one is empty.
type KeyValues = Vec<Text>;

/// The two lists of a merge.
struct Lists {
    arena: Arena,
    dest: Vec<usize>,
    /// `None` if there is no patch; the same as `dest` if the list is both.
    patch: Option<Vec<usize>>,
    same: bool,
}

impl Lists {
    fn patch(&self) -> &[usize] {
        match &self.patch {
            _ if self.same => &self.dest,
            Some(patch) => patch,
            None => &[],
        }
    }
}

impl<'s> Walker<'s> {
    /// `VisitList` for a list that is merged, then its elements.
    pub(super) fn merged_list(
        &self,
        dest: Option<Node>,
        patch: Option<Node>,
        schema: ListSchema<'s>,
    ) -> Outcome {
        let Some(dest) = dest.filter(|node| !node.is_null()) else {
            return match patch {
                Some(patch) if !patch.is_null() => self.added_list(patch, schema),
                other => Ok(other.and_then(|node| Merged::of(node, From::Patch))),
            };
        };
        let Some(mut patch) = patch else {
            return self.elements(dest, None, schema, From::Dest);
        };
        if patch.is_null() {
            return Ok(None);
        }
        match take_seq_directive(&mut patch)? {
            Directive::Delete => Ok(None),
            Directive::Replace => self.same_list(patch, schema),
            Directive::Merge => self.elements(dest, Some(patch), schema, From::Dest),
        }
    }

    /// A list of the patch where the target has none: one with elements is a new list, laid out anew.
    fn added_list(&self, node: Node, schema: ListSchema<'s>) -> Outcome {
        let layout = if node.is_nil_or_empty() { node.layout } else { Layout::Block };
        self.same_list(Node { layout, ..node }, schema)
    }

    /// A list that is the target's and the patch's at once.
    pub(super) fn same_list(&self, node: Node, schema: ListSchema<'s>) -> Outcome {
        if node.is_nil_or_empty() {
            return Ok(Merged::of(node, From::Patch));
        }
        let (origin, layout, is_key_commented) = (node.origin, node.layout, node.is_key_commented);
        let mut lists =
            Lists { arena: Arena::default(), dest: Vec::new(), patch: None, same: true };
        lists.dest = lists.arena.add(items_of(node));
        let items = self.set_elements(lists, schema)?;
        Ok(Merged::of(Node { layout, is_key_commented, ..Node::seq(items, origin) }, From::Patch))
    }

    fn elements(
        &self,
        dest: Node,
        patch: Option<Node>,
        schema: ListSchema<'s>,
        from: From,
    ) -> Outcome {
        let origin = dest.origin;
        let mut arena = Arena::default();
        let dest = arena.add(items_of(dest));
        let patch = patch.map(|patch| arena.add(items_of(patch)));
        let items = self.set_elements(Lists { arena, dest, patch, same: false }, schema)?;
        Ok(Merged::of(Node::seq(items, origin), from))
    }

    fn set_elements(
        &self,
        mut lists: Lists,
        schema: ListSchema<'s>,
    ) -> Result<Vec<Node>, BuildError> {
        let primitive = schema.keys.is_empty();
        let keys: Vec<&str> = if primitive { vec![""] } else { schema.keys.to_vec() };
        let mut all = if primitive { primitive_values(&lists) } else { key_values(&lists, &keys) };
        if keys.len() > 1 {
            unite_values(&mut all);
        }
        if all.is_empty() {
            return Ok(lists.dest.iter().map(|id| lists.arena.take(*id)).collect());
        }
        let valid: Vec<usize> = valid_keys(&all, keys.len());
        let keys: Vec<&str> = valid.iter().map(|at| keys[*at]).collect();
        let mut result = Vec::new();
        for values in &all {
            let values: KeyValues = valid.iter().map(|at| Text::clone(&values[*at])).collect();
            if let Some(id) = self.set_element(&mut lists, &keys, &values, &schema)? {
                lists.arena.set(&mut result, Some(id), &keys, &values)?;
            }
        }
        append(&lists.arena, &mut result, &lists.dest, &keys)?;
        Ok(lists.arena.collect(&result))
    }

    /// Merges the element of one set of key values; `None` if nothing is left of it, and then the
    /// target's goes too.
    fn set_element(
        &self,
        lists: &mut Lists,
        keys: &[&str],
        values: &[Text],
        schema: &ListSchema<'s>,
    ) -> Result<Option<usize>, BuildError> {
        let (present_keys, present_values) = present(keys, values);
        let dest = lists.arena.find(&lists.dest, &present_keys, &present_values);
        let patch = lists.arena.find(lists.patch(), &present_keys, &present_values);
        let field = schema.element.map(super::Field::Map);
        let merged = match (dest, patch) {
            (Some(dest), Some(patch)) if dest == patch => {
                let node = lists.arena.take(dest);
                // A deleted element stays in the list, without its directive, where its keys do not
                // find it again.
                let left = node.get("$patch").is_some().then(|| without_directives(&node));
                let merged = self.walk(Sources::Same(node), field)?;
                if let Some(left) = left.filter(|_| merged.is_none()) {
                    lists.arena.nodes[dest] = left;
                }
                merged
            }
            _ => {
                let patch_node = patch.map(|id| lists.arena.take(id));
                // It stays in the patch's list, without its directives, for other keys to find.
                if let (Some(id), Some(node)) = (patch, &patch_node)
                    && (dest.is_some() || node.get("$patch").is_some())
                {
                    lists.arena.nodes[id] = without_directives(node);
                }
                // A patch that replaces leaves the target's element as it is in the target's list, as does
                // one that is a scalar.
                let replaces = patch_node.as_ref().is_some_and(|node| node.get("$patch").is_some());
                let comment = patch_node.as_ref().and_then(|node| node.comment.clone());
                let dest = dest.map(|id| {
                    let node = &mut lists.arena.nodes[id];
                    node.comment = comment.or_else(|| node.comment.take());
                    let copies = replaces || node.as_scalar().is_some();
                    if copies { node.clone() } else { lists.arena.take(id) }
                });
                self.walk(Sources::Two(dest, patch_node), field)?
            }
        };
        let merged =
            merged.filter(|m| !m.node.is_null() && !m.node.as_map().is_some_and(Map::is_empty));
        let Some(Merged { mut node, from, .. }) = merged else {
            lists.arena.set(&mut lists.dest, None, keys, values)?;
            return Ok(None);
        };
        restore_keys(&mut node, keys, values);
        // The element itself is what was merged into, in every list it is in.
        let id = match from {
            From::Dest => dest,
            From::Patch => patch,
        };
        let Some(id) = id else { return Ok(None) };
        lists.arena.nodes[id] = node;
        Ok(Some(id))
    }
}

/// What a merge leaves of an object of a patch.
fn without_directives(node: &Node) -> Node {
    let mut node = node.clone();
    remove_directives(&mut node);
    node
}

fn remove_directives(node: &mut Node) {
    let Some(map) = node.as_map_mut() else { return };
    map.remove("$patch");
    map.entries_mut().iter_mut().for_each(|entry| remove_directives(&mut entry.value));
}

/// Makes sure that the keys are set. A scalar is set to its own text, and forgets its type and its
/// comment by that.
fn restore_keys(node: &mut Node, keys: &[&str], values: &[Text]) {
    let origin = node.origin;
    if let Some(scalar) = node.as_scalar_mut().filter(|scalar| !scalar.text.is_empty()) {
        scalar.tag = Tag::Unset;
        node.comment = None;
    }
    let Some(map) = node.as_map_mut() else { return };
    for (key, value) in keys.iter().zip(values) {
        if map.get(key).is_none() && !value.is_empty() {
            map.set_field(key, Node::untagged(Text::clone(value), origin));
        }
    }
}

fn items_of(node: Node) -> Vec<Node> {
    match node.value {
        Value::Seq(items) => items,
        _ => Vec::new(),
    }
}

/// `elementValues`: of the patch's elements first, each once.
fn key_values(lists: &Lists, keys: &[&str]) -> Vec<KeyValues> {
    let mut all: Vec<KeyValues> = Vec::new();
    for id in lists.patch().iter().chain(&lists.dest) {
        let node = &lists.arena.nodes[*id];
        let value = |key: &&str| {
            let field = node.get(key).filter(|field| !field.is_nil_or_empty());
            field.and_then(Node::as_text).cloned().unwrap_or_default()
        };
        let values: KeyValues = keys.iter().map(value).collect();
        if !all.contains(&values) {
            all.push(values);
        }
    }
    all
}

/// `elementPrimitiveValues`.
fn primitive_values(lists: &Lists) -> Vec<KeyValues> {
    let mut all: Vec<KeyValues> = Vec::new();
    for id in lists.patch().iter().chain(&lists.dest) {
        let values = vec![lists.arena.nodes[*id].as_text().cloned().unwrap_or_default()];
        if !all.contains(&values) {
            all.push(values);
        }
    }
    all
}

/// `mergeValues`: values that differ only where one is empty are taken for one element.
fn unite_values(all: &mut [KeyValues]) {
    for i in 0..all.len() {
        let first = all[i].clone();
        for j in 0..all.len() {
            if let Some(united) = united(&first, &all[j]) {
                all[i].clone_from(&united);
                all[j] = united;
            }
        }
    }
}

fn united(a: &KeyValues, b: &KeyValues) -> Option<KeyValues> {
    let mut common = false;
    let mut result = KeyValues::with_capacity(a.len());
    for (x, y) in a.iter().zip(b) {
        common |= x == y;
        match (x == y, x.is_empty(), y.is_empty()) {
            (true, ..) | (false, false, true) => result.push(Text::clone(x)),
            (false, true, _) => result.push(Text::clone(y)),
            (false, false, false) => return None,
        }
    }
    common.then_some(result)
}

/// `validateKeys`: the keys that some element has; all of them if none has any.
fn valid_keys(all: &[KeyValues], count: usize) -> Vec<usize> {
    let used: Vec<usize> =
        (0..count).filter(|at| all.iter().any(|values| !values[*at].is_empty())).collect();
    if used.is_empty() { (0..count).collect() } else { used }
}

/// The keys of one element that have a value; all of them if none has.
fn present<'k>(keys: &[&'k str], values: &[Text]) -> (Vec<&'k str>, Vec<Text>) {
    let pairs = keys.iter().zip(values).filter(|(_, value)| !value.is_empty());
    let (present_keys, present_values): (Vec<&str>, Vec<Text>) =
        pairs.map(|(key, value)| (*key, Text::clone(value))).unzip();
    if present_keys.is_empty() {
        return (keys.to_vec(), values.to_vec());
    }
    (present_keys, present_values)
}

/// `appendListNode`: puts the target's elements behind the result's, each in place of the one of
/// its keys. An element without one of them first goes to the end and then, if it has none at all,
/// takes everything else with it.
fn append(
    arena: &Arena,
    result: &mut Vec<usize>,
    dest: &[usize],
    keys: &[&str],
) -> Result<(), BuildError> {
    for id in dest.iter().copied() {
        let node = &arena.nodes[id];
        if keys[0].is_empty() {
            let text = node.as_text().cloned().unwrap_or_default();
            arena.set(result, Some(id), keys, &[text])?;
            continue;
        }
        let mut values = KeyValues::new();
        for key in keys {
            if !node.is_null() && node.as_map().is_none() {
                return Err(not_a(node, "an object"));
            }
            match node.get(key) {
                Some(value) => values.push(Text::from(value_of(value))),
                None => result.push(id),
            }
        }
        if keys.len() > 1 {
            arena.set(result, None, keys, &values)?;
        }
        arena.set(result, Some(id), keys, &values)?;
    }
    Ok(())
}
