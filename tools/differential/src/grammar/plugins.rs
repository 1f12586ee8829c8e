//! Builtin plugins given as `transformers:`, `generators:` and `validators:`.

use super::objects::NAMESPACES;
use super::text::{Value, map, s};
use super::{Grammar, Layer, World, fields, json_patch};

/// Adds plugins, inline or in files.
pub(super) fn add(grammar: &mut Grammar, layer: &mut Layer, world: &World) {
    if grammar.wants_rarely(layer, 2) {
        let plugin = transformer(grammar, world);
        give(grammar, layer, "transformers", &plugin);
    }
    if grammar.wants_rarely(layer, 4) {
        let plugin = generator(grammar);
        give(grammar, layer, "generators", &plugin);
    }
    if grammar.wants_rarely(layer, 6) {
        let plugin = validator(grammar);
        give(grammar, layer, "validators", &plugin);
    }
}

fn give(grammar: &mut Grammar, layer: &mut Layer, field: &str, plugin: &Value) {
    let text = plugin.document(&mut grammar.random);
    if grammar.random.chance(40) {
        let lines = text.trim_end_matches('\n').split('\n').map(str::to_owned).collect();
        layer.extend(field, vec![Value::Block("|-", lines)]);
        return;
    }
    let name = format!("t{}.yaml", grammar.case.files.len());
    grammar.file(layer, &name, &text);
    layer.extend(field, vec![s(name)]);
}

fn head(kind: &str) -> Value {
    map([("apiVersion", s("builtin")), ("kind", s(kind)), ("metadata", map([("name", s("t"))]))])
}

fn specs<const N: usize>(paths: [&str; N], create: bool) -> Value {
    let spec = |path: &str| {
        let mut spec = map([("path", s(path))]);
        if create {
            spec.put("create", s("true"));
        }
        spec
    };
    Value::List(paths.into_iter().map(spec).collect())
}

fn transformer(grammar: &mut Grammar, world: &World) -> Value {
    let (kind, parts): (&str, Vec<(&str, Value)>) = match grammar.random.below(10) {
        0 => (
            "PrefixTransformer",
            vec![("prefix", s("tp-")), ("fieldSpecs", specs(["metadata/name"], false))],
        ),
        1 => (
            "SuffixTransformer",
            vec![("suffix", s("-ts")), ("fieldSpecs", specs(["metadata/name"], false))],
        ),
        2 => (
            "LabelTransformer",
            vec![
                ("labels", fields::string_map(grammar)),
                ("fieldSpecs", specs(["metadata/labels", "spec/template/metadata/labels"], true)),
            ],
        ),
        3 => (
            "AnnotationsTransformer",
            vec![
                ("annotations", fields::string_map(grammar)),
                ("fieldSpecs", specs(["metadata/annotations"], true)),
            ],
        ),
        4 => (
            "ImageTagTransformer",
            vec![
                ("imageTag", map([("name", s("app")), ("newTag", s("t9"))])),
                ("fieldSpecs", specs(["spec/image"], false)),
            ],
        ),
        5 => (
            "NamespaceTransformer",
            vec![
                (
                    "metadata",
                    map([("name", s("t")), ("namespace", s(grammar.random.word(NAMESPACES)))]),
                ),
                ("unsetOnly", s(grammar.random.word(&["true", "false"]))),
                (
                    "setRoleBindingSubjects",
                    s(grammar.random.word(&["defaultOnly", "allServiceAccounts", "none"])),
                ),
            ],
        ),
        6 => (
            "ValueAddTransformer",
            vec![
                ("value", s("added")),
                ("targets", Value::List(vec![map([("fieldPath", s("metadata/annotations/v"))])])),
            ],
        ),
        7 if !world.objects.is_empty() => ("PatchTransformer", patch(grammar, world)),
        9 if fields::is_scalable(world, &["Deployment"]) => {
            ("ReplicaCountTransformer", replica_count(grammar, world))
        }
        _ => (
            "PrefixSuffixTransformer",
            vec![
                ("prefix", s("tp-")),
                ("suffix", s("-ts")),
                ("fieldSpecs", specs(["metadata/name"], false)),
            ],
        ),
    };
    with_parts(kind, parts)
}

/// A JSON patch of an object that is there.
fn patch(grammar: &mut Grammar, world: &World) -> Vec<(&'static str, Value)> {
    let object = grammar.random.pick(&world.objects).clone();
    let operations = json_patch::operations(&mut grammar.random, &object.value);
    let text = operations.document(&mut grammar.random);
    let lines = text.trim_end_matches('\n').split('\n').map(str::to_owned).collect();
    vec![
        ("target", map([("kind", s(object.kind)), ("name", s(object.name))])),
        ("patch", Value::Block("|-", lines)),
    ]
}

/// Replicas of a Deployment that is there.
fn replica_count(grammar: &mut Grammar, world: &World) -> Vec<(&'static str, Value)> {
    let name = s(fields::scalable(grammar, world, &["Deployment"]));
    let spec =
        map([("path", s("spec/replicas")), ("kind", s("Deployment")), ("create", s("true"))]);
    vec![
        ("replica", map([("name", name), ("count", s("4"))])),
        ("fieldSpecs", Value::List(vec![spec])),
    ]
}

/// A plugin whose parts may replace its metadata.
fn with_parts(kind: &str, parts: Vec<(&str, Value)>) -> Value {
    let own_metadata = parts.iter().any(|(key, _)| *key == "metadata");
    let mut plugin = if own_metadata {
        map([("apiVersion", s("builtin")), ("kind", s(kind))])
    } else {
        head(kind)
    };
    for (key, value) in parts {
        plugin.put(key, value);
    }
    plugin
}

fn generator(grammar: &mut Grammar) -> Value {
    let kind = grammar.random.word(&["ConfigMapGenerator", "SecretGenerator"]);
    with_parts(
        &kind,
        vec![
            ("name", s("made")),
            (
                "literals",
                Value::List(vec![
                    s("a=1"),
                    s(grammar.random.word(&["b=two", "\"c=x: y\"", "d=true"])),
                ]),
            ),
        ],
    )
}

fn validator(grammar: &mut Grammar) -> Value {
    if grammar.random.chance(50) {
        return with_parts(
            "LabelTransformer",
            vec![
                ("labels", map([("validated", s("a"))])),
                ("fieldSpecs", specs(["metadata/absent"], false)),
            ],
        );
    }
    with_parts("PrefixTransformer", vec![("fieldSpecs", specs(["metadata/name"], false))])
}
