//! Paths to values in a document: keys, positions and entries found by a field.
//!
//! Lookups never guess: a duplicate key, two matching entries, an alias, an anchored value in use, a merge key and an
//! explicit `? key` on the way are refused, since an edit there would change something else than it seems to.

use std::fmt;
use std::str::FromStr;

use super::refusal::Reason;
use super::tree::{Kind, NodeId, Tree};

/// One step from a collection to a value in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The value of a key of a mapping.
    Key(String),
    /// The item at a position of a list, from 0.
    Index(usize),
    /// The one item of a list of mappings whose field has this value.
    Item {
        /// The field, as `name`.
        field: String,
        /// Its decoded text.
        value: String,
    },
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Key(key) if key.contains(['.', '[', ']', '"']) || key.is_empty() => {
                write!(f, "[{key:?}]")
            }
            Step::Key(key) => f.write_str(key),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Item { field, value } => write!(f, "[{field}={value}]"),
        }
    }
}

/// A path from the root of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// The steps, from the root on.
    pub steps: Vec<Step>,
    /// Which document of the text, from 0.
    pub document: usize,
    /// Whether keys match in any case, as kustomize reads `kustomization.yaml`.
    pub any_case: bool,
}

impl Path {
    /// The root of the first document; keys match exactly.
    #[must_use]
    pub fn root() -> Self {
        Path::default()
    }

    /// The root of a kustomization: the first document, keys in any case.
    #[must_use]
    pub fn kustomization() -> Self {
        Path { any_case: true, ..Path::default() }
    }

    /// The same path in another document of the text, counted from 0.
    #[must_use]
    pub fn in_document(mut self, document: usize) -> Self {
        self.document = document;
        self
    }

    /// The value of a key.
    #[must_use]
    pub fn key(self, key: impl Into<String>) -> Self {
        self.step(Step::Key(key.into()))
    }

    /// An item by position, from 0.
    #[must_use]
    pub fn index(self, index: usize) -> Self {
        self.step(Step::Index(index))
    }

    /// The item whose `field` is `value`.
    #[must_use]
    pub fn item(self, field: impl Into<String>, value: impl Into<String>) -> Self {
        self.step(Step::Item { field: field.into(), value: value.into() })
    }

    /// One more step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// The path without its last step, and that step.
    #[must_use]
    pub fn split_last(&self) -> Option<(Path, &Step)> {
        let (last, steps) = self.steps.split_last()?;
        Some((Path { steps: steps.to_vec(), ..*self }, last))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.steps.iter().enumerate() {
            let text = step.to_string();
            if i > 0 && !text.starts_with('[') {
                f.write_str(".")?;
            }
            f.write_str(&text)?;
        }
        Ok(())
    }
}

/// A text that is no path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no path; write it like images[name=app].newTag, patches[0].patch or labels[\"a.b/c\"]"
)]
pub struct PathError(String);

impl FromStr for Path {
    type Err = PathError;

    /// Reads `images[name=app].newTag`, `patches[0]`, `metadata.labels["a.b/c"]`; keys match exactly.
    fn from_str(text: &str) -> Result<Self, PathError> {
        let wrong = || PathError(text.to_owned());
        let mut path = Path::root();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(tail) = rest.strip_prefix('[') {
                let (step, tail) = bracket(tail).ok_or_else(wrong)?;
                path.steps.push(step);
                rest = tail;
            } else {
                let tail = if path.steps.is_empty() {
                    rest
                } else {
                    rest.strip_prefix('.').ok_or_else(wrong)?
                };
                let end = tail.find(['.', '[']).unwrap_or(tail.len());
                if end == 0 {
                    return Err(wrong());
                }
                path.steps.push(Step::Key(tail[..end].to_owned()));
                rest = &tail[end..];
            }
        }
        Ok(path)
    }
}

/// The step in brackets, and what follows the closing one.
fn bracket(text: &str) -> Option<(Step, &str)> {
    if text.starts_with('"') {
        let mut stream = serde_json::Deserializer::from_str(text).into_iter::<String>();
        let key = stream.next()?.ok()?;
        let tail = text[stream.byte_offset()..].strip_prefix(']')?;
        return Some((Step::Key(key), tail));
    }
    let (inner, tail) = text.split_once(']')?;
    let step = match inner.split_once('=') {
        Some((field, value)) => Step::Item { field: field.to_owned(), value: value.to_owned() },
        None => Step::Index(inner.parse().ok()?),
    };
    Some((step, tail))
}

/// The end of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The value at the path.
    Node(NodeId),
    /// The step at this position has no value; the collection (or absent value) it starts from exists.
    Missing { parent: NodeId, step: usize },
    /// The text has no such document.
    NoDocument,
}

/// Follows `path`; the error names the node to blame.
pub(super) fn find(tree: &Tree<'_>, path: &Path) -> Result<Found, (NodeId, Reason)> {
    let Some(root) = tree.roots().get(path.document) else { return Ok(Found::NoDocument) };
    let mut node = *root;
    check_shared(tree, node)?;
    for (i, step) in path.steps.iter().enumerate() {
        match follow(tree, node, step, path.any_case)? {
            Some(next) => node = next,
            None => return Ok(Found::Missing { parent: node, step: i }),
        }
        check_shared(tree, node)?;
    }
    Ok(Found::Node(node))
}

/// Refuses aliases, and anchors in use.
fn check_shared(tree: &Tree<'_>, id: NodeId) -> Result<(), (NodeId, Reason)> {
    let node = tree.node(id);
    if let Kind::Alias { .. } = node.kind {
        return Err((id, Reason::Alias(tree.source(id).to_owned())));
    }
    check_anchor(tree, id)
}

