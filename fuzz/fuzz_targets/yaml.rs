//! Any text, any edits: no panic, bytes outside the edits equal, and a refusal leaves the document as it was.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use overlay::edit::apply_edits;
use overlay::yaml::{Document, Kind, NodeId, Path, Position, Step, Style, Tree, Value};

#[derive(Arbitrary, Debug)]
struct Input {
    text: String,
    edits: Vec<(u16, Edit, Text)>,
}

#[derive(Arbitrary, Debug)]
enum Edit {
    Set,
    SetNumber(i8),
    SetLiteral,
    Rename,
    InsertKey,
    InsertAfter,
    Append,
    AppendMap,
    InsertItem(u8),
    Remove,
    Inline,
}

#[derive(Arbitrary, Debug)]
enum Text {
    Plain,
    Tricky(u8),
    Any(String),
}

const TRICKY: [&str; 10] = ["on", "1.10", "", " x", "a: b", "a #b", "x\ny\n", "it's", "a?b", "- x"];

impl Text {
    fn text(&self) -> String {
        match self {
            Text::Plain => "v2".to_owned(),
            Text::Tricky(n) => TRICKY[usize::from(*n) % TRICKY.len()].to_owned(),
            Text::Any(text) => text.clone(),
        }
    }
}

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

fn place(document: &Document, at: u16) -> Option<Path> {
    let tree = document.tree().expect("the text was read before");
    let ids: Vec<NodeId> = tree.ids().collect();
    let id = ids.get(usize::from(at) % ids.len().max(1))?;
    path_of(&tree, *id)
}

fn apply(document: &mut Document, path: &Path, edit: &Edit, text: &str, at: u16) -> bool {
    let value = Value::str(text);
    let map = Value::map([("name", value.clone()), ("list", Value::Seq(vec![value.clone(), Value::Int(1)]))]);
    let outcome = match edit {
        Edit::Set => document.set(path, &value),
        Edit::SetNumber(n) => document.set(path, &Value::Int(i64::from(*n))),
        Edit::SetLiteral => document.set(path, &Value::Styled(text.to_owned(), Style::Literal)),
        Edit::Rename => document.rename_and_set(path, text, &value),
        Edit::InsertKey => document.insert_key(path, text, &map, &Position::End),
        Edit::InsertAfter => document.insert_key(path, "new", &value, &Position::After(text.to_owned())),
        Edit::Append => document.append(path, &value),
        Edit::AppendMap => document.append(path, &map),
        Edit::InsertItem(n) => document.insert_item(path, usize::from(*n), &map),
        Edit::Remove => document.remove(path),
        Edit::Inline => document.edit_inline(path, |inner| {
            let Some(path) = place(inner, at / 3) else { return Ok(()) };
            inner.set(&path, &value)
        }),
    };
    outcome.is_ok()
}

fuzz_target!(|input: Input| {
    let Ok(mut document) = Document::from_bytes("f.yaml", input.text.as_bytes()) else { return };
    for (at, edit, text) in input.edits.iter().take(6) {
        let Some(path) = place(&document, *at) else { continue };
        let before = document.text().to_owned();
        if !apply(&mut document, &path, edit, &text.text(), *at) {
            assert_eq!(document.text(), before, "a refused edit changed the text");
        }
    }
    let edits = document.edits();
    assert_eq!(apply_edits(&input.text, &edits).as_deref(), Ok(document.text()));
    assert!(Document::from_bytes("f.yaml", document.text().as_bytes()).is_ok(), "the result is no YAML");
});
