//! The simple fields: names, namespace, labels, annotations, replicas, images, replacements, vars,
//! configurations and what only the root has.

use super::objects::{self, NAMES, NAMESPACES};
use super::text::{Value, map, quoted, s};
use super::{Grammar, Layer, World, json_patch, scalars};

/// Adds fields that do not change names.
pub(super) fn add(grammar: &mut Grammar, layer: &mut Layer, world: &World) {
    if grammar.wants(layer) {
        let count = grammar.random.between(1, 2);
        let labels = (0..count).map(|_| label(grammar)).collect();
        layer.field("labels", Value::List(labels));
    }
    if grammar.wants(layer) {
        layer.field("commonLabels", string_map(grammar));
    }
    if grammar.wants(layer) {
        layer.field("commonAnnotations", string_map(grammar));
    }
    if grammar.wants(layer) {
        layer.field("images", images(grammar));
    }
    if grammar.wants_rarely(layer, 2) && (is_scalable(world, &SCALED) || grammar.random.chance(5)) {
        layer.field("replicas", replicas(grammar, world));
    }
    if grammar.wants(layer) {
        let count = grammar.random.between(1, 2);
        let list = (0..count).map(|_| replacement(grammar, world)).collect();
        layer.field("replacements", Value::List(list));
    }
    if grammar.wants_rarely(layer, 3) {
        vars(grammar, layer, world);
    }
    if grammar.wants_rarely(layer, 3) {
        configurations(grammar, layer);
    }
}

/// Adds the fields that change what later layers call the objects.
pub(super) fn add_names(grammar: &mut Grammar, layer: &mut Layer, world: &mut World) {
    if grammar.wants(layer) && !layer.fields.iter().any(|(key, _)| key == "namePrefix") {
        layer.field("namePrefix", s(grammar.random.word(&["p-", "q-", "\"1\"", "x."])));
    }
    if grammar.wants(layer) {
        let suffix = grammar.random.word(&["-s", "-t", "\"2\""]);
        layer.field("nameSuffix", s(suffix));
    }
    if grammar.wants(layer) {
        layer.field("namespace", s(grammar.random.word(NAMESPACES)));
    }
    for (key, value) in &layer.fields {
        let Value::Scalar(text) = value else { continue };
        match key.as_str() {
            "namePrefix" => world.prefix.insert_str(0, text.trim_matches('"')),
            "nameSuffix" => world.suffix.push_str(text.trim_matches('"')),
            _ => {}
        }
    }
}

/// Adds what kustomize reads from the root alone.
pub(super) fn root_only(grammar: &mut Grammar, layer: &mut Layer) {
    if grammar.wants_rarely(layer, 2) {
        let all = ["originAnnotations", "transformerAnnotations", "managedByLabel"];
        let chosen = objects::random_keys(&mut grammar.random, &all);
        layer.field("buildMetadata", Value::List(chosen.into_iter().map(s).collect()));
    }
    if grammar.wants_rarely(layer, 2) {
        layer.field("sortOptions", sort_options(grammar));
    }
    if grammar.random.rarely(2) {
        layer.field("openapi", map([("path", s("schema.json"))]));
        let schema = r#"{"definitions": {"w": {"properties": {"spec": {"properties": {"alpha": {"type": "array", "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge", "items": {"type": "object"}}}}}, "x-kubernetes-group-version-kind": [{"group": "example.org", "kind": "Widget", "version": "v1"}]}}}"#;
        grammar.file(layer, "schema.json", schema);
    }
}

fn sort_options(grammar: &mut Grammar) -> Value {
    let random = &mut grammar.random;
    if random.chance(50) {
        return map([("order", s("fifo"))]);
    }
    let mut options = map([("order", s("legacy"))]);
    if random.chance(60) {
        let kinds = ["ConfigMap", "Deployment", "Widget", "Service", "Namespace", "Secret"];
        let list = |keys: Vec<String>| Value::List(keys.into_iter().map(s).collect());
        let first = list(objects::random_keys(random, &kinds));
        let last = list(objects::random_keys(random, &kinds));
        options.put("legacySortOptions", map([("orderFirst", first), ("orderLast", last)]));
    }
    options
}

/// A mapping whose values the kustomization file reads as strings.
pub(super) fn string_map(grammar: &mut Grammar) -> Value {
    let mut value = Value::Map(Vec::new());
    let keys = ["app", "tier", "env", "team", "example.org/x", "a-b", "a.b"];
    for key in objects::random_keys(&mut grammar.random, &keys) {
        let text = string_value(grammar);
        value.put(&key, text);
    }
    value
}

fn string_value(grammar: &mut Grammar) -> Value {
    if grammar.random.chance(75) {
        return s(grammar.random.word(scalars::WORDS));
    }
    s(quoted(&scalars::nasty(&mut grammar.random)))
}