/// Refuses an anchor that some alias uses.
pub(super) fn check_anchor(tree: &Tree<'_>, id: NodeId) -> Result<(), (NodeId, Reason)> {
    match tree.node(id).anchor().map(|a| &tree.anchors()[a]) {
        Some(anchor) if anchor.uses > 0 => {
            let name = tree.text()[anchor.span.clone()].to_owned();
            Err((id, Reason::Anchor { anchor: name, uses: anchor.uses }))
        }
        _ => Ok(()),
    }
}

fn follow(
    tree: &Tree<'_>,
    from: NodeId,
    step: &Step,
    any_case: bool,
) -> Result<Option<NodeId>, (NodeId, Reason)> {
    let node = tree.node(from);
    let nothing = node.is_absent() || is_null_word(tree, from);
    match (step, &node.kind) {
        (Step::Key(key), Kind::Map { .. }) => {
            Ok(find_pair(tree, from, key, any_case)?.map(|(_, value)| value))
        }
        (Step::Index(index), Kind::Seq { .. }) => Ok(tree.items(from).get(*index).copied()),
        (Step::Item { field, value }, Kind::Seq { .. }) => {
            find_item(tree, from, field, value, any_case)
        }
        _ if nothing => Ok(None),
        (step, _) => {
            let wanted = if matches!(step, Step::Key(_)) { "a mapping" } else { "a list" };
            let path = describe(tree, from);
            Err((from, Reason::WrongKind { path, wanted, found: kind_name(tree, from) }))
        }
    }
}

/// Whether a node is written `~` or `null`.
pub(super) fn is_null_word(tree: &Tree<'_>, id: NodeId) -> bool {
    let node = tree.node(id);
    node.style() == Some(super::Style::Plain)
        && node.tag.is_none()
        && node.scalar().is_some_and(|s| {
            super::scalar::resolve(s, super::Rules::Resource) == super::Resolved::Null
        })
}

/// A word for what a node is, for messages.
pub(super) fn kind_name(tree: &Tree<'_>, id: NodeId) -> &'static str {
    match tree.node(id).kind {
        Kind::Seq { .. } => "a list",
        Kind::Map { .. } => "a mapping",
        Kind::Alias { .. } => "an alias",
        Kind::Scalar { .. } => "a single value",
    }
}

/// The key that leads to a node, for messages.
fn describe(tree: &Tree<'_>, id: NodeId) -> String {
    let parent = tree.node(id).parent();
    let key = parent.and_then(|p| tree.pairs(p).find(|(_, value)| *value == id));
    key.and_then(|(k, _)| tree.node(k).scalar()).unwrap_or("this place").to_owned()
}

/// The pair of a key in a mapping.
///
/// Refuses the key standing twice (in any case, if asked), one written `? key`, and a mapping without the key but
/// with a merge key.
pub(super) fn find_pair(
    tree: &Tree<'_>,
    map: NodeId,
    key: &str,
    any_case: bool,
) -> Result<Option<(NodeId, NodeId)>, (NodeId, Reason)> {
    let mut found = tree.pairs(map).filter(|(k, _)| is_key(tree, *k, key, any_case));
    let first = found.next();
    if let (Some((a, _)), Some((b, _))) = (first, found.next()) {
        let (first, second) = (tree.node(a).line, tree.node(b).line);
        return Err((b, Reason::DuplicateKey { key: key.to_owned(), first, second }));
    }
    match first {
        Some((k, _)) if is_explicit(tree, k) => Err((k, Reason::ExplicitKey)),
        Some(pair) => Ok(Some(pair)),
        None => match tree.pairs(map).find(|(k, _)| tree.source(*k) == "<<") {
            Some((merge, _)) => Err((merge, Reason::MergeKey(key.to_owned()))),
            None => Ok(None),
        },
    }
}

/// Whether the key node says `key`; in any case as Go's `encoding/json` folds it, if asked.
fn is_key(tree: &Tree<'_>, node: NodeId, key: &str, any_case: bool) -> bool {
    let Some(text) = tree.node(tree.target(node)).scalar() else { return false };
    let fold = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    text == key || (any_case && text.chars().map(fold).eq(key.chars().map(fold)))
}

/// Whether a key is written behind a `?`.
pub(super) fn is_explicit(tree: &Tree<'_>, key: NodeId) -> bool {
    let node = tree.node(key);
    let gap = &tree.text()[node.before()..node.outer_start()];
    let uncommented = gap.rfind(['\n', '\r']).map_or(gap, |n| &gap[n..]);
    uncommented.contains('?')
}

fn find_item(
    tree: &Tree<'_>,
    list: NodeId,
    field: &str,
    value: &str,
    any_case: bool,
) -> Result<Option<NodeId>, (NodeId, Reason)> {
    let mut found: Option<NodeId> = None;
    for item in tree.items(list) {
        let map = tree.target(*item);
        let mut pairs = tree.pairs(map);
        let field_value = pairs.find(|(k, _)| is_key(tree, *k, field, any_case)).map(|(_, v)| v);
        match field_value {
            None => match tree.pairs(map).find(|(k, _)| tree.source(*k) == "<<") {
                Some((merge, _)) => return Err((merge, Reason::MergeKey(field.to_owned()))),
                None => continue,
            },
            Some(v) if tree.node(tree.target(v)).scalar() != Some(value) => continue,
            Some(_) => {}
        }
        if let Some(first) = found {
            let (a, b) = (tree.node(first).line, tree.node(*item).line);
            let (field, value) = (field.to_owned(), value.to_owned());
            return Err((*item, Reason::AmbiguousEntry { field, value, first: a, second: b }));
        }
        found = Some(*item);
    }
    Ok(found)
}
