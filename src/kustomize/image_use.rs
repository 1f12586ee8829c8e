//! The places in rendered resources that name an image.
//!
//! Which of them the `images:` transformer of a layer reaches is not decided here: that depends on
//! `configurations:`, and a render tells it.

use super::field_path::{FieldPath, Step, item_steps};
use super::node::{Map, Node, Text, Value};
use super::resource::{Resource, ResourceId};
use crate::image::{Named, Reference, is_matchable};

/// What kind of place names the image.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UseKind {
    /// `image` of an item of a list called `containers` or `initContainers`, at any depth.
    Container,
    /// `image` of an ephemeral container, which no transformer of kustomize reaches.
    Ephemeral,
    /// Any other field called `image`, `imageName`, `…Image`, or `image.reference`.
    Field,
    /// The value of a flag among a container's arguments.
    Argument {
        /// The flag with its dashes, as written.
        flag: Text,
        /// What stands before the reference in the same element (`--image=`), or nothing.
        prefix: Text,
    },
}

/// One place that names an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageUse {
    /// The rendered resource.
    pub resource: ResourceId,
    /// The field.
    pub path: FieldPath,
    /// What kind of place it is.
    pub kind: UseKind,
    /// The container that the place belongs to.
    pub container: Option<Text>,
    /// The reference as rendered.
    pub reference: Text,
    /// The reference as it arrives at the `images:` of this layer; `None` where they do not reach it.
    pub arriving: Option<Text>,
    /// Something that acts after the `images:` of this layer decides it.
    pub is_overridden: bool,
    /// What the `images:` entries of this layer that act on it call it: `name` and `newName` of each.
    pub entry_names: Vec<Text>,
}

impl ImageUse {
    /// Whether the field's operator takes the version from the tag and refuses a reference without one:
    /// CloudNativePG's `Cluster.spec.imageName` (its webhook, `validateImageName`).
    #[must_use]
    pub fn needs_tag(&self) -> bool {
        is_database_image(&self.resource, &self.path)
    }

    /// Whether `images:` reach the place, and no entry matches the reference that arrives there or would by its name.
    #[must_use]
    pub fn is_unmatchable(&self) -> bool {
        let arriving = self.arriving.as_deref();
        self.entry_names.is_empty() && arriving.is_some_and(|text| !is_matchable(text))
    }

    /// The place in the words of a key.
    #[must_use]
    pub fn as_named(&self) -> Named<'_> {
        Named {
            reference: &self.reference,
            entry_names: self.entry_names.iter().map(AsRef::as_ref).collect(),
            container: self.container.as_deref(),
            workload: &self.resource.name,
        }
    }

    /// The reference at this place in `resource`, another render of the same one.
    #[must_use]
    pub fn reference_in<'a>(&self, resource: &'a Resource) -> Option<&'a str> {
        let text = self.path.find(&resource.node).and_then(Node::as_str)?;
        match &self.kind {
            UseKind::Argument { prefix, .. } => text.strip_prefix(prefix.as_ref()),
            _ => Some(text),
        }
    }
}

/// Whether the field is CloudNativePG's `Cluster.spec.imageName`.
fn is_database_image(resource: &ResourceId, path: &FieldPath) -> bool {
    resource.group() == "postgresql.cnpg.io"
        && &*resource.kind == "Cluster"
        && *path == FieldPath::of_keys(&["spec", "imageName"])
}

/// Every place in `resources` that names an image, in their order. `flags` are arguments that carry an
/// image besides those whose own name ends in `image`.
///
/// CustomResourceDefinitions, the data of ConfigMaps and Secrets, and metadata are left out.
#[must_use]
pub fn find_image_uses(resources: &[Resource], flags: &[String]) -> Vec<ImageUse> {
    let mut uses = Vec::new();
    for resource in resources {
        if resource.kind() == "CustomResourceDefinition" {
            continue;
        }
        let node = &resource.node;
        let (resource, path) = (resource.current_id(), Vec::new());
        let mut search = Search { resource, flags, path, uses: &mut uses };
        let Some(root) = node.as_map() else { continue };
        for entry in root.entries() {
            let key = &entry.key.text;
            if !matches!(key.as_ref(), "metadata" | "data" | "stringData" | "binaryData") {
                search.field(key, &entry.value);
            }
        }
    }
    uses
}

struct Search<'a> {
    resource: ResourceId,
    flags: &'a [String],
    /// Where the search is.
    path: Vec<Step>,
    uses: &'a mut Vec<ImageUse>,
}

