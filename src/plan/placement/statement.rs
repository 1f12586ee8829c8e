//! The statements of one field in the overlay's own files: `replicas:` entries, operations and fields
//! of patches, fields of resource files.

use super::Scene;
use super::candidate::is_replicas;
use super::entry::{Entry, entries};
use super::pointer::{pointer, tokens};
use crate::kustomize::{FieldPath, Resource, Step};
use crate::plan::layer::data_of;
use crate::yaml::{Kind, NodeId, Path, Rules, Tree, parse};
use serde_json::Value as Json;

/// What kind of statement it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpotKind {
    /// The `count` of a `replicas:` entry.
    Replicas,
    /// The value of an operation, or a field of a strategic merge patch.
    Patch,
    /// A field of a resource.
    Resource,
}

/// A place that states the field.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// The file.
    pub(super) file: String,
    /// The value in the file, or the text that holds it.
    pub(super) outer: Path,
    /// The value in that text.
    pub(super) inner: Option<Path>,
    /// Its line in the file, from 1.
    pub(super) line: u32,
    /// Its kind.
    pub(super) kind: SpotKind,
    /// Whether it stands in an operation of a JSON patch.
    pub(super) is_operation: bool,
    /// Whether it concerns other resources too.
    pub(super) is_shared: bool,
    /// What it says, for messages.
    pub(super) says: String,
    /// What it says, as kustomize reads it.
    pub(super) value: Json,
}

impl Spot {
    /// File and line.
    pub(super) fn place(&self) -> (String, u32) {
        (self.file.clone(), self.line)
    }
}

/// All statements of one field, and who decides it.
pub(super) struct Statements {
    /// The statements, by rising precedence.
    pub(super) spots: Vec<Spot>,
    owner: Option<(String, u32)>,
    is_own: bool,
}

impl Statements {
    /// Finds the statements of `path` for the resource of the scene.
    pub(super) fn find(scene: &Scene<'_>, path: &FieldPath) -> Self {
        let node = path.find(&scene.resource.node);
        let owner = node.and_then(|node| scene.rendered.place(node.origin));
        let owner = owner.map(|(file, line)| (file.to_owned(), line));
        let is_own = owner.as_ref().is_none_or(|(file, _)| scene.texts.contains_key(file));
        let finder = Finder { scene, path, pointer: pointer(path, &scene.resource.node) };
        let mut spots = finder.in_resources();
        spots.extend(finder.in_patches());
        spots.extend(finder.in_replicas());
        Self { spots, owner, is_own }
    }

    /// The file and line that decide the value, where they are known.
    pub(super) fn owner(&self) -> Option<(String, u32)> {
        self.owner.clone()
    }

    /// Whether a patch of this overlay decides the value.
    pub(super) fn is_decided_by_patch(&self) -> bool {
        let decides = |spot: &&Spot| Some(spot.place()) == self.owner;
        self.spots.iter().filter(decides).any(|spot| spot.kind == SpotKind::Patch)
    }

    /// The statements that may decide the value, the likeliest first.
    pub(super) fn likely(&self) -> impl Iterator<Item = &Spot> {
        let decides = |spot: &&Spot| Some(spot.place()) == self.owner;
        let first = self.spots.iter().rev().filter(decides);
        let others = self.spots.iter().rev().filter(move |spot| self.is_own && !decides(spot));
        first.chain(others)
    }
}

struct Finder<'a> {
    scene: &'a Scene<'a>,
    path: &'a FieldPath,
    pointer: Option<String>,
}

impl Finder<'_> {
    fn in_resources(&self) -> Vec<Spot> {
        let patches: Vec<String> =
            entries(self.scene).into_iter().filter_map(|entry| entry.file).collect();
        let mut spots = Vec::new();
        for (file, text) in self.scene.texts {
            if file == self.scene.file || patches.contains(file) {
                continue;
            }
            let Ok(tree) = parse(text) else { continue };
            for (document, root) in tree.roots().iter().enumerate() {
                if is_of(&tree, *root, self.scene.resource)
                    && let Some((path, id)) = follow(&tree, *root, self.path)
                {
                    spots.push(spot(
                        file,
                        &tree,
                        id,
                        path.in_document(document),
                        SpotKind::Resource,
                    ));
                }
            }
        }
        spots
    }

    fn in_patches(&self) -> Vec<Spot> {
        let mut spots = Vec::new();
        for entry in entries(self.scene) {
            let Ok(tree) = parse(&entry.body) else { continue };
            for (document, root) in tree.roots().iter().enumerate() {
                for (path, id, is_operation) in self.in_body(&tree, *root, &entry) {
                    let path = path.in_document(document);
                    spots.push(entry.spot(&tree, id, path, is_operation));
                }
            }
        }
        spots
    }

    fn in_body(&self, tree: &Tree<'_>, root: NodeId, entry: &Entry) -> Vec<(Path, NodeId, bool)> {
        if !entry.reaches {
            return Vec::new();
        }
        if matches!(tree.node(root).kind, Kind::Seq { .. }) {
            return self.in_operations(tree, root);
        }
        let is_meant = entry.has_target || is_of(tree, root, self.scene.resource);
        let found = is_meant.then(|| follow(tree, root, self.path)).flatten();
        found.map(|(path, id)| (path, id, false)).into_iter().collect()
    }

    fn in_operations(&self, tree: &Tree<'_>, root: NodeId) -> Vec<(Path, NodeId, bool)> {
        let Some(pointer) = &self.pointer else { return Vec::new() };
        let mut found = Vec::new();
        for (index, operation) in tree.items(root).iter().enumerate() {
            let text = |key: &str| {
                let id = tree.value_of(*operation, key)?;
                tree.node(tree.target(id)).scalar()
            };
            let (Some("add" | "replace"), Some(at)) = (text("op"), text("path")) else { continue };
            let rest = match pointer.strip_prefix(at) {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
                _ => continue,
            };
            let Some(value) = tree.value_of(*operation, "value") else { continue };
            let path = Path::root().index(index).key("value");
            if let Some((path, id)) = follow_tokens(tree, value, rest, path) {
                found.push((path, id, true));
            }
        }
        found
    }

    fn in_replicas(&self) -> Vec<Spot> {
        if !is_replicas(self.path) {
            return Vec::new();
        }
        let Some(text) = self.scene.texts.get(self.scene.file) else { return Vec::new() };
        let Ok(tree) = parse(text) else { return Vec::new() };
        let Some(root) = tree.roots().first() else { return Vec::new() };
        let Some(list) = field_of(&tree, *root, "replicas") else { return Vec::new() };
        let names: Vec<_> = self.scene.resource.all_ids().into_iter().map(|id| id.name).collect();
        let mut spots = Vec::new();
        for (index, entry) in tree.items(tree.target(list)).iter().enumerate() {
            let name = field_of(&tree, *entry, "name").and_then(|id| tree.node(id).scalar());
            let is_its = name.is_some_and(|name| names.iter().any(|own| **own == *name));
            if let (true, Some(count)) = (is_its, field_of(&tree, *entry, "count")) {
                let path = Path::kustomization().key("replicas").index(index).key("count");
                let line = tree.node(*entry).line;
                let spot = spot(self.scene.file, &tree, count, path, SpotKind::Replicas);
                let line = if self.is_decided_at(line) { line } else { spot.line };
                spots.push(Spot { line, ..spot });
            }
        }
        spots
    }

    /// Whether the value is decided at this line of the kustomization.
    fn is_decided_at(&self, line: u32) -> bool {
        let node = self.path.find(&self.scene.resource.node);
        let place = node.and_then(|node| self.scene.rendered.place(node.origin));
        place == Some((self.scene.file, line))
    }
}