fn label(grammar: &mut Grammar) -> Value {
    let mut label = map([("pairs", string_map(grammar))]);
    let random = &mut grammar.random;
    if random.chance(35) {
        label.put("includeSelectors", s(random.word(&["true", "true", "false"])));
    }
    if random.chance(35) {
        label.put("includeTemplates", s(random.word(&["true", "true", "false"])));
    }
    if random.chance(15) {
        label.put("fields", Value::List(vec![field_spec(grammar)]));
    }
    label
}

fn field_spec(grammar: &mut Grammar) -> Value {
    let random = &mut grammar.random;
    let path = random.word(&[
        "spec/labels",
        "spec/template/metadata/labels",
        "spec/alpha",
        "metadata/annotations",
        "spec/alpha/beta",
        "\"spec/containers[]/labels\"",
        "data/key",
    ]);
    let mut spec = map([("path", s(path))]);
    if random.chance(60) {
        spec.put("kind", s(random.word(&["Widget", "Deployment", "ConfigMap"])));
    }
    if random.chance(20) {
        spec.put("group", s(random.word(&["example.org", "apps"])));
    }
    if random.chance(60) {
        spec.put("create", s("true"));
    }
    spec
}

fn images(grammar: &mut Grammar) -> Value {
    let count = grammar.random.between(1, 3);
    let image = |grammar: &mut Grammar| {
        let random = &mut grammar.random;
        let mut image = map([(
            "name",
            s(random.word(&[
                "app",
                "app",
                "nginx",
                "reg.io/app",
                "reg.io:5000/team/app",
                "new",
                "\".*app\"",
                "\"app|nginx\"",
            ])),
        )]);
        if random.chance(60) {
            image.put("newTag", s(random.word(&["v2", "\"2.0\"", "latest", "\"\"", "\"1e3\""])));
        }
        if random.chance(30) {
            image.put(
                "newName",
                s(random.word(&["new", "reg.io/new", "nginx", "localhost:5000/x"])),
            );
        }
        if random.chance(25) {
            image.put("digest", s(format!("sha256:{}", "ab".repeat(32))));
        }
        if random.chance(10) {
            image.put("tagSuffix", s("-alpine"));
        }
        image
    };
    Value::List((0..count).map(|_| image(grammar)).collect())
}

/// The kinds that `replicas` changes.
const SCALED: [&str; 4] = ["Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"];

/// Whether there is an object of one of `kinds`.
pub(super) fn is_scalable(world: &World, kinds: &[&str]) -> bool {
    world.objects.iter().any(|object| kinds.contains(&object.kind.as_str()))
}

/// The name of an object of one of `kinds`, if there is one.
pub(super) fn scalable(grammar: &mut Grammar, world: &World, kinds: &[&str]) -> String {
    let fits = |object: &&objects::Object| kinds.contains(&object.kind.as_str());
    let names: Vec<&str> = world.objects.iter().filter(fits).map(|o| o.name.as_str()).collect();
    if names.is_empty() { grammar.random.word(NAMES) } else { grammar.random.word(&names) }
}

fn replicas(grammar: &mut Grammar, world: &World) -> Value {
    let name = scalable(grammar, world, &SCALED);
    let name = world.address(&mut grammar.random, &name);
    let random = &mut grammar.random;
    let count = random.word(&["0", "1", "3", "0x10", "1e3", "10"]);
    Value::List(vec![map([("name", s(name)), ("count", s(count))])])
}

/// A selector that mostly fits an object of the world.
pub(super) fn selector(grammar: &mut Grammar, world: &World) -> Value {
    let random = &mut grammar.random;
    let mut selector = Value::Map(Vec::new());
    if world.objects.is_empty() || random.chance(5) {
        selector.put("kind", s(random.word(&["ConfigMap", "Deployment", "\".*\"", "Absent"])));
        return selector;
    }
    let object = random.pick(&world.objects).clone();
    if random.chance(75) {
        selector.put("kind", s(object.kind.clone()));
    }
    if random.chance(45) {
        let name = world.address(random, &object.name);
        let name = if random.chance(10) { format!("\"{}.*\"", &name[..1]) } else { name };
        selector.put("name", s(name));
    }
    let (group, version) = object.api_version.rsplit_once('/').unwrap_or(("", &object.api_version));
    if random.chance(15) && !group.is_empty() {
        selector.put("group", s(group));
    }
    if random.chance(15) {
        selector.put("version", s(version));
    }
    if random.chance(8) {
        selector.put("namespace", s(random.word(NAMESPACES)));
    }
    if random.chance(8) {
        selector.put(
            "labelSelector",
            s(random.word(&["app=a", "app", "\"!tier\"", "\"env in (a, b)\"", "app!=web"])),
        );
    }
    if random.chance(5) {
        selector.put("annotationSelector", s(random.word(&["note", "app=a", "\"!note\""])));
    }
    if selector.get("kind").is_none() && selector.get("name").is_none() {
        selector.put("kind", s(object.kind));
    }
    selector
}

