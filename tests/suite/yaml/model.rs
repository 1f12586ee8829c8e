//! An edit told twice: to our document, and to the values that another YAML parser reads.

use overlay::yaml::{Document, Kind, NodeId, Path, Position, Refusal, Step, Tree, Value};
use serde::Deserialize as _;
use yaml_serde::Value as Theirs;

use crate::support::random::Random;

/// Strings that are easy to write wrongly.
const STRINGS: [&str; 24] = [
    "v2",
    "1.10",
    "on",
    "null",
    "",
    " x",
    "a: b",
    "a #b",
    "it's",
    "say \"x\"",
    "sha256:00ff",
    "a?b",
    "[x]",
    "{x",
    "- x",
    "1e3",
    "0123",
    "2024-01-15",
    "ä€🙂",
    "back\\slash",
    "a,b",
    "x:",
    "tab\there",
    "*x",
];

/// One edit.
#[derive(Clone, Debug)]
pub(super) enum Edit {
    Set(Path, Value),
    Append(Path, Value),
    InsertItem(Path, usize, Value),
    InsertKey(Path, String, Value),
    Remove(Path),
    Inline(Path, Box<Edit>),
}

impl Edit {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Edit::Set(..) => "set",
            Edit::Append(..) => "append",
            Edit::InsertItem(..) => "insert",
            Edit::InsertKey(..) => "key",
            Edit::Remove(..) => "remove",
            Edit::Inline(..) => "inline",
        }
    }

    pub(super) fn apply(&self, document: &mut Document) -> Result<(), Refusal> {
        match self {
            Edit::Set(path, value) => document.set(path, value),
            Edit::Append(path, item) => document.append(path, item),
            Edit::InsertItem(path, index, item) => document.insert_item(path, *index, item),
            Edit::InsertKey(path, key, value) => {
                document.insert_key(path, key, value, &Position::End)
            }
            Edit::Remove(path) => document.remove(path),
            Edit::Inline(path, edit) => document.edit_inline(path, |inner| edit.apply(inner)),
        }
    }

    /// The same edit on another parser's values; `None` if it does not see the place.
    pub(super) fn apply_to_theirs(&self, documents: &mut [Theirs]) -> Option<()> {
        match self {
            Edit::Set(path, value) => *at(documents, path)? = theirs(value),
            Edit::Append(path, item) => match at(documents, path)? {
                Theirs::Sequence(items) => items.push(theirs(item)),
                other @ Theirs::Null => *other = Theirs::Sequence(vec![theirs(item)]),
                _ => return None,
            },
            Edit::InsertItem(path, index, item) => {
                at(documents, path)?.as_sequence_mut()?.insert(*index, theirs(item))
            }
            Edit::InsertKey(path, key, value) => {
                at(documents, path)?.as_mapping_mut()?.insert(key.as_str().into(), theirs(value));
            }
            Edit::Remove(path) => remove(documents, path)?,
            Edit::Inline(path, edit) => {
                let text = at(documents, path)?;
                let mut inner = read(text.as_str()?).ok()?;
                edit.apply_to_theirs(&mut inner)?;
                *text = Theirs::Sequence(inner);
            }
        }
        Some(())
    }

    /// The path of the text that an inline edit changes, which is compared as data.
    pub(super) fn inline_path(&self) -> Option<&Path> {
        if let Edit::Inline(path, _) = self { Some(path) } else { None }
    }
}

/// Replaces the text at `path` by what it says.
pub(super) fn open_inline(documents: &mut [Theirs], path: &Path) -> Option<()> {
    let text = at(documents, path)?;
    *text = Theirs::Sequence(read(text.as_str()?).ok()?);
    Some(())
}

fn remove(documents: &mut [Theirs], path: &Path) -> Option<()> {
    let (parent, step) = path.split_last()?;
    let place = at(documents, &parent)?;
    match step {
        Step::Index(index) => {
            let items = place.as_sequence_mut()?;
            if items.len() == 1 {
                return remove(documents, &parent);
            }
            items.remove(*index);
        }
        Step::Key(key) => {
            place.as_mapping_mut()?.shift_remove(key.as_str())?;
        }
        Step::Item { .. } => return None,
    }
    Some(())
}

fn at<'d>(documents: &'d mut [Theirs], path: &Path) -> Option<&'d mut Theirs> {
    path.steps.iter().try_fold(documents.get_mut(path.document)?, |value, step| match step {
        Step::Key(key) => value.get_mut(key.as_str()),
        Step::Index(index) => value.get_mut(*index),
        Step::Item { .. } => None,
    })
}

