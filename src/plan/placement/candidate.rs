//! New statements, in the order in which they are tried: a `replicas:` entry, more in the last patch
//! that concerns this resource alone, a new patch in the form that the file uses.

use super::Scene;
use super::body::{Look, merge_text, operations, operations_text};
use super::entry::{Entry, Form, entries};
use super::statement::Statements;
use super::write::extended;
use crate::change::Wish;
use crate::kustomize::types::{Located, Selector};
use crate::kustomize::{FieldPath, Rendered, Resource, ResourceId, select_targets};
use crate::plan::write::PlacementKind;
use crate::yaml::{Document, Kind, Path, Refusal, Tree, Value, parse};
use serde_json::Value as Json;

/// New texts that may bring the wishes about.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// The files and their new texts.
    pub(super) texts: Vec<(String, String)>,
    /// What kind of statement they add.
    pub(super) kind: PlacementKind,
}

/// Whether the field is the number of replicas of a workload.
pub(super) fn is_replicas(path: &FieldPath) -> bool {
    *path == FieldPath::of_keys(&["spec", "replicas"])
}

/// The kinds that the `replicas:` transformer knows by itself (`builtinconfig` of kustomize's api).
fn is_plain_workload(id: &ResourceId) -> bool {
    let kinds = ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"];
    kinds.contains(&&*id.kind) && matches!(id.group(), "apps" | "" | "extensions")
}

/// The candidates for `wishes`, all of one resource, the best first.
pub(super) fn candidates(scene: &Scene<'_>, wishes: &[Wish]) -> Vec<Candidate> {
    let maker = Maker { scene, wishes, entries: entries(scene) };
    let mut made = Vec::new();
    made.extend(maker.replicas_entries());
    made.extend(maker.more_in_last_patch());
    made.extend(maker.new_patches());
    made
}

struct Maker<'a> {
    scene: &'a Scene<'a>,
    wishes: &'a [Wish],
    entries: Vec<Entry>,
}

