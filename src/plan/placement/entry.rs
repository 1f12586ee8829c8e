//! The patches of the overlay's own kustomization file: what each holds, whom it goes to, and whether
//! that is more than one resource.

use super::Scene;
use super::statement::{Spot, SpotKind, field_of};
use crate::kustomize::types::{Kustomization, Patch};
use crate::kustomize::{Origin, read, select_targets, source_tree};
use crate::plan::layer::data_of;
use crate::yaml::{Kind, NodeId, Path, Rules, Style, Tree, parse};

/// The two kinds of patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A list of JSON 6902 operations.
    Operations,
    /// A strategic merge patch.
    Merge,
}

/// One patch of the kustomization, or one entry of its deprecated lists.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// `patches`, `patchesStrategicMerge` or `patchesJson6902`.
    pub(super) list: &'static str,
    /// Its file, where that is the overlay's own; `None` for an inline patch.
    pub(super) file: Option<String>,
    /// Its text.
    pub(super) body: String,
    /// What the text is.
    pub(super) form: Option<Form>,
    /// Whether it goes to the resource of the scene, as far as its target says.
    pub(super) reaches: bool,
    /// Whether it goes to others too.
    pub(super) is_shared: bool,
    /// Whether it has a target.
    pub(super) has_target: bool,
    /// The text in the kustomization, for an inline patch.
    pub(super) outer: Path,
    kustomization: String,
    first_line: u32,
    is_literal: bool,
}

impl Entry {
    /// A place in the text as a place in the file that holds it.
    pub(super) fn spot(&self, tree: &Tree<'_>, id: NodeId, path: Path, is_operation: bool) -> Spot {
        let line = tree.node(id).line;
        let (file, outer, inner, line) = match &self.file {
            Some(file) => (file.clone(), path, None, line),
            None => {
                let line = if self.is_literal { self.first_line + line } else { self.first_line };
                (self.kustomization.clone(), self.outer.clone(), Some(path), line)
            }
        };
        let says = tree.source(id).chars().take(60).collect();
        let rules = if is_operation { Rules::Kustomization } else { Rules::Resource };
        let (value, kind, is_shared) = (data_of(tree, id, rules), SpotKind::Patch, self.is_shared);
        Spot { file, outer, inner, line, kind, is_operation, is_shared, says, value }
    }
}

/// The patches, in the order in which they are applied.
pub(super) fn entries(scene: &Scene<'_>) -> Vec<Entry> {
    let Some(text) = scene.texts.get(scene.file) else { return Vec::new() };
    let Ok(node) = read::configuration_text(text, Origin::NONE) else { return Vec::new() };
    let (Ok(fields), Ok(tree)) = (Kustomization::from_node(&node), parse(text)) else {
        return Vec::new();
    };
    let reader = Reader { scene, tree: &tree, fields: &fields };
    let merges = fields.patches_strategic_merge.iter().enumerate();
    let merges = merges.filter_map(|(index, text)| reader.merge(index, text));
    let patches = reader.list("patches", &fields.patches);
    let operations = reader.list("patchesJson6902", &fields.patches_json_6902);
    merges.chain(patches).chain(operations).collect()
}

struct Reader<'a> {
    scene: &'a Scene<'a>,
    tree: &'a Tree<'a>,
    fields: &'a Kustomization,
}

impl Reader<'_> {
    fn list(&self, list: &'static str, patches: &[Patch]) -> Vec<Entry> {
        let made = patches.iter().enumerate().filter_map(|(index, patch)| {
            let outer = Path::kustomization().key(list).index(index).key("patch");
            let mut entry = match &*patch.path.text {
                "" => self.inline(list, outer, &patch.patch.text)?,
                path => self.of_file(list, path)?,
            };
            if let Some(selector) = &patch.target {
                let selected = select_targets(selector, &self.scene.rendered.resources);
                let id = self.scene.resource.current_id();
                entry.has_target = true;
                entry.reaches = selected.iter().any(|resource| resource.current_id() == id);
                entry.is_shared |= selected.len() > 1;
            }
            Some(entry)
        });
        made.collect()
    }

    fn merge(&self, index: usize, text: &str) -> Option<Entry> {
        let list = "patchesStrategicMerge";
        let outer = Path::kustomization().key(list).index(index);
        self.of_file(list, text).or_else(|| self.inline(list, outer, text))
    }

    fn inline(&self, list: &'static str, outer: Path, body: &str) -> Option<Entry> {
        let id = self.find(&outer)?;
        let node = self.tree.node(self.tree.target(id));
        let mut entry = self.entry(list, body.to_owned());
        (entry.outer, entry.first_line) = (outer, node.line);
        entry.is_literal = node.style() == Some(Style::Literal);
        Some(entry)
    }

    fn of_file(&self, list: &'static str, path: &str) -> Option<Entry> {
        let directory = self.scene.file.rsplit_once('/').map_or("", |(directory, _)| directory);
        let file = source_tree::join(directory, path)?;
        let mut entry = self.entry(list, self.scene.texts.get(&file)?.clone());
        entry.is_shared |= self.uses_of(path) > 1;
        entry.file = Some(file);
        Some(entry)
    }

    fn entry(&self, list: &'static str, body: String) -> Entry {
        let (form, documents) = form_of(&body);
        Entry {
            list,
            file: None,
            body,
            form,
            reaches: true,
            is_shared: documents > 1,
            has_target: false,
            outer: Path::kustomization(),
            kustomization: self.scene.file.to_owned(),
            first_line: 0,
            is_literal: false,
        }
    }

    /// How many entries use the file.
    fn uses_of(&self, path: &str) -> usize {
        let patches = self.fields.patches.iter().chain(&self.fields.patches_json_6902);
        let merges = self.fields.patches_strategic_merge.iter();
        patches.map(|p| &p.path).chain(merges).filter(|used| &*used.text == path).count()
    }

    fn find(&self, path: &Path) -> Option<NodeId> {
        let mut id = *self.tree.roots().first()?;
        for step in &path.steps {
            let from = self.tree.target(id);
            id = match step {
                crate::yaml::Step::Key(key) => field_of(self.tree, from, key)?,
                crate::yaml::Step::Index(index) => *self.tree.items(from).get(*index)?,
                crate::yaml::Step::Item { .. } => return None,
            };
        }
        Some(id)
    }
}

/// What a text is, and how many documents it has.
fn form_of(body: &str) -> (Option<Form>, usize) {
    let Ok(tree) = parse(body) else { return (None, 0) };
    let filled: Vec<_> = tree.roots().iter().filter(|id| !tree.node(**id).is_absent()).collect();
    let form = filled.first().and_then(|id| match tree.node(**id).kind {
        Kind::Seq { .. } => Some(Form::Operations),
        Kind::Map { .. } => Some(Form::Merge),
        _ => None,
    });
    (form, filled.len())
}
