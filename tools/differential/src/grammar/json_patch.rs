//! JSON6902 patches and paths into an object.

use super::scalars;
use super::text::{Value, map, s};
use crate::random::Random;

/// A step into a value: a key as it is meant, or the index of an element.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Index(usize, Option<String>),
}

/// A random walk into `value`, at least one step long where it can be.
fn walk(random: &mut Random, value: &Value) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut here = value;
    loop {
        let next = match here {
            Value::Map(entries) if !entries.is_empty() => {
                let (key, next) = random.pick(entries);
                steps.push(Step::Key(key.trim_matches('"').to_owned()));
                next
            }
            Value::List(items) if !items.is_empty() => {
                let at = random.below(items.len());
                let name = match items[at].get("name") {
                    Some(Value::Scalar(name)) => Some(name.clone()),
                    _ => None,
                };
                steps.push(Step::Index(at, name));
                &items[at]
            }
            _ => return steps,
        };
        if random.chance(15) {
            return steps;
        }
        here = next;
    }
}

/// A path in the notation of replacements and vars.
pub(super) fn dotted_path(random: &mut Random, value: &Value) -> String {
    let steps = walk(random, value);
    let mut parts: Vec<String> = Vec::new();
    for step in steps {
        parts.push(match step {
            Step::Key(key) => key.replace('.', "\\."),
            Step::Index(_, Some(name)) if random.chance(70) => format!("[name={name}]"),
            Step::Index(..) if random.chance(15) => "*".to_owned(),
            Step::Index(at, _) => at.to_string(),
        });
    }
    parts.join(".")
}

/// A JSON pointer into `value`, mostly one that exists.
fn pointer(random: &mut Random, value: &Value) -> String {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    let mut path = String::new();
    for step in walk(random, value) {
        path.push('/');
        match step {
            Step::Key(key) => path.push_str(&escaped(&key)),
            Step::Index(at, _) => path.push_str(&at.to_string()),
        }
    }
    match random.below(12) {
        0 => path.push_str("/new"),
        1 => path.push_str("/-"),
        2 => path.push_str("/0"),
        3 => path = format!("{}/new", path.rsplit_once('/').map_or("", |(parent, _)| parent)),
        _ => {}
    }
    path
}

/// The operations of a patch for an object like `value`.
pub(super) fn operations(random: &mut Random, value: &Value) -> Value {
    let count = random.between(1, 3);
    Value::List((0..count).map(|_| operation(random, value)).collect())
}

fn operation(random: &mut Random, value: &Value) -> Value {
    let op =
        random.word(&["add", "add", "add", "replace", "replace", "remove", "move", "copy", "test"]);
    let path = match op.as_str() {
        "add" if random.chance(30) => random.word(&[
            "/metadata/labels",
            "/metadata/annotations",
            "/spec/new",
            "/data",
            "/metadata/labels/app",
        ]),
        _ => pointer(random, value),
    };
    let mut operation = map([("op", s(op.clone())), ("path", s(super::text::quoted(&path)))]);
    match op.as_str() {
        "add" | "replace" | "test" => operation.put("value", new_value(random)),
        "move" | "copy" => operation.put("from", s(super::text::quoted(&pointer(random, value)))),
        _ => {}
    }
    operation
}

fn new_value(random: &mut Random) -> Value {
    match random.below(10) {
        0 => super::objects::free(random, 1),
        1 => Value::List(vec![scalars::any(random), scalars::any(random)]),
        2 => super::objects::string_map(random),
        _ => scalars::any(random),
    }
}