impl Maker<'_> {
    fn kustomization(&self) -> &str {
        self.scene.texts.get(self.scene.file).map_or("", |text| text)
    }

    fn document(&self) -> Result<Document, Refusal> {
        Document::from_text(self.scene.file, self.kustomization().to_owned())
    }

    fn made(&self, text: String, kind: PlacementKind) -> Candidate {
        Candidate { texts: vec![(self.scene.file.to_owned(), text)], kind }
    }

    /// One entry for each name that the transformer may know the workload by; none where a patch of
    /// this overlay decides, which the owner chose over an entry.
    fn replicas_entries(&self) -> Vec<Candidate> {
        let [wish] = self.wishes else { return Vec::new() };
        let Some(count) = wish.value.as_ref().and_then(Json::as_i64) else { return Vec::new() };
        let is_fit = is_replicas(&wish.path)
            && is_plain_workload(&wish.resource)
            && !Statements::find(self.scene, &wish.path).is_decided_by_patch();
        if !is_fit {
            return Vec::new();
        }
        let made = self.names().into_iter().filter_map(|name| {
            let entry = Value::map([("name", Value::str(name)), ("count", Value::Int(count))]);
            let mut document = self.document().ok()?;
            document.append(&Path::kustomization().key("replicas"), &entry).ok()?;
            Some(self.made(document.text().to_owned(), PlacementKind::NewEntry))
        });
        made.collect()
    }

    /// The last patch of the overlay that goes to this resource and to no other.
    fn more_in_last_patch(&self) -> Option<Candidate> {
        let is_its = |entry: &&Entry| {
            entry.reaches
                && !entry.is_shared
                && entry.form.is_some()
                && (entry.has_target || self.names_it(entry))
        };
        let entry = self.entries.iter().rev().find(is_its)?;
        let operations = match entry.form {
            Some(Form::Operations) => operations(self.scene, self.wishes)?,
            _ => Vec::new(),
        };
        let file = entry.file.as_deref().unwrap_or(self.scene.file);
        let text = self.scene.texts.get(file)?;
        let text = extended(file, text, entry, &operations, self.wishes).ok()?;
        Some(Candidate { texts: vec![(file.to_owned(), text)], kind: PlacementKind::Field })
    }

    /// Whether a patch without a target is for the resource.
    fn names_it(&self, entry: &Entry) -> bool {
        let Ok(tree) = parse(&entry.body) else { return false };
        let root = tree.roots().first();
        root.is_some_and(|root| super::statement::is_of(&tree, *root, self.scene.resource))
    }

    fn new_patches(&self) -> Vec<Candidate> {
        let forms = match self.last_form() {
            Some(Form::Operations) => [Form::Operations, Form::Merge],
            _ => [Form::Merge, Form::Operations],
        };
        let mut made = Vec::new();
        for list in ["patches", "patchesJson6902"] {
            for form in forms {
                for name in self.names() {
                    made.extend(self.new_patch(list, form, &name));
                }
            }
        }
        made
    }

    fn last_form(&self) -> Option<Form> {
        self.entries.iter().rev().find_map(|entry| entry.form)
    }

    fn new_patch(&self, list: &'static str, form: Form, name: &str) -> Option<Candidate> {
        let is_late = list == "patchesJson6902";
        let is_used = self.entries.iter().any(|entry| entry.list == list);
        if is_late && (form == Form::Merge || !is_used) {
            return None;
        }
        let body = match form {
            Form::Operations => operations_text(&operations(self.scene, self.wishes)?, self.look()),
            Form::Merge => merge_text(self.scene, name, self.wishes)?,
        };
        let body = if self.is_stripped() { body.trim_end().to_owned() } else { body };
        let target = Value::map(self.target(name, is_late));
        let item = Value::map([("target", target), ("patch", Value::literal(body))]);
        let mut document = self.document().ok()?;
        document.append(&Path::kustomization().key(list), &item).ok()?;
        Some(self.made(document.text().to_owned(), PlacementKind::NewPatch))
    }

    /// What tells the resource from all others: its kind and name, its group where [`group_pattern`] says so, the
    /// namespace where another has the same name.
    fn target(&self, name: &str, is_strict: bool) -> Vec<(&'static str, Value)> {
        let id = self.scene.resource.current_id();
        let rendered = self.scene.rendered;
        let all = rendered.resources.iter().map(|r| r.current_id());
        let mut same = all.filter(|other| other.kind == id.kind && other.name == id.name);
        let namespaces = same.any(|other| other.namespace != id.namespace);
        let group = group_pattern(&id, rendered);
        let strict = is_strict.then(|| id.group().to_owned());
        let mut target = Vec::new();
        target.extend(group.or(strict).map(|group| ("group", Value::str(group))));
        if is_strict {
            target.push(("version", Value::str(id.version())));
        }
        target.push(("kind", Value::str(&*id.kind)));
        target.push(("name", Value::str(self.name_pattern(name))));
        if namespaces {
            let namespace = &self.scene.resource.original_id().namespace;
            target.push(("namespace", Value::str(&**namespace)));
        }
        target.retain(|(_, value)| *value != Value::str(""));
        target
    }

    /// `name` as the regular expression that a target's name is: plain, unless it would hit others by its dots.
    fn name_pattern(&self, name: &str) -> String {
        let located = |text: &str| Located { text: text.into(), ..Located::default() };
        let kind = located(self.scene.resource.kind());
        let selector = Selector { kind, name: located(name), ..Selector::default() };
        let hit = select_targets(&selector, &self.scene.rendered.resources);
        let is_other = |other: &&Resource| other.all_ids().iter().all(|id| *id.name != *name);
        match hit.into_iter().any(|other| is_other(&other)) {
            true => name.replace('.', "[.]"),
            false => name.to_owned(),
        }
    }

    /// The names that a patch of this layer may know the resource by: the one it arrives with first.
    fn names(&self) -> Vec<String> {
        let resource = self.scene.resource;
        let current = resource.name().to_owned();
        let field = |key: &str| {
            let document = self.document().ok()?;
            let located = document.locate(&Path::kustomization().key(key)).ok().flatten();
            located.map(|located| located.text)
        };
        let (prefix, suffix) = (field("namePrefix"), field("nameSuffix"));
        let below = current.strip_prefix(&*prefix.unwrap_or_default()).unwrap_or(&current);
        let below = below.strip_suffix(&*suffix.unwrap_or_default()).unwrap_or(below).to_owned();
        let mut names = vec![below, resource.original_id().name.to_string(), current];
        let mut seen = Vec::new();
        names.retain(|name| {
            let is_new = !seen.contains(name);
            seen.push(name.clone());
            is_new
        });
        names
    }

    /// How the last operation of the file is written.
    fn look(&self) -> Look {
        let bodies = self.entries.iter().rev().filter(|e| e.form == Some(Form::Operations));
        bodies.into_iter().find_map(|entry| look_of(&entry.body)).unwrap_or(Look::Block)
    }

    /// Whether the inline patches of the file end without a line break (`|-`).
    fn is_stripped(&self) -> bool {
        let inline = self.entries.iter().rev().find(|entry| entry.file.is_none());
        inline.is_some_and(|entry| !entry.body.ends_with('\n'))
    }
}

/// The group that the target of a patch for a resource names, as the regular expression that kustomize reads: that of
/// a kind which is not Kubernetes' own, and that which tells the resource from another of its kind and name.
pub(in crate::plan) fn group_pattern(id: &ResourceId, rendered: &Rendered) -> Option<String> {
    let group = id.group();
    let is_own_kind = !group.contains('.') || group.ends_with(".k8s.io") || group == "k8s.io";
    let mut others = rendered.resources.iter().map(Resource::current_id);
    let is_told_apart = others
        .any(|other| other.kind == id.kind && other.name == id.name && other.group() != group);
    match (is_told_apart, is_own_kind) {
        _ if group.is_empty() => None,
        (true, _) => Some(group.replace('.', "[.]")),
        (false, false) => Some(group.to_owned()),
        (false, true) => None,
    }
}

fn look_of(body: &str) -> Option<Look> {
    let tree: Tree<'_> = parse(body).ok()?;
    let last = *tree.items(*tree.roots().first()?).last()?;
    Some(match tree.node(last).kind {
        Kind::Map { flow: true } => Look::Flow { is_padded: tree.source(last).starts_with("{ ") },
        _ => Look::Block,
    })
}
