//! What a text says, without how it is written: the measure of every edit.
//!
//! Aliases are expanded, so that a change that leaks through an anchor shows. Scalars keep their text and whether
//! they are strings; two plain scalars that resolve alike but differ in text count as different, which is stricter
//! than go-yaml and independent of which of its rules apply.

use super::tree::{Kind, NodeId, Style, Tree};
use super::value::{Value, is_plain_string};

/// The data of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Data {
    tag: Option<Box<str>>,
    shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    Scalar { text: String, is_string: bool },
    Seq(Vec<Data>),
    Map(Vec<(Data, Data)>),
}

/// The data of all documents of a text.
pub(super) fn documents(tree: &Tree<'_>) -> Vec<Data> {
    tree.roots().iter().map(|root| Data::read(tree, *root)).collect()
}

/// Where a change happens: the document, then the position in each collection.
pub(super) type Place = Vec<usize>;

/// An edit in terms of data.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// A new value.
    Replace(Place, Data),
    /// A new item of a sequence, or pair of a mapping, at a position.
    Insert(Place, usize, Option<Data>, Data),
    /// An item or pair that goes.
    Remove(Place, usize),
    /// A new key of a pair.
    Rename(Place, usize, Data),
    /// The first value of a text without documents.
    NewDocument(Data),
}

impl Data {
    pub(super) fn string(text: impl Into<String>) -> Self {
        Data { tag: None, shape: Shape::Scalar { text: text.into(), is_string: true } }
    }

    /// The data of a node, aliases expanded. The tree's own limits bound size and depth.
    pub(super) fn read(tree: &Tree<'_>, id: NodeId) -> Self {
        let node = tree.node(id);
        let shape = match &node.kind {
            Kind::Alias { target } => return Data::read(tree, *target),
            Kind::Scalar { value, style } => {
                let is_string = match node.tag.as_deref() {
                    Some("!!str" | "!") => true,
                    Some(_) => false,
                    None => *style != Style::Plain || is_plain_string(value),
                };
                Shape::Scalar { text: value.clone().into_owned(), is_string }
            }
            Kind::Seq { .. } => {
                Shape::Seq(tree.items(id).iter().map(|i| Data::read(tree, *i)).collect())
            }
            Kind::Map { .. } => Shape::Map(
                tree.pairs(id).map(|(k, v)| (Data::read(tree, k), Data::read(tree, v))).collect(),
            ),
        };
        Data { tag: node.tag.clone(), shape }
    }

    /// The data that `value` stands for.
    pub(super) fn of(value: &Value) -> Self {
        let shape = match value {
            Value::Seq(items) => Shape::Seq(items.iter().map(Data::of).collect()),
            Value::Map(pairs) => Shape::Map(
                pairs.iter().map(|(k, v)| (Data::string(k.as_str()), Data::of(v))).collect(),
            ),
            single => {
                let (text, is_string) = single.single().unwrap_or_default();
                Shape::Scalar { text, is_string }
            }
        };
        Data { tag: None, shape }
    }

    fn child(&mut self, index: usize) -> Option<&mut Data> {
        match &mut self.shape {
            Shape::Seq(items) => items.get_mut(index),
            Shape::Map(pairs) => pairs.get_mut(index).map(|(_, value)| value),
            Shape::Scalar { .. } => None,
        }
    }
}

/// Applies a change; `None` if its place does not exist.
pub(super) fn apply(documents: &mut Vec<Data>, change: Change) -> Option<()> {
    match change {
        Change::NewDocument(data) => {
            documents.is_empty().then_some(())?;
            documents.push(data);
        }
        Change::Replace(place, data) => *at(documents, &place)? = data,
        Change::Insert(place, index, key, data) => match (&mut at(documents, &place)?.shape, key) {
            (Shape::Seq(items), None) if index <= items.len() => items.insert(index, data),
            (Shape::Map(pairs), Some(key)) if index <= pairs.len() => {
                pairs.insert(index, (key, data))
            }
            _ => return None,
        },
        Change::Remove(place, index) => match &mut at(documents, &place)?.shape {
            Shape::Seq(items) if index < items.len() => drop(items.remove(index)),
            Shape::Map(pairs) if index < pairs.len() => drop(pairs.remove(index)),
            _ => return None,
        },
        Change::Rename(place, index, key) => match &mut at(documents, &place)?.shape {
            Shape::Map(pairs) => pairs.get_mut(index)?.0 = key,
            _ => return None,
        },
    }
    Some(())
}

fn at<'d>(documents: &'d mut [Data], place: &[usize]) -> Option<&'d mut Data> {
    let (document, rest) = place.split_first()?;
    rest.iter().try_fold(documents.get_mut(*document)?, |data, index| data.child(*index))
}

/// The place of a node that is a root, an item or a value; `None` for keys and what is inside them.
pub(super) fn place_of(tree: &Tree<'_>, id: NodeId) -> Option<Place> {
    let mut place = Vec::new();
    let mut node = id;
    while let Some(parent) = tree.node(node).parent() {
        place.push(position(tree, parent, node)?);
        node = parent;
    }
    place.push(tree.roots().iter().position(|root| *root == node)?);
    place.reverse();
    Some(place)
}

/// The position of an item in its sequence, or of the pair of a value in its mapping.
pub(super) fn position(tree: &Tree<'_>, parent: NodeId, child: NodeId) -> Option<usize> {
    match tree.node(parent).kind {
        Kind::Seq { .. } => tree.items(parent).iter().position(|item| *item == child),
        _ => tree.pairs(parent).position(|(_, value)| value == child),
    }
}
