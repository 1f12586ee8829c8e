//! Random overlays from a grammar of everything that a kustomization can say.
//!
//! A case is a tree of layers: one or two bases, perhaps a middle layer and a component, and the
//! overlay. Most of what a layer says fits what the layers below it hold, so that most cases build;
//! the rest must be refused by both sides.

mod fields;
mod generators;
mod json_patch;
mod objects;
mod patches;
mod plugins;
mod scalars;
mod text;

mod pods;

use objects::Object;
use text::{Value, map, s};

use crate::case::Case;
use crate::random::Random;

/// The overlay number `index` of a run with `seed`.
pub(crate) fn overlay(seed: u64, index: u64) -> Case {
    let mut grammar = Grammar { random: Random::of_case(seed, index), case: Case::default() };
    grammar.write();
    grammar.case.overlay = "overlay".to_owned();
    grammar.case
}

/// A case in the making.
struct Grammar {
    random: Random,
    case: Case,
}

/// What a layer knows about the layers below it.
#[derive(Clone, Debug, Default)]
struct World {
    objects: Vec<Object>,
    /// Names of generated config maps and secrets, with their kind.
    generated: Vec<(String, String)>,
    prefix: String,
    suffix: String,
}

impl World {
    fn merge(&mut self, other: World) {
        self.objects.extend(other.objects);
        self.generated.extend(other.generated);
        self.prefix = other.prefix + &self.prefix;
        self.suffix.push_str(&other.suffix);
    }

    /// A name of an object as it may be addressed: the first one, or the one of today.
    fn address(&self, random: &mut Random, name: &str) -> String {
        if random.chance(25) {
            format!("{}{name}{}", self.prefix, self.suffix)
        } else {
            name.to_owned()
        }
    }
}

/// A layer: its directory and the fields of its kustomization file so far.
struct Layer {
    directory: String,
    fields: Vec<(String, Value)>,
    /// How likely each field is, in percent.
    density: usize,
}

impl Layer {
    fn new(directory: &str, random: &mut Random) -> Self {
        let density = *random.pick(&[3, 6, 10, 18, 30]);
        Self { directory: directory.to_owned(), fields: Vec::new(), density }
    }

    fn field(&mut self, key: &str, value: Value) {
        self.fields.push((key.to_owned(), value));
    }

    /// A field that holds a list gets these entries too.
    fn extend(&mut self, key: &str, entries: Vec<Value>) {
        match self.fields.iter_mut().find(|(k, _)| k == key) {
            Some((_, Value::List(list))) => list.extend(entries),
            _ => self.field(key, Value::List(entries)),
        }
    }
}

impl Grammar {
    fn write(&mut self) {
        let mut world = self.base("base");
        let mut below = vec!["../base"];
        if self.random.chance(15) {
            let other = self.base("other");
            world.merge(other);
            below.push("../other");
        }
        if self.random.chance(30) {
            world = self.middle("middle", &below, world);
            below = vec!["../middle"];
        }
        let component = self.random.chance(20);
        if component {
            self.component(&mut world);
        }
        let mut layer = Layer::new("overlay", &mut self.random);
        layer.extend("resources", below.into_iter().map(s).collect());
        if component {
            layer.extend("components", vec![s("../component")]);
        }
        if self.random.chance(20) {
            self.resources(&mut layer, &mut world);
        }
        fields::root_only(self, &mut layer);
        self.finish(layer, &mut world, false);
    }

    fn base(&mut self, directory: &str) -> World {
        let mut layer = Layer::new(directory, &mut self.random);
        let mut world = World::default();
        self.resources(&mut layer, &mut world);
        self.finish(layer, &mut world, false);
        world
    }

    fn middle(&mut self, directory: &str, below: &[&str], mut world: World) -> World {
        let mut layer = Layer::new(directory, &mut self.random);
        let field = if self.random.chance(10) { "bases" } else { "resources" };
        layer.extend(field, below.iter().map(|path| s(*path)).collect());
        self.finish(layer, &mut world, false);
        world
    }

    fn component(&mut self, world: &mut World) {
        let mut layer = Layer::new("component", &mut self.random);
        if self.random.chance(40) {
            self.resources(&mut layer, world);
        }
        layer.field("namePrefix", s("c-"));
        self.finish(layer, world, true);
    }

    /// One to three resource files with one to three objects each.
    fn resources(&mut self, layer: &mut Layer, world: &mut World) {
        let mut used: Vec<String> = world.objects.iter().map(Object::identity).collect();
        for file in 0..self.random.between(1, 3) {
            let mut documents = Vec::new();
            let mut items = self.random.chance(4).then(Vec::new);
            for _ in 0..self.random.between(1, 3) {
                let object = Object::random(&mut self.random);
                if used.contains(&object.identity()) && !self.random.rarely(10) {
                    continue;
                }
                used.push(object.identity());
                match &mut items {
                    Some(items) => items.push(object.value.clone()),
                    None => documents.push(object.value.document(&mut self.random)),
                }
                world.objects.push(object);
            }
            if let Some(items) = items.filter(|items| !items.is_empty()) {
                let list =
                    [("apiVersion", s("v1")), ("kind", s("List")), ("items", Value::List(items))];
                documents.push(map(list).document(&mut self.random));
            }
            if !documents.is_empty() {
                let name = format!("r{file}.yaml");
                let text = self.joined(&documents);
                self.file(layer, &name, &text);
                layer.extend("resources", vec![s(name)]);
            }
        }
    }

    /// The text of a file of these documents.
    fn joined(&mut self, documents: &[String]) -> String {
        let text = documents.join("---\n");
        match self.random.below(100) {
            0 => format!("---\n{text}"),
            1 => format!("# head\n---\n{text}---\n"),
            2 => text.replace('\n', "\r\n"),
            3 => format!("{text}...\n"),
            4 => documents.join("--- # next\n"),
            5 => documents.join("---\n\n# foot\n\n---\n"),
            _ => text,
        }
    }

    /// Adds the fields that any layer may have and writes its kustomization file.
    fn finish(&mut self, mut layer: Layer, world: &mut World, component: bool) {
        fields::add(self, &mut layer, world);
        generators::add(self, &mut layer, world);
        patches::add(self, &mut layer, world);
        plugins::add(self, &mut layer, world);
        fields::add_names(self, &mut layer, world);
        let mut fields = Vec::new();
        if component || self.random.chance(30) {
            let version = if component { "v1alpha1" } else { "v1beta1" };
            let kind = if component { "Component" } else { "Kustomization" };
            fields.push(("apiVersion".to_owned(), s(format!("kustomize.config.k8s.io/{version}"))));
            fields.push(("kind".to_owned(), s(kind)));
        }
        while !layer.fields.is_empty() {
            let at = self.random.below(layer.fields.len());
            fields.push(layer.fields.swap_remove(at));
        }
        let text = Value::Map(fields).document(&mut self.random);
        self.file(&layer, "kustomization.yaml", &text);
    }

    /// Writes a file of the layer.
    fn file(&mut self, layer: &Layer, name: &str, text: &str) {
        self.case.files.insert(format!("{}/{name}", layer.directory), text.to_owned());
    }

    /// Whether the layer gets a field of ordinary frequency.
    fn wants(&mut self, layer: &Layer) -> bool {
        self.random.chance(layer.density)
    }

    /// Whether the layer gets a field that is rarer by `divisor`.
    fn wants_rarely(&mut self, layer: &Layer, divisor: usize) -> bool {
        self.random.rarely(layer.density * 10 / divisor)
    }
}