fn replacement(grammar: &mut Grammar, world: &World) -> Value {
    let mut replacement = Value::Map(Vec::new());
    if grammar.random.chance(15) || world.objects.is_empty() {
        let text = string_value(grammar);
        replacement.put("sourceValue", text);
    } else {
        let object = grammar.random.pick(&world.objects).clone();
        let mut source = map([
            ("kind", s(object.kind.clone())),
            ("name", s(world.address(&mut grammar.random, &object.name))),
        ]);
        if grammar.random.chance(70) {
            let path = json_patch::dotted_path(&mut grammar.random, &object.value);
            source.put("fieldPath", s(quoted(&path)));
        }
        if grammar.random.chance(12) {
            let index = grammar.random.word(&["0", "1", "2"]);
            source.put(
                "options",
                map([
                    ("delimiter", s(grammar.random.word(&["\":\"", "\"-\"", "\".\""]))),
                    ("index", s(index)),
                ]),
            );
        }
        replacement.put("source", source);
    }
    let count = grammar.random.between(1, 2);
    let targets = (0..count).map(|_| replacement_target(grammar, world)).collect();
    replacement.put("targets", Value::List(targets));
    replacement
}

fn replacement_target(grammar: &mut Grammar, world: &World) -> Value {
    let mut target = map([("select", selector(grammar, world))]);
    let random = &mut grammar.random;
    if random.chance(15) {
        target.put("reject", Value::List(vec![map([("name", s(random.word(NAMES)))])]));
    }
    let mut path = "metadata.labels.app".to_owned();
    if !world.objects.is_empty() {
        let object = random.pick(&world.objects).clone();
        path = json_patch::dotted_path(random, &object.value);
        if random.chance(80) {
            let name = world.address(random, &object.name);
            target = map([("select", map([("kind", s(object.kind)), ("name", s(name))]))]);
        }
    }
    if random.chance(30) {
        path = random.word(&[
            "metadata.labels.app",
            "metadata.annotations.new",
            "spec.alpha",
            "data.key",
            "spec.template.metadata.labels.x",
        ]);
    }
    let mut options = Value::Map(Vec::new());
    if random.chance(65) {
        options.put("create", s("true"));
        // Kustomize never ends where an element that is made for a pattern does not match it.
        path = path.replace("[name=^", "[name=").replace("$]", "]");
    }
    target.put("fieldPaths", Value::List(vec![s(quoted(&path))]));
    if random.chance(15) {
        options.put("delimiter", s(random.word(&["\":\"", "\"/\"", "\"-\""])));
        options.put("index", s(random.word(&["0", "1", "-1", "7"])));
    }
    if options != Value::Map(Vec::new()) {
        target.put("options", options);
    }
    target
}

fn vars(grammar: &mut Grammar, layer: &mut Layer, world: &World) {
    if world.objects.is_empty() {
        return;
    }
    let object = grammar.random.pick(&world.objects).clone();
    let reference = map([
        ("apiVersion", s(object.api_version.clone())),
        ("kind", s(object.kind.clone())),
        ("name", s(object.name.clone())),
    ]);
    let mut var = map([("name", s("A")), ("objref", reference)]);
    if grammar.random.chance(50) {
        let path = json_patch::dotted_path(&mut grammar.random, &object.value);
        var.put("fieldref", map([("fieldPath", s(quoted(&path)))]));
    }
    layer.field("vars", Value::List(vec![var]));
}

fn configurations(grammar: &mut Grammar, layer: &mut Layer) {
    let tables = [
        "images",
        "commonLabels",
        "commonAnnotations",
        "namespace",
        "labels",
        "varReference",
        "templateLabels",
        "namePrefix",
        "replicas",
    ];
    let mut config = Value::Map(Vec::new());
    for table in objects::random_keys(&mut grammar.random, &tables) {
        let path = match table.as_str() {
            "images" => {
                s(grammar.random.word(&["spec/imageName", "spec/image", "spec/template/image"]))
            }
            "replicas" => s("spec/replicas"),
            "namePrefix" => s("spec/name"),
            _ => s(grammar.random.word(&["spec/target", "spec/alpha", "spec/template/alpha"])),
        };
        let mut spec =
            map([("path", path), ("kind", s(grammar.random.word(&["Widget", "Rollout", "Pod"])))]);
        if grammar.random.chance(40) {
            spec.put("create", s("true"));
        }
        config.put(&table, Value::List(vec![spec]));
    }
    if grammar.random.chance(30) {
        let target = map([
            ("kind", s("ConfigMap")),
            ("version", s("v1")),
            (
                "fieldSpecs",
                Value::List(vec![
                    map([("path", s("spec/target")), ("kind", s("Widget"))]),
                    map([("path", s("spec/name")), ("kind", s("Widget"))]),
                ]),
            ),
        ]);
        config.put("nameReference", Value::List(vec![target]));
    }
    let text = config.document(&mut grammar.random);
    grammar.file(layer, "config.yaml", &text);
    layer.field("configurations", Value::List(vec![s("config.yaml")]));
}
