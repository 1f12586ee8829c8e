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

/// What makes an object this object: overwriting it mostly makes an overlay that is refused.
const HEAD: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// A random walk into `value`, at least one step long where it can be.
fn walk(random: &mut Random, value: &Value) -> Vec<Step> {
    walk_to(random, value).0
}

/// A random walk and the value it leads to.
fn walk_to<'v>(random: &mut Random, value: &'v Value) -> (Vec<Step>, &'v Value) {
    let mut steps = Vec::new();
    let mut here = value;
    loop {
        let next = match here {
            Value::Map(entries) if !entries.is_empty() => {
                let mut entry = random.pick(entries);
                // Mostly below what makes the object this object.
                for _ in 0..6 {
                    let is_head = steps.is_empty() && HEAD.contains(&entry.0.as_str());
                    if is_head && !random.chance(4) {
                        entry = random.pick(entries);
                    }
                }
                let (key, next) = entry;
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
            _ => return (steps, here),
        };
        here = next;
        if random.chance(15) {
            return (steps, here);
        }
    }
}

/// A path in the notation of replacements and vars.
pub(super) fn dotted_path(random: &mut Random, value: &Value) -> String {
    let steps = walk(random, value);
    let mut parts: Vec<String> = Vec::new();
    for step in steps {
        parts.push(match step {
            Step::Key(key) => key.replace('.', "\\."),
            Step::Index(_, Some(name)) if random.chance(70) => match random.below(10) {
                0 => format!("[name=^{name}$]"),
                1 => format!("[name={name}$]"),
                2 => "[name=a]".to_owned(),
                3 => "[name=^.*$]".to_owned(),
                _ => format!("[name={name}]"),
            },
            Step::Index(..) if random.chance(5) => "[=a]".to_owned(),
            Step::Index(..) if random.chance(15) => "*".to_owned(),
            Step::Index(at, _) => at.to_string(),
        });
    }
    parts.join(".")
}

fn pointer(steps: &[Step]) -> String {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    let mut path = String::new();
    for step in steps {
        path.push('/');
        match step {
            Step::Key(key) => path.push_str(&escaped(key)),
            Step::Index(at, _) => path.push_str(&at.to_string()),
        }
    }
    path
}

/// A JSON pointer to where a value may be added.
fn place(random: &mut Random, value: &Value) -> String {
    let (steps, found) = walk_to(random, value);
    let path = pointer(&steps);
    match found {
        Value::List(items) => match random.below(3) {
            0 => format!("{path}/-"),
            1 => format!("{path}/{}", random.below(items.len() + 1)),
            _ => path,
        },
        Value::Map(_) if random.chance(70) => format!("{path}/new"),
        _ if random.chance(3) => format!("{path}/new"),
        _ => path,
    }
}

/// The operations of a patch for an object like `value`.
pub(super) fn operations(random: &mut Random, value: &Value) -> Value {
    let count = random.between(1, 2);
    Value::List((0..count).map(|_| operation(random, value)).collect())
}

fn operation(random: &mut Random, value: &Value) -> Value {
    let op = random.word(&[
        "add", "add", "add", "add", "replace", "replace", "remove", "move", "copy", "test",
    ]);
    let (steps, found) = walk_to(random, value);
    let mut path = match op.as_str() {
        "add" | "move" | "copy" if random.chance(30) => {
            random.word(&["/metadata/labels", "/metadata/annotations", "/spec", "/data", "/new"])
        }
        "add" | "move" | "copy" => place(random, value),
        _ => pointer(&steps),
    };
    if random.chance(3) {
        path.push_str("/absent/0");
    }
    let mut operation = map([("op", s(op.clone())), ("path", s(super::text::quoted(&path)))]);
    match op.as_str() {
        "test" if !random.chance(5) => operation.put("value", found.clone()),
        "add" | "replace" | "test" => operation.put("value", new_value(random)),
        "move" | "copy" => operation.put("from", s(super::text::quoted(&pointer(&steps)))),
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
