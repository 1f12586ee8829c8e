//! Patches of all kinds: strategic merge and JSON6902, inline and in files, and the deprecated fields.

use super::objects::{self, Object};
use super::text::{Value, map, s};
use super::{Grammar, Layer, World, fields, json_patch};
use crate::random::Random;

/// Adds patches for the objects of the world.
pub(super) fn add(grammar: &mut Grammar, layer: &mut Layer, world: &World) {
    if world.objects.is_empty() {
        return;
    }
    for _ in 0..3 {
        if grammar.wants(layer) || grammar.random.chance(12) {
            let entry = patch(grammar, layer, world);
            layer.extend("patches", vec![entry]);
        }
    }
    if grammar.wants_rarely(layer, 3) {
        let entry = strategic_entry(grammar, layer, world);
        layer.extend("patchesStrategicMerge", vec![entry]);
    }
    if grammar.wants_rarely(layer, 3) {
        let entry = json_entry(grammar, world);
        layer.extend("patchesJson6902", vec![entry]);
    }
}

fn patch(grammar: &mut Grammar, layer: &Layer, world: &World) -> Value {
    let object = grammar.random.pick(&world.objects).clone();
    if grammar.random.chance(40) {
        let operations = json_patch::operations(&mut grammar.random, &object.value);
        let mut entry = text_or_file(grammar, layer, &operations);
        let target = if grammar.random.chance(92) {
            exact_target(grammar, world, &object)
        } else {
            fields::selector(grammar, world)
        };
        entry.put("target", target);
        return entry;
    }
    let document = strategic(grammar, world, &object);
    let mut entry = text_or_file(grammar, layer, &document);
    if grammar.random.chance(30) {
        let target = if grammar.random.chance(60) {
            exact_target(grammar, world, &object)
        } else {
            fields::selector(grammar, world)
        };
        entry.put("target", target);
    }
    if grammar.random.chance(5) {
        let option = grammar.random.word(&["allowNameChange", "allowKindChange"]);
        entry.put("options", map([(option.as_str(), s("true"))]));
    }
    entry
}

fn exact_target(grammar: &mut Grammar, world: &World, object: &Object) -> Value {
    let name = world.address(&mut grammar.random, &object.name);
    map([("kind", s(object.kind.clone())), ("name", s(name))])
}

/// `{patch: |- …}` or `{path: …}` with the file written.
fn text_or_file(grammar: &mut Grammar, layer: &Layer, value: &Value) -> Value {
    let text = value.document(&mut grammar.random);
    if grammar.random.chance(35) {
        let name = format!("p{}.yaml", grammar.case.files.len());
        grammar.file(layer, &name, &text);
        return map([("path", s(name))]);
    }
    map([("patch", block(&text))])
}

fn block(text: &str) -> Value {
    Value::Block("|-", text.trim_end_matches('\n').split('\n').map(str::to_owned).collect())
}

/// A strategic merge patch for `object`: fields of its kind, with deletions and directives.
fn strategic(grammar: &mut Grammar, world: &World, object: &Object) -> Value {
    let name = world.address(&mut grammar.random, &object.name);
    let random = &mut grammar.random;
    let mut metadata = map([("name", s(name))]);
    if let Some(namespace) = &object.namespace {
        metadata.put("namespace", s(namespace.clone()));
    }
    if random.chance(25) {
        metadata.put("labels", objects::string_map(random));
    }
    let mut patch = map([
        ("apiVersion", s(object.api_version.clone())),
        ("kind", s(object.kind.clone())),
        ("metadata", metadata),
    ]);
    if random.rarely(30) {
        patch.put("$patch", s(random.word(&["delete", "replace", "merge"])));
    }
    for (key, mut part) in objects::body(&object.kind, random) {
        disturb(random, &mut part);
        patch.put(&key, part);
    }
    patch
}

/// Puts nulls and `$patch` directives into a patch.
fn disturb(random: &mut Random, value: &mut Value) {
    match value {
        Value::Map(entries) => {
            for (_, part) in entries.iter_mut() {
                if random.rarely(35) {
                    *part = s("null");
                } else {
                    disturb(random, part);
                }
            }
            if random.rarely(12) {
                let directive = random.word(&["delete", "replace", "merge"]);
                entries.push(("$patch".to_owned(), s(directive)));
            }
        }
        Value::List(items) => {
            items.iter_mut().for_each(|item| disturb(random, item));
            if random.rarely(12) {
                let directive = random.word(&["delete", "replace", "merge"]);
                let at = random.below(items.len() + 1);
                items.insert(at, map([("$patch", s(directive))]));
            }
        }
        _ => {}
    }
}

fn strategic_entry(grammar: &mut Grammar, layer: &Layer, world: &World) -> Value {
    let object = grammar.random.pick(&world.objects).clone();
    let text = strategic(grammar, world, &object).document(&mut grammar.random);
    if grammar.random.chance(50) {
        return block(&text);
    }
    let name = format!("p{}.yaml", grammar.case.files.len());
    grammar.file(layer, &name, &text);
    s(name)
}

fn json_entry(grammar: &mut Grammar, world: &World) -> Value {
    let object = grammar.random.pick(&world.objects).clone();
    let operations = json_patch::operations(&mut grammar.random, &object.value);
    let text = operations.document(&mut grammar.random);
    map([("target", exact_target(grammar, world, &object)), ("patch", block(&text))])
}
