//! Random edits: the arguments of the command, and the values that they come to on a render.

use yaml_serde::{Mapping, Value};

use super::overlay::{OVERLAY, WORKLOADS};
use crate::support::random::Random;

/// One edit: a command, and what it sets.
pub(super) struct Edit {
    arguments: Vec<String>,
    kind: &'static str,
    name: &'static str,
    values: Vec<(Vec<String>, Option<Value>)>,
}

impl Edit {
    /// Any edit of what `documents` hold.
    pub(super) fn random(random: &mut Random, documents: &[Value]) -> Self {
        let (name, kind) = *random.pick(&WORKLOADS);
        match random.below(8) {
            0 | 1 => Self::replicas(random, name, kind),
            2 => Self::strategy(random, documents),
            3 => Self::instances(random, documents),
            4 => Self::image(random, name, kind),
            5 => Self::resources(random, name, kind),
            _ => Self::field(random, name, kind),
        }
    }

    /// The arguments behind the program's name.
    pub(super) fn arguments(&self) -> Vec<String> {
        self.arguments.clone()
    }

    /// Sets the values.
    pub(super) fn apply(&self, documents: &mut [Value]) {
        let is_it =
            |one: &&mut Value| one["kind"] == *self.kind && one["metadata"]["name"] == *self.name;
        let document = documents.iter_mut().find(is_it).unwrap();
        for (path, value) in &self.values {
            set(document, path, value.as_ref());
        }
    }

    fn new(kind: &'static str, name: &'static str, words: &[&str]) -> Self {
        let arguments = words.iter().map(|word| (*word).to_owned()).collect();
        Self { arguments, kind, name, values: Vec::new() }
    }

    fn with(mut self, path: &[&str], value: impl Into<Value>) -> Self {
        self.values.push((path.iter().map(|key| (*key).to_owned()).collect(), Some(value.into())));
        self
    }

    fn replicas(random: &mut Random, name: &'static str, kind: &'static str) -> Self {
        let count = 1 + random.below(6);
        let word = format!("{kind}/{name}={count}");
        Self::new(kind, name, &["set", "replicas", OVERLAY, &word])
            .with(&["spec", "replicas"], count)
    }

    fn strategy(random: &mut Random, documents: &[Value]) -> Self {
        let names = ["alpha", "beta", "delta", "own"];
        let name = *random.pick(&names);
        let (surge, unavailable) = (*random.pick(&["30%", "40%"]), *random.pick(&["10%", "20%"]));
        let words = [
            "set",
            "strategy",
            OVERLAY,
            name,
            "--max-surge",
            surge,
            "--max-unavailable",
            unavailable,
        ];
        let rolling = |key: &'static str| ["spec", "strategy", "rollingUpdate", key];
        let edit = Self::new("Deployment", name, &words)
            .with(&rolling("maxSurge"), surge)
            .with(&rolling("maxUnavailable"), unavailable);
        let document = documents
            .iter()
            .find(|one| one["kind"] == "Deployment" && one["metadata"]["name"] == name);
        match document.unwrap()["spec"]["strategy"]["type"] == "Recreate" {
            true => edit.with(&["spec", "strategy", "type"], "RollingUpdate"),
            false => edit,
        }
    }

    fn instances(random: &mut Random, documents: &[Value]) -> Self {
        let count = 2 + random.below(4);
        let word = format!("db={count}");
        let edit = Self::new("Cluster", "db", &["set", "instances", OVERLAY, &word])
            .with(&["spec", "instances"], count);
        let spec = &documents.iter().find(|one| one["kind"] == "Cluster").unwrap()["spec"];
        let goes_up = spec["instances"].as_u64().is_none_or(|now| now < count as u64);
        match goes_up && spec["enablePDB"] == false {
            true => edit.with(&["spec", "enablePDB"], true),
            false => edit,
        }
    }

    fn image(random: &mut Random, name: &'static str, kind: &'static str) -> Self {
        let (tag, byte) = (1 + random.below(9), 16 + random.below(200));
        let reference = format!(
            "registry.example/team/{name}:v{tag}@sha256:{}",
            format!("{byte:02x}").repeat(32)
        );
        let word = format!("{name}={reference}");
        let path = ["spec", "template", "spec", "containers", &*format!("[{name}]"), "image"];
        Self::new(kind, name, &["pin", OVERLAY, &word, "--with-tag"]).with(&path, reference)
    }

    fn resources(random: &mut Random, name: &'static str, kind: &'static str) -> Self {
        let cpu = format!("{}m", 10 + random.below(90));
        let word = format!("cpu={cpu}");
        let words = ["set", "resources", OVERLAY, name, "--container", name, "--requests", &word];
        let container = format!("[{name}]");
        let path =
            ["spec", "template", "spec", "containers", &container, "resources", "requests", "cpu"];
        Self::new(kind, name, &words).with(&path, cpu)
    }

    fn field(random: &mut Random, name: &'static str, kind: &'static str) -> Self {
        let target = format!("{kind}/{name}");
        let make = |word: &str| Self::new(kind, name, &["set", "field", OVERLAY, &target, word]);
        let container = format!("[{name}]");
        match random.below(4) {
            0 => {
                let text = *random.pick(&["yes", "007", "a: b # c", "x", "3"]);
                let word = format!("spec.template.metadata.annotations.[shop.example/note]={text}");
                make(&word).with(
                    &["spec", "template", "metadata", "annotations", "shop.example/note"],
                    text,
                )
            }
            1 => {
                let limit = 1 + random.below(9);
                make(&format!("spec.revisionHistoryLimit={limit}"))
                    .with(&["spec", "revisionHistoryLimit"], limit)
            }
            2 => {
                let policy = *random.pick(&["Always", "Never"]);
                let word =
                    format!("spec.template.spec.containers.[name={name}].imagePullPolicy={policy}");
                let path =
                    ["spec", "template", "spec", "containers", &container, "imagePullPolicy"];
                make(&word).with(&path, policy)
            }
            _ => {
                let mut edit = make("--remove=spec.revisionHistoryLimit");
                edit.values.push((vec!["spec".into(), "revisionHistoryLimit".into()], None));
                edit
            }
        }
    }
}

/// Sets the value at `path`, where `[NAME]` is the item of that name of a list.
fn set(node: &mut Value, path: &[String], value: Option<&Value>) {
    let (step, rest) = path.split_first().unwrap();
    if let Some(name) = step.strip_prefix('[').and_then(|step| step.strip_suffix(']')) {
        let items = node.as_sequence_mut().unwrap();
        return set(items.iter_mut().find(|item| item["name"] == *name).unwrap(), rest, value);
    }
    if node.is_null() {
        *node = Value::Mapping(Mapping::new());
    }
    let map = node.as_mapping_mut().unwrap();
    match (rest.is_empty(), value) {
        (true, Some(value)) => _ = map.insert(step.as_str().into(), value.clone()),
        (true, None) => _ = map.remove(step.as_str()),
        (false, _) => set(map.entry(step.as_str().into()).or_insert(Value::Null), rest, value),
    }
}