/// The value of a field of a kustomization, whose keys are read without regard to case; the last of several counts.
pub(super) fn field_of(tree: &Tree<'_>, map: NodeId, key: &str) -> Option<NodeId> {
    let is_it = |id: NodeId| tree.node(id).scalar().is_some_and(|k| k.eq_ignore_ascii_case(key));
    let mut found = tree.pairs(tree.target(map)).filter(|(id, _)| is_it(*id));
    found.next_back().map(|(_, value)| value)
}

fn spot(file: &str, tree: &Tree<'_>, id: NodeId, outer: Path, kind: SpotKind) -> Spot {
    let rules = match kind {
        SpotKind::Resource => Rules::Resource,
        SpotKind::Replicas | SpotKind::Patch => Rules::Kustomization,
    };
    Spot {
        file: file.to_owned(),
        outer,
        inner: None,
        line: tree.node(id).line,
        kind,
        is_operation: false,
        is_shared: false,
        says: tree.source(id).chars().take(60).collect(),
        value: data_of(tree, id, rules),
    }
}

/// Whether a document is, or is a patch for, the resource: by a kind and name that it has or had.
pub(super) fn is_of(tree: &Tree<'_>, root: NodeId, resource: &Resource) -> bool {
    let root = tree.target(root);
    let text = |map: NodeId, key: &str| {
        let id = tree.value_of(map, key)?;
        tree.node(tree.target(id)).scalar().map(str::to_owned)
    };
    let metadata = tree.value_of(root, "metadata").map(|id| tree.target(id));
    let name = metadata.and_then(|metadata| text(metadata, "name"));
    let (kind, group) = (text(root, "kind"), text(root, "apiVersion"));
    let group_of = |version: &str| version.split_once('/').map_or("", |(g, _)| g).to_owned();
    resource.all_ids().iter().any(|id| {
        kind.as_deref() == Some(&*id.kind)
            && name.as_deref() == Some(&*id.name)
            && group.as_deref().is_none_or(|version| group_of(version) == id.group())
    })
}

/// The node at `path` below `root`, and its path in the document.
pub(super) fn follow(tree: &Tree<'_>, root: NodeId, path: &FieldPath) -> Option<(Path, NodeId)> {
    let mut id = root;
    let mut at = Path::root();
    for step in path.steps() {
        let from = tree.target(id);
        (at, id) = match step {
            Step::Key(key) => (at.key(&**key), tree.value_of(from, key)?),
            Step::Named(name) => {
                let index = item_named(tree, from, name)?;
                (at.index(index), *tree.items(from).get(index)?)
            }
            Step::Index(index) => (at.index(*index), *tree.items(from).get(*index)?),
        };
    }
    Some((at, id))
}

/// The position of the item whose `name` is this.
pub(super) fn item_named(tree: &Tree<'_>, list: NodeId, name: &str) -> Option<usize> {
    tree.items(list).iter().position(|item| {
        let item = tree.target(*item);
        let own = tree.value_of(item, "name").map(|id| tree.target(id));
        own.and_then(|id| tree.node(id).scalar()) == Some(name)
    })
}

fn follow_tokens(
    tree: &Tree<'_>,
    from: NodeId,
    rest: &str,
    mut path: Path,
) -> Option<(Path, NodeId)> {
    let mut id = from;
    for token in tokens(rest) {
        let node = tree.target(id);
        (path, id) = match tree.node(node).kind {
            Kind::Map { .. } => (path.key(&*token), tree.value_of(node, &token)?),
            _ => {
                let index: usize = token.parse().ok()?;
                (path.index(index), *tree.items(node).get(index)?)
            }
        };
    }
    Some((path, id))
}
