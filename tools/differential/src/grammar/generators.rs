//! Generators of config maps and secrets.

use super::objects::NAMES;
use super::text::{Value, map, quoted, s};
use super::{Grammar, Layer, World, fields, scalars};

/// Adds generators; later layers may merge into or replace what they make.
pub(super) fn add(grammar: &mut Grammar, layer: &mut Layer, world: &mut World) {
    for (field, kind) in [("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")] {
        if grammar.wants(layer) {
            let entry = generator(grammar, layer, kind, world);
            layer.extend(field, vec![entry]);
        }
    }
    if grammar.wants_rarely(layer, 2) {
        layer.field("generatorOptions", options(grammar));
    }
}

fn generator(grammar: &mut Grammar, layer: &Layer, kind: &str, world: &mut World) -> Value {
    let same: Vec<String> =
        world.generated.iter().filter(|(k, _)| k == kind).map(|(_, name)| name.clone()).collect();
    let mut entry = Value::Map(Vec::new());
    if !same.is_empty() && grammar.random.chance(70) {
        entry.put("name", s(grammar.random.pick(&same).clone()));
        entry.put("behavior", s(grammar.random.word(&["merge", "merge", "replace"])));
    } else {
        let name = grammar.random.word(NAMES);
        let taken = world.objects.iter().any(|o| o.kind == kind && o.name == name);
        let name = if taken { format!("{name}-gen") } else { name };
        entry.put("name", s(name.clone()));
        if grammar.random.chance(6) {
            entry.put("behavior", s(grammar.random.word(&["create", "merge", "other"])));
        }
        world.generated.push((kind.to_owned(), name));
    }
    sources(grammar, layer, &mut entry);
    if grammar.random.chance(10) {
        entry.put("namespace", s("one"));
    }
    if grammar.random.chance(25) {
        entry.put("options", options(grammar));
    }
    if kind == "Secret" && grammar.random.chance(20) {
        entry.put("type", s("example.org/t"));
    }
    entry
}

/// Literals, files and env files, with keys that do not meet.
fn sources(grammar: &mut Grammar, layer: &Layer, entry: &mut Value) {
    if grammar.random.chance(70) {
        let literals = ["a", "b", "x.y"].iter().take(grammar.random.between(1, 3)).map(|key| {
            let text = match scalars::string(&mut grammar.random) {
                Value::Scalar(text) => text.trim_matches('"').to_owned(),
                _ => String::new(),
            };
            s(quoted(&format!("{key}={text}")))
        });
        let literals = Value::List(literals.collect());
        entry.put("literals", literals);
    }
    if grammar.random.chance(30) {
        let name = format!("f{}.txt", grammar.case.files.len());
        let text = scalars::nasty(&mut grammar.random);
        grammar.file(layer, &name, &text);
        let named = if grammar.random.chance(40) { format!("key={name}") } else { name };
        entry.put("files", Value::List(vec![s(named)]));
    }
    if grammar.random.chance(20) {
        let name = format!("e{}.env", grammar.case.files.len());
        let value = scalars::nasty(&mut grammar.random).replace(['\n', '\r'], "");
        grammar.file(layer, &name, &format!("# c\n\nE1={value}\n  E2=\"quoted\"\nE3=\n"));
        entry.put("envs", Value::List(vec![s(name)]));
    }
}

fn options(grammar: &mut Grammar) -> Value {
    let mut options = map([]);
    if grammar.random.chance(40) {
        options.put("labels", fields::string_map(grammar));
    }
    if grammar.random.chance(30) {
        options.put("annotations", fields::string_map(grammar));
    }
    if grammar.random.chance(40) {
        options.put("disableNameSuffixHash", s(grammar.random.word(&["true", "false"])));
    }
    if grammar.random.chance(20) {
        options.put("immutable", s("true"));
    }
    options
}
