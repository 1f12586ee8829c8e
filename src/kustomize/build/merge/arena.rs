//! The elements of lists that are merged.
//!
//! Source: kyaml v0.21.1 `yaml/fns.go` (`ElementSetter`, `ElementMatcher`, `FieldMatcher`). An element
//! may be in the target's list, the patch's and the result at once, as it is there, so elements live in an
//! arena and lists hold their numbers.

use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Map, Node, Text, Value};

/// Elements by number.
#[derive(Default)]
pub(super) struct Arena {
    /// The elements.
    pub(super) nodes: Vec<Node>,
}

impl Arena {
    /// Takes elements in, and returns their numbers.
    pub(super) fn add(&mut self, items: Vec<Node>) -> Vec<usize> {
        let from = self.nodes.len();
        self.nodes.extend(items);
        (from..self.nodes.len()).collect()
    }

    /// Takes an element out; a null stays in its place.
    pub(super) fn take(&mut self, id: usize) -> Node {
        let origin = self.nodes[id].origin;
        std::mem::replace(&mut self.nodes[id], Node::null(origin))
    }

    /// The elements of a list; one that is in it twice is there twice.
    pub(super) fn collect(&mut self, list: &[usize]) -> Vec<Node> {
        let mut nodes = Vec::with_capacity(list.len());
        for (at, id) in list.iter().enumerate() {
            let again = list[at + 1..].contains(id);
            nodes.push(if again { self.nodes[*id].clone() } else { self.take(*id) });
        }
        nodes
    }

    /// `ElementMatcher`: the first element whose keys have the values.
    pub(super) fn find(&self, list: &[usize], keys: &[&str], values: &[Text]) -> Option<usize> {
        list.iter().copied().find(|id| match keys {
            [] | [""] => self.nodes[*id].as_text().map_or("", |text| text) == &*values[0],
            _ => self.has_values(*id, keys, values),
        })
    }

    fn has_values(&self, id: usize, keys: &[&str], values: &[Text]) -> bool {
        self.nodes[id].as_map().is_some_and(|map| {
            keys.iter()
                .zip(values)
                .all(|(key, value)| map.get(key).is_some_and(|node| value_of(node) == &**value))
        })
    }

    /// `ElementSetter`: replaces the elements that match by `element`, or removes them, or adds
    /// `element` at the end if none matches. Null and empty elements go. An empty value matches
    /// whatever the key holds, and with no values at all everything goes.
    ///
    /// # Errors
    /// [`BuildErrorKind::Patch`] for an element that has no keys.
    pub(super) fn set(
        &self,
        list: &mut Vec<usize>,
        element: Option<usize>,
        keys: &[&str],
        values: &[Text],
    ) -> Result<(), BuildError> {
        let mut found = false;
        let mut kept = Vec::with_capacity(list.len() + 1);
        for id in list.iter().copied() {
            match self.judge(id, keys, values)? {
                Judged::Empty => {}
                Judged::Kept => kept.push(id),
                Judged::Other if values.is_empty() => {}
                Judged::Other => kept.push(id),
                Judged::Found => {
                    found = true;
                    kept.extend(element);
                }
            }
        }
        *list = kept;
        let addable = element.filter(|id| !found && !self.nodes[*id].is_null());
        list.extend(addable);
        Ok(())
    }

    fn judge(&self, id: usize, keys: &[&str], values: &[Text]) -> Result<Judged, BuildError> {
        let node = &self.nodes[id];
        if node.is_null() || node.as_map().is_some_and(Map::is_empty) {
            return Ok(Judged::Empty);
        }
        let seeks_map = keys.first().is_some_and(|key| !key.is_empty())
            && values.first().is_some_and(|value| !value.is_empty());
        if seeks_map && node.as_map().is_none() {
            return Ok(Judged::Kept);
        }
        for (at, key) in keys.iter().enumerate() {
            match values.get(at) {
                Some(value) if field_matches(node, key, value)? => {}
                // Without a value of its own a key counts as the one before it does.
                None if at > 0 => {}
                _ => return Ok(Judged::Other),
            }
        }
        Ok(Judged::Found)
    }
}

enum Judged {
    /// Null or an empty map.
    Empty,
    /// No map, where maps are sought.
    Kept,
    /// Not the one.
    Other,
    /// The one.
    Found,
}

/// `FieldMatcher`: an empty value matches any.
fn field_matches(node: &Node, key: &str, value: &str) -> Result<bool, BuildError> {
    if key.is_empty() {
        return match &node.value {
            Value::Scalar(_) => Ok(node.as_str().unwrap_or("") == value),
            _ => Err(not_a(node, "a scalar")),
        };
    }
    let Some(map) = node.as_map() else { return Err(not_a(node, "an object")) };
    let field = map.get(key);
    Ok(field.is_some_and(|field| value.is_empty() || value_of(field) == value))
}

/// The error for an element of another kind.
pub(super) fn not_a(node: &Node, expected: &str) -> BuildError {
    let message = format!("every element of this list must be {expected}");
    BuildError::new(BuildErrorKind::Patch, message).at(node.origin)
}

/// The text that a merge key is compared by.
pub(super) fn value_of(node: &Node) -> &str {
    node.as_text().map_or("", |text| text)
}

/// Removes the elements of `items` whose keys have the values, and empty ones.
///
/// # Errors
/// [`BuildErrorKind::Patch`] for an element that has no keys.
pub(super) fn drop_matching(
    items: &mut Vec<Node>,
    keys: &[&str],
    values: &[Text],
) -> Result<(), BuildError> {
    let mut arena = Arena::default();
    let mut list = arena.add(std::mem::take(items));
    arena.set(&mut list, None, keys, values)?;
    *items = list.into_iter().map(|id| arena.take(id)).collect();
    Ok(())
}