impl Search<'_> {
    /// Searches one step further down.
    fn within(&mut self, step: Step, search: impl FnOnce(&mut Self)) {
        self.path.push(step);
        search(self);
        self.path.pop();
    }

    fn field(&mut self, key: &Text, value: &Node) {
        self.within(Step::Key(Text::clone(key)), |here| here.value_of(key, value));
    }

    fn value_of(&mut self, key: &Text, value: &Node) {
        match (&value.value, key.as_ref()) {
            (Value::Seq(items), "containers" | "initContainers") => {
                self.containers(items, &UseKind::Container);
            }
            (Value::Seq(items), "ephemeralContainers") => {
                self.containers(items, &UseKind::Ephemeral);
            }
            (Value::Map(map), "image") if map.get("reference").is_some() => {
                self.map(map);
                let reference = map.get("reference").filter(|value| is_plausible(value));
                let text = reference.and_then(Node::as_str);
                let step = Step::Key("reference".into());
                self.within(step, |here| here.add(UseKind::Field, None, text));
            }
            (Value::Scalar(_), _) if is_image_key(key) && is_plausible(value) => {
                self.add(UseKind::Field, None, value.as_str());
            }
            _ => self.below(value),
        }
    }

    fn below(&mut self, value: &Node) {
        match &value.value {
            Value::Scalar(_) => {}
            Value::Map(map) => self.map(map),
            Value::Seq(items) if items.iter().all(|item| item.as_scalar().is_some()) => {}
            Value::Seq(items) => {
                for (step, item) in item_steps(items).into_iter().zip(items) {
                    self.within(step, |here| here.below(item));
                }
            }
        }
    }

    fn map(&mut self, map: &Map) {
        for entry in map.entries() {
            self.field(&entry.key.text, &entry.value);
        }
    }

    fn containers(&mut self, items: &[Node], kind: &UseKind) {
        for (step, item) in item_steps(items).into_iter().zip(items) {
            let Some(map) = item.as_map() else { continue };
            self.within(step, |here| here.container(map, kind));
        }
    }

    fn container(&mut self, map: &Map, kind: &UseKind) {
        let name = map.get("name").and_then(Node::as_text).cloned();
        for entry in map.entries() {
            let key = &entry.key.text;
            let step = || Step::Key(Text::clone(key));
            let value = &entry.value;
            match key.as_ref() {
                "image" => {
                    let text = value.as_str();
                    self.within(step(), |here| here.add(kind.clone(), name.as_ref(), text));
                }
                "args" | "command" => {
                    self.within(step(), |here| here.arguments(value, name.as_ref()));
                }
                _ => self.field(key, value),
            }
        }
    }

    fn arguments(&mut self, value: &Node, container: Option<&Text>) {
        let words: Vec<&str> = value
            .as_seq()
            .unwrap_or_default()
            .iter()
            .map(|w| w.as_str().unwrap_or_default())
            .collect();
        for (i, word) in words.iter().enumerate() {
            let (flag, inline) = match word.split_once('=') {
                Some((flag, value)) => (flag, Some(value)),
                None => (*word, None),
            };
            if !self.is_image_flag(flag) {
                continue;
            }
            let (at, reference) = match inline {
                Some(value) => (i, Some(value)),
                None => (i + 1, words.get(i + 1).copied()),
            };
            let Some(reference) = reference.filter(|text| Reference::parse(text).is_ok()) else {
                continue;
            };
            let prefix = if inline.is_some() { format!("{flag}=") } else { String::new() };
            let kind = UseKind::Argument { flag: flag.into(), prefix: prefix.into() };
            self.within(Step::Index(at), |here| here.add(kind, container, Some(reference)));
        }
    }

    fn is_image_flag(&self, word: &str) -> bool {
        let name = word.trim_start_matches('-');
        let named = self.flags.iter().any(|flag| flag.trim_start_matches('-') == name);
        word.starts_with('-') && (named || name.to_ascii_lowercase().ends_with("image"))
    }

    /// Adds the place where the search is.
    fn add(&mut self, kind: UseKind, container: Option<&Text>, reference: Option<&str>) {
        let Some(reference) = reference.filter(|text| !text.is_empty()) else { return };
        let (resource, path) = (self.resource.clone(), FieldPath::of_steps(&self.path));
        let (container, reference) = (container.cloned(), reference.into());
        let (arriving, entry_names) = (None, Vec::new());
        self.uses.push(ImageUse {
            resource,
            path,
            kind,
            container,
            reference,
            arriving,
            is_overridden: false,
            entry_names,
        });
    }
}

fn is_image_key(key: &str) -> bool {
    matches!(key, "image" | "imageName") || key.ends_with("Image")
}

/// A word, as every reference is: no blank and no line break in it.
fn is_plausible(value: &Node) -> bool {
    value.is_string()
        && value
            .as_str()
            .is_some_and(|text| !text.is_empty() && !text.contains(char::is_whitespace))
}
