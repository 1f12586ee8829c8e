//! New patches: operations and strategic merges as values and as text.

use super::Scene;
use super::pointer::{pointer, position, to_json};
use crate::change::Wish;
use crate::kustomize::node::Node;
use crate::kustomize::{FieldPath, Step};
use crate::yaml::scalar::encode;
use crate::yaml::{Document, Path, Position, Refusal, Style, Value};
use serde_json::{Map, Value as Json, json};

/// An operation of a JSON 6902 patch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Operation {
    op: &'static str,
    path: String,
    value: Option<Json>,
}

impl Operation {
    /// As a mapping in the order `op`, `path`, `value`.
    pub(super) fn to_value(&self) -> Value {
        let mut pairs = vec![("op", Value::str(self.op)), ("path", Value::str(&*self.path))];
        pairs.extend(self.value.as_ref().and_then(to_value).map(|value| ("value", value)));
        Value::map(pairs)
    }
}

/// The operations that bring the wishes about, a `test` before each that leads through a position;
/// `None` where a path or a value cannot be said.
pub(super) fn operations(scene: &Scene<'_>, wishes: &[Wish]) -> Option<Vec<Operation>> {
    let mut state = to_json(&scene.resource.node);
    let mut made: Vec<Operation> = Vec::new();
    for wish in wishes {
        for (path, text) in tests_on_the_way(&scene.resource.node, &wish.path)? {
            let test = Operation { op: "test", path, value: Some(text.into()) };
            if !made.contains(&test) {
                made.push(test);
            }
        }
        let at = pointer(&wish.path, &scene.resource.node)?;
        let operation = match &wish.value {
            None => Operation { op: "remove", path: at.clone(), value: None },
            Some(value) => {
                to_value(value)?;
                set_operation(&state, &at, value)?
            }
        };
        apply(&mut state, &operation);
        made.push(operation);
    }
    Some(made)
}

/// `replace` what is there, else `add` it below the deepest mapping that is.
fn set_operation(state: &Json, at: &str, value: &Json) -> Option<Operation> {
    if state.pointer(at).is_some() {
        let value = Some(value.clone());
        return Some(Operation { op: "replace", path: at.to_owned(), value });
    }
    let mut path = at.to_owned();
    let mut value = value.clone();
    while let Some((parent, last)) = path.rsplit_once('/') {
        match state.pointer(parent) {
            Some(Json::Object(_) | Json::Array(_)) => {
                return Some(Operation { op: "add", path, value: Some(value) });
            }
            Some(_) => return None,
            None => {
                value = json!({ last.replace("~1", "/").replace("~0", "~"): value });
                path = parent.to_owned();
            }
        }
    }
    None
}

/// Makes the operation on `state`, so that the next one finds what it made.
fn apply(state: &mut Json, operation: &Operation) {
    let Some((parent, last)) = operation.path.rsplit_once('/') else { return };
    let key = last.replace("~1", "/").replace("~0", "~");
    match (state.pointer_mut(parent), &operation.value) {
        (Some(Json::Object(map)), Some(value)) => drop(map.insert(key, value.clone())),
        (Some(Json::Object(map)), None) => drop(map.shift_remove(&key)),
        (Some(Json::Array(items)), Some(value)) => {
            match key.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                Some(item) => *item = value.clone(),
                None => items.push(value.clone()),
            }
        }
        _ => {}
    }
}

/// The tests of what stands at each position on the way, as pointers and texts: an item's name, the flag before an argument,
/// or the value that is replaced. None for a path of keys alone.
pub(in crate::plan) fn tests_on_the_way(
    root: &Node,
    path: &FieldPath,
) -> Option<Vec<(String, String)>> {
    let mut tests = Vec::new();
    let mut at = FieldPath::default();
    for step in path.steps() {
        let list = at.find(root);
        let list_pointer = pointer(&at, root)?;
        match step {
            Step::Key(_) => {}
            Step::Named(name) => {
                let index = position(list?.as_seq()?, name)?;
                tests.push((format!("{list_pointer}/{index}/name"), name.to_string()));
            }
            Step::Index(index) => {
                let items = list?.as_seq()?;
                let flag = index.checked_sub(1).and_then(|i| items.get(i)?.as_str());
                let flag = flag.filter(|text| text.starts_with('-') && !text.contains('='));
                if let Some(flag) = flag {
                    tests.push((format!("{list_pointer}/{}", index - 1), flag.to_owned()));
                } else if let Some(old) = items.get(*index).and_then(Node::as_str) {
                    tests.push((format!("{list_pointer}/{index}"), old.to_owned()));
                } else if let Some(name) = items.get(*index)?.get("name").and_then(Node::as_str) {
                    tests.push((format!("{list_pointer}/{index}/name"), name.to_string()));
                }
            }
        }
        at = at.child(step.clone());
    }
    Some(tests)
}