fn theirs(value: &Value) -> Theirs {
    match value {
        Value::Null => Theirs::Null,
        Value::Bool(b) => (*b).into(),
        Value::Int(i) => (*i).into(),
        Value::Str(text) | Value::Styled(text, _) => text.as_str().into(),
        Value::Seq(items) => Theirs::Sequence(items.iter().map(theirs).collect()),
        Value::Map(pairs) => {
            Theirs::Mapping(pairs.iter().map(|(k, v)| (k.as_str().into(), theirs(v))).collect())
        }
    }
}

/// All documents as another parser reads them. It counts a byte-order mark as a column, unlike go-yaml, so it gets none.
pub(super) fn read(text: &str) -> Result<Vec<Theirs>, yaml_serde::Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    yaml_serde::Deserializer::from_str(text).map(Theirs::deserialize).collect()
}

/// The path of a node; `None` inside keys, and where keys are no strings.
fn path_of(tree: &Tree<'_>, id: NodeId) -> Option<Path> {
    let mut steps = Vec::new();
    let mut node = id;
    while let Some(parent) = tree.node(node).parent() {
        steps.push(match tree.node(parent).kind {
            Kind::Seq { .. } => Step::Index(tree.items(parent).iter().position(|i| *i == node)?),
            _ => {
                let (key, _) = tree.pairs(parent).find(|(_, value)| *value == node)?;
                Step::Key(tree.node(key).scalar()?.to_owned())
            }
        });
        node = parent;
    }
    steps.reverse();
    let document = tree.roots().iter().position(|root| *root == node)?;
    Some(Path { steps, document, any_case: false })
}

fn value(random: &mut Random) -> Value {
    let text = |random: &mut Random| Value::str(STRINGS[random.below(STRINGS.len())]);
    match random.below(6) {
        0 => Value::Int(random.below(100) as i64),
        1 => Value::Bool(true),
        _ => text(random),
    }
}

fn item(random: &mut Random) -> Value {
    match random.below(4) {
        0 => value(random),
        1 => Value::map([
            ("name", value(random)),
            ("patch", Value::literal("- op: add\n  path: /a\n")),
        ]),
        2 => {
            Value::map([("a", Value::Seq(vec![value(random), Value::map([("b", value(random))])]))])
        }
        _ => Value::map([("name", value(random)), ("newTag", value(random))]),
    }
}

/// Some edits of a text, chosen by chance.
pub(super) fn edits(tree: &Tree<'_>, random: &mut Random, depth: usize) -> Vec<Edit> {
    let of_kind = |want: &dyn Fn(&Kind<'_>) -> bool| -> Vec<NodeId> {
        let wanted = |id: &NodeId| want(&tree.node(*id).kind) && path_of(tree, *id).is_some();
        tree.ids().filter(wanted).collect()
    };
    let scalars = of_kind(&|k| matches!(k, Kind::Scalar { .. }));
    let lists = of_kind(&|k| matches!(k, Kind::Seq { .. }));
    let maps = of_kind(&|k| matches!(k, Kind::Map { .. }));
    let any = of_kind(&|_| true);
    let mut out = Vec::new();
    let mut choose =
        |ids: &[NodeId], random: &mut Random, make: &dyn Fn(Path, &mut Random) -> Edit| {
            if let Some(path) = random.choose(ids).and_then(|id| path_of(tree, *id)) {
                out.push(make(path, random));
            }
        };
    choose(&scalars, random, &|path, random| Edit::Set(path, value(random)));
    choose(&lists, random, &|path, random| Edit::Append(path, item(random)));
    choose(&lists, random, &|path, random| Edit::InsertItem(path, 0, item(random)));
    choose(&maps, random, &|path, random| Edit::InsertKey(path, "newKey".to_owned(), item(random)));
    choose(&any, random, &|path, _| Edit::Remove(path));
    let texts: Vec<NodeId> = scalars.iter().copied().filter(|id| is_yaml(tree, *id)).collect();
    if let (Some(id), true) = (random.choose(&texts), depth == 0) {
        let text = tree.node(*id).scalar().unwrap_or_default();
        let inner = overlay::yaml::parse(text).unwrap();
        let inner = edits(&inner, random, 1);
        if let (Some(path), Some(edit)) = (path_of(tree, *id), random.choose(&inner)) {
            out.push(Edit::Inline(path, Box::new(edit.clone())));
        }
    }
    out
}

/// Whether a text of some lines is YAML with a collection in it.
fn is_yaml(tree: &Tree<'_>, id: NodeId) -> bool {
    let text = tree.node(id).scalar().unwrap_or_default();
    let collection =
        |tree: Tree<'_>| tree.roots().len() == 1 && tree.node(tree.roots()[0]).scalar().is_none();
    text.contains(['\n', '{']) && overlay::yaml::parse(text).is_ok_and(collection)
}