/// How operations are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// A line for each member.
    Block,
    /// `{op: replace, …}`.
    Flow {
        /// With a blank inside the braces.
        is_padded: bool,
    },
}

/// The text of a patch of operations.
pub(super) fn operations_text(operations: &[Operation], look: Look) -> String {
    let mut text = String::new();
    for operation in operations {
        let path = encode(&operation.path, Style::Plain, look != Look::Block);
        let value = operation.value.as_ref().map(flow);
        match look {
            Look::Flow { is_padded } => {
                let pad = if is_padded { " " } else { "" };
                let value = value.map(|value| format!(", value: {value}")).unwrap_or_default();
                text += &format!("- {{{pad}op: {}, path: {path}{value}{pad}}}\n", operation.op);
            }
            Look::Block => {
                text += &format!("- op: {}\n  path: {path}\n", operation.op);
                text += &value.map(|value| format!("  value: {value}\n")).unwrap_or_default();
            }
        }
    }
    text
}

/// A value on one line.
fn flow(value: &Json) -> String {
    match value {
        Json::String(text) => encode(text, Style::Plain, true),
        Json::Array(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Json::Object(map) => {
            let pairs =
                map.iter().map(|(k, v)| format!("{}: {}", encode(k, Style::Plain, true), flow(v)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// The text of a strategic merge patch; `None` where a path or a value cannot be said.
pub(super) fn merge_text(scene: &Scene<'_>, name: &str, wishes: &[Wish]) -> Option<String> {
    let id = scene.resource.current_id();
    let mut body = json!({
        "apiVersion": &*id.api_version,
        "kind": &*id.kind,
        "metadata": {"name": name},
    });
    for wish in wishes {
        let value = wish.value.clone().unwrap_or(Json::Null);
        put(&mut body, wish.path.steps(), value)?;
    }
    let Json::Object(fields) = &body else { return None };
    document_text(fields).ok()
}

fn document_text(fields: &Map<String, Json>) -> Result<String, Refusal> {
    let mut document = Document::from_text("a new patch", String::new())?;
    for (key, value) in fields {
        let value = to_value(value).unwrap_or(Value::Null);
        document.insert_key(&Path::root(), key, &value, &Position::End)?;
    }
    Ok(document.text().to_owned())
}

fn put(body: &mut Json, steps: &[Step], value: Json) -> Option<()> {
    let Some((step, rest)) = steps.split_first() else {
        to_value(&value)?;
        *body = value;
        return Some(());
    };
    if body.is_null() {
        *body = if matches!(step, Step::Key(_)) { json!({}) } else { json!([]) };
    }
    match step {
        Step::Key(key) => {
            let map = body.as_object_mut()?;
            put(map.entry(&**key).or_insert(Json::Null), rest, value)
        }
        Step::Named(name) => {
            let items = body.as_array_mut()?;
            let is_it = |item: &Json| item["name"] == **name;
            let index = items.iter().position(is_it).unwrap_or(items.len());
            if index == items.len() {
                items.push(json!({"name": &**name}));
            }
            put(items.get_mut(index)?, rest, value)
        }
        Step::Index(_) => None,
    }
}

/// A value as the lossless document writes it; `None` for a number with a fraction.
pub(super) fn to_value(value: &Json) -> Option<Value> {
    Some(match value {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => Value::Int(number.as_i64()?),
        Json::String(text) => Value::str(text),
        Json::Array(items) => Value::Seq(items.iter().map(to_value).collect::<Option<_>>()?),
        Json::Object(map) => {
            let pairs = map.iter().map(|(key, value)| Some((key.clone(), to_value(value)?)));
            Value::Map(pairs.collect::<Option<_>>()?)
        }
    })
}
